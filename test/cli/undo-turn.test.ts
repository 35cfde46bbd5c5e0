// `baton undo --turn` and the op `undo`, as processes: what somebody edited after the turn, restores that fail in part, are killed
// or meet a full disk, and what a stranger put into the repository or into the directory for temporary files.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { TestContext } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { UndoTurnDocument } from '../../src/cli/documents/compaction.ts';
import { runBuilt } from '../support/built.ts';
import type { Ended, World } from '../support/built.ts';
import { Client } from '../support/client.ts';
import { EXEC_KEY } from '../support/exec.ts';
import type { ExecFixture } from '../support/exec.ts';
import { assertNoNoise } from '../support/explained.ts';
import { startWithProvider } from '../support/with-provider.ts';
import { committedFixture } from '../support/served.ts';

const { root, server } = await startWithProvider();

function git(at: ExecFixture, ...args: readonly string[]): string {
  const identity = ['-c', 'user.name=A', '-c', 'user.email=a@example.org'];
  return execFileSync('git', [...identity, ...args], { cwd: at.work, encoding: 'utf8', stdio: 'pipe' });
}

/** A repository with a commit. */
function fixture(files: Readonly<Record<string, string>>): ExecFixture {
  return committedFixture(root, server, files);
}

/** A session with one turn that ran a command. */
async function turn(at: ExecFixture, command: string, world: Partial<World> = {}): Promise<Ended> {
  server.play({
    key: EXEC_KEY,
    replies: [{ calls: [{ name: 'shell', arguments: { command } }] }, { text: 'Done.' }],
  });
  const ended = await at.exec('responses', ['Work.'], world);
  assert.equal(ended.status, 0, ended.stderr);
  return ended;
}

function undo(at: ExecFixture, args: readonly string[] = [], world: Partial<World> = {}): Promise<Ended> {
  return runBuilt(['undo', '--turn', 'last', ...args], { home: at.home, ...world });
}

/** What a command that failed prints for programs. */
function failure({ stdout }: Ended): {
  readonly code: string;
  readonly data: Readonly<Record<string, unknown>>;
} {
  const { error } = JSON.parse(stdout) as { error: { code: string; data: Record<string, unknown> } };
  return error;
}

function pathsIn(list: unknown): readonly string[] {
  return (list as readonly { readonly path: string }[]).map(({ path }) => path).toSorted();
}

function put(at: ExecFixture, path: string, text: string): void {
  writeFileSync(join(at.work, path), text);
}

function has(at: ExecFixture, path: string): boolean {
  return existsSync(join(at.work, path));
}

/** Whether the conversation still holds the turn. */
async function hasTurn(at: ExecFixture): Promise<boolean> {
  const { status } = await undo(at, ['--preview']);
  return status === 0;
}

