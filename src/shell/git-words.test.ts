// The choice that pathspecs make: as git reads them, and in linear time whatever a transcript holds.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathsOf } from './git-words.ts';

const CHOICES: readonly (readonly [spec: string, path: string, isMeant: boolean])[] = [
  ['src/*.ts', 'src/a.ts', true],
  ['src/*.ts', 'src/deep/a.ts', true],
  ['src/*.ts', 'test/a.ts', false],
  ['*.md', 'docs/decisions/patterns.md', true],
  ['src/sh*', 'src/shell/git-words.ts', true],
  ['a?.ts', 'ab.ts', true],
  ['a[bc].ts', 'ac.ts', true],
  ['a[bc].ts', 'ad.ts', false],
  ['a[!bc].ts', 'ad.ts', true],
  ['a+(b).*', 'a+(b).ts', true],
  ['a[b*', 'a[bc', true],
];

for (const [spec, path, isMeant] of CHOICES) {
  test(`${spec} ${isMeant ? 'means' : 'does not mean'} ${path}`, () => {
    assert.equal(pathsOf([spec], '.').matches(path), isMeant);
  });
}

test('a pathspec of many stars does not hold up the reading of a transcript', () => {
  const { matches } = pathsOf([`${'*a'.repeat(30)}!`], '.');
  assert.equal(matches('a'.repeat(200)), false);
  assert.equal(pathsOf(['*a'.repeat(1_000_000)], '.').matches('a'.repeat(2_000_000)), false);
});
