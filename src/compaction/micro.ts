// Tier 1: old results of repeatable tools are replaced by a placeholder. No model, one pass, nothing reordered.

import { approximateTokens, itemTokens, sumTokens } from '../tokens/estimate.ts';
import type { CountText } from '../tokens/estimate.ts';
import { authorOf, callOf, resultCallId } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import { CLEARED_RESULT } from '../protocol/record.ts';
import { clearResult, isCleared } from '../history/clear.ts';
import { NO_RESULT } from '../history/present.ts';
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
  /** What somebody keeps of the items; without it each is looked at, and results are counted here. */
  readonly kept?: KeptItems;
}

/** What is known of items by their place in the history. Whatever is undefined is found out from the item itself. */
export interface KeptItems {
  /** Its tokens, by the same count. */
  sizeAt(index: number): number | undefined;
  /** The tool of the newest call before it that it answers; empty for what is no result. */
  toolAt(index: number): string | undefined;
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

/** Results that could be cleared, oldest first. Numbers beside each other, since there may be tens of thousands. */
interface Candidates {
  readonly places: readonly number[];
  /** What clearing each would save. */
  readonly savings: readonly number[];
  /** Sizes by call that had to be counted now. */
  readonly counted: readonly (readonly [callId: string, tokens: number])[];
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
  const { places, savings, counted } = findCandidates(items, state, settings);
  const lastSampled = lastAgentIndex(items);
  const clearable: number[] = [];
  let tokensSaved = 0;
  for (let nth = 0; nth < places.length - settings.keepLastTools; nth++) {
    const [place = 0, saving = 0] = [places[nth], savings[nth]];
    if (place >= lastSampled || saving <= 0) continue;
    clearable.push(place);
    tokensSaved += saving;
  }
  if (clearable.length === 0 || tokensSaved < settings.minTokensToSave) {
    return { wasEffective: false, why: 'not_worth_it', tokensSaved, state: stateAfter(state, counted, []) };
  }
  const callIds: string[] = [];
  const left = [...items];
  for (const place of clearable) {
    const item = items[place];
    if (item === undefined) continue;
    callIds.push(resultCallId(item) ?? '');
    left[place] = clearResult(item);
  }
  return {
    wasEffective: true,
    toolsCompacted: clearable.length,
    tokensSaved,
    items: left,
    callIds,
    state: stateAfter(state, counted, callIds),
  };
}

function findCandidates(items: readonly Item[], state: CompactState, settings: MicroSettings): Candidates {
  const search: Search = {
    state,
    settings,
    tools: new ToolsOfResults(items),
    placeholder: textTokens(CLEARED_RESULT, settings),
    counted: [],
  };
  const places: number[] = [];
  const savings: number[] = [];
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    const saving = item === undefined ? undefined : savingOf(item, index, search);
    if (saving === undefined) continue;
    places.push(index);
    savings.push(saving);
  }
  return { places, savings, counted: search.counted };
}

/** What an item is looked at with. */
interface Search {
  readonly state: CompactState;
  readonly settings: MicroSettings;
  readonly tools: ToolsOfResults;
  /** Tokens of a cleared result. */
  readonly placeholder: number;
  readonly counted: (readonly [callId: string, tokens: number])[];
}

/** What clearing an item would save; undefined for what is not to be cleared. */
function savingOf(item: Item, index: number, search: Search): number | undefined {
  const { state, settings, tools, placeholder } = search;
  const { kept } = settings;
  // As long as it will do, nothing but what is kept is looked at: most of the time goes into fetching items from memory.
  const knownTool = kept?.toolAt(index);
  if (knownTool === NO_RESULT) return undefined;
  const size = kept?.sizeAt(index);
  if (knownTool !== undefined && eligibleTool(knownTool) === undefined) return undefined;
  const callId = resultCallId(item);
  if (callId === undefined) return undefined;
  if (knownTool === undefined) {
    const tool = tools.toolOf(callId, index);
    if (tool === undefined || eligibleTool(tool) === undefined) return undefined;
  }
  if ((size === undefined || size === placeholder) && isCleared(item)) return undefined;
  if (state.compactedToolIds.size > 0 && state.compactedToolIds.has(callId)) return undefined;
  const known = size ?? state.toolTokenCache.get(callId);
  const tokens = known ?? resultTokens(item, settings);
  if (known === undefined) search.counted.push([callId, tokens]);
  return item.type === 'unknown' ? 0 : tokens - placeholder;
}

/** A history of hours has tens of thousands of results: tables of their ids cost more than all else here, so they wait. */
function stateAfter(
  before: CompactState,
  counted: Candidates['counted'],
  callIds: readonly string[],
): CompactState {
  const lateIds = late(() =>
    callIds.length === 0 ? before.compactedToolIds : new Set([...before.compactedToolIds, ...callIds]),
  );
  const lateSizes = late(() =>
    counted.length === 0 ? before.toolTokenCache : new Map([...before.toolTokenCache, ...counted]),
  );
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
