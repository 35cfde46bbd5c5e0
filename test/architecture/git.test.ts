// Checks that only one file starts git, and that no other file than those allowed starts a process.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'src');

const DOOR = 'system/git.io.ts';

/** Who may start processes: the one place that does, and what starts others than git through it. */
const STARTERS: Readonly<Record<string, readonly string[]>> = {
  'node:child_process': ['system/processes.io.ts', 'tui/terminal/guard.io.ts'],
  runProcess: [
    'system/processes.io.ts',
    DOOR,
    'cli/commands/setup/doctor.ts',
    'hooks/hooks.io.ts',
    'tools/toolbox.io.ts',
    'tools/grep/grep.io.ts',
    'tools/shell/shell.io.ts',
  ],
};

/** `git` as the first word of a command, or as a program that is looked up. */
const STARTS_GIT =
  /\[\s*['"`]git['"`\s]|(?:spawn|exec|fork|findProgram|find)\w*\(\s*['"`]git\b|command: ['"`]git\b/;

const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  .map((path) => ({ path, text: readFileSync(join(SOURCE, path), 'utf8') }));

test('only one file starts git', () => {
  const starters = files.filter(({ path, text }) => path !== DOOR && /\brunProcess\b/.test(text));
  const others = starters.filter(({ text }) => STARTS_GIT.test(text));
  assert.ok(starters.length > 0, 'starters');
  assert.deepEqual(
    others.map(({ path }) => path),
    [],
  );
});

test('the rule finds planted violations', () => {
  const texts = [
    "runProcess({ command: ['git', 'status'] })",
    "spawn('git', [])",
    'execFileSync("git")',
    "findProgram('git', directories)",
    "command: 'git status'",
  ];
  for (const text of texts) assert.match(text, STARTS_GIT);
  assert.match(files.find(({ path }) => path === DOOR)?.text ?? '', STARTS_GIT);
});

for (const [name, allowed] of Object.entries(STARTERS)) {
  test(`${name} is used by the files that may start a process, and by no other`, () => {
    const users = files.filter(({ text }) => new RegExp(`\\b${name}\\b`).test(text));
    assert.deepEqual(users.map(({ path }) => path).toSorted(), allowed.toSorted());
  });
}
