// The sampling loop of a thread: record the input, check the room, sample, run tools, let the watcher look, sample again. Pure:
// what happens outside are events, what is to be done is effects. `explored` in loop.test.ts over all reachable states.
//
// What a driver owes it: effects are performed in order, each append before what follows it; an event carries the number of
// the effect that it answers, and one whose number is no longer awaited changes nothing.

import { failedResult } from '../history/pairs.ts';
import { callOf, resultCallId } from '../protocol/item.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';
import type { ModelUsage } from '../protocol/model.ts';
import type { StopReason } from '../vocabulary.ts';
import { nearLimits, NO_LIMITS, reachedLimit } from './limits.ts';
import type { Limits } from './limits.ts';
import { addStep, fingerprintOf, NO_REPEATS, repeatNote, timesRepeated, withNote } from './repeats.ts';
import type { Repeats } from './repeats.ts';
import { NO_SPENDING } from './spending.ts';
import type { Spending } from './spending.ts';

/** A running turn. */
export interface Turn {
  readonly id: string;
  /** Messages that came while it ran and have no place in the history yet, oldest first. */
  readonly steered: readonly Item[];
  /** The request now under way was compacted for once already, because it was too long. */
  readonly hasRetriedOverflow: boolean;
  /** The watcher asked the agent something inside of this turn: it is shown the answer before the turn ends by itself. */
  readonly isAsked: boolean;
  /** It is held before its next sampling. */
  readonly isCut: boolean;
  /** Steps that were the same. */
  readonly repeats: Repeats;
  /** Keys of limits of which the user was warned. */
  readonly warned: readonly string[];
}

/** Where the loop stands. Each number is the one effect whose answer is awaited. */
export type LoopStage =
  | { readonly at: 'idle' }
  /** The engine looks whether it must compact before the next sampling. */
  | { readonly at: 'checking'; readonly turn: Turn; readonly number: number }
  | { readonly at: 'sampling'; readonly turn: Turn; readonly number: number }
  /** Calls whose results are still out. */
  | {
      readonly at: 'running';
      readonly turn: Turn;
      readonly number: number;
      readonly open: readonly Item[];
      readonly isPaused: boolean;
      /** The answer that called, and what came back so far. */
      readonly items: readonly Item[];
      readonly results: readonly ToolOutputItem[];
    }
  /** The watcher looks; the turn waits. */
  | { readonly at: 'held'; readonly turn: Turn; readonly number: number };

export interface LoopState {
  readonly stage: LoopStage;
  readonly nextNumber: number;
  readonly limits: Limits;
  /** As the log tells it. */
  readonly spending: Spending;
}

/** How a check of the room, with the compaction it may have led to, ended. */
export type Settlement =
  | { readonly type: 'fits' }
  /** It did not fit and nothing that may be done makes it: told with what fills the window. */
  | { readonly type: 'exhausted'; readonly why: string };

export type LoopEvent =
  | { readonly type: 'start'; readonly turnId: string; readonly input: readonly Item[] }
  /** A message for the turn that runs. */
  | { readonly type: 'steer'; readonly item: Item }
  | { readonly type: 'settled'; readonly number: number; readonly settlement: Settlement }
  /** An answer came whole. Nothing of a broken one is ever told here. */
  | {
      readonly type: 'sampled';
      readonly number: number;
      readonly items: readonly Item[];
      readonly stopReason: StopReason;
      readonly usage?: ModelUsage;
    }
  | {
      readonly type: 'sampling_failed';
      readonly number: number;
      readonly isOverflow: boolean;
      readonly why: string;
    }
  | { readonly type: 'tool_finished'; readonly number: number; readonly result: ToolOutputItem }
  /** The log has one more request, of the loop or of anybody else. */
  | { readonly type: 'spent'; readonly spending: Spending }
  /** The watcher lets the turn go on. `isAsked`: what it has put into the thread asks the agent for an answer. */
  | {
      readonly type: 'resumed';
      readonly number: number;
      readonly isAsked: boolean;
      /** Nothing is left to say to the agent: what it said last ends the turn. */
      readonly isOver?: boolean;
    }
  /** Whatever runs in the turn is ended, and the turn is held: the watcher waits for it no longer. */
  | { readonly type: 'cut' }
  | { readonly type: 'interrupt' };

