// The decisions of a play, with identical consecutive ones merged: a turn of a hundred requests has a hundred of them.

import type { DecisionRecord } from '../../protocol/decision.ts';
import type { DecisionPoint } from '../../vocabulary.ts';
import type { DecisionRow } from './outcome.ts';
import type { RecordingMoment } from './play.ts';

/** Keeps decisions as rows, in order. */
export class DecisionLog {
  readonly #rows: DecisionRow[] = [];
  #last: DecisionRecord | undefined;

  get rows(): readonly DecisionRow[] {
    return this.#rows;
  }

  add(decision: DecisionRecord, { request, line, step }: RecordingMoment): void {
    const before = this.#rows.at(-1);
    const isSame = before !== undefined && this.#last !== undefined && isAlike(this.#last, decision);
    const { point, turn, tier, required, signals, shouldCompact, reason, why, situation } = decision;
    const row: DecisionRow = {
      point,
      turn,
      request,
      line,
      step,
      used: situation.used,
      percentRemaining: situation.percentRemaining ?? 100,
      tier,
      required,
      signals,
      shouldCompact,
      reason,
      why,
      evaluations: isSame ? before.evaluations + 1 : 1,
    };
    if (isSame) this.#rows[this.#rows.length - 1] = row;
    else this.#rows.push(row);
    this.#last = decision;
  }

  /** Why and where the newest decision with an id was made. */
  find(id: string): { readonly why: string; readonly point: DecisionPoint } | undefined {
    return this.#last?.id === id ? this.#last : undefined;
  }
}

function isAlike(a: DecisionRecord, b: DecisionRecord): boolean {
  return (
    a.turn === b.turn &&
    a.point === b.point &&
    a.reason === b.reason &&
    a.tier === b.tier &&
    !a.shouldCompact &&
    a.signals.length === b.signals.length &&
    a.signals.every(({ id }, index) => id === b.signals[index]?.id)
  );
}
