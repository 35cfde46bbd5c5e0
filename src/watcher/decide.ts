// Should this be compacted now? One pure function for the ends of turns, for the inside of turns and for the moment before a
// user's message is delivered. What the arbiter and the judge say is applied to its answer afterwards.

import type { ActiveWork, DecisionRecord, Situation, Verdict } from '../protocol/decision.ts';
import type { Judgment } from '../protocol/judgment.ts';
import { isSummarising } from '../protocol/plan.ts';
import type { CompactionPlan, RefusalReason } from '../protocol/plan.ts';
import type { Signal } from '../protocol/signal.ts';
import { TIERS } from '../vocabulary.ts';
import type { Boundary, DecisionPoint, Tier, VerdictReason } from '../vocabulary.ts';
import { isCarriedOver } from './signals/boundaries.ts';
import type { OpenBoundary } from './signals/boundaries.ts';
import type { Policy, TierPolicy } from './policy.ts';
import * as say from './wording.ts';

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
  /** `Boundaries.open`. Inside of a turn the ones carried over from earlier turns do not count. */
  readonly open: readonly OpenBoundary[];
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
  /** Boundaries of which any would have sufficed; none in an emergency and where the tier does not compact. */
  readonly required: readonly Boundary[];
  /** Open signals that counted, oldest first: of required boundaries, and in an emergency all. */
  readonly signals: readonly Signal[];
  /** Ids of all boundaries that were open. */
  readonly openIds: readonly string[];
}

/** A compaction is worth its cost when at least this many times what it would leave is used. @source spec 3-watcher §3 */
const FLOOR_FACTOR = 2;
/**
 * An emergency needs less: it is held back only where a compaction would free less than the share that the breaker of the
 * arbiter counts as no effect. @source docs/decisions/watcher-decision.md
 */
const EMERGENCY_FLOOR_FACTOR = 1 / 0.9;
/** Characters of a last message from which on it is worth a packet. @source spec 3-watcher §3 */
const WORTHY_CHARACTERS = 200;

/** Boundaries that inside of a turn are pauses in the work. @source spec 3-watcher §4, mid-turn */
const STRUCTURED: ReadonlySet<Boundary> = new Set([
  'commit',
  'pr_checkpoint',
  'plan_checkpoint',
  'phase_completed',
]);

/** What makes a change of the plan count in early and ready. @source spec 3-watcher §3, docs/decisions/watcher-decision.md */
const SEMANTIC_BREAKS: ReadonlySet<Boundary> = new Set([
  ...STRUCTURED,
  'agent_done',
  'topic_shift',
  'concluding_thought',
]);

const MOST_URGENT_FIRST = TIERS.toReversed();

/** Decides. Total and deterministic; its time is linear in the open boundaries. */
export function evaluate(evaluation: Evaluation, policy: Policy): Decision {
  const tier = tierOf(evaluation.situation, policy);
  const candidates = candidatesOf(evaluation, policy);
  const required = requiredOf(tier, evaluation, policy);
  const isEmergency = tier === 'emergency';
  const signals = isEmergency ? candidates : candidates.filter(({ boundary }) => required.includes(boundary));
  const openIds = evaluation.open.map(({ signal }) => signal.id);
  const answer = (reason: VerdictReason, why: string): Decision => ({
    shouldCompact: reason === 'emergency' || reason === 'boundary',
    reason,
    why,
    tier,
    required,
    signals,
    openIds,
  });

  const off = whatIsOff(tier, evaluation.point, policy);
  if (off !== undefined) return answer('off', off);
  const { situation } = evaluation;
  if (tier === undefined) return answer('above_threshold', say.aboveThreshold(situation, policy));
  if (isBelowFloor(situation, isEmergency)) return answer('floor', say.belowFloor(situation));
  const pressure = say.pressure(situation, tier, policy);
  if (isEmergency) return answer('emergency', say.emergency(pressure));
  const veto =
    vetoOfBoundaries({ signals, candidates, required }, policy.tiers[tier]) ??
    vetoOfContext(evaluation, policy, candidates);
  return veto === undefined
    ? answer('boundary', say.boundary(pressure, signals))
    : answer(veto.reason, veto.why(pressure));
}

