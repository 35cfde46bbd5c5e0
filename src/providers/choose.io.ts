// Chooses a provider when none is named: one whose key is set, else a model on this machine.

import { randomUUID } from 'node:crypto';
import { BUILT_IN_PROVIDERS } from '../config/model-providers.ts';
import type { ModelProvider } from '../config/model-providers.ts';
import { nearestName } from '../text/nearest.ts';
import { BatonError } from '../errors.ts';
import { isJsonObject, objectsAt, stringAt } from '../formats/fields.ts';
import type { Model } from '../ports.ts';
import type { ProviderSettings } from './wires/adapter.ts';
import { anthropicModel } from './wires/anthropic.ts';
import type { ModelFailure } from './errors.ts';
import { chatModel } from './wires/openai-chat.ts';
import { responsesModel } from './wires/openai-responses.ts';
import { DEFAULT_RETRY_POLICY } from './retry.ts';

/** An available provider. */
export interface ProviderChoice {
  /** Its key in `[model_providers]`. */
  readonly key: string;
  readonly provider: ModelProvider;
  /** Empty where no key is needed. */
  readonly apiKey: string;
  /** The default model; undefined: the user has to name one. */
  readonly model: string | undefined;
}

/** What a choice depends on. */
export interface ChoiceSources {
  readonly providers: ReadonlyMap<string, ModelProvider>;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** `model_provider`: the key of the configured provider. */
  readonly wanted?: string;
  /** The models of a local server, or undefined where none answers. */
  readonly listModels: (baseUrl: string) => Promise<readonly string[] | undefined>;
}

/** @source docs/decisions/providers.md */
const DEFAULT_MODELS: ReadonlyMap<string, string> = new Map([
  ['openai', 'gpt-5.1'],
  ['anthropic', 'claude-sonnet-4-6'],
]);

/**
 * The configured provider; else OpenAI or Anthropic if their key is set, else a local Ollama with a model. Undefined if there is
 * none, which is an expected outcome (a rehearsal needs none).
 * @throws BatonError `config_invalid` for a provider that does not exist; `model_auth` where its key is missing
 * @source spec 4-session §4
 */
export async function chooseProvider(sources: ChoiceSources): Promise<ProviderChoice | undefined> {
  const { providers, environment, wanted, listModels } = sources;
  if (wanted !== undefined) return providerNamed(wanted, sources);
  for (const key of ['openai', 'anthropic'] as const) {
    const provider = providers.get(key) ?? BUILT_IN_PROVIDERS[key];
    const apiKey = keyIn(environment, provider);
    if (apiKey !== '') return { key, provider, apiKey, model: DEFAULT_MODELS.get(key) };
  }
  const ollama = providers.get('ollama') ?? BUILT_IN_PROVIDERS.ollama;
  const [model] = (await listModels(ollama.baseUrl)) ?? [];
  if (model === undefined) return undefined;
  return { key: 'ollama', provider: ollama, apiKey: keyIn(environment, ollama), model };
}

/**
 * A provider by its name, with its key.
 * @param model the model to use; without it the default of the provider, or the first of a local Ollama
 * @throws BatonError `config_invalid` for a provider that does not exist; `model_auth` where its key is not set
 */
export async function providerNamed(
  key: string,
  { providers, environment, listModels }: Omit<ChoiceSources, 'wanted'>,
  model?: string,
): Promise<ProviderChoice> {
  const provider = providers.get(key);
  if (provider === undefined) throw unknownProvider(key, [...providers.keys()]);
  const apiKey = keyIn(environment, provider);
  if (!isKeySet(environment, provider)) {
    throw new BatonError('model_auth', `${provider.name} needs a key, and ${provider.envKey} is not set.`, {
      cure: `Set ${provider.envKey} to your key.`,
      data: { provider: key, isRetryable: false } satisfies ModelFailure,
    });
  }
  if (model !== undefined) return { key, provider, apiKey, model };
  const [local] = key === 'ollama' ? ((await listModels(provider.baseUrl)) ?? []) : [];
  return { key, provider, apiKey, model: DEFAULT_MODELS.get(key) ?? local };
}

