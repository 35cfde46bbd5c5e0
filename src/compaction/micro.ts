// Tier 1: old results of repeatable tools are replaced by a placeholder. No model, one pass, nothing reordered.

import { approximateTokens, itemTokens, sumTokens } from '../tokens/estimate.ts';
import type { CountText } from '../tokens/estimate.ts';
import { authorOf, callOf, resultCallId } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import { CLEARED_RESULT } from '../protocol/record.ts';
import { clearResult, isCleared } from '../history/clear.ts';
import { eligibleTool } from './eligible.ts';

/** The keys of `[compact]` that micro-compaction reads, and how it counts. */
export interface MicroSettings {
  /** Least saving, in tokens, for which the prefix of the request may change. @source seed 001 §2: 20,000. */
  readonly minTokensToSave: number;
  /** How many of the newest results of eligible tools stay. @source seed 001 §2: 3. */
  readonly keepLastTools: number;
  readonly tokensPerImage: number;
  readonly approxBytesPerToken: number;
  /** Counts text; the estimate unless given. */
  readonly count?: CountText;
  /** Tokens of the item at an index, by the same count, where somebody keeps them; without it results are counted here. */
  readonly sizeAt?: (index: number) => number | undefined;
}

/** What persists with a thread so that compacting twice is compacting once. @source seed 001 §1. */
export interface CompactState {
  /** Calls whose results were cleared. */
  readonly compactedToolIds: ReadonlySet<string>;
  /** Tokens of results by call, so that no result is counted twice. */
  readonly toolTokenCache: ReadonlyMap<string, number>;
}

export const EMPTY_COMPACT_STATE: CompactState = { compactedToolIds: new Set(), toolTokenCache: new Map() };

export type MicroResult =
  | {
      readonly wasEffective: true;
      readonly toolsCompacted: number;
      readonly tokensSaved: number;
      readonly items: readonly Item[];
      /** Calls whose results were cleared now, in order. */
      readonly callIds: readonly string[];
      readonly state: CompactState;
    }
  | {
      readonly wasEffective: false;
      readonly why: 'not_worth_it';
      /** What clearing would have saved. */
      readonly tokensSaved: number;
      readonly state: CompactState;
    };

/** A result that could be cleared. */
interface Candidate {
  readonly index: number;
  readonly callId: string;
  /** What it weighs, where that had to be counted now. */
  readonly counted: number | undefined;
  readonly saving: number;
}

/**
 * Clears the results of all but the newest eligible calls, when that saves enough. A result that the model has not been
 * sampled on yet, one that is cleared already and one of any other tool stays. Linear in the items.
 */
export function microCompact(
  items: readonly Item[],
  state: CompactState,
  settings: MicroSettings,
): MicroResult {
  const candidates = findCandidates(items, state, settings);
  const lastSampled = lastAgentIndex(items);
  const clearable = candidates
    .slice(0, Math.max(0, candidates.length - settings.keepLastTools))
    .filter(({ index, saving }) => index < lastSampled && saving > 0);
  const tokensSaved = clearable.reduce((sum, { saving }) => sum + saving, 0);
  if (clearable.length === 0 || tokensSaved < settings.minTokensToSave) {
    return {
      wasEffective: false,
      why: 'not_worth_it',
      tokensSaved,
      state: stateAfter(state, candidates, []),
    };
  }
  const callIds = clearable.map(({ callId }) => callId);
  const left = [...items];
  for (const { index } of clearable) {
    const item = items[index];
    if (item !== undefined) left[index] = clearResult(item);
  }
  return {
    wasEffective: true,
    toolsCompacted: clearable.length,
    tokensSaved,
    items: left,
    callIds,
    state: stateAfter(state, candidates, callIds),
  };
}

function findCandidates(
  items: readonly Item[],
  state: CompactState,
  settings: MicroSettings,
): readonly Candidate[] {
  const search: Search = {
    state,
    settings,
    tools: new ToolsOfResults(items),
    placeholder: textTokens(CLEARED_RESULT, settings),
  };
  const candidates: Candidate[] = [];
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    const candidate = item === undefined ? undefined : candidateOf(item, index, search);
    if (candidate !== undefined) candidates.push(candidate);
  }
  return candidates;
}

