// What `baton replay` prints in a terminal: a gauge per session and policy, and the policies in numbers.

import type { SessionReplay, SimulatedCompaction } from '../../../lab/replay/outcome.ts';
import { comparePolicies, gaugeColumns, gaugesOf } from '../../../lab/replay/report.ts';
import type { PolicyLine } from '../../../lab/replay/report.ts';
import { PRICES_AS_OF } from '../../../tokens/prices.ts';
import { FORMAT_NAMES } from '../../../vocabulary.ts';
import type { Look } from '../../io.ts';
import type { PlayedFile, ReplayRun } from './run.ts';
import { renderEvidence } from './signals-view.ts';
import {
  fitWidth,
  foldLines,
  formatNumber,
  padEnd,
  padStart,
  paint,
  plural,
  printable,
  sparkline,
  tildePath,
} from '../../style.ts';
import type { SparkCell, Tone } from '../../style.ts';

const NAME_WIDTH = 12;
const WIDEST_GAUGE = 100;

/** A compaction in a gauge: upper case where a summary was written, lower case where results were only cleared. */
const MARKS = { boundary: 'B', mid_work: 'W', emergency: 'E', own: 'A' } as const;

/** The run as text. */
export function renderReplay(
  run: ReplayRun,
  options: { readonly listsTurns: boolean; readonly home: string },
  look: Look,
): string {
  const { files, skipped, unread } = run;
  const blocks = files.map((file) => renderSession(file, options, look));
  const notes = [
    ...(skipped > 0
      ? [
          `${plural(skipped, 'file')} in the directory ${skipped === 1 ? 'is not a session' : 'are not sessions'}.`,
        ]
      : []),
    ...(unread.length > 0 ? [`${plural(unread.length, 'file')} could not be replayed.`] : []),
  ];
  const totals =
    files.length > 1
      ? [
          [
            paint(look, 'strong', `All ${formatNumber(files.length)} sessions`),
            renderTable(comparePolicies(files.map(({ replay }) => replay)), run, look),
          ].join('\n'),
        ]
      : [];
  return `${[...blocks, ...totals, [...notes, renderLegend(run, look)].join('\n')].join('\n\n')}\n`;
}

function renderSession(
  { path, report, replay, account }: PlayedFile,
  { listsTurns, home }: { readonly listsTurns: boolean; readonly home: string },
  look: Look,
): string {
  const { model, window, turns, requests, usageFrom, own } = replay;
  const head = [
    paint(look, 'strong', printable(tildePath(path, home))),
    `${FORMAT_NAMES[report.format]}, ${printable(model ?? 'unnamed model')}, window of ${formatNumber(window)} tokens; ` +
      `${plural(turns, 'turn')}, ${plural(requests, 'request')}; usage ${usageFrom === 'reported' ? 'as reported' : 'by estimate'}.`,
    `At the end, ${formatNumber(account.usage.used)} of ${formatNumber(account.usableWindow)} usable tokens were used, ${account.percentRemaining} % left.`,
    own.length === 0
      ? 'The session was never compacted.'
      : `The session was compacted ${times(own.length)}: ${own.map(renderOwn).join('; ')}.`,
  ].map((line) => foldLines(look, line));
  return [
    ...head,
    '',
    ...renderGauges(replay, look),
    '',
    renderTable(comparePolicies([replay]), undefined, look),
    ...(listsTurns ? ['', ...renderTurns(replay, look)] : []),
  ].join('\n');
}

function times(count: number): string {
  return count === 1 ? 'once' : count === 2 ? 'twice' : `${formatNumber(count)} times`;
}

function renderOwn(own: SessionReplay['own'][number]): string {
  const where = own.isInsideTurn ? 'inside turn' : 'after turn';
  const what = own.kind === 'micro' ? ', results cleared' : '';
  const recall = own.recall === undefined ? '' : `, recall ${own.recall.toFixed(2)}`;
  return `${where} ${own.turn} (${formatNumber(own.preTokens)} tokens to ${formatNumber(own.postTokens)}${what}${recall})`;
}

