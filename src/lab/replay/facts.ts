// What must be known about a recording before playing it: the agent knew it, but the log records it late or never.

import type { Item } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';

/** Facts about a whole session. */
export interface SessionFacts {
  /** The log records where turns end. */
  readonly recordsTurns: boolean;
  readonly reportsUsage: boolean;
  /**
   * The largest usage reported or compacted with each model, to distinguish variants of one name; the key is '' for an
   * unnamed model.
   */
  readonly largestUsage: ReadonlyMap<string, number>;
  readonly hasTimes: boolean;
  /** The log contains an undo of a compaction. */
  readonly hasUndo: boolean;
  /**
   * Tokens of every request that no item holds, such as system prompt and tools: what the first report after the start,
   * or after a compaction, exceeds its items by. The lower median of these: a file that starts in the middle of a
   * session shows too much at first, and kept items of unknown size too little later.
   */
  readonly overhead: number;
}

/** Gathers the facts, one record at a time. */
export class FactsFold {
  readonly #estimate: (item: Item) => number;
  readonly #estimateText: (text: string) => number;
  readonly #largestUsage = new Map<string, number>();
  #model = '';
  #recordsTurns = false;
  #reportsUsage = false;
  #hasTimes = false;
  #hasUndo = false;
  readonly #unexplained: number[] = [];
  #instructions = 0;
  /** Estimate of the items in the context; undefined once a report has measured them. */
  #unmeasured: number | undefined = 0;

  /** @param estimate tokens of an item */
  constructor(estimate: (item: Item) => number, estimateText: (text: string) => number) {
    this.#estimate = estimate;
    this.#estimateText = estimateText;
  }

  add(record: LogRecord): void {
    this.#measure(record);
    if (record.at !== undefined) this.#hasTimes = true;
    if (record.type === 'undo_compaction') this.#hasUndo = true;
    if (record.type === 'turn_complete') this.#recordsTurns = true;
    else if (record.type === 'settings') this.#model = record.model ?? this.#model;
    else if (record.type === 'compacted' || record.type === 'micro_compacted') this.#hold(record.preTokens);
    else if (record.type === 'usage' && record.usage.source === 'reported') {
      this.#reportsUsage = true;
      this.#hold(record.usage.total);
    }
  }

  #hold(tokens = 0): void {
    this.#largestUsage.set(this.#model, Math.max(this.#largestUsage.get(this.#model) ?? 0, tokens));
  }

  facts(): SessionFacts {
    return {
      recordsTurns: this.#recordsTurns,
      reportsUsage: this.#reportsUsage,
      largestUsage: this.#largestUsage,
      hasTimes: this.#hasTimes,
      hasUndo: this.#hasUndo,
      overhead: lowerMedian(this.#unexplained) ?? this.#instructions,
    };
  }

  #measure(record: LogRecord): void {
    if (record.type === 'session_meta' && record.instructions !== undefined) {
      this.#instructions = this.#estimateText(record.instructions);
    } else if (record.type === 'item' && this.#unmeasured !== undefined) {
      this.#unmeasured += this.#estimate(record.item);
    } else if (record.type === 'compacted') {
      this.#unmeasured = record.replacement.reduce((sum, item) => sum + this.#estimate(item), 0);
    } else if (record.type === 'undo_compaction' || record.type === 'micro_compacted') {
      this.#unmeasured = undefined;
    } else if (record.type === 'usage' && record.usage.source === 'reported') {
      if (this.#unmeasured === undefined) return;
      // Later reports of the same context accumulate the errors of more estimates.
      this.#unexplained.push(Math.max(0, record.usage.total - this.#unmeasured));
      this.#unmeasured = undefined;
    }
  }
}

function lowerMedian(values: readonly number[]): number | undefined {
  return values.toSorted((a, b) => a - b)[(values.length - 1) >> 1];
}
