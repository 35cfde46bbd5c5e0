// The report of `baton replay --html`: one self-contained file for screens of any width, light and dark.

import type { SimulatedCompaction } from '../../../lab/replay/outcome.ts';
import { comparePolicies, gaugesOf } from '../../../lab/replay/report.ts';
import type { PolicyLine } from '../../../lab/replay/report.ts';
import { PRICES_AS_OF } from '../../../tokens/prices.ts';
import { FORMAT_NAMES } from '../../../vocabulary.ts';
import {
  escapeHtml,
  fillChart,
  gaugeChart,
  lineSample,
  markSample,
  placesChart,
  recallChart,
  tokensChart,
} from './charts.ts';
import { partsOf } from '../../../calls/context-parts.ts';
import type { ContextPart } from '../../../calls/context-parts.ts';
import type { PlayedFile, ReplayRun } from './run.ts';
import { REPORT_STYLE } from './page-style.ts';
import { renderEvidence } from './signals-view.ts';
import { formatNumber, formatPercent, plural, printable, tildePath, wholePercents } from '../../style.ts';

/** Longest text from a transcript, in characters: users send the report to others. */
const LONGEST_EVIDENCE = 90;

/** The report as one HTML file. Texts from transcripts are short, escaped, and have known secrets replaced. */
export function renderReport(run: ReplayRun, home: string): string {
  const { files } = run;
  const lines = comparePolicies(files.map(({ replay }) => replay));
  return [
    '<!doctype html>',
    '<html lang="en"><head><meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    '<title>Baton replay</title>',
    `<style>${REPORT_STYLE}</style>`,
    '</head><body><main>',
    '<h1>Baton replay</h1>',
    `<p class="lead">${plural(files.length, 'recorded session')} replayed under ${plural(lines.length, 'policy').replace('policys', 'policies')}: where each would have compacted, what it would have sent, and what the agent would still have known.</p>`,
    ...(files.length < 2 ? [] : [renderIndex(files, home)]),
    renderComparison(lines, files.length),
    ...files.map((file, index) => renderSession(file, index, home)),
    renderMethod(run),
    '</main></body></html>',
    '',
  ].join('\n');
}

/** Links to each session of the report. */
function renderIndex(files: readonly PlayedFile[], home: string): string {
  const rows = files.map((file, index) => {
    const { replay } = file;
    const facts = [
      plural(replay.turns, 'turn'),
      plural(replay.requests, 'request'),
      titleOf(file, home).about,
    ];
    return `<li><a href="#session-${index + 1}">${escapeHtml(titleOf(file, home).title)}</a> <span class="faint">${escapeHtml(facts.filter((fact) => fact !== '').join(' · '))}</span></li>`;
  });
  return `<nav><h2>Sessions</h2><ol>${rows.join('')}</ol></nav>`;
}

/** A session's first prompt with its path; only the path where there is no prompt. */
function titleOf(
  { title, path }: PlayedFile,
  home: string,
): { readonly title: string; readonly about: string } {
  const place = printable(tildePath(path, home));
  return title === undefined ? { title: place, about: '' } : { title: printable(title), about: place };
}

function renderComparison(lines: readonly PolicyLine[], sessions: number): string {
  const recall = recallChart(lines);
  return [
    '<section><h2>Policies side by side</h2><div class="figures">',
    figure(
      'Compactions',
      `${legend()}${placesChart(lines)}`,
      table(
        [
          'policy',
          'at a boundary',
          'in mid-work',
          'in an emergency',
          'only cleared results',
          'sessions over the window',
        ],
        lines.map((line) => [
          line.policy,
          formatNumber(line.places.boundary),
          formatNumber(line.places.mid_work),
          formatNumber(line.places.emergency),
          formatNumber(line.micro),
          `${line.overflowed.sessions} of ${sessions}`,
        ]),
      ),
    ),
    figure(
      'Tokens sent',
      `<p class="legend"><span><i class="box cached"></i>from the prompt cache</span><span><i class="box fresh"></i>new to the provider</span></p>${tokensChart(lines)}`,
      table(
        [
          'policy',
          'requests',
          'input tokens',
          'cached',
          'output tokens',
          'cost',
          'mean context',
          'mean peak',
        ],
        lines.map(({ policy, bill, pricedSessions, mean, peakShare }) => [
          policy,
          formatNumber(bill.requests),
          formatNumber(bill.input),
          percent(bill.cached, bill.input),
          formatNumber(bill.output),
          bill.usd === undefined
            ? 'no list price'
            : `$${bill.usd.toFixed(2)}${pricedSessions < sessions ? ` (${pricedSessions} of ${sessions} sessions)` : ''}`,
          `${formatNumber(mean)} tokens`,
          `${Math.round(100 * peakShare)} % of the usable window`,
        ]),
      ),
    ),
    ...(recall === undefined
      ? []
      : [
          figure(
            'What a compaction keeps',
            recall,
            table(
              ['policy', 'recall (mean)', 'compactions measured', 'tokens left (mean)'],
              lines.map((line) => [
                line.policy,
                line.recall === undefined ? '-' : line.recall.mean.toFixed(2),
                line.recall === undefined ? '0' : formatNumber(line.recall.compactions),
                line.postTokens === undefined ? '-' : formatNumber(line.postTokens),
              ]),
            ),
          ),
        ]),
    '</div></section>',
  ].join('\n');
}

