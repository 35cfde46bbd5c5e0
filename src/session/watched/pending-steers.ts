// Messages into a running turn: noted when they are submitted, delivered when they are items. What a crash leaves between
// the two is submitted again.

import type { LogRecord } from '../../protocol/record.ts';

/** The kind of the notes that hold submitted messages. */
export const STEERED_NOTE = 'steered';

/** A message that has no place in the history yet. */
export interface SteeredMessage {
  readonly id: string;
  readonly text: string;
}

/** Follows the messages that were submitted into turns. */
export class SteerFold {
  readonly #open = new Map<string, SteeredMessage>();

  add(record: LogRecord): void {
    if (record.type === 'item' && record.item.id !== undefined) this.#open.delete(record.item.id);
    if (record.type !== 'note' || record.kind !== STEERED_NOTE) return;
    const { id, text } = record.value;
    if (typeof id === 'string' && typeof text === 'string') this.#open.set(id, { id, text });
  }

  /** Oldest first. */
  get open(): readonly SteeredMessage[] {
    return [...this.#open.values()];
  }
}
