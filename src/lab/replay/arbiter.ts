// The engine's arbiter for a play, with the loop protection that it keeps from one compaction to the next.

import { dispatch, isBuiltInDue } from '../../compaction/dispatch.ts';
import type { CompactionPressure, CompactionRequest, DispatchSettings } from '../../compaction/dispatch.ts';
import {
  beginCompaction,
  endCompaction,
  NEW_GUARD,
  noteProgress,
  noteUserTurn,
} from '../../compaction/loop-guard.ts';
import type { LoopGuard, Requester } from '../../compaction/loop-guard.ts';
import type { CompactionPlan } from '../../protocol/plan.ts';

/** The sizes before and after a compaction, in tokens. */
export interface CompactionSizes {
  readonly preTokens: number;
  readonly postTokens: number;
}

/** Asks `dispatch` and keeps its guard. */
export class Arbiter {
  readonly #settings: DispatchSettings;
  #guard: LoopGuard = NEW_GUARD;

  constructor(settings: DispatchSettings) {
    this.#settings = settings;
  }

  plan(request: CompactionRequest): CompactionPlan {
    return dispatch(request, this.#guard, this.#settings);
  }

  /** Whether the engine would compact by itself at this size. */
  isDue(pressure: CompactionPressure): boolean {
    return isBuiltInDue(pressure, this.#settings);
  }

  /** Performs a planned compaction. @param run undefined: it left the history unchanged */
  carryOut(
    from: Requester,
    { type, used }: { readonly type: Exclude<CompactionPlan['type'], 'none'>; readonly used: number },
    run: () => CompactionSizes | undefined,
  ): CompactionSizes | undefined {
    const begun = beginCompaction(this.#guard, from, type);
    const sizes = run();
    this.#guard = endCompaction(
      begun,
      begun.nextEpoch - 1,
      sizes === undefined ? { type: 'failed', used } : { type: 'compacted', ...sizes },
    );
    return sizes;
  }

  noteProgress(): void {
    this.#guard = noteProgress(this.#guard);
  }

  noteUserTurn(pressure: CompactionPressure): void {
    this.#guard = noteUserTurn(this.#guard, { hasHeadroom: !this.isDue(pressure) });
  }
}
