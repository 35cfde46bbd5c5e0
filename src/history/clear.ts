import { CLEARED_RESULT } from '../protocol/record.ts';
import { resultCallId } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { Representation } from './project.ts';

/** A tool result with its content cleared: keeps id and success flag, drops images. Returns other items unchanged. */
export function clearResult(item: Item): Item {
  return isCleared(item) ? item : clearFresh(item);
}

/** The same for a result known not to be cleared: it does not read the text, which is elsewhere in memory. */
export function clearFresh(item: Item): Item {
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return item;
  return { ...item, output: CLEARED_RESULT };
}

/** Whether a result was already cleared, by Baton or by Claude Code, whose placeholder is the same. */
export function isCleared(item: Item): boolean {
  return (
    (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') &&
    item.output === CLEARED_RESULT
  );
}

/** A fold over whole items. */
export const WHOLE_ITEMS: Representation<Item> = {
  make: (item) => item,
  resultCallId,
  clear: clearResult,
};