function renderGauges(replay: SessionReplay, look: Look): readonly string[] {
  const width = Math.max(10, Math.min(WIDEST_GAUGE, look.width - NAME_WIDTH - 1));
  return gaugesOf(replay).map((series) => {
    const cells = gaugeColumns(series, replay.requests, width).map(({ share, mark }) =>
      mark === undefined
        ? { level: share }
        : { mark: mark.kind === 'full' ? MARKS[mark.place] : MARKS[mark.place].toLowerCase() },
    );
    const name = padEnd(fitWidth(look, printable(series.name), NAME_WIDTH), NAME_WIDTH);
    return `${name} ${paintGauge(look, cells)}`.trimEnd();
  });
}

/** Levels in the colours of the gauge of `inspect`: calm, filling, nearly full; marks stand out from them. */
function paintGauge(look: Look, cells: readonly SparkCell[]): string {
  let painted = '';
  for (let from = 0, to = 0; from < cells.length; from = to) {
    const tone = toneOf(cells[from]);
    while (to < cells.length && toneOf(cells[to]) === tone) to++;
    painted += paint(look, tone, sparkline(look, cells.slice(from, to)));
  }
  return painted;
}

function toneOf(cell: SparkCell | undefined): Tone {
  if (cell === undefined || 'mark' in cell) return 'strong';
  return cell.level >= NEARLY_FULL ? 'bad' : cell.level > FILLING ? 'warning' : 'good';
}

/**
 * Shares of the window from which a gauge is shown as filling and as nearly full.
 * @source `inspect` warns below 40 % left; the agents compact automatically at 84 to 95 %, see docs/replay.md
 */
const FILLING = 0.6;
const NEARLY_FULL = 0.9;

interface Column {
  readonly head: string;
  readonly cell: (line: PolicyLine) => string;
}

const COLUMNS: readonly Column[] = [
  { head: 'B', cell: ({ places }) => formatNumber(places.boundary) },
  { head: 'W', cell: ({ places }) => formatNumber(places.mid_work) },
  { head: 'E', cell: ({ places }) => formatNumber(places.emergency) },
  { head: 'peak', cell: ({ peakShare }) => `${Math.round(100 * peakShare)} %` },
  { head: 'mean', cell: ({ mean }) => thousands(mean) },
  { head: 'input', cell: ({ bill }) => millions(bill.input) },
  { head: 'cached', cell: ({ bill }) => percent(bill.cached, bill.input) },
  { head: 'output', cell: ({ bill }) => thousands(bill.output) },
  { head: 'cost', cell: ({ bill }) => (bill.usd === undefined ? '-' : `$${bill.usd.toFixed(2)}`) },
  { head: 'recall', cell: ({ recall }) => (recall === undefined ? '-' : recall.mean.toFixed(2)) },
];

function renderTable(lines: readonly PolicyLine[], run: ReplayRun | undefined, look: Look): string {
  const cells = lines.map((line) => COLUMNS.map(({ cell }) => cell(line)));
  const widths = COLUMNS.map(({ head }, column) =>
    Math.max(head.length, ...cells.map((row) => row[column]?.length ?? 0)),
  );
  const row = (name: string, texts: readonly string[]) =>
    `${padEnd(fitWidth(look, name, NAME_WIDTH), NAME_WIDTH)} ${texts.map((text, column) => padStart(text, widths[column] ?? 0)).join('  ')}`;
  const isWide = NAME_WIDTH + 1 + widths.reduce((sum, width) => sum + width + 2, -2) <= look.width;
  if (!isWide) return renderList(lines, run, look);
  return [
    paint(
      look,
      'faint',
      row(
        '',
        COLUMNS.map(({ head }) => head),
      ),
    ),
    ...lines.map((line, index) => row(printable(line.policy), cells[index] ?? [])),
    ...[...lines.flatMap((line) => overflowNote(line, run)), ...priceNote(lines)].map((note) =>
      foldLines(look, note),
    ),
  ].join('\n');
}

/** For narrow terminals: one policy after the other. */
function renderList(lines: readonly PolicyLine[], run: ReplayRun | undefined, look: Look): string {
  const policies = lines.flatMap((line) => {
    const facts = COLUMNS.map(({ head, cell }) => `${head} ${cell(line)}`).join(', ');
    return [`${paint(look, 'strong', printable(line.policy))}: ${facts}`, ...overflowNote(line, run)];
  });
  return [...policies, ...priceNote(lines)].map((text) => foldLines(look, text)).join('\n');
}

