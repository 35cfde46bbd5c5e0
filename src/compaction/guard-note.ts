// What the loop guard remembers, as a note of the log: another process continues where this one stopped.

import type { JsonObject } from '../protocol/item.ts';
import type { NoteRecord } from '../protocol/record.ts';
import { releaseLease } from './loop-guard.ts';
import type { BreakerReason, LoopGuard } from './loop-guard.ts';

/** The kind of the note; the newest counts, with the records behind it. */
export const GUARD_NOTE = 'loop_guard';

/** What a compactor remembers of a thread. */
export interface GuardMemory {
  readonly guard: LoopGuard;
  /** Used tokens before an automatic compaction whose effect the provider has not reported yet. */
  readonly before: number | undefined;
}

/** The memory as the log keeps it. A lease is of the process that holds it. */
export function guardNote({ guard, before }: GuardMemory): NoteRecord {
  const value = { ...releaseLease(guard), ...(before === undefined ? {} : { before }) };
  return { type: 'note', kind: GUARD_NOTE, value: value as unknown as JsonObject };
}

const BREAKERS: readonly BreakerReason[] = ['effect', 'progress', 'count'];

/** The memory in a note, whatever a file says; undefined where it is none. */
export function guardIn(value: JsonObject): GuardMemory | undefined {
  const { rearm, inTurn, hasProgress, breaker, before } = value;
  const counts = countsIn(value, ['nextEpoch', 'ineffective', 'unfelt', 'idle']);
  const turn = countsIn(inTurn, ['full', 'micro', 'newestTurns']);
  if (counts === undefined || turn === undefined || typeof hasProgress !== 'boolean') return undefined;
  const rearmed = countsIn(rearm, ['used', 'freed']);
  const found = BREAKERS.find((reason) => reason === breaker);
  return {
    guard: {
      ...counts,
      hasProgress,
      inTurn: turn,
      ...(rearmed === undefined ? {} : { rearm: rearmed }),
      ...(found === undefined ? {} : { breaker: found }),
    },
    before: isCount(before) ? before : undefined,
  };
}

function countsIn<Key extends string>(
  value: unknown,
  keys: readonly Key[],
): Readonly<Record<Key, number>> | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const counts: Partial<Record<Key, number>> = {};
  for (const key of keys) {
    const count = (value as Readonly<Record<string, unknown>>)[key];
    if (!isCount(count)) return undefined;
    counts[key] = count;
  }
  return counts as Readonly<Record<Key, number>>;
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
