// What the lines of a Codex rollout are called, and safe looks into values whose shape nobody promised.

import type { Json, JsonObject } from '../../protocol/item.ts';

/**
 * What Codex puts before a summary that it wrote itself, and by which it recognises a summary later on: a user message
 * that starts with this and a line feed is dropped at the next compaction. @source codex-behaviour §4.2.
 */
export const CODEX_SUMMARY_PREFIX =
  'Another language model started to solve this problem and produced a summary of its thinking process. You also have access to the state of the tools that were used by that language model. Use this to build on the work that has already been done and avoid duplicating work. Here is the summary produced by the other language model, use the information in this summary to assist with your own analysis:';

/** Approximate tokens of user messages that a local compaction keeps. @source codex-behaviour §4.2. */
export const KEPT_USER_MESSAGE_TOKENS = 20_000;

/** The `originator` of rollouts that Baton wrote. */
export const BATON_ORIGINATOR = 'baton';

/** A JSON object, as opposed to an array, null or a scalar. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The list at `key`, or undefined. */
export function listAt(object: JsonObject, key: string): readonly Json[] | undefined {
  const value = object[key];
  // Array.isArray does not narrow readonly arrays.
  return Array.isArray(value) ? (value as readonly Json[]) : undefined;
}

/** The string at `key`, or undefined. */
export function stringAt(object: JsonObject, key: string): string | undefined {
  const value = object[key];
  return typeof value === 'string' ? value : undefined;
}

/** The finite number at `key`, or undefined. */
export function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** The object at `key`, or undefined. */
export function objectAt(object: JsonObject, key: string): JsonObject | undefined {
  const value = object[key];
  return isObject(value) ? value : undefined;
}

/** A copy without the keys whose value is undefined: what JSON would keep. */
export function withoutUndefined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