describe('what was edited after the turn', () => {
  const files = { 'both.txt': 'then\n', 'turn.txt': 'then\n', 'user.txt': 'then\n' };
  const command = 'echo turn > both.txt; echo turn > turn.txt; echo turn > new.txt';

  test('stays where the turn left it alone, and is named', async () => {
    const at = fixture(files);
    await turn(at, command);
    put(at, 'user.txt', 'mine\n');
    put(at, 'own.txt', 'mine\n');
    const done = await undo(at, ['--json']);
    assert.equal(done.status, 0, done.stderr);
    const told = UndoTurnDocument.parse(JSON.parse(done.stdout));
    assert.deepEqual(pathsIn(told.files), ['both.txt', 'new.txt', 'turn.txt']);
    assert.deepEqual(
      told.later_edits.map(({ path, overlaps }) => `${path} ${overlaps}`),
      ['own.txt false', 'user.txt false'],
    );
    assert.match(done.stderr, /user\.txt stays: it is changed after the turn/);
    assert.deepEqual([at.read('both.txt'), at.read('turn.txt')], ['then\n', 'then\n']);
    assert.deepEqual([at.read('user.txt'), at.read('own.txt')], ['mine\n', 'mine\n']);
    assert.equal(has(at, 'new.txt'), false);
  });

  test('is asked about where the turn changed it as well', async () => {
    for (const [how, expected] of [
      ['keep', 'mine\n'],
      ['revert', 'then\n'],
    ] as const) {
      const at = fixture(files);
      await turn(at, command);
      put(at, 'both.txt', 'mine\n');
      put(at, 'user.txt', 'mine\n');
      const refused = await undo(at, ['--json']);
      assert.equal(refused.status, 1, refused.stderr);
      const { code, data } = failure(refused);
      assert.equal(code, 'undo_conflict');
      assert.deepEqual(pathsIn(data['not_put_back']), ['both.txt']);
      assert.deepEqual(pathsIn(data['left']), ['user.txt']);
      assert.match(refused.stderr, /--later-edits .*keep.*revert/);
      assert.deepEqual([at.read('both.txt'), at.read('turn.txt')], ['mine\n', 'turn\n']);
      const done = await undo(at, ['--later-edits', how]);
      assert.equal(done.status, 0, done.stderr);
      assert.deepEqual([at.read('both.txt'), at.read('turn.txt')], [expected, 'then\n']);
      assert.equal(at.read('user.txt'), expected);
      assert.equal(await hasTurn(at), false);
    }
  });

  test('may be a commit, or a rule for git to ignore what the turn made', async () => {
    const at = fixture(files);
    await turn(at, command);
    put(at, '.gitignore', 'new.txt\n');
    git(at, 'add', '-A');
    git(at, 'commit', '-q', '-m', 'Take it over');
    const done = await undo(at);
    assert.equal(done.status, 0, done.stderr);
    assert.deepEqual(
      [at.read('turn.txt'), has(at, 'new.txt'), has(at, '.gitignore')],
      ['then\n', false, true],
    );
  });

  test('cannot be told from the turn where the process was killed in it', async () => {
    const at = fixture(files);
    server.play({
      key: EXEC_KEY,
      replies: [{ calls: [{ name: 'shell', arguments: { command: `${command}; kill -9 $PPID; sleep 9` } }] }],
    });
    const killed = await at.exec('responses', ['Work.']);
    assert.equal(killed.status, null);
    put(at, 'user.txt', 'mine\n');
    const refused = await undo(at, ['--json']);
    assert.deepEqual(pathsIn(failure(refused).data['not_put_back']), [
      'both.txt',
      'new.txt',
      'turn.txt',
      'user.txt',
    ]);
    assert.deepEqual(
      readdirSync(join(at.home, '.baton/snapshots')),
      [],
      'the workshop of the killed is left',
    );
    const done = await undo(at, ['--later-edits', 'revert']);
    assert.equal(done.status, 0, done.stderr);
    assert.equal(at.read('user.txt'), 'then\n');
  });

  test('is asked about by a server, too, with every path', async () => {
    const at = fixture(files);
    server.play({
      key: EXEC_KEY,
      replies: [{ calls: [{ name: 'shell', arguments: { command } }] }, { text: 'Done.' }],
    });
    const client = new Client(at);
    client.say('Work.');
    await client.next('turn_complete');
    put(at, 'both.txt', 'mine\n');
    put(at, 'user.txt', 'mine\n');
    client.send({ type: 'undo', what: 'turn' });
    const refused = await client.next('undo_incomplete');
    assert.deepEqual([refused.paths, pathsIn(refused.left)], [[], ['both.txt', 'user.txt']]);
    assert.equal((await client.next('error')).code, 'undo_conflict');
    assert.equal(at.read('turn.txt'), 'turn\n');
    client.send({ type: 'undo', what: 'turn', later_edits: 'keep' });
    const done = await client.next('undo_completed');
    assert.deepEqual(done.paths.toSorted(), ['new.txt', 'turn.txt']);
    assert.deepEqual(pathsIn(done.left), ['both.txt', 'user.txt']);
    client.send({ type: 'shutdown' });
    assert.equal((await client.ended).status, 0);
  });
});

