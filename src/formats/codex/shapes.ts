// Names in the lines of a Codex rollout, and safe access to values of no guaranteed shape.

import type { Json, JsonObject } from '../../protocol/item.ts';

/** Approximate tokens of user messages that a local compaction keeps. @source codex-behaviour §4.2. */
export const KEPT_USER_MESSAGE_TOKENS = 20_000;

/** The `originator` of rollouts that Baton wrote. */
export const BATON_ORIGINATOR = 'baton';

/** The list at `key`, or undefined. */
export function listAt(object: JsonObject, key: string): readonly Json[] | undefined {
  const value = object[key];
  // Array.isArray does not narrow readonly arrays.
  return Array.isArray(value) ? (value as readonly Json[]) : undefined;
}

/** The finite number at `key`, or undefined. */
export function numberAt(object: JsonObject, key: string): number | undefined {
  const value = object[key];
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

/** A copy without the keys whose value is undefined: what JSON would keep. */
export function withoutUndefined<T extends object>(object: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]: Exclude<T[K], undefined>;
  };
}
