// Calls that await their results, and commands that are still running.

import type { CallMeaning } from './calls/calls.ts';
import type { LogMoment } from './ledgers/files.ts';
import type { Quotable } from '../text/identifiers/identifiers.ts';

const MAX_DUE_CALLS = 200;
const MAX_RUNNING = 20;

/** A call between its start and its result. */
export interface DueCall {
  readonly meaning: CallMeaning;
  readonly name: string;
  /** The subject of a call that neither a command nor a file describes: a pattern, a question, an address. */
  readonly about: string;
  /** Set if the call may be quoted; its outcome is then quoted too. */
  readonly quotable: Quotable | undefined;
  readonly moment: LogMoment;
}

/** Remembers calls; the limits above bound its memory. */
export class DueCalls {
  readonly #due = new Map<string, DueCall>();
  /** Running commands, by the id that later writes use for them. */
  readonly #running = new Map<string, DueCall>();

  add(callId: string, call: DueCall): void {
    this.#due.set(callId, call);
    if (this.#due.size <= MAX_DUE_CALLS) return;
    for (const oldest of this.#due.keys()) {
      this.#due.delete(oldest);
      break;
    }
  }

  of(callId: string): DueCall | undefined {
    return this.#due.get(callId);
  }

  /** Removes and returns a call whose result has arrived. */
  take(callId: string): DueCall | undefined {
    const due = this.#due.get(callId);
    this.#due.delete(callId);
    return due;
  }

  /** The calls without a result, oldest first. */
  all(): readonly DueCall[] {
    return [...this.#due.values()];
  }

  /** Records that a command yielded control before it ended. */
  noteRunning(processId: string, call: DueCall): void {
    this.#running.set(processId, call);
    if (this.#running.size > MAX_RUNNING) this.#running.clear();
  }

  /** The running command with this id. */
  running(processId: string | undefined): DueCall | undefined {
    return processId === undefined ? undefined : this.#running.get(processId);
  }
}
