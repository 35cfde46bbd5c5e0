// `--model` from outside: a config file names a provider, the environment holds its key, a server on the loopback answers.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { temporaryDirectory } from '../../test/support/program.ts';
import { collect, KEY, request } from '../../test/support/provider-server/client.ts';
import { startProviderServer } from '../../test/support/provider-server/server.ts';
import { loadConfig } from '../config/load.io.ts';
import { BatonError } from '../errors.ts';
import { WIRE_APIS } from '../vocabulary.ts';
import { openModelFor } from './models.ts';

const server = await startProviderServer({ key: KEY, replies: [{ text: 'Aye.' }] });
after(() => server.close());

const home = temporaryDirectory();
mkdirSync(join(home, '.baton'));
const tables = WIRE_APIS.map(
  (wire) => `
[model_providers.own-${wire}]
base_url = "${server.baseUrl}"
wire_api = "${wire}"
env_key = "OWN_KEY"
request_max_retries = 0
`,
);
const head = 'model = "local-model"\nmodel_provider = "own-chat"\nmodel_context_window = 40000\n';
writeFileSync(join(home, '.baton/config.toml'), head + tables.join(''));

const openAs = async (flag: string | undefined, env: Readonly<Record<string, string>>) => {
  const warnings: string[] = [];
  const { config } = await loadConfig({ overrides: [] }, { cwd: home, homeDirectory: home, env });
  const world = { env, warn: (warning: string) => void warnings.push(warning) };
  return { opened: await openModelFor(world, config, flag), warnings };
};

for (const wire of WIRE_APIS) {
  test(`a provider that config.toml names is asked in ${wire}, with its key`, async () => {
    const { model: name } = request(wire);
    const { opened } = await openAs(`own-${wire}/${name}`, { OWN_KEY: KEY });
    assert.ok(opened, 'nothing was opened');
    const answer = opened.model.stream(request(wire), new AbortController().signal);
    const { events, error } = await collect(answer);
    assert.equal(error, undefined);
    assert.deepEqual(events.at(-1), { type: 'completed', stopReason: 'end_turn' });
    assert.equal(server.requests.at(-1)?.body['model'], name);
  });
}

test('a provider alone takes model and model_context_window, without a warning', async () => {
  const { opened, warnings } = await openAs('own-chat', { OWN_KEY: KEY });
  assert.deepEqual([opened?.name, opened?.window, warnings], ['local-model', 40_000, []]);
});

test('one warning tells of an unknown window', async () => {
  const { warnings } = await openAs('own-chat/novel', { OWN_KEY: KEY });
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /^The context window of own-chat\/novel is unknown, /);
});

test('nothing is opened for the embedded summarizer, whatever keys there are', async () => {
  const env = { OPENAI_API_KEY: 'a', OWN_KEY: KEY };
  assert.equal((await openAs(undefined, env)).opened, undefined);
  assert.equal((await openAs('embedded', env)).opened, undefined);
});

test('a missing key is told by the name of its variable', async () => {
  await assert.rejects(
    openAs('own-chat', { OPENAI_API_KEY: 'a' }),
    (error) => error instanceof BatonError && error.code === 'model_auth' && /OWN_KEY/.test(error.message),
  );
});
