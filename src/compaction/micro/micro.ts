// Tier 1: old results of repeatable tools are replaced by a placeholder. No model, one pass, nothing reordered.

import { approximateTokens, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import type { CountText } from '../../tokens/estimate.ts';
import { authorOf, callOf, resultCallId } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import { CLEARED_RESULT } from '../../protocol/record.ts';
import { clearFresh, isCleared } from '../../history/clear.ts';
import { NO_RESULT } from '../../history/present.ts';
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
  /** The tool of the newest call before it that it answers; empty for anything that is not a result. */
  toolAt(index: number): string | undefined;
}

/** What clearing comes to. Twice is the same as once: a cleared result is known by its placeholder. */
export type MicroResult =
  | {
      readonly wasEffective: true;
      readonly toolsCompacted: number;
      readonly tokensSaved: number;
      readonly items: readonly Item[];
      /** Calls whose results were cleared now, in order. */
      readonly callIds: readonly string[];
    }
  | {
      readonly wasEffective: false;
      readonly why: 'not_worth_it';
      /** What clearing would have saved. */
      readonly tokensSaved: number;
    };

/**
 * Results that could be cleared, oldest first. There may be tens of thousands: lists that grow were a fifth of the work, in
 * garbage, so these have the length of the history from the start.
 */
interface Candidates {
  readonly places: Int32Array;
  /** Tokens that each has at least; more than a cleared result has wherever it is larger. */
  readonly least: Int32Array;
  /** Tokens that each has. */
  readonly sizes: () => Int32Array;
}

/**
 * Clears the results of all but the newest eligible calls, when that saves enough. A result that the model has not been
 * sampled on yet, one that is cleared already and one of any other tool stays. Linear in the items. The tokens that the
 * outcome tells are exact; those of results that nobody has counted are counted when somebody reads them, which takes
 * longer than the clearing. The outcome's items and calls are made when somebody reads them: until then, `items` must not
 * change.
 */
export function microCompact(items: readonly Item[], settings: MicroSettings): MicroResult {
  const placeholder = textTokens(CLEARED_RESULT, settings);
  const search: ClearableSearch = { items, settings, placeholder };
  const candidates = findCandidates(search);
  const chosen = choose(candidates, search);
  const certain = savingOf(chosen, candidates.least, placeholder);
  const saving = late(() => savingOf(chosen, candidates.sizes(), placeholder));
  const isWorthIt = certain >= settings.minTokensToSave || saving() >= settings.minTokensToSave;
  if (chosen.length === 0 || !isWorthIt) {
    return { wasEffective: false, why: 'not_worth_it', tokensSaved: saving() };
  }
  // A plan only needs to know what it saves, before each request of a turn.
  const cleared = late(() => clearAll(items, candidates.places, chosen));
  return {
    wasEffective: true,
    toolsCompacted: chosen.length,
    get tokensSaved() {
      return saving();
    },
    get items() {
      return cleared().items;
    },
    get callIds() {
      return cleared().callIds;
    },
  };
}

/** @param chosen indices into `places`, which are indices into the items */
function clearAll(
  items: readonly Item[],
  places: Int32Array,
  chosen: Int32Array,
): { readonly items: readonly Item[]; readonly callIds: readonly string[] } {
  const callIds: string[] = [];
  const left = [...items];
  for (let order = 0; order < chosen.length; order++) {
    const place = places[chosen[order] ?? 0] ?? 0;
    const item = items[place];
    if (item === undefined) continue;
    callIds.push(resultCallId(item) ?? '');
    left[place] = clearFresh(item);
  }
  return { items: left, callIds };
}

/** Which of the candidates are cleared: of those that the model was sampled on, all larger ones but the newest. */
function choose(
  { places, least }: Candidates,
  { items, settings, placeholder }: ClearableSearch,
): Int32Array {
  const lastSampled = lastAgentIndex(items);
  const chosen = new Int32Array(places.length);
  let count = 0;
  for (let nth = 0; nth < places.length - settings.keepLastTools; nth++) {
    if ((places[nth] ?? 0) >= lastSampled) break;
    if ((least[nth] ?? 0) > placeholder) chosen[count++] = nth;
  }
  return chosen.subarray(0, count);
}