describe('a restore that fails in part', () => {
  test('fails loudly, leaves the conversation, and is finished by the same undo', async () => {
    const at = fixture({ 'a/one.txt': 'then\n', 'b/two.txt': 'then\n' });
    await turn(at, 'echo turn > a/one.txt; rm -r b; echo turn > b');
    // What stands there now is a directory of the user's.
    rmSync(join(at.work, 'b'));
    mkdirSync(join(at.work, 'b/two.txt/deep'), { recursive: true });
    put(at, 'b/two.txt/deep/mine.txt', 'mine\n');
    const first = await undo(at, ['--json', '--later-edits', 'revert'], {
      env: { PATH: meddling(`mkdir -p "${at.work}/b/two.txt" && echo > "${at.work}/b/two.txt/way"`) },
    });
    assert.equal(first.status, 1, first.stderr);
    const { code, data } = failure(first);
    assert.equal(code, 'undo_incomplete');
    assert.deepEqual(pathsIn(data['not_put_back']), ['b/two.txt']);
    assert.deepEqual(data['before_turn'], refOf(at, 1));
    assert.match(first.stderr, /b\/two\.txt was not restored: /);
    assert.match(first.stderr, /run the same undo again/);
    assert.equal(at.read('a/one.txt'), 'then\n');
    assert.equal(await hasTurn(at), true);
    rmSync(join(at.work, 'b'), { recursive: true });
    const second = await undo(at, ['--json', '--later-edits', 'revert']);
    assert.equal(second.status, 0, second.stderr);
    assert.equal(at.read('b/two.txt'), 'then\n');
    // The way back leads to before the first attempt.
    assert.equal(UndoTurnDocument.parse(JSON.parse(second.stdout)).kept_as, data['kept_as']);
    execFileSync('git', ['restore', `--source=${String(data['kept_as'])}`, '--', '.'], { cwd: at.work });
    assert.deepEqual([at.read('a/one.txt'), at.read('b/two.txt/deep/mine.txt')], ['turn\n', 'mine\n']);
  });

  test('as a full disk makes it: every file is named, and the rest is done later', async (t) => {
    const small = mountSmall(t);
    if (small === undefined) return;
    const at = fixture({});
    // The objects are on another disk, so that only the files find no room.
    rmSync(at.work, { recursive: true });
    symlinkSync(small, at.work);
    git(at, 'init', '-q', '-b', 'main', '--separate-git-dir', join(at.home, 'store'));
    const names = ['1', '2', '3', '4', '5', '6'].map((name) => `${name}.bin`);
    for (const name of names) put(at, name, name.repeat(20_000));
    git(at, 'add', '-A');
    git(at, 'commit', '-q', '-m', 'Begin');
    await turn(at, 'rm *.bin; echo turn > turn.txt');
    const ballast = join(small, 'ballast.bin');
    put(at, '.git/info/exclude'.replace('.git', '../store'), 'ballast.bin\n');
    try {
      writeFileSync(ballast, Buffer.alloc(1 << 20));
    } catch {
      // It is full.
    }
    const free = statSync(ballast).size;
    truncateSync(ballast, free - 200_000);
    const first = await undo(at, ['--json']);
    assert.equal(first.status, 1, first.stderr);
    const { code, data } = failure(first);
    assert.equal(code, 'undo_incomplete');
    const missing = names.filter((name) => !has(at, name) || at.read(name) !== name.repeat(20_000));
    assert.ok(missing.length > 0 && missing.length < names.length, `missing: ${missing.join()}`);
    assert.deepEqual(pathsIn(data['not_put_back']), missing);
    assert.match(JSON.stringify(data['not_put_back']), /the disk is full/);
    unlinkSync(ballast);
    const second = await undo(at);
    assert.equal(second.status, 0, second.stderr);
    for (const name of names) assert.equal(at.read(name), name.repeat(20_000));
    assert.deepEqual(readdirSync(small).toSorted(), ['.git', ...names]);
  });

  test('as a kill makes it: the same undo goes on, and nothing of the killed is left', async () => {
    const names = Array.from({ length: 1500 }, (_, number) => `f${number}.txt`);
    const at = fixture(Object.fromEntries(names.map((name) => [name, 'then\n'])));
    await turn(at, 'for f in *.txt; do echo turn > $f; done');
    put(at, 'user.txt', 'mine\n');
    const kill = async (child: ChildProcess): Promise<void> => {
      while (at.read('f1.txt') === 'turn\n' && child.exitCode === null) await sleep(1);
      child.kill('SIGKILL');
    };
    const killed = await undo(at, [], { started: (child) => void kill(child) });
    assert.equal(killed.status, null, killed.stderr);
    const isBack = (name: string): boolean => at.read(name) === 'then\n';
    const back = names.filter(isBack).length;
    assert.ok(back > 0 && back < names.length, `${back} files were restored`);
    const done = await undo(at, ['--json']);
    assert.equal(done.status, 0, done.stderr);
    assert.ok(names.every(isBack));
    assert.equal(at.read('user.txt'), 'mine\n');
    assert.deepEqual(readdirSync(at.work).toSorted(), ['.git', ...names, 'user.txt'].toSorted());
    const { kept_as: keptAs } = UndoTurnDocument.parse(JSON.parse(done.stdout));
    assert.equal(git(at, 'show', `${String(keptAs)}:${names.at(-1)}`), 'turn\n');
    assert.equal(git(at, 'show', `${String(keptAs)}:f1.txt`), 'turn\n', 'the way back leads into the middle');
    assert.deepEqual(readdirSync(join(at.home, '.baton/snapshots')), []);
  });

  test('as permissions make it', async (t) => {
    if (process.geteuid?.() !== 0) t.diagnostic('as an ordinary user');
    const at = fixture({ 'open.txt': 'then\n', 'shut/a.txt': 'then\n' });
    const userId = process.geteuid?.() === 0 ? 65_534 : undefined;
    if (userId !== undefined) execFileSync('chown', ['-R', `${userId}:${userId}`, at.home]);
    chmodSync(root, 0o755);
    const as = userId === undefined ? {} : { userId };
    await turn(at, 'echo turn > open.txt; echo turn > shut/a.txt', as);
    chmodSync(join(at.work, 'shut'), 0o555);
    const first = await undo(at, ['--json'], as);
    chmodSync(join(at.work, 'shut'), 0o755);
    assert.equal(first.status, 1, first.stderr);
    assert.deepEqual(pathsIn(failure(first).data['not_put_back']), ['shut/a.txt']);
    assert.equal(at.read('open.txt'), 'then\n');
    const second = await undo(at, [], as);
    assert.equal(second.status, 0, second.stderr);
    assert.equal(at.read('shut/a.txt'), 'then\n');
  });
});

