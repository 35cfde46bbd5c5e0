// Known secrets in items that stay as they are: counted for who decides, and replaced for who asks.

import type { Item, Part } from '../../protocol/item.ts';
import { textOfParts } from '../../protocol/item.ts';
import { countRedactions, redact } from '../../text/redact.ts';

/** An item with the known secrets in its text replaced; calls, reasoning and images stay as they are. */
export function withoutKnownSecrets(item: Item): Item {
  switch (item.type) {
    case 'message':
      return { ...item, content: item.content.map(redactPart) };
    case 'attachment':
      return { ...item, text: redact(item.text) };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return {
        ...item,
        output: typeof item.output === 'string' ? redact(item.output) : item.output.map(redactPart),
      };
    default:
      return item;
  }
}

function redactPart(part: Part): Part {
  return part.type === 'input_text' || part.type === 'output_text'
    ? { ...part, text: redact(part.text) }
    : part;
}

/** Known secrets that stand in messages and attachments; those in summaries were replaced when they were written. */
export function countKnownSecrets(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + marksIn(withoutKnownSecrets(item)) - marksIn(item), 0);
}

/** Secrets that were replaced in messages and attachments before. */
export function countReplacedSecrets(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + marksIn(item), 0);
}

function marksIn(item: Item): number {
  if (item.type === 'message' && item.isCompactSummary === true) return 0;
  const text =
    item.type === 'message' ? textOfParts(item.content) : item.type === 'attachment' ? item.text : '';
  return Object.values(countRedactions(text)).reduce((sum, count) => sum + count, 0);
}
