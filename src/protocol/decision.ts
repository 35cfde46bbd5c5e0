// What the watcher decided and why: a record of the log, shown by `/why`, compared by `replay`.

import type { Boundary, DecisionPoint, Tier, VerdictReason } from '../vocabulary.ts';
import type { Signal } from './signal.ts';

/** Things under way that say "not yet". @source docs/decisions/watcher-decision.md, "Active work" */
export type ActiveWork = 'tool' | 'queued_input';

/** The context at the moment of an evaluation. Counts in tokens. */
export interface Situation {
  readonly used: number;
  /** The usable window, `usableWindow` of tokens/pressure.ts; undefined while no window is known. */
  readonly window: number | undefined;
  /** 0 to 100, as the gauge shows it; undefined without a window. */
  readonly percentRemaining: number | undefined;
  /** What a full compaction would leave: the part that cannot be compacted, and the budget of the summary. */
  readonly projected: number;
}

/** The answer to "should this be compacted now?". */
export interface Verdict {
  readonly shouldCompact: boolean;
  readonly reason: VerdictReason;
  /** One sentence for people, with the numbers that decided. */
  readonly why: string;
}

/** One evaluation. The same log and policy give the same record. */
export interface DecisionRecord extends Verdict {
  readonly type: 'decision';
  /** Unique within the thread. */
  readonly id: string;
  readonly point: DecisionPoint;
  /** Counted from 1 by the messages of the user; 0 before the first. */
  readonly turn: number;
  /** Undefined above all thresholds. */
  readonly tier: Tier | undefined;
  readonly situation: Situation;
  /** Boundaries of which any would have sufficed. */
  readonly required: readonly Boundary[];
  /** Signals that counted, with their evidence; those still pending from earlier turns included. */
  readonly signals: readonly Signal[];
  /** Ids of all boundaries that were open, those that did not count included: what a sequence uses up. */
  readonly openIds: readonly string[];
}