/** What an item is looked at with. */
interface Search {
  readonly state: CompactState;
  readonly settings: MicroSettings;
  readonly tools: ToolsOfResults;
  /** Tokens of a cleared result. */
  readonly placeholder: number;
}

function candidateOf(item: Item, index: number, search: Search): Candidate | undefined {
  const { state, settings, tools, placeholder } = search;
  const callId = resultCallId(item);
  if (callId === undefined) return undefined;
  const tool = tools.toolOf(callId, index);
  if (tool === undefined || eligibleTool(tool) === undefined) return undefined;
  const size = settings.sizeAt?.(index);
  // What is larger than the placeholder is not looked at: the text of each result would be fetched from memory.
  if ((size === undefined || size === placeholder) && isCleared(item)) return undefined;
  if (state.compactedToolIds.size > 0 && state.compactedToolIds.has(callId)) return undefined;
  const known = size ?? state.toolTokenCache.get(callId);
  const counted = known === undefined ? resultTokens(item, settings) : undefined;
  const saving = item.type === 'unknown' ? 0 : (known ?? counted ?? 0) - placeholder;
  return { index, callId, counted, saving };
}

/** A history of hours has tens of thousands of results: tables of their ids cost more than all else here, so they wait. */
function stateAfter(
  before: CompactState,
  candidates: readonly Candidate[],
  callIds: readonly string[],
): CompactState {
  const lateIds = late(() =>
    callIds.length === 0 ? before.compactedToolIds : new Set([...before.compactedToolIds, ...callIds]),
  );
  const lateSizes = late(() => {
    const counted = candidates.filter((candidate) => candidate.counted !== undefined);
    if (counted.length === 0) return before.toolTokenCache;
    const sizes = new Map(before.toolTokenCache);
    for (const { callId, counted: tokens = 0 } of counted) sizes.set(callId, tokens);
    return sizes;
  });
  return {
    get compactedToolIds() {
      return lateIds();
    },
    get toolTokenCache() {
      return lateSizes();
    },
  };
}

/** Makes a value when it is asked for first. */
function late<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** A result follows its call at once, or after the rest of a batch: so many items are looked through before a table is made. */
const NEAR = 32;

/** Finds the tool that gave a result. */
class ToolsOfResults {
  readonly #items: readonly Item[];
  /** Tools by call, of the items before `#known`. */
  readonly #tools = new Map<string, string>();
  #known = 0;

  constructor(items: readonly Item[]) {
    this.#items = items;
  }

  /** The tool of the newest call with this id before an index; undefined where there is none. Indices must not decrease. */
  toolOf(callId: string, before: number): string | undefined {
    const last = Math.max(0, before - NEAR);
    for (let index = before - 1; index >= last; index--) {
      const item = this.#items[index];
      if (item !== undefined && idOfCall(item) === callId) return callOf(item)?.name;
    }
    return this.#farTool(callId, before);
  }

  #farTool(callId: string, before: number): string | undefined {
    for (; this.#known < before; this.#known++) {
      const item = this.#items[this.#known];
      const call = item === undefined ? undefined : callOf(item);
      if (call?.callId !== undefined) this.#tools.set(call.callId, call.name);
    }
    return this.#tools.get(callId);
  }
}

/** The id of a call, without taking it apart where its kind is known. */
function idOfCall(item: Item): string | undefined {
  switch (item.type) {
    case 'function_call':
    case 'custom_tool_call':
    case 'local_shell_call':
      return item.call_id;
    default:
      return callOf(item)?.callId;
  }
}

function resultTokens(item: Item, settings: MicroSettings): number {
  return sumTokens(itemTokens(item, (text) => textTokens(text, settings), settings));
}

function textTokens(text: string, settings: MicroSettings): number {
  return settings.count?.(text) ?? approximateTokens(text, settings);
}

function lastAgentIndex(items: readonly Item[]): number {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    if (item !== undefined && authorOf(item) === 'agent') return index;
  }
  return -1;
}
