// Whether a moment is a pause in the work: judged by the recording alone, the same for every policy.

import type { Signal } from '../../protocol/signal.ts';
import type { Boundary } from '../../vocabulary.ts';

/**
 * Boundaries that end a piece of work. A change of the plan alone says that work goes on.
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

/** Boundaries reached since the model was last asked. */
export class RecentBoundaries {
  #signals: Signal[] = [];

  note(signals: readonly Signal[]): void {
    this.#signals.push(...signals);
  }

  /** The model is asked: what was reached before is past. */
  pass(): void {
    this.#signals = [];
  }

  /** What makes this moment a pause; empty in the middle of work. */
  get pauses(): readonly Signal[] {
    return this.#signals.filter(({ boundary }) => PAUSES.has(boundary));
  }
}
