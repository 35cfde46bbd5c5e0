// Values drawn at random from a JSON Schema: what a client that knows nothing but the published schema may send.

import * as fc from 'fast-check';

type Kind = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'null';

/** The parts of JSON Schema 2020-12 that the generated schemas use. */
export interface JsonSchema {
  readonly type?: Kind | readonly Kind[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly JsonSchema[];
  readonly oneOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false | JsonSchema;
  readonly minProperties?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly description?: string;
}

/** Texts that have fooled readers. */
const hostileText = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.constantFrom('', ' ', '__proto__', 'constructor', 'null', '{"type":"interrupt"}', 'line\nfeed\u2028\0'),
);

/** The schemas of which a value has to meet one. */
export function choicesOf(schema: JsonSchema): readonly JsonSchema[] {
  const { type } = schema;
  if (typeof type === 'object') return type.map((each) => ({ type: each }));
  return schema.oneOf ?? schema.anyOf ?? [schema];
}

/** Any value that a schema allows. */
export function anyOf(schema: JsonSchema): fc.Arbitrary<unknown> {
  if ('const' in schema) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  const choices = choicesOf(schema);
  return choices.length === 1 ? anyOfKind(schema) : fc.oneof(...choices.map((each) => anyOf(each)));
}

function anyOfKind(schema: JsonSchema): fc.Arbitrary<unknown> {
  switch (schema.type) {
    case 'object':
      return anyObject(schema);
    case 'array':
      return fc.array(anyOf(schema.items ?? {}), {
        minLength: schema.minItems ?? 0,
        maxLength: 3 + (schema.minItems ?? 0),
      });
    case 'string': {
      const { pattern = '', minLength = 0, maxLength = Infinity } = schema;
      const rule = new RegExp(pattern, 'u');
      return hostileText.filter(
        (text) => rule.test(text) && text.length >= minLength && text.length <= maxLength,
      );
    }
    case 'integer':
      return fc.integer({
        min: Math.max(schema.minimum ?? -1e9, -1e9),
        max: Math.min(schema.maximum ?? 1e9, 1e9),
      });
    case 'number':
      return fc
        .double({
          min: schema.minimum ?? -1e12,
          max: schema.maximum ?? 1e12,
          noNaN: true,
        })
        .map((value) => value + 0);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    default:
      throw new TypeError(`No value can be drawn from ${JSON.stringify(schema)}`);
  }
}

function anyObject({ properties = {}, required = [], minProperties = 0 }: JsonSchema): fc.Arbitrary<unknown> {
  const fields = Object.entries(properties).map(([key, field]) => [key, anyOf(field)] as const);
  return fc
    .record(Object.fromEntries(fields), { requiredKeys: [...required] })
    .map((value) => ({ ...value }))
    .filter((value) => Object.keys(value).length >= minProperties);
}
