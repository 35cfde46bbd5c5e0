// Merges the texts that configure Baton into one validated configuration that records the origin of each value. Pure.

import { parse, TomlError } from 'smol-toml';
import type * as z from 'zod';
import type { TomlTable, TomlValue } from 'smol-toml';
import { BatonError } from '../errors.ts';
import {
  describeAllowed,
  environmentName,
  listPlaces,
  listSettings,
  listUserOnly,
  settingValue,
} from './explain.ts';
import type { Setting, SettingPlace } from './explain.ts';
import { isTable, locateKeys } from './lines.ts';
import { BUILT_IN_PROVIDERS, findUnusableTables } from './model-providers.ts';
import { nearestName } from '../text/nearest.ts';
import { describePlace, shorten } from './origin.ts';
import type { ValueOrigin } from './origin.ts';
import { isProviderName, PROVIDER_NAME_ALLOWED } from './provider-schema.ts';
import { ConfigSchema, toConfig } from './schema.ts';
import type { Config } from './schema.ts';
import { PRESETS } from './preset.ts';
import { DEFAULT_THRESHOLDS, misorderedTiers } from './tiers.ts';
import { TIERS } from '../vocabulary.ts';
import type { Tier } from '../vocabulary.ts';

/** The text of a config file. */
export interface ConfigText {
  readonly source: 'user' | 'project';
  readonly file: string;
  readonly text: string;
}

/** All sources of one run's configuration. */
export interface ConfigSources {
  /** The arguments of `-c` in their order. */
  readonly overrides: readonly string[];
  /** Variables and their values; see `configVariables`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Strongest first. */
  readonly files: readonly ConfigText[];
  /** A project's file that was not read, and why. */
  readonly unread?: readonly ConfigProblem[];
  /**
   * How to treat faults of a project's file: as failures, like those of every other source (`refuse`, the default), or as
   * warnings, with the faulty settings ignored.
   */
  readonly projectFaults?: 'refuse' | 'ignore';
}

/** A fault of one key, or of the syntax of a file. */
export interface ConfigProblem {
  /** One sentence: place, key, value, allowed values. */
  readonly message: string;
  readonly origin: ValueOrigin;
  readonly key?: string;
  /** The value as TOML or JSON would write it, shortened. */
  readonly value?: string;
  readonly allowed?: string;
  /** The known key that an unknown one most likely means. */
  readonly nearest?: string;
}

/** A valid configuration. */
export interface ResolvedConfig {
  readonly config: Config;
  /** The origin of each key (`compact.enabled`) that was set; all others have their default. */
  readonly origins: ReadonlyMap<string, ValueOrigin>;
  /** Sentences about valid settings without effect, and about ignored settings of a project's file. */
  readonly warnings: readonly string[];
}

/** One source of the configuration. */
interface Layer {
  readonly values: TomlTable;
  /** It came with a project, so the user did not write it. */
  readonly isProject: boolean;
  readonly originOf: (path: IssuePath) => ValueOrigin;
}

/** Keys, and 0-based indexes in lists. */
type IssuePath = readonly (string | number)[];

/**
 * Validates every source on its own; the strongest source that sets a key wins.
 * @throws BatonError `config_invalid` with all problems of all sources in `data.problems` (`ConfigProblem[]`); `usage` for an
 * override that is not `key=value`
 */