/** The most urgent tier that holds. A percentage holds strictly below its threshold. */
export function tierOf(
  { used, percentRemaining }: Pick<Situation, 'used' | 'percentRemaining'>,
  policy: Policy,
): Tier | undefined {
  return MOST_URGENT_FIRST.find((tier) => {
    const { percentRemainingBelow, usedTokensFrom } = policy.tiers[tier];
    return (
      (percentRemaining !== undefined && percentRemaining < percentRemainingBelow) ||
      (usedTokensFrom !== undefined && used >= usedTokensFrom)
    );
  });
}

function whatIsOff(tier: Tier | undefined, point: DecisionPoint, policy: Policy): string | undefined {
  if (!policy.isEnabled) return say.switchedOff();
  if (point !== 'mid_turn' || policy.midTurn === 'golden' || policy.midTurn === 'tiered') return undefined;
  const isSafetyNet = policy.midTurn === 'emergency_only' && tier === 'emergency';
  return isSafetyNet ? undefined : say.offInsideTurns(policy.midTurn);
}

function isBelowFloor({ used, projected }: Situation, isEmergency: boolean): boolean {
  return used < projected * (isEmergency ? EMERGENCY_FLOOR_FACTOR : FLOOR_FACTOR);
}

function candidatesOf({ point, open, batchFrom }: Evaluation, { midTurn }: Policy): readonly Signal[] {
  if (point !== 'mid_turn') return open.map(({ signal }) => signal);
  // `tiered` is the seed's rule, under which a boundary counts until its turn is over.
  const from = midTurn === 'tiered' ? undefined : batchFrom;
  return open.flatMap((each) => {
    const { signal } = each;
    const isOfTurn = !isCarriedOver(each) && signal.boundary !== 'turn_complete';
    return isOfTurn && (from === undefined || signal.position >= from) ? [signal] : [];
  });
}

function requiredOf(
  tier: Tier | undefined,
  { point, situation }: Evaluation,
  policy: Policy,
): readonly Boundary[] {
  if (tier === undefined || tier === 'emergency') return [];
  const { required } = policy.tiers[tier];
  if (point === 'mid_turn') {
    if (policy.midTurn !== 'golden') return required.filter((boundary) => boundary !== 'turn_complete');
    return tier === 'early' ? [] : required.filter((boundary) => STRUCTURED.has(boundary));
  }
  const { percentRemaining } = situation;
  const doesTurnEndSuffice =
    percentRemaining !== undefined && percentRemaining < policy.turnCompleteSufficesBelow;
  return doesTurnEndSuffice && required.length > 0 && !required.includes('turn_complete')
    ? [...required, 'turn_complete']
    : required;
}

/** A no, and its sentence for a given pressure. */
interface Veto {
  readonly reason: VerdictReason;
  readonly why: (pressure: string) => string;
}

/** What was reached, and what of it counted. */
interface Reached {
  readonly candidates: readonly Signal[];
  readonly required: readonly Boundary[];
  readonly signals: readonly Signal[];
}

function vetoOfBoundaries(
  { signals, candidates, required }: Reached,
  { plansNeedSemanticBreak }: TierPolicy,
): Veto | undefined {
  if (signals.length === 0) {
    return { reason: 'no_boundary', why: (pressure) => say.noBoundary(pressure, candidates, required) };
  }
  const isPlanAlone = signals.every(({ boundary }) => boundary === 'plan_update');
  return plansNeedSemanticBreak &&
    isPlanAlone &&
    !candidates.some(({ boundary }) => SEMANTIC_BREAKS.has(boundary))
    ? { reason: 'needs_semantic_break', why: say.needsSemanticBreak }
    : undefined;
}

/** Contextual assessment: a boundary is necessary, not sufficient. @source seed 004 */
function vetoOfContext(
  evaluation: Evaluation,
  policy: Policy,
  candidates: readonly Signal[],
): Veto | undefined {
  const { rest, busyWith } = evaluation;
  if (rest !== undefined && isCoolingDown(rest, policy)) {
    return { reason: 'cooldown', why: (pressure) => say.coolingDown(pressure, rest, policy) };
  }
  const [work] = busyWith;
  if (work !== undefined) {
    return { reason: 'active_work', why: (pressure) => say.activeWork(pressure, work) };
  }
  // The end of a turn is among seed 004's strong boundaries: after it a change of the plan is not alone.
  if (candidates.every(({ boundary }) => boundary === 'plan_update')) {
    return { reason: 'weak_boundary', why: say.weakBoundary };
  }
  return isPacketWorthy(evaluation)
    ? undefined
    : { reason: 'not_packet_worthy', why: (pressure) => say.notPacketWorthy(pressure, WORTHY_CHARACTERS) };
}

