// What `baton compact --preview` shows: what would stay, what would be told in the summary, what would go.

import { callOf, resultCallId, textOfParts } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { Receipt } from '../protocol/receipt.ts';
import type { Compaction } from '../compaction/driver.ts';
import type { Fate } from '../compaction/full.ts';
import { sumTokens } from '../tokens/estimate.ts';
import type { Look } from './io.ts';
import {
  arrow,
  bar,
  fitWidth,
  foldLines,
  formatNumber,
  padEnd,
  padStart,
  paint,
  plural,
  printable,
} from './style.ts';

const WIDEST_LABEL = 34;
const MOST_ROWS = 12;

/** The preview as text. */
export function renderPreview(compaction: Compaction, look: Look): string {
  return foldLines(
    look,
    compaction.type === 'full' ? renderFull(compaction, look) : renderMicro(compaction, look),
  );
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

function renderFull({ record, fates }: Compaction & { type: 'full' }, look: Look): string {
  const { receipt } = record;
  const sections = [
    headline(receipt.preTokens, receipt.postTokens, look),
    section('Kept word for word', fates, 'kept', look),
    cutSection(receipt, look),
    section('Told in the summary, gone as text', fates, 'summarised', look),
    section('Dropped', fates, 'dropped', look),
    afterwards(receipt, look),
    ...(receipt.restoredFiles.length === 0
      ? []
      : [
          `${paint(look, 'strong', 'Read again from the workspace')}\n${receipt.restoredFiles
            .map(
              ({ path, tokens, note }) =>
                `  ${padEnd(printable(path), labelWidth(look))}${padStart(formatNumber(tokens), 9)}` +
                (note === undefined ? '' : `  ${paint(look, 'faint', note)}`),
            )
            .join('\n')}\n`,
        ]),
    ...(receipt.notes.length === 0 ? [] : [`${receipt.notes.join('\n')}\n`]),
    `${paint(look, 'strong', summaryHeading(receipt))}\n${record.summary ?? ''}\n`,
    'Nothing was written.\n',
  ];
  return sections.filter((text) => text !== '').join('\n');
}

function summaryHeading({ implementation, summaryTokens, model }: Receipt): string {
  return implementation === 'remote'
    ? `The summary in words, beside the state of ${printable(model ?? 'the provider')} (${formatNumber(summaryTokens)} tokens)`
    : `The summary, ${formatNumber(summaryTokens)} tokens`;
}

function headline(preTokens: number, postTokens: number, look: Look): string {
  const saved = Math.round((100 * (preTokens - postTokens)) / Math.max(1, preTokens));
  return `${paint(look, 'strong', `${formatNumber(preTokens)} ${arrow(look)} ${formatNumber(postTokens)} tokens`)}  ${saved} % less\n`;
}

/** What kept messages lose: a preview that counts it as kept would promise what is gone. */
function cutSection({ cut }: Receipt, look: Look): string {
  if (cut === undefined || cut.count === 0) return '';
  const { images = 0 } = cut.byCategory;
  const texts = cut.tokens - images;
  const parts = [
    ...(images > 0 ? [`images, ${formatNumber(images)} tokens`] : []),
    ...(texts > 0 ? [`the middle of a long message, ${formatNumber(texts)} tokens`] : []),
  ];
  return `${paint(look, 'strong', 'Cut from kept messages')}  ${paint(look, 'faint', `${plural(cut.count, 'message')}, ${formatNumber(cut.tokens)} tokens`)}\n  ${parts.join('; ')}\n`;
}

const PART_NAMES = {
  kept: 'kept',
  summary: 'summary',
  files: 'files read again',
  state: 'plan, todos and pins',
  hooks: 'words of hooks',
} as const;

/** The sum that makes the size afterwards. */
function afterwards({ after, postTokens }: Receipt, look: Look): string {
  if (after === undefined) return '';
  const parts = Object.entries(PART_NAMES).flatMap(([part, name]) => {
    const tokens = after[part as keyof typeof PART_NAMES];
    return tokens === 0 ? [] : [`${name} ${formatNumber(tokens)}`];
  });
  return `${paint(look, 'strong', 'Afterwards')}\n  ${parts.join(' + ')} = ${formatNumber(postTokens)} tokens\n`;
}

interface Group {
  count: number;
  tokens: number;
}

function section(title: string, fates: readonly Fate[], which: Fate['fate'], look: Look): string {
  const groups = new Map<string, Group>();
  const calls = toolNames(fates);
  for (const { entry, fate, tokens, why } of fates) {
    if (fate !== which) continue;
    const label = why === undefined ? labelOf(entry.value, calls) : DROPPED_WORDS[why];
    const group = groups.get(label) ?? { count: 0, tokens: 0 };
    groups.set(label, { count: group.count + 1, tokens: group.tokens + sumTokens(tokens) });
  }
  const sorted = [...groups].toSorted(([, a], [, b]) => b.tokens - a.tokens);
  const whole = sorted.reduce((sum, [, { tokens }]) => sum + tokens, 0);
  const count = sorted.reduce((sum, [, group]) => sum + group.count, 0);
  if (count === 0) return `${paint(look, 'strong', title)}\n  nothing\n`;
  const rows = sorted.slice(0, MOST_ROWS).map(([label, group]) => row(label, group, whole, look));
  const more = sorted.length - rows.length;
  return [
    `${paint(look, 'strong', title)}  ${paint(look, 'faint', `${plural(count, 'item')}, ${formatNumber(whole)} tokens`)}`,
    ...rows,
    ...(more > 0 ? [`  ${plural(more, 'more kind')}`] : []),
    '',
  ].join('\n');
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
  initial_context: 'initial context (the agent gives its own)',
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
