// The ids of the user's messages in the log of a thread.

import { BatonError } from '../../errors.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { STEERED_NOTE } from './pending-steers.ts';

/** Follows the records of a thread, starting with those of earlier processes. */
export class UsedIds {
  readonly #ids = new Set<string>();
  /** The id of the message that each of the user's turns began with. */
  readonly #begun = new Map<string, string>();

  add(record: LogRecord): void {
    if (record.type === 'turn_started' && record.origin?.type === 'user') {
      const { messageId } = record.origin;
      this.#note(messageId);
      if (messageId !== undefined) this.#begun.set(record.turnId ?? '', messageId);
    }
    // A rehearsal plays an undone turn again, with the id of its place in the recording.
    if (record.type === 'undo_turn') this.#ids.delete(this.#begun.get(record.turnId) ?? '');
    if (record.type === 'note' && record.kind === STEERED_NOTE) this.#note(record.value['id']);
  }

  #note(id: unknown): void {
    if (typeof id === 'string') this.#ids.add(id);
  }

  /**
   * Checks that the log and the queue hold no message with this id: a restart tells delivered messages from waiting ones by their ids.
   * @throws BatonError `op_invalid`
   */
  requireNew(id: string, waiting: readonly { readonly id: string }[]): void {
    if (!this.#ids.has(id) && !waiting.some((message) => message.id === id)) return;
    throw new BatonError('op_invalid', `The thread already has a message with the id ${JSON.stringify(id)}`, {
      cure: 'This message was not taken: send it with an id of its own, or without one.',
      data: { key: 'id' },
    });
  }
}
