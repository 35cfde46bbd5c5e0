// What a policy did to a session, and the result.

import type { Item } from '../../protocol/item.ts';
import type { Signal } from '../../protocol/signal.ts';
import type { Boundary, DecisionPoint, Tier, VerdictReason } from '../../vocabulary.ts';
import type { Bill } from './bill.ts';
import type { GaugeSample, Overflow, SimulatedContext } from './context.ts';
import type { RecordingMoment, OwnCompaction } from './play.ts';

/**
 * Where a compaction happened. `boundary`: work had just paused, according to the recording. `mid_work`: it had not.
 * `emergency`: it had not, and the policy itself called it an emergency.
 */
export const PLACES = ['boundary', 'mid_work', 'emergency'] as const;
export type CompactionPlace = (typeof PLACES)[number];

/** A compaction of the simulation. Sizes in tokens. */
export interface SimulatedCompaction {
  readonly kind: 'full' | 'micro';
  readonly point: DecisionPoint;
  readonly place: CompactionPlace;
  readonly turn: number;
  readonly request: number;
  readonly line: number | undefined;
  readonly atMs: number;
  /** Items of the log before it. */
  readonly step: number;
  readonly tier: Tier | undefined;
  readonly why: string;
  /** The policy's boundaries that counted; for a limit, those that the moment happened to have. */
  readonly signals: readonly Signal[];
  readonly percentRemaining: number;
  readonly preTokens: number;
  readonly postTokens: number;
  /** Calls without results; if any, the compaction would have split a pair. */
  readonly openCalls: number;
  /** The share of later uses that the context still held; undefined if not measured. */
  readonly recall: number | undefined;
}

/** Consecutive evaluations with the same result, merged. */
export interface DecisionRow {
  readonly point: DecisionPoint;
  readonly turn: number;
  readonly request: number;
  readonly line: number | undefined;
  /** Items of the log before it. */
  readonly step: number;
  /** Tokens at the last of them. */
  readonly used: number;
  readonly percentRemaining: number;
  readonly tier: Tier | undefined;
  readonly required: readonly Boundary[];
  readonly signals: readonly Signal[];
  readonly shouldCompact: boolean;
  readonly reason: VerdictReason;
  readonly why: string;
  /** Number of evaluations in this row. */
  readonly evaluations: number;
}

/** One policy's run over one session. */
export interface PolicyOutcome {
  readonly policy: string;
  readonly compactions: readonly SimulatedCompaction[];
  readonly decisions: readonly DecisionRow[];
  readonly samples: readonly GaugeSample[];
  readonly bill: Bill;
  /** Largest and mean occupancy over the recorded requests, in tokens. */
  readonly peak: number;
  readonly mean: number;
  /** The first request that exceeded every window, and the number of such requests. */
  readonly overflow: { readonly first: Overflow | undefined; readonly requests: number };
}

/** Everything that a replay learned about one session. */
export interface SessionReplay {
  readonly model: string | undefined;
  /** Raw window, the largest of the session. */
  readonly window: number;
  readonly turns: number;
  readonly requests: number;
  readonly items: number;
  readonly startedAtMs: number | undefined;
  readonly endedAtMs: number | undefined;
  readonly usageFrom: 'reported' | 'estimated';
  /** The recorded gauge, including the agent's own compactions. */
  readonly recorded: readonly GaugeSample[];
  readonly own: readonly OwnCompaction[];
  /** Boundaries by the default signals, in order, each with the request at which it was reached. */
  readonly boundaries: readonly { readonly signal: Signal; readonly request: number }[];
  readonly policies: readonly PolicyOutcome[];
}

/** The part of an outcome that the context itself provides. */
export function contextOutcome(context: SimulatedContext) {
  const { samples } = context;
  const sum = samples.reduce((total, { used }) => total + used, 0);
  return {
    samples,
    bill: context.bill,
    peak: samples.reduce((most, { used }) => Math.max(most, used), 0),
    mean: samples.length === 0 ? 0 : Math.round(sum / samples.length),
    overflow: context.overflow,
  };
}

/** Measures what a context still holds; undefined if nothing is measured. */
export type MeasureRecall = (moment: RecordingMoment, items: readonly Item[]) => number | undefined;
