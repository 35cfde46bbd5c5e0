// A cloned repository, or another process that plants files, gains nothing. Each attack in a real process.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { NOT_BUILT, runBuilt } from '../support/built.ts';
import { assertFailed } from '../support/explained.ts';
import { temporaryDirectory } from '../support/program.ts';

const root = temporaryDirectory();
const SESSION = fileURLToPath(new URL('../../examples/sessions/tally.jsonl', import.meta.url));
const SECRET = 'BEGIN OPENSSH PRIVATE KEY';
/** A program that reads such a file without a limit takes minutes, or never ends. */
const SOON_MS = 30_000;

before(() => assert.equal(NOT_BUILT, false, String(NOT_BUILT)));

/** A home with a secret, and in it a repository with Baton's folder. */
function clone(): { readonly home: string; readonly config: string } {
  const home = mkdtempSync(join(root, 'home-'));
  mkdirSync(join(home, '.ssh'));
  writeFileSync(join(home, '.ssh/id_rsa'), `-----${SECRET}-----\n`);
  for (const folder of ['work/.git', 'work/.baton']) mkdirSync(join(home, folder), { recursive: true });
  return { home, config: join(home, 'work/.baton/config.toml') };
}

const IN_WORK = 'cd work && exec "$@"';

const TRAPS: Readonly<Record<string, readonly [plant: (config: string) => unknown, said: RegExp]>> = {
  'a link to an endless device': [(path) => symlinkSync('/dev/zero', path), /a symbolic link that leads out/],
  'a pipe': [(path) => execFileSync('mkfifo', [path]), /is a named pipe/],
  'a directory': [(path) => mkdirSync(path), /is a directory/],
  'a gigabyte': [
    (path) => {
      writeFileSync(path, '');
      truncateSync(path, 1024 ** 3);
    },
    /is larger than 256 KiB/,
  ],
  'a link to a key': [(path) => symlinkSync('../../.ssh/id_rsa', path), /a symbolic link that leads out/],
  'no TOML': [(path) => writeFileSync(path, '['.repeat(100_000)), /is not valid TOML/],
  'keys without end': [
    (path) => writeFileSync(path, 'a.'.repeat(50_000) + 'a = 1'),
    /unknown key|not valid TOML/,
  ],
};

for (const [name, [plant, said]] of Object.entries(TRAPS)) {
  test(`${name} as a project's configuration is reported and ignored`, async () => {
    const { home, config } = clone();
    plant(config);
    const ended = await runBuilt(['inspect', SESSION], { home, shell: IN_WORK });
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stderr, said);
    assert.match(ended.stderr, /work\/\.baton\/config\.toml/);
    assert.doesNotMatch(ended.stderr + ended.stdout, new RegExp(SECRET));
    assert.ok(ended.milliseconds < SOON_MS, `${ended.milliseconds} ms`);
    assertFailed(await runBuilt(['config', 'check'], { home, shell: IN_WORK }), 'config_invalid');
  });
}

test('a project cannot name files, models and prompts, and the user learns how to trust it', async () => {
  const { home, config } = clone();
  writeFileSync(
    config,
    'model = "dear"\ncompact_prompt = "x"\n[rawr_auto_compaction]\nhandoff_prompt_path = "~/.ssh/id_rsa"\n',
  );
  const ended = await runBuilt(['config', 'show'], { home, shell: IN_WORK });
  assert.equal(ended.status, 0, ended.stderr);
  assert.doesNotMatch(ended.stdout, /id_rsa|dear/);
  const prompts = await runBuilt(['prompts', 'show', 'handoff'], { home, shell: IN_WORK });
  assert.doesNotMatch(prompts.stdout, new RegExp(SECRET));
  assert.match(
    prompts.stderr,
    /config\.toml:4: rawr_auto_compaction\.handoff_prompt_path may not be set by a project.*--config/,
  );
  const trusted = await runBuilt(['--config', '.baton/config.toml', 'config', 'show'], {
    home,
    shell: IN_WORK,
  });
  assert.match(trusted.stdout, /handoff_prompt_path = "~\/\.ssh\/id_rsa"/);
  assert.doesNotMatch(trusted.stderr, /may not be set/);
});

test('the configuration of a user must be a file, too', async () => {
  const { home } = clone();
  mkdirSync(join(home, '.baton'));
  execFileSync('mkfifo', [join(home, '.baton/config.toml')]);
  const ended = await runBuilt(['config', 'show'], { home });
  assertFailed(ended, 'file_unreadable');
  assert.match(ended.stderr, /config\.toml is a named pipe/);
});

function windowOf({ stdout }: { readonly stdout: string }): unknown {
  return (JSON.parse(stdout) as { readonly window: unknown }).window;
}

test('a session comes through a pipe of the shell as through standard input', async () => {
  const { home } = clone();
  const plain = await runBuilt(['inspect', '--json', SESSION], { home });
  for (const shell of [
    `exec bash -c '"$@" <(cat "${SESSION}")' sh "$@"`,
    `cat "${SESSION}" | "$@" /dev/stdin`,
    `cat "${SESSION}" | "$@" /dev/fd/0`,
  ]) {
    const piped = await runBuilt(['inspect', '--json'], { home, shell });
    assert.equal(piped.status, 0, piped.stderr);
    assert.deepEqual(windowOf(piped), windowOf(plain));
  }
  assert.deepEqual(readdirSync(home).toSorted(), ['.ssh', 'work']);
});

test('pipes, sockets and links among the sessions of a directory are skipped with a note', async () => {
  const { home } = clone();
  const folder = join(home, 'sessions');
  mkdirSync(folder);
  copyFileSync(SESSION, join(folder, 'a.jsonl'));
  execFileSync('mkfifo', [join(folder, 'pipe.jsonl')]);
  symlinkSync('/dev/zero', join(folder, 'zero.jsonl'));
  const ended = await runBuilt(['replay', 'sessions'], { home });
  assert.equal(ended.status, 0, ended.stderr);
  assert.match(ended.stdout, /2 files in the directory are not sessions/);
  mkdirSync(join(home, '.claude/projects/x'), { recursive: true });
  execFileSync('mkfifo', [join(home, '.claude/projects/x/s.jsonl')]);
  const listed = await runBuilt(['sessions'], { home });
  assert.equal(listed.status, 0, listed.stderr);
});
