// A history as turns of an API that takes each answer whole: reasoning, texts and calls together, followed by their results.

import type { Item, ToolOutputItem } from '../../protocol/item.ts';
import { authorOf, callOf, resultCallId } from '../../protocol/item.ts';
import { pairUp } from '../claude-code/pairs.ts';

/** A call of an answer, with the id it is written under and its result, if one was recorded. */
export interface AnsweredCall {
  readonly item: Item;
  readonly id: string;
  readonly result: ToolOutputItem | undefined;
}

/** A unit that is sent in one piece. */
export type Turn =
  | { readonly type: 'answer'; readonly parts: readonly (Item | AnsweredCall)[] }
  | { readonly type: 'other'; readonly item: Item };

/** Whether a part of an answer is a call. */
export function isAnsweredCall(part: Item | AnsweredCall): part is AnsweredCall {
  return 'item' in part;
}

/**
 * Groups a history into answers, each with all results of its calls, and everything else one by one. Results are with their
 * calls; omits second results and those without a call, which no API accepts.
 */
export function turnsOf(items: readonly Item[]): readonly Turn[] {
  const pairs = pairUp(items);
  const turns: Turn[] = [];
  let answer: (Item | AnsweredCall)[] = [];
  let isAnswered = false;
  const flush = (): void => {
    if (answer.length > 0) turns.push({ type: 'answer', parts: answer });
    answer = [];
    isAnswered = false;
  };
  for (const [position, item] of items.entries()) {
    const pair = pairs.get(position);
    if (resultCallId(item) !== undefined) isAnswered = true;
    else if (pair !== undefined || isOfAnswer(item)) {
      // A result came in between, so the model's next words are another answer.
      if (isAnswered) flush();
      answer.push(pair === undefined ? item : { item, id: pair.id, result: pair.result });
    } else if (!isNeverSent(item)) {
      flush();
      turns.push({ type: 'other', item });
    }
  }
  flush();
  return turns;
}

function isOfAnswer(item: Item): boolean {
  return (
    authorOf(item) === 'agent' ||
    (item.type === 'message' && item.role === 'assistant') ||
    callOf(item) !== undefined
  );
}

/** Whether an item is never sent to a model. */
export function isNeverSent({ type }: Item): boolean {
  return type === 'compact_boundary' || type === 'progress' || type === 'ghost_snapshot';
}
