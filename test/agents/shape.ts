// Narrowing of parsed JSON.

import type { JsonObject } from '../../src/protocol/item.ts';

/** Whether a parsed value is a JSON object, and neither null nor a list. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The objects of a list; an empty list for anything that is no list. */
export function objectsOf(value: unknown): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
