// How the source is laid out: files that touch the world say so in their names, folders hold a handful of files, and a word names
// one thing. ARCHITECTURE.md, "Rooms".

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SOURCE = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'src');

/** Files of a folder, tests beside them not counted, that a reader takes in at a glance. @source spec 5-architecture, "Names and words" */
const MOST_FILES = 16;
/** Types of one name, each in a file of its own, that a reader keeps apart. @source spec 5-architecture, "Names and words" */
const MOST_HOMONYMS = 2;

const WORLD =
  /from 'node:(?:fs|fs\/promises|child_process|http|https|net|tls|tty|os|worker_threads|timers\/promises)'|\bsetTimeout\(|\bDate\.now\(|\bMath\.random\(/;

interface SourceFile {
  readonly path: string;
  readonly text: string;
}

const files: readonly SourceFile[] = readdirSync(SOURCE, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'))
  .map((entry) => join(entry.parentPath, entry.name))
  .map((path) => ({ path: relative(SOURCE, path), text: readFileSync(path, 'utf8') }));

test('a file that touches the world ends in .io.ts; only commands and the program itself need not say it', () => {
  const silent = files.filter(({ path, text }) => WORLD.test(text) && !path.endsWith('.io.ts'));
  const unnamed = silent.map(({ path }) => path).filter((path) => !path.startsWith('cli/commands/'));
  assert.deepEqual(unnamed, ['cli/main.ts']);
});

test(`a folder holds between 2 and ${MOST_FILES} files`, () => {
  const folders = new Map<string, number>();
  for (const { path } of files) folders.set(dirname(path), (folders.get(dirname(path)) ?? 0) + 1);
  const odd = [...folders].filter(([, count]) => count < 2 || count > MOST_FILES);
  assert.deepEqual(odd, []);
});

test('a name stands for one type, or for two that nobody confuses', () => {
  const homes = new Map<string, string[]>();
  for (const { path, text } of files) {
    for (const [, name = ''] of text.matchAll(
      /^(?:export )?(?:abstract )?(?:interface|type|class) ([A-Z]\w*)/gm,
    )) {
      homes.set(name, [...(homes.get(name) ?? []), path]);
    }
  }
  assert.ok(homes.size > 1_000, `${homes.size} types`);
  const crowded = [...homes].filter(([, paths]) => paths.length > MOST_HOMONYMS);
  assert.deepEqual(crowded, []);
});