function renderSession(file: PlayedFile, index: number, home: string): string {
  const { report, replay, account } = file;
  const { title, about } = titleOf(file, home);
  const { model, window, turns, requests, usageFrom, own } = replay;
  const facts = [
    FORMAT_NAMES[report.format],
    printable(model ?? 'unnamed model'),
    `window of ${formatNumber(window)} tokens`,
    plural(turns, 'turn'),
    plural(requests, 'request'),
    usageFrom === 'reported' ? 'usage as reported' : 'usage by estimate',
    `${formatNumber(account.usage.used)} of ${formatNumber(account.usableWindow)} usable tokens at the end, ${account.percentRemaining} % left`,
  ].join(' · ');
  const parts = partsOf(account);
  const percents = wholePercents(
    parts.map(({ tokens }) => tokens),
    account.usage.used,
  );
  return [
    `<section id="session-${index + 1}"><h2>${escapeHtml(title)}</h2>`,
    ...(about === '' ? [] : [`<p class="faint path">${escapeHtml(about)}</p>`]),
    `<p class="faint">${escapeHtml(facts)}</p>`,
    figure(
      'Context over the session',
      `${legend({ hasOwn: own.length > 0, hasLines: true })}${gaugeChart(gaugesOf(replay), replay)}`,
      [
        table(
          ['policy', 'place', 'turn', 'line', 'before', 'after', 'recall', 'boundaries, or why'],
          [
            ...own.map((each) => [
              'as recorded',
              `${each.isInsideTurn ? 'inside a turn' : 'between turns'}${each.kind === 'micro' ? ', results cleared' : ''}`,
              String(each.turn),
              each.line === undefined ? '-' : formatNumber(each.line),
              formatNumber(each.preTokens),
              formatNumber(each.postTokens),
              each.recall === undefined ? '-' : each.recall.toFixed(2),
              each.trigger === 'manual' ? 'requested by the user' : '',
            ]),
            ...replay.policies.flatMap((outcome) =>
              outcome.compactions.map((done) => compactionRow(outcome.policy, done)),
            ),
          ],
        ),
      ].join(''),
    ),
    figure(
      'What fills the context at the end',
      `${fillLegend(parts)}${fillChart(parts, percents)}`,
      table(
        ['kind', 'tokens', 'share'],
        parts.map(({ label, tokens, kind }, at) => [
          { html: `<i class="box fill ${kind}"></i>${escapeHtml(label)}` },
          formatNumber(tokens),
          formatPercent(percents[at] ?? 0, tokens),
        ]),
      ),
    ),
    '</section>',
  ].join('\n');
}

function fillLegend(parts: readonly ContextPart[]): string {
  const rows = parts.map(
    ({ label, kind }) => `<span><i class="box fill ${kind}"></i>${escapeHtml(label)}</span>`,
  );
  return `<p class="legend">${rows.join('')}</p>`;
}