/** How a turn ended. */
export type TurnEnding =
  | { readonly type: 'complete' }
  | { readonly type: 'aborted' }
  | { readonly type: 'failed'; readonly why: string }
  | { readonly type: 'context_exhausted'; readonly why: string }
  | { readonly type: 'limit_reached' | 'no_progress'; readonly why: string; readonly cure: string };

export type LoopEffect =
  /** Into the log, durably for the process, before anything that follows. */
  | {
      readonly type: 'append';
      readonly items: readonly Item[];
      /** What the provider counted for the request and these items, its answer. */
      readonly usage?: ModelUsage;
    }
  /** Put to the compactor; `overflow`: a provider has refused the request as too long. */
  | {
      readonly type: 'check';
      readonly number: number;
      readonly from: 'pre_turn' | 'built_in' | 'overflow';
    }
  | { readonly type: 'sample'; readonly number: number }
  | { readonly type: 'run'; readonly number: number; readonly calls: readonly Item[] }
  /** Tell the watcher that a sampling is complete; it answers with `resumed`. */
  | {
      readonly type: 'hold';
      readonly number: number;
      /** The turn goes on anyway. False: what ends here is the answer that the watcher waits for. */
      readonly isFollowUpOwed: boolean;
    }
  | { readonly type: 'warn'; readonly message: string }
  /** Ends what runs under this number at once. */
  | { readonly type: 'stop'; readonly number: number }
  | { readonly type: 'end'; readonly turnId: string; readonly ending: TurnEnding };

export interface LoopStep {
  readonly state: LoopState;
  readonly effects: readonly LoopEffect[];
}

/** A thread in which nothing runs, and which nothing bounds. */
export const IDLE_LOOP: LoopState = {
  stage: { at: 'idle' },
  nextNumber: 1,
  limits: NO_LIMITS,
  spending: NO_SPENDING,
};

/** What a call reads that the user stopped. */
export const ABORTED_RESULT = '[Stopped by the user before it was done]';

/** What a call reads that ran while the time for an answer to the watcher was over. */
export const CUT_RESULT = '[Stopped before it was done: the time for the request above was over]';

/** The next state of the loop. Total: what makes no sense where it stands changes nothing. */
export function loopStep(state: LoopState, event: LoopEvent): LoopStep {
  const { stage } = state;
  if (event.type === 'spent') return spent(state, event.spending);
  if (event.type === 'start') return stage.at === 'idle' ? start(state, event) : unchanged(state);
  if (stage.at === 'idle') return unchanged(state);
  if (event.type === 'interrupt') return interrupt(state, stage);
  if (event.type === 'cut') return cut(state, stage);
  if (event.type === 'steer') {
    return unchanged(withStage(state, { ...stage, turn: steered(stage.turn, event.item) }));
  }
  if (event.number !== stage.number) return unchanged(state);
  switch (stage.at) {
    case 'checking':
      return event.type === 'settled' ? settled(state, stage, event.settlement) : unchanged(state);
    case 'sampling':
      if (event.type === 'sampled') return sampled(state, stage, event);
      return event.type === 'sampling_failed' ? failed(state, stage, event) : unchanged(state);
    case 'running':
      return event.type === 'tool_finished' ? toolFinished(state, stage, event.result) : unchanged(state);
    case 'held':
      return event.type === 'resumed' ? resumed(state, stage, event) : unchanged(state);
  }
}

type Busy = Exclude<LoopStage, { at: 'idle' }>;
type At<Name extends LoopStage['at']> = Extract<LoopStage, { at: Name }>;

function unchanged(state: LoopState): LoopStep {
  return { state, effects: [] };
}

function withStage(state: LoopState, stage: LoopStage): LoopState {
  return { ...state, stage };
}

function steered(turn: Turn, item: Item): Turn {
  return { ...turn, steered: [...turn.steered, item] };
}

