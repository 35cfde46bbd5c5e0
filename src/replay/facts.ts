// What has to be known of a recording before it can be played: the agent knew it, the log says it late or never.

import type { LogRecord } from '../protocol/record.ts';

/** Facts about a whole session. */
export interface SessionFacts {
  /** The log records where turns end. */
  readonly tellsTurns: boolean;
  readonly reportsUsage: boolean;
  /** The largest usage reported with each model, which tells variants of one name apart; the key is '' where unnamed. */
  readonly largestUsage: ReadonlyMap<string, number>;
  readonly hasTimes: boolean;
}

/** Gathers the facts, one record at a time. */
export class FactsFold {
  readonly #largestUsage = new Map<string, number>();
  #model = '';
  #tellsTurns = false;
  #reportsUsage = false;
  #hasTimes = false;

  add(record: LogRecord): void {
    if (record.at !== undefined) this.#hasTimes = true;
    if (record.type === 'turn_complete') this.#tellsTurns = true;
    else if (record.type === 'settings') this.#model = record.model ?? this.#model;
    else if (record.type === 'usage' && record.usage.source === 'reported') {
      this.#reportsUsage = true;
      const largest = Math.max(this.#largestUsage.get(this.#model) ?? 0, record.usage.total);
      this.#largestUsage.set(this.#model, largest);
    }
  }

  facts(): SessionFacts {
    return {
      tellsTurns: this.#tellsTurns,
      reportsUsage: this.#reportsUsage,
      largestUsage: this.#largestUsage,
      hasTimes: this.#hasTimes,
    };
  }
}
