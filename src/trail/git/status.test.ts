import assert from 'node:assert/strict';
import { test } from 'node:test';
import { made, open, two } from '../../../test/support/git-story.ts';

test('what the status lists is so, what it leaves out is done', () => {
  assert.deepEqual(open(two().sh('git status --short', ' M a.ts')), ['a.ts']);
  assert.deepEqual(open(two().sh('git status', 'On branch main\nnothing to commit, working tree clean')), []);
  assert.deepEqual(
    open(two().sh('git status --short -- a.ts', ' M a.ts')),
    ['a.ts', 'src/b.ts'],
    'asked for one',
  );
  assert.deepEqual(open(two().sh('git status --short | head -1', ' M a.ts')), ['a.ts', 'src/b.ts'], 'cut');
  const doubtful = two().sh('git commit -m dome', made('1a2b3c4'));
  assert.deepEqual(open(doubtful.sh('git status --short', ' M src/b.ts')), ['src/b.ts'], 'git tells');
});
