import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { eventJsonSchema, opJsonSchema } from '../../../scripts/protocol-page.ts';
import { anyOf, choicesOf } from '../../../test/support/any-json.ts';
import type { JsonSchema } from '../../../test/support/any-json.ts';
import { BatonError } from '../../errors.ts';
import type { JsonObject } from '../item.ts';
import { checkEvent, parseEvent, parseOp } from './parse.ts';
import { modeName } from '../../vocabulary.ts';
import type { ProtocolProblem } from './parse.ts';
import { PROTOCOL_VERSION } from './version.ts';

const SEED = 20_261_121;

/** The schema of each message by its tag, as it is published. */
function schemasOf(schema: JsonSchema): ReadonlyMap<string, JsonSchema> {
  return new Map(
    choicesOf(schema).map((each) => [String(each.properties?.['type']?.const), withVersion(each)]),
  );
}

/** A thread of a later version is refused, whatever the schema says. */
function withVersion(schema: JsonSchema): JsonSchema {
  const { properties = {} } = schema;
  return 'protocol_version' in properties
    ? { ...schema, properties: { ...properties, protocol_version: { const: PROTOCOL_VERSION } } }
    : schema;
}

const DIRECTIONS = [
  { name: 'op', code: 'op_invalid', schemas: schemasOf(opJsonSchema()), parse: parseOp, isStrict: true },
  {
    name: 'event',
    code: 'event_invalid',
    schemas: schemasOf(eventJsonSchema()),
    parse: parseEvent,
    isStrict: false,
  },
] as const;

/** What parsing fails with; the test fails where it does not. */
function failureOf(parse: (text: string) => unknown, text: string): BatonError {
  try {
    parse(text);
  } catch (error) {
    assert.ok(error instanceof BatonError, `${String(error)} is no BatonError`);
    return error;
  }
  return assert.fail(`taken: ${text.slice(0, 200)}`);
}

function problemsOf(error: BatonError): readonly ProtocolProblem[] {
  return error.data['problems'] as readonly ProtocolProblem[];
}

/** A place in a message, with what is there and what the schema says of it. */
interface Place {
  /** As messages write it. */
  readonly key: string;
  readonly path: readonly (string | number)[];
  readonly schema: JsonSchema;
}

function* placesIn(value: unknown, schema: JsonSchema, path: Place['path'] = []): Generator<Place> {
  const key = path
    .map((part, index) => (typeof part === 'number' ? `[${part}]` : `${index === 0 ? '' : '.'}${part}`))
    .join('');
  yield { key, path, schema };
  const chosen = variantOf(value, schema);
  if (Array.isArray(value)) {
    for (const [index, each] of value.entries()) yield* placesIn(each, chosen.items ?? {}, [...path, index]);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, each] of Object.entries(value)) {
      const field = chosen.properties?.[name];
      if (field !== undefined) yield* placesIn(each, field, [...path, name]);
    }
  }
}

/** Of several schemas the one that a value was drawn from. */
function variantOf(value: unknown, schema: JsonSchema): JsonSchema {
  const choices = choicesOf(schema);
  const tag = typeof value === 'object' && value !== null && 'type' in value ? value.type : undefined;
  return (
    choices.find(({ properties }) => tag !== undefined && properties?.['type']?.const === tag) ??
    choices.find(({ type }) => (value === null ? type === 'null' : type !== 'null')) ??
    schema
  );
}

/** A copy with another value at a place; undefined takes it away. */
function changed(value: unknown, [key, ...rest]: Place['path'], to: unknown): unknown {
  if (key === undefined) return to;
  if (Array.isArray(value))
    return value.map((each, index) => (index === key ? changed(each, rest, to) : each));
  const record = value as Readonly<Record<string, unknown>>;
  return { ...record, [key]: changed(record[key], rest, to) };
}

/** Modes are read in Baton's spelling, whichever they were written in. */
function withOwnSpelling(message: unknown): unknown {
  const fields = Object.entries(message as Readonly<Record<string, unknown>>);
  return Object.fromEntries(
    fields.map(([key, value]) => {
      const isMode = key === 'approval_policy' || key === 'sandbox_mode';
      return [key, isMode ? modeName(String(value)) : value];
    }),
  );
}

