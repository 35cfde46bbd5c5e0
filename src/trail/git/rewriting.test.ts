import assert from 'node:assert/strict';
import { test } from 'node:test';
import { committed, commits, made, newest, open, two } from '../../../test/support/git-story.ts';

test('a commit that was made anew is not told by its old hash', () => {
  assert.deepEqual(commits(committed().sh('git commit --amend --no-edit', made('5d6e7f8'))), [
    '5d6e7f8 dome',
  ]);
  const pulled = committed().sh(
    'git pull --rebase',
    'Rebasing (1/1)\rSuccessfully rebased and updated refs/heads/main.',
  );
  assert.deepEqual(commits(pulled), ['- dome rebased']);
  assert.equal(newest(pulled), 'made - dome, 1');
  const pushed = pulled.sh('git push', '   9999999..5d6e7f8  main -> main');
  assert.deepEqual(commits(pushed), ['5d6e7f8 dome'], 'the push names it');
  assert.equal(newest(pushed), 'made 5d6e7f8 dome, 0');
  const kept = committed()
    .sh('git push', '   9999999..1a2b3c4  main -> main')
    .sh('git pull --rebase', 'Successfully rebased and updated refs/heads/main.');
  assert.deepEqual(commits(kept), ['1a2b3c4 dome'], 'a pull leaves alone what the remote has');
  const rebased = committed()
    .sh('git rebase main', 'Successfully rebased and updated refs/heads/main.')
    .sh('git log --oneline -1', '5d6e7f8 dome');
  assert.deepEqual(commits(rebased), ['5d6e7f8 dome']);
  assert.deepEqual(commits(committed().sh('git rebase main', 'Current branch main is up to date.')), [
    '1a2b3c4 dome',
  ]);
});

test('a reset gives back what it undoes, or throws it away', () => {
  assert.deepEqual(open(committed().sh('git reset --soft HEAD~1')).toSorted(), ['a.ts', 'src/b.ts']);
  assert.deepEqual(commits(committed().sh('git reset HEAD~1')), []);
  const hard = committed().sh('git reset --hard HEAD~1', 'HEAD is now at 5d6e7f8 sun');
  assert.deepEqual(
    [open(hard), commits(hard), newest(hard)],
    [[], ['1a2b3c4 dome thrown away'], 'seen 5d6e7f8 sun, 0'],
  );
  assert.deepEqual(open(two().sh('git reset --hard', 'HEAD is now at 1a2b3c4 dome')), []);
  assert.deepEqual(open(committed().sh('git reset --soft 5d6e7f8')), [], 'nobody knows what lies between');
});

test('a new branch holds the commits of the one it begins at', () => {
  const branched = two()
    .sh('git switch -c moon', "Switched to a new branch 'moon'")
    .sh('git commit -am dome', '[moon 1a2b3c4] dome')
    .sh('git switch -c lens', "Switched to a new branch 'lens'");
  assert.deepEqual(commits(branched.sh('git reset --hard HEAD~1', 'HEAD is now at 5d6e7f8 sun')), [
    '1a2b3c4 dome thrown away',
  ]);
});

test('what others have made already is left out of a rebase', () => {
  const skipped =
    'warning: skipped previously applied commit 1a2b3c4\nSuccessfully rebased and updated refs/heads/main.';
  assert.equal(newest(committed().sh('git pull --rebase', skipped)), 'before - dome, 0');
});
