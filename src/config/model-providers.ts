// Resolves `[model_providers.NAME]`: every known provider, with its defaults filled in.

import type { WireApi } from '../vocabulary.ts';
import type { Config } from './schema.ts';

/** One provider, with its defaults filled in. */
export interface ModelProvider {
  /** Display name. */
  readonly name: string;
  /** Includes the version: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly wireApi: WireApi;
  /** The environment variable that holds the key; empty: Baton sends no key. */
  readonly envKey: string;
  readonly requestMaxRetries: number;
  readonly streamMaxRetries: number;
  readonly streamIdleTimeoutMs: number;
  readonly answerTimeoutMs: number;
  /** How the provider compacts a history itself, if it can; Responses only. */
  readonly remoteCompaction: 'trigger' | 'endpoint' | undefined;
}

/** `[model_providers]` in camelCase. */
export type ProviderTables = Config['modelProviders'];
type ProviderTable = ProviderTables[string];

/** @source spec 1-product, after Codex; `answerTimeoutMs`: docs/decisions/limits.md */
const DEFAULTS = {
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeoutMs: 300_000,
  answerTimeoutMs: 1_800_000,
  remoteCompaction: undefined,
};

/** The providers that need no table. A table of the same name overrides only the keys it sets. */
export const BUILT_IN_PROVIDERS: Readonly<Record<'openai' | 'anthropic' | 'ollama', ModelProvider>> = {
  openai: {
    ...DEFAULTS,
    name: 'OpenAI',
    baseUrl: 'https://api.openai.com/v1',
    wireApi: 'responses',
    envKey: 'OPENAI_API_KEY',
    remoteCompaction: 'trigger',
  },
  anthropic: {
    ...DEFAULTS,
    name: 'Anthropic',
    baseUrl: 'https://api.anthropic.com/v1',
    wireApi: 'anthropic',
    envKey: 'ANTHROPIC_API_KEY',
  },
  ollama: {
    ...DEFAULTS,
    name: 'Ollama',
    baseUrl: 'http://127.0.0.1:11434/v1',
    wireApi: 'chat',
    envKey: '',
  },
};

const BUILT_IN: ReadonlyMap<string, ModelProvider> = new Map(Object.entries(BUILT_IN_PROVIDERS));

/** Why a table cannot be a provider. */
export interface UnusableTable {
  readonly provider: string;
  /** The key that is missing or wrong. */
  readonly key: 'base_url' | 'wire_api' | 'remote_compaction';
  /** The fault; reads after the key. */
  readonly message: string;
}

/** Tables that are incomplete: a provider that Baton does not know needs an address and a wire API, for example. */
export function findUnusableTables(tables: ProviderTables): readonly UnusableTable[] {
  return Object.entries(tables).flatMap(([provider, table]) => {
    const base = BUILT_IN.get(provider);
    const problems: UnusableTable[] = [];
    if (base === undefined) {
      const message = `is needed, since ${provider} is not a provider that Baton knows`;
      if (table.baseUrl === undefined) problems.push({ provider, key: 'base_url', message });
      if (table.wireApi === undefined) problems.push({ provider, key: 'wire_api', message });
    }
    const wireApi = table.wireApi ?? base?.wireApi;
    const compacts = table.remoteCompaction !== undefined && table.remoteCompaction !== 'off';
    if (compacts && wireApi !== undefined && wireApi !== 'responses') {
      const message = `needs wire_api = "responses", and ${provider} speaks ${wireApi}`;
      problems.push({ provider, key: 'remote_compaction', message });
    }
    return problems;
  });
}

/**
 * All providers: the built-in ones, then those of `[model_providers]` in file order.
 * @throws RangeError for a table that `findUnusableTables` rejects; valid configurations have none
 */
export function resolveModelProviders(tables: ProviderTables = {}): ReadonlyMap<string, ModelProvider> {
  const [unusable] = findUnusableTables(tables);
  if (unusable !== undefined) {
    throw new RangeError(`model_providers.${unusable.provider}.${unusable.key} ${unusable.message}`);
  }
  const providers = new Map(BUILT_IN);
  for (const [key, table] of Object.entries(tables)) {
    providers.set(key, fillIn(table, BUILT_IN.get(key) ?? emptyProvider(key)));
  }
  return providers;
}

/** The defaults of a provider that Baton does not know; its table sets address and wire API. */
function emptyProvider(key: string): ModelProvider {
  return { ...DEFAULTS, name: key, baseUrl: '', wireApi: 'chat', envKey: '' };
}

function fillIn(table: ProviderTable, base: ModelProvider): ModelProvider {
  const wireApi = table.wireApi ?? base.wireApi;
  const compaction = table.remoteCompaction === 'off' ? undefined : table.remoteCompaction;
  return {
    name: table.name ?? base.name,
    baseUrl: table.baseUrl ?? base.baseUrl,
    wireApi,
    envKey: table.envKey ?? base.envKey,
    requestMaxRetries: table.requestMaxRetries ?? base.requestMaxRetries,
    streamMaxRetries: table.streamMaxRetries ?? base.streamMaxRetries,
    streamIdleTimeoutMs: table.streamIdleTimeoutMs ?? base.streamIdleTimeoutMs,
    answerTimeoutMs: table.answerTimeoutMs ?? base.answerTimeoutMs,
    remoteCompaction:
      wireApi !== 'responses'
        ? undefined
        : table.remoteCompaction === undefined
          ? base.remoteCompaction
          : compaction,
  };
}