for (const { name, code, schemas, parse, isStrict } of DIRECTIONS) {
  describe(`an ${name}`, () => {
    for (const [type, schema] of schemas) {
      test(`${type} is read as it was written, whatever the published schema allows`, () => {
        const property = fc.property(anyOf(schema), (message) => {
          assert.deepEqual(parse(JSON.stringify(message)), withOwnSpelling(message));
        });
        fc.assert(property, { seed: SEED, numRuns: 40 });
      });

      test(`${type} is refused for each field that is missing or of another kind, by name`, () => {
        let tried = 0;
        for (const message of fc.sample(anyOf(schema), { seed: SEED, numRuns: 12 })) {
          for (const place of placesIn(message, schema)) {
            for (const wrong of wrongValues(place.schema)) {
              const text = JSON.stringify(changed(message, place.path, wrong));
              const error = failureOf(parse, text);
              assert.equal(error.code, code);
              assert.match(error.cure, /\S/);
              assert.ok(
                problemsOf(error).some(({ key }) => key === place.key),
                `${JSON.stringify(error.data)} does not name ${place.key}: ${text}`,
              );
              tried++;
            }
            for (const field of place.schema.required ?? []) {
              const key = place.key === '' ? field : `${place.key}.${field}`;
              if (key === 'type') continue;
              const text = JSON.stringify(changed(message, [...place.path, field], undefined));
              const problem = problemsOf(failureOf(parse, text)).find((each) => each.key === key);
              assert.equal(problem?.what, 'is missing', `${key}: ${text}`);
              tried++;
            }
          }
        }
        assert.ok(tried > 0 || Object.keys(schema.properties ?? {}).length === 1, 'nothing was tried');
      });

      test(`${type} with one more field, wherever it stands, is ${isStrict ? 'refused' : 'read without it'}`, () => {
        for (const message of fc.sample(anyOf(schema), { seed: SEED, numRuns: 6 })) {
          for (const place of placesIn(message, schema)) {
            const chosen = variantOf(at(message, place.path), place.schema);
            if (chosen.type !== 'object') continue;
            if (typeof chosen.additionalProperties === 'object') continue;
            for (const extra of ['from_the_future', '__proto__', 'constructor']) {
              // `__proto__` becomes a key of its own only by way of a text.
              const marked = changed(message, [...place.path, '@extra'], { isAdmin: true });
              const text = JSON.stringify(marked).replace('"@extra"', JSON.stringify(extra));
              if (!isStrict) assert.deepEqual(parse(text), message);
              else {
                const key = place.key === '' ? extra : `${place.key}.${extra}`;
                assert.equal(problemsOf(failureOf(parse, text)).at(-1)?.key, key, text);
              }
            }
          }
        }
      });
    }

    test('what is no object with a tag is refused with what it is', () => {
      const messages: readonly (readonly [text: string, words: RegExp])[] = [
        ['', /it is not JSON/],
        ['{"type":"interr', /it is not JSON/],
        ['null', /must be an object, not null/],
        ['[{"type":"interrupt"}]', /must be an object, not a list/],
        ['"interrupt"', /must be an object, not a text/],
        ['7', /must be an object, not a number/],
        ['{}', /type is missing/],
        ['{"Type":"interrupt"}', /type is missing/],
        ['{"type":null}', /type must be a text, not null/],
        ['{"type":["interrupt"]}', /type must be a text, not a list/],
        ['{"__proto__":{"type":"interrupt"}}', /type is missing/],
      ];
      for (const [text, words] of messages) {
        const error = failureOf(parse, text);
        assert.equal(error.code, code);
        assert.match(error.message, words);
        assert.match(error.cure, /\S/);
      }
    });

    test('nothing that is deep or long is too much, and no message repeats it', () => {
      const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
      const long = 'x'.repeat(1_000_000);
      const [type = ''] = schemas.keys();
      const messages = [
        deep,
        JSON.stringify(long),
        `{"type":${JSON.stringify(type)},"x":${deep},"items":${deep},"protocol_version":${deep}}`,
        `{"type":${deep}}`,
        `{"type":${JSON.stringify(type)},"${long}":1,"id":7,"protocol_version":"${long}"}`,
        `{"type":${JSON.stringify(type)},"items":[${'7,'.repeat(50_000)}7]}`,
        long,
      ];
      for (const text of messages) {
        const error = failureOf(parse, text);
        const size = error.message.length + error.cure.length + JSON.stringify(error.data).length;
        assert.ok(size < 10_000, `${size} characters about ${text.slice(0, 60)}`);
        assert.doesNotMatch(error.message, /\n/);
      }
    });
  });
}

