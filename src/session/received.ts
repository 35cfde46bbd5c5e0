// Which parts of an answer Baton accepts as the model's. Others write tool results, the user's words and instructions,
// so a model or its server cannot enter them into the log under those names.

import type { Item, MessageItem, Part } from '../protocol/item.ts';
import { textOfParts } from '../protocol/item.ts';
import { markerOf } from '../protocol/marker.ts';

/** Types that the harness writes, never a model. */
const OF_THE_HARNESS: ReadonlySet<unknown> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'ghost_snapshot',
  'attachment',
  'progress',
  'compact_boundary',
]);

/** Facts about an item that only Baton records. */
const NOTED_BY_BATON: ReadonlySet<string> = new Set([
  'origin',
  'isCompactSummary',
  'isVisibleInTranscriptOnly',
  'isApiErrorMessage',
  'isToolOutput',
  'model',
  'shadow',
]);

/**
 * A received item as it may be recorded: a message is the assistant's, whatever role it came with, and carries no other
 * claim about its author.
 * @returns undefined for an item that a model must not send
 */
export function receivedItem(item: Item): Item | undefined {
  if (OF_THE_HARNESS.has(item.type)) return undefined;
  // A malformed message or result would be sent back unchanged, in the role that it claims.
  if (item.type === 'unknown') {
    const { type } = item.raw;
    return type === 'message' || OF_THE_HARNESS.has(type) ? undefined : item;
  }
  const isMarked = Object.keys(item).some((field) => NOTED_BY_BATON.has(field));
  const plain = isMarked
    ? (Object.fromEntries(
        Object.entries(item).filter(([field]) => !NOTED_BY_BATON.has(field)),
      ) as unknown as Item)
    : item;
  return plain.type === 'message' ? asAnswer(plain) : plain;
}

function asAnswer(message: MessageItem): MessageItem {
  const answer: MessageItem =
    message.role === 'assistant'
      ? message
      : { ...message, role: 'assistant', content: message.content.map(asOutput) };
  // Logs without origins rely on markers, and this one would attribute the words to Baton.
  const isForged = markerOf(textOfParts(answer.content.slice(0, 1))) !== undefined;
  return isForged ? { ...answer, origin: { author: 'agent' } } : answer;
}

function asOutput(part: Part): Part {
  return part.type === 'input_text' ? { ...part, type: 'output_text' } : part;
}
