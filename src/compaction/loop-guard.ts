// What keeps compaction from running in circles: one lease, rearming by growth, and a breaker. Immutable data with pure
// transitions, JSON-safe, because the log keeps it (guard-note.ts).

import type { CompactionPlan } from '../protocol/plan.ts';

/** Who asks for a compaction. All but `manual` ask by themselves. */
export type Requester = 'manual' | 'watcher' | 'mid_turn' | 'pre_turn' | 'built_in' | 'overflow';

/** The one compaction in flight. */
export interface Lease {
  /** Unique within the thread; the end of any other epoch's compaction is inert. */
  readonly epoch: number;
  readonly from: Requester;
  readonly type: Exclude<CompactionPlan['type'], 'none'>;
}

/** Why automatic compaction has stopped. */
export type BreakerReason = 'effect' | 'progress' | 'count';

/** All that the arbiter remembers of a thread. Counts of tokens by one estimator. */
export interface LoopGuard {
  readonly lease?: Lease;
  readonly nextEpoch: number;
  /** What was used when the last compaction ended, or was vetoed, and what the last one freed. */
  readonly rearm?: { readonly used: number; readonly freed: number };
  /** Automatic compactions in a row that freed too little. */
  readonly ineffective: number;
  /** Automatic compactions in a row after which the provider reported as much as before, whatever the estimate had said. */
  readonly unfelt: number;
  /** Automatic compactions in a row before which nothing new had come since the one before. */
  readonly idle: number;
  /** Something new came since the last compaction. */
  readonly hasProgress: boolean;
  /** Latched; `progress` and `count` also hold by the numbers above and below. */
  readonly breaker?: BreakerReason;
  /** Of the user's turn so far. */
  readonly inTurn: { readonly full: number; readonly micro: number; readonly newestTurns: number };
}

const FRESH_TURN = { full: 0, micro: 0, newestTurns: 0 } as const;

/** A thread that was never compacted. */
export const NEW_GUARD: LoopGuard = {
  nextEpoch: 1,
  ineffective: 0,
  unfelt: 0,
  idle: 0,
  hasProgress: true,
  inTurn: FRESH_TURN,
};

/** A compaction that frees a smaller share than this has no effect. @source spec 2-engine §6 */
export const LEAST_FREED_SHARE = 0.1;
/** Growth, as a share of the window, that rearms. @source spec 2-engine §6 */
const REARM_SHARE = 0.1;
/** Compactions in a row without effect, or without progress before them, that open the breaker. @source spec 2-engine §6 */
const MOST_IN_A_ROW = 2;
/** Automatic compactions in one turn of the user, whatever they free. @source docs/decisions/compaction-loops.md */
export const MOST_FULL_IN_TURN = 24;
/** Clearings of tool results in one turn of the user. @source docs/decisions/compaction-loops.md */
export const MOST_MICRO_IN_TURN = 64;

/** Why no model is asked for another automatic compaction; undefined while the breaker is closed. */
export function openBreaker(guard: LoopGuard): BreakerReason | undefined {
  if (guard.breaker !== undefined) return guard.breaker;
  // The epoch that runs counts as idle for as long as nothing new has come in it.
  if (guard.idle + (guard.hasProgress ? 0 : 1) >= MOST_IN_A_ROW) return 'progress';
  return guard.inTurn.full >= MOST_FULL_IN_TURN ? 'count' : undefined;
}

/** Tokens by which usage has to grow before automatic compaction starts again. `window` is the usable one. */
export function rearmGrowth(guard: LoopGuard, window: number | undefined): number {
  return Math.max((window ?? 0) * REARM_SHARE, (guard.rearm?.freed ?? 0) / 2);
}

/** Whether usage has grown enough since the last compaction, or there was none. */
export function isRearmed(guard: LoopGuard, used: number, window: number | undefined): boolean {
  return guard.rearm === undefined || used - guard.rearm.used >= rearmGrowth(guard, window);
}

/**
 * A compaction starts, as `dispatch` planned it.
 * @throws RangeError while another one is in flight: ask `dispatch`, which refuses
 */
export function beginCompaction(guard: LoopGuard, from: Requester, type: Lease['type']): LoopGuard {
  if (guard.lease !== undefined) {
    throw new RangeError(`The compaction of epoch ${guard.lease.epoch} is still in flight`);
  }
  const lease = { epoch: guard.nextEpoch, from, type };
  const started = { ...guard, lease, nextEpoch: guard.nextEpoch + 1 };
  if (from === 'manual') return started;
  const { full, micro, newestTurns } = guard.inTurn;
  if (type === 'micro') return { ...started, inTurn: { full, micro: micro + 1, newestTurns } };
  const idle = guard.hasProgress ? 0 : guard.idle + 1;
  const breaker = openBreaker(guard);
  return {
    ...started,
    idle,
    ...(breaker === 'effect' || breaker === 'progress' ? { breaker } : {}),
    inTurn:
      type !== 'newest_turns'
        ? { full: full + 1, micro, newestTurns }
        : { full, micro, newestTurns: newestTurns + 1 },
  };
}

