// Handles turns: the watcher decides at their ends, and its own requests are answered in them.

import { noteSignals, startTurn } from './signals/boundaries.ts';
import { decide } from './decision-points.ts';
import { boundaryStatus } from './lines.ts';
import { andThen, letGo, outsideOfTurn, placeOf, remember, stay } from './moves.ts';
import type { Policy } from './policy.ts';
import type { Signal } from '../protocol/signal.ts';
import {
  beginAnswer,
  cancel,
  end,
  fail,
  failCompaction,
  goWithoutAnswer,
  isRequesting,
  storeHandoff,
  takeAnswer,
  takeSign,
} from './sequence.ts';
import type { Transition } from './effects.ts';
import type { PhaseCompleted, SamplingComplete, TurnAborted, TurnComplete, TurnStarted } from './events.ts';
import type { RunningTurn, TurnOrigin, WatcherState } from './state.ts';

/** A turn has started: the user's, a request's, or a handoff's. */
export function onTurnStarted(state: WatcherState, event: TurnStarted, policy: Policy): Transition {
  const { origin, kind } = event;
  if (origin.type === 'watcher') return onOwnTurnStarted(state, event, origin.number);
  const { turn, endedTurnId } = state.memory;
  if (turn?.turnId === event.turnId || endedTurnId === event.turnId) return stay(state);
  const begun = runTurn(state, event);
  // No model sees the user's shell line, so the current work continues behind it.
  if (kind === 'shell') return stay(begun);
  if (kind !== 'regular') return foreignTurn(begun, event.atMs, policy);
  const { turnNumber, boundaries } = begun.memory;
  const asked = remember(begun, {
    turnNumber: turnNumber + 1,
    boundaries: startTurn(boundaries),
    preflight: undefined,
    hasRequest: true,
  });
  return andThen(stay(asked, ...boundaryStatus('turn_started', policy)), (next) =>
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

/** A turn runs that the watcher did not request: the current work cannot continue unchanged. */
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

/** A turn ended normally. */
export function onTurnComplete(state: WatcherState, event: TurnComplete, policy: Policy): Transition {
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
  // The turn of a message whose start was not reported.
  return isDelivery(state, origin)
    ? andThen(onTurnStarted(state, { ...event, type: 'turn_started' }, policy), (next) =>
        endTurn(next, event, policy),
      )
    : stay(state);
}

/** The running turn is over: makes a turn-end decision, or takes the answer to a mid-turn request. */
function endTurn(state: WatcherState, event: TurnComplete, policy: Policy): Transition {
  const { atMs, kind, origin } = event;
  const { rest } = state.memory;
  if (kind !== 'regular') return stay(remember(state, { turn: undefined, endedTurnId: event.turnId }));
  const noted = noteWork(state, event, policy);
  const isUsers = origin.type === 'user';
  const ended = remember(noted.state, {
    turn: undefined,
    endedTurnId: event.turnId,
    rest: rest && isUsers ? { ...rest, turnsEnded: rest.turnsEnded + 1 } : rest,
  });
  return andThen({ ...noted, state: ended }, (next) => {
    const { stage } = next;
    if (stage.at === 'idle') {
      const { isFinal = false } = event;
      return decide(next, { point: 'turn_end', moment: event, batchFrom: undefined, atMs, isFinal }, policy);
    }
    const outside: WatcherState = { ...next, stage: outsideOfTurn(stage) };
    return isRequesting(stage) && stage.sequence.place === 'inside_turn' && isRequesting(outside.stage)
      ? takeAnswer(outside, outside.stage, event.lastAgentMessage, policy)
      : stay(outside);
  });
}

/** Notes what a turn has reached and done. */
function noteWork(
  state: WatcherState,
  { signals, hadAction }: TurnComplete | SamplingComplete,
  policy: Policy,
): Transition {
  const { hasAction } = state.memory;
  return noteBoundaries(remember(state, { hasAction: hasAction || hadAction }), signals, policy);
}

/** Notes the boundaries that were reached; new ones are shown live. */
function noteBoundaries(state: WatcherState, signals: readonly Signal[], policy: Policy): Transition {
  const { boundaries } = state.memory;
  const noted = noteSignals(boundaries, signals);
  const known = new Set(boundaries.open.map(({ signal }) => signal.id));
  const reached = noted.open.filter(({ signal }) => !known.has(signal.id));
  return stay(
    remember(state, { boundaries: noted }),
    ...reached.flatMap(({ signal }) => boundaryStatus(signal.boundary, policy)),
  );
}

/**
 * The user declares a phase complete. A running turn or sequence is not disturbed: the boundary counts at its next
 * decision.
 */
export function onPhaseCompleted(state: WatcherState, event: PhaseCompleted, policy: Policy): Transition {
  const { stage, memory } = state;
  const noted = noteBoundaries(state, event.signals, policy);
  if (stage.at !== 'idle' || memory.turn !== undefined || memory.delivering !== undefined) return noted;
  const { atMs } = event;
  return andThen(noted, (next) =>
    decide(next, { point: 'turn_end', moment: event, batchFrom: undefined, atMs }, policy),
  );
}

/** A turn ended prematurely. */
export function onTurnAborted(state: WatcherState, event: TurnAborted, policy: Policy): Transition {
  const { stage, memory } = state;
  const { origin, reason, why = `the turn was ${reason}`, atMs } = event;
  if (origin.type === 'watcher' && stage.at !== 'idle' && stage.number === origin.number) {
    if (isRequesting(stage)) {
      return reason === 'interrupted'
        ? cancel(state, 'interrupted', atMs, policy)
        : goWithoutAnswer(state, stage, 'the turn of the request did not complete', policy);
    }
    if (stage.at === 'compacting') return failCompaction(state, why, atMs, policy);
    if (stage.at === 'post_compact_handoff_pending') return storeHandoff(state, stage, atMs, policy);
  }
  const isRunning = memory.turn?.turnId === event.turnId;
  if (!isRunning && !isDelivery(state, origin)) return stay(state);
  const ended = remember(state, {
    turn: undefined,
    endedTurnId: event.turnId,
    ...(isDelivery(state, origin) ? { delivering: undefined } : {}),
  });
  if (placeOf(stage) !== 'inside_turn') return stay(ended);
  // The work moves outside the turn only afterwards: `cancel` must know that it has no turn of its own to interrupt.
  return andThen(cancel(ended, `the turn was ${reason}`, atMs, policy), (next) =>
    stay({ ...next, stage: outsideOfTurn(next.stage) }),
  );
}

/** Between two samplings of a turn: a mid-turn decision, or the answer to an item. */
export function onSamplingComplete(state: WatcherState, event: SamplingComplete, policy: Policy): Transition {
  const { turn } = state.memory;
  // Turns of the watcher's own requests belong to the agent.
  if (turn?.turnId !== event.turnId) return stay(state, { type: 'resume_turn', turnId: event.turnId });
  const noted = noteWork(remember(state, { turn: { ...turn, isHeld: true } }), event, policy);
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
