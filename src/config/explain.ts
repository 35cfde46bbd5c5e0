// The schema in readable form: the list of settings, their ranges in words, and the texts generated from both.

import { stringify } from 'smol-toml';
import * as z from 'zod';
import { describePlace } from './origin.ts';
import type { ValueOrigin } from './origin.ts';
import type { Marks } from './about.ts';
import { codePath, ConfigSchema, toConfig } from './schema.ts';
import type { Config } from './schema.ts';

type Scalar = boolean | number | string | readonly string[];

/** A value that a setting can have; tables use the keys of the file. */
export type SettingValue = Scalar | readonly Readonly<Record<string, Scalar>>[];

/** One setting of the schema, as data. */
export interface Setting extends Marks {
  /** Table and key, e.g. `['compact', 'enabled']`. */
  readonly path: readonly string[];
  /** The path with dots, as in messages and `-c`. */
  readonly key: string;
  readonly kind: 'boolean' | 'integer' | 'number' | 'string' | 'list' | 'tables';
  /** The members of each table, for a list of tables. */
  readonly members?: readonly Setting[];
  /** The only values of a string, or of the members of a list. */
  readonly choices?: readonly string[];
  /** Smallest and largest allowed number, both inclusive. */
  readonly minimum?: number;
  readonly maximum?: number;
  /** Absent for settings that are unset by default. */
  readonly default?: SettingValue;
  readonly description: string;
  readonly unit?: string;
  readonly stage?: string;
  readonly source: string;
  readonly whenUnset?: string;
  readonly examples?: readonly SettingValue[];
  /** The allowed values, where the other facts do not say it. */
  readonly allowed?: string;
  /** The shortest allowed string. */
  readonly minLength?: number;
}

/** The parts of a generated JSON Schema that this file reads. */
type SchemaNode = Omit<Setting, 'path' | 'key' | 'kind' | 'choices' | 'members'> & {
  /** Absent where several types are possible, one of them a string; `allowed` says which. */
  readonly type?: Exclude<Setting['kind'], 'list' | 'tables'> | 'array' | 'object';
  readonly anyOf?: unknown;
  readonly enum?: readonly string[];
  readonly items?: SchemaNode;
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  /** The schema of every value, where the user chooses the keys. */
  readonly additionalProperties?: SchemaNode | false;
};

/** The JSON Schema (2020-12) of a config file. It describes what users write, so nothing is required. */
export function configJsonSchema(): object {
  return z.toJSONSchema(ConfigSchema, {
    io: 'input',
    // The bounds of the number format do not restrict a setting.
    override: ({ jsonSchema }) => {
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
    },
  });
}

/**
 * Every setting, in the order of the schema: top-level keys, then table by table.
 * @param providers the tables of `[model_providers]` to list; the schema knows no names
 */
export function listSettings(providers: readonly string[] = []): readonly Setting[] {
  return collectSettings(configJsonSchema() as SchemaNode, [], providers);
}

function collectSettings(node: SchemaNode, path: readonly string[], names: readonly string[]): Setting[] {
  if (node.type !== 'object') {
    const { type = 'string', enum: own, items, anyOf: _, ...rest } = node;
    const { properties: __, additionalProperties: ___, ...facts } = rest;
    const start = { ...facts, path, key: path.join('.') };
    if (items?.type === 'object') {
      return [{ ...start, kind: 'tables', members: collectSettings(items, path, names) }];
    }
    const choices = own ?? items?.enum;
    const kind = type === 'array' ? 'list' : type;
    return [{ ...start, kind, ...(choices === undefined ? {} : { choices }) }];
  }
  const { properties, additionalProperties: named } = node;
  const children = typeof named === 'object' ? names.map((name) => [name, named] as const) : [];
  return [...Object.entries(properties ?? {}), ...children].flatMap(([key, child]) =>
    collectSettings(node.userOnly === true ? { ...child, userOnly: true } : child, [...path, key], names),
  );
}

/** The path and key of a setting. */
export type SettingPlace = Pick<Setting, 'path' | 'key'>;

/** The places of `listSettings` at a tenth of its cost: each command needs them before it does anything. */
export function listPlaces(providers: readonly string[] = []): readonly SettingPlace[] {
  return collectPlaces(ConfigSchema, [], providers).map((path) => ({ path, key: path.join('.') }));
}

