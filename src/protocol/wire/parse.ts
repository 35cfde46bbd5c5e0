// Reads ops and events from outside the process. The only module that loads their schemas.

import type * as z from 'zod';
import { BatonError } from '../../errors.ts';
import { EventSchema } from './event.ts';
import type { SessionEvent } from './event.ts';
import type { JsonObject } from '../item.ts';
import { OpSchema } from './op.ts';
import type { Op } from './op.ts';
import { PROTOCOL_VERSION } from './version.ts';

/** An event of a type newer than this reader, kept unchanged. Forward or ignore it; do not fail. */
export interface UnknownEvent {
  readonly type: 'unknown';
  readonly raw: JsonObject & { readonly type: string };
}

/** What is wrong at one place of a message. */
export interface ProtocolProblem {
  /** Where, as in `items[0].text`; empty for the message as a whole. */
  readonly key: string;
  /** Read after the key: `must be a text, not a number`. */
  readonly what: string;
}

/**
 * Reads a client's op. An op that is not fully understood is rejected: with an unknown field it might do something
 * other than requested.
 * @param text one JSON object
 * @throws BatonError `op_invalid`, with every problem in `data.problems` (`ProtocolProblem[]`)
 */
export function parseOp(text: string): Op {
  return checkOp(valueOf(text, OP));
}

/**
 * `parseOp` for JSON that is already parsed.
 * @throws BatonError `op_invalid`
 */
export function checkOp(value: unknown): Op {
  const type = tagOf(value, OP);
  const variant = OP.variants.get(type);
  if (variant === undefined) {
    throw invalid(OP, [{ key: 'type', what: `is ${quote(type)}, which is not an op` }], {
      cure: `Known ops: ${[...OP.variants.keys()].join(', ')}.`,
    });
  }
  return checked(value, variant, OP) as Op;
}

/**
 * Reads an event of a thread. The thread may be newer than its reader: unknown fields are dropped, and an event of an
 * unknown type is returned as `UnknownEvent`.
 * @param text one JSON object
 * @throws BatonError `event_invalid`, with every problem in `data.problems` (`ProtocolProblem[]`); also for a thread
 * that speaks a later version of the protocol
 */
export function parseEvent(text: string): SessionEvent | UnknownEvent {
  return checkEvent(valueOf(text, EVENT));
}

/**
 * `parseEvent` for JSON that is already parsed, e.g. from a log.
 * @throws BatonError `event_invalid`
 */
export function checkEvent(value: unknown): SessionEvent | UnknownEvent {
  const type = tagOf(value, EVENT);
  const variant = EVENT.variants.get(type);
  if (variant === undefined) return { type: 'unknown', raw: value as UnknownEvent['raw'] };
  const event = checked(value, variant, EVENT) as SessionEvent;
  if (event.type === 'session_configured' && event.protocol_version > PROTOCOL_VERSION) {
    const what = `is ${event.protocol_version}, and this Baton reads up to ${PROTOCOL_VERSION}`;
    throw invalid(EVENT, [{ key: 'protocol_version', what }], { cure: 'Update Baton.' });
  }
  return event;
}

/** Ops or events. */
interface Direction {
  readonly code: 'op_invalid' | 'event_invalid';
  readonly name: 'op' | 'event';
  readonly variants: ReadonlyMap<string, Variant>;
}

type Variant = (typeof OpSchema.options | typeof EventSchema.options)[number];

const OP: Direction = { code: 'op_invalid', name: 'op', variants: byTag(OpSchema.options) };
const EVENT: Direction = { code: 'event_invalid', name: 'event', variants: byTag(EventSchema.options) };

function byTag(variants: readonly Variant[]): ReadonlyMap<string, Variant> {
  return new Map(variants.map((variant) => [variant.shape.type.value, variant]));
}

function valueOf(text: string, direction: Direction): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw invalid(direction, [{ key: '', what: `is not JSON (${clip(why)})` }], {
      cure: 'Send one JSON object, on one line.',
    });
  }
}

function tagOf(value: unknown, direction: Direction): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw invalid(direction, [{ key: '', what: `must be an object, not ${kindOf(value)}` }]);
  }
  const type: unknown = Object.hasOwn(value, 'type') ? (value as JsonObject)['type'] : undefined;
  if (typeof type === 'string') return type;
  const what = type === undefined ? 'is missing' : `must be a text, not ${kindOf(type)}`;
  throw invalid(direction, [{ key: 'type', what }]);
}

/** What to do about an expected field that is missing. @source docs/decisions/ops.md */
const CURES: ReadonlyMap<string, string> = new Map([
  ['set_settings.model_provider', 'The provider is part of model: PROVIDER/MODEL.'],
  ['set_settings.policy', 'Use approval_policy, and sandbox_mode beside it; see docs/protocol.md.'],
]);

