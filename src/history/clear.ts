import { CLEARED_RESULT } from '../protocol/record.ts';
import { resultCallId } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { Representation } from './project.ts';

/** A tool result with its content cleared: id and success flag stay, images go. Other items come back as they are. */
export function clearResult(item: Item): Item {
  return isCleared(item) ? item : clearFresh(item);
}

/** The same for a result that is known not to be cleared yet: its text, which lies elsewhere in memory, is not looked at. */
export function clearFresh(item: Item): Item {
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return item;
  return { ...item, output: CLEARED_RESULT };
}

/** Whether a result is cleared already, by Baton or by Claude Code, whose placeholder is the same. */
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
