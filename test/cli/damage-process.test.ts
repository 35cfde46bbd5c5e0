// A hostile world around the built program: each kind of damage once in a real process, and places that cannot be read
// or written.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import type { ErrorCode } from '../../src/errors.ts';
import { AGENT_FORMATS } from '../../src/vocabulary.ts';
import { writeBigSession } from '../support/big-session.ts';
import { NOT_BUILT, PROGRAM, runBuilt, whenReading } from '../support/built.ts';
import type { Ended, World } from '../support/built.ts';
import { assertFailed } from '../support/explained.ts';
import type { FailedRun } from '../support/explained.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { sabotagesFor } from '../support/sabotage.ts';
import { asFile, workLines } from '../support/work-sessions.ts';
import { assertWhole } from '../support/written.ts';

const root = temporaryDirectory();
const bigSession = join(root, 'big.jsonl');

before(async () => {
  assert.equal(NOT_BUILT, false, String(NOT_BUILT));
  chmodSync(root, 0o755);
  await writeBigSession(bigSession, 'codex', 20e6);
});

interface Place {
  readonly home: string;
  readonly session: string;
  readonly out: string;
  readonly original: Buffer;
}

/** A fresh home with one session in it. */
function place(original: Buffer = asFile(workLines('codex'))): Place {
  const home = mkdtempSync(join(root, 'home-'));
  chmodSync(home, 0o755);
  const session = join(home, 'session.jsonl');
  writeFileSync(session, original);
  return { home, session, out: join(home, 'out.jsonl'), original };
}

/** The session is as it was and nothing is beside it but `others`. */
function assertUntouched({ home, session, original }: Place, ...others: readonly string[]): void {
  assert.ok(readFileSync(session).equals(original), 'the session is as it was');
  assert.deepEqual(readdirSync(home).toSorted(), ['session.jsonl', ...others].toSorted());
}

function makePipe(path: string): void {
  assert.equal(spawnSync('sh', ['-c', 'mkfifo "$0"', path]).status, 0);
}

async function fails(
  args: readonly string[],
  code: ErrorCode,
  at: Place,
  world: Omit<World, 'home'> = {},
): Promise<Ended> {
  const ended = await runBuilt(args, { home: at.home, ...world });
  assertFailed(ended, code);
  return ended;
}

/** The same without a process, for the many ways to one failure that a process has met in the same test. */
async function failsHere(args: readonly string[], code: ErrorCode, { home }: Place): Promise<FailedRun> {
  const { status, stdout, stderr, explanation } = await baton(home, args);
  const told = { status, stdout, stderr: stderr + explanation };
  assertFailed(told, code);
  return told;
}

for (const format of AGENT_FORMATS) {
  test(`${format}: a file with every damage at once that still holds a conversation`, async () => {
    const kinds = new Set([
      'NULs as padding',
      'CRLF',
      'a BOM',
      'invalid UTF-8',
      'lines that are no JSON',
      'lines glued in pairs',
    ]);
    const damaged = sabotagesFor(format)
      .filter(({ name }) => kinds.has(name))
      .reduce((file, { apply }) => apply(file), asFile(workLines(format)));
    const at = place(damaged);
    const inspected = await runBuilt(['inspect', at.session, '--json'], at);
    assert.equal(inspected.status, 0, inspected.stderr);
    assert.equal(inspected.stderr, '');
    const compacted = await runBuilt(['compact', at.session, '--target-tokens', '4k', '--out', at.out], at);
    assert.equal(compacted.status, 0, compacted.stderr);
    assert.match(compacted.stderr, /damaged lines skipped/);
    assertWhole(format, readFileSync(at.out).subarray(damaged.length).toString('utf8'));
    assertUntouched(at, 'out.jsonl');
  });

  test(`${format}: a line of 50 MB, and one of 8 MB that might be a million records`, async () => {
    const whole = asFile(workLines(format));
    const long = `{"type":"novel","text":"${'x'.repeat(50e6)}"}\n`;
    for (const line of [long, '{"type":'.repeat(1e6) + '\n']) {
      const at = place(
        Buffer.concat([whole, Buffer.from(line), whole.subarray(whole.lastIndexOf('\n', -2) + 1)]),
      );
      const inspected = await runBuilt(['inspect', at.session, '--json'], at);
      assert.equal(inspected.status, 0, inspected.stderr);
      const compacted = await runBuilt(['compact', at.session, '--prune', '--out', at.out], at);
      assert.equal(compacted.status, 0, compacted.stderr);
      assertWhole(format, readFileSync(at.out, 'utf8'));
      assertUntouched(at, 'out.jsonl');
    }
  });
}