function checked(value: unknown, variant: Variant, direction: Direction): unknown {
  const read = variant.safeParse(value);
  if (read.success) return read.data;
  const { issues } = read.error;
  const inParts = issues.filter(({ code }) => code !== 'custom');
  // The whole may be invalid only because of a part that is not understood.
  const problems = (inParts.length > 0 ? inParts : issues).flatMap((issue) => problemsOf(issue, value));
  const type = variant.shape.type.value;
  throw invalid(direction, problems, {
    subject: `${direction.name} ${type}`,
    cure:
      CURES.get(`${type}.${problems[0]?.key ?? ''}`) ??
      `${type} has ${fieldsOf(variant)}; see docs/protocol.md.`,
  });
}

function invalid(
  { code, name }: Direction,
  problems: readonly ProtocolProblem[],
  {
    subject = name,
    cure = 'See docs/protocol.md.',
  }: { readonly subject?: string; readonly cure?: string } = {},
): BatonError {
  const [first] = problems;
  const rest = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
  const what = first === undefined ? 'cannot be read' : `${first.key} ${first.what}`.trim();
  const message = `The ${subject} cannot be read: ${first?.key === '' ? 'it ' : ''}${what}${rest}`;
  return new BatonError(code, message, {
    cure,
    data: { key: first?.key ?? '', problems: problems.slice(0, MOST_PROBLEMS) },
  });
}

/** Most problems that are listed for one message. */
const MOST_PROBLEMS = 20;

function problemsOf(issue: z.core.$ZodIssue, value: unknown): readonly ProtocolProblem[] {
  const key = keyOf(issue.path);
  const found = at(value, issue.path);
  if (found === undefined) return [{ key, what: 'is missing' }];
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys
        .slice(0, MOST_PROBLEMS)
        .map((unknown) => ({ key: keyOf([...issue.path, unknown]), what: 'is unknown' }));
    case 'invalid_type': {
      const kind = KINDS[issue.expected] ?? issue.expected;
      return [{ key, what: `must be ${kind}, not ${kindOf(found)}` }];
    }
    case 'invalid_value':
      return [{ key, what: `must be ${oneOf(issue.values)}` }];
    case 'invalid_union': {
      const { options = [] } = issue as { readonly options?: readonly z.core.util.Primitive[] };
      return [{ key, what: `must be ${oneOf(options)}` }];
    }
    case 'invalid_format':
      return [{ key, what: 'must not be blank' }];
    case 'too_small':
    case 'too_big': {
      const [word, bound] = issue.code === 'too_small' ? ['least', issue.minimum] : ['most', issue.maximum];
      const [one, several] = UNITS[issue.origin] ?? [];
      if (one === undefined) return [{ key, what: `must be at ${word} ${bound}` }];
      return [{ key, what: `must have at ${word} ${bound} ${bound === 1 ? one : several}` }];
    }
    default:
      return [{ key, what: clip(issue.message) }];
  }
}

/** Longest quoted piece of a message, in characters. */
const MAX_QUOTE = 80;

function clip(text: string): string {
  return text.length <= MAX_QUOTE ? text : `${text.slice(0, MAX_QUOTE)}…`;
}

/** Keeps any content on its line. */
function quote(text: string): string {
  return JSON.stringify(clip(text));
}

function oneOf(values: readonly z.core.util.Primitive[]): string {
  const texts = values.map((value) => (typeof value === 'string' ? quote(value) : String(value)));
  return texts.length === 1 ? (texts[0] ?? '') : `one of ${texts.join(', ')}`;
}

function keyOf(path: readonly PropertyKey[]): string {
  return path
    .map((key, index) => {
      if (typeof key === 'number') return `[${key}]`;
      const name = String(key);
      const shown = /^\w{1,80}$/.test(name) ? name : quote(name);
      return index === 0 ? shown : `.${shown}`;
    })
    .join('');
}

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Readonly<Record<PropertyKey, unknown>>)[key];
  }
  return found;
}

/** The unit in which the size of each kind is counted. */
const UNITS: Readonly<Record<string, readonly [one: string, several: string]>> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};

const KINDS: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  if (typeof value === 'boolean') return String(value);
  return KINDS[typeof value] ?? typeof value;
}

function fieldsOf({ shape }: Variant): string {
  const fields = Object.entries(shape as Readonly<Record<string, z.ZodType>>)
    .filter(([key]) => key !== 'type' && key !== 'thread_id')
    .map(([key, field]) => (field._zod.optin === 'optional' ? `${key} (optional)` : key));
  return fields.length === 0 ? 'no fields' : `the fields ${fields.join(', ')}`;
}
