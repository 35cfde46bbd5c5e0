import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begun, edited, made, newest, open, trailOf, two } from '../../../test/support/git-story.ts';

test('the newest commit is told with its hash, whoever reports it', () => {
  assert.equal(newest(two().sh('git commit -qam dome')), 'made - dome, 1');
  assert.equal(
    newest(two().sh('git commit -qam dome && git rev-parse HEAD', '1a2b3c4'.padEnd(40, '0'))),
    'made 1a2b3c400 dome, 1',
  );
  assert.equal(
    newest(begun().sh('git log --oneline -2', '1a2b3c4 Add moon\n5d6e7f8 Add sun')),
    'seen 1a2b3c4 Add moon, 0',
  );
  assert.equal(
    newest(begun().sh('git log --oneline -2 -- a.ts', '1a2b3c4 Add moon')),
    'before - -, 0',
    'of a file',
  );
  assert.equal(
    newest(begun().sh('git log --oneline origin/dome', '1a2b3c4 Add moon')),
    'before - -, 0',
    'of another branch',
  );
  assert.equal(
    newest(begun().sh('git revert HEAD', made('1a2b3c4', 'Revert "x"'))),
    'made 1a2b3c4 Revert "x", 1',
  );
  const script = 'git commit -m one && git commit --allow-empty -m two';
  assert.equal(
    newest(two().sh(script, `${made('1a2b3c4', 'one')}\n${made('5d6e7f8', 'two')}`)),
    'made 5d6e7f8 two, 2',
  );
});

test('another work tree has changes and commits of its own', () => {
  const tree = '/home/ada/orbit.trees/lens';
  const story = edited(begun(), 'a.ts').sh(
    'git worktree add -b lens ../orbit.trees/lens',
    'HEAD is now at 9999999 moon',
  );
  story
    .edit(`${tree}/b.ts`, 'x', 'y')
    .call('exec_command', { cmd: 'git commit -am lens', workdir: tree }, '[lens 1a2b3c4] lens');
  assert.deepEqual(open(story), ['a.ts']);
  assert.equal(newest(story), 'made 1a2b3c4 lens, 1');
  assert.equal(trailOf(story).tree.directory, tree);
  assert.deepEqual(open(story.sh('git commit -am dome', made('5d6e7f8'))), []);
});

test('what lay in a work tree is gone with it', () => {
  const story = edited(begun().sh('git worktree add worktrees/lens'), 'worktrees/lens/b.ts', 'a.ts');
  assert.deepEqual(open(story), ['worktrees/lens/b.ts', 'a.ts']);
  assert.deepEqual(open(story.sh('git worktree remove --force worktrees/lens')), ['a.ts']);
});

test('a listing that is only cut short begins with what is checked out', () => {
  for (const words of ['-n 2', 'HEAD -n 2'])
    assert.equal(
      newest(begun().sh(`git log --oneline ${words}`, '1a2b3c4 Add moon')),
      'seen 1a2b3c4 Add moon, 0',
      words,
    );
  assert.equal(newest(begun().sh('git log --oneline 1234567', '1234567 Add sun')), 'before - -, 0');
});