function start(state: LoopState, { turnId, input }: Extract<LoopEvent, { type: 'start' }>): LoopStep {
  const turn: Turn = {
    id: turnId,
    steered: [],
    hasRetriedOverflow: false,
    isAsked: false,
    isCut: false,
    repeats: NO_REPEATS,
    warned: [],
  };
  const checked = check(state, turn, 'pre_turn');
  return { ...checked, effects: [{ type: 'append', items: input }, ...checked.effects] };
}

/** What a limit allows is spent to the end: results are in, and the user's words are kept, before the turn ends at it. */
function check(state: LoopState, turn: Turn, from: Extract<LoopEffect, { type: 'check' }>['from']): LoopStep {
  const { nextNumber } = state;
  return (
    endAtLimit(state, turn) ?? {
      state: { ...state, stage: { at: 'checking', turn, number: nextNumber }, nextNumber: nextNumber + 1 },
      effects: [{ type: 'check', number: nextNumber, from }],
    }
  );
}

function endAtLimit(state: LoopState, turn: Turn): LoopStep | undefined {
  const reached = reachedLimit(state.spending, state.limits);
  return reached === undefined ? undefined : end(state, turn, { type: 'limit_reached', ...reached });
}

/** Whatever runs is paid for already; only the next request is refused. */
function spent(before: LoopState, spending: Spending): LoopStep {
  const state = { ...before, spending };
  const { stage } = state;
  if (stage.at === 'idle') return unchanged(state);
  const near = [...nearLimits(spending, state.limits)].filter(([key]) => !stage.turn.warned.includes(key));
  const turn = { ...stage.turn, warned: [...stage.turn.warned, ...near.map(([key]) => key)] };
  return {
    state: withStage(state, { ...stage, turn }),
    effects: near.map(([, message]) => ({ type: 'warn', message })),
  };
}

function settled(state: LoopState, { turn }: At<'checking'>, settlement: Settlement): LoopStep {
  if (settlement.type === 'exhausted') {
    return end(state, turn, { type: 'context_exhausted', why: settlement.why });
  }
  if (turn.isCut) return hold(state, turn, true);
  return endAtLimit(state, turn) ?? sample(state, turn);
}

function sample(state: LoopState, turn: Turn): LoopStep {
  const { nextNumber } = state;
  const { steered: waiting } = turn;
  // What the user says may be a reason to do the same again.
  const repeats = waiting.length > 0 ? NO_REPEATS : turn.repeats;
  return {
    state: {
      ...state,
      stage: { at: 'sampling', turn: { ...turn, steered: [], repeats }, number: nextNumber },
      nextNumber: nextNumber + 1,
    },
    effects: [...appending(waiting), { type: 'sample', number: nextNumber }],
  };
}

function sampled(
  state: LoopState,
  { turn: before, number }: At<'sampling'>,
  { items, stopReason, usage }: Extract<LoopEvent, { type: 'sampled' }>,
): LoopStep {
  const turn = { ...before, hasRetriedOverflow: false };
  const answered = new Set(items.map(resultCallId));
  const open = items.filter((item) => {
    const callId = callOf(item)?.callId;
    return callId !== undefined && !answered.has(callId);
  });
  const isPaused = stopReason === 'paused';
  const recorded: readonly LoopEffect[] =
    usage === undefined ? appending(items) : [{ type: 'append', items, usage }];
  if (open.length > 0) {
    return {
      state: withStage(state, { at: 'running', turn, number, open, isPaused, items, results: [] }),
      effects: [...recorded, { type: 'run', number, calls: open }],
    };
  }
  if (!isPaused) return after(recorded, goOn(state, turn));
  const repeats = addStep(turn.repeats, fingerprintOf(items, []));
  return after(recorded, holdUnlessStuck(state, { ...turn, repeats }));
}

/** A turn that goes in a circle is ended at some time: nobody else may be there to do it. */
function holdUnlessStuck(state: LoopState, turn: Turn): LoopStep {
  const times = timesRepeated(turn.repeats);
  const { repeatedCalls: most } = state.limits;
  if (most === 0 || times < most || turn.steered.length > 0) return hold(state, turn, true);
  return end(state, turn, {
    type: 'no_progress',
    why: `The model did the same ${times} times in a row, with the same results, so the turn was ended.`,
    cure: 'Say what it should do instead, or raise limits.repeated_calls in your own config.toml (0: no limit).',
  });
}

