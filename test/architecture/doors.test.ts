// Some things have one door each, and no file of src/ goes round it: what is printed, and what children are given.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('../../src', import.meta.url));

/** What may stand in the named files only. Comments count: they are cheap to word otherwise. */
const DOORS: readonly {
  readonly what: string;
  readonly pattern: RegExp;
  readonly files: readonly string[];
}[] = [
  {
    what: 'prints past the door to the terminal (io.stdout, io.stderr)',
    pattern:
      /\bprocess\.(?:stdout|stderr|emitWarning)|\bconsole\.|\bwriteSync\(1|\bwriteSync\(2|'node:(?:console|tty)'/,
    files: ['cli/process.ts', 'cli/main.ts'],
  },
];

function* sources(directory = SOURCE): Generator<{ readonly path: string; readonly text: string }> {
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory()) yield* sources(path);
    else if (entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts')) {
      yield { path: relative(SOURCE, path), text: readFileSync(path, 'utf8') };
    }
  }
}

for (const { what, pattern, files } of DOORS) {
  test(`no file ${what}`, () => {
    const found = [...sources()].filter(({ text }) => pattern.test(text)).map(({ path }) => path);
    assert.deepEqual(
      found.filter((path) => !files.includes(path)),
      [],
    );
    assert.deepEqual(found.toSorted(), files.toSorted(), 'the files of the door');
  });
}
