// Configuration files of a user and of a project, made at random: a value, a warning or a sentence with file, line and key;
// never a crash, and never a word of the project's in what only the user may say.

import assert from 'node:assert/strict';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import * as fc from 'fast-check';
import { stringify } from 'smol-toml';
import { listSettings } from '../../src/config/explain.ts';
import { ERROR_CODES } from '../../src/errors.ts';
import { NOT_BUILT, runBuilt } from '../support/built.ts';
import { assertNoNoise } from '../support/explained.ts';
import { fuzz, wildText, wildValue } from '../support/fuzz.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';

const home = temporaryDirectory();
const work = join(home, 'work');
const USER_FILE = join(home, '.baton/config.toml');
const PROJECT_FILE = join(work, '.baton/config.toml');
for (const folder of ['.baton', 'work/.git', 'work/.baton'])
  mkdirSync(join(home, folder), { recursive: true });
before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

const SETTINGS = listSettings();
const USER_ONLY = new Set(SETTINGS.filter(({ userOnly }) => userOnly === true).map(({ key }) => key));

/** What a value of some setting looks like; the wrong ones are most. */
const value: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    'true',
    'false',
    '0',
    '1',
    '2',
    '100',
    '50000',
    '0.5',
    '1.5',
    '"auto"',
    '"tag"',
    '[]',
    '{}',
  ),
  fc.constantFrom('-1', '1e308', 'nan', 'inf', '9223372036854775807', '9223372036854775808', '1979-05-27'),
  fc.constantFrom(
    '"danger_full_access"',
    '"never"',
    '"openai/gpt-5.1"',
    '["a", 1, [[]]]',
    '{ __proto__ = 1 }',
  ),
  wildText.map((text) => JSON.stringify(text)),
  wildText,
  wildValue.map((any) => JSON.stringify(any) ?? ''),
  fc.constant(`${'['.repeat(2_000)}${']'.repeat(2_000)}`),
);

const key: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...SETTINGS.map((setting) => setting.key)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '__proto__.polluted',
      'constructor.prototype.polluted',
      'compact.__proto__.enabled',
      'model_providers.__proto__.base_url',
      'model_providers.lab.base_url',
      'model_providers.constructor.wire_api',
      'hooks.pre_compact',
      'compact',
      'features',
    ),
  },
  { weight: 1, arbitrary: wildText.map((text) => JSON.stringify(text)) },
);

const line = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(key, value).map(([name, is]) => `${name} = ${is}`) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '[compact]',
      '[[hooks.pre_compact]]',
      '[__proto__]',
      '[model_providers.lab]',
      '[model_providers."a b"]',
      '[features',
      '# a comment \0',
      '\uFEFF',
      '"""',
      'a.'.repeat(2_000) + 'a = 1',
    ),
  },
  { weight: 1, arbitrary: wildText },
);

interface ConfigFile {
  readonly lines: readonly string[];
  readonly end: string;
  readonly hasMark: boolean;
  readonly bytes: Uint8Array;
  readonly size: number;
}

const file: fc.Arbitrary<ConfigFile> = fc.record({
  lines: fc.array(line, { maxLength: 6 }),
  end: fc.constantFrom('\n', '\r\n', '\r'),
  hasMark: fc.boolean(),
  bytes: fc.oneof({ weight: 9, arbitrary: fc.constant(new Uint8Array()) }, fc.uint8Array({ maxLength: 9 })),
  size: fc.oneof({ weight: 19, arbitrary: fc.constant(0) }, fc.constantFrom(200_000, 300_000)),
});

function bytesOf({ lines, end, hasMark, bytes, size }: ConfigFile): Buffer {
  const text = `${hasMark ? '\uFEFF' : ''}${lines.join(end)}${end}`;
  return Buffer.concat([Buffer.from(text), bytes, Buffer.from('#'.repeat(size))]);
}

interface Shown {
  readonly config: Readonly<Record<string, unknown>>;
  readonly origins: Readonly<Record<string, { readonly source: string }>>;
}

const SLOWEST_MS = 20_000;

