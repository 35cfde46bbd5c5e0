// Where the watcher decides, and what follows: the arbiter's plan, the judge's answer, the mode.

import { isSummarising } from '../protocol/plan.ts';
import type { DecisionRecord } from '../protocol/decision.ts';
import type { DecisionPoint } from '../vocabulary.ts';
import { settleBoundaries } from './signals/boundaries.ts';
import type { Decision, Evaluation } from './decide.ts';
import { applyJudgment, applyPlan, buildDecisionRecord, evaluate } from './decide.ts';
import { buildJudgmentRequest } from './judgment.ts';
import { infoLine, judgmentRequestedText, skipText, suggestionText, warningLine } from './lines.ts';
import { enter, remember, stay, takeNumber, andThen } from './moves.ts';
import type { Policy } from './policy.ts';
import { fail, armDeadline, begin, compact } from './sequence.ts';
import type { Transition } from './effects.ts';
import type { CompactionPlanned, JudgmentResult } from './events.ts';
import type { Assessing, AwaitingJudgment, DecisionMoment, Question, WatcherState } from './state.ts';

interface DecisionInput {
  readonly point: DecisionPoint;
  readonly moment: DecisionMoment;
  /** Only for mid-turn decisions. */
  readonly batchFrom: number | undefined;
  readonly atMs: number;
  /** Nothing may follow the ended turn. */
  readonly isFinal?: boolean;
}

/** Makes a decision: a rejection is recorded; an approval goes to the arbiter, or waits for the user's next message. */
export function decide(state: WatcherState, asked: DecisionInput, policy: Policy): Transition {
  if (!policy.isEnabled || state.memory.isInReview) return stay(state);
  const evaluation = evaluationOf(state, asked);
  const decision = evaluate(evaluation, policy);
  const [number, next] = takeNumber(remember(state, { preflight: undefined }));
  const place = asked.point === 'mid_turn' ? 'inside_turn' : 'between_turns';
  const question: Question = { id: `decision-${number}`, evaluation, decision, place };
  if (!decision.shouldCompact) return settle(next, question, decision, policy);
  const isFinal = asked.isFinal === true && policy.mode === 'auto';
  if (isFinal || isDeferred(question, policy)) {
    const waiting = remember(next, { preflight: asked.moment });
    return stay(
      waiting,
      { type: 'record_decision', decision: buildDecisionRecord(question.id, evaluation, decision) },
      ...infoLine('decision', isFinal ? FINAL : DEFERRED, policy),
    );
  }
  return askArbiter(next, question, policy);
}

/** What the policy alone would decide now. Changes nothing. */
export function explain(
  state: WatcherState,
  { moment, atMs }: Pick<DecisionInput, 'moment' | 'atMs'>,
  policy: Policy,
): Omit<DecisionRecord, 'id'> {
  const { turn, isInReview } = state.memory;
  const point = turn === undefined ? 'turn_end' : 'mid_turn';
  const evaluation = evaluationOf(state, { point, moment, batchFrom: undefined, atMs });
  const decision = evaluate(evaluation, policy);
  const { id: _, ...record } = buildDecisionRecord('', evaluation, decision);
  if (!isInReview) return record;
  return { ...record, shouldCompact: false, reason: 'off', why: 'Review mode is on: nothing is compacted.' };
}

const FINAL = ': deferring until the next message (this run ends with the turn)';
const DEFERRED = ': deferring until the next message (waiting on turn_complete boundary)';

function evaluationOf(
  { memory }: WatcherState,
  { point, moment, batchFrom, atMs }: DecisionInput,
): Evaluation {
  const { boundaries, rest, turnNumber: turn, hasRequest, hasAction } = memory;
  // Messages that the user queued before the decision say "not yet"; the message that a preflight waited for does not.
  const isQueued = point !== 'preflight' && memory.queue.length > 0;
  return {
    point,
    turn,
    situation: moment.situation,
    open: boundaries.open,
    batchFrom,
    busyWith: isQueued ? [...moment.busyWith, 'queued_input'] : moment.busyWith,
    rest: rest && { turnsEnded: rest.turnsEnded, elapsedMs: Math.max(0, atMs - rest.sinceMs) },
    lastAgentMessage: moment.lastAgentMessage,
    hasRequest,
    hasAction,
  };
}

function isDeferred({ evaluation, decision }: Question, policy: Policy): boolean {
  return (
    policy.defersToNextMessage &&
    policy.packetAuthor === 'watcher' &&
    policy.mode === 'auto' &&
    evaluation.point === 'turn_end' &&
    decision.tier !== 'emergency'
  );
}

function askArbiter(state: WatcherState, question: Question, policy: Policy): Transition {
  const [number, next] = takeNumber(state);
  const { decision, evaluation, place } = question;
  return enter(
    next,
    { at: 'assessing', number, question },
    { type: 'plan_compaction', number, tier: decision.tier, situation: evaluation.situation, place },
    // The arbiter's and the judge's answers form one assessment with one patience.
    armDeadline('judgment', number, policy),
  );
}