function at(value: unknown, path: Place['path']): unknown {
  return path.reduce((found, key) => (found as Readonly<Record<string | number, unknown>>)[key], value);
}

/** Values that a schema does not allow. */
function wrongValues(schema: JsonSchema): readonly unknown[] {
  if ('const' in schema) return [];
  const kinds = new Set(choicesOf(schema).map(({ type }) => type));
  if (kinds.has('object')) return [];
  const others: unknown[] = [];
  if (!kinds.has('null')) others.push(null);
  if (!kinds.has('string')) others.push('seven');
  if (!kinds.has('number') && !kinds.has('integer')) others.push(7);
  if (!kinds.has('boolean')) others.push(true);
  if (!kinds.has('array')) others.push([]);
  others.push({});
  if (schema.enum !== undefined) others.push('not one of them', '__proto__');
  if (schema.type === 'integer') others.push(0.5);
  if (schema.minimum === 0) others.push(-1);
  return others;
}

test('an op of a type that is none is refused with those that are', () => {
  for (const type of ['user_trun', 'toString', '__proto__', 'UserTurn', 'error']) {
    const error = failureOf(parseOp, JSON.stringify({ type }));
    assert.equal(error.data['key'], 'type');
    assert.match(error.message, new RegExp(`"${type}", which is not an op`));
    assert.match(error.cure, /user_turn, steer, interrupt/);
  }
});

test('an event of a type that is none comes as it is, to be passed over', () => {
  for (const type of ['telepathy_begin', 'unknown', 'toString', 'user_turn']) {
    const raw: JsonObject & { type: string } = { type, thought: [{ of: 'lamps' }] };
    assert.deepEqual(parseEvent(JSON.stringify(raw)), { type: 'unknown', raw });
  }
});

test('what is wrong is said in words', () => {
  const turn = { type: 'user_turn', items: [{ type: 'text', text: 'Go on.' }], origin: { type: 'user' } };
  const messages: readonly (readonly [value: unknown, message: string])[] = [
    [{ ...turn, items: [{ type: 'text', text: 7 }] }, 'items[0].text must be a text, not a number'],
    [{ ...turn, items: [{ type: 'text', text: ' \n' }] }, 'items[0].text must not be blank'],
    [{ ...turn, items: [{ type: 'image', text: 'A lamp.' }] }, 'items[0].type must be "text"'],
    [{ ...turn, items: [] }, 'items must have at least 1 entry'],
    [{ ...turn, origin: { type: 'agent' } }, 'origin.type must be "user"'],
    [{ ...turn, origin: undefined }, 'origin is missing'],
    [{ ...turn, 'so\nme': 1 }, '"so\\nme" is unknown'],
    [{ ...turn, origin: { type: 'user', x: 1 }, y: 1 }, 'origin.x is unknown, and 1 more'],
    [{ ...turn, id: 'x'.repeat(201) }, 'id must have at most 200 characters'],
  ];
  for (const [value, message] of messages) {
    const error = failureOf(parseOp, JSON.stringify(value));
    assert.equal(error.message, `The op user_turn cannot be read: ${message}`);
    assert.equal(error.cure, 'user_turn has the fields id (optional), items, origin; see docs/protocol.md.');
  }
  const model = failureOf(parseOp, '{"type":"set_settings","model_provider":"other"}');
  assert.equal(model.message, 'The op set_settings cannot be read: model_provider is unknown');
  assert.equal(model.cure, 'The provider is part of model: PROVIDER/MODEL.');
  const nothing = failureOf(parseOp, '{"type":"set_settings"}');
  assert.equal(nothing.message, 'The op set_settings cannot be read: it changes nothing: name a setting');
});

test('a thread that speaks a later version is not misread', () => {
  const [configured] = fc.sample(anyOf(schemasOf(eventJsonSchema()).get('session_configured') ?? {}), 1);
  const later = { ...(configured as object), protocol_version: PROTOCOL_VERSION + 1 };
  assert.throws(() => checkEvent(later), { code: 'event_invalid', cure: 'Update Baton.' });
});
