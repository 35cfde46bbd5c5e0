// The watcher's state machine: what happens, and what follows from it. Total: every state takes every event, and an
// answer that is not awaited changes nothing. Pure: the same state, event and policy give the same transition.

import { noteSignals, startTurn } from './boundaries.ts';
import { decide, goWithoutJudge, goWithoutPlan, takeJudgment, takePlan } from './decision-points.ts';
import { boundaryStatus, infoLine, warningLine } from './lines.ts';
import { andThen, letGo, outsideOfTurn, placeOf, remember, stay } from './moves.ts';
import type { Policy } from './policy.ts';
import {
  fail,
  skip,
  abortCompaction,
  beginAnswer,
  cancel,
  end,
  finishCompaction,
  goWithoutAnswer,
  isRequesting,
  isShellLine,
  stopTask,
  storeHandoff,
  takeAnswer,
  takeDelivery,
  takePacket,
  takeSign,
} from './sequence.ts';
import type {
  ContextCompacted,
  DeadlineExpired,
  Resumed,
  RunningTurn,
  SamplingComplete,
  Transition,
  TurnAborted,
  TurnComplete,
  TurnOrigin,
  TurnStarted,
  UserMessage,
  WatcherEvent,
  WatcherState,
} from './state.ts';

/** What follows from an event. The policy is read anew each time; a sequence keeps the path that it began. */
export function transition(state: WatcherState, event: WatcherEvent, policy: Policy): Transition {
  if (state.memory.isShutDown && event.type !== 'resumed') {
    return stay(event.type === 'user_submitted' ? enqueue(state, event.message) : state);
  }
  const moved = follow(state, event, policy);
  if (moved.state === state) return moved;
  // Whatever has ended, and however: the loop that waited goes on, and the user's next message is delivered.
  const isAtRest = moved.state.stage.at === 'idle' && !moved.state.memory.isShutDown;
  if (!isAtRest) return moved;
  const released = andThen(moved, letGo);
  // What could not be delivered waits for something to happen, lest it fail for ever.
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
    case 'user_submitted':
      return stay(enqueue(state, event.message));
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

function onTurnStarted(state: WatcherState, event: TurnStarted, policy: Policy): Transition {
  const { origin, kind } = event;
  if (origin.type === 'watcher') return onOwnTurnStarted(state, event, origin.number);
  if (state.memory.turn?.turnId === event.turnId) return stay(state);
  const begun = runTurn(state, event);
  if (kind !== 'regular') return foreignTurn(begun, event.atMs, policy);
  const { turnNumber, boundaries } = begun.memory;
  const asked = remember(begun, {
    turnNumber: turnNumber + 1,
    boundaries: startTurn(boundaries),
    preflight: undefined,
    hasRequest: true,
  });
  return andThen(stay(asked, boundaryStatus('turn_started')), (next) =>
    foreignTurn(next, event.atMs, policy),
  );
}

function runTurn(state: WatcherState, { turnId, origin, kind }: TurnStarted | TurnComplete): WatcherState {
  const turn: RunningTurn = { turnId, origin, kind, isHeld: false, isBarred: false };
  return remember(state, { turn, ...(isDelivery(state, origin) ? { delivering: undefined } : {}) });
}

function isDelivery({ memory }: WatcherState, origin: TurnOrigin): boolean {
  return (
    origin.type === 'user' && memory.delivering !== undefined && origin.messageId === memory.delivering.id
  );
}

/** A turn that the watcher did not ask for runs: what was under way cannot go on as it was. */
function foreignTurn(state: WatcherState, atMs: number, policy: Policy): Transition {
  const { stage } = state;
  if (stage.at === 'idle' || stage.at === 'post_compact_handoff_pending') return stay(state);
  if (stage.at !== 'compacting') return cancel(state, 'another turn has started', atMs, policy);
  if (stage.sawContextCompacted) return cancel(state, 'another turn has started', atMs, policy);
  return stage.sawTurnComplete && stage.place === 'between_turns'
    ? fail(state, 'the compaction did not complete; there is no handoff.', atMs)
    : stay(state);
}

function onOwnTurnStarted(state: WatcherState, event: TurnStarted, number: number): Transition {
  const { stage } = state;
  if (stage.at === 'idle' || stage.number !== number) return stay(state);
  if (isRequesting(stage)) return beginAnswer(state, stage);
  if (stage.at !== 'post_compact_handoff_pending' || !stage.startsTurn) return stay(state);
  return end(beginHandoffTurn(state, event), event.atMs);
}

function beginHandoffTurn(state: WatcherState, event: TurnStarted | TurnComplete): WatcherState {
  const begun = runTurn(state, event);
  return remember(begun, { boundaries: startTurn(begun.memory.boundaries) });
}

function onTurnComplete(state: WatcherState, event: TurnComplete, policy: Policy): Transition {
  const { stage, memory } = state;
  const { origin, atMs } = event;
  if (origin.type === 'watcher' && stage.at !== 'idle' && stage.number === origin.number) {
    if (isRequesting(stage)) return takeAnswer(state, stage, event.lastAgentMessage, policy);
    if (stage.at === 'compacting') return takeSign(state, stage, 'sawTurnComplete', { atMs, policy });
    if (stage.at === 'post_compact_handoff_pending' && stage.startsTurn) {
      return andThen(end(beginHandoffTurn(state, event), atMs), (next) => endTurn(next, event, policy));
    }
  }
  if (memory.turn?.turnId === event.turnId) return endTurn(state, event, policy);
  // The turn of a message whose start was not heard of.
  return isDelivery(state, origin)
    ? andThen(onTurnStarted(state, { ...event, type: 'turn_started' }, policy), (next) =>
        endTurn(next, event, policy),
      )
    : stay(state);
}

/** The running turn is over: a turn-end decision, or the answer to what was asked inside of it. */
function endTurn(state: WatcherState, event: TurnComplete, policy: Policy): Transition {
  const { atMs, kind, origin } = event;
  const { rest } = state.memory;
  if (kind !== 'regular') return stay(remember(state, { turn: undefined }));
  const noted = noteWork(state, event);
  const isUsers = origin.type === 'user';
  const ended = remember(noted.state, {
    turn: undefined,
    rest: rest && isUsers ? { ...rest, turnsEnded: rest.turnsEnded + 1 } : rest,
  });
  return andThen({ ...noted, state: ended }, (next) => {
    const { stage } = next;
    if (stage.at === 'idle') {
      return decide(next, { point: 'turn_end', moment: event, batchFrom: undefined, atMs }, policy);
    }
    const outside: WatcherState = { ...next, stage: outsideOfTurn(stage) };
    return isRequesting(stage) && stage.sequence.place === 'inside_turn' && isRequesting(outside.stage)
      ? takeAnswer(outside, outside.stage, event.lastAgentMessage, policy)
      : stay(outside);
  });
}

/** Notes what a turn has reached and done; new boundaries are shown live. */
function noteWork(state: WatcherState, event: TurnComplete | SamplingComplete): Transition {
  const { boundaries, hasAction } = state.memory;
  const noted = noteSignals(boundaries, event.signals);
  const known = new Set(boundaries.open.map(({ signal }) => signal.id));
  const reached = noted.open.filter(({ signal }) => !known.has(signal.id));
  return stay(
    remember(state, { boundaries: noted, hasAction: hasAction || event.hadAction }),
    ...reached.map(({ signal }) => boundaryStatus(signal.boundary)),
  );
}

function onTurnAborted(state: WatcherState, event: TurnAborted, policy: Policy): Transition {
  const { stage, memory } = state;
  const { origin, reason, atMs } = event;
  if (origin.type === 'watcher' && stage.at !== 'idle' && stage.number === origin.number) {
    if (isRequesting(stage)) {
      return reason === 'interrupted'
        ? cancel(state, 'interrupted', atMs, policy)
        : goWithoutAnswer(state, stage, 'the turn of the request did not complete', policy);
    }
    if (stage.at === 'compacting') return failCompaction(state, `the turn was ${reason}`, atMs, policy);
    if (stage.at === 'post_compact_handoff_pending') return storeHandoff(state, stage, atMs, policy);
  }
  const isRunning = memory.turn?.turnId === event.turnId;
  if (!isRunning && !isDelivery(state, origin)) return stay(state);
  const ended = remember(state, {
    turn: undefined,
    ...(isDelivery(state, origin) ? { delivering: undefined } : {}),
  });
  if (placeOf(stage) !== 'inside_turn') return stay(ended);
  // Only afterwards is the work outside of the turn: `cancel` has to know that there is no turn of its own to interrupt.
  return andThen(cancel(ended, `the turn was ${reason}`, atMs, policy), (next) =>
    stay({ ...next, stage: outsideOfTurn(next.stage) }),
  );
}

function onSamplingComplete(state: WatcherState, event: SamplingComplete, policy: Policy): Transition {
  const { turn } = state.memory;
  // The turns of the watcher's own requests are the agent's to spend.
  if (turn?.turnId !== event.turnId) return stay(state, { type: 'resume_turn', turnId: event.turnId });
  const noted = noteWork(remember(state, { turn: { ...turn, isHeld: true } }), event);
  return andThen(noted, (next) => {
    const { stage } = next;
    const { isFollowUpOwed, batchFrom, atMs } = event;
    if (stage.at === 'idle') {
      const isAsked = isFollowUpOwed && !turn.isBarred && turn.kind === 'regular' && policy.midTurn !== 'off';
      return isAsked
        ? decide(next, { point: 'mid_turn', moment: event, batchFrom, atMs }, policy)
        : stay(next);
    }
    if (placeOf(stage) === 'between_turns') return letGo(next);
    if (!isRequesting(stage)) return stay(next);
    if (!isFollowUpOwed) return takeAnswer(next, stage, event.lastAgentMessage, policy);
    return andThen(beginAnswer(next, stage), letGo);
  });
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

function failCompaction(state: WatcherState, why: string, atMs: number, policy: Policy): Transition {
  const { stage } = state;
  if (stage.at !== 'compacting') return stay(state);
  if (stage.sawContextCompacted) {
    return finishCompaction(state, stage, { atMs, mayStartTurn: false }, policy);
  }
  return stage.abortNumber === undefined
    ? fail(state, `the compaction failed (${why}); nothing was changed.`, atMs)
    : skip(state, 'stopped; nothing was changed', atMs, policy);
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
    const isTurn = stage.sequence.place === 'between_turns';
    const stopped = stay(state, ...(isTurn ? ([{ type: 'interrupt_turn', number }] as const) : []));
    return andThen(stopped, (next) =>
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
  // A compaction that is being carried out was allowed when it began.
  return stage.at === 'compacting' || stage.at === 'post_compact_handoff_pending'
    ? stay(forgetful)
    : cancel(forgetful, 'settings changed', atMs, policy);
}

/** Stops what runs and keeps the stage, for `resumed` to end it as after a crash. */
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

/** Ends what the process did not: by what the log holds, and without starting a turn that nobody asked for. */
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