function toolFinished(state: LoopState, stage: At<'running'>, result: ToolOutputItem): LoopStep {
  const open = stage.open.filter((call) => callOf(call)?.callId !== result.call_id);
  if (open.length === stage.open.length) return unchanged(state);
  const results = [...stage.results, result];
  if (open.length > 0) {
    return { state: withStage(state, { ...stage, open, results }), effects: appending([result]) };
  }
  const repeats = addStep(stage.turn.repeats, fingerprintOf(stage.items, results));
  const note = repeatNote(timesRepeated(repeats));
  const recorded = appending([note === undefined ? result : withNote(result, note)]);
  return after(recorded, holdUnlessStuck(state, { ...stage.turn, repeats }));
}

/** Without a result that is owed an answer, only a message that came meanwhile, or the watcher, keeps the turn going. */
function goOn(state: LoopState, turn: Turn): LoopStep {
  if (turn.isAsked) return hold(state, turn, false);
  return turn.steered.length > 0 ? hold(state, turn, true) : end(state, turn, { type: 'complete' });
}

function hold(state: LoopState, turn: Turn, isFollowUpOwed: boolean): LoopStep {
  const { nextNumber } = state;
  return {
    state: {
      ...state,
      stage: { at: 'held', turn: { ...turn, isCut: false }, number: nextNumber },
      nextNumber: nextNumber + 1,
    },
    effects: [{ type: 'hold', number: nextNumber, isFollowUpOwed }],
  };
}

function resumed(
  state: LoopState,
  { turn }: At<'held'>,
  { isAsked, isOver = false }: Extract<LoopEvent, { type: 'resumed' }>,
): LoopStep {
  if (isOver && turn.steered.length === 0) return end(state, turn, { type: 'complete' });
  return check(state, { ...turn, isAsked }, 'built_in');
}

/** A request that is too long is compacted for and sent once more; a second time the user is told. */
function failed(
  state: LoopState,
  { turn }: At<'sampling'>,
  { isOverflow, why }: Extract<LoopEvent, { type: 'sampling_failed' }>,
): LoopStep {
  // A retry that a limit did not allow is no failure of the provider.
  const atLimit = endAtLimit(state, turn);
  if (atLimit !== undefined) return atLimit;
  return isOverflow && !turn.hasRetriedOverflow
    ? check(state, { ...turn, hasRetriedOverflow: true }, 'overflow')
    : end(state, turn, { type: 'failed', why });
}

function interrupt(state: LoopState, stage: Busy): LoopStep {
  return after(stopping(stage, ABORTED_RESULT), end(state, stage.turn, { type: 'aborted' }));
}

/** A check of the room goes on: it is short, or it compacts, which takes the request away as well. */
function cut(state: LoopState, stage: Busy): LoopStep {
  const { turn } = stage;
  if (stage.at === 'held') return unchanged(state);
  if (stage.at === 'checking')
    return unchanged(withStage(state, { ...stage, turn: { ...turn, isCut: true } }));
  return after(stopping(stage, CUT_RESULT), hold(state, turn, true));
}

function stopping(stage: Busy, result: string): readonly LoopEffect[] {
  const answers = stage.at === 'running' ? stage.open.map((call) => failedResult(call, result)) : [];
  return [{ type: 'stop', number: stage.number }, ...appending(answers)];
}

/** What the user said while the turn ran is kept, whatever became of the turn. */
function end(state: LoopState, turn: Turn, ending: TurnEnding): LoopStep {
  return {
    state: withStage(state, { at: 'idle' }),
    effects: [...appending(turn.steered), { type: 'end', turnId: turn.id, ending }],
  };
}

function appending(items: readonly Item[]): readonly LoopEffect[] {
  return items.length === 0 ? [] : [{ type: 'append', items }];
}

function after(first: readonly LoopEffect[], { state, effects }: LoopStep): LoopStep {
  return { state, effects: [...first, ...effects] };
}
