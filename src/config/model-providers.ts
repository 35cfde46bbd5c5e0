// `[model_providers.NAME]`: where models are reached. Apart from the schema of the other settings because its names are
// the user's own; it joins it together with the first command that reads it.

import * as z from 'zod';
import { BatonError } from '../errors.ts';
import { WIRE_APIS } from '../vocabulary.ts';
import type { WireApi } from '../vocabulary.ts';

/** One provider, with its defaults filled in. */
export interface ModelProvider {
  /** For people. */
  readonly name: string;
  /** With the version: `https://api.openai.com/v1`. */
  readonly baseUrl: string;
  readonly wireApi: WireApi;
  /** The environment variable that holds the key; empty: none is sent. */
  readonly envKey: string;
  readonly requestMaxRetries: number;
  readonly streamMaxRetries: number;
  readonly streamIdleTimeoutMs: number;
  /** How it compacts a history itself, if it does; Responses only. */
  readonly remoteCompaction: 'trigger' | 'endpoint' | undefined;
}

/** @source numbers: spec 1-product, after Codex; remote_compaction: codex-behaviour §4.3 */
const TableSchema = z.strictObject({
  name: z.string().min(1).optional(),
  base_url: z.url({ protocol: /^https?$/ }).optional(),
  wire_api: z.enum(WIRE_APIS).optional(),
  env_key: z
    .string()
    .regex(/^(?:[A-Za-z_]\w*)?$/)
    .optional(),
  request_max_retries: z.int().min(0).max(100).optional(),
  stream_max_retries: z.int().min(0).max(100).optional(),
  stream_idle_timeout_ms: z.int().min(1).optional(),
  remote_compaction: z.enum(['trigger', 'endpoint', 'off']).optional(),
});

const TablesSchema = z.record(z.string().regex(/^[\w-]+$/), TableSchema);

const DEFAULTS = {
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  streamIdleTimeoutMs: 300_000,
  remoteCompaction: undefined,
};

/** The providers that need no table. A table of the same name changes what it names and nothing else. */
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

/**
 * All providers: the built-in ones and those of `[model_providers]`.
 * @param tables the value of that key, as TOML gave it
 * @throws BatonError `config_invalid` with every problem, by key
 */
export function resolveModelProviders(tables: unknown): ReadonlyMap<string, ModelProvider> {
  const parsed = TablesSchema.safeParse(tables ?? {});
  if (!parsed.success) {
    throw invalid(
      parsed.error.issues.map((issue) => `${['model_providers', ...issue.path].join('.')}: ${issue.message}`),
    );
  }
  const providers = new Map<string, ModelProvider>(Object.entries(BUILT_IN_PROVIDERS));
  const problems: string[] = [];
  for (const [key, table] of Object.entries(parsed.data)) {
    const base = providers.get(key);
    const baseUrl = table.base_url ?? base?.baseUrl;
    const wireApi = table.wire_api ?? base?.wireApi;
    if (baseUrl === undefined || wireApi === undefined) {
      const missing = baseUrl === undefined ? 'base_url' : 'wire_api';
      problems.push(`model_providers.${key} is no provider that Baton knows, so it needs ${missing}.`);
      continue;
    }
    const known = base ?? { ...DEFAULTS, name: key, envKey: '' };
    const compaction = table.remote_compaction;
    const remoteCompaction =
      compaction === undefined ? known.remoteCompaction : compaction === 'off' ? undefined : compaction;
    if (remoteCompaction !== undefined && wireApi !== 'responses' && compaction !== undefined) {
      problems.push(`model_providers.${key}.remote_compaction needs wire_api = "responses".`);
    }
    providers.set(key, {
      name: table.name ?? known.name,
      baseUrl,
      wireApi,
      envKey: table.env_key ?? known.envKey,
      requestMaxRetries: table.request_max_retries ?? known.requestMaxRetries,
      streamMaxRetries: table.stream_max_retries ?? known.streamMaxRetries,
      streamIdleTimeoutMs: table.stream_idle_timeout_ms ?? known.streamIdleTimeoutMs,
      remoteCompaction: wireApi === 'responses' ? remoteCompaction : undefined,
    });
  }
  if (problems.length > 0) throw invalid(problems);
  return providers;
}

function invalid(problems: readonly string[]): BatonError {
  return new BatonError('config_invalid', problems.join('\n'), {
    cure: 'See [model_providers] in docs/decisions/providers.md.',
    data: { problems },
  });
}
