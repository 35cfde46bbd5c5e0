// A trail that is built only on request. Most turns end without one, and feeding it every record would take longer in a short
// run than everything else done with a record.

import type { WithinDeadline } from '../ports.ts';
import type { LogRecord } from '../protocol/record.ts';
import { TrailCollector } from './collect.ts';
import type { Trail } from './trail.ts';

/**
 * How many records may wait, so that a request never takes long: reading them takes a few milliseconds.
 * @source measured, docs/decisions/exec.md
 */
const MOST_WAITING = 64;

/** Behaves like `TrailCollector` and ends with the same trail. */
export class LazyTrail {
  readonly #within: WithinDeadline;
  #collector = new TrailCollector();
  #waiting: LogRecord[] = [];

  /** @param within stops reading that takes too long; the trail is then lost. Without it, nothing does */
  constructor(within: WithinDeadline = (work) => ({ value: work() })) {
    this.#within = within;
  }

  add(record: LogRecord): void {
    this.#waiting.push(record);
    if (this.#waiting.length >= MOST_WAITING) this.#read();
  }

  trail(): Trail {
    this.#read();
    return this.#within(() => this.#collector.trail())?.value ?? this.#lose().trail();
  }

  #read(): void {
    const records = this.#waiting;
    if (records.length === 0) return;
    this.#waiting = [];
    const read = this.#within(() => records.forEach((record) => this.#collector.add(record)));
    if (read !== undefined) return;
    this.#lose();
    for (const record of records) this.#collector.add(record);
  }

  #lose(): TrailCollector {
    this.#collector = this.#collector.lost();
    return this.#collector;
  }
}