/** A line that is none, put in as the fourth. */
function damage(path: string): void {
  writeFileSync(path, readFileSync(path, 'utf8').split('\n').toSpliced(3, 0, 'no JSON').join('\n'));
}

test('every command reports a damaged session', async () => {
  const at = place();
  const forked = await baton(at.home, ['compact', at.session, '--out', at.out]);
  assert.equal(forked.status, 0, forked.explanation);
  damage(at.out);
  for (const args of [
    ['compact', at.out, '--target-tokens', '600'],
    ['undo', at.out],
    ['eval', at.out, '--cuts', '1', '--no-canaries'],
    ['replay', at.out, '--no-recall'],
    ['exec', '--model', `rehearsal/${at.out}`],
    ['undo', 'last', '--turn'],
  ]) {
    const { status, stderr, explanation } = await baton(at.home, args);
    assert.equal(status, 0, explanation);
    assert.match(stderr, /jsonl: 1 damaged line skipped, the first is line 4;/, args[0]);
    if (args[0] !== 'exec') continue;
    const sessions = readdirSync(join(at.home, '.baton/sessions'), { recursive: true, encoding: 'utf8' });
    damage(join(at.home, '.baton/sessions', sessions.find((name) => name.endsWith('.jsonl')) ?? ''));
  }
});

test('a file that is not a session is named for what it is', async () => {
  const png = Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]),
    Buffer.from('IHDR'),
    Buffer.alloc(2000, 0xfe),
  ]);
  const elf = readFileSync(process.execPath).subarray(0, 3_000_000);
  const cases: readonly (readonly [Buffer, ErrorCode, RegExp])[] = [
    [Buffer.alloc(0), 'file_empty', /is empty/],
    [png, 'format_unknown', /binary/],
    [elf, 'format_unknown', /binary/],
    ...['Dear diary,\n', 'null', '"hi"'].map(
      (text) => [Buffer.from(text), 'format_unknown', /no JSON object/] as const,
    ),
    [Buffer.from('{"a":1}\n{"a":2}\n'), 'format_unknown', /known session format/],
    [Buffer.from('{\n  "messages": [\n    1\n  ]\n}\n'), 'format_unknown', /JSON/],
    [asFile(workLines('codex').slice(0, 1)), 'session_empty', /no conversation/],
  ];
  for (const [bytes, code, words] of cases) {
    const at = place(bytes);
    for (const command of [['inspect'], ['compact', '--out', at.out], ['undo', '--out', at.out]]) {
      const ended = await failsHere([...command, at.session], code, at);
      assert.match(ended.stderr, words);
      assert.equal(ended.stdout, '');
    }
    const json = await fails(['inspect', '--json', at.session], code, at);
    assert.match(json.stderr, words);
    assert.equal((JSON.parse(json.stdout) as { error: { code: string } }).error.code, code);
    assertUntouched(at);
  }
});

/** A path as a process in the home finds it. */
function absolute({ home }: Place, path: string): string {
  return path === '' || path.startsWith('/') ? path : `${home}/${path}`;
}

test('paths that lead to no file', async () => {
  const at = place();
  symlinkSync('nowhere', join(at.home, 'dangling'));
  symlinkSync('loop', join(at.home, 'loop'));
  makePipe(join(at.home, 'pipe'));
  const cases: readonly (readonly [string, ErrorCode, RegExp?])[] = [
    ['missing.jsonl', 'file_not_found'],
    ['session.jsonl/below', 'file_not_found'],
    ['dangling', 'file_not_found'],
    ['loop', 'file_unreadable', /link leads back to itself/],
    ['a'.repeat(300), 'file_unreadable', /too long for a file/],
    ['.', 'not_a_file'],
    ['/dev/null', 'not_a_file'],
    ['pipe', 'not_a_file'],
    ['', 'file_not_found'],
  ];
  for (const [path, code, cure = /./] of cases) {
    assert.match((await fails(['inspect', path], code, at)).stderr, cure);
    await failsHere(['compact', absolute(at, path), '--out', at.out], code, at);
  }
  const several = await runBuilt(['inspect', 'missing.jsonl', 'session.jsonl'], at);
  assert.equal(several.status, 1, 'one of two files');
  assert.match(several.stderr, /\[file_not_found\]/);
  assert.match(several.stdout, /Codex rollout/);
});