export function resolveConfig(sources: ConfigSources): ResolvedConfig {
  const isLenient = sources.projectFaults === 'ignore';
  const problems: ConfigProblem[] = [];
  const faults: ConfigProblem[] = isLenient ? [] : problems;
  faults.push(...(sources.unread ?? []));
  const overrides = overrideLayers(sources.overrides);
  const files: Layer[] = [];
  for (const file of sources.files) {
    const layer = readFileLayer(file);
    const isForgiven = isLenient && file.source === 'project';
    if ('message' in layer) (isForgiven ? faults : problems).push(layer);
    else if (isForgiven) files.push(withoutFaults(layer, faults));
    else files.push(layer);
  }
  const named = providerNames([...overrides, ...files]);
  const variables = variableLayers(sources.variables, [...Object.keys(BUILT_IN_PROVIDERS), ...named]);
  const layers = [...overrides, ...variables, ...files];
  const names = providerNames(layers);
  for (const layer of layers) problems.push(...findProblems(layer, () => listSettings(names)));
  if (problems.length > 0) throw invalidConfig(problems);
  const places = listPlaces(names);
  const merged = mergeLayers(layers, places);
  if (!('problems' in merged)) return withFaults(merged, faults);
  // A project's settings may be invalid only in combination with the other sources: then ignore all of them.
  const own = isLenient
    ? mergeLayers(
        layers.filter(({ isProject }) => !isProject),
        places,
      )
    : merged;
  if ('problems' in own) throw invalidConfig(own.problems);
  return withFaults(own, [...faults, ...merged.problems]);
}

/** Removes the faulty settings from a layer and adds them to the faults. */
function withoutFaults(layer: Layer, faults: ConfigProblem[]): Layer {
  faults.push(...findProblems(layer, () => listSettings(providerNames([layer]))));
  const allowed = listUserOnly().reduce(withoutKey, layer.values);
  const { issues = [] } = ConfigSchema.safeParse(allowed).error ?? {};
  const values = issues.flatMap(pathsOf).reduce(withoutKey, allowed);
  return { ...layer, values: ConfigSchema.safeParse(values).success ? values : {} };
}

/** The paths of the keys that an issue is about; for a list item, the path of the list. */
function pathsOf(issue: z.core.$ZodIssue): readonly (readonly string[])[] {
  const place = issue.path.findIndex((part) => typeof part === 'number');
  const path = issue.path.slice(0, place === -1 ? undefined : place).map(String);
  return issue.code === 'unrecognized_keys' && place === -1
    ? issue.keys.map((key) => [...path, key])
    : [path];
}

function withoutKey(table: TomlTable, path: readonly string[]): TomlTable {
  const [key = '', ...rest] = path;
  const value = valueAt(table, [key]);
  if (value === undefined) return table;
  const others = Object.entries(table).filter(([each]) => each !== key);
  if (rest.length === 0) return Object.fromEntries(others);
  return isTable(value) ? Object.fromEntries([...others, [key, withoutKey(value, rest)]]) : table;
}

/** Maximum number of project faults to list: a hostile file must not bury other messages. */
const MOST_FAULTS = 10;

function withFaults(resolved: ResolvedConfig, faults: readonly ConfigProblem[]): ResolvedConfig {
  const named = faults.slice(0, MOST_FAULTS).map(({ message }) => `${message} It is ignored.`);
  const more = faults.length - named.length;
  const rest =
    more === 0
      ? []
      : [`${more} more settings of the project are ignored; \`baton config check\` lists them.`];
  return { ...resolved, warnings: [...named, ...rest, ...resolved.warnings] };
}

const PROVIDERS = 'model_providers';

/** The names of all providers that have a table in any layer. */
function providerNames(layers: readonly Layer[]): readonly string[] {
  return [...new Set(layers.flatMap(({ values }) => tableNames(values)).filter(isProviderName))];
}

function tableNames(values: TomlTable): readonly string[] {
  const tables = valueAt(values, [PROVIDERS]);
  return tables === undefined || !isTable(tables) ? [] : Object.keys(tables);
}

/** @returns the configuration, or the faults of its sources */
function mergeLayers(
  layers: readonly Layer[],
  settings: readonly SettingPlace[],
): ResolvedConfig | { readonly problems: readonly ConfigProblem[] } {
  const merged: Record<string, unknown> = {};
  const origins = new Map<string, ValueOrigin>();
  // Keep tables that set nothing; own keys also hide inherited properties of the same name.
  for (const name of providerNames(layers)) setAt(merged, [PROVIDERS, name], {});
  for (const { path, key } of settings) {
    for (const layer of layers) {
      const value = valueAt(layer.values, path);
      if (value === undefined) continue;
      setAt(merged, path, value);
      origins.set(key, layer.originOf(path));
      break;
    }
  }
  const aliases = applyAliases(merged, origins);
  applyPreset(merged, origins);
  const config = toConfig(ConfigSchema.parse(merged));
  const misorder = findMisorder(config, origins);
  const problems = [
    ...(misorder === undefined ? [] : [misorder]),
    ...findUnusableProviders(config, layers),
    ...findUnknownProviders(config, origins, settings),
  ];
  if (problems.length > 0) return { problems };
  return { config, origins, warnings: [...aliases, ...findWarnings(config, origins)] };
}

