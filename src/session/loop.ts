// The sampling loop of a thread: record the input, check the room, sample, run tools, let the watcher look, sample
// again. Pure: the outside world sends events and performs effects. `explored` in loop.test.ts covers all reachable
// states.
//
// A driver's duties: perform effects in order, each append before what follows it; give each event the number of the
// effect that it answers. An event with a number that is no longer awaited changes nothing.

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
  /** Messages that arrived during the turn and are not in the history yet, oldest first. */
  readonly steered: readonly Item[];
  /** The present request was already compacted for once, because it was too long. */
  readonly hasRetriedOverflow: boolean;
  /** The watcher asked the agent something in this turn: it sees the answer before the turn ends by itself. */
  readonly isAnswerOwed: boolean;
  /** It is held before its next sampling. */
  readonly isCut: boolean;
  /** Repeated steps. */
  readonly repeats: Repeats;
  /** Keys of limits about which the user was warned. */
  readonly warned: readonly string[];
}

/** The stage of the loop. Each number is the one effect whose answer is awaited. */
export type LoopStage =
  | { readonly at: 'idle' }
  /** The engine checks whether it must compact before the next sampling. */
  | { readonly at: 'checking'; readonly turn: Turn; readonly number: number }
  | { readonly at: 'sampling'; readonly turn: Turn; readonly number: number }
  /** Calls whose results are pending. */
  | {
      readonly at: 'running';
      readonly turn: Turn;
      readonly number: number;
      readonly open: readonly Item[];
      readonly isPaused: boolean;
      /** The answer with the calls, and the results so far. */
      readonly items: readonly Item[];
      readonly results: readonly ToolOutputItem[];
    }
  /** The watcher looks; the turn waits. */
  | { readonly at: 'held'; readonly turn: Turn; readonly number: number };

export interface LoopState {
  readonly stage: LoopStage;
  readonly nextNumber: number;
  readonly limits: Limits;
  /** According to the log. */
  readonly spending: Spending;
}

/** How a check of the room ended, including any compaction that it caused. */
export type Settlement =
  | { readonly type: 'fits' }
  /** It does not fit, and nothing permitted makes it fit: reported with what fills the window. */
  | { readonly type: 'exhausted'; readonly why: string };

export type LoopEvent =
  | { readonly type: 'start'; readonly turnId: string; readonly input: readonly Item[] }
  /** A message for the running turn. */
  | { readonly type: 'steer'; readonly item: Item }
  | { readonly type: 'settled'; readonly number: number; readonly settlement: Settlement }
  /** A complete answer. Broken answers are never reported here. */
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
  /** The log has one more request, of the loop or of any other part. */
  | { readonly type: 'spent'; readonly spending: Spending }
  /** The watcher resumes the turn. `isAnswerOwed`: what it inserted asks the agent for an answer. */
  | {
      readonly type: 'resumed';
      readonly number: number;
      readonly isAnswerOwed: boolean;
      /** Nothing is left to ask the agent: its last message ends the turn. */
      readonly isOver?: boolean;
    }
  /** Ends whatever runs in the turn, and holds the turn: the watcher no longer waits for it. */
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
  /** Writes to the log, durably for the process, before anything that follows. */
  | {
      readonly type: 'append';
      readonly items: readonly Item[];
      /** The provider's count for the request and these items, its answer. */
      readonly usage?: ModelUsage;
    }
  /** Asks the compactor; `overflow`: a provider rejected the request as too long. */
  | {
      readonly type: 'check';
      readonly number: number;
      readonly from: 'pre_turn' | 'built_in' | 'overflow';
    }
  | { readonly type: 'sample'; readonly number: number }
  | { readonly type: 'run'; readonly number: number; readonly calls: readonly Item[] }
  /** Reports a complete sampling to the watcher; it answers with `resumed`. */
  | {
      readonly type: 'hold';
      readonly number: number;
      /** The turn continues anyway. False: what ends here is the answer that the watcher waits for. */
      readonly isFollowUpOwed: boolean;
    }
  | { readonly type: 'warn'; readonly message: string }
  /** Stops the work with this number at once. */
  | { readonly type: 'stop'; readonly number: number }
  | { readonly type: 'end'; readonly turnId: string; readonly ending: TurnEnding };

export interface LoopStep {
  readonly state: LoopState;
  readonly effects: readonly LoopEffect[];
}

/** A thread where nothing runs, without limits. */
export const IDLE_LOOP: LoopState = {
  stage: { at: 'idle' },
  nextNumber: 1,
  limits: NO_LIMITS,
  spending: NO_SPENDING,
};

/** The result of a call that the user stopped. */
export const ABORTED_RESULT = '[Stopped by the user before it was done]';

/** The result of a call that still ran when the time for an answer to the watcher was over. */
export const CUT_RESULT = '[Stopped before it was done: the time for the request above was over]';

/** The next state of the loop. Total: an event that does not fit the stage changes nothing. */
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
    isAnswerOwed: false,
    isCut: false,
    repeats: NO_REPEATS,
    warned: [],
  };
  const checked = check(state, turn, 'pre_turn');
  return { ...checked, effects: [{ type: 'append', items: input }, ...checked.effects] };
}

/** A limit applies only to the next request: before the turn ends at it, the results are in and the user's words are kept. */
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

/** Running work is already paid for; only the next request is refused. */
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
  // The user's words may justify repeating a step.
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

/** A turn that loops must end eventually: no one may be there to end it. */
function holdUnlessStuck(state: LoopState, turn: Turn): LoopStep {
  const times = timesRepeated(turn.repeats);
  const { repeatedCalls: most } = state.limits;
  if (most === 0 || times < most || turn.steered.length > 0) return hold(state, turn, true);
  return end(state, turn, {
    type: 'no_progress',
    why: `The model repeated the same calls ${times} times in a row with the same results, so Baton ended the turn.`,
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

/** Without a result that needs an answer, only a new message or the watcher keeps the turn going. */
function goOn(state: LoopState, turn: Turn): LoopStep {
  if (turn.isAnswerOwed) return hold(state, turn, false);
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
  { isAnswerOwed, isOver = false }: Extract<LoopEvent, { type: 'resumed' }>,
): LoopStep {
  if (isOver && turn.steered.length === 0) return end(state, turn, { type: 'complete' });
  return check(state, { ...turn, isAnswerOwed }, 'built_in');
}

/** Compacts and resends an overlong request once; the second time, reports it to the user. */
function failed(
  state: LoopState,
  { turn }: At<'sampling'>,
  { isOverflow, why }: Extract<LoopEvent, { type: 'sampling_failed' }>,
): LoopStep {
  // A retry that a limit forbids is not a failure of the provider.
  const atLimit = endAtLimit(state, turn);
  if (atLimit !== undefined) return atLimit;
  return isOverflow && !turn.hasRetriedOverflow
    ? check(state, { ...turn, hasRetriedOverflow: true }, 'overflow')
    : end(state, turn, { type: 'failed', why });
}

function interrupt(state: LoopState, stage: Busy): LoopStep {
  return after(stopping(stage, ABORTED_RESULT), end(state, stage.turn, { type: 'aborted' }));
}

/** A check of the room continues: it is short, or it compacts, which also removes the request. */
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

/** The user's messages during the turn are kept, however the turn ended. */
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
