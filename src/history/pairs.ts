// A tool call and its result belong together: both stay or both go. Everything here is linear in the items.

import { authorOf, callOf, resultCallId } from '../protocol/item.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';

/** Unpaired items of a history. Indexes into the list, ascending. */
export interface BrokenPairs {
  /** Calls without a result. Calls that never have one (web search) do not count. */
  readonly orphanCalls: readonly number[];
  /** Results without a preceding call. */
  readonly orphanResults: readonly number[];
  /** Further results for a call that already has one. */
  readonly duplicateResults: readonly number[];
}

/** What pairing needs to know about an item; lets `inspect` pair items that it did not keep. */
export interface PairView {
  readonly callId?: string | undefined;
  readonly resultOf?: string | undefined;
}

/** The pairing view of an item. */
export function pairView(item: Item): PairView {
  return { callId: callOf(item)?.callId, resultOf: resultCallId(item) };
}

/** Finds unpaired items, one item at a time. A result before its call is an orphan, and so is the call. */
export class PairFinder {
  readonly #open = new Map<string, number>();
  readonly #answered = new Set<string>();
  readonly #orphanCalls: number[] = [];
  readonly #orphanResults: number[] = [];
  readonly #duplicateResults: number[] = [];
  #count = 0;

  add({ callId, resultOf }: PairView): void {
    const index = this.#count++;
    if (callId !== undefined) {
      const earlier = this.#open.get(callId);
      if (earlier !== undefined) this.#orphanCalls.push(earlier);
      this.#open.set(callId, index);
      this.#answered.delete(callId);
    } else if (resultOf !== undefined) {
      if (this.#open.delete(resultOf)) this.#answered.add(resultOf);
      else (this.#answered.has(resultOf) ? this.#duplicateResults : this.#orphanResults).push(index);
    }
  }

  /** The unpaired items so far. */
  broken(): BrokenPairs {
    return {
      orphanCalls: [...this.#orphanCalls, ...this.#open.values()].toSorted((a, b) => a - b),
      orphanResults: [...this.#orphanResults],
      duplicateResults: [...this.#duplicateResults],
    };
  }
}

/** The unpaired items of a list. */
export function findBrokenPairs(views: readonly PairView[]): BrokenPairs {
  const finder = new PairFinder();
  for (const view of views) finder.add(view);
  return finder.broken();
}

/** What the normalizer changed, by index in the list that it received. */
export interface Repair {
  readonly index: number;
  readonly what:
    | 'dropped_orphan_result'
    | 'dropped_duplicate_result'
    | 'answered_orphan_call'
    | 'dropped_dangling_reasoning';
}

/** The result given to a call whose own was never recorded. The call stays, because the model made it. */
export const MISSING_RESULT = '[No result was recorded for this call]';

/**
 * The one guard of every history that leaves Baton: answers calls without a result with `MISSING_RESULT` and `success: false`;
 * drops results without a call, second results, and reasoning without a following agent item, which providers reject.
 * Idempotent; returns a sound history as the same array.
 */
export function normalizeItems(items: readonly Item[]): {
  items: readonly Item[];
  repairs: readonly Repair[];
} {
  const broken = findBrokenPairs(items.map(pairView));
  const repairs = new Map<number, Repair['what']>();
  for (const index of broken.orphanCalls) repairs.set(index, 'answered_orphan_call');
  for (const index of broken.orphanResults) repairs.set(index, 'dropped_orphan_result');
  for (const index of broken.duplicateResults) repairs.set(index, 'dropped_duplicate_result');
  for (const index of danglingReasoning(items, repairs)) repairs.set(index, 'dropped_dangling_reasoning');
  if (repairs.size === 0) return { items, repairs: [] };
  const repaired = items.flatMap((item, index) => repairItem(item, repairs.get(index)));
  return {
    items: repaired,
    repairs: [...repairs].map(([index, what]) => ({ index, what })).toSorted((a, b) => a.index - b.index),
  };
}

function repairItem(item: Item, what: Repair['what'] | undefined): readonly Item[] {
  if (what === undefined) return [item];
  return what === 'answered_orphan_call' ? [item, failedResult(item, MISSING_RESULT)] : [];
}

/** The result for a call without one of its own: that it failed, and why. */
export function failedResult(call: Item, output: string): ToolOutputItem {
  return {
    type: call.type === 'custom_tool_call' ? 'custom_tool_call_output' : 'function_call_output',
    call_id: callOf(call)?.callId ?? '',
    output,
    success: false,
    origin: { author: 'harness' },
  };
}

function danglingReasoning(items: readonly Item[], dropped: ReadonlyMap<number, unknown>): number[] {
  const dangling: number[] = [];
  let followedByAgent = false;
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    if (item === undefined || (dropped.has(index) && resultCallId(item) !== undefined)) continue;
    if (item.type === 'reasoning') {
      if (!followedByAgent) dangling.push(index);
    } else if (sendsNothing(item)) continue;
    else followedByAgent = authorOf(item) === 'agent';
  }
  return dangling;
}

function sendsNothing(item: Item): boolean {
  return item.type === 'progress' || item.type === 'ghost_snapshot' || item.type === 'compact_boundary';
}
