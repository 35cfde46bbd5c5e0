// What the writers of all formats have in common.

import type { Step } from '../histories.ts';

/** Writes what an agent keeps of a session, value by value. */
export interface SessionWriter {
  /** What stands first. */
  head(): readonly object[];
  /** What a step adds; the values of a call may wait for its result. */
  step(step: Step): readonly object[];
  /** What is written when the window is full; nothing by those that never compact. */
  compaction(): readonly object[];
}

/** Instructions and tool schemas make the first lines of real files large. */
export const INSTRUCTIONS = 'Work in small steps and run the tests after each of them. '.repeat(200);

/** What a compaction leaves: 16 kB. */
export const SUMMARY = `This session is being continued. Summary of the work so far.\n${'The ledger was changed in small steps. '.repeat(400)}`;

/** A clock that goes a second each time it is looked at. */
export class Clock {
  #seconds = 0;

  /** ISO 8601. */
  now(): string {
    return new Date(this.nowMs()).toISOString();
  }

  /** Milliseconds since the epoch. */
  nowMs(): number {
    return Date.UTC(2026, 0, 1) + ++this.#seconds * 1000;
  }
}

/** As long as real ids: what a reader keeps of them counts. */
export function uuid(number: number): string {
  return `0b000000-0000-4000-8000-${number.toString(16).padStart(12, '0')}`;
}
