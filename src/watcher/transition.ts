// The watcher's state machine: events and their consequences. Total: every state accepts every event, and an unexpected
// answer changes nothing. Pure: the same state, event and policy give the same transition.

import { decide, goWithoutJudge, goWithoutPlan, takeJudgment, takePlan } from './decision-points.ts';
import { infoLine, warningLine } from './lines.ts';
import { andThen, letGo, placeOf, remember, stay } from './moves.ts';
import type { Policy } from './policy.ts';
import {
  abortCompaction,
  cancel,
  end,
  fail,
  failCompaction,
  finishCompaction,
  goWithoutAnswer,
  isRequesting,
  isShellLine,
  stopTask,
  storeHandoff,
  takeDelivery,
  takePacket,
  takeSign,
} from './sequence.ts';
import type { Transition, WatcherEffect } from './effects.ts';
import type { ContextCompacted, DeadlineExpired, Resumed, WatcherEvent } from './events.ts';
import type { UserMessage, WatcherState } from './state.ts';
import {
  onPhaseCompleted,
  onSamplingComplete,
  onTurnAborted,
  onTurnComplete,
  onTurnStarted,
} from './turns.ts';

/** The consequences of an event. The policy is read again each time; a sequence keeps the path on which it began. */
export function transition(state: WatcherState, event: WatcherEvent, policy: Policy): Transition {
  if (state.memory.isShutDown && event.type !== 'resumed') {
    const isKept = event.type === 'user_submitted' || event.type === 'queue_revised';
    return isKept ? follow(state, event, policy) : stay(state);
  }
  const moved = follow(state, event, policy);
  if (moved.state === state) return moved;
  // However something ended, the waiting loop resumes and the user's next message is delivered.
  const isAtRest = moved.state.stage.at === 'idle' && !moved.state.memory.isShutDown;
  if (!isAtRest) return moved;
  const released = andThen(moved, letGo);
  // A message that could not be delivered waits for another event, so that delivery does not fail in a loop.
  return event.type === 'delivery_failed'
    ? released
    : andThen(released, (next) => deliverNext(next, event.atMs, policy));
}

function follow(state: WatcherState, event: WatcherEvent, policy: Policy): Transition {
  const { stage } = state;
  const isAwaited = 'number' in event && stage.at !== 'idle' && event.number === stage.number;
  switch (event.type) {
    case 'turn_started':
      return onTurnStarted(state, event, policy);
    case 'turn_complete':
      return onTurnComplete(state, event, policy);
    case 'turn_aborted':
      return onTurnAborted(state, event, policy);
    case 'sampling_complete':
      return onSamplingComplete(state, event, policy);
    case 'phase_completed':
      return onPhaseCompleted(state, event, policy);
    case 'user_submitted':
      return stay(enqueue(state, event.message));
    case 'queue_revised':
      return stay(remember(state, { queue: event.queue }));
    case 'delivery_failed':
      return onDeliveryFailed(state, event.messageId, event.why);
    case 'compaction_planned':
      return isAwaited && stage.at === 'assessing' ? takePlan(state, stage, event, policy) : stay(state);
    case 'judgment_result':
      return isAwaited && stage.at === 'awaiting_judgment'
        ? takeJudgment(state, stage, event, policy)
        : stay(state);
    case 'packet_assembled':
      return isAwaited && stage.at === 'assembling_packet'
        ? takePacket(state, stage, event, policy)
        : stay(state);
    case 'context_compacted':
      return onContextCompacted(state, event, policy);
    case 'compaction_failed':
      return isAwaited ? failCompaction(state, event.why, event.atMs, policy) : stay(state);
    case 'handoff_delivered':
      return isAwaited && stage.at === 'post_compact_handoff_pending'
        ? takeDelivery(state, stage, event.atMs)
        : stay(state);
    case 'deadline_expired':
      return onDeadlineExpired(state, event, policy);
    case 'interrupted':
      return cancel(state, 'interrupted', event.atMs, policy);
    case 'review_mode_changed': {
      const next = remember(state, { isInReview: event.isOn });
      return event.isOn ? cancel(next, 'review mode', event.atMs, policy) : stay(next);
    }
    case 'settings_changed':
      return onSettingsChanged(state, event.atMs, policy);
    case 'shutdown':
      return onShutdown(state);
    case 'resumed':
      return onResumed(state, event, policy);
  }
}

function enqueue(state: WatcherState, message: UserMessage): WatcherState {
  const { queue, delivering } = state.memory;
  const isKnown = delivering?.id === message.id || queue.some(({ id }) => id === message.id);
  return isKnown ? state : remember(state, { queue: [...queue, message] });
}

/** Gives the user's next message to the driver, unless a decision waited for it. */
function deliverNext(state: WatcherState, atMs: number, policy: Policy): Transition {
  const { queue, delivering, turn, preflight, isInReview } = state.memory;
  const [head, ...queued] = queue;
  if (head === undefined || delivering !== undefined || turn !== undefined) return stay(state);
  const isPreflight = preflight !== undefined && !isShellLine(head) && policy.isEnabled && !isInReview;
  if (isPreflight) {
    const asked = { point: 'preflight', moment: preflight, batchFrom: undefined, atMs } as const;
    return andThen(decide(state, asked, policy), (next) =>
      next.stage.at === 'idle' ? deliverNext(next, atMs, policy) : stay(next),
    );
  }
  return stay(remember(state, { queue: queued, delivering: head }), { type: 'deliver', message: head });
}

