// A command that cannot work or write where it should says so before anything is done or paid for.

import assert from 'node:assert/strict';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ErrorCode } from '../../src/errors.ts';
import { createRollout, forkRollout } from '../../src/rollout/rollout.io.ts';
import { assertFailed } from '../support/explained.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import type { Ran } from '../support/program.ts';
import { agentSays, userSays } from '../support/records.ts';
import { rolloutWorld } from '../support/rollouts.ts';
import { NO_PERMISSIONS, withoutPrivileges } from '../support/unprivileged.ts';

const BUNDLED = join(import.meta.dirname, '../../examples/sessions/tally.jsonl');

/** That a command failed with one sentence and its cure, before it had begun to work. */
function assertReported(
  { status, stdout, stderr, explanation }: Ran,
  code: ErrorCode,
  sentence: RegExp,
): void {
  const told = `${stderr}${explanation}`;
  assertFailed({ status, stdout, stderr: told }, code);
  assert.match(told, sentence);
  assert.doesNotMatch(told, /^session /m);
}

test('a rehearsal creates a private home', async () => {
  const home = temporaryDirectory();
  const ran = await baton(home, ['exec', '--model', 'rehearsal', 'hello']);
  assert.equal(ran.status, 0, ran.explanation);
  for (const place of ['.baton', '.baton/rehearsals', '.baton/sessions']) {
    assert.equal(statSync(join(home, place)).mode & 0o777, 0o700, place);
  }
});

test('a rehearsal in a read-only home is reported', { skip: NO_PERMISSIONS }, async () => {
  const home = temporaryDirectory();
  mkdirSync(join(home, '.baton'));
  chmodSync(join(home, '.baton'), 0o555);
  await withoutPrivileges(home, async () => {
    const ran = await baton(home, ['exec', '--model', 'rehearsal']);
    assertReported(
      ran,
      'output_failed',
      /^baton: .*\/\.baton\/rehearsals cannot be created \(EACCES\)\. .*BATON_HOME/,
    );
  });
});

test('a file is refused as a working directory', async () => {
  const home = temporaryDirectory();
  writeFileSync(join(home, 'file'), '');
  symlinkSync('loop', join(home, 'loop'));
  for (const args of [
    [
      'exec',
      '--model',
      'lo/x',
      '-c',
      'model_providers.lo={base_url="http://127.0.0.1:9/v1",wire_api="chat"}',
      '-C',
      'file',
      'hi',
    ],
    ['compact', BUNDLED, '--workspace', 'file', '--out', join(home, 'out.jsonl')],
  ]) {
    assertReported(await baton(home, args), 'not_a_directory', /file is not a directory\. /);
    const round = args.map((arg) => (arg === 'file' ? 'loop' : arg));
    assertReported(await baton(home, round), 'file_unreadable', /loop cannot be reached \(ELOOP\)\. /);
  }
  assert.deepEqual(
    readdirSync(home).filter((name) => name.startsWith('out')),
    [],
  );
});

test('a missing directory is reported before a missing model', async () => {
  const home = temporaryDirectory();
  const nobody = ['-c', 'model_providers.ollama={base_url="http://127.0.0.1:9/v1",wire_api="chat"}'];
  for (const command of [['exec', 'Light the lamp.'], ['exec', '--model', 'rehearsal'], ['serve']]) {
    const nowhere = await baton(home, [...nobody, ...command, '-C', join(home, 'nowhere')]);
    assertReported(nowhere, 'file_not_found', /nowhere does not exist\. Name the directory/);
    const unknown = await baton(home, [...nobody, ...command, '--resume', join(home, 'unknown')]);
    assertReported(unknown, 'file_not_found', /unknown does not exist\. /);
  }
  assert.deepEqual(readdirSync(home), []);
});

test('the folder of an output is checked before the work', async () => {
  const home = temporaryDirectory();
  for (const args of [
    ['compact', BUNDLED, '--out', join(home, 'no/such/out.jsonl')],
    ['replay', BUNDLED, '--html', join(home, 'no/such/report.html')],
    ['exec', '--model', 'rehearsal', '--output-last-message', 'no/such/answer.md'],
  ]) {
    const ran = await baton(home, args);
    assertReported(
      ran,
      'output_failed',
      /^baton: The folder .*no\/such does not exist\. Create it, or choose another folder\./,
    );
  }
});

