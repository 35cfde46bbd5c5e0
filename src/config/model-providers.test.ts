import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatonError } from '../errors.ts';
import { BUILT_IN_PROVIDERS, resolveModelProviders } from './model-providers.ts';
import type { ModelProvider } from './model-providers.ts';
import { resolveConfig } from './resolve.ts';

/** The providers that a user's file comes to. */
function providersOf(text: string): ReadonlyMap<string, ModelProvider> {
  const files = [{ source: 'user', file: '/home/me/config.toml', text }] as const;
  return resolveModelProviders(resolveConfig({ overrides: [], variables: {}, files }).config.modelProviders);
}

test('without a table there are the built-in providers', () => {
  assert.deepEqual([...providersOf('').keys()], ['openai', 'anthropic', 'ollama']);
  assert.deepEqual(providersOf('[model_providers.ollama]').get('ollama'), BUILT_IN_PROVIDERS.ollama);
});

test('a table of a built-in provider changes what it names and nothing else', () => {
  const openai = providersOf(
    '[model_providers.openai]\nbase_url = "https://gate.example/v1"\nremote_compaction = "off"',
  ).get('openai');
  assert.deepEqual(openai, {
    ...BUILT_IN_PROVIDERS.openai,
    baseUrl: 'https://gate.example/v1',
    remoteCompaction: undefined,
  });
});

test('OpenAI behind another language does not compact', () => {
  const openai = providersOf('[model_providers.openai]\nwire_api = "chat"').get('openai');
  assert.deepEqual(openai, { ...BUILT_IN_PROVIDERS.openai, wireApi: 'chat', remoteCompaction: undefined });
});

test('every key of a table arrives, and names stay what they are', () => {
  const providers = providersOf(`[model_providers.my_own-Lab]
    name = "Mine"
    base_url = "http://127.0.0.1:1/v1"
    wire_api = "responses"
    env_key = "MY_KEY"
    request_max_retries = 1
    stream_max_retries = 2
    stream_idle_timeout_ms = 3
    remote_compaction = "endpoint"`);
  assert.deepEqual([...providers.keys()], ['openai', 'anthropic', 'ollama', 'my_own-Lab']);
  assert.deepEqual(providers.get('my_own-Lab'), {
    name: 'Mine',
    baseUrl: 'http://127.0.0.1:1/v1',
    wireApi: 'responses',
    envKey: 'MY_KEY',
    requestMaxRetries: 1,
    streamMaxRetries: 2,
    streamIdleTimeoutMs: 3,
    answerTimeoutMs: 1_800_000,
    remoteCompaction: 'endpoint',
  });
});

const LAB = '[model_providers.lab]\nbase_url = "http://a.example/v1"\nwire_api = "chat"\n';

test('a table of a new name has the defaults of the rest', () => {
  assert.deepEqual(providersOf(LAB).get('lab'), {
    name: 'lab',
    baseUrl: 'http://a.example/v1',
    wireApi: 'chat',
    envKey: '',
    requestMaxRetries: 4,
    streamMaxRetries: 5,
    streamIdleTimeoutMs: 300_000,
    answerTimeoutMs: 1_800_000,
    remoteCompaction: undefined,
  });
});

for (const [text, complaint] of [
  [
    '[model_providers.lab]\nbase_url = "http://a.example"',
    /:1: model_providers\.lab\.wire_api is needed, since lab is not a provider/,
  ],
  ['\n[model_providers.lab]\nwire_api = "chat"', /:2: model_providers\.lab\.base_url is needed/],
  ['[model_providers.lab]', /:1: model_providers\.lab\.base_url is needed/],
  ['model_providers.lab = 5', /:1: model_providers\.lab is 5, but must be a table/],
  ['model_providers = 5', /:1: model_providers is 5, but must be a table/],
  [`${LAB}wire_apy = "chat"`, /unknown key .*; the nearest known one is model_providers\.lab\.wire_api/],
  [LAB.replace('chat', 'grpc'), /:3: model_providers\.lab\.wire_api is "grpc", but must be one of/],
  [LAB.replace('http:', 'ftp:'), /:2: model_providers\.lab\.base_url must be an address in quotes/],
  [LAB.replace('a.example', 'me:sk-1@a.example'), /:2: model_providers\.lab\.base_url must be/],
  [LAB.replace('/v1', '/v1?key=sk-1'), /:2: model_providers\.lab\.base_url must be/],
  [`${LAB}env_key = "sk-not a name"`, /:4: model_providers\.lab\.env_key must be the name of an env/],
  [`${LAB}api_key = "sk-secret"`, /:4: unknown key model_providers\.lab\.api_key/],
  [`${LAB}request_max_retries = -1`, /request_max_retries is -1/],
  [`${LAB}remote_compaction = "trigger"`, /:4: .*remote_compaction needs wire_api = "responses", and lab/],
  [
    '[model_providers.ollama]\nremote_compaction = "trigger"',
    /:2: .*remote_compaction needs wire_api = "responses"/,
  ],
  [LAB.replace('lab', '"a b"'), /:1: model_providers\."a b" is not the name of a provider, which must be/],
  [LAB.replace('lab', '"a.b"'), /is not the name of a provider/],
  [LAB.replace('lab', 'embedded'), /is not the name of a provider, .* not "embedded"/],
  [LAB.replace('lab', '__proto__'), /:1: model_providers\.__proto__ is not the name/],
] as const) {
  test(`${JSON.stringify(text)} is refused`, () => {
    assert.throws(
      () => providersOf(text),
      (error) => {
        assert.ok(error instanceof BatonError, String(error));
        assert.equal(error.code, 'config_invalid');
        assert.match(error.message, complaint);
        assert.doesNotMatch(error.message + JSON.stringify(error.data), /sk-/);
        return true;
      },
    );
  });
}

test('names of prototypes are names like others', () => {
  const providers = providersOf(LAB.replace('lab', 'constructor') + LAB.replace('lab', 'toString'));
  assert.deepEqual([...providers.keys()].slice(3), ['constructor', 'toString']);
  assert.equal(providers.get('toString')?.baseUrl, 'http://a.example/v1');
});

test('tables that no configuration lets through are a mistake of the caller', () => {
  assert.throws(() => resolveModelProviders({ lab: { wireApi: 'chat' } }), RangeError);
});
