// What a model is shown of a history that it is to summarise: the conversation without ceremony, in groups that stay or go
// together, and less and less of it the further down the ladder a request stands. Pure.

import { callOf, resultCallId } from '../../protocol/item.ts';
import type { Item, MessageItem, Part, ToolOutputItem } from '../../protocol/item.ts';
import { clearResult } from '../../history/clear.ts';
import { filterForSummary, isSummary } from '../../history/filter.ts';
import { normalizeItems } from '../../history/pairs.ts';
import { cutMiddle } from '../../tokens/cut.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import type { Ask } from './ladder.ts';

/** Tokens of one item as a request has it, the overhead of its message included. */
export type SizeOf = (item: Item) => number;

/** Items that make sense only together: a message; or a step of the agent, its calls and their results. */
interface Group {
  readonly items: readonly Item[];
  readonly tokens: number;
  /** The same without results of tools, images and encrypted reasoning. */
  readonly light: readonly Item[];
  readonly lightTokens: number;
  /** An earlier summary: the only memory of what was before it. */
  readonly isSummary: boolean;
}

/** The conversation as a summarizer may see it. Counts in tokens. */
export interface Transcript {
  readonly groups: readonly Group[];
  readonly whole: number;
  readonly cleared: number;
}

/** What one request shows. */
export interface Excerpt {
  readonly items: readonly Item[];
  /** Items that are not shown. */
  readonly omitted: number;
  readonly omittedTokens: number;
}

/** The newest steps whose results stay when the others are cleared. @source seed 001 §2 `keep_last_n_tools`: 3 */
const STEPS_WITH_RESULTS = 3;

/**
 * The transcript of a history: from its newest boundary on, the boundary's summary included; attachments before the user
 * message that they belong to; what no summary should speak of left out; the user's messages in a row as one.
 * @source seed 001 §4, spec 2-engine §4.3
 */
export function transcriptOf(history: readonly Item[], sizeOf: SizeOf): Transcript {
  const boundary = history.findLastIndex(({ type }) => type === 'compact_boundary');
  const items = history.slice(Math.max(0, boundary));
  const seen = filterForSummary(items).flatMap(({ index, reason }) => {
    const item = items[index];
    return item === undefined || reason !== undefined || item.type === 'compact_boundary' ? [] : [item];
  });
  const ordered = mergeUserMessages(attachmentsFirst(normalizeItems(seen).items));
  const steps = groupsOf(ordered);
  const withResults = steps.filter((step) => step.some((item) => resultCallId(item) !== undefined));
  const keptWhole = new Set(withResults.slice(-STEPS_WITH_RESULTS));
  const groups = steps.map((step): Group => {
    const light = step.flatMap((item) => lighten(item, keptWhole.has(step)));
    return {
      items: step,
      tokens: totalOf(step, sizeOf),
      light,
      lightTokens: totalOf(light, sizeOf),
      isSummary: step.some(isSummary),
    };
  });
  return {
    groups,
    whole: groups.reduce((sum, { tokens }) => sum + tokens, 0),
    cleared: groups.reduce((sum, { lightTokens }) => sum + lightTokens, 0),
  };
}

/** @source seed 001 §4 `reorganize_attachments` */
function attachmentsFirst(items: readonly Item[]): readonly Item[] {
  const ordered: Item[] = [];
  let waiting: Item[] = [];
  for (const item of items) {
    if (item.type === 'attachment') waiting.push(item);
    else if (item.type === 'message' && item.role === 'user') {
      ordered.push(...waiting, item);
      waiting = [];
    } else ordered.push(item);
  }
  return [...ordered, ...waiting];
}

/** @source seed 001 §4 `merge_consecutive_messages`; a summary stays by itself, since it is treated apart */
function mergeUserMessages(items: readonly Item[]): readonly Item[] {
  const merged: Item[] = [];
  for (const item of items) {
    const last = merged.at(-1);
    if (last !== undefined && isPlainUser(last) && isPlainUser(item)) {
      merged[merged.length - 1] = { ...last, content: [...last.content, ...item.content] };
    } else merged.push(item);
  }
  return merged;
}

function isPlainUser(item: Item): item is MessageItem {
  return item.type === 'message' && item.role === 'user' && !isSummary(item);
}

function groupsOf(items: readonly Item[]): readonly (readonly Item[])[] {
  const groups: Item[][] = [];
  const open = new Set<string>();
  let followsReasoning = false;
  for (const item of items) {
    const answered = resultCallId(item);
    const isOwn = answered === undefined && open.size === 0 && !followsReasoning;
    if (isOwn) groups.push([item]);
    else groups.at(-1)?.push(item);
    const callId = callOf(item)?.callId;
    if (callId !== undefined) open.add(callId);
    if (answered !== undefined) open.delete(answered);
    followsReasoning = item.type === 'reasoning';
  }
  return groups;
}

function lighten(item: Item, keepsResults: boolean): readonly Item[] {
  if (item.type === 'reasoning') return [];
  if (item.type === 'message') return [{ ...item, content: item.content.map(withoutImage) }];
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return [item];
  return [keepsResults ? withoutImages(item) : clearResult(item)];
}

