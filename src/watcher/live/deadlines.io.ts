// The deadlines of a watcher: real time, counted from the last activity, up to a cap.

import type { WatcherDeadline } from '../policy.ts';
import type { ArmDeadline } from '../effects.ts';
import type { TimeLeft } from './agent.ts';

interface Armed {
  readonly which: WatcherDeadline;
  readonly ms: number;
  readonly startedMs: number;
  readonly capMs: number;
  timer: NodeJS.Timeout;
}

/** Reports when a number has been awaited for too long. */
export class Deadlines {
  readonly #expire: (which: WatcherDeadline, number: number) => void;
  readonly #armed = new Map<number, Armed>();
  #activeMs = -Infinity;

  constructor(expire: (which: WatcherDeadline, number: number) => void) {
    this.#expire = expire;
  }

  arm({ which, number, ms, capMs }: Omit<ArmDeadline, 'type'>): void {
    const startedMs = performance.now();
    this.#drop(number);
    this.#armed.set(number, { which, ms, startedMs, capMs, timer: this.#wait(number, ms) });
  }

  /** The remaining wait for a number; undefined if it is not awaited. */
  left(number: number | undefined): TimeLeft | undefined {
    const armed = number === undefined ? undefined : this.#armed.get(number);
    if (armed === undefined) return undefined;
    const now = performance.now();
    const atMostMs = Math.max(0, armed.startedMs + armed.capMs - now);
    const quietMs = Math.max(0, Math.max(this.#activeMs, armed.startedMs) + armed.ms - now);
    return { quietMs: Math.round(Math.min(quietMs, atMostMs)), atMostMs: Math.round(atMostMs) };
  }

  /** The stream has moved. */
  active(): void {
    this.#activeMs = performance.now();
  }

  /** Drops every other deadline. */
  keepOnly(number: number | undefined): void {
    for (const armed of this.#armed.keys()) if (armed !== number) this.#drop(armed);
  }

  clear(): void {
    this.keepOnly(undefined);
  }

  #wait(number: number, ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#ring(number), ms);
  }

  #ring(number: number): void {
    const armed = this.#armed.get(number);
    if (armed === undefined) return;
    const { which, ms, startedMs, capMs } = armed;
    const now = performance.now();
    const dueMs = Math.min(Math.max(this.#activeMs, startedMs) + ms, startedMs + capMs);
    // A timer may fire a millisecond early.
    if (dueMs - now > 1) {
      armed.timer = this.#wait(number, dueMs - now);
      return;
    }
    this.#armed.delete(number);
    this.#expire(which, number);
  }

  #drop(number: number): void {
    clearTimeout(this.#armed.get(number)?.timer);
    this.#armed.delete(number);
  }
}
