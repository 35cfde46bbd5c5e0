// Whether a moment is a pause in the work, judged only by the recording and identically for every policy.

import type { Signal } from '../../protocol/signal.ts';
import type { Boundary } from '../../vocabulary.ts';

/**
 * Boundaries that end a piece of work. A plan change alone means that work continues.
 * @source spec 3-watcher §3, strong boundary preferred
 */
const PAUSES: ReadonlySet<Boundary> = new Set([
  'commit',
  'pr_checkpoint',
  'plan_checkpoint',
  'phase_completed',
  'agent_done',
  'topic_shift',
  'concluding_thought',
  'turn_complete',
]);

/** Boundaries reached since the last request to the model. */
export class RecentBoundaries {
  #signals: Signal[] = [];

  note(signals: readonly Signal[]): void {
    this.#signals.push(...signals);
  }

  /** The model is asked: earlier boundaries no longer count. */
  pass(): void {
    this.#signals = [];
  }

  /** What makes this moment a pause; empty during work. */
  get pauses(): readonly Signal[] {
    return this.#signals.filter(({ boundary }) => PAUSES.has(boundary));
  }
}
