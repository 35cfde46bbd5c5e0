// What goes to npm, and what a start of the built program loads.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { PROMPT_NAMES, SHIPPED_PROMPTS } from '../../src/prompts/shipped.ts';
import { NOT_BUILT, PROGRAM, runBuilt } from '../support/built.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const BUNDLE = dirname(PROGRAM);

test('the package holds what the program needs, and no tests', { skip: NOT_BUILT }, () => {
  const { stdout, stderr, status } = spawnSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  const [pack] = JSON.parse(stdout) as [{ readonly files: readonly { readonly path: string }[] }];
  const paths = pack.files.map(({ path }) => path);
  for (const path of [
    'package.json',
    'README.md',
    'LICENSE',
    'dist/cli/main.js',
    'dist/lib/index.js',
    'dist/lib/index.d.ts',
    'schema/config.schema.json',
    'docs/config.md',
    ...readdirSync(BUNDLE).map((name) => `dist/cli/${name}`),
  ]) {
    assert.ok(paths.includes(path), path);
  }
  assert.deepEqual(
    paths.filter((path) => /\.test\.|^test\/|^src\/|node_modules/.test(path)),
    [],
  );
});

/** The files of the bundle that a file of it loads at once, itself included. */
function loadedBy(name: string): ReadonlySet<string> {
  const loaded = new Set<string>();
  const waiting = [name];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (loaded.has(next)) continue;
    loaded.add(next);
    const text = readFileSync(join(BUNDLE, next), 'utf8');
    // The bundle is minified; what is imported when it is needed has a parenthesis there.
    for (const [, file] of text.matchAll(/\b(?:from|import)\s*"\.\/([^"]+)"/g)) waiting.push(file ?? '');
  }
  return loaded;
}

test('every prompt is in the bundle, and only commands that need one load it', { skip: NOT_BUILT }, () => {
  const withPrompts = readdirSync(BUNDLE).filter((name) => {
    const text = readFileSync(join(BUNDLE, name), 'utf8');
    return PROMPT_NAMES.some((prompt) => text.includes(lineOf(SHIPPED_PROMPTS[prompt])));
  });
  const all = withPrompts.map((name) => readFileSync(join(BUNDLE, name), 'utf8')).join('');
  for (const prompt of PROMPT_NAMES) assert.ok(all.includes(lineOf(SHIPPED_PROMPTS[prompt])), prompt);
  const entry = (command: string): string =>
    readdirSync(BUNDLE).find((name) => new RegExp(`^${command}-[A-Z0-9]{8}\\.js$`).test(name)) ?? '';
  const carries = (name: string): boolean => withPrompts.some((each) => loadedBy(name).has(each));
  assert.ok(carries(entry('prompts')), 'the command of the prompts loads them');
  for (const name of [
    'main.js',
    'command.js',
    ...['inspect', 'compact', 'undo', 'sessions', 'doctor'].map(entry),
  ]) {
    assert.ok(loadedBy(name).size > 1 || name === 'main.js', `imports of ${name} are seen`);
    assert.ok(!carries(name), `${name} loads prompts`);
  }
});

test(
  'a command that runs a thread loads one file, and no complaint in forty languages',
  { skip: NOT_BUILT },
  () => {
    assert.deepEqual([...loadedBy('agent.js')], ['agent.js']);
    for (const name of readdirSync(BUNDLE)) {
      // Zod in German. One import of `z` by its name instead of the namespace brings 390 KB of such.
      assert.doesNotMatch(readFileSync(join(BUNDLE, name), 'utf8'), /ltige Eingabe/, name);
    }
  },
);

/** The longest line of a prompt that needs no escape in a program. */
function lineOf(prompt: string): string {
  const plain = prompt.split('\n').filter((line) => !/["'`\\$]|[^ -~]/.test(line));
  return plain.toSorted((a, b) => b.length - a.length)[0] ?? '';
}

/** Permissions stop everybody but root, so root runs this as nobody. @source \`nobody\` on Linux and BSD */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const NO_STRANGER =
  isRoot &&
  spawnSync(process.execPath, [PROGRAM, '--version'], { uid: NOBODY, gid: NOBODY }).status !== 0 &&
  'the tests run as root, whom permissions do not stop, and another user cannot run the program';

test(
  'a home that may not be written has the shipped prompts, and says so',
  { skip: NOT_BUILT || NO_STRANGER },
  async () => {
    const home = realpathSync(mkdtempSync(join(tmpdir(), 'baton-home-')));
    const stranger = isRoot ? { userId: NOBODY } : {};
    try {
      if (isRoot) chownSync(home, NOBODY, NOBODY);
      chmodSync(home, 0o500);
      const listed = await runBuilt(['prompts'], { home, ...stranger });
      assert.equal(listed.status, 0, listed.stderr);
      assert.match(listed.stderr, /auto-compact cannot be filled \(EACCES\); the shipped prompts are used/);
      assert.match(listed.stdout, /^handoff\.md +missing/m);
      const shown = await runBuilt(['prompts', 'show', 'handoff'], { home, ...stranger });
      assert.equal(shown.stdout, SHIPPED_PROMPTS['handoff.md']);
      const reset = await runBuilt(['prompts', 'reset', 'handoff'], { home, ...stranger });
      assert.equal(reset.status, 1);
      assert.match(reset.stderr, /cannot be written \(EACCES\).*\[output_failed\]/s);
      chmodSync(home, 0o700);
      mkdirSync(join(home, '.baton/auto-compact'), { recursive: true });
      chmodSync(join(home, '.baton/auto-compact'), 0o000);
      const locked = await runBuilt(['prompts', 'show', 'handoff'], { home, ...stranger });
      assert.equal(locked.stdout, SHIPPED_PROMPTS['handoff.md']);
      assert.match(locked.stderr, /cannot be read \(EACCES\); the shipped prompt is used/);
    } finally {
      chmodSync(home, 0o700);
      rmSync(home, { recursive: true, force: true });
    }
  },
);
