// Turns that were taken back: which records of a log were their work. The log keeps them; what the thread stands for does not.

import type { LogRecord } from '../protocol/record.ts';
import { isUserTurn } from './project.ts';

/** Half-open, by the number of records before. */
interface RecordSpan {
  readonly from: number;
  readonly to: number;
}

/**
 * Finds what turns that were taken back did, in one pass over a log. Only behind the whole log is it known of a record, so it is
 * asked in a second pass. Memory grows with the turns of the user alone.
 */
export class UndoneTurns {
  readonly #begun: { readonly turnId: string; readonly at: number }[] = [];
  /** In order, none touching another. */
  readonly #spans: RecordSpan[] = [];
  #count = 0;

  /** Takes the next record of the log in. */
  add(record: LogRecord): void {
    if (isUserTurn(record)) this.#begun.push({ turnId: record.turnId, at: this.#count });
    const begun = this.#begun.at(-1);
    this.#count++;
    if (record.type !== 'undo_turn' || begun?.turnId !== record.turnId) return;
    this.#begun.pop();
    while ((this.#spans.at(-1)?.from ?? -1) >= begun.at) this.#spans.pop();
    this.#spans.push({ from: begun.at, to: this.#count });
  }

  /** Whether any turn was taken back. */
  get isAny(): boolean {
    return this.#spans.length > 0;
  }

  /** Says of the records of the log, given once more from the first on, whether each of them stands. */
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
 * What a turn that was taken back leaves nothing of, its undo included. Notes stay, since the user pinned and decided whatever
 * became of a turn; so do settings, compactions, which were taken back before it, and what was cleared of older results.
 */
const WORK: ReadonlySet<LogRecord['type']> = new Set([
  'item',
  'usage',
  'turn_started',
  'turn_complete',
  'turn_aborted',
  'undo_turn',
]);

/** The records of a thread without the work of turns that were taken back: what the thread still stands for. */
export function withoutUndoneTurns(records: readonly LogRecord[]): readonly LogRecord[] {
  const undone = new UndoneTurns();
  for (const record of records) undone.add(record);
  return undone.isAny ? records.filter(undone.standing()) : records;
}
