// What a model is shown of a history that it is to summarise: the conversation without ceremony, in groups that stay or go
// together, and less and less of it the further down the ladder a request stands. Pure.

import { callOf, resultCallId } from '../../protocol/item.ts';
import type { Item, MessageItem, Part, ToolOutputItem } from '../../protocol/item.ts';
import { clearResult } from '../../history/clear.ts';
import { filterForSummary, isSummary } from '../../history/filter.ts';
import { normalizeItems } from '../../history/pairs.ts';
import { cutMiddle } from '../../tokens/cut.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { MESSAGE_OVERHEAD } from '../budget.ts';
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
    return item === undefined || reason !== undefined || isNeverSent(item) ? [] : [item];
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
      isSummary: step.some((item) => isSummary(item) || item.type === 'compaction'),
    };
  });
  return {
    groups,
    whole: groups.reduce((sum, { tokens }) => sum + tokens, 0),
    cleared: groups.reduce((sum, { lightTokens }) => sum + lightTokens, 0),
  };
}

/** Kinds that no wire has a place for must not take the room of those that it has. */
function isNeverSent({ type }: Item): boolean {
  return type === 'compact_boundary' || type === 'unknown';
}

/** @source seed 001 §4 `reorganize_attachments` */
function attachmentsFirst(items: readonly Item[]): readonly Item[] {
  const ordered: Item[] = [];
  let waiting: Item[] = [];
  for (const item of items) {
    if (item.type === 'attachment') waiting.push(item);
    else if (item.type === 'message' && item.role === 'user') {
      for (const each of waiting) ordered.push(each);
      ordered.push(item);
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

/** Items that stay or go together: a message; or a step of the agent, its reasoning, calls and their results. */
export function groupsOf(items: readonly Item[]): readonly (readonly Item[])[] {
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
  if (item.type === 'message') return [withoutImages(item)];
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return [item];
  return [keepsResults ? withoutImageResults(item) : clearResult(item)];
}

function withoutImages(item: MessageItem): MessageItem {
  return item.content.some(isImage) ? { ...item, content: item.content.map(withoutImage) } : item;
}

function withoutImageResults(item: ToolOutputItem): ToolOutputItem {
  const { output } = item;
  return typeof output === 'string' || !output.some(isImage)
    ? item
    : { ...item, output: output.map(withoutImage) };
}

function isImage({ type }: Part): boolean {
  return type === 'input_image';
}

function withoutImage(part: Part): Part {
  return part.type === 'input_image' ? { type: 'input_text', text: '[image]' } : part;
}

function totalOf(items: readonly Item[], sizeOf: SizeOf): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0);
}

/** The part of a transcript that a request shows; never more than its room holds, as far as texts can be cut. */
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
    case 'chunked': {
      const count = ask.chunk?.count ?? ask.partials.length;
      const held = heldByPieces(groups, ask.room, count);
      // What no piece contains is described once, where the pieces are joined.
      return ask.chunk === undefined
        ? { items: [], ...leftOut(groups, new Map(held.map((group) => [group, group.light]))) }
        : pieceOf(held, { room: ask.room, ...ask.chunk }, sizeOf);
    }
  }
}

/**
 * The newest groups that fit. The newest earlier summary stays, in half of the room if need be; and a group that is larger
 * than half of the room is cut rather than let it hide everything before it.
 */
function fitting(groups: readonly Group[], room: number, sizeOf: SizeOf): Excerpt {
  const half = Math.floor(room / 2);
  const shown = new Map<Group, readonly Item[]>();
  let left = room;
  const show = (group: Group, most: number): void => {
    const isWhole = group.lightTokens <= most;
    const items = isWhole ? group.light : shrink(group.light, most, sizeOf);
    shown.set(group, items);
    left -= isWhole ? group.lightTokens : totalOf(items, sizeOf);
  };
  const summary = groups.findLast((group) => group.isSummary);
  if (summary !== undefined) show(summary, half);
  let older = groups.reduce((sum, { lightTokens }) => sum + lightTokens, 0);
  older -= summary?.lightTokens ?? 0;
  for (const group of groups.toReversed()) {
    if (group === summary) continue;
    older -= group.lightTokens;
    if (group.lightTokens <= left) show(group, left);
    else if (group.lightTokens > half) show(group, Math.max(Math.floor(left / 2), left - older));
    else break;
  }
  return {
    items: groups.flatMap((group) => shown.get(group) ?? []),
    ...leftOut(groups, shown),
  };
}

/** What of the groups is not shown. */
function leftOut(
  groups: readonly Group[],
  shown: ReadonlyMap<Group, readonly Item[]>,
): Pick<Excerpt, 'omitted' | 'omittedTokens'> {
  let omitted = 0;
  let omittedTokens = 0;
  for (const group of groups) {
    const items = shown.get(group);
    const missing = items === undefined ? group.items.length : group.light.length - items.length;
    omitted += missing;
    // Of a group that is shown in part, the same share.
    omittedTokens += Math.floor((group.tokens * missing) / group.items.length);
  }
  return { omitted, omittedTokens };
}