function thresholdKey(tier: Tier): string {
  return `rawr_auto_compaction.policy.${tier}.percent_remaining_lt`;
}

/** Applies the older names of thresholds where the newer ones are unset. @returns warnings about those without effect */
function applyAliases(merged: Record<string, unknown>, origins: Map<string, ValueOrigin>): string[] {
  const warnings: string[] = [];
  for (const tier of TIERS) {
    const alias = `rawr_auto_compaction.trigger.${tier}_percent_remaining_lt`;
    const key = thresholdKey(tier);
    const origin = origins.get(alias);
    if (origin === undefined) continue;
    const value = valueAt(merged as TomlTable, alias.split('.'));
    if (!origins.has(key)) {
      setAt(merged, key.split('.'), value);
      origins.set(key, origin);
    } else if (valueAt(merged as TomlTable, key.split('.')) !== value) {
      warnings.push(`${describePlace(origin)}: ${alias} has no effect while ${key} is set.`);
    }
  }
  return warnings;
}

function applyPreset(merged: Record<string, unknown>, origins: Map<string, ValueOrigin>): void {
  const key = 'rawr_auto_compaction.preset';
  const origin = origins.get(key);
  const name = valueAt(merged as TomlTable, key.split('.'));
  if (origin === undefined || name !== 'seed') return;
  for (const [preset, value] of Object.entries(PRESETS[name])) {
    if (origins.has(preset)) continue;
    setAt(merged, preset.split('.'), value);
    origins.set(preset, { source: 'preset', name, setBy: origin });
  }
}

/** Reports tiers whose thresholds are out of order, including defaulted ones. */
function findMisorder(config: Config, origins: ReadonlyMap<string, ValueOrigin>): ConfigProblem | undefined {
  const { policy } = config.rawrAutoCompaction;
  const threshold = (tier: Tier): number => policy[tier].percentRemainingLt ?? DEFAULT_THRESHOLDS[tier];
  const pair = misorderedTiers({
    early: threshold('early'),
    ready: threshold('ready'),
    asap: threshold('asap'),
    emergency: threshold('emergency'),
  });
  if (pair === undefined) return undefined;
  const [calm, urgent] = pair;
  const told = (tier: Tier): string => {
    const origin = origins.get(thresholdKey(tier));
    return `${thresholdKey(tier)} (${threshold(tier)}, ${describePlace(origin ?? { source: 'default' })})`;
  };
  const key = origins.has(thresholdKey(urgent)) ? thresholdKey(urgent) : thresholdKey(calm);
  return {
    message: `${told(calm)} is below ${told(urgent)}, but thresholds must fall from early over ready and asap to emergency.`,
    origin: origins.get(key) ?? { source: 'default' },
    key,
    value: String(threshold(key === thresholdKey(urgent) ? urgent : calm)),
    allowed: 'early >= ready >= asap >= emergency',
  };
}

/** Tables that cannot be providers, whichever sources they were merged from. */
function findUnusableProviders({ modelProviders }: Config, layers: readonly Layer[]): ConfigProblem[] {
  return findUnusableTables(modelProviders).map(({ provider, key: leaf, message }) => {
    const path = [PROVIDERS, provider, leaf];
    const key = path.join('.');
    const origin = originOf(layers, path) ?? originOf(layers, path.slice(0, 2)) ?? { source: 'default' };
    return { message: `${describePlace(origin)}: ${key} ${message}.`, origin, key };
  });
}

/** The origin of the strongest source's value at a path, or below it. */
function originOf(layers: readonly Layer[], path: readonly string[]): ValueOrigin | undefined {
  return layers.find(({ values }) => valueAt(values, path) !== undefined)?.originOf(path);
}

