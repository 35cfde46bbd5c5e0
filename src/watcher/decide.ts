// Should this be compacted now? One pure function for the ends of turns, for the inside of turns and for the moment before a
// user's message is delivered. What the arbiter and the judge say is applied to its answer afterwards.

import type { ActiveWork, DecisionRecord, Situation, Verdict } from '../protocol/decision.ts';
import type { Judgment } from '../protocol/judgment.ts';
import type { CompactionPlan } from '../protocol/plan.ts';
import type { Signal } from '../protocol/signal.ts';
import type { Boundary, DecisionPoint, Tier } from '../vocabulary.ts';
import type { Policy } from './policy.ts';

/** What has happened since the last compaction, or the last veto of a judge. */
export interface Rest {
  /** Turns of the user that have ended since. */
  readonly turnsEnded: number;
  /** Milliseconds since; undefined where the time is not known, so that the turns alone decide. */
  readonly elapsedMs: number | undefined;
}

/** Everything that a decision looks at besides the policy. */
export interface Evaluation {
  readonly point: DecisionPoint;
  /** Counted from 1 by the messages of the user; 0 before the first. */
  readonly turn: number;
  readonly situation: Situation;
  /** `openSignals`, oldest first. */
  readonly signals: readonly Signal[];
  /**
   * Mid-turn: the position of the first item of the tool batch that has just finished. What was reached before it is no
   * pause in the work any more. Undefined: every boundary of the running turn counts.
   */
  readonly batchFrom: number | undefined;
  /** At preflight without the message whose submission is the reason for asking. */
  readonly busyWith: readonly ActiveWork[];
  /** Undefined: there was no compaction and no veto yet. */
  readonly rest: Rest | undefined;
  /** What the agent said last; undefined before it has spoken. */
  readonly lastAgentMessage: string | undefined;
  /** The user has asked for something since the last compaction. */
  readonly hasRequest: boolean;
  /** The agent has done something since the last compaction. */
  readonly hasAction: boolean;
}

/** The answer, and what it rests on. `settleBoundaries` takes it. */
export interface Decision extends Verdict {
  /** Undefined above all thresholds. */
  readonly tier: Tier | undefined;
  /** Boundaries of which any would have sufficed; none in an emergency and where the tier never compacts. */
  readonly required: readonly Boundary[];
  /** Open signals that counted: of required boundaries, and in an emergency all. */
  readonly signals: readonly Signal[];
  /** Ids of all boundaries that were open. */
  readonly openIds: readonly string[];
}

/** Decides. Total and deterministic; its time is linear in the open signals. */
export declare function evaluate(evaluation: Evaluation, policy: Policy): Decision;

/** The decision after the arbiter's plan for it: a refusal turns a yes into a no; a no stays as it is. */
export declare function applyPlan(decision: Decision, plan: CompactionPlan): Decision;

/** The decision after the judge's answer. Nobody vetoes an emergency; a failure changes nothing. */
export declare function applyJudgment(decision: Decision, judgment: Judgment): Decision;

/** Path of the prompt of the judge to be asked about a decision; undefined: nobody is asked. */
export declare function judgmentPromptPath(decision: Decision, policy: Policy): string | undefined;

/** The most used tokens with which no tier holds: what a micro-compaction has to reach. Undefined without a window. */
export declare function calmTokens(policy: Policy, window: number | undefined): number | undefined;

/** The decision as a record of the log. @param id unique within the thread */
export declare function buildDecisionRecord(
  id: string,
  evaluation: Evaluation,
  decision: Decision,
): DecisionRecord;
