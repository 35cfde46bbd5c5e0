// The watcher as data: its stage, what it waits for, what it decided. A client can display it without parsing a
// sentence.

import type { DecisionRecord } from '../protocol/decision.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import type { Evidence } from '../protocol/signal.ts';
import { STEPS } from '../vocabulary.ts';
import type { Step } from '../vocabulary.ts';
import { placeOf } from './moves.ts';
import { isRequesting } from './sequence.ts';
import type { Requesting } from './sequence.ts';
import { decisionOf } from './state.ts';
import type { Handover, Sequence, Stage, WatcherState } from './state.ts';

type StateEvent = Extract<SessionEvent, { type: 'watcher_state' }>;
type StepStatus = StateEvent['steps'][number]['status'];

/** The watcher's stage. The driver adds the deadline, because it has the clock. */
export type WatcherView = Omit<StateEvent, 'type' | 'deadline'>;

/**
 * The watcher's stage.
 * @param before the previous stage; undefined: the thread was just opened
 */
export function watcherView({ stage }: WatcherState, before: Stage | undefined): WatcherView {
  const decision = decisionOf({ stage });
  return {
    stage: stage.at,
    place: placeOf(stage) ?? null,
    tier: tierOf(stage) ?? null,
    decision_id: decision?.id ?? null,
    sequence_id: sequenceIdOf(stage) ?? null,
    steps: stepsOf(stage),
    awaits: AWAITED[stage.at],
    awaited_steps: isRequesting(stage) ? awaitedSteps(stage) : [],
    outcome: stage.at === 'idle' && before !== undefined ? outcomeOf(before) : null,
  };
}

const AWAITED: Readonly<Record<Stage['at'], WatcherView['awaits']>> = {
  idle: 'nothing',
  assessing: 'plan',
  awaiting_judgment: 'judgment',
  heads_up_injected: 'agent',
  awaiting_scratch_write: 'agent',
  awaiting_packet: 'agent',
  assembling_packet: 'packet',
  compacting: 'compaction',
  post_compact_handoff_pending: 'handoff',
};

function tierOf(stage: Stage): DecisionRecord['tier'] {
  return 'question' in stage ? stage.question.decision.tier : decisionOf({ stage })?.tier;
}

function handoverOf(stage: Stage): Handover | undefined {
  return 'handover' in stage ? stage.handover : undefined;
}

function sequenceIdOf(stage: Stage): string | undefined {
  return 'sequence' in stage ? stage.sequence.id : handoverOf(stage)?.sequenceId;
}

/** A handover that is in the history, and a compaction without one, are complete; everything else was given up. */
function outcomeOf(before: Stage): WatcherView['outcome'] {
  switch (before.at) {
    case 'idle':
    case 'assessing':
    case 'awaiting_judgment':
      return null;
    case 'post_compact_handoff_pending':
      return 'completed';
    case 'compacting':
      return before.handover === undefined && before.sawContextCompacted ? 'completed' : 'abandoned';
    default:
      return 'abandoned';
  }
}

/** The steps of the newest request that expect an answer. */
function awaitedSteps(stage: Requesting): readonly Step[] {
  if (stage.at === 'heads_up_injected') return stage.steps;
  if (stage.at === 'awaiting_scratch_write') return ['scratch'];
  const { isCombined, hasScratch, wasReminded } = stage.sequence;
  return isCombined && hasScratch && !wasReminded ? ['scratch', 'packet_request'] : ['packet_request'];
}

function stepsOf(stage: Stage): WatcherView['steps'] {
  const statusOf =
    'sequence' in stage ? duringSequence(stage, stage.sequence) : afterPacket(stage, handoverOf(stage));
  return statusOf === undefined ? [] : STEPS.map((step) => ({ step, status: statusOf(step) }));
}

function duringSequence(
  stage: Extract<Stage, { readonly sequence: Sequence }>,
  { toRequest, isTurnBased, hasHeadsUp, hasScratch, author, isReplaced }: Sequence,
): (step: Step) => StepStatus {
  const awaited = isRequesting(stage) ? awaitedSteps(stage) : [];
  return (step) => {
    if (awaited.includes(step)) return 'running';
    if (toRequest.includes(step)) return 'pending';
    switch (step) {
      case 'heads_up':
        return hasHeadsUp ? 'done' : isTurnBased ? 'pending' : 'skipped';
      case 'scratch':
        return hasScratch ? 'done' : 'skipped';
      case 'packet_request':
        return isReplaced === true ? 'replaced' : author === 'agent' ? 'done' : 'skipped';
      case 'packet':
        return stage.at === 'assembling_packet' ? 'running' : 'pending';
      case 'handoff':
        return 'pending';
    }
  };
}

function afterPacket(stage: Stage, handover: Handover | undefined): ((step: Step) => StepStatus) | undefined {
  if (handover === undefined) return undefined;
  const { isWrapped, packet, isReplaced } = handover;
  const done: Readonly<Record<Step, boolean>> = {
    heads_up: isWrapped,
    scratch: packet.scratchPath !== undefined,
    packet_request: packet.author === 'agent',
    packet: true,
    handoff: false,
  };
  return (step) => {
    if (step === 'handoff') return stage.at === 'compacting' ? 'pending' : 'running';
    if (step === 'packet_request' && isReplaced === true) return 'replaced';
    return done[step] ? 'done' : 'skipped';
  };
}

type DecisionEvent = Extract<SessionEvent, { type: 'watcher_decision' }>;

/** A decision as events show it, before it has an id. */
export type DecisionView = Omit<DecisionEvent, 'type' | 'id' | 'thread_id'>;

/** A decision that is in the log. */
export function decisionEvent(decision: DecisionRecord): DecisionEvent {
  return { type: 'watcher_decision', id: decision.id, ...decisionView(decision) };
}

/** What events show of a decision. */
export function decisionView(decision: Omit<DecisionRecord, 'id'>): DecisionView {
  const { point, turn, shouldCompact, reason, why, tier = null, situation, required, signals } = decision;
  const { used, window = null, percentRemaining = null, projected } = situation;
  return {
    point,
    turn,
    should_compact: shouldCompact,
    reason,
    why,
    tier,
    used,
    usable_window: window,
    percent_remaining: percentRemaining,
    projected,
    required,
    signals: signals.map(({ id, boundary, evidence }) => ({
      id,
      boundary,
      evidence: wireEvidence(evidence),
    })),
  };
}

type WireEvidence = DecisionView['signals'][number]['evidence'];

function wireEvidence(evidence: Evidence): WireEvidence {
  switch (evidence.type) {
    case 'command': {
      const { command, exitStatus = null, toldBy, hash = null } = evidence;
      return { type: 'command', command, exit_status: exitStatus, told_by: toldBy, hash };
    }
    case 'turn':
      return { type: 'turn', turn_id: evidence.turnId ?? null };
    default:
      return evidence;
  }
}
