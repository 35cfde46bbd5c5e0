// What `baton compact --preview` prints: first what would be lost, then what would stay; with --full, every kind and the summary.

import { callOf, resultCallId, textOfParts } from '../../../protocol/item.ts';
import type { Item } from '../../../protocol/item.ts';
import type { Receipt } from '../../../protocol/receipt.ts';
import type { Compaction } from '../../../compaction/subject.ts';
import type { Fate } from '../../../compaction/full/request.ts';
import { sumTokens } from '../../../tokens/estimate.ts';
import type { Trail } from '../../../trail/trail.ts';
import { lossOf } from './loss.ts';
import type { Loss } from './loss.ts';
import type { Look } from '../../io.ts';
import {
  COUNTED_TOKENS,
  arrow,
  bar,
  fitPath,
  fitWidth,
  foldLines,
  formatNumber,
  padEnd,
  padStart,
  paint,
  plural,
  printable,
} from '../../style.ts';

const WIDEST_LABEL = 34;

/** How many kinds and results fit on one screen. */
const SHORT_ROWS = 5;
const SHORT_RESULTS = 3;
/** How many file names and rules fit on one screen. */
const SHORT_NAMES = 4;

/** The preview as text: one screen, or everything with `isFull`. @param notes what the command adds to those of the receipt */
export function renderPreview(
  compaction: Compaction,
  trail: Trail,
  { look, isFull, notes }: View & { readonly notes: readonly string[] },
): string {
  if (compaction.type === 'micro')
    return foldLines(look, [renderMicro(compaction, look), ...notes.map((note) => `${note}\n`)].join(''));
  const loss = lossOf(compaction, trail);
  const { receipt, summary = '' } = compaction.record;
  const said = [...receipt.notes, ...notes];
  const sections = [
    headline(receipt.preTokens, receipt.postTokens, look),
    lossSection(compaction, loss, { look, isFull }),
    ...(isFull ? [keptSection(compaction.fates, look), restoredSection(receipt, look)] : []),
    staysSection(receipt, loss, look),
    ...(said.length === 0 ? [] : [`${said.join('\n')}\n`]),
    isFull
      ? `${paint(look, 'strong', summaryHeading(receipt))}\n${summary}\n`
      : 'Nothing was written. --full shows everything, --summary-only the summary.\n',
    isFull ? 'Nothing was written.\n' : '',
  ];
  return foldLines(look, sections.filter((text) => text !== '').join('\n'));
}

function labelWidth(look: Look): number {
  return Math.min(WIDEST_LABEL, Math.max(12, look.width - 22));
}

function renderMicro(compaction: Compaction & { type: 'micro' }, look: Look): string {
  const { preTokens, postTokens, record } = compaction;
  return [
    headline(preTokens, postTokens, look),
    `${plural(record.callIds.length, 'old tool result')} would be cleared. Nothing was written.`,
    '',
  ].join('\n');
}

interface View {
  readonly look: Look;
  readonly isFull: boolean;
}

/** What goes, by kind; its rows add up to its head. Then what a number does not tell. */
function lossSection(
  { fates, record }: Compaction & { type: 'full' },
  loss: Loss,
  { look, isFull }: View,
): string {
  const groups = groupsOf(fates, ({ fate }) => fate !== 'kept');
  for (const [label, group] of cutGroups(fates)) groups.set(label, group);
  const sorted = bySize(groups);
  const most = isFull ? sorted.length : SHORT_ROWS;
  const rest = sorted.slice(most).map(([, group]) => group);
  const rows: readonly (readonly [string, Group])[] = [
    ...sorted.slice(0, most),
    ...(rest.length === 0 ? [] : [[plural(rest.length, 'more kind'), total(rest)] as const]),
  ];
  return [
    head(
      'Goes',
      `${plural(fates.filter(({ fate }) => fate !== 'kept').length, 'item')}, ${formatNumber(loss.tokens)} ${COUNTED_TOKENS[record.receipt.counter]}`,
      look,
    ),
    ...rows.map(([label, group]) => row(label, group, loss.tokens, look)),
    ...lossLines(loss, { look, isFull }),
    '',
  ].join('\n');
}

/** The removed parts of kept messages: counting these as kept would promise content that is gone. */
function cutGroups(fates: readonly Fate[]): readonly (readonly [string, Group])[] {
  const cuts = fates.flatMap(({ cut }) => cut ?? []);
  const images = cuts.flatMap((cut) => cut.images ?? []);
  const texts = cuts.map((cut) => sumTokens(cut) - (cut.images ?? 0)).filter((tokens) => tokens !== 0);
  return [['images of kept messages', images] as const, ['cut from kept messages', texts] as const].flatMap(
    ([label, all]) =>
      all.length === 0
        ? []
        : [[label, { count: all.length, tokens: all.reduce((sum, each) => sum + each, 0) }] as const],
  );
}