/** A note where only some sessions have a price. */
function priceNote([line]: readonly PolicyLine[]): readonly string[] {
  if (line === undefined || line.pricedSessions === 0 || line.pricedSessions === line.sessions) return [];
  return [`cost: of the ${plural(line.pricedSessions, 'session')} whose models have a list price.`];
}

function overflowNote({ policy, overflowed }: PolicyLine, run: ReplayRun | undefined): readonly string[] {
  if (overflowed.requests === 0) return [];
  const where = run === undefined ? '' : ` in ${plural(overflowed.sessions, 'session')}`;
  return [
    `${printable(policy)}: ${plural(overflowed.requests, 'request')}${where} would not have fit into the window.`,
  ];
}

function renderTurns(replay: SessionReplay, look: Look): readonly string[] {
  return replay.policies.flatMap((outcome) => {
    const rows = [
      ...outcome.decisions.map((row) => ({ step: row.step, text: renderDecision(row) })),
      ...outcome.compactions.map((done) => ({ step: done.step, text: renderCompaction(done) })),
      ...(outcome.overflow.first === undefined
        ? []
        : [
            {
              step: outcome.overflow.first.step,
              text: `${place(outcome.overflow.first)}  overflow: from here on ${plural(outcome.overflow.requests, 'request')} would not fit into the window`,
            },
          ]),
    ].toSorted((a, b) => a.step - b.step);
    if (rows.length === 0) return [];
    return [
      paint(look, 'strong', printable(outcome.policy)),
      ...rows.map(({ text }) => foldLines(look, `  ${text}`)),
      '',
    ];
  });
}

function renderDecision(row: SessionReplay['policies'][number]['decisions'][number]): string {
  const many = row.evaluations > 1 ? ` (${row.evaluations} times)` : '';
  const tier = row.tier === undefined ? 'no tier' : row.tier;
  const verdict = row.shouldCompact ? 'compact' : 'wait';
  return `${place(row)}  ${row.percentRemaining} % left, ${tier}: ${verdict}, ${row.reason}${many}. ${printable(row.why)}${row.shouldCompact ? renderSignals(row.signals) : ''}`;
}

function renderCompaction(done: SimulatedCompaction): string {
  const what = done.kind === 'micro' ? 'results cleared' : 'compacted';
  const recall = done.recall === undefined ? '' : `, recall ${done.recall.toFixed(2)}`;
  return (
    `${place(done)}  ${PLACE_WORDS[done.place]}: ${what}, ${formatNumber(done.preTokens)} to ${formatNumber(done.postTokens)} tokens` +
    `${recall}.${done.tier === undefined ? ` ${printable(done.why)}${renderSignals(done.signals)}` : ''}`
  );
}

const PLACE_WORDS = {
  boundary: 'at a boundary',
  mid_work: 'in mid-work',
  emergency: 'in emergency',
} as const;

function renderSignals(signals: SimulatedCompaction['signals']): string {
  if (signals.length === 0) return '';
  return ` [${signals.map(({ boundary, evidence }) => `${boundary}: ${printable(renderEvidence(evidence))}`).join('; ')}]`;
}

function place({ turn, line }: { readonly turn: number; readonly line: number | undefined }): string {
  return `turn ${turn}${line === undefined ? '' : `, line ${formatNumber(line)}`}`;
}

function renderLegend({ hasRecall }: ReplayRun, look: Look): string {
  return [
    'B: compacts at a boundary. W: in mid-work. E: in an emergency. A: in the recorded session. Small letters: clears old results only.',
    'The work stays as recorded; summaries of models and packets of agents are replaced by ' +
      "Baton's own (docs/replay.md).",
    `Cost at list prices of ${PRICES_AS_OF} with a simulated prompt cache; - where a model has no price` +
      `${hasRecall ? '. Recall is the share of what was used later that the compacted context still held' : ''}.`,
  ]
    .map((line) => paint(look, 'faint', foldLines(look, line)))
    .join('\n');
}

function thousands(tokens: number): string {
  return tokens < 1000 ? String(tokens) : `${formatNumber(Math.round(tokens / 1000))}k`;
}

function millions(tokens: number): string {
  return tokens < 1_000_000 ? thousands(tokens) : `${(tokens / 1e6).toFixed(1)}M`;
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '-' : `${Math.round((100 * part) / whole)} %`;
}