/** How a compaction ended. `failed` left the history unchanged; `cancelled` did too, by the will of the user or a hook. */
export type Ending =
  /** By the items, so that the margin of an estimate hides no effect; `used`: by the gauge, where it says something else. */
  | {
      readonly type: 'compacted';
      readonly preTokens: number;
      readonly postTokens: number;
      readonly used?: number;
    }
  | { readonly type: 'failed'; readonly used: number }
  | { readonly type: 'cancelled'; readonly used: number };

/** The compaction of an epoch ended. The end of one that is not in flight, a second time too, changes nothing. */
export function endCompaction(guard: LoopGuard, epoch: number, ending: Ending): LoopGuard {
  const { lease, ...released } = guard;
  if (lease?.epoch !== epoch) return guard;
  const isManual = lease.from === 'manual';
  if (ending.type === 'cancelled') return noteVeto(released, ending.used);
  // Clearing does nothing below a threshold of its own, and its effect is not judged.
  if (lease.type === 'micro') return released;
  if (ending.type === 'failed') {
    return isManual ? released : judgeEffect(noteVeto(released, ending.used), 0);
  }
  const freed = Math.max(0, ending.preTokens - ending.postTokens);
  const ended = { ...released, hasProgress: false, rearm: { used: ending.used ?? ending.postTokens, freed } };
  return isManual
    ? closeBreaker({ ...ended, idle: 0 })
    : judgeEffect(ended, ending.preTokens > 0 ? freed / ending.preTokens : 0);
}

function judgeEffect(guard: LoopGuard, freedShare: number): LoopGuard {
  if (freedShare >= LEAST_FREED_SHARE) return { ...guard, ineffective: 0 };
  const ineffective = guard.ineffective + 1;
  return { ...guard, ineffective, ...(ineffective >= MOST_IN_A_ROW ? { breaker: 'effect' as const } : {}) };
}

/**
 * The first report after an automatic compaction: by it, and not by the estimate, the provider counts. Growth is counted from it
 * where less is used than the gauge had supposed.
 * @param before used tokens when the compaction was asked for, by the same gauge
 */
export function noteReport(reported: LoopGuard, before: number, used: number): LoopGuard {
  const { rearm } = reported;
  const guard =
    rearm === undefined ? reported : { ...reported, rearm: { ...rearm, used: Math.min(rearm.used, used) } };
  if (used < before * (1 - LEAST_FREED_SHARE)) return { ...guard, unfelt: 0 };
  const unfelt = guard.unfelt + 1;
  return { ...guard, unfelt, ...(unfelt >= MOST_IN_A_ROW ? { breaker: 'effect' as const } : {}) };
}

/** A judge or a hook vetoed, or an undo brought the history back: growth is counted from here. @param used tokens now */
export function noteVeto(guard: LoopGuard, used: number): LoopGuard {
  return { ...guard, rearm: { used, freed: guard.rearm?.freed ?? 0 } };
}

/** New content from the user, a new edit, a new result, a file read for the first time, a text that does not repeat another. */
export function noteProgress(guard: LoopGuard): LoopGuard {
  return guard.hasProgress ? guard : { ...guard, hasProgress: true };
}

/**
 * The user starts a turn: what they say is progress, and counting starts over.
 * @param hasHeadroom no built-in compaction is due (`isBuiltInDue`): only then does the breaker close
 */
export function noteUserTurn(
  guard: LoopGuard,
  { hasHeadroom }: { readonly hasHeadroom: boolean },
): LoopGuard {
  const counted = { ...guard, hasProgress: true, inTurn: FRESH_TURN };
  return hasHeadroom ? closeBreaker(counted) : counted;
}

/** The user chose another model: what fits and what a compaction frees is open again. */
export function noteModelChange(guard: LoopGuard): LoopGuard {
  return closeBreaker({ ...guard, idle: 0 });
}

/** The thread was loaded again: nothing is in flight any more. A compaction that did not commit has left no trace. */
export function releaseLease(guard: LoopGuard): LoopGuard {
  const { lease: _, ...released } = guard;
  return released;
}

function closeBreaker(guard: LoopGuard): LoopGuard {
  const { breaker: _, ...closed } = guard;
  return { ...closed, ineffective: 0, unfelt: 0, idle: 0 };
}