/** The arbiter has answered. */
export function takePlan(
  state: WatcherState,
  { question }: Assessing,
  { plan }: CompactionPlanned,
  policy: Policy,
): Transition {
  const idle: WatcherState = { ...state, stage: { at: 'idle' } };
  const decision = applyPlan(question.decision, plan);
  if (!decision.shouldCompact) return settle(idle, question, decision, policy);
  const { mode } = policy;
  if (mode !== 'auto' && !isModeIgnored(question, policy)) {
    return andThen(settle(idle, question, decision, policy), (next) => suggest(next, question, mode, policy));
  }
  const asking = isSummarising(plan) ? askJudge(state, question, policy) : undefined;
  if (asking !== undefined) return asking;
  return act(idle, question, plan.type === 'micro' ? 'micro' : 'full', policy);
}

/** The seed's mid-turn rule had no modes. @source spec 3-watcher §4, mid-turn */
function isModeIgnored({ evaluation }: Question, { midTurn }: Policy): boolean {
  return evaluation.point === 'mid_turn' && midTurn === 'tiered';
}

/** Undefined if no judge is to be asked. */
function askJudge(state: WatcherState, question: Question, policy: Policy): Transition | undefined {
  const { decision, evaluation } = question;
  const [number, next] = takeNumber(state);
  const request = buildJudgmentRequest(String(number), evaluation, decision, policy);
  if (request === undefined) return undefined;
  return enter(
    next,
    { at: 'awaiting_judgment', number, question },
    ...infoLine('step', judgmentRequestedText(request.tier, evaluation.situation.percentRemaining), policy),
    { type: 'ask_judgment', number, request },
    armDeadline('judgment', number, policy),
  );
}

/** The judge has answered. */
export function takeJudgment(
  state: WatcherState,
  { question }: AwaitingJudgment,
  { judgment, atMs }: JudgmentResult,
  policy: Policy,
): Transition {
  if (judgment.type === 'failure') return goWithoutJudge(state, question, judgment.why, policy);
  const verdict = judgment.shouldCompact ? 'approve' : 'veto';
  const idle: WatcherState = { ...state, stage: { at: 'idle' } };
  const told = stay(idle, ...infoLine('decision', ` judgment: ${verdict} (${judgment.reason})`, policy));
  const decision = applyJudgment(question.decision, judgment);
  if (decision.shouldCompact) return andThen(told, (next) => act(next, question, 'full', policy));
  const rested = remember(told.state, { rest: { turnsEnded: 0, sinceMs: atMs } });
  return andThen({ ...told, state: rested }, (next) => settle(next, question, decision, policy));
}

/** No judge answers: the policy's decision holds. */
export function goWithoutJudge(
  state: WatcherState,
  question: Question,
  why: string,
  policy: Policy,
): Transition {
  const idle: WatcherState = { ...state, stage: { at: 'idle' } };
  return andThen(stay(idle, warningLine(`the judgment failed (${why}); the static policy stands.`)), (next) =>
    act(next, question, 'full', policy),
  );
}

/** Records a final decision and uses up its boundaries. */
function settle(state: WatcherState, question: Question, decision: Decision, policy: Policy): Transition {
  const settled = remember(state, { boundaries: settleBoundaries(state.memory.boundaries, decision) });
  const recorded = stay(settled, {
    type: 'record_decision',
    decision: buildDecisionRecord(question.id, question.evaluation, decision),
  });
  if (decision.shouldCompact || decision.reason === 'judgment') return recorded;
  return andThen(recorded, (next) => saySkipped(next, question, decision, policy));
}

/** Mid-turn, a no every few seconds is not worth reporting; neither is a repeated no. */
function saySkipped(state: WatcherState, question: Question, decision: Decision, policy: Policy): Transition {
  if (question.evaluation.point === 'mid_turn') return stay(state);
  const shown = decision.tier && `skip ${decision.tier} ${decision.reason}`;
  if (shown === undefined || shown === state.memory.lastShown || policy.mode !== 'auto') {
    return stay(shown === undefined ? remember(state, { lastShown: undefined }) : state);
  }
  return stay(remember(state, { lastShown: shown }), ...infoLine('decision', skipText(decision), policy));
}

/** Once per boundary, and once per tier without one. @source rawr-behaviour §13.2 (11) */
function suggest(
  state: WatcherState,
  { evaluation, decision }: Question,
  mode: 'tag' | 'suggest',
  policy: Policy,
): Transition {
  const ids = decision.signals.map(({ id }) => id);
  const shown = `${mode} ${decision.tier ?? ''} ${ids.join(' ')}`;
  if (shown === state.memory.lastShown) return stay(state);
  return stay(
    remember(state, { lastShown: shown }),
    ...infoLine('decision', suggestionText(mode, evaluation.situation.percentRemaining), policy),
  );
}

function act(
  state: WatcherState,
  question: Question,
  strategy: 'micro' | 'full',
  policy: Policy,
): Transition {
  const { id, evaluation, decision, place } = question;
  const record = buildDecisionRecord(id, evaluation, decision);
  return andThen(settle(state, question, decision, policy), (next) =>
    strategy === 'micro' || next.memory.isSubagent
      ? compact(next, { strategy, decision: record, place, handover: undefined }, policy)
      : begin(next, record, place, policy),
  );
}

/** The arbiter is silent: without it Baton does not compact. */
export function goWithoutPlan(state: WatcherState, atMs: number): Transition {
  return fail(state, 'the arbiter did not answer; nothing was compacted.', atMs);
}