function lossLines({ largest, images, files, userMessages, rules }: Loss, { look, isFull }: View): string[] {
  const results = largest
    .slice(0, isFull ? largest.length : SHORT_RESULTS)
    .map(({ tool, subject, tokens, line }) => {
      const where = line === undefined ? '' : `, line ${formatNumber(line)}`;
      return `${fitPath(look, printable(subject === '' ? tool : subject), look.width >> 1)} (${formatNumber(tokens)}${where})`;
    });
  const { total: asked, summarised, cut } = userMessages;
  const said = [
    ...(summarised === 0
      ? []
      : [`${formatNumber(summarised)} of ${formatNumber(asked)} only told in the summary`]),
    ...(cut === 0 ? [] : [`${formatNumber(cut)} shortened`]),
  ];
  return [
    ...(results.length === 0 ? [] : [`  Largest results: ${results.join('; ')}`]),
    ...(images.count === 0
      ? []
      : [`  Images: ${formatNumber(images.count)}, ${formatNumber(images.tokens)} tokens`]),
    ...(said.length === 0 ? [] : [`  Messages of the user: ${said.join(', ')}`]),
    ...(files.notNamed.length === 0
      ? []
      : [
          `  Files no longer mentioned: ${formatNumber(files.notNamed.length)} of ${formatNumber(files.touched)}: ${listed(files.notNamed, isFull)}`,
        ]),
    ...(rules.leftOut.length === 0
      ? []
      : [
          `  Rules of the user omitted: ${listed(
            rules.leftOut.map((rule) => `"${rule}"`),
            isFull,
          )}`,
        ]),
  ];
}

function listed(all: readonly string[], isFull: boolean): string {
  const shown = isFull ? all : all.slice(0, SHORT_NAMES);
  const more = all.length - shown.length;
  return `${shown.map(printable).join(', ')}${more === 0 ? '' : ` and ${formatNumber(more)} more`}`;
}

/** The remaining items, and the two sums that lead from the old size to the new one. */
function staysSection(receipt: Receipt, { tokens: gone, rules }: Loss, look: Look): string {
  const { preTokens, postTokens, kept, after, beside } = receipt;
  const besides = (whole: number, rest: string): readonly NamedTokens[] =>
    beside === undefined ? [] : besideParts(whole, beside.fixed, rest);
  const rest = beside?.isReported === true ? 'not explained' : 'margin of the estimate';
  const before = [['gone', gone], ['kept', kept.tokens], ...besides(beside?.before ?? 0, rest)] as const;
  const parts = Object.entries(PART_NAMES).map(
    ([part, name]) => [name, after?.[part as keyof typeof PART_NAMES] ?? 0] as const,
  );
  const left = besides(beside?.after ?? 0, 'margin of the estimate');
  return [
    head('Stays', `${plural(kept.count, 'item')} verbatim, and what is written`, look),
    `  before  ${sumText(before)} = ${formatNumber(preTokens)} tokens`,
    ...(after === undefined
      ? []
      : [
          `  after   ${sumText([...parts.filter(([, tokens]) => tokens !== 0), ...left])} = ${formatNumber(postTokens)} tokens`,
        ]),
    ...(rules.carriedOver === 0
      ? []
      : [`  Rules of the user carried over verbatim: ${formatNumber(rules.carriedOver)}`]),
    '',
  ].join('\n');
}

type NamedTokens = readonly [name: string, tokens: number];

/** `9 kept + 3 summary - 1 not explained`. */
function sumText(parts: readonly NamedTokens[]): string {
  return parts
    .map(([name, tokens], index) => {
      const sign = tokens < 0 ? '- ' : index === 0 ? '' : '+ ';
      return `${sign}${formatNumber(Math.abs(tokens))} ${name}`;
    })
    .join(' ');
}

function restoredSection({ restoredFiles }: Receipt, look: Look): string {
  if (restoredFiles.length === 0) return '';
  const rows = restoredFiles.map(
    ({ path, tokens, note }) =>
      `  ${padEnd(printable(path), labelWidth(look))}${padStart(formatNumber(tokens), 9)}` +
      (note === undefined ? '' : `  ${paint(look, 'faint', note)}`),
  );
  return `${paint(look, 'strong', 'Read again from the workspace')}\n${rows.join('\n')}\n`;
}