function assertPlain(
  { status, stdout, stderr }: Pick<Ran, 'status' | 'stdout' | 'stderr'>,
  ms: number,
): void {
  assert.ok(status >= 0 && status <= 2, `status ${status}`);
  assertNoNoise({ stderr });
  assert.ok(stdout.length + stderr.length < 1e6, `${stdout.length + stderr.length} characters`);
  assert.ok(ms < SLOWEST_MS, `${ms} ms`);
}

async function run(...args: readonly string[]): Promise<Ran> {
  const begun = performance.now();
  const ran = await baton(home, args, { cwd: work });
  assertPlain({ ...ran, stderr: ran.stderr + ran.explanation }, performance.now() - begun);
  if (ran.status !== 0) {
    const code = String(ran.error?.['code']);
    assert.ok(code in ERROR_CODES && code !== 'internal', code);
    if (code === 'config_invalid') assertNamesItsPlaces(ran);
  }
  assert.equal(({} as Record<string, unknown>)['polluted'], undefined);
  return ran;
}

/** Each problem says in which file it is, and in which line or under which key. */
function assertNamesItsPlaces({ error = {} }: Ran): void {
  const { problems } = error['data'] as {
    problems: { message: string; origin?: { file?: string; line?: number } }[];
  };
  assert.ok(problems.length > 0);
  for (const { message, origin } of problems) {
    assert.ok(message.length > 10 && message.length < 5_000, message.slice(0, 200));
    assert.ok(origin?.file === USER_FILE || origin?.file === PROJECT_FILE, JSON.stringify(origin));
  }
}

function shown(ran: Ran): Shown | undefined {
  return ran.status === 0 ? (JSON.parse(ran.stdout) as Shown) : undefined;
}

test('no project breaks the start, or says what only its user may', async (t) => {
  let valid = 0;
  let told = 0;
  const both = fc.tuple(fc.option(file, { freq: 2 }), file);
  await fuzz(both, { seed: 62, usual: 250 }, async ([user, project]) => {
    rmSync(USER_FILE, { force: true });
    rmSync(PROJECT_FILE, { force: true });
    if (user !== null) writeFileSync(USER_FILE, bytesOf(user));
    const alone = await run('config', 'show', '--json');
    const without = shown(alone);
    writeFileSync(PROJECT_FILE, bytesOf(project));
    const ran = await run('config', 'show', '--json');
    const together = shown(ran);
    assert.equal(ran.status, alone.status, 'a project decides whether Baton starts');
    const checked = await run('config', 'check');
    if (without === undefined || together === undefined) return;
    valid++;
    if (ran.stderr !== '' || checked.status !== 0) told++;
    for (const setting of USER_ONLY) {
      assert.deepEqual(valueAt(together.config, setting), valueAt(without.config, setting), setting);
    }
    for (const [setting, { source }] of Object.entries(together.origins)) {
      assert.ok(source !== 'project' || !USER_ONLY.has(setting), `${setting} by a project`);
    }
    assert.deepEqual(
      [together.config['model_providers'], together.config['hooks']],
      [without.config['model_providers'], without.config['hooks']],
    );
    // What is shown is what would be read again.
    stringify(together.config);
  });
  t.diagnostic(`${valid} with a configuration, ${told} with a complaint`);
  assert.ok(valid > 100 && told > 50);
});

function valueAt(config: unknown, setting: string): unknown {
  return setting
    .split('.')
    .reduce<unknown>((at, name) => (at as Readonly<Record<string, unknown>> | undefined)?.[name], config);
}

test('the same in a process', async () => {
  const both = fc.tuple(file, file);
  await fuzz(both, { seed: 63, usual: 4 }, async ([user, project]) => {
    writeFileSync(USER_FILE, bytesOf(user));
    writeFileSync(PROJECT_FILE, bytesOf(project));
    const ended = await runBuilt(['config', 'show'], { home, shell: 'cd work && exec "$@"' });
    assertPlain({ ...ended, status: ended.status ?? -1 }, ended.milliseconds);
    // What a file says is quoted, and a terminal obeys none of it: the door to it belongs to the process.
    // oxlint-disable-next-line no-control-regex
    assert.doesNotMatch(ended.stderr, /[\u0000-\u0008\u000B-\u001F\u007F-\u009F]/);
  });
});
