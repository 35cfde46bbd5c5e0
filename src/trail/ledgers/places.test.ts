import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PlaceLedger } from './places.ts';
import { simpleCommands } from '../../shell/scripts.ts';

const root = '/home/ada/orbit';

/** What a ledger knows after commands, each with the directory that the call names and what it printed. */
function after(...runs: readonly (readonly [script: string, output?: string, directory?: string])[]): {
  readonly directory: string | undefined;
  readonly branch: string | undefined;
  readonly branchOf: (directory: string) => string | undefined;
} {
  const place = new PlaceLedger();
  for (const [script, output = '', directory] of runs) {
    const meaning = {
      simple: simpleCommands(script),
      files: [],
      text: script,
      ...(directory === undefined ? {} : { directory }),
    };
    place.noteCall(meaning, root);
    place.noteOutput(meaning, output, { root, failed: output.startsWith('fatal:') });
  }
  const branchOf = (directory: string): string | undefined => place.branchOf(directory);
  return { directory: place.directory, branch: branchOf(root), branchOf };
}

test('the work is where most of the newest commands ran', () => {
  const tree = '/home/ada/orbit.trees/dome';
  assert.equal(after(['make']).directory, root);
  assert.equal(after(['make', '', tree], ['make test', '', tree], ['ls']).directory, tree);
  assert.equal(after([`cd ${tree} && make`], [`cd ${tree} && make test`]).directory, tree);
  assert.equal(after(['make'], ['make test'], ['cd /tmp && ls']).directory, root);
  assert.equal(after(['cd src && make'], ['cd src && make']).directory, `${root}/src`);
  assert.equal(after(['cd "$HERE" && make']).directory, undefined);
  assert.equal(after(['cd ../atlas/./src && make']).directory, '/home/ada/atlas/src');
});

test('the branch is the one that git named last', () => {
  assert.equal(after(['git status -sb', '## dome...origin/dome [ahead 1]\n M a.ts']).branch, 'dome');
  assert.equal(after(['git status --short --branch', '## main\n']).branch, 'main');
  assert.equal(after(['git switch main', "Already on 'main'"]).branch, 'main');
  assert.equal(after(['git rev-parse --abbrev-ref HEAD', 'dome']).branch, 'dome');
  assert.equal(after(['git branch', '* dome\n  main']).branch, 'dome');
  assert.equal(after(['git switch -q -c dome']).branch, 'dome', 'a quiet switch says so in its words alone');
  assert.equal(after(['git switch -c dome', 'fatal: it exists']).branch, undefined);
  assert.equal(after(['git status', 'On branch feat/dome\nnothing to commit']).branch, 'feat/dome');
  assert.equal(after(['git switch -c dome', "Switched to a new branch 'dome'"]).branch, 'dome');
  assert.equal(after(['git commit -m x', '[fix/lens 1a2b3c4] x']).branch, 'fix/lens');
  assert.equal(after(['git branch --show-current', 'dome\n']).branch, 'dome');
  assert.equal(after(['cat notes', 'On branch old\n']).branch, undefined, 'only git knows');
  assert.equal(after(['git commit -m x', '[detached HEAD 1a2b3c4] x']).branch, undefined);
});

const tree = '/home/ada/orbit.trees/dome';

test('a branch belongs to the directory that git ran in', () => {
  const known = after(
    ['git status', 'On branch main'],
    [
      'git worktree add -b feat/dome ../orbit.trees/dome',
      "Preparing worktree (new branch 'feat/dome')\nHEAD is now at 1a2b3c4 x",
    ],
    ['make', '', tree],
  );
  assert.equal(known.branch, 'main', 'a work tree leaves the branch of the checkout alone');
  assert.equal(known.branchOf(tree), 'feat/dome');
  for (const inTree of [
    ['git commit -m x', '[feat/lens 1a2b3c4] x', tree],
    [`cd ${tree} && git commit -m x`, '[feat/lens 1a2b3c4] x'],
    [`git -C ../orbit.trees/dome -c a=b commit -m x`, '[feat/lens 1a2b3c4] x'],
  ] as const) {
    const { branch, branchOf } = after(['git status', 'On branch main'], inTree);
    assert.deepEqual([branch, branchOf(tree)], ['main', 'feat/lens'], inTree[0]);
  }
});

test("what git says of several places at once is nobody's", () => {
  const { branch, branchOf } = after([`git status; git -C ${tree} status`, 'On branch main\nOn branch dome']);
  assert.deepEqual([branch, branchOf(tree)], [undefined, undefined]);
});

test('a directory inside of a checkout is on its branch, a work tree below it is not', () => {
  const { branch, branchOf } = after(
    ['git status', 'On branch main'],
    ['cd src && git switch dome', "Switched to branch 'dome'"],
  );
  assert.deepEqual([branch, branchOf(`${root}/src/deep`)], ['dome', 'dome']);
  assert.equal(branchOf(`${root}/.worktrees/lens`), undefined);
  assert.equal(branchOf('/home/ada/orbit2'), undefined);
});

test('a work tree without a branch of its own name has the name of its directory, or what git tells later', () => {
  assert.equal(after(['git worktree add ../lens']).branchOf('/home/ada/lens'), 'lens');
  assert.equal(after(['git worktree add --detach ../lens']).branchOf('/home/ada/lens'), undefined);
  assert.equal(after(['git worktree add ../lens origin/main']).branchOf('/home/ada/lens'), undefined);
  assert.equal(after(['git worktree add ../lens', 'fatal: it exists']).branchOf('/home/ada/lens'), undefined);
});

test('who leaves a branch is on none', () => {
  const gone = "Note: switching to '1a2b3c4'.\nHEAD is now at 1a2b3c4 x";
  assert.equal(after(['git status', 'On branch main'], ['git checkout 1a2b3c4', gone]).branch, undefined);
  const kept = 'HEAD is now at 1a2b3c4 x';
  assert.equal(after(['git status', 'On branch main'], ['git reset --hard', kept]).branch, 'main');
});