function collectPlaces(
  schema: z.core.$ZodType,
  path: readonly string[],
  names: readonly string[],
): (readonly string[])[] {
  const inner = layersOf(schema).at(-1);
  if (inner instanceof z.ZodRecord) {
    return names.flatMap((name) => collectPlaces(inner.valueType, [...path, name], names));
  }
  if (!(inner instanceof z.ZodObject)) return [path];
  return shapeOf(inner).flatMap(([key, child]) => collectPlaces(child, [...path, key], names));
}

function shapeOf({ shape }: z.ZodObject): readonly (readonly [string, z.core.$ZodType])[] {
  return Object.entries(shape);
}

/** A schema and its wrappers, outermost first. */
function layersOf(schema: z.core.$ZodType): readonly z.core.$ZodType[] {
  const layers = [schema];
  for (let inner = schema; isWrapper(inner); layers.push(inner)) inner = inner.unwrap();
  return layers;
}

function isWrapper(schema: z.core.$ZodType): schema is z.ZodDefault | z.ZodPrefault | z.ZodOptional {
  return schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional;
}

/** The keys and tables that a project's file may not set, as paths. */
export function listUserOnly(): readonly (readonly string[])[] {
  return collectUserOnly(ConfigSchema, []);
}

function collectUserOnly(schema: z.core.$ZodType, path: readonly string[]): (readonly string[])[] {
  const layers = layersOf(schema);
  if (layers.some((layer) => z.globalRegistry.get(layer)?.['userOnly'] === true)) return [path];
  const inner = layers.at(-1);
  if (!(inner instanceof z.ZodObject)) return [];
  return shapeOf(inner).flatMap(([key, child]) => collectUserOnly(child, [...path, key]));
}

/** The allowed values of a setting; reads after "must be", e.g. `a whole number from 1 to 100`. */
export function describeAllowed(setting: Setting): string {
  if (setting.allowed !== undefined) return setting.allowed;
  switch (setting.kind) {
    case 'boolean':
      return 'true or false';
    case 'string':
      if (setting.choices !== undefined) return `one of ${quoted(setting.choices)}`;
      return `a string in quotes${setting.minLength === undefined ? '' : ' that is not empty'}`;
    case 'list':
      if (setting.choices !== undefined) return `a list of any of ${quoted(setting.choices)}`;
      return 'a list of non-empty strings in quotes';
    case 'tables':
      return `a list of tables with ${(setting.members ?? []).map(describeMember).join('; ')}`;
    case 'integer':
      return `a whole number${describeRange(setting)}`;
    case 'number':
      return `a number${describeRange(setting)}`;
  }
}

function describeMember(member: Setting): string {
  const unset = member.default === undefined ? member.whenUnset : String(member.default);
  return `\`${leafName(member)}\` (${describeAllowed(member)}; not set: ${unset ?? ''})`;
}

function quoted(texts: readonly string[]): string {
  return texts.map((text) => JSON.stringify(text)).join(', ');
}

function describeRange({ minimum, maximum }: Setting): string {
  if (minimum === undefined) return '';
  return maximum === undefined ? ` of at least ${minimum}` : ` from ${minimum} to ${maximum}`;
}

/** The source code of `defaults.ts`. */
export function renderDefaultsModule(): string {
  return `// Generated from schema.ts by \`npm run generate\`; do not edit. Commands that read these need not load the schema to start.

import type { Config } from './schema.ts';

/** The configuration when nothing is configured. */
export const DEFAULT_CONFIG: Config = ${renderLiteral(toConfig(ConfigSchema.parse({})), '')};
`;
}

function renderLiteral(value: unknown, indent: string): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return JSON.stringify(value);
  const lines = Object.entries(value).map(
    ([key, child]: [string, unknown]) => `${indent}  ${key}: ${renderLiteral(child, `${indent}  `)},\n`,
  );
  return `{\n${lines.join('')}${indent}}`;
}

/** One line of TOML. */
function renderAssignment(key: string, value: SettingValue): string {
  if (isTables(value)) return `${key} = [${value.map(renderInline).join(', ')}]`;
  return stringify({ [key]: value }).trimEnd();
}

function isTables(value: unknown): value is readonly Readonly<Record<string, Scalar>>[] {
  return Array.isArray(value) && value.every((member) => typeof member === 'object');
}

