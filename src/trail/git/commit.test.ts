import assert from 'node:assert/strict';
import { test } from 'node:test';
import { made, newest, open, two } from '../../../test/support/git-story.ts';
import type { Story } from '../../../test/support/story.ts';

test('a commit holds what was added, as far as the log tells', () => {
  const cases: readonly (readonly [script: string, output: string, left: readonly string[]])[] = [
    ['git add a.ts && git commit -m dome', made('1a2b3c4'), ['src/b.ts']],
    ['git add src && git commit -m dome', made('1a2b3c4'), ['a.ts']],
    ["git add 'src/*.ts' && git commit -m dome", made('1a2b3c4'), ['a.ts']],
    ['cd src && git add . && git commit -m dome', made('1a2b3c4'), ['a.ts']],
    ['git -C src add b.ts && git commit -m dome', made('1a2b3c4'), ['a.ts']],
    ['git add -A && git commit -m dome', made('1a2b3c4', 'dome', 2), []],
    ['git add -u && git commit -m dome', made('1a2b3c4', 'dome', 2), []],
    ['git commit -am dome', made('1a2b3c4', 'dome', 2), []],
    ['git commit -m dome -- a.ts', made('1a2b3c4'), ['src/b.ts']],
    ['git commit a.ts -m dome', made('1a2b3c4'), ['src/b.ts']],
    ['git add a.ts src/b.ts && git reset src/b.ts && git commit -m dome', made('1a2b3c4'), ['src/b.ts']],
    ['git add a.ts && git restore --staged a.ts', '', ['a.ts', 'src/b.ts']],
    ['git add a.ts', '', ['a.ts', 'src/b.ts']],
    ['git add a.ts && git commit --dry-run', 'On branch main', ['a.ts', 'src/b.ts']],
    ['git commit -m dome', made('1a2b3c4'), []],
    ['git add $FILES && git commit -m dome', made('1a2b3c4'), []],
    ['git ls-files -m | xargs git add; git commit -m dome', made('1a2b3c4'), []],
    ['git add a.ts && git commit -m dome', made('1a2b3c4', 'dome', 3), []],
  ];
  for (const [script, output, left] of cases) assert.deepEqual(open(two().sh(script, output)), left, script);
});

test('a commit that failed or had nothing to do holds nothing', () => {
  assert.deepEqual(open(two().sh('git add . && git commit -m x', 'lint: 2 errors', 1)), ['a.ts', 'src/b.ts']);
  const idle = two().sh('git commit -m x || true', 'On branch main\nno changes added to commit');
  assert.deepEqual(open(idle), ['a.ts', 'src/b.ts']);
  assert.equal(newest(idle), 'before - -, 0');
});

test('what a commit of all takes outside of the directory it ran in, only git tells', () => {
  const inside = (): Story => two().sh('cd src && git commit -am dome', made('1a2b3c4'));
  assert.deepEqual(open(inside()), [], 'it may hold all');
  const listed = inside().sh('git status --short', ' M a.ts\n M src/b.ts');
  assert.deepEqual(open(listed), ['a.ts'], 'or not what lies outside; inside is what others did since');
  assert.deepEqual(
    open(inside().sh('git reset HEAD~1')),
    ['src/b.ts'],
    'to be committed again is what it held for sure',
  );
});

test('after git was handed paths that nobody knows, a commit may hold anything', () => {
  const left = (script: string): string[] =>
    open(two().sh('git add a.ts').sh(script).sh('git commit -m dome', made('1a2b3c4')));
  assert.deepEqual(left('ls src | xargs git add'), []);
  assert.deepEqual(left('git ls-files src | xargs -n1 git rm --cached'), []);
  assert.deepEqual(left('ls src | xargs git diff'), ['src/b.ts'], 'looking changes nothing');
  assert.deepEqual(left('git status -s -uno; ls src | xargs cargo add'), ['src/b.ts'], 'another program');
});
