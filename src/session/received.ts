// What of an answer is taken for the model's. Results of tools, the words of the user and instructions are written by others, so
// a model or its server that sends them does not get them into the log under those names.

import type { Item, MessageItem, Part } from '../protocol/item.ts';
import { textOfParts } from '../protocol/item.ts';
import { markerOf } from '../protocol/marker.ts';

/** Types that no model writes: the harness does. */
const OF_THE_HARNESS: ReadonlySet<unknown> = new Set([
  'function_call_output',
  'custom_tool_call_output',
  'ghost_snapshot',
  'attachment',
  'progress',
  'compact_boundary',
]);

/** Facts about an item that Baton alone notes down. */
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
 * An item of an answer as it may be recorded: a message is the assistant's, whatever role it came with, and nothing in it says
 * more of its author.
 * @returns undefined for an item that a model has no business to send
 */
export function receivedItem(item: Item): Item | undefined {
  if (OF_THE_HARNESS.has(item.type)) return undefined;
  // A message or a result of a wrong shape would be sent back as it came, in the role that it gives itself.
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
  // A log without origins is read by markers, and this one would make the words Baton's.
  const isForged = markerOf(textOfParts(answer.content.slice(0, 1))) !== undefined;
  return isForged ? { ...answer, origin: { author: 'agent' } } : answer;
}

function asOutput(part: Part): Part {
  return part.type === 'input_text' ? { ...part, type: 'output_text' } : part;
}