/** The newest groups that all pieces together hold; one that is larger than a piece is cut to one. */
function heldByPieces(groups: readonly Group[], room: number, count: number): readonly Group[] {
  let total = 0;
  const oldest = groups.findLastIndex((group) => {
    total += Math.min(group.lightTokens, room);
    return total > room * count;
  });
  return groups.slice(oldest + 1);
}

/** One of several pieces of about the same size: each group is in exactly one of them. */
function pieceOf(
  groups: readonly Group[],
  { room, index, count }: NonNullable<Ask['chunk']> & { readonly room: number },
  sizeOf: SizeOf,
): Excerpt {
  const weightOf = ({ lightTokens }: Group): number => Math.min(lightTokens, room);
  const total = groups.reduce((sum, group) => sum + weightOf(group), 0);
  let before = 0;
  const items = groups.flatMap((group) => {
    const middle = before + weightOf(group) / 2;
    before += weightOf(group);
    const piece = Math.min(count - 1, Math.floor((middle / Math.max(1, total)) * count));
    return piece === index ? group.light : [];
  });
  const shown = shrink(items, room, sizeOf);
  return { items: shown, omitted: items.length - shown.length, omittedTokens: 0 };
}

/** Fewest tokens in which something can be said of an item: where more have to share a room, the oldest go. */
const LEAST_SHARE = 24;

/** Items with the longest of their texts cut in the middle, so that together they fit. */
function shrink(items: readonly Item[], room: number, sizeOf: SizeOf): readonly Item[] {
  if (totalOf(items, sizeOf) <= room) return items;
  const most = Math.max(2, Math.floor(room / LEAST_SHARE));
  const newest = items.length > most ? newestOf(items, most) : items;
  const share = shareOf(newest.map(sizeOf), room);
  return newest.flatMap((item) => (sizeOf(item) <= share ? item : shrinkItem(item, share)));
}

/** About so many items from the end, each result with its call. */
function newestOf(items: readonly Item[], most: number): readonly Item[] {
  const calls = new Map(items.map((item) => [callOf(item)?.callId, item]));
  const kept = new Set<Item>();
  for (const item of items.toReversed()) {
    if (kept.size >= most) break;
    kept.add(item);
    const answered = resultCallId(item);
    const call = answered === undefined ? undefined : calls.get(answered);
    if (call !== undefined) kept.add(call);
  }
  return normalizeItems(items.filter((item) => kept.has(item))).items;
}

/** The most that one may take so that all fit: what is short leaves its share to what is long. */
function shareOf(sizes: readonly number[], room: number): number {
  let left = room;
  let share = 0;
  for (const [index, size] of sizes.toSorted((a, b) => a - b).entries()) {
    share = Math.floor(left / (sizes.length - index));
    if (size > share) break;
    left -= size;
  }
  return share;
}

/** Bytes over four undercount some texts; three quarters of the share leave room for that. */
const CAREFUL = 0.75;

/** What an item says in a share of the room; nothing of a kind without a text that could be cut. */
function shrinkItem(item: Item, share: number): readonly Item[] {
  const budget = Math.max(8, Math.floor((share - MESSAGE_OVERHEAD) * CAREFUL));
  const cut = (text: string, most = budget): string => cutMiddle(text, most, approximateTokens) ?? '…';
  const cutParts = (parts: readonly Part[]): readonly Part[] => {
    const each = Math.floor(budget / Math.max(1, parts.length));
    return parts.map((part) => cutPart(part, (text) => cut(text, each)));
  };
  switch (item.type) {
    case 'message':
      return [{ ...item, content: cutParts(item.content) }];
    case 'attachment':
      return [{ ...item, text: cut(item.text) }];
    case 'function_call_output':
    case 'custom_tool_call_output':
      return [
        { ...item, output: typeof item.output === 'string' ? cut(item.output) : cutParts(item.output) },
      ];
    case 'custom_tool_call':
      return [{ ...item, input: cut(item.input) }];
    case 'function_call':
      // Arguments must stay the JSON that every API wants; writing a text as JSON makes it twice as long at the most.
      return [{ ...item, arguments: JSON.stringify({ shortened: cut(item.arguments, budget >> 1) }) }];
    case 'local_shell_call':
      return [
        {
          ...item,
          action: { type: 'exec', command: [cut(JSON.stringify(item.action), budget >> 1)], env: {} },
        },
      ];
    default:
      return [];
  }
}

function cutPart(part: Part, cut: (text: string) => string): Part {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { ...part, text: cut(part.text) };
    case 'refusal':
      return { ...part, refusal: cut(part.refusal) };
    case 'other':
      return { type: 'input_text', text: cut(JSON.stringify(part.value)) };
    case 'input_image':
      return part;
  }
}
