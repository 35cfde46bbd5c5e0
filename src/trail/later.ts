// A trail that is put together when somebody asks for it: most turns end without, and reading each record for it takes more of a
// short run than everything else that is done with a record.

import type { WithinDeadline } from '../ports.ts';
import type { LogRecord } from '../protocol/record.ts';
import { TrailCollector } from './collect.ts';
import type { Trail } from './trail.ts';

/**
 * Records that may wait, so that whoever asks never waits for long: reading them takes some milliseconds.
 * @source measured, docs/decisions/exec.md
 */
const MOST_WAITING = 64;

/** As `TrailCollector`, with the same trail in the end. */
export class LaterTrail {
  readonly #within: WithinDeadline;
  #collector = new TrailCollector();
  #waiting: LogRecord[] = [];

  /** @param within ends reading that takes too long, and the trail with it: it is lost. Absent: nothing does */
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
