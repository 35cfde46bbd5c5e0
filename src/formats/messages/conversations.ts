// Files with several conversations: runs of a benchmark, requests of a log. A context contains one of them.

import type { LogRecord } from '../../protocol/record.ts';
import type { Emit } from '../reader.ts';

/**
 * Passes on the records of the last conversation unchanged, and the items of earlier ones as side items. Records before the
 * first `open` are passed on at once.
 */
export class Conversations {
  readonly #emit: Emit;
  #held: LogRecord[] | undefined;

  constructor(emit: Emit) {
    this.#emit = emit;
  }

  readonly add: Emit = (record) => {
    if (this.#held === undefined) this.#emit(record);
    else this.#held.push(record);
  };

  /** Starts another conversation. */
  open(): void {
    for (const record of this.#held ?? []) this.#emit(asSide(record));
    this.#held = [];
  }

  /** Nothing follows. */
  end(): void {
    for (const record of this.#held ?? []) this.#emit(record);
    this.#held = undefined;
  }
}

function asSide(record: LogRecord): LogRecord {
  const { line, at } = record;
  const place = { ...(line === undefined ? {} : { line }), ...(at === undefined ? {} : { at }) };
  switch (record.type) {
    case 'item':
      return { type: 'side_item', item: record.item, why: 'other_conversation', ...place };
    case 'side_item':
    case 'opaque':
      return record;
    default:
      return { type: 'opaque', kind: `other_conversation/${record.type}`, ...place };
  }
}
