// What the watcher decided and why: a record of the log that `/why` shows and `replay` compares.

import type { Boundary, DecisionPoint, Tier, VerdictReason } from '../vocabulary.ts';
import type { Signal } from './signal.ts';

/** Current activity that means "not yet". @source docs/decisions/watcher-decision.md, "Active work" */
export type ActiveWork = 'tool' | 'queued_input';

/** The context at the moment of an evaluation. Counts in tokens. */
export interface Situation {
  readonly used: number;
  /** The usable window, `usableWindow` of tokens/pressure.ts; undefined if no window is known. */
  readonly window: number | undefined;
  /** 0 to 100, as the gauge shows it; undefined without a window. */
  readonly percentRemaining: number | undefined;
  /** What a full compaction would leave: the part that cannot be compacted, plus the budget of the summary. */
  readonly projected: number;
}

/** The answer to "should Baton compact now?". */
export interface Verdict {
  readonly shouldCompact: boolean;
  readonly reason: VerdictReason;
  /** One sentence for people, with the deciding numbers. */
  readonly why: string;
}

/** One evaluation. The same log and policy always give the same record. */
export interface DecisionRecord extends Verdict {
  readonly type: 'decision';
  /** Unique within the thread. */
  readonly id: string;
  readonly point: DecisionPoint;
  /** Counts the user's messages from 1; 0 before the first. */
  readonly turn: number;
  /** Undefined if no threshold is reached. */
  readonly tier: Tier | undefined;
  readonly situation: Situation;
  /** Boundaries, any one of which would have sufficed. */
  readonly required: readonly Boundary[];
  /** The signals that counted, with their evidence, including those pending from earlier turns. */
  readonly signals: readonly Signal[];
  /** Ids of all open boundaries, including those that did not count: a sequence uses them up. */
  readonly openIds: readonly string[];
}