/** Either of turns and time ends a cooldown. @source seed 004 */
function isCoolingDown({ turnsEnded, elapsedMs }: Rest, { cooldownTurns, cooldownMs }: Policy): boolean {
  return turnsEnded < cooldownTurns && (elapsedMs === undefined || elapsedMs < cooldownMs);
}

function isPacketWorthy({ lastAgentMessage = '', hasRequest, hasAction }: Evaluation): boolean {
  if (hasRequest && hasAction) return true;
  const text = lastAgentMessage.trim();
  // A character takes at most two units, so that a long text need not be counted.
  return text.length >= 2 * WORTHY_CHARACTERS || [...text].length >= WORTHY_CHARACTERS;
}

/**
 * What a refusal of the arbiter is to a decision. `not_needed` cannot be the answer to the watcher; should it be, nothing
 * would be won.
 */
const REFUSED: Readonly<Record<RefusalReason, VerdictReason>> = {
  disabled: 'off',
  auto_disabled: 'off',
  micro_disabled: 'off',
  remote_unavailable: 'off',
  legacy_only: 'off',
  not_needed: 'floor',
  rearm: 'cooldown',
  breaker_open: 'breaker_open',
  lease_taken: 'active_work',
};

/** The decision after the arbiter's plan for it: a refusal turns a yes into a no; a no stays as it is. */
export function applyPlan(decision: Decision, plan: CompactionPlan): Decision {
  if (!decision.shouldCompact || plan.type === 'micro' || isSummarising(plan)) return decision;
  // What an open breaker still allows is no sequence with a packet and a handoff.
  const reason = plan.type === 'none' ? REFUSED[plan.reason] : 'breaker_open';
  return { ...decision, shouldCompact: false, reason, why: say.refused(plan.why) };
}

/** The decision after the judge's answer. Nobody vetoes an emergency; a failure changes nothing. */
export function applyJudgment(decision: Decision, judgment: Judgment): Decision {
  const isVeto = judgment.type === 'answer' && !judgment.shouldCompact;
  if (!isVeto || !decision.shouldCompact || decision.reason === 'emergency') return decision;
  return { ...decision, shouldCompact: false, reason: 'judgment', why: say.vetoed(judgment.reason) };
}

/** Path of the prompt of the judge to be asked about a decision; undefined: nobody is asked. */
export function judgmentPromptPath({ reason, tier }: Decision, policy: Policy): string | undefined {
  return reason === 'boundary' && tier !== undefined ? policy.tiers[tier].decisionPromptPath : undefined;
}

/**
 * The most used tokens with which neither this tier nor a more urgent one holds: what clearing old tool results has to reach
 * to make its decision moot. Undefined where nothing says so (no window is known and no tier counts tokens) or no number of
 * tokens is calm.
 */
export function calmTokens(tier: Tier, policy: Policy, window: number | undefined): number | undefined {
  const limits = TIERS.slice(TIERS.indexOf(tier)).flatMap((each) => {
    const { percentRemainingBelow, usedTokensFrom = Infinity } = policy.tiers[each];
    // `percentRemaining` rounds down: it is at least p while used <= window * (100 - p) / 100.
    const calmUntil =
      window === undefined ? Infinity : Math.floor((window * (100 - percentRemainingBelow)) / 100);
    return [calmUntil, Math.ceil(usedTokensFrom) - 1];
  });
  const calm = Math.min(...limits);
  return calm >= 0 && calm < Infinity ? calm : undefined;
}

/** The decision as a record of the log. @param id unique within the thread */
export function buildDecisionRecord(id: string, evaluation: Evaluation, decision: Decision): DecisionRecord {
  const { point, turn, situation } = evaluation;
  return { type: 'decision', id, point, turn, situation, ...decision };
}