function renderInline(table: Readonly<Record<string, Scalar>>): string {
  const members = Object.entries(table).map(([key, value]) => renderAssignment(key, value));
  return `{ ${members.join(', ')} }`;
}

/** The environment variable of a key or table: `BATON_COMPACT__ENABLED` for `compact.enabled`. */
export function environmentName(path: readonly string[]): string {
  return `BATON_${path.join('__').replaceAll('-', '_').toUpperCase()}`;
}

interface SettingTable {
  /** Empty for top-level keys. */
  readonly name: string;
  readonly settings: readonly Setting[];
}

/** The settings, grouped by TOML table; top-level keys first, as TOML requires. */
function groupByTable(settings: readonly Setting[]): readonly SettingTable[] {
  const tables = new Map<string, Setting[]>();
  for (const setting of settings) {
    const name = setting.path.slice(0, -1).join('.');
    const table = tables.get(name);
    if (table === undefined) tables.set(name, [setting]);
    else table.push(setting);
  }
  return [...tables].map(([name, members]) => ({ name, settings: members }));
}

/** The description of a setting, for people. */
function describe({ description, stage, userOnly }: Setting): string {
  const staged = stage === undefined ? description : `${description} Stage: ${stage}.`;
  return userOnly === true ? `${staged} Not in a project's file.` : staged;
}

/** The last part of the path of a setting. */
function leafName(setting: Setting): string {
  return setting.path.at(-1) ?? '';
}

/** Placeholder for a name that the user chooses. */
const ANY_NAME = 'NAME';

function documentedSettings(): readonly Setting[] {
  return listSettings([ANY_NAME]).filter(({ isUndocumented }) => isUndocumented !== true);
}

const STARTER_HEAD = `# Configuration of Baton. It lists every setting with its default; remove the # to change one.
# Values here are overridden by .baton/config.toml of a project, BATON_… variables and -c on the command line.
`;

/** A starter file: every setting commented out (`#key = default`), each below comments (`# …`) that describe it. */
export function renderStarter(): string {
  const tables = groupByTable(documentedSettings()).map(({ name, settings }) => {
    // The header of a user-named table begins with its name, so it stays commented out for the user to enable.
    const isOwn = settings[0]?.path.includes(ANY_NAME) === true;
    const head = name === '' ? '' : `\n${isOwn ? '# ' : ''}[${name}]\n`;
    return head + settings.map(renderStarterSetting).join('');
  });
  return STARTER_HEAD + tables.join('');
}

function renderStarterSetting(setting: Setting): string {
  const unit = setting.unit === undefined ? '' : ` (${setting.unit})`;
  const text = `\n# ${describe(setting)}\n# Allowed: ${describeAllowed(setting)}${unit}. Source: ${setting.source}.\n`;
  const name = leafName(setting);
  if (setting.default !== undefined) return `${text}#${renderAssignment(name, setting.default)}\n`;
  const example = renderAssignment(name, setting.examples?.[0] ?? '');
  return `${text}# Not set by default: ${setting.whenUnset ?? ''}. Example: ${example}\n`;
}

/** The value of a setting, or undefined where it is unset. */
export function settingValue(config: Config, { path }: SettingPlace): SettingValue | undefined {
  let value: unknown = config;
  for (const key of codePath(path)) value = (value as Readonly<Record<string, unknown>>)[key];
  return isTables(value) ? value.map(toFileKeys) : (value as SettingValue | undefined);
}

function toFileKeys(table: Readonly<Record<string, Scalar>>): Readonly<Record<string, Scalar>> {
  return Object.fromEntries(Object.entries(table).map(([key, value]) => [snakeCase(key), value]));
}

