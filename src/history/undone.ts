// Undone turns: which records of a log were their work. The log keeps them, but the thread's history does not.

import type { LogRecord } from '../protocol/record.ts';
import { isUserTurn } from './project.ts';

/** Half-open, by the number of preceding records. */
interface RecordSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds the work of undone turns, in one pass over a log. Only after the whole log is the fate of a record known, so it is
 * queried in a second pass. Memory grows with the user's turns alone.
 */
export class UndoneTurns {
  readonly #begun: { readonly turnId: string; readonly at: number }[] = [];
  /** In order, none touching another. */
  readonly #spans: RecordSpan[] = [];
  #count = 0;

  /** Takes in the next record of the log. */
  add(record: LogRecord): void {
    if (isUserTurn(record)) this.#begun.push({ turnId: record.turnId, at: this.#count });
    const begun = this.#begun.at(-1);
    this.#count++;
    if (record.type !== 'undo_turn' || begun?.turnId !== record.turnId) return;
    this.#begun.pop();
    while ((this.#spans.at(-1)?.from ?? -1) >= begun.at) this.#spans.pop();
    this.#spans.push({ from: begun.at, to: this.#count });
  }

  /** Whether any turn was undone. */
  get isAny(): boolean {
    return this.#spans.length > 0;
  }

  /** Returns a test for the records of the log, to be called again from the first on: whether each record still counts. */
  standing(): (record: LogRecord) => boolean {
    let count = 0;
    let next = 0;
    return (record) => {
      const span = this.#spans[next];
      const isUndone = span !== undefined && count >= span.from && WORK.has(record.type);
      count++;
      if (count === span?.to) next++;
      return !isUndone;
    };
  }
}

/**
 * Record types that an undone turn leaves nothing of, including its undo. Notes stay, because the user's pins and decisions
 * outlast a turn; so do settings, compactions, which were undone before it, and clearings of older results.
 */
const WORK: ReadonlySet<LogRecord['type']> = new Set([
  'item',
  'usage',
  'turn_started',
  'turn_complete',
  'turn_aborted',
  'undo_turn',
]);

/** The records of a thread without the work of undone turns. */
export function withoutUndoneTurns(records: readonly LogRecord[]): readonly LogRecord[] {
  const undone = new UndoneTurns();
  for (const record of records) undone.add(record);
  return undone.isAny ? records.filter(undone.standing()) : records;
}
