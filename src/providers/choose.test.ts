import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { collect, KEY, request } from '../../test/support/provider-server/client.ts';
import { startProviderServer } from '../../test/support/provider-server/server.ts';
import { resolveModelProviders } from '../config/model-providers.ts';
import { BatonError } from '../errors.ts';
import { WIRE_APIS } from '../vocabulary.ts';
import { chooseProvider, listLocalModels, openModel } from './choose.io.ts';
import type { ChoiceSources } from './choose.io.ts';

const server = await startProviderServer({ key: KEY, replies: [{ text: 'Aye.' }] });
after(() => server.close());

const providers = resolveModelProviders();
const listModels = async (): Promise<readonly string[]> => ['qwen3:8b', 'other'];
const nobody = async (): Promise<undefined> => undefined;
const choose = (changed: Partial<ChoiceSources>) =>
  chooseProvider({ providers, environment: {}, listModels: nobody, ...changed });

test('OpenAI by its key, else Anthropic by its key, else what runs here, else nobody', async () => {
  const both = { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' };
  assert.equal((await choose({ environment: both, listModels }))?.key, 'openai');
  const second = await choose({ environment: { ...both, OPENAI_API_KEY: ' ' }, listModels });
  assert.deepEqual([second?.key, second?.apiKey], ['anthropic', 'b']);
  const local = await choose({ listModels });
  assert.deepEqual([local?.key, local?.model], ['ollama', 'qwen3:8b']);
  assert.equal(await choose({ listModels: async () => [] }), undefined);
  assert.equal(await choose({}), undefined);
});

test('a line feed at the end of a key is not part of it', async () => {
  assert.equal((await choose({ environment: { OPENAI_API_KEY: 'a\n' } }))?.apiKey, 'a');
});

test('a provider that is asked for is taken, or said to be missing', async () => {
  const code = (expected: string) => (error: unknown) =>
    error instanceof BatonError && error.code === expected;
  const environment = { OPENAI_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' };
  assert.equal((await choose({ wanted: 'anthropic', environment }))?.key, 'anthropic');
  await assert.rejects(
    choose({ wanted: 'anthropic', environment: { OPENAI_API_KEY: 'a' } }),
    code('model_auth'),
  );
  await assert.rejects(choose({ wanted: 'nobody', environment }), code('config_invalid'));
});

test('local models are listed where a server answers', async () => {
  assert.deepEqual(await listLocalModels(server.baseUrl, 60_000), ['loopback']);
  assert.equal(await listLocalModels(`${server.baseUrl}/nothing`), undefined);
  assert.equal(await listLocalModels('http://127.0.0.1:1/v1'), undefined);
});

const LIST = JSON.stringify({ data: [{ id: 'one' }] });
for (const [what, encoding, body, expected] of [
  ['is short', 'identity', Buffer.from(LIST), ['one']],
  ['is compressed', 'gzip', gzipSync(LIST), undefined],
  ['is too long', 'identity', Buffer.from(LIST + ' '.repeat(2 * 1024 * 1024)), undefined],
] as const) {
  test(`a list of models that ${what} is ${expected === undefined ? 'not read' : 'read'}`, async () => {
    const lister = createServer((_, answer) => {
      answer.writeHead(200, { 'content-encoding': encoding });
      answer.end(body);
    });
    lister.listen(0, '127.0.0.1');
    await once(lister, 'listening');
    const address = lister.address();
    assert.ok(typeof address === 'object' && address !== null);
    try {
      assert.deepEqual(await listLocalModels(`http://127.0.0.1:${address.port}/v1`, 60_000), expected);
    } finally {
      lister.closeAllConnections();
      lister.close();
    }
  });
}

for (const wireApi of WIRE_APIS) {
  test(`a configured provider that speaks ${wireApi} is opened and answers`, async () => {
    const own = resolveModelProviders({
      mine: { baseUrl: `${server.baseUrl}/`, wireApi, envKey: 'MY_KEY' },
    });
    const choice = await choose({ providers: own, wanted: 'mine', environment: { MY_KEY: KEY } });
    assert.ok(choice, 'nobody was chosen');
    const model = openModel(choice);
    const { events, error } = await collect(model.stream(request(wireApi), new AbortController().signal));
    assert.equal(error, undefined);
    assert.deepEqual(events.at(-1), { type: 'completed', stopReason: 'end_turn' });
    assert.equal(model.compactRemote, undefined, 'nobody said that this provider compacts');
  });
}

test('OpenAI itself compacts and counts', async () => {
  const choice = await choose({ environment: { OPENAI_API_KEY: 'a' } });
  assert.ok(choice, 'nobody was chosen');
  const model = openModel(choice);
  assert.ok(model.compactRemote && model.countTokens, 'it cannot');
});