/** Permissions stop everybody but root, so root runs these as nobody. @source `nobody` on Linux and BSD */
const stranger = process.getuid?.() === 0 ? { userId: 65_534 } : {};
const NO_PERMISSION_SKIP =
  process.getuid?.() === 0 &&
  spawnSync(process.execPath, [PROGRAM, '--version'], { uid: 65_534, gid: 65_534 }).status !== 0 &&
  'the tests run as root, whom permissions do not stop, and another user cannot run the program';

test('an unreadable session', { skip: NO_PERMISSION_SKIP }, async () => {
  const at = place();
  chmodSync(at.session, 0o000);
  await fails(['inspect', at.session], 'file_unreadable', at, stranger);
  await fails(['compact', at.session, '--out', at.out], 'file_unreadable', at, stranger);
});

test('a session that grows while it is read counts at its first size', async () => {
  for (const args of [
    ['inspect', '--json'],
    ['compact', '--out', 'out.jsonl'],
  ]) {
    const at = place(readFileSync(bigSession));
    const line = `${JSON.stringify(workLines('codex')[3])}\n`;
    const writer = setInterval(() => appendFileSync(at.session, line), 1);
    const ended = await runBuilt([...args, at.session], at);
    clearInterval(writer);
    assert.equal(ended.status, 0, ended.stderr);
    const now = readFileSync(at.session);
    assert.ok(now.length > at.original.length, 'it did grow');
    assert.ok(now.subarray(0, at.original.length).equals(at.original));
    if (args[0] === 'inspect') {
      const { file } = JSON.parse(ended.stdout) as { file: { bytes: number; has_grown: boolean } };
      assert.ok(file.has_grown, 'and that is said');
      continue;
    }
    assert.match(ended.stderr, /grew while Baton read it/);
    const written = readFileSync(at.out);
    const copied = written.lastIndexOf('"type":"compacted"');
    assertWhole('codex', written.subarray(written.lastIndexOf('\n', copied) + 1).toString('utf8'));
  }
});

test('a session that becomes shorter while it is read', async () => {
  const at = place(readFileSync(bigSession));
  const shortened = (child: ChildProcess): void => {
    // Not before it has looked at the size, and long before the end of 20 MB.
    void whenReading(child, at.session).then(() => truncateSync(at.session, 1000));
  };
  const ended = await runBuilt(['compact', at.session, '--out', at.out], {
    home: at.home,
    started: shortened,
  });
  assertFailed(ended, 'file_changed');
  assert.deepEqual(readdirSync(at.home), ['session.jsonl']);
});

test('standard input: a session, half a session, nothing, closed, a directory', async () => {
  const at = place();
  const whole = await runBuilt(['inspect', '-', '--json'], { home: at.home, input: at.original });
  assert.equal(whole.status, 0, whole.stderr);
  const half = await runBuilt(['compact', '-', '--out', at.out], {
    home: at.home,
    input: at.original.subarray(0, at.original.length - 2000),
  });
  assert.equal(half.status, 0, half.stderr);
  assert.match(half.stderr, /standard input: 1 damaged line skipped/);
  await fails(['inspect', '-'], 'file_empty', at);
  await fails(['inspect', '-'], 'file_empty', at, { shell: '"$@" <&-' });
  await fails(['inspect', '-'], 'file_unreadable', at, { shell: '"$@" < /' });
  await fails(['inspect', '-'], 'output_failed', at, { input: at.original, env: { TMPDIR: '/nonexistent' } });
  assertUntouched(at, 'out.jsonl');
});

test('existing outputs are kept, and replaced with --force', async () => {
  const at = place();
  writeFileSync(at.out, 'precious');
  await fails(['compact', at.session, '--out', at.out], 'output_exists', at);
  assert.equal(readFileSync(at.out, 'utf8'), 'precious');
  symlinkSync('nowhere', join(at.home, 'dangling'));
  await fails(['compact', at.session, '--out', 'dangling'], 'output_exists', at);
  const forced = await runBuilt(['compact', at.session, '--out', at.out, '--force'], at);
  assert.equal(forced.status, 0, forced.stderr);
  assert.ok(readFileSync(at.out).subarray(0, at.original.length).equals(at.original));
  assertUntouched(at, 'dangling', 'out.jsonl');
});

