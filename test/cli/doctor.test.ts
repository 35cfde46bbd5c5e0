// What `baton doctor` and `baton config` of the built program say about providers.

import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DoctorDocument } from '../../src/cli/documents/setup.ts';
import { NOT_BUILT, runBuilt } from '../support/built.ts';
import { assertFailed } from '../support/explained.ts';
import { temporaryDirectory } from '../support/program.ts';
import { KEY } from '../support/provider-server/client.ts';
import { startProviderServer } from '../support/provider-server/server.ts';

const server = await startProviderServer({ key: KEY, replies: [] });
after(() => server.close());
const root = temporaryDirectory();

function homeWith(config: string): string {
  const home = mkdtempSync(join(root, 'home-'));
  mkdirSync(join(home, '.baton'));
  writeFileSync(join(home, '.baton/config.toml'), config);
  return home;
}

const TABLES = `
[model_providers.ollama]
base_url = "${server.baseUrl}"
[model_providers.lab]
base_url = "https://gate.example/secret-path/v1"
wire_api = "anthropic"
env_key = "LAB_KEY"
[model_providers.open]
base_url = "http://127.0.0.1:1/v1"
wire_api = "chat"
`;

test(
  'doctor says of every provider whether it is usable, and never shows a key',
  { skip: NOT_BUILT },
  async () => {
    const env = { OPENAI_API_KEY: KEY, PATH: join(root, 'empty') };
    const home = homeWith(TABLES);
    const ended = await runBuilt(['doctor', '--json'], { home, env });
    assert.equal(ended.status, 0, ended.stderr);
    const { findings } = DoctorDocument.parse(JSON.parse(ended.stdout));
    const host = new URL(server.baseUrl).host;
    assert.deepEqual(
      findings.filter(({ name }) => name.startsWith('provider ')),
      [
        { name: 'provider openai', state: 'ok', detail: 'OPENAI_API_KEY is set (api.openai.com, responses)' },
        {
          name: 'provider anthropic',
          state: 'absent',
          detail: 'ANTHROPIC_API_KEY is not set (api.anthropic.com, anthropic)',
          cure: 'Set ANTHROPIC_API_KEY to use it with --model anthropic/MODEL.',
        },
        {
          name: 'provider ollama',
          state: 'ok',
          detail: `answers with 1 model, loopback first (${host}, chat)`,
        },
        {
          name: 'provider lab',
          state: 'absent',
          detail: 'LAB_KEY is not set (gate.example, anthropic)',
          cure: 'Set LAB_KEY to use it with --model lab/MODEL.',
        },
        { name: 'provider open', state: 'ok', detail: 'needs no key (127.0.0.1:1, chat)' },
      ],
    );
    const plain = await runBuilt(['doctor'], { home, env });
    assert.match(plain.stdout, /^ok {6}provider openai {5}OPENAI_API_KEY is set/m);
    assert.match(plain.stdout, /^absent {2}provider anthropic {2}ANTHROPIC_API_KEY is not set/m);
    for (const { stdout, stderr } of [ended, plain]) {
      assert.ok(!`${stdout}${stderr}`.includes(KEY), 'the key is told');
      assert.ok(!`${stdout}${stderr}`.includes('secret-path'), 'the path of a gateway is told');
    }
    assert.deepEqual(
      [...new Set(server.requests.map(({ path }) => path))],
      ['/v1/models'],
      'only the list is asked for',
    );
  },
);

test('doctor says whether commands can be confined, and where git is', { skip: NOT_BUILT }, async () => {
  const home = homeWith('');
  const { stdout } = await runBuilt(['doctor', '--json'], { home, env: { PATH: join(root, 'empty') } });
  const { findings } = DoctorDocument.parse(JSON.parse(stdout));
  const of = (wanted: string) => findings.filter(({ name }) => name === wanted);
  const why = process.platform === 'linux' ? /bwrap.* is not installed/ : /on Linux only/;
  assert.match(of('sandbox')[0]?.detail ?? '', why);
  assert.match(of('sandbox')[0]?.cure ?? '', /danger_full_access/);
  assert.deepEqual(
    of('git').map(({ state }) => state),
    ['absent'],
  );
});

test('doctor says that no Ollama answers', { skip: NOT_BUILT }, async () => {
  const home = homeWith('model_providers.ollama.base_url = "http://127.0.0.1:1/v1"');
  const { stdout } = await runBuilt(['doctor', '--json'], { home });
  const { findings } = DoctorDocument.parse(JSON.parse(stdout));
  const ollama = findings.find(({ name }) => name === 'provider ollama');
  assert.deepEqual([ollama?.state, ollama?.detail], ['absent', 'does not answer (127.0.0.1:1, chat)']);
});

test('a broken configuration leaves the built-in providers', { skip: NOT_BUILT }, async () => {
  const { stdout, status } = await runBuilt(['doctor', '--json'], {
    home: homeWith('[model_providers.lab]'),
    env: { ANTHROPIC_API_KEY: KEY },
  });
  assert.equal(status, 1);
  const { findings } = DoctorDocument.parse(JSON.parse(stdout));
  const states = findings.map(({ name, state }) => `${name} ${state}`);
  for (const state of ['config broken', 'provider anthropic ok', 'provider openai absent']) {
    assert.ok(states.includes(state), `${state}: ${states.join()}`);
  }
  assert.ok(!stdout.includes(KEY), 'the key is told');
});

test('config shows the providers of every source, with their origins', { skip: NOT_BUILT }, async () => {
  const { stdout, stderr, status } = await runBuilt(
    ['config', 'show', '-c', 'model_providers.lab.wire_api=chat'],
    { home: homeWith(TABLES), env: { BATON_MODEL_PROVIDERS__LAB__NAME: 'The lab' } },
  );
  assert.equal(status, 0, stderr);
  const [, lab = ''] = stdout.split('[model_providers.lab]\n');
  assert.deepEqual(
    lab
      .split('\n')
      .slice(0, 4)
      .map((line) => line.replace(/ +# (?:.*\/)?/, ' # ')),
    [
      'name = "The lab" # BATON_MODEL_PROVIDERS__LAB__NAME',
      'base_url = "https://gate.example/secret-path/v1" # config.toml:5',
      'wire_api = "chat" # -c model_providers.lab.wire_api=…',
      'env_key = "LAB_KEY" # config.toml:7',
    ],
  );
});

test('a cloned project cannot move a provider', { skip: NOT_BUILT }, async () => {
  const home = homeWith('');
  const project = join(home, 'project');
  mkdirSync(join(project, '.git'), { recursive: true });
  mkdirSync(join(project, '.baton'));
  writeFileSync(
    join(project, '.baton/config.toml'),
    '[model_providers.openai]\nbase_url = "https://thief.example"',
  );
  const ended = await runBuilt(['config', 'check'], { home, shell: 'cd project && exec "$@"' });
  assertFailed(ended, 'config_invalid');
  assert.match(ended.stderr, /project\/\.baton\/config\.toml:1: model_providers may not be set by a project/);
});
