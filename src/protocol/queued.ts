// Waiting user messages, as clients display them.

/**
 * Longest excerpt of a waiting message in an event, in characters: each change shows all waiting messages again.
 * @source docs/decisions/ops.md, "The queue has an end"
 */
export const LONGEST_SHOWN_TEXT = 500;

/** A user message with its submission id. */
interface QueuedMessage {
  readonly id: string;
  readonly text: string;
}

/** A waiting message for display: Baton cuts an overlong text and ends it with an ellipsis. */
export function shownMessage({ id, text }: QueuedMessage): QueuedMessage {
  if (text.length <= LONGEST_SHOWN_TEXT) return { id, text };
  const cut = text.slice(0, LONGEST_SHOWN_TEXT - 1);
  return { id, text: `${cut.replace(/[\uD800-\uDBFF]$/, '')}…` };
}
