// Detects repeated steps of a turn: the same calls with the same results, alone or in a small cycle. Pure.

import { callOf, textOfParts } from '../protocol/item.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';

/** As many past steps as detecting a repetition needs. */
export interface Repeats {
  /** Fingerprints of the newest steps, newest last. */
  readonly newest: readonly string[];
  /** By length of the cycle from 1 on: consecutive steps that equal the step one cycle earlier. */
  readonly runs: readonly number[];
}

/** Longest detected cycle, in steps. */
const LONGEST_CIRCLE = 3;

/**
 * The repetition from which the model is warned, counting the first time.
 * @source docs/decisions/limits.md: no recorded session does the same more than twice in a row
 */
const REPORTED_FROM = 3;

/** A turn at its start. */
export const NO_REPEATS: Repeats = { newest: [], runs: [] };

/** Adds one more step. */
export function addStep({ newest, runs }: Repeats, fingerprint: string): Repeats {
  const circles = Array.from({ length: LONGEST_CIRCLE }, (_, index) => index + 1);
  return {
    newest: [...newest, fingerprint].slice(-LONGEST_CIRCLE),
    runs: circles.map((circle) => (newest.at(-circle) === fingerprint ? (runs[circle - 1] ?? 0) + 1 : 0)),
  };
}

/** How often the newest cycle of steps ran in a row, at least 1. */
export function timesRepeated({ runs }: Repeats): number {
  return Math.max(1, ...runs.map((run, index) => Math.floor(run / (index + 1)) + 1));
}

/** The note for the model after a repeated result; undefined if none is needed. */
export function repeatNote(times: number): string | undefined {
  if (times < REPORTED_FROM) return undefined;
  return `[Baton: the same calls gave the same results ${times} times in a row. Do something else, or end the turn and say what is in the way.]`;
}

/** A result followed by a sentence of Baton's. */
export function withNote(result: ToolOutputItem, note: string): ToolOutputItem {
  const output =
    typeof result.output === 'string'
      ? `${result.output}\n\n${note}`
      : [...result.output, { type: 'input_text', text: note } as const];
  return { ...result, output };
}

/** The duration of a command differs from run to run. @source the result of the tool `shell` */
const WALL_TIME = /^Wall time: [\d.]+ seconds$/m;

/** Identifies a step by its calls and results. @param results in any order */
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

/**
 * 64 bits of a text. An author of two texts with the same digest can only end a turn early. @source FNV-1a, with two
 * offsets
 */
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