describe('a stranger’s repository', () => {
  test('with names of snapshots that stand for objects it lacks: none is asked for', async () => {
    const at = fixture({ 'a.txt': 'then\n' });
    const fired = join(at.home, 'fired');
    git(at, 'config', 'extensions.partialClone', 'origin');
    git(at, 'config', 'core.repositoryFormatVersion', '1');
    git(at, 'config', 'remote.origin.promisor', 'true');
    git(at, 'config', 'remote.origin.url', `ext::sh -c touch% ${fired}`);
    git(at, 'config', 'protocol.ext.allow', 'always');
    const missing = 'deadbeef'.repeat(5);
    const head = git(at, 'rev-parse', 'HEAD').trim();
    const names = ['some-thread/1', 'some-thread/99999999999999999999', 'x'];
    writeFileSync(
      join(at.work, '.git/packed-refs'),
      names.map((name) => `${missing} refs/baton/snapshots/${name}\n`).join(''),
    );
    await turn(at, 'echo turn > a.txt');
    // It may know the thread as well: the repository was copied, with names beside those of the log.
    const thread = threadOf(at);
    const planted = [`${thread}/3`, `${thread}/99999999999999999999`, `${thread}/x`];
    writeFileSync(
      join(at.work, '.git/packed-refs'),
      [...names, ...planted].map((name) => `${missing} refs/baton/snapshots/${name}\n`).join(''),
    );
    assert.equal(existsSync(fired), false, 'the first snapshot started a program');
    const done = await undo(at, ['--json']);
    assert.equal(done.status, 0, done.stderr);
    assert.equal(at.read('a.txt'), 'then\n');
    assert.equal(existsSync(fired), false, 'the undo started a program');
    const { kept_as: keptAs } = UndoTurnDocument.parse(JSON.parse(done.stdout));
    assert.equal(keptAs, `refs/baton/snapshots/${thread}/4`);
    assert.equal(git(at, 'rev-parse', 'HEAD').trim(), head);
  });
});

