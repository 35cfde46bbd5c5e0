// Limits the time of work on untrusted text: V8 ends it at a deadline, even inside a regular expression or a loop.

import { Script } from 'node:vm';
import type { WithinDeadline } from '../ports.ts';

/**
 * Time limit in milliseconds for one step over the trail: reading the waiting records, or writing a summary.
 * @source docs/decisions/stopping.md: ten times the slowest step over the real sessions
 */
export const TRAIL_DEADLINE_MS = 10_000;

/** Where the script finds the work: a timeout of `node:vm` covers everything that its script calls. */
const WORK = Symbol.for('baton.work');

const script = new Script("globalThis[Symbol.for('baton.work')]()");

/** Ends work after a number of milliseconds, at least 1. Work may nest; its errors pass through. */
export function deadlineOf(timeout: number): WithinDeadline {
  return (work) => {
    const scope = globalThis as { [WORK]?: unknown };
    const outer = scope[WORK];
    scope[WORK] = work;
    try {
      return { value: script.runInThisContext({ timeout }) as ReturnType<typeof work> };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
      throw error;
    } finally {
      scope[WORK] = outer;
    }
  };
}

/** Ends work after `TRAIL_DEADLINE_MS`. */
export const withinDeadline: WithinDeadline = deadlineOf(TRAIL_DEADLINE_MS);
