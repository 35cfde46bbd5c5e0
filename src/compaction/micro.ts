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

interface Candidate {
  readonly index: number;
  readonly callId: string;
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
  const { candidates, cache } = findCandidates(items, state, settings);
  const old = candidates.slice(0, Math.max(0, candidates.length - settings.keepLastTools));
  const lastSampled = lastAgentIndex(items);
  const clearable = old.filter(({ index, saving }) => index < lastSampled && saving > 0);
  const tokensSaved = clearable.reduce((sum, { saving }) => sum + saving, 0);
  if (clearable.length === 0 || tokensSaved < settings.minTokensToSave) {
    return {
      wasEffective: false,
      why: 'not_worth_it',
      tokensSaved,
      state: { ...state, toolTokenCache: cache },
    };
  }
  const cleared = new Set(clearable.map(({ index }) => index));
  const callIds = clearable.map(({ callId }) => callId);
  return {
    wasEffective: true,
    toolsCompacted: clearable.length,
    tokensSaved,
    items: items.map((item, index) => (cleared.has(index) ? clearResult(item) : item)),
    callIds,
    state: { compactedToolIds: new Set([...state.compactedToolIds, ...callIds]), toolTokenCache: cache },
  };
}

function findCandidates(
  items: readonly Item[],
  state: CompactState,
  settings: MicroSettings,
): { candidates: readonly Candidate[]; cache: ReadonlyMap<string, number> } {
  const eligibleCalls = new Set<string>();
  const counted = new Map<string, number>();
  const candidates: Candidate[] = [];
  const placeholder = countOf(settings)(CLEARED_RESULT);
  for (const [index, item] of items.entries()) {
    const eligible = eligibleCallId(item);
    if (eligible !== undefined) eligibleCalls.add(eligible);
    const callId = resultCallId(item);
    if (callId === undefined || !eligibleCalls.has(callId)) continue;
    if (isCleared(item) || state.compactedToolIds.has(callId)) continue;
    let tokens = state.toolTokenCache.get(callId) ?? counted.get(callId);
    if (tokens === undefined) counted.set(callId, (tokens = resultTokens(item, settings)));
    candidates.push({ index, callId, saving: item.type === 'unknown' ? 0 : tokens - placeholder });
  }
  // A history of hours has tens of thousands of results; most requests bring a few new ones or none.
  const cache = counted.size === 0 ? state.toolTokenCache : new Map([...state.toolTokenCache, ...counted]);
  return { candidates, cache };
}

/** The id of a call whose result may be cleared. The most frequent kind is looked at without taking it apart. */
function eligibleCallId(item: Item): string | undefined {
  if (item.type === 'function_call') {
    return eligibleTool(item.name) === undefined ? undefined : item.call_id;
  }
  const call = callOf(item);
  return call === undefined || eligibleTool(call.name) === undefined ? undefined : call.callId;
}

function resultTokens(item: Item, settings: MicroSettings): number {
  return sumTokens(itemTokens(item, countOf(settings), settings));
}

function countOf(settings: MicroSettings): CountText {
  return settings.count ?? ((text) => approximateTokens(text, settings));
}

function lastAgentIndex(items: readonly Item[]): number {
  for (let index = items.length - 1; index >= 0; index--) {
    const item = items[index];
    if (item !== undefined && authorOf(item) === 'agent') return index;
  }
  return -1;
}