function withoutImages(item: ToolOutputItem): ToolOutputItem {
  return typeof item.output === 'string' ? item : { ...item, output: item.output.map(withoutImage) };
}

function withoutImage(part: Part): Part {
  return part.type === 'input_image' ? { type: 'input_text', text: '[image]' } : part;
}

function totalOf(items: readonly Item[], sizeOf: SizeOf): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0);
}

/** The part of a transcript that a request shows; never more than its room holds, as far as pieces can be cut. */
export function excerptFor(transcript: Transcript, ask: Ask, sizeOf: SizeOf): Excerpt {
  const { groups } = transcript;
  switch (ask.rung) {
    case 'whole':
      return { items: groups.flatMap(({ items }) => items), omitted: 0, omittedTokens: 0 };
    case 'results_cleared':
      return { items: groups.flatMap(({ light }) => light), omitted: 0, omittedTokens: 0 };
    case 'oldest_dropped':
    case 'newest_turns':
      return fitting(groups, ask.room, sizeOf);
    case 'chunked':
      return ask.chunk === undefined
        ? { items: [], omitted: 0, omittedTokens: 0 }
        : fitting(chunkOf(groups, ask.room, ask.chunk), ask.room, sizeOf);
  }
}

/** The newest groups that fit. Earlier summaries stay while they take no more than half of the room. */
function fitting(groups: readonly Group[], room: number, sizeOf: SizeOf): Excerpt {
  const summaries = groups.filter((group) => group.isSummary);
  const summaryTokens = summaries.reduce((sum, { lightTokens }) => sum + lightTokens, 0);
  const keepsSummaries = summaryTokens <= room / 2;
  let left = room - (keepsSummaries ? summaryTokens : 0);
  const kept = new Set<Group>(keepsSummaries ? summaries : []);
  for (const group of groups.toReversed()) {
    if (kept.has(group)) continue;
    if (group.lightTokens > left) break;
    kept.add(group);
    left -= group.lightTokens;
  }
  const newest = groups.at(-1);
  const isNewestShown = newest === undefined || kept.has(newest);
  const shown = groups.filter((group) => kept.has(group)).flatMap(({ light }) => light);
  const items = isNewestShown ? shown : [...shown, ...shrink(newest.light, left, sizeOf)];
  const omitted = groups.filter((group) => !kept.has(group) && group !== newest);
  return {
    items,
    omitted: omitted.reduce((sum, group) => sum + group.items.length, 0),
    omittedTokens: omitted.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}

/** The groups of one piece: the newest that all pieces together hold, in pieces of about the same size. */
function chunkOf(
  groups: readonly Group[],
  room: number,
  { index, count }: NonNullable<Ask['chunk']>,
): readonly Group[] {
  let total = 0;
  const held: Group[] = [];
  for (const group of groups.toReversed()) {
    if (held.length > 0 && total + group.lightTokens > room * count) break;
    held.unshift(group);
    total += group.lightTokens;
  }
  let before = 0;
  return held.filter(({ lightTokens }) => {
    const middle = before + lightTokens / 2;
    before += lightTokens;
    return Math.min(count - 1, Math.floor((middle / Math.max(1, total)) * count)) === index;
  });
}

/** A group that is larger than the room, with its texts cut in the middle. */
function shrink(items: readonly Item[], room: number, sizeOf: SizeOf): readonly Item[] {
  // What is short leaves its share to what is long.
  const sizes = items.map((item) => sizeOf(item)).toSorted((a, b) => a - b);
  let left = room;
  let share = 0;
  for (const [index, size] of sizes.entries()) {
    share = Math.floor(left / (sizes.length - index));
    if (size > share) break;
    left -= size;
  }
  return items.map((item) => (sizeOf(item) <= share ? item : shrinkItem(item, share)));
}

/** Bytes over four undercount some texts; three quarters of the share leave room for that. */
const CAREFUL = 0.75;

function shrinkItem(item: Item, share: number): Item {
  const budget = Math.max(8, Math.floor(share * CAREFUL));
  const cut = (text: string, most = budget): string => cutMiddle(text, most, approximateTokens) ?? '…';
  switch (item.type) {
    case 'message': {
      const each = Math.floor(budget / Math.max(1, item.content.length));
      return { ...item, content: item.content.map((part) => cutPart(part, (text) => cut(text, each))) };
    }
    case 'attachment':
      return { ...item, text: cut(item.text) };
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const { output } = item;
      if (typeof output === 'string') return { ...item, output: cut(output) };
      const each = Math.floor(budget / Math.max(1, output.length));
      return { ...item, output: output.map((part) => cutPart(part, (text) => cut(text, each))) };
    }
    case 'custom_tool_call':
      return { ...item, input: cut(item.input) };
    case 'function_call':
      // Arguments must stay the JSON that every API wants.
      return { ...item, arguments: JSON.stringify({ shortened: cut(item.arguments) }) };
    default:
      return item;
  }
}

function cutPart(part: Part, cut: (text: string) => string): Part {
  return part.type === 'input_text' || part.type === 'output_text' ? { ...part, text: cut(part.text) } : part;
}
