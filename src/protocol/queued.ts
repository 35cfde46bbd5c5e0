// Messages of the user that wait, as clients are shown them.

/**
 * Characters of a waiting message that an event shows: with each change all of them are shown again.
 * @source docs/decisions/ops.md, "The queue has an end"
 */
export const LONGEST_SHOWN_TEXT = 500;

/** A message of the user, with the id by which it was submitted. */
interface QueuedMessage {
  readonly id: string;
  readonly text: string;
}

/** A waiting message as it is shown: a text that is too long is cut and ends with an ellipsis. */
export function shownMessage({ id, text }: QueuedMessage): QueuedMessage {
  if (text.length <= LONGEST_SHOWN_TEXT) return { id, text };
  const cut = text.slice(0, LONGEST_SHOWN_TEXT - 1);
  return { id, text: `${cut.replace(/[\uD800-\uDBFF]$/, '')}…` };
}
