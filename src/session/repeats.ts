// Steps of a turn that repeat themselves: the same calls with the same results, once or in a small circle. Pure.

import { callOf, textOfParts } from '../protocol/item.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';

/** Steps so far, as much as is needed to know a repetition. */
export interface Repeats {
  /** Fingerprints of the newest steps, newest last. */
  readonly newest: readonly string[];
  /** By length of the circle from 1 on: steps in a row that equal the one a circle before. */
  readonly runs: readonly number[];
}

/** Longest circle that is noticed, in steps. */
const LONGEST_CIRCLE = 3;

/**
 * Times from which on the model is told, this one included.
 * @source docs/decisions/limits.md: no recorded session does the same more than twice in a row
 */
const TOLD_FROM = 3;

/** A turn at its beginning. */
export const NO_REPEATS: Repeats = { newest: [], runs: [] };

/** With one more step. */
export function addStep({ newest, runs }: Repeats, fingerprint: string): Repeats {
  const circles = Array.from({ length: LONGEST_CIRCLE }, (_, index) => index + 1);
  return {
    newest: [...newest, fingerprint].slice(-LONGEST_CIRCLE),
    runs: circles.map((circle) => (newest.at(-circle) === fingerprint ? (runs[circle - 1] ?? 0) + 1 : 0)),
  };
}

/** How often the newest circle of steps was gone through in a row, at least 1. */
export function timesRepeated({ runs }: Repeats): number {
  return Math.max(1, ...runs.map((run, index) => Math.floor(run / (index + 1)) + 1));
}

/** What the model is told behind a result that it had before; undefined where it need not be. */
export function repeatNote(times: number): string | undefined {
  if (times < TOLD_FROM) return undefined;
  return `[Baton: the same calls gave the same results ${times} times in a row. Do something else, or end the turn and say what is in the way.]`;
}

/** A result with a sentence of Baton's behind it. */
export function withNote(result: ToolOutputItem, note: string): ToolOutputItem {
  const output =
    typeof result.output === 'string'
      ? `${result.output}\n\n${note}`
      : [...result.output, { type: 'input_text', text: note } as const];
  return { ...result, output };
}

/** The time that a command took differs from run to run. @source the result of the tool `shell` */
const WALL_TIME = /^Wall time: [\d.]+ seconds$/m;

/** By what a step is known again. @param results in any order */
export function fingerprintOf(items: readonly Item[], results: readonly ToolOutputItem[]): string {
  const outputs = new Map(results.map(({ call_id, output }) => [call_id, output]));
  const calls = items.flatMap((item) => {
    const call = callOf(item);
    if (call?.callId === undefined) return [];
    const output = outputs.get(call.callId);
    return [[call.name, call.input, typeof output === 'string' ? output.replace(WALL_TIME, '') : output]];
  });
  if (calls.length > 0) return digest(JSON.stringify(calls));
  return digest(
    JSON.stringify(items.flatMap((item) => (item.type === 'message' ? textOfParts(item.content) : []))),
  );
}

/** 64 bits of a text. Who makes two texts share them ends a turn early, and no more. @source FNV-1a, with two offsets */
function digest(text: string): string {
  let one = 0x811c9dc5;
  let other = 0x01000193;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    one = Math.imul(one ^ unit, 0x01000193);
    other = Math.imul(other ^ unit, 0x85ebca6b);
  }
  return `${text.length}:${one >>> 0}:${other >>> 0}`;
}
