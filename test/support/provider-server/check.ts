// Checks of JSON as strict APIs make them: what is not known is wrong.

import type { Json, JsonObject } from '../../../src/protocol/item.ts';

/** A request that the provider does not take. */
export class Invalid extends Error {
  override readonly name = 'Invalid';
  /** Where, e.g. `messages.3.content.0`. */
  readonly path: string;

  constructor(path: string, message: string) {
    super(message);
    this.path = path;
  }
}

type Value = Json | undefined;
/** Says what is wrong with a value, by throwing `Invalid`. */
export type Check = (value: Value, path: string) => void;

/** The object at a path. */
export function asObject(value: Value, path: string): JsonObject {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new Invalid(path, `${path}: must be an object`);
}

/** The elements at a path. */
export function asArray(value: Value, path: string): readonly Json[] {
  if (Array.isArray(value)) return value as readonly Json[];
  throw new Invalid(path, `${path}: must be an array`);
}

/** An object with these fields and no others; a `?` at the end of a name makes it optional. */
export function fields(shape: Readonly<Record<string, Check>>): Check {
  const known = new Map(Object.entries(shape).map(([name, check]) => [name.replace(/\?$/, ''), check]));
  const required = Object.keys(shape).filter((name) => !name.endsWith('?'));
  return (value, path) => {
    const object = asObject(value, path);
    const at = (key: string): string => (path === '' ? key : `${path}.${key}`);
    for (const key of Object.keys(object)) {
      if (!known.has(key)) throw new Invalid(at(key), `${at(key)}: Extra inputs are not permitted`);
    }
    for (const key of required) {
      if (object[key] === undefined) throw new Invalid(at(key), `${at(key)}: Field required`);
    }
    for (const [key, check] of known) if (object[key] !== undefined) check(object[key], at(key));
  };
}

/** A text, of a pattern where one is given. */
export function text(pattern?: RegExp): Check {
  return (value, path) => {
    if (typeof value !== 'string') throw new Invalid(path, `${path}: must be a string`);
    if (pattern !== undefined && !pattern.test(value)) {
      throw new Invalid(path, `${path}: String should match pattern '${pattern.source}'`);
    }
  };
}

/** One of some values. */
export function oneOf(...values: readonly Json[]): Check {
  return (value, path) => {
    if (!values.includes(value ?? null))
      throw new Invalid(path, `${path}: must be one of ${values.join(', ')}`);
  };
}

/** A whole number from `least` on. */
export function count(least: number): Check {
  return (value, path) => {
    if (!Number.isInteger(value) || Number(value) < least) {
      throw new Invalid(path, `${path}: must be a whole number of at least ${least}`);
    }
  };
}

/** A list, each element by a check. */
export function listOf(check: Check, least = 0): Check {
  return (value, path) => {
    const list = asArray(value, path);
    if (list.length < least) throw new Invalid(path, `${path}: at least ${least} needed`);
    list.forEach((each, index) => check(each, `${path}.${index}`));
  };
}

/** The check that the `type` of an object names. */
export function byType(checks: Readonly<Record<string, Check>>): Check {
  return (value, path) => {
    const type = asObject(value, path)['type'];
    const check = typeof type === 'string' ? checks[type] : undefined;
    if (check === undefined) {
      throw new Invalid(
        `${path}.type`,
        `${path}: type ${String(type)} is none of ${Object.keys(checks).join(', ')}`,
      );
    }
    check(value, path);
  };
}

/** A text, or else what another check takes. */
export function textOr(check: Check): Check {
  return (value, path) => {
    if (typeof value !== 'string') check(value, path);
  };
}

export const anyText = text();
export const boolean = oneOf(true, false);
export const object: Check = (value, path) => void asObject(value, path);
