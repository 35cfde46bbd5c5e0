import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import { findFiles } from './files.io.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'baton-files-'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

function write(name: string, text = ''): void {
  mkdirSync(dirname(join(cwd, name)), { recursive: true });
  writeFileSync(join(cwd, name), text);
}

function git(...args: readonly string[]): void {
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.c', ...args], { cwd, stdio: 'ignore' });
}

async function names(signal = new AbortController().signal): Promise<string[]> {
  const found = await findFiles({ cwd, env: process.env, signal });
  assert.equal(found.isCut, false);
  return found.names.toSorted();
}

test('git lists tracked and new files, without ignored ones', async () => {
  git('init', '-q');
  write('.gitignore', 'dist/\n*.log\n');
  write('src/a b.ts');
  write('dist/made.js');
  write('x.log');
  git('add', '-A');
  write('new\n日本.ts');
  assert.deepEqual(await names(), ['.gitignore', 'new\n日本.ts', 'src/a b.ts']);
});

test('in a subdirectory, names are relative to it', async () => {
  git('init', '-q');
  write('top.ts');
  write('part/inner.ts');
  cwd = join(cwd, 'part');
  assert.deepEqual(await names(), ['inner.ts']);
  cwd = dirname(cwd);
});

test('without a repository, a walk skips dependencies and follows no link', async () => {
  write('a.txt');
  write('deep/er/b.txt');
  write('node_modules/x/index.js');
  execFileSync('ln', ['-s', '.', join(cwd, 'loop')]);
  assert.deepEqual(await names(), ['a.txt', 'deep/er/b.txt', 'loop']);
});

test('a repository runs nothing, and a pipe where git reads does not block', async () => {
  git('init', '-q');
  write('a.txt');
  write('hook.sh', `#!/bin/sh\ntouch '${join(cwd, 'ran')}'\n`);
  chmodSync(join(cwd, 'hook.sh'), 0o755);
  git('config', 'core.fsmonitor', join(cwd, 'hook.sh'));
  assert.deepEqual(await names(), ['a.txt', 'hook.sh']);
  execFileSync('mkfifo', [join(cwd, '.gitignore')]);
  assert.deepEqual(await names(), ['.gitignore', 'a.txt', 'hook.sh']);
  rmSync(join(cwd, '.gitignore'));
  // Git waits for this one, until its time is over.
  execFileSync('mkfifo', [join(cwd, 'excludes')]);
  git('config', 'core.excludesFile', join(cwd, 'excludes'));
  const before = performance.now();
  assert.deepEqual(await names(), ['a.txt', 'excludes', 'hook.sh']);
  assert.ok(performance.now() - before < 8000);
  assert.ok(!existsSync(join(cwd, 'ran')));
});

test('a tree of any size ends at the bound, and the deepest files are missing', async () => {
  write('a/b/c/deep.txt');
  for (const name of ['x', 'y', 'z']) write(name);
  const terms = { cwd, env: process.env, signal: new AbortController().signal, most: 4 };
  const cut = await findFiles(terms);
  assert.deepEqual([cut.names.toSorted(), cut.isCut], [['x', 'y', 'z'], true]);
  git('init', '-q');
  assert.equal((await findFiles({ ...terms, most: 3 })).names.length, 3);
  assert.equal((await findFiles(terms)).isCut, false);
});

test('a stopped search ends at once', async () => {
  write('a.txt');
  const found = await findFiles({ cwd, env: process.env, signal: AbortSignal.abort() });
  assert.deepEqual(found, { names: [], isCut: true });
});

test('a missing directory has no files', async () => {
  const found = await findFiles({
    cwd: join(cwd, 'gone'),
    env: process.env,
    signal: new AbortController().signal,
  });
  assert.deepEqual(found, { names: [], isCut: false });
});
