// What a model is shown of a history in the legacy compaction: all of it, less what does not fit, oldest first. Pure.

import { initialContextRange, isSummary } from '../../history/filter.ts';
import { normalizeItems } from '../../history/pairs.ts';
import type { Item } from '../../protocol/item.ts';
import { groupsOf } from '../summarise/transcript.ts';
import type { SizeOf } from '../summarise/transcript.ts';
import { trimmingNote } from './prompt.ts';

/** Share of a window that a request may take, its prompt included. @source seed 002 */
const SHARE_OF_WINDOW = 0.8;

/** The tokens that a history may take in a request. @param prompt what is sent besides */
export function historyBudget(window: number, prompt: number): number {
  return Math.floor(window * SHARE_OF_WINDOW) - prompt;
}

interface Unit {
  readonly items: readonly Item[];
  readonly tokens: number;
  /** Initial context and earlier summaries: the one would be asked for again, the others are all that is left of their time. */
  readonly isPrefix: boolean;
}

/** A history in units that stay or go together. */
export interface LegacyHistory {
  readonly units: readonly Unit[];
}

/** Prepares a history. Nothing is filtered out. */
export function legacyHistory(items: readonly Item[], sizeOf: SizeOf): LegacyHistory {
  const sound = normalizeItems(items).items;
  const { from, to } = initialContextRange(sound);
  const prefix = new Set(sound.slice(from, to));
  const units = groupsOf(sound).map((group) => ({
    items: group,
    tokens: group.reduce((sum, item) => sum + sizeOf(item), 0),
    isPrefix: group.every((item) => prefix.has(item) || isSummary(item)),
  }));
  return { units };
}

/** The part of a history that a request shows. */
export interface LegacyExcerpt {
  /** Empty where nothing but the prefix is left: no request is worth making. */
  readonly items: readonly Item[];
  /** How many units were dropped. */
  readonly dropped: number;
}

/**
 * Drops the oldest units until the rest fits, and at least some of them.
 * @param budget most tokens of the history
 * @param least how many to drop in any case: what a provider has refused does not fit, whatever we count
 */
export function trimHistory({ units }: LegacyHistory, budget: number, least: number): LegacyExcerpt {
  let tokens = units.reduce((sum, unit) => sum + unit.tokens, 0);
  const gone = new Set<Unit>();
  for (const unit of units) {
    if (tokens <= budget && gone.size >= least) break;
    if (unit.isPrefix) continue;
    gone.add(unit);
    tokens -= unit.tokens;
  }
  const kept = units.filter((unit) => !gone.has(unit));
  if (tokens > budget || kept.every(({ isPrefix }) => isPrefix)) return { items: [], dropped: gone.size };
  const items = kept.flatMap((unit) => unit.items);
  if (gone.size === 0) return { items, dropped: 0 };
  const lost = [...gone];
  const note = trimmingNote(
    lost.reduce((sum, unit) => sum + unit.items.length, 0),
    lost.reduce((sum, unit) => sum + unit.tokens, 0),
  );
  return { items: [...items, note], dropped: gone.size };
}

/** Requests that are sent again after a refusal for their size. @source docs/decisions/ladder.md, legacy */
export const MOST_OVERFLOWS = 12;

/**
 * How many units to drop after one more refusal: one, then two more, then four. One at a time, as V1 does, is a request for
 * every item of a history that is far too long.
 */
export function nextDrop(dropped: number, overflows: number): number {
  return dropped + 2 ** (overflows - 1);
}
