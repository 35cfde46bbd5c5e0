// Helpers that assemble a transition of the state machine.

import type { Transition, WatcherEffect } from './effects.ts';
import type { Memory, SequencePlace, Stage, WatcherState } from './state.ts';

/** Keeps the state; performs only these effects, if any. */
export function stay(state: WatcherState, ...effects: readonly WatcherEffect[]): Transition {
  return { state, effects };
}

/** Goes to a stage. */
export function enter(state: WatcherState, stage: Stage, ...effects: readonly WatcherEffect[]): Transition {
  return { state: { ...state, stage }, effects };
}

/** Continues from the result of a transition; its effects come first. */
export function andThen(first: Transition, next: (state: WatcherState) => Transition): Transition {
  const second = next(first.state);
  return { state: second.state, effects: [...first.effects, ...second.effects] };
}

/** The state with a changed memory. */
export function remember(state: WatcherState, change: Partial<Memory>): WatcherState {
  return { ...state, memory: { ...state.memory, ...change } };
}

/** An unused number, and the state that marks it as used. */
export function takeNumber(state: WatcherState): readonly [number: number, state: WatcherState] {
  const number = state.memory.nextNumber;
  return [number, remember(state, { nextNumber: number + 1 })];
}

/** Resumes the loop of the running turn, if it waits. */
export function letGo(state: WatcherState): Transition {
  const { turn } = state.memory;
  if (turn?.isHeld !== true) return stay(state);
  return stay(remember(state, { turn: { ...turn, isHeld: false } }), {
    type: 'resume_turn',
    turnId: turn.turnId,
  });
}

/** Where the work of a stage continues; undefined when idle. */
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

/** The same stage, whose work continues between turns from now on. */
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
