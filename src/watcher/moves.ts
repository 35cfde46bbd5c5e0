// The small change of the state machine: how a transition is put together.

import type { Memory, SequencePlace, Stage, Transition, WatcherEffect, WatcherState } from './state.ts';

/** Nothing happens, or only these effects. */
export function stay(state: WatcherState, ...effects: readonly WatcherEffect[]): Transition {
  return { state, effects };
}

/** Goes to a stage. */
export function enter(state: WatcherState, stage: Stage, ...effects: readonly WatcherEffect[]): Transition {
  return { state: { ...state, stage }, effects };
}

/** Goes on from where a transition led; its effects come first. */
export function andThen(first: Transition, next: (state: WatcherState) => Transition): Transition {
  const second = next(first.state);
  return { state: second.state, effects: [...first.effects, ...second.effects] };
}

/** The state with something else in mind. */
export function remember(state: WatcherState, change: Partial<Memory>): WatcherState {
  return { ...state, memory: { ...state.memory, ...change } };
}

/** A number that was never given out, and the state that knows so. */
export function takeNumber(state: WatcherState): readonly [number: number, state: WatcherState] {
  const number = state.memory.nextNumber;
  return [number, remember(state, { nextNumber: number + 1 })];
}

/** Lets the loop of the running turn go on, if it waits. */
export function letGo(state: WatcherState): Transition {
  const { turn } = state.memory;
  if (turn?.isHeld !== true) return stay(state);
  return stay(remember(state, { turn: { ...turn, isHeld: false } }), {
    type: 'resume_turn',
    turnId: turn.turnId,
  });
}

/** Where the work of a stage goes on; undefined when idle. */
export function placeOf(stage: Stage): SequencePlace | undefined {
  switch (stage.at) {
    case 'idle':
      return undefined;
    case 'assessing':
    case 'awaiting_judgment':
      return stage.question.place;
    case 'compacting':
    case 'post_compact_handoff_pending':
      return stage.place;
    default:
      return stage.sequence.place;
  }
}

/** The same stage, its work going on between turns from now on. */
export function outsideOfTurn(stage: Stage): Stage {
  const place = 'between_turns';
  switch (stage.at) {
    case 'idle':
      return stage;
    case 'assessing':
    case 'awaiting_judgment':
      return { ...stage, question: { ...stage.question, place } };
    case 'compacting':
    case 'post_compact_handoff_pending':
      return { ...stage, place };
    default:
      return { ...stage, sequence: { ...stage.sequence, place } };
  }
}
