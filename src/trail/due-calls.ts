// Calls whose results are due, and commands that run on.

import type { CallMeaning } from './calls/calls.ts';
import type { LogMoment } from './ledgers/files.ts';
import type { Quotable } from '../text/identifiers/identifiers.ts';

const MAX_DUE_CALLS = 200;
const MAX_RUNNING = 20;

/** A call between its start and its result. */
export interface DueCall {
  readonly meaning: CallMeaning;
  readonly name: string;
  /** What the call was about, where neither a command nor a file tells: a pattern, a question, an address. */
  readonly about: string;
  /** Where the call is quoted its outcome is told with it. */
  readonly quotable: Quotable | undefined;
  readonly moment: LogMoment;
}

/** Remembers calls; memory is bounded by the limits above. */
export class DueCalls {
  readonly #due = new Map<string, DueCall>();
  /** Commands that run on, by the id that later writes name them with. */
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

  /** The call, whose result is there. */
  take(callId: string): DueCall | undefined {
    const due = this.#due.get(callId);
    this.#due.delete(callId);
    return due;
  }

  /** The calls without a result, oldest first. */
  all(): readonly DueCall[] {
    return [...this.#due.values()];
  }

  /** A command gave back control before it ended. */
  noteRunning(processId: string, call: DueCall): void {
    this.#running.set(processId, call);
    if (this.#running.size > MAX_RUNNING) this.#running.clear();
  }

  /** The command that runs on under an id. */
  running(processId: string | undefined): DueCall | undefined {
    return processId === undefined ? undefined : this.#running.get(processId);
  }
}