function head(title: string, about: string, look: Look): string {
  return `${paint(look, 'strong', title)}  ${paint(look, 'faint', about)}`;
}

function summaryHeading({ implementation, summaryTokens, model }: Receipt): string {
  return implementation === 'remote'
    ? `The summary in words, besides the state of ${printable(model ?? 'the provider')} (${formatNumber(summaryTokens)} tokens)`
    : `The summary, ${formatNumber(summaryTokens)} tokens`;
}

function headline(preTokens: number, postTokens: number, look: Look): string {
  const saved = Math.round((100 * (preTokens - postTokens)) / Math.max(1, preTokens));
  return `${paint(look, 'strong', `${formatNumber(preTokens)} ${arrow(look)} ${formatNumber(postTokens)} tokens`)}  ${saved} % less\n`;
}

const PART_NAMES = {
  kept: 'kept',
  summary: 'summary',
  files: 'files read again',
  state: 'plan, todos and pins',
  hooks: 'words of hooks',
} as const;

/** The parts outside items, by name. */
function besideParts(whole: number, fixed: number, rest: string): readonly NamedTokens[] {
  const parts = [['instructions and tools', fixed] as const, [rest, whole - fixed] as const];
  return parts.filter(([, tokens]) => tokens !== 0);
}

interface Group {
  readonly count: number;
  readonly tokens: number;
}

/** Fates by kind of item. */
function groupsOf(fates: readonly Fate[], isMeant: (fate: Fate) => boolean): Map<string, Group> {
  const groups = new Map<string, Group>();
  const calls = toolNames(fates);
  for (const each of fates) {
    if (!isMeant(each)) continue;
    const { entry, tokens, why } = each;
    const label = why === undefined ? labelOf(entry.value, calls) : `dropped: ${DROPPED_WORDS[why]}`;
    const { count, tokens: before } = groups.get(label) ?? { count: 0, tokens: 0 };
    groups.set(label, { count: count + 1, tokens: before + sumTokens(tokens) });
  }
  return groups;
}

function total(groups: readonly Group[]): Group {
  return {
    count: groups.reduce((sum, { count }) => sum + count, 0),
    tokens: groups.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

function keptSection(fates: readonly Fate[], look: Look): string {
  const groups = groupsOf(fates, ({ fate }) => fate === 'kept');
  const { count, tokens: whole } = total([...groups.values()]);
  if (count === 0) return '';
  return [
    head('Kept verbatim', `${plural(count, 'item')}, ${formatNumber(whole)} tokens`, look),
    ...bySize(groups).map(([label, group]) => row(label, group, whole, look)),
    '',
  ].join('\n');
}

function bySize(groups: ReadonlyMap<string, Group>): readonly (readonly [string, Group])[] {
  return [...groups].toSorted(([, a], [, b]) => b.tokens - a.tokens);
}

function row(label: string, { count, tokens }: Group, whole: number, look: Look): string {
  const name = fitWidth(look, `${printable(label)} (${formatNumber(count)})`, labelWidth(look));
  const width = Math.max(4, Math.min(30, look.width - labelWidth(look) - 16));
  return `  ${padEnd(name, labelWidth(look))}${padStart(formatNumber(tokens), 9)}  ${paint(look, 'accent', bar(look, tokens, whole, width))}`;
}

const DROPPED_WORDS = {
  progress: 'progress lines',
  system: 'system and harness messages',
  synthetic_error: 'error placeholders',
  thinking_only: 'reasoning that led to nothing',
  injected: "Baton's own requests",
  ghost_snapshot: 'snapshots',
  initial_context: 'initial context',
} as const;

function toolNames(fates: readonly Fate[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  for (const { entry } of fates) {
    const call = callOf(entry.value);
    if (call?.callId !== undefined) names.set(call.callId, call.name);
  }
  return names;
}

function labelOf(item: Item, names: ReadonlyMap<string, string>): string {
  const call = callOf(item);
  if (call !== undefined) return `calls of ${call.name}`;
  const result = resultCallId(item);
  if (result !== undefined) return `results of ${names.get(result) ?? 'unknown tools'}`;
  if (item.type === 'reasoning') return 'reasoning';
  if (item.type === 'attachment') return 'attachments';
  if (item.type !== 'message') return item.type.replaceAll('_', ' ');
  if (item.isCompactSummary === true) return 'earlier summary';
  if (item.isToolOutput === true) return 'results of commands';
  if (item.role === 'user' && item.origin?.author !== 'harness') {
    return textOfParts(item.content) === '' ? 'images of the user' : 'messages of the user';
  }
  return item.role === 'assistant' ? 'messages of the agent' : 'harness messages';
}
