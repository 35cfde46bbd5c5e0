// Reads JSON of no guaranteed shape: each function returns undefined for another shape.

import type { Json, JsonObject } from '../protocol/item.ts';

/** Whether a value is a JSON object, and not an array. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object at `key`, or undefined. */
export function objectAt(value: JsonObject, key: string): JsonObject | undefined {
  const found = value[key];
  return isJsonObject(found) ? found : undefined;
}

/** The string at `key`, or undefined. */
export function stringAt(value: JsonObject, key: string): string | undefined {
  const found = value[key];
  return typeof found === 'string' ? found : undefined;
}

/** Longer texts are not dates. @source ISO 8601 takes at most 35 characters */
const LONGEST_DATE = 64;

/** The end of the years that a session can be from, 1970 to 9999, in milliseconds. @source RFC 3339, section 1 */
const LATEST_DATE_MS = Date.UTC(10_000, 0) - 1;

/**
 * The time of a record, as written: a text for a moment between 1970 and 9999, or milliseconds since 1970. Undefined otherwise:
 * arithmetic on other moments would leave the range of dates.
 */
export function timeOf(value: unknown): string | undefined {
  if (typeof value === 'number') return isMoment(value) ? new Date(value).toISOString() : undefined;
  if (typeof value !== 'string' || value.length > LONGEST_DATE) return undefined;
  return isMoment(Date.parse(value)) ? value : undefined;
}

function isMoment(ms: number): boolean {
  return ms >= 0 && ms <= LATEST_DATE_MS;
}

/** The number at `key` if it can be a count (finite, not negative), or undefined. */
export function countAt(value: JsonObject, key: string): number | undefined {
  const found = value[key];
  return typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : undefined;
}

/** The array at `key`; empty without one. */
export function arrayAt(value: JsonObject, key: string): readonly Json[] {
  const found = value[key];
  return Array.isArray(found) ? found : [];
}

/** The objects of the array at `key`. */
export function objectsAt(value: JsonObject, key: string): readonly JsonObject[] {
  return arrayAt(value, key).filter(isJsonObject);
}

/** The strings of the array at `key`. */
export function stringsAt(value: JsonObject, key: string): readonly string[] {
  return arrayAt(value, key).filter((each): each is string => typeof each === 'string');
}
