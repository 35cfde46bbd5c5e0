// A trail that is put together when somebody asks for it: most turns end without, and reading each record for it takes more of a
// short run than everything else that is done with a record.

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
  readonly #collector = new TrailCollector();
  #waiting: LogRecord[] = [];

  add(record: LogRecord): void {
    this.#waiting.push(record);
    if (this.#waiting.length >= MOST_WAITING) this.#read();
  }

  trail(): Trail {
    this.#read();
    return this.#collector.trail();
  }

  #read(): void {
    for (const record of this.#waiting) this.#collector.add(record);
    this.#waiting = [];
  }
}