test('no output replaces its input, by any name', async () => {
  const home = temporaryDirectory();
  const world = rolloutWorld();
  const parent = await createRollout(join(home, '.baton'), { cwd: home }, world);
  await parent.append([
    { type: 'item', item: userSays('Mend the gate.') },
    { type: 'item', item: agentSays('Mended.') },
  ]);
  await parent.close();
  const { rollout: fork } = await forkRollout(join(home, '.baton'), parent.threadId, {}, world);
  await fork.append([{ type: 'item', item: userSays('And the fence?') }]);
  await fork.close();
  const recording = join(home, 'recording.jsonl');
  copyFileSync(BUNDLED, recording);
  const form = join(home, 'form.json');
  writeFileSync(form, '{"type":"object"}');
  const exec = ['exec', 'Light the lamp.'];
  const cases: readonly (readonly [string, readonly string[], string])[] = [
    [recording, [...exec, '--model', 'rehearsal/recording.jsonl'], '--output-last-message'],
    [fork.path, [...exec, '--model', 'rehearsal', '--resume', fork.threadId], '--output-last-message'],
    [parent.path, [...exec, '--model', 'rehearsal', '--resume', fork.path], '--output-last-message'],
    [parent.path, [...exec, '--model', `rehearsal/${fork.path}`], '--output-last-message'],
    [form, [...exec, '--model', 'nobody/none', '--output-schema', 'form.json'], '--output-last-message'],
    [parent.path, ['compact', fork.path, '--force'], '--out'],
    [recording, ['replay', BUNDLED, recording, '--force'], '--html'],
  ];
  symlinkSync(form, join(home, 'symlink'));
  for (const [file, args, option] of cases) {
    const before = readFileSync(file);
    const hardlink = join(home, `hardlink-${cases.findIndex(([each]) => each === file)}`);
    for (const name of [file, hardlink]) {
      if (!existsSync(name)) linkSync(file, name);
      assertReported(
        await baton(home, [...args, option, name]),
        'output_exists',
        /never changes an input\. Choose another/,
      );
      assert.deepEqual(readFileSync(name), before);
    }
  }
  assertReported(
    await baton(home, [...exec, '--output-schema', 'form.json', '--output-last-message', 'symlink']),
    'output_exists',
    /symlink is an input of this command/,
  );
});

test('a link beside its file is followed, and one that leads elsewhere is not', async () => {
  const home = temporaryDirectory();
  mkdirSync(join(home, 'work/past'), { recursive: true });
  const elsewhere = join(home, 'profile');
  const kept = {
    beside: join(home, 'work/may.jsonl'),
    below: join(home, 'work/past/april.jsonl'),
    elsewhere,
  };
  for (const path of Object.values(kept)) writeFileSync(path, 'precious');
  const link = (name: string, to: string): string => {
    const path = join(home, 'work', name);
    symlinkSync(to, path);
    return path;
  };
  const compactTo = (out: string, ...args: readonly string[]) =>
    baton(home, ['compact', BUNDLED, '--out', out, ...args]);

  for (const [name, to, target] of [
    ['latest', 'may.jsonl', kept.beside],
    ['older', 'past/april.jsonl', kept.below],
  ] as const) {
    const path = link(name, to);
    assertReported(await compactTo(path), 'output_exists', /already exists/);
    assert.equal(readFileSync(target, 'utf8'), 'precious');
    const ran = await compactTo(path, '--force');
    assert.equal(ran.status, 0, ran.explanation);
    assert.ok(readFileSync(target).length > 1000, 'the file is replaced');
    assert.equal(readlinkSync(path), to, 'and the link is as it was');
  }

  const planted = link('out.jsonl', '../profile');
  for (const args of [
    ['compact', BUNDLED, '--force', '--out'],
    ['replay', BUNDLED, '--no-recall', '--force', '--html'],
  ]) {
    assertReported(
      await baton(home, [...args, planted]),
      'output_exists',
      /a link to another folder, to .*profile\. Name that file/,
    );
  }
  assertReported(await compactTo(planted), 'output_exists', /already exists/);
  assert.equal(readFileSync(elsewhere, 'utf8'), 'precious');
  assert.equal(readlinkSync(planted), '../profile');

  const dangling = link('dangling', '../nothing');
  for (const args of [[], ['--force']])
    assertReported(await compactTo(dangling, ...args), 'output_exists', /a broken link/);
  assert.ok(!existsSync(join(home, 'nothing')));
  assert.deepEqual(
    readdirSync(join(home, 'work')).filter((name) => name.endsWith('.tmp')),
    [],
  );
});

test('/dev/stdout is standard output', async () => {
  const home = temporaryDirectory();
  const plain = await baton(home, ['compact', BUNDLED, '--prune']);
  // Without --force: a faulty program run by root would replace the device itself.
  for (const name of ['/dev/stdout', '/dev/fd/1', '/proc/self/fd/1']) {
    const ran = await baton(home, ['compact', BUNDLED, '--prune', '--out', name]);
    assert.ok(ran.stdout !== '' && ran.stdout === plain.stdout, name);
    assert.doesNotMatch(ran.stderr, /Written to/);
    assert.equal((await baton(home, ['compact', BUNDLED, '--out', name, '--json'])).status, 2);
  }
});
