import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BatonError } from '../errors.ts';
import { BUILT_IN_PROVIDERS, resolveModelProviders } from './model-providers.ts';

test('without a table there are the built-in providers', () => {
  assert.deepEqual([...resolveModelProviders(undefined).keys()], ['openai', 'anthropic', 'ollama']);
  assert.deepEqual(resolveModelProviders({}).get('ollama'), BUILT_IN_PROVIDERS.ollama);
});

test('a table of a built-in provider changes what it names and nothing else', () => {
  const openai = resolveModelProviders({
    openai: { base_url: 'https://gate.example/v1', remote_compaction: 'off' },
  }).get('openai');
  assert.deepEqual(openai, {
    ...BUILT_IN_PROVIDERS.openai,
    baseUrl: 'https://gate.example/v1',
    remoteCompaction: undefined,
  });
});

test('every key of a table arrives', () => {
  const mine = resolveModelProviders({
    mine: {
      name: 'Mine',
      base_url: 'http://127.0.0.1:1/v1',
      wire_api: 'responses',
      env_key: 'MY_KEY',
      request_max_retries: 1,
      stream_max_retries: 2,
      stream_idle_timeout_ms: 3,
      remote_compaction: 'endpoint',
    },
  }).get('mine');
  assert.deepEqual(mine, {
    name: 'Mine',
    baseUrl: 'http://127.0.0.1:1/v1',
    wireApi: 'responses',
    envKey: 'MY_KEY',
    requestMaxRetries: 1,
    streamMaxRetries: 2,
    streamIdleTimeoutMs: 3,
    remoteCompaction: 'endpoint',
  });
});

for (const [tables, complaint] of [
  [{ mine: { base_url: 'http://a.example' } }, /model_providers\.mine .* needs wire_api/],
  [{ mine: { wire_api: 'chat' } }, /needs base_url/],
  [{ mine: { wire_api: 'grpc', base_url: 'http://a.example' } }, /model_providers\.mine\.wire_api/],
  [{ mine: { wire_api: 'chat', base_url: 'ftp://a.example' } }, /model_providers\.mine\.base_url/],
  [{ openai: { api_key: 'sk-secret' } }, /model_providers\.openai: .*api_key/],
  [{ openai: { request_max_retries: -1 } }, /request_max_retries/],
  [{ openai: { env_key: 'sk-not a name' } }, /env_key/],
  [{ ollama: { remote_compaction: 'trigger' } }, /needs wire_api = "responses"/],
  [{ 'a b': {} }, /a b/],
] as const) {
  test(`${JSON.stringify(tables)} is refused`, () => {
    assert.throws(
      () => resolveModelProviders(tables),
      (error) =>
        error instanceof BatonError &&
        error.code === 'config_invalid' &&
        complaint.test(error.message) &&
        !/sk-/.test(error.message),
    );
  });
}
