// Should Baton compact now? One pure function for turn ends, for mid-turn moments and for the moment before a user
// message is delivered. The answers of the arbiter and the judge are applied to its result afterwards.

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

/** What has happened since the last compaction or judge's veto. */
export interface Rest {
  /** User turns that have ended since. */
  readonly turnsEnded: number;
  /** Milliseconds since; undefined if the time is unknown, so that only the turns decide. */
  readonly elapsedMs: number | undefined;
}

/** Everything that a decision considers besides the policy. */
export interface Evaluation {
  readonly point: DecisionPoint;
  /** Counts the user's messages from 1; 0 before the first. */
  readonly turn: number;
  readonly situation: Situation;
  /** `Boundaries.open`. Mid-turn, boundaries carried over from earlier turns do not count. */
  readonly open: readonly OpenBoundary[];
  /**
   * Mid-turn: the position of the first item of the tool batch that has just finished. A boundary before it no longer
   * marks a pause in the work. Undefined: every boundary of the running turn counts.
   */
  readonly batchFrom: number | undefined;
  /** At preflight, excludes the message whose submission triggered the question. */
  readonly busyWith: readonly ActiveWork[];
  /** Undefined: no compaction and no veto so far. */
  readonly rest: Rest | undefined;
  /** The agent's last message; undefined before it has spoken. */
  readonly lastAgentMessage: string | undefined;
  /** The user has requested something since the last compaction. */
  readonly hasRequest: boolean;
  /** The agent has acted since the last compaction. */
  readonly hasAction: boolean;
}

/** The answer and its basis. `settleBoundaries` takes it. */
export interface Decision extends Verdict {
  /** Undefined if no threshold is reached. */
  readonly tier: Tier | undefined;
  /** Boundaries, any one of which would have sufficed; none in an emergency, or if the tier does not compact. */
  readonly required: readonly Boundary[];
  /** Open signals that counted, oldest first: those of required boundaries; in an emergency all. */
  readonly signals: readonly Signal[];
  /** Ids of all open boundaries. */
  readonly openIds: readonly string[];
}

/**
 * A compaction is worth its cost when the used tokens are at least this many times what it would leave. @source spec
 * 3-watcher §3
 */
const FLOOR_FACTOR = 2;
/**
 * An emergency needs less: it waits only if a compaction would free less than the share that the arbiter's breaker
 * counts as no effect. @source docs/decisions/watcher-decision.md
 */
const EMERGENCY_FLOOR_FACTOR = 1 / 0.9;
/** Length in characters from which a last message is worth a packet. @source spec 3-watcher §3 */
const WORTHY_CHARACTERS = 200;

/** Boundaries that mark a pause in the work during a turn. @source spec 3-watcher §4, mid-turn */
const STRUCTURED: ReadonlySet<Boundary> = new Set([
  'commit',
  'pr_checkpoint',
  'plan_checkpoint',
  'phase_completed',
]);

/** What makes a plan change count in early and ready. @source spec 3-watcher §3, docs/decisions/watcher-decision.md */
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

/** The most urgent tier that applies. A percentage applies strictly below its threshold. */
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

/** The boundaries that were reached, and those that counted. */
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
  // The end of a turn is one of seed 004's strong boundaries: with it, a plan change does not stand alone.
  if (candidates.every(({ boundary }) => boundary === 'plan_update')) {
    return { reason: 'weak_boundary', why: say.weakBoundary };
  }
  return isPacketWorthy(evaluation)
    ? undefined
    : { reason: 'not_packet_worthy', why: (pressure) => say.notPacketWorthy(pressure, WORTHY_CHARACTERS) };
}

/** Either turns or time ends a cooldown. @source seed 004 */
function isCoolingDown({ turnsEnded, elapsedMs }: Rest, { cooldownTurns, cooldownMs }: Policy): boolean {
  return turnsEnded < cooldownTurns && (elapsedMs === undefined || elapsedMs < cooldownMs);
}

function isPacketWorthy({ lastAgentMessage = '', hasRequest, hasAction }: Evaluation): boolean {
  if (hasRequest && hasAction) return true;
  const text = lastAgentMessage.trim();
  // A character takes at most two units, so a long text need not be counted.
  return text.length >= 2 * WORTHY_CHARACTERS || [...text].length >= WORTHY_CHARACTERS;
}

/**
 * The verdict reason for each refusal of the arbiter. The watcher should never receive `not_needed`; if it did, a
 * compaction would gain nothing.
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

/** The decision after the arbiter's plan: a refusal turns an approval into a rejection; a rejection is unchanged. */
export function applyPlan(decision: Decision, plan: CompactionPlan): Decision {
  if (!decision.shouldCompact || plan.type === 'micro' || isSummarising(plan)) return decision;
  // What an open breaker still allows has no packet and no handoff.
  const reason = plan.type === 'none' ? REFUSED[plan.reason] : 'breaker_open';
  return { ...decision, shouldCompact: false, reason, why: say.refused(plan.why) };
}

/** The decision after the judge's answer. An emergency cannot be vetoed; a failure changes nothing. */
export function applyJudgment(decision: Decision, judgment: Judgment): Decision {
  const isVeto = judgment.type === 'answer' && !judgment.shouldCompact;
  if (!isVeto || !decision.shouldCompact || decision.reason === 'emergency') return decision;
  return { ...decision, shouldCompact: false, reason: 'judgment', why: say.vetoed(judgment.reason) };
}

/** Path of the prompt for the judge of a decision; undefined: no judge is asked. */
export function judgmentPromptPath({ reason, tier }: Decision, policy: Policy): string | undefined {
  return reason === 'boundary' && tier !== undefined ? policy.tiers[tier].decisionPromptPath : undefined;
}

/**
 * The most used tokens at which neither this tier nor a more urgent one applies: if clearing old tool results gets
 * there, the decision is moot. Undefined if nothing defines it (no window is known and no tier counts tokens) or no
 * number of tokens is calm.
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
