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

test('what somebody else committed is told as such, and may hold what was changed before', () => {
  const seen = () => edited(begun().sh('git log --oneline -1', '1a2b3c4 Add moon'), 'a.ts');
  const moved = () => seen().sh('git log -1 --format="%H%n%B"', `${'5d6e7f8'.padEnd(40, '0')}\nAdd sun\n\nx`);
  assert.equal(trailOf(moved()).tree.movedFrom, '1a2b3c4');
  assert.equal(newest(moved()), 'seen 5d6e7f800 Add sun, 0');
  assert.deepEqual(open(moved()), [], 'nobody knows');
  assert.deepEqual(open(edited(moved(), 'b.ts')), ['b.ts']);
  assert.deepEqual(open(moved().sh('git status --short', ' M a.ts')), ['a.ts'], 'git tells');
  assert.equal(trailOf(moved().sh('git log --oneline -2', '5d6e7f8 Add sun')).tree.movedFrom, '1a2b3c4');
  for (const script of ['git log --oneline -1', 'git log --oneline -1 && git log -1 --format=%b'])
    assert.equal(trailOf(seen().sh(script, '1a2b3c4 Add moon')).tree.movedFrom, undefined, script);
});

test('what the session moved itself was moved by nobody else', () => {
  const seen = () => begun().sh('git log --oneline -1', '1a2b3c4 Add moon');
  for (const [script, output] of [
    ['git pull', 'Updating 1a2b3c4..5d6e7f8\nFast-forward'],
    ['git reset --hard 5d6e7f8', 'HEAD is now at 5d6e7f8 Add sun'],
    ['git checkout -q sun', ''],
    ['git commit -am sun', made('5d6e7f8', 'Add sun')],
  ] as const) {
    const story = seen().sh(script, output).sh('git log --oneline -1', '5d6e7f8 Add sun');
    assert.equal(trailOf(story).tree.movedFrom, undefined, script);
  }
});

test('a commit of somebody else that lists a changed file may hold the change', () => {
  const stat = ` src/b.ts | 4 ++--\n 1 file changed`;
  const shown = (subject: string) =>
    two().sh('git show --stat', `commit ${'1'.repeat(40)}\n\n    ${subject}\n\n${stat}`);
  assert.deepEqual(open(shown('Add sun')), ['a.ts']);
  assert.deepEqual(
    open(two().sh('git status | head -9', 'On branch main\nnothing to commit, working tree clean')),
    [],
  );
});

test('of two repositories each has what git showed in it', () => {
  const story = begun()
    .sh('git log --oneline -1', '1a2b3c4 Add moon')
    .sh('cd /home/ada/site && git log --oneline -1', '5d6e7f8 Add sun');
  const state = trailOf(story.sh('cd /home/ada/site && make').sh('cd /home/ada/site && make')).tree;
  assert.deepEqual([state.newest?.subject, state.directory], ['Add sun', '/home/ada/site']);
});
