// A turn as its items arrive, and the record of its end. Pure.

import { callOf } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import type { TurnStopReason } from '../vocabulary.ts';
import type { TurnEnding } from './loop.ts';
import type { TurnView } from './terms.ts';
import { agentTextOf } from './thread-state.ts';

/** How a turn ended, in the word of the log. */
export type TurnOutcomeWord = 'complete' | 'interrupted' | 'failed';

/** The word for an ending of the loop. */
export function outcomeOf(ending: TurnEnding): TurnOutcomeWord {
  if (ending.type === 'complete') return 'complete';
  return ending.type === 'aborted' ? 'interrupted' : 'failed';
}

/** The error to report; undefined if the turn did not fail. */
export function failureOf(
  ending: TurnEnding,
): { readonly code: FailedEnding; readonly message: string } | undefined {
  if (ending.type === 'complete' || ending.type === 'aborted') return undefined;
  const message = 'cure' in ending ? `${ending.why} ${ending.cure}` : ending.why;
  return { code: ending.type, message };
}

type FailedEnding = Exclude<TurnEnding['type'], 'complete' | 'aborted'>;

/** What the record of an end contains besides the turn. */
interface EndFacts {
  readonly how: TurnOutcomeWord;
  /** Of the newest answer; undefined if there was none. */
  readonly stopReason: TurnStopReason | undefined;
  /** Undefined unless the turn failed. */
  readonly errorCode: string | undefined;
}

/** The record of the end of a turn. */
export function turnEnd(
  { turnId, kind, origin, said }: TurnView,
  { how, stopReason, errorCode }: EndFacts,
): LogRecord {
  const ended = { turnId, kind, origin };
  if (how !== 'complete') {
    return {
      type: 'turn_aborted',
      ...ended,
      ...(errorCode === undefined ? {} : { errorCode }),
      reason: how,
    };
  }
  return {
    type: 'turn_complete',
    ...ended,
    ...(stopReason === undefined ? {} : { stopReason }),
    ...(said === undefined ? {} : { lastAgentMessage: said }),
  };
}

/**
 * A turn with one more item.
 * @param isAnswerOwed the observer waits for the agent's words: they are not addressed to the turn's initiator
 * @returns the turn, and what the agent said to the observer
 */
export function withItem(
  turn: TurnView,
  item: Item,
  isAnswerOwed: boolean,
): { readonly turn: TurnView; readonly toObserver: string | undefined } {
  const said = agentTextOf(item);
  const acted = callOf(item) === undefined ? turn : { ...turn, hadAction: true };
  if (said === undefined) return { turn: acted, toObserver: undefined };
  return isAnswerOwed
    ? { turn: acted, toObserver: said }
    : { turn: { ...acted, said }, toObserver: undefined };
}
