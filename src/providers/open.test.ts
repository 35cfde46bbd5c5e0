import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { collect, KEY, request } from '../../test/support/provider-server/client.ts';
import { startProviderServer } from '../../test/support/provider-server/server.ts';
import { resolveModelProviders } from '../config/model-providers.ts';
import { BatonError } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import { openNamedModel } from './open.ts';
import type { ModelSources } from './open.ts';

const server = await startProviderServer({ key: KEY, replies: [{ text: 'Aye.' }] });
after(() => server.close());

const SOURCES: ModelSources = {
  providers: resolveModelProviders({
    lab: { baseUrl: server.baseUrl, wireApi: 'chat', envKey: 'LAB_KEY' },
    bare: { baseUrl: server.baseUrl, wireApi: 'responses' },
  }),
  environment: { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b', LAB_KEY: KEY },
  listModels: async () => assert.fail('somebody was asked for a list'),
  configured: {},
};

const open = (text: string, changed: Partial<ModelSources> = {}) =>
  openNamedModel(text, { ...SOURCES, ...changed });

const local = (...models: readonly string[]): Partial<ModelSources> => ({ listModels: async () => models });

describe('a name', () => {
  for (const [text, provider, name] of [
    ['openai/gpt-5.1', 'openai', 'gpt-5.1'],
    ['openai', 'openai', 'gpt-5.1'],
    ['anthropic', 'anthropic', 'claude-sonnet-4-6'],
    ['ollama/qwen3:8b', 'ollama', 'qwen3:8b'],
    ['lab/some/org/model:free', 'lab', 'some/org/model:free'],
    [' lab/model ', 'lab', 'model'],
  ] as const) {
    it(`${JSON.stringify(text)} means ${name} of ${provider}`, async () => {
      const opened = await open(text);
      assert.deepEqual([opened.provider, opened.name, opened.model.provider], [provider, name, provider]);
    });
  }

  it('of Ollama alone means the first model that it lists', async () => {
    assert.equal((await open('ollama', local('qwen3:8b', 'other'))).name, 'qwen3:8b');
  });

  it('of a provider alone means `model` where it is the `model_provider`', async () => {
    const configured = { model: 'gpt-5-mini', modelProvider: 'openai' };
    assert.equal((await open('openai', { configured })).name, 'gpt-5-mini');
    assert.equal((await open('anthropic', { configured })).name, 'claude-sonnet-4-6');
    assert.equal((await open('openai/gpt-5.2', { configured })).name, 'gpt-5.2');
    assert.equal((await open('openai', { configured: { model: 'gpt-5-mini' } })).name, 'gpt-5.1');
    const own = { model: 'mine', modelProvider: 'lab' };
    assert.equal((await open('lab', { configured: own })).name, 'mine');
    assert.equal((await open('ollama', { configured: { ...own, modelProvider: 'ollama' } })).name, 'mine');
  });
});

describe('the window', () => {
  it('of a known model is that of the table, without a word', async () => {
    const { window, warnings, info } = await open('openai/gpt-5.1');
    assert.deepEqual([window, warnings, info.isKnown], [272_000, [], true]);
    assert.ok(info.price !== undefined, 'it has a price');
    assert.equal((await open('lab/openai/gpt-5.1')).window, 272_000, 'behind a gateway, too');
  });

  it('of an unknown model is assumed, with one warning', async () => {
    const { window, warnings } = await open('lab/novel');
    assert.equal(window, 128_000);
    assert.deepEqual(warnings, [
      'The context window of lab/novel is unknown, so Baton assumes 128,000 tokens; ' +
        'set model_context_window in config.toml.',
    ]);
  });

  it('is the configured one for the configured model and for no other', async () => {
    const configured = { model: 'novel', modelProvider: 'lab', modelContextWindow: 32_000 };
    const opened = await open('lab/novel', { configured });
    assert.deepEqual([opened.window, opened.warnings], [32_000, []]);
    assert.equal((await open('lab/other', { configured })).window, 128_000);
    assert.equal((await open('bare/novel', { configured })).window, 128_000);
    assert.equal(
      (await open('openai/gpt-5.1', { configured: { modelContextWindow: 32_000 } })).window,
      272_000,
      'a window without a model is that of the session',
    );
    const unknown = { configured: { modelContextWindow: 32_000 } };
    assert.equal((await open('lab/novel', unknown)).window, 32_000, 'but where nothing else is known');
    const anywhere = { model: 'novel', modelContextWindow: 32_000 };
    assert.equal((await open('bare/novel', { configured: anywhere })).window, 32_000);
  });
});

describe('what cannot be opened', () => {
  const failures: readonly (readonly [
    text: string,
    code: ErrorCode,
    message: RegExp,
    cure: RegExp,
    changed?: Partial<ModelSources>,
  ])[] = [
    ['', 'usage', /^"" does not name a model\.$/, /PROVIDER\/MODEL, for example openai\/gpt-5\.1/],
    ['/gpt-5.1', 'usage', /does not name a model/, /PROVIDER\/MODEL/],
    ['openai/', 'usage', /does not name a model/, /PROVIDER alone/],
    [
      'opnai/gpt-5.1',
      'config_invalid',
      /^Unknown model provider "opnai"; the nearest is openai\.$/,
      /^Known providers: openai, anthropic, ollama, lab, bare; .*\[model_providers\.NAME\]/,
    ],
    ['OpenAI/gpt-5.1', 'config_invalid', /the nearest is openai\.$/, /^Known providers:/],
    ['gpt-5.1', 'config_invalid', /^Unknown model provider "gpt-5\.1"\.$/, /as PROVIDER\/MODEL/],
    ['constructor/x', 'config_invalid', /Unknown model provider "constructor"/, /^Known providers:/],
    [
      'openai/gpt-5.1',
      'model_auth',
      /^OpenAI needs a key, and OPENAI_API_KEY is not set\.$/,
      /^Set OPENAI_API_KEY/,
      { environment: { OPENAI_API_KEY: ' \n' } },
    ],
    ['lab/m', 'model_auth', /LAB_KEY is not set/, /^Set LAB_KEY/, { environment: {} }],
    [
      'bare',
      'model_missing',
      /^bare has no default model\.$/,
      /^Write bare\/MODEL, or set model_provider = "bare" and model/,
    ],
    ['ollama', 'model_missing', /^Ollama does not list a model at http:/, /pull a model/, local()],
    [
      'ollama',
      'model_missing',
      /^Ollama does not list a model at http:/,
      /^Start it/,
      { listModels: async () => undefined },
    ],
  ];
  for (const [text, code, message, cure, changed] of failures) {
    it(`${JSON.stringify(text)} is ${code}: ${message.source}`, async () => {
      await assert.rejects(open(text, changed), (error) => {
        assert.ok(error instanceof BatonError, String(error));
        assert.equal(error.code, code);
        assert.match(error.message, message);
        assert.match(error.cure, cure);
        return true;
      });
    });
  }
});

describe('an opened model', () => {
  const ask = async (text: string) => {
    const { model, name } = await open(text);
    const asked = { ...request('chat'), model: name };
    return collect(model.stream(asked, new AbortController().signal));
  };

  it('answers by the name that its provider knows', async () => {
    const { events, error } = await ask('lab/org/local-model');
    assert.equal(error, undefined);
    assert.deepEqual(events.at(-1), { type: 'completed', stopReason: 'end_turn' });
    assert.equal(server.requests.at(-1)?.body['model'], 'org/local-model');
  });

  it('is sent no key that belongs to another provider', async () => {
    const { error } = await ask('bare/local-model');
    assert.ok(error instanceof BatonError && error.code === 'model_auth', String(error));
    assert.equal(server.requests.at(-1)?.headers['authorization'], undefined);
  });
});