/** `timeoutSeconds` as `timeout_seconds`. */
function snakeCase(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** A configuration under the keys of its file, as plain JSON; it omits unset keys. */
export function configJson(config: Config): object {
  const root: Record<string, unknown> = {};
  for (const setting of listSettings(Object.keys(config.modelProviders))) {
    const value = settingValue(config, setting);
    let table = root;
    for (const name of setting.path.slice(0, -1)) table = (table[name] ??= {}) as Record<string, unknown>;
    if (value !== undefined) table[leafName(setting)] = value;
  }
  return root;
}

/** Which origins a rendered configuration shows: only those of values that were set, or all. */
export type ShownOrigins = 'set' | 'all';

/** A configuration as valid TOML; aligned comments give the origins of values. */
export function renderConfig(
  config: Config,
  origins: ReadonlyMap<string, ValueOrigin>,
  shown: ShownOrigins,
): string {
  const all = listSettings(Object.keys(config.modelProviders));
  const tables = groupByTable(all).map(({ name, settings }) => {
    const rows = settings.map((setting) => showRow(setting, config, origins.get(setting.key)));
    const visible = rows.filter(({ origin }) => shown === 'all' || origin !== undefined);
    const width = Math.max(0, ...visible.map(({ code }) => code.length));
    const lines = rows.map(({ code, isSet, origin }) => {
      if (origin === undefined && shown === 'set') return isSet ? `${code}\n` : '';
      return `${code.padEnd(width)}  # ${describePlace(origin ?? { source: 'default' })}\n`;
    });
    const body = lines.join('');
    if (name === '') return body;
    return `[${name}]\n${body}`;
  });
  return tables.filter((table) => table !== '').join('\n');
}

function showRow(setting: Setting, config: Config, origin: ValueOrigin | undefined) {
  const value = settingValue(config, setting);
  const name = leafName(setting);
  const isSet = value !== undefined;
  // TOML cannot express an unset key, so it becomes a comment.
  return { code: isSet ? renderAssignment(name, value) : `# ${name} is not set`, isSet, origin };
}

const REFERENCE_HEAD = `# Configuration

Generated by \`npm run generate\` from \`src/config/schema.ts\`; do not edit.

A config file is TOML. \`baton config init\` writes a commented starter file, \`baton config show\` prints the effective
configuration and where each value came from, \`baton config check\` validates, \`baton config schema\` prints the JSON Schema
(also in \`schema/config.schema.json\`).

## Where values come from

The first of these that sets a key takes precedence; Baton looks up each key separately.

1. The command line: \`-c key=value\`, repeatable, the last one counts: \`-c compact.restore_todos=false\`.
2. The environment: \`BATON_\`, then the key in capitals with \`__\` for each dot: \`BATON_COMPACT__RESTORE_TODOS=false\`.
   An empty variable counts as unset. \`BATON_HOME\` is not a setting: it names the folder of the user's file.
3. The project: the nearest \`.baton/config.toml\` from the working directory upwards, up to the root of the git work tree or,
   without one, up to (but not in) the home directory. Outside both, Baton looks only in the working directory itself.
4. The user: \`$BATON_HOME/config.toml\`, by default \`~/.baton/config.toml\`. \`--config FILE\` replaces this file.
5. The default.

The value of \`-c\` and of a variable is a TOML value; anything that is not valid TOML counts as text, so
\`-c compact.summarization_model=small-model\` needs no quotes.

A project's file comes with the project and is not trusted, so it may not say where transcripts and keys go: a key marked "Not in a
project's file" is an error there and belongs in the user's file. \`--config\` names a user's file, wherever it is.

In \`[model_providers.NAME]\` you choose the name: \`-c model_providers.lab.base_url=http://127.0.0.1:8000/v1\`,
\`BATON_MODEL_PROVIDERS__LAB__BASE_URL\`. A variable spells the provider's name in capitals, with \`_\` for \`-\`; if no provider has this name, it adds one in
lower case. Keys stay in the environment: \`env_key\` names the variable that holds one.

Unknown keys, values of a wrong type and values out of range are errors that name the file, the line, the key and what is
allowed. Baton reports all of them together, from every source.

## Settings
`;

/** docs/config.md. */
export function renderReference(): string {
  const tables = groupByTable(documentedSettings()).map(({ name, settings }) => {
    const title = name === '' ? 'Top level' : `\`[${name}]\``;
    return `
### ${title}

| key | default | unit | allowed | meaning | source |
| --- | --- | --- | --- | --- | --- |
${settings.map(renderRow).join('\n')}
`;
  });
  return REFERENCE_HEAD + tables.join('');
}

function showDefault(value: SettingValue): string {
  return Array.isArray(value) ? JSON.stringify(value) : String(value);
}

function renderRow(setting: Setting): string {
  const unset = `not set: ${setting.whenUnset ?? ''}`;
  const cells = [
    `\`${leafName(setting)}\``,
    setting.default === undefined ? unset : `\`${showDefault(setting.default)}\``,
    setting.unit ?? '',
    describeAllowed(setting),
    describe(setting),
    setting.source,
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