describe('a directory for temporary files that cannot be used', () => {
  const bad: Readonly<Record<string, (home: string) => string>> = {
    missing: (home) => join(home, 'nowhere'),
    'a file': (home) => {
      writeFileSync(join(home, 'flat'), '');
      return join(home, 'flat');
    },
    'a device': () => '/dev/full',
  };
  for (const [what, make] of Object.entries(bad)) {
    test(`${what}: turns are saved and taken back as ever, and nothing is left`, async () => {
      const at = fixture({ 'a.txt': 'then\n' });
      const env = { TMPDIR: make(at.home) };
      const ended = await turn(at, 'echo turn > a.txt', { env });
      assertNoNoise(ended);
      assert.doesNotMatch(ended.stderr, /cannot be undone/);
      const done = await undo(at, [], { env });
      assert.equal(done.status, 0, done.stderr);
      assert.equal(at.read('a.txt'), 'then\n');
      assert.deepEqual(readdirSync(join(at.home, '.baton/snapshots')), []);
    });
  }

  test('the demo says so in a sentence', async () => {
    const home = mkdtempSync(join(root, 'demo-'));
    for (const args of [['demo'], ['demo', '--json']]) {
      const ended = await runBuilt(args, { home, env: { TMPDIR: join(home, 'nowhere') } });
      assert.equal(ended.status, 1, ended.stdout);
      assert.match(ended.stderr, /TMPDIR.*\[output_failed\]\n$/);
    }
  });

  test('a home in which no folder can be made: the turn runs, and cannot be undone', async () => {
    const at = fixture({ 'a.txt': 'then\n' });
    writeFileSync(join(at.home, '.baton/snapshots'), '');
    const ended = await turn(at, 'echo turn > a.txt');
    assert.match(ended.stderr, /File changes cannot be undone here: The folder/);
    const done = await undo(at);
    assert.equal(done.status, 0, done.stderr);
    assert.match(done.stderr, /There is no snapshot of the files/);
  });
});

test('a workspace that holds Baton’s own home does not have its sessions put back', async () => {
  const at = fixture({ 'a.txt': 'then\n' });
  const env = { BATON_HOME: join(at.work, 'home') };
  mkdirSync(env.BATON_HOME);
  writeFileSync(
    join(env.BATON_HOME, 'config.toml'),
    execFileSync('cat', [join(at.home, '.baton/config.toml')]),
  );
  await turn(at, 'echo turn > a.txt', { env });
  const done = await undo(at, ['--json'], { env });
  assert.equal(done.status, 0, done.stderr);
  const told = UndoTurnDocument.parse(JSON.parse(done.stdout));
  assert.deepEqual([pathsIn(told.files), told.later_edits], [['a.txt'], []]);
});

/** A PATH on which `git` runs a command just before the contents of files are read. */
function meddling(command: string): string {
  const folder = mkdtempSync(join(root, 'programs-'));
  const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
  const script = `#!/bin/sh\ncase "$*" in *"cat-file --batch") ${command};; esac\nexec "${real}" "$@"\n`;
  writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
  return `${folder}:${process.env['PATH'] ?? ''}`;
}

function refOf(at: ExecFixture, number: number): string {
  return `refs/baton/snapshots/${threadOf(at)}/${number}`;
}

function threadOf(at: ExecFixture): string {
  const names = git(at, 'for-each-ref', '--format=%(refname)');
  return /refs\/baton\/snapshots\/([\da-f-]{36})\//.exec(names)?.[1] ?? '';
}

/** A file system of one megabyte, or undefined, with a loud word, where none may be mounted. */
function mountSmall(t: TestContext): string | undefined {
  const place = mkdtempSync(join(root, 'small-'));
  try {
    execFileSync('sh', ['-c', 'mount -t tmpfs -o size=1m none "$0"', place], { stdio: 'pipe' });
  } catch {
    t.skip('SKIPPED: no file system may be mounted here, so the full disk is not tried');
    return undefined;
  }
  t.after(() => execFileSync('sh', ['-c', 'umount "$0"', place]));
  return place;
}
