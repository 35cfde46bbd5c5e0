// Where a session is cut into past and future.

import { chanceFrom } from './chance.ts';
import type { SessionLog } from './log.ts';

/** A place between two steps. */
export interface Cut {
  /** How many steps belong to the past. */
  readonly step: number;
  /** Position of the first record that does not. */
  readonly record: number;
  /** `compaction`: the agent's context was really compacted here. `regular`: the agent continued with all it had. */
  readonly kind: 'compaction' | 'regular';
  /** The agent's own summary there. */
  readonly summary: string | undefined;
}

/** Less is not worth a compaction. @source the brief of `baton eval`: 8,000 tokens. */
const LEAST_PAST = 8_000;

/**
 * The cuts of a session in order: every compaction in it, and `regular` places spread evenly over its tokens after the
 * first 8,000, the grid shifted by chance. A place moves on to where no call waits for its result.
 */
export function chooseCuts(log: SessionLog, regular: number, seed: number): readonly Cut[] {
  const ends = cumulate(log);
  const cuts = new Map<number, Cut>();
  for (const { step, record, summary } of log.compactions) {
    if ((ends[step - 1] ?? 0) >= LEAST_PAST) cuts.set(step, { step, record, kind: 'compaction', summary });
  }
  const whole = ends.at(-1) ?? 0;
  const shift = chanceFrom(seed, 'cuts', log.steps.length)();
  const places = whole > LEAST_PAST ? regular : 0;
  for (let at = 0; at < places; at++) {
    const tokens = LEAST_PAST + ((whole - LEAST_PAST) * (at + shift)) / regular;
    const step = placeFor(log, ends.findIndex((end) => end >= tokens) + 1);
    const record = log.recordOfStep[step];
    if (record === undefined || cuts.has(step)) continue;
    cuts.set(step, { step, record, kind: 'regular', summary: undefined });
  }
  return [...cuts.values()].toSorted((a, b) => a.step - b.step);
}

/** Tokens of the past after each step, without the initial context. */
function cumulate({ steps }: SessionLog): readonly number[] {
  let sum = 0;
  return steps.map(({ kind, tokens }) => (sum += kind === 'initial' ? 0 : tokens));
}

function placeFor({ steps }: SessionLog, from: number): number {
  let step = from;
  while (steps[step]?.isInsidePair === true) step++;
  return step;
}
