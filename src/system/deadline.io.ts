// Work over foreign text that must not keep its thread: V8 ends it at a deadline, inside a regular expression and a loop alike.

import { Script } from 'node:vm';
import type { WithinDeadline } from '../ports.ts';

/**
 * Milliseconds that one step over the trail may take: reading the records that wait, writing a summary.
 * @source docs/decisions/stopping.md: ten times the slowest step over the real sessions
 */
export const TRAIL_DEADLINE_MS = 10_000;

/** Where the script finds the work: a timeout of `node:vm` covers whatever its script calls. */
const WORK = Symbol.for('baton.work');

const script = new Script("globalThis[Symbol.for('baton.work')]()");

/** Ends work after so many milliseconds, at least 1. Work may itself run work; what it throws passes. */
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