function onDeliveryFailed(state: WatcherState, messageId: string, why: string): Transition {
  const { delivering, queue } = state.memory;
  if (delivering?.id !== messageId) return stay(state);
  return stay(
    remember(state, { delivering: undefined, queue: [delivering, ...queue] }),
    warningLine(`a message could not be delivered (${why}); it is still queued.`),
  );
}

function onContextCompacted(state: WatcherState, event: ContextCompacted, policy: Policy): Transition {
  const { stage } = state;
  const { number, strategy, atMs } = event;
  if (number !== undefined) {
    return stage.at === 'compacting' && stage.number === number
      ? takeSign(state, stage, 'sawContextCompacted', { atMs, policy })
      : stay(state);
  }
  if (strategy === 'micro') return stay(state);
  const known = remember(state, {
    preflight: undefined,
    hasRequest: false,
    hasAction: false,
    lastShown: undefined,
    rest: { turnsEnded: 0, sinceMs: atMs },
  });
  return stage.at === 'compacting' || stage.at === 'post_compact_handoff_pending'
    ? stay(known)
    : cancel(known, 'the context was compacted meanwhile', atMs, policy);
}

function onDeadlineExpired(state: WatcherState, event: DeadlineExpired, policy: Policy): Transition {
  const { stage } = state;
  const { number, atMs } = event;
  if (stage.at === 'compacting') {
    if (stage.abortNumber === undefined) {
      if (number !== stage.number) return stay(state);
      return stage.sawContextCompacted
        ? stopTask(state, stage, { atMs, mayStartTurn: true }, policy)
        : abortCompaction(state, stage, policy);
    }
    return number === stage.abortNumber
      ? fail(state, 'the compaction did not complete; there is no handoff.', atMs)
      : stay(state);
  }
  if (stage.at === 'idle' || number !== stage.number) return stay(state);
  if (isRequesting(stage)) {
    const { turn } = state.memory;
    const stop: readonly WatcherEffect[] =
      stage.sequence.place === 'between_turns'
        ? [{ type: 'interrupt_turn', number }]
        : turn === undefined
          ? []
          : [{ type: 'cut_turn', turnId: turn.turnId }];
    return andThen(stay(state, ...stop), (next) =>
      goWithoutAnswer(next, stage, 'the agent did not answer in time', policy),
    );
  }
  switch (stage.at) {
    case 'assessing':
      return goWithoutPlan(state, atMs);
    case 'awaiting_judgment':
      return goWithoutJudge(state, stage.question, 'no answer in time', policy);
    case 'assembling_packet':
      return fail(state, 'the packet was not assembled in time; nothing was compacted.', atMs);
    case 'post_compact_handoff_pending':
      return stage.isRepeated
        ? andThen(stay(state, warningLine('the handoff was not confirmed.')), (next) => end(next, atMs))
        : storeHandoff(state, stage, atMs, policy);
  }
}

function onSettingsChanged(state: WatcherState, atMs: number, policy: Policy): Transition {
  const next = remember(state, { lastShown: undefined });
  const { stage } = state;
  const isIgnoringMode = policy.midTurn === 'tiered' && placeOf(stage) === 'inside_turn';
  if (policy.isEnabled && (policy.mode === 'auto' || isIgnoringMode)) return stay(next);
  const forgetful = remember(next, { preflight: undefined });
  // A running compaction was allowed when it began.
  return stage.at === 'compacting' || stage.at === 'post_compact_handoff_pending'
    ? stay(forgetful)
    : cancel(forgetful, 'settings changed', atMs, policy);
}

/** Stops what runs and keeps the stage, so that `resumed` ends it as after a crash. */
function onShutdown(state: WatcherState): Transition {
  const { stage } = state;
  const next = remember(state, { isShutDown: true });
  if (isRequesting(stage) && stage.sequence.place === 'between_turns') {
    return stay(next, { type: 'interrupt_turn', number: stage.number });
  }
  return stage.at === 'compacting' && !stage.sawContextCompacted
    ? stay(next, { type: 'abort_compaction', number: stage.number })
    : stay(next);
}

/** Ends what the process did not, according to the log, and without starting a turn that the user did not request. */
function onResumed(state: WatcherState, { logged, atMs }: Resumed, policy: Policy): Transition {
  const { stage, memory } = state;
  const { delivering, queue } = memory;
  const isLogged = ({ id }: UserMessage): boolean => logged.messages.includes(id);
  const back = remember(state, {
    isShutDown: false,
    turn: undefined,
    delivering: undefined,
    queue: [...(delivering === undefined ? [] : [delivering]), ...queue].filter((each) => !isLogged(each)),
  });
  switch (stage.at) {
    case 'idle':
      return stay(back);
    case 'compacting': {
      if (!stage.sawContextCompacted && !logged.compactions.includes(stage.number)) {
        return fail(back, 'the session ended before the compaction; nothing was changed.', atMs);
      }
      const told = stay(back, ...infoLine('step', ': the session ended after the compaction', policy));
      return andThen(told, (next) => finishCompaction(next, stage, { atMs, mayStartTurn: false }, policy));
    }
    case 'post_compact_handoff_pending':
      return logged.handoffs.includes(stage.handover.sequenceId)
        ? end(back, atMs)
        : storeHandoff(back, { ...stage, startsTurn: false }, atMs, policy);
    default:
      return fail(back, 'the session ended during the sequence; nothing was compacted.', atMs);
  }
}