/** Settings that name an unknown provider. */
function findUnknownProviders(
  config: Config,
  origins: ReadonlyMap<string, ValueOrigin>,
  settings: readonly SettingPlace[],
): ConfigProblem[] {
  const known = [...new Set([...Object.keys(BUILT_IN_PROVIDERS), ...Object.keys(config.modelProviders)])];
  return ['model_provider', 'compact.summarization_model_provider_id'].flatMap((key) => {
    const setting = settings.find((candidate) => candidate.key === key);
    const origin = origins.get(key);
    const name = setting === undefined ? undefined : settingValue(config, setting);
    if (typeof name !== 'string' || origin === undefined || known.includes(name)) return [];
    const nearest = nearestName(name, known);
    const allowed = `one of ${known.join(', ')}, or a table [${PROVIDERS}.NAME]`;
    const start = `${describePlace(origin)}: ${key} is ${quote(name)}, which is not a provider; it must be ${allowed}`;
    return [
      nearest === undefined
        ? { message: `${start}.`, origin, key, value: quote(name), allowed }
        : {
            message: `${start}; the nearest is ${nearest}.`,
            origin,
            key,
            value: quote(name),
            allowed,
            nearest,
          },
    ];
  });
}

/** The value at a path. Names of providers come from the sources, so ignore inherited properties. */
function valueAt(table: TomlTable, path: IssuePath): TomlValue | undefined {
  let value: TomlValue | undefined = table;
  for (const key of path) {
    if (typeof key === 'number') {
      value = Array.isArray(value) ? value[key] : undefined;
      continue;
    }
    if (value === undefined || !isTable(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

function setAt(table: Record<string, unknown>, path: readonly string[], value: unknown): void {
  const [key = '', ...rest] = path;
  if (rest.length === 0) {
    table[key] = value;
    return;
  }
  const inner = (Object.hasOwn(table, key) ? table[key] : {}) as Record<string, unknown>;
  table[key] = inner;
  setAt(inner, rest, value);
}

function overrideLayers(overrides: readonly string[]): Layer[] {
  return overrides.map(overrideLayer).toReversed();
}

function overrideLayer(argument: string): Layer {
  const equals = argument.indexOf('=');
  const path = argument
    .slice(0, Math.max(0, equals))
    .split('.')
    .map((part) => part.trim());
  if (path.includes('')) {
    throw new BatonError('usage', `-c takes key=value, not ${quote(argument)}.`, {
      cure: 'For example: -c compact.restore_todos=false',
    });
  }
  // The value after a provider's name may be a key that was pasted in the wrong place.
  const told = path[0] === PROVIDERS ? `${path.join('.')}=…` : argument;
  const origin: ValueOrigin = { source: 'command_line', argument: told };
  return {
    values: nest(path, parseValue(argument.slice(equals + 1))),
    isProject: false,
    originOf: () => origin,
  };
}

function variableLayers(variables: Readonly<Record<string, string>>, providers: readonly string[]): Layer[] {
  // Backwards, so that BATON_COMPACT__ENABLED comes before BATON_COMPACT={enabled=…} and wins over it.
  const names = Object.keys(variables).toSorted().toReversed();
  return names.map((variable) => {
    const path = variablePath(variable, providers);
    const origin: ValueOrigin = { source: 'environment', variable };
    return {
      values: nest(path, parseValue(variables[variable] ?? '')),
      isProject: false,
      originOf: () => origin,
    };
  });
}

/** The path that a variable sets, with the provider's name as spelled elsewhere. */
function variablePath(variable: string, providers: readonly string[]): readonly string[] {
  const path = variable
    .replace(/^BATON_/, '')
    .toLowerCase()
    .split('__');
  const [table = '', name, ...rest] = path;
  if (table !== PROVIDERS || name === undefined || providers.includes(name)) return path;
  const spelled = `BATON_${table}__${name}`.toUpperCase();
  const meant = providers.find((provider) => environmentName([table, provider]) === spelled);
  return [table, meant ?? name, ...rest];
}

function nest(path: readonly string[], value: TomlValue): TomlTable {
  // Object.fromEntries defines own keys, so `__proto__` is an unknown key like any other.
  const tree = path.reduceRight<TomlValue>((inner, key) => Object.fromEntries([[key, inner]]), value);
  return tree as TomlTable;
}

function parseValue(text: string): TomlValue {
  try {
    const { value, ...more } = parse(`value = ${text}`);
    if (value !== undefined && Object.keys(more).length === 0) return value;
  } catch {
    // An unquoted string; the schema decides whether the key accepts one.
  }
  return text;
}

function readFileLayer({ source, file, text }: ConfigText): Layer | ConfigProblem {
  let values: TomlTable;
  try {
    values = parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [reason = ''] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    const origin = { source, file, line: error.line };
    const place = `${describePlace(origin)}:${error.column}`;
    return { message: `${place}: this is not valid TOML: ${reason}.`, origin };
  }
  let locate: ReturnType<typeof locateKeys> | undefined;
  return {
    values,
    isProject: source === 'project',
    originOf: (path) => {
      locate ??= locateKeys(text);
      const line = locate(path);
      return line === undefined ? { source, file } : { source, file, line };
    },
  };
}

/** @param listed every setting with its facts, needed only to report problems */
function findProblems(layer: Layer, listed: () => readonly Setting[]): readonly ConfigProblem[] {
  const refused = layer.isProject ? findUserOnly(layer) : [];
  const result = ConfigSchema.safeParse(layer.values);
  const issues = result.success ? [] : result.error.issues;
  const settings = issues.length === 0 ? [] : listed();
  const problems = issues.flatMap((issue) => {
    const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
    if (issue.code === 'invalid_key') return [];
    if (issue.code !== 'unrecognized_keys') return [explainValue(layer, path, settings)];
    return issue.keys.map((key) => explainUnknown(layer, [...path, key], settings));
  });
  const misnamed = tableNames(layer.values).filter((name) => !isProviderName(name));
  const other = [...problems, ...misnamed.map((name) => explainName(layer, name))].filter(
    ({ key }) => !refused.some((one) => one.key === key || key?.startsWith(`${one.key}.`) === true),
  );
  return [...refused, ...other].toSorted((one, next) => lineOf(one.origin) - lineOf(next.origin));
}

/** The settings that a project's file may not hold. */
function findUserOnly(layer: Layer): readonly (ConfigProblem & { readonly key: string })[] {
  return listUserOnly().flatMap((path) => {
    if (valueAt(layer.values, path) === undefined) return [];
    const origin = layer.originOf(path);
    const key = path.join('.');
    const message =
      `${describePlace(origin)}: ${key} may not be set by a project, whose file came with it: ` +
      'set it in your own config.toml, or name this file with --config if you trust it.';
    return [{ message, origin, key, allowed: "nothing in a project's file" }];
  });
}

function explainName(layer: Layer, name: string): ConfigProblem {
  const origin = layer.originOf([PROVIDERS, name]);
  const shown = showKey([PROVIDERS, name]);
  const message = `${describePlace(origin)}: ${shown} is not the name of a provider, which must be ${PROVIDER_NAME_ALLOWED}.`;
  return { message, origin, key: `${PROVIDERS}.${name}`, allowed: PROVIDER_NAME_ALLOWED };
}

function lineOf(origin: ValueOrigin): number {
  return 'line' in origin ? (origin.line ?? 0) : 0;
}

function explainValue(layer: Layer, path: IssuePath, settings: readonly Setting[]): ConfigProblem {
  const key = keyOf(path);
  const member = listMembers(settings).find((candidate) => candidate.key === key);
  const setting = member ?? settings.find((candidate) => candidate.key === key);
  // A fault in one member of a list concerns the whole list, but a table reports its own keys.
  const place = member === undefined ? path.filter((part) => typeof part === 'string') : path;
  const origin = originNear(layer, place);
  const allowed = setting === undefined ? 'a table' : describeAllowed(setting);
  if (setting?.mayHoldSecret === true) {
    return { message: `${describePlace(origin)}: ${key} must be ${allowed}.`, origin, key, allowed };
  }
  const value = showValue(valueAt(layer.values, place));
  const message = `${describePlace(origin)}: ${key} is ${value}, but must be ${allowed}.`;
  return { message, origin, key, value, allowed };
}

/** The keys of a path, without indexes. */
function keyOf(path: IssuePath): string {
  return path.filter((part) => typeof part === 'string').join('.');
}

function listMembers(settings: readonly Setting[]): readonly Setting[] {
  return settings.flatMap(({ members }) => members ?? []);
}

/** Where a key is set; for a missing key, where its table is. */
function originNear(layer: Layer, path: IssuePath): ValueOrigin {
  const origin = layer.originOf(path);
  const isInFile = origin.source === 'user' || origin.source === 'project';
  return isInFile && origin.line === undefined && path.length > 1
    ? originNear(layer, path.slice(0, -1))
    : origin;
}

function explainUnknown(layer: Layer, path: IssuePath, settings: readonly Setting[]): ConfigProblem {
  const origin = layer.originOf(path);
  const key = keyOf(path);
  const tables = new Set(
    settings.map((setting) => setting.path.slice(0, -1).join('.')).filter((name) => name !== ''),
  );
  const known = [...settings, ...listMembers(settings)].map((setting) => setting.key);
  const nearest = nearestName(key, [...known, ...tables]);
  const start = `${describePlace(origin)}: unknown key ${showKey(path.filter((part) => typeof part === 'string'))}`;
  if (nearest === undefined) return { message: `${start}${knownBeside(key, settings)}.`, origin, key };
  const spelling = origin.source === 'environment' ? environmentName(nearest.split('.')) : nearest;
  return { message: `${start}; the nearest known one is ${spelling}.`, origin, key, nearest };
}

/** The keys of a table in a list: there are few, and other tools use different names. */
function knownBeside(key: string, settings: readonly Setting[]): string {
  const list = settings.find(({ kind, key: table }) => kind === 'tables' && key.startsWith(`${table}.`));
  const names = (list?.members ?? []).map(({ path }) => path.at(-1));
  return names.length === 0 ? '' : `; known there: ${names.join(', ')}`;
}

function invalidConfig(problems: readonly ConfigProblem[]): BatonError {
  const sentences = problems.map(({ message }) => message);
  const message =
    problems.length === 1
      ? sentences.join('')
      : [`The configuration has ${problems.length} problems:`, ...sentences].join('\n  ');
  return new BatonError('config_invalid', message, {
    cure: '`baton config init` writes a file that lists every key with its range and default.',
    data: { problems },
  });
}

function findWarnings(config: Config, origins: ReadonlyMap<string, ValueOrigin>): readonly string[] {
  const warnings: string[] = [];
  warnings.push(...findHalfNamed(config, origins));
  const percent = origins.get('compact.auto_compact_pct_override');
  if (percent !== undefined && config.compact.autoCompactThreshold !== undefined) {
    warnings.push(
      `${describePlace(percent)}: compact.auto_compact_pct_override has no effect ` +
        'while compact.auto_compact_threshold is set.',
    );
  }
  return warnings;
}

/** A model without its provider, or the reverse, has no effect. */
function findHalfNamed(
  { modelContextWindow }: Config,
  origins: ReadonlyMap<string, ValueOrigin>,
): readonly string[] {
  const model = origins.get('model');
  const provider = origins.get('model_provider');
  if (model !== undefined && provider === undefined && modelContextWindow === undefined) {
    return [`${describePlace(model)}: model has no effect without model_provider.`];
  }
  if (model === undefined && provider !== undefined) {
    return [`${describePlace(provider)}: model_provider has no effect without model.`];
  }
  return [];
}

function showValue(value: TomlValue | undefined): string {
  if (typeof value === 'number') return String(value);
  if (value instanceof Date) return value.toISOString();
  return shorten(JSON.stringify(value) ?? 'nothing');
}

function showKey(path: readonly string[]): string {
  return shorten(path.map((key) => (/^[\w-]+$/.test(key) ? key : quote(key))).join('.'));
}

function quote(text: string): string {
  return JSON.stringify(shorten(text));
}