test('the session itself is never replaced, by any name, even with --force', async () => {
  const at = place();
  symlinkSync('session.jsonl', join(at.home, 'symlink'));
  linkSync(at.session, join(at.home, 'hardlink'));
  for (const name of ['session.jsonl', './session.jsonl', 'symlink', 'hardlink']) {
    await fails(['compact', at.session, '--out', name, '--force'], 'output_exists', at);
    const out = ['--out', absolute(at, name)];
    for (const options of [[], ['--prune'], ['--prune', '--force']]) {
      await failsHere(['compact', at.session, ...out, ...options], 'output_exists', at);
    }
  }
  assertUntouched(at, 'hardlink', 'symlink');
});

test('places that accept no file', async () => {
  const at = place();
  mkdirSync(join(at.home, 'directory'));
  // A pipe stands for every device: a faulty program run by root would replace the device itself.
  makePipe(join(at.home, 'pipe'));
  for (const path of [
    'directory',
    'pipe',
    'directory/',
    'missing/out.jsonl',
    'session.jsonl/out',
    '',
    '/proc/out',
  ]) {
    await fails(['compact', at.session, '--out', path, '--force'], 'output_failed', at);
    await failsHere(['compact', at.session, '--out', absolute(at, path)], 'output_failed', at);
  }
  assert.deepEqual(readdirSync(join(at.home, 'directory')), []);
  assert.ok(lstatSync(join(at.home, 'pipe')).isFIFO());
  assertUntouched(at, 'directory', 'pipe');
});

test('a read-only directory', { skip: NO_PERMISSION_SKIP }, async () => {
  const at = place();
  const directory = join(at.home, 'locked');
  mkdirSync(directory, { mode: 0o500 });
  await fails(['compact', at.session, '--out', join(directory, 'out.jsonl')], 'output_failed', at, stranger);
  assert.deepEqual(readdirSync(directory), []);
});

/** A command in namespaces of its own, where it may mount. Root needs no user namespace for that. */
const NAMESPACES = ['unshare', process.getuid?.() === 0 ? '-m' : '-Urm'];
const NO_MOUNT_SKIP =
  spawnSync(NAMESPACES[0] ?? '', [...NAMESPACES.slice(1), 'mount', '-t', 'tmpfs', 'none', root]).status !==
    0 && 'this system lets nobody mount a small file system in a namespace of its own';

test('a full disk, a read-only disk', { skip: NO_MOUNT_SKIP }, async () => {
  const at = place();
  const disk = join(at.home, 'disk');
  mkdirSync(disk);
  const mounted = (options: string): string =>
    `${NAMESPACES.join(' ')} sh -c 'mount -t tmpfs -o ${options} none ${disk} && "$@"; status=$?; ls -A ${disk}; exit $status' sh "$@"`;
  const full = await fails(['compact', at.session, '--out', join(disk, 'out.jsonl')], 'output_failed', at, {
    shell: mounted('size=16k'),
  });
  assert.match(full.stderr, /the disk is full/);
  assert.equal(full.stdout, '', 'nothing is left on the disk');
  const readOnly = await fails(
    ['compact', at.session, '--out', join(disk, 'out.jsonl')],
    'output_failed',
    at,
    {
      shell: mounted('ro'),
    },
  );
  assert.match(readOnly.stderr, /EROFS/);
  const spooled = await fails(['inspect', '-'], 'output_failed', at, {
    shell: mounted('size=4k'),
    input: at.original,
    env: { TMPDIR: disk },
  });
  assert.match(spooled.stderr, /the disk is full/);
  assert.equal(spooled.stdout, '', 'nothing is left on the disk');
  assertUntouched(at, 'disk');
});

test(
  'a full standard output',
  { skip: process.platform !== 'linux' && 'there is no /dev/full' },
  async () => {
    const at = place();
    for (const args of [['inspect'], ['inspect', '--json'], ['compact'], ['compact', '--preview']]) {
      await fails([...args, at.session], 'output_failed', at, { shell: '"$@" > /dev/full' });
    }
  },
);

test(
  'a limit on the size of files',
  { skip: process.platform === 'win32' && 'there is no ulimit' },
  async () => {
    const at = place();
    const ended = await runBuilt(['compact', at.session, '--out', at.out], {
      home: at.home,
      shell: 'ulimit -f 8; exec "$@"',
    });
    assertFailed(ended, 'output_failed');
    assertUntouched(at);
  },
);
