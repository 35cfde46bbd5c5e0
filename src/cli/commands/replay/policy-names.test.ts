import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nameFiles } from './policy-names.ts';

const TABLE: readonly (readonly [files: readonly string[], names: readonly string[]])[] = [
  [[], []],
  [['a.toml'], ['a.toml']],
  [
    ['/home/dev/early.toml', '/home/dev/late.toml'],
    ['early.toml', 'late.toml'],
  ],
  [
    ['/home/a/x.toml', '/home/b/x.toml', 'y.toml'],
    ['a/x.toml', 'b/x.toml', 'y.toml'],
  ],
  [
    ['x.toml', '/srv/x.toml'],
    ['x.toml', 'srv/x.toml'],
  ],
  // A name of a policy is taken.
  [['/home/dev/baton'], ['dev/baton']],
  [['baton'], ['./baton']],
];

for (const [files, names] of TABLE) {
  test(`${files.join(', ')} are called ${names.join(', ')}`, () => {
    assert.deepEqual(
      [...nameFiles(files)],
      files.map((file, at) => [file, names[at]]),
    );
  });
}