function savingOf(chosen: Int32Array, sizes: Int32Array, placeholder: number): number {
  let sum = 0;
  for (let nth = 0; nth < chosen.length; nth++) sum += (sizes[chosen[nth] ?? 0] ?? 0) - placeholder;
  return sum;
}

/** What results are looked for in. */
interface ClearableSearch {
  readonly items: readonly Item[];
  readonly settings: MicroSettings;
  /** Tokens of a cleared result. */
  readonly placeholder: number;
}

function findCandidates(search: ClearableSearch): Candidates {
  const { items, settings } = search;
  const tools = new ToolsOfResults(items);
  const places = new Int32Array(items.length);
  const least = new Int32Array(items.length);
  let length = 0;
  let areKnown = settings.count === undefined;
  for (let index = 0; index < items.length; index++) {
    if (!isCandidate(index, search, tools)) continue;
    places[length] = index;
    if (settings.count === undefined) {
      const known = knownSize(index, search);
      areKnown &&= known !== undefined;
      least[length] = known ?? leastSize(index, search);
    }
    length++;
  }
  const found = places.subarray(0, length);
  // Fetching all of them once more would be a third of the work in a thread whose account has counted them.
  const sizes = areKnown ? () => least : late(() => found.map((index) => exactSize(index, search)));
  return { places: found, least: settings.count === undefined ? least : sizes(), sizes };
}

function isCandidate(
  index: number,
  { items, settings, placeholder }: ClearableSearch,
  tools: ToolsOfResults,
): boolean {
  const { kept } = settings;
  // As long as it will do, nothing but what is kept is looked at: most of the time goes into fetching items from memory.
  const knownTool = kept?.toolAt(index);
  if (knownTool === NO_RESULT) return false;
  if (knownTool !== undefined && eligibleTool(knownTool) === undefined) return false;
  const item = items[index];
  const callId = item === undefined ? undefined : resultCallId(item);
  if (item === undefined || callId === undefined) return false;
  if (knownTool === undefined) {
    const tool = tools.toolOf(callId, index);
    if (tool === undefined || eligibleTool(tool) === undefined) return false;
  }
  const size = kept?.sizeAt(index);
  return !((size === undefined || size === placeholder) && isCleared(item));
}

/** Tokens of the result at a place, where they are known; what cannot be cleared counts as nothing. */
function knownSize(index: number, { items, settings }: ClearableSearch): number | undefined {
  const item = items[index];
  if (item === undefined || item.type === 'unknown') return 0;
  return settings.kept?.sizeAt(index);
}

function exactSize(index: number, search: ClearableSearch): number {
  return knownSize(index, search) ?? resultTokens(search.items[index], search.settings);
}

/** By the estimate a text has no fewer bytes than characters; any other count has to be asked. */
function leastSize(index: number, search: ClearableSearch): number {
  const { items, settings, placeholder } = search;
  const text = outputText(items[index]);
  const least = text === undefined ? 0 : Math.ceil(text.length / settings.approxBytesPerToken);
  return least > placeholder ? least : exactSize(index, search);
}

function outputText(item: Item | undefined): string | undefined {
  if (item?.type !== 'function_call_output' && item?.type !== 'custom_tool_call_output') return undefined;
  return typeof item.output === 'string' ? item.output : undefined;
}

/** Makes a value when it is asked for first, and then lets go of what it was made from. */
function late<Value>(make: () => Value): () => Value {
  let ask = make;
  let isMade = false;
  return () => {
    const value = ask();
    if (!isMade) ask = () => value;
    isMade = true;
    return value;
  };
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
      if (item !== undefined && idOfCall(item) === callId) return toolOfCall(item);
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

function toolOfCall(item: Item): string | undefined {
  return item.type === 'function_call' ? item.name : callOf(item)?.name;
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

function resultTokens(item: Item | undefined, settings: MicroSettings): number {
  const text = outputText(item);
  // Nearly all: a split by category for each would be most of the garbage made here.
  if (text !== undefined) return textTokens(text, settings);
  const count: CountText = (part) => textTokens(part, settings);
  return item === undefined ? 0 : sumTokens(itemTokens(item, count, settings));
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
