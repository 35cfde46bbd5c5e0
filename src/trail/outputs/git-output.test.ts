import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  distanceIn,
  commitsIn,
  firstLogged,
  headIn,
  listedFiles,
  loggedIn,
  pushIn,
  statusIn,
} from './git-output.ts';

test('commits are read off with their branch and the count of their files', () => {
  const output =
    '[main (root-commit) 1a2b3c4] Add moon\n 2 files changed, 3 insertions(+)\n[not a commit]\n[fix/lens 5d6e7f8] Mend';
  assert.deepEqual(commitsIn(output), [
    { branch: 'main', hash: '1a2b3c4', subject: 'Add moon', files: 2 },
    { branch: 'fix/lens', hash: '5d6e7f8', subject: 'Mend', files: undefined },
  ]);
});

test('both forms of the status of a work tree list the same', () => {
  const short =
    '## main...origin/main\nM  a.ts\n M b.ts\nMM c.ts\nD  d.ts\nR  e.ts -> f.ts\n?? new dir/\n?? "g h.ts"\n';
  const long =
    'On branch main\nYour branch is up to date with \'origin/main\'.\n\nChanges to be committed:\n  (use "git restore --staged <file>..." to unstage)\n\tmodified:   a.ts\n\tdeleted:    d.ts\n\trenamed:    e.ts -> f.ts\n\nChanges not staged for commit:\n\tmodified:   b.ts\n\nUntracked files:\n  (use "git add <file>..." to include in what will be committed)\n\tnew dir/\n\nno changes added to commit';
  const told = (output: string) =>
    statusIn(output).map(
      (one) =>
        `${one.path} ${[one.isStaged, one.isDirty, one.isUntracked, one.isDeleted].map(Number).join('')}`,
    );
  assert.deepEqual(told(short), [
    'a.ts 1000',
    'b.ts 0100',
    'c.ts 1100',
    'd.ts 1001',
    'f.ts 1000',
    'new dir/ 0110',
    'g h.ts 0110',
  ]);
  assert.deepEqual(told(long), ['a.ts 1000', 'd.ts 1001', 'f.ts 1000', 'b.ts 0100', 'new dir/ 0110']);
  assert.deepEqual(statusIn('On branch main\nnothing to commit, working tree clean'), []);
  assert.deepEqual(told(' M a.ts\n1a2b3c4 Add moon\n M b.ts'), ['a.ts 0100'], 'the first run of rows');
});

test('how far a branch is ahead is told of its own upstream only', () => {
  assert.deepEqual(distanceIn('## main...origin/main [ahead 2, behind 1]\n M a.ts'), { ahead: 2, behind: 1 });
  assert.deepEqual(distanceIn('## main...origin/main'), { ahead: 0, behind: 0 });
  assert.deepEqual(distanceIn('## dome...origin/main [ahead 2]'), undefined, 'where it came from');
  assert.deepEqual(distanceIn("On branch main\nYour branch is ahead of 'origin/main' by 3 commits."), {
    ahead: 3,
    behind: 0,
  });
  assert.deepEqual(distanceIn("Switched to branch 'main'\nYour branch is up to date with 'origin/main'."), {
    ahead: 0,
    behind: 0,
  });
  assert.deepEqual(distanceIn("On branch dome\nYour branch is up to date with 'origin/main'."), undefined);
  const isBehind =
    "On branch main\nYour branch is behind 'origin/main' by 2 commits, and can be fast-forwarded.";
  assert.deepEqual(distanceIn(isBehind), { ahead: 0, behind: 2 });
  const diverged = "Your branch and 'origin/main' have diverged,\nand have 4 and 1 different commits each";
  assert.deepEqual(distanceIn(diverged), { ahead: 4, behind: 1 });
  assert.deepEqual(distanceIn('1 file changed'), undefined);
});

test('a push is judged by the line of its branch, whatever a hook says', () => {
  const pushed = 'error: a hook\nTo orbit.git\n   1a2b3c4..5d6e7f8  main -> main\n';
  assert.deepEqual(pushIn(pushed, 'main'), { result: 'pushed', hash: '5d6e7f8', reason: undefined });
  assert.equal(pushIn(' * [new branch]      dome -> dome', 'dome')?.result, 'pushed');
  assert.equal(pushIn(' * [new branch]      HEAD -> dome', undefined)?.result, 'pushed');
  assert.equal(pushIn(' * [new tag]         v1 -> v1', 'main')?.result, 'other');
  assert.equal(pushIn(' * [new branch]      dome -> dome', 'main')?.result, 'other');
  assert.equal(pushIn('Everything up-to-date', 'main')?.result, 'pushed');
  const refused = ' ! [rejected]        main -> main (fetch first)\nerror: failed to push some refs';
  assert.deepEqual(pushIn(refused, 'main'), { result: 'refused', hash: undefined, reason: 'fetch first' });
  assert.equal(pushIn('fatal: no remote', 'main')?.reason, 'no remote');
  assert.equal(pushIn('   1a2b3c4..5d6e7f8  main -> origin/main', 'main'), undefined, 'that was a fetch');
  assert.equal(pushIn('', 'main'), undefined);
});

test('listings of commits are read in the forms that begin with the hash', () => {
  assert.deepEqual(loggedIn('1a2b3c4 (HEAD -> main) Add moon\n5d6e7f8 Add sun'), [
    { hash: '1a2b3c4', subject: 'Add moon' },
    { hash: '5d6e7f8', subject: 'Add sun' },
  ]);
  const hash = '1a2b3c4'.padEnd(40, '0');
  const long = `commit ${hash}\nAuthor: Ada\nDate: today\n\n    Add moon\n\n    More.\n`;
  assert.deepEqual(loggedIn(long), [{ hash, subject: 'Add moon' }]);
  assert.deepEqual(headIn('HEAD is now at 1a2b3c4 Add moon'), { hash: '1a2b3c4', subject: 'Add moon' });
});

const moon = (hash: string) => ({ hash, subject: 'Add moon' });

test('a listing begins with a commit in each form that begins with a hash', () => {
  const hash = '1a2b3c4d'.padEnd(40, '0');
  assert.deepEqual(firstLogged('1a2b3c4 Add moon\n5d6e7f8 Add sun'), moon('1a2b3c4'));
  assert.deepEqual(firstLogged(`${hash} Add moon\n\n4902a08f9b18`), moon(hash));
  assert.deepEqual(firstLogged(`${hash}\nAdd moon\n\nTrailer: 1`), moon(hash));
  assert.deepEqual(firstLogged(`commit ${hash}\nAuthor: Ada\n\n    Add moon\n`), moon(hash));
  assert.equal(firstLogged('Add moon\n1a2b3c4 Add sun'), undefined, 'its head is something else');
});

test('files of a commit are read off a stat or a list of names', () => {
  assert.deepEqual(
    listedFiles(
      ' src/a.ts      | 20 ++\n .../deep/b.ts | Bin 0 -> 9 bytes\n 2 files changed\nM\tsrc/c.ts\nd.ts',
    ),
    ['src/a.ts', 'deep/b.ts', 'src/c.ts', 'd.ts'],
  );
});
