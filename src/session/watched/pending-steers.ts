// Messages into a running turn: noted on submission, delivered as items. Messages that a crash leaves in between are
// submitted again.

import type { LogRecord } from '../../protocol/record.ts';

/** The kind of the notes that hold submitted messages. */
export const STEERED_NOTE = 'steered';

/** A message that is not in the history yet. */
export interface SteeredMessage {
  readonly id: string;
  readonly text: string;
}

/** Tracks the messages that were submitted into turns. */
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