function compactionRow(policy: string, done: SimulatedCompaction): readonly Cell[] {
  const words = { boundary: 'at a boundary', mid_work: 'mid-work', emergency: 'in an emergency' } as const;
  const evidence = done.signals.map(
    (signal) => `${signal.boundary}: ${short(renderEvidence(signal.evidence))}`,
  );
  return [
    policy,
    `${words[done.place]}${done.kind === 'micro' ? ', results cleared' : ''}`,
    String(done.turn),
    done.line === undefined ? '-' : formatNumber(done.line),
    formatNumber(done.preTokens),
    formatNumber(done.postTokens),
    done.recall === undefined ? '-' : done.recall.toFixed(2),
    evidence.length > 0 ? evidence.slice(-2).join('; ') : done.why,
  ];
}

function renderMethod({ hasRecall, skipped, unread }: ReplayRun): string {
  const notes = [
    'The work stays as recorded, even after a simulated compaction: replay cannot know what the agent would have done with another context.',
    'Compactions of the recorded session are not replayed; they are shown as recorded.',
    "Baton's embedded summaries and packets, in a model's usual size, replace those of models and agents.",
    `Cost follows list prices of ${PRICES_AS_OF}, with a prompt cache that expires after five minutes and from the first change on.`,
    ...(hasRecall
      ? [
          'Recall is the share, by weight, of the identifiers used later that the compacted context still held.',
        ]
      : []),
    ...(skipped > 0 ? [`${plural(skipped, 'file')} of the directory held no session.`] : []),
    ...unread.map(
      ({ path, error }) => `${printable(path)} could not be replayed: ${String(error['message'])}.`,
    ),
  ];
  return `<section><h2>How to read this</h2><ul>${notes.map((note) => `<li>${escapeHtml(note)}</li>`).join('')}</ul></section>`;
}

function legend({ hasOwn = false, hasLines = false } = {}): string {
  const rows = [
    [{ place: 'boundary', kind: 'full' }, 'at a boundary'],
    [{ place: 'mid_work', kind: 'full' }, 'in mid-work'],
    [{ place: 'emergency', kind: 'full' }, 'in an emergency'],
    [{ place: 'boundary', kind: 'micro' }, 'hollow: only old results cleared'],
    ...(hasOwn ? ([[{ place: 'own', kind: 'full' }, 'in the recorded session']] as const) : []),
  ] as const;
  const marks = rows.map(([mark, text]) => `<span>${markSample(mark)}${text}</span>`);
  const lines = hasLines
    ? [
        `<span>${lineSample('window')}the window is full</span>`,
        `<span>${lineSample('tick')}a boundary of the work</span>`,
      ]
    : [];
  return `<p class="legend">${[...marks, ...lines].join('')}</p>`;
}

function figure(title: string, chart: string, numbers: string): string {
  return `<figure><figcaption>${escapeHtml(title)}</figcaption>${chart}<details><summary>Table: ${escapeHtml(title.toLowerCase())}</summary>${numbers}</details></figure>`;
}

type Cell = string | { readonly html: string };

function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const isNumeric = heads.map(
    (_, column) => rows.length > 0 && rows.every((row) => isNumber(row[column] ?? '')),
  );
  const numeric = (column: number) => (isNumeric[column] === true ? ' class="number"' : '');
  const head = heads.map((text, column) => `<th scope="col"${numeric(column)}>${escapeHtml(text)}</th>`);
  const body = rows.map((row) => {
    const cells = row.map((cell, column) => {
      const html = typeof cell === 'string' ? escapeHtml(cell) : cell.html;
      return column === 0 ? `<th scope="row">${html}</th>` : `<td${numeric(column)}>${html}</td>`;
    });
    return `<tr>${cells.join('')}</tr>`;
  });
  const none = rows.length === 0 ? `<tr><td colspan="${heads.length}">none</td></tr>` : '';
  return `<div class="scroll"><table><thead><tr>${head.join('')}</tr></thead><tbody>${body.join('')}${none}</tbody></table></div>`;
}

function isNumber(cell: Cell): boolean {
  return typeof cell === 'string' && /^(?:-|<1 %|-?\$?[\d,.]+(?: (?:%|tokens))?)$/.test(cell);
}

function short(text: string): string {
  const characters = [...printable(text)];
  return characters.length <= LONGEST_EVIDENCE
    ? characters.join('')
    : `${characters.slice(0, LONGEST_EVIDENCE - 1).join('')}…`;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${Math.round((100 * part) / whole)} %`;
}