function unknownProvider(key: string, known: readonly string[]): BatonError {
  const nearest = nearestName(key.toLowerCase(), known);
  const hint = nearest === undefined ? '' : `; the nearest is ${nearest}`;
  return new BatonError('config_invalid', `Unknown model provider ${JSON.stringify(key)}${hint}.`, {
    cure: `Known providers: ${known.join(', ')}; others need a table [model_providers.NAME]. Write a model as PROVIDER/MODEL.`,
    data: { provider: key, known, ...(nearest === undefined ? {} : { nearest }) },
  });
}

/** Whether a provider's required key is set; true where it needs none. */
export function isKeySet(environment: ChoiceSources['environment'], provider: ModelProvider): boolean {
  return provider.envKey === '' || keyIn(environment, provider) !== '';
}

/** Trims keys, which are often pasted with a line feed. */
function keyIn(environment: ChoiceSources['environment'], { envKey }: ModelProvider): string {
  return envKey === '' ? '' : (environment[envKey] ?? '').trim();
}

/** Longest wait for a local server, in milliseconds: a running one answers immediately. */
const PROBE_TIMEOUT_MS = 500;

/** Largest list of models, in bytes: the list of a server with a thousand models is a fifth of that. */
const MAX_LIST_BYTES = 1024 * 1024;

/** The model names of a server with an OpenAI-compatible list; undefined if none answers within the time limit. */
export async function listLocalModels(
  baseUrl: string,
  patienceMs = PROBE_TIMEOUT_MS,
): Promise<readonly string[] | undefined> {
  try {
    const response = await fetch(`${baseUrl.replace(/(?<!\/)\/+$/, '')}/models`, {
      signal: AbortSignal.timeout(patienceMs),
      redirect: 'error',
      headers: { 'accept-encoding': 'identity' },
    });
    const body = await listIn(response);
    if (!isJsonObject(body)) return undefined;
    return objectsAt(body, 'data').flatMap((model) => stringAt(model, 'id') ?? []);
  } catch {
    return undefined;
  }
}

/** Rejects compressed answers: `fetch` unpacks them, and a small answer may expand to gigabytes. */
async function listIn({ ok, headers, body }: Response): Promise<unknown> {
  const encoding = headers.get('content-encoding') ?? 'identity';
  if (body === null) return undefined;
  if (!ok || !/^\s*identity\s*$/i.test(encoding)) {
    await body.cancel();
    return undefined;
  }
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > MAX_LIST_BYTES) return undefined;
    chunks.push(chunk);
  }
  return JSON.parse(Buffer.concat(chunks).toString('utf8'));
}

/** The model behind a provider. @param random see `ProviderSettings.random` */
export function openModel(
  { key, provider, apiKey }: ProviderChoice,
  random: () => number = Math.random,
): Model {
  const settings: ProviderSettings = {
    provider: key,
    baseUrl: provider.baseUrl,
    apiKey,
    idleTimeoutMs: provider.streamIdleTimeoutMs,
    answerTimeoutMs: provider.answerTimeoutMs,
    retry: {
      ...DEFAULT_RETRY_POLICY,
      requestMaxRetries: provider.requestMaxRetries,
      streamMaxRetries: provider.streamMaxRetries,
    },
    random,
  };
  const isOpenAi = new URL(provider.baseUrl).hostname === 'api.openai.com';
  switch (provider.wireApi) {
    case 'anthropic':
      return anthropicModel(settings);
    case 'chat':
      return chatModel({
        ...settings,
        outputLimitKey: isOpenAi ? 'max_completion_tokens' : 'max_tokens',
        newId: () => `call_${randomUUID().replaceAll('-', '')}`,
      });
    case 'responses': {
      const { remoteCompaction: compaction } = provider;
      return responsesModel(settings, {
        ...(compaction === undefined ? {} : { compaction }),
        countsTokens: isOpenAi,
      });
    }
  }
}
