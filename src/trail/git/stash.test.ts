import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, trailOf, two } from '../../../test/support/git-story.ts';
import type { Story } from '../../../test/support/story.ts';

test('what was stashed is away while it is', () => {
  const saved = (): Story =>
    two().sh('git stash', 'Saved working directory and index state WIP on main: 1a2b3c4 x');
  assert.deepEqual([open(saved()), trailOf(saved()).tree.stashed], [[], ['a.ts', 'src/b.ts']]);
  assert.deepEqual(open(saved().sh('git stash pop', 'Dropped refs/stash@{0}')), ['a.ts', 'src/b.ts']);
  assert.deepEqual(trailOf(saved().sh('git stash pop', 'Dropped refs/stash@{0}')).tree.stashed, []);
  assert.deepEqual(open(two().sh('git stash', 'No local changes to save')), ['a.ts', 'src/b.ts']);
  assert.deepEqual(open(two().sh('git stash push -m later -- a.ts')), ['src/b.ts']);
  assert.deepEqual(
    [open(saved().sh('git stash drop')), trailOf(saved().sh('git stash drop')).tree.stashed],
    [[], []],
  );
});

test('what could not be given back for a conflict stays stashed', () => {
  const saved = two().sh('git stash', 'Saved working directory and index state WIP on main: 1a2b3c4 x');
  const conflict = saved.sh('git stash pop', 'CONFLICT (content): Merge conflict in a.ts', 1);
  assert.deepEqual(
    [open(conflict), trailOf(conflict).tree.stashed],
    [
      ['a.ts', 'src/b.ts'],
      ['a.ts', 'src/b.ts'],
    ],
  );
});
