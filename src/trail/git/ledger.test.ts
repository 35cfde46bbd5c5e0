import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { TrailCollector } from '../collect.ts';
import type { Trail } from '../trail.ts';

const home = '/home/ada/orbit';
const start = (): Story =>
  Story.in(home).user('Build the dome.').sh('git status', 'On branch main\nnothing to commit');
const edited = (story: Story, ...paths: string[]): Story => {
  for (const path of paths) story.edit(`${home}/${path}`, 'x', 'y');
  return story;
};
const made = (hash: string, subject = 'dome', files = 1): string =>
  `[main ${hash}] ${subject}\n ${files} file${files > 1 ? 's' : ''} changed, 2 insertions(+)`;

function trailOf({ records }: Story): Trail {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  return collector.trail();
}

/** The paths that no commit holds, the oldest change first. */
const open = (story: Story): string[] =>
  trailOf(story)
    .tree.changed.map(({ path }) => path)
    .toReversed();
const newest = (story: Story): string => {
  const { tree } = trailOf(story);
  return `${tree.as} ${tree.newest?.hash ?? '-'} ${tree.newest?.subject ?? '-'}, ${tree.ahead}`;
};
/** Two files changed, `a.ts` and `src/b.ts`. */
const two = (): Story => edited(start(), 'a.ts', 'src/b.ts');

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

test('what was changed after it was added is still to be committed', () => {
  const story = edited(two().sh('git add a.ts'), 'a.ts').sh('git commit -m dome', made('1a2b3c4'));
  assert.deepEqual(open(story), ['src/b.ts', 'a.ts']);
});

test('a new file is in no commit of what git knows, and gone without a trace', () => {
  const created = (): Story =>
    two().call('Write', { file_path: `${home}/new.ts`, content: 'x' }, 'File created');
  const listed = created().sh('git status --short', ' M a.ts\n M src/b.ts\n?? new.ts');
  assert.deepEqual(open(created()), ['a.ts', 'src/b.ts', 'new.ts']);
  assert.deepEqual(open(created().sh('rm new.ts')), ['a.ts', 'src/b.ts']);
  assert.deepEqual(open(listed.sh('git reset --hard', 'HEAD is now at 1a2b3c4 dome')), ['new.ts']);
  assert.deepEqual(open(two().sh('rm a.ts')), ['src/b.ts', 'a.ts']);
  assert.deepEqual(open(two().sh('rm a.ts', "rm: cannot remove 'a.ts': No such file or directory", 1)), [
    'a.ts',
    'src/b.ts',
  ]);
  assert.deepEqual(open(start().sh('rm -rf dist')), [], 'what was built is none of the work');
  assert.deepEqual(open(two().sh('rm -rf src')), ['a.ts', 'src/b.ts']);
});

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

test('where git never lists what is made, nothing is to be committed', () => {
  const noted = (story: Story, name: string): Story =>
    story.call('Write', { file_path: `${home}/.notes/${name}`, content: 'x' }, 'File created');
  const known = noted(start(), 'one.md').sh('git status --short', '');
  assert.deepEqual(open(noted(known, 'two.md')), []);
});

test('the newest commit is told with its hash, whoever reports it', () => {
  assert.equal(newest(two().sh('git commit -qam dome')), 'made - dome, 1');
  assert.equal(
    newest(two().sh('git commit -qam dome && git rev-parse HEAD', '1a2b3c4'.padEnd(40, '0'))),
    'made 1a2b3c400 dome, 1',
  );
  assert.equal(
    newest(start().sh('git log --oneline -2', '1a2b3c4 Add moon\n5d6e7f8 Add sun')),
    'seen 1a2b3c4 Add moon, 0',
  );
  assert.equal(
    newest(start().sh('git log --oneline -2 -- a.ts', '1a2b3c4 Add moon')),
    'before - -, 0',
    'of a file',
  );
  assert.equal(
    newest(start().sh('git log --oneline origin/dome', '1a2b3c4 Add moon')),
    'before - -, 0',
    'of another branch',
  );
  assert.equal(
    newest(start().sh('git revert HEAD', made('1a2b3c4', 'Revert "x"'))),
    'made 1a2b3c4 Revert "x", 1',
  );
  const script = 'git commit -m one && git commit --allow-empty -m two';
  assert.equal(
    newest(two().sh(script, `${made('1a2b3c4', 'one')}\n${made('5d6e7f8', 'two')}`)),
    'made 5d6e7f8 two, 2',
  );
});

const committed = (): Story => two().sh('git commit -am dome', made('1a2b3c4', 'dome', 2));
const commits = (story: Story): string[] =>
  trailOf(story).commits.map(
    ({ hash, subject, fate }) => `${hash ?? '-'} ${subject}${fate === undefined ? '' : ` ${fate}`}`,
  );

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

test('commits count as not pushed until a push of their branch goes well', () => {
  const ahead = (story: Story): string => {
    const { tree } = trailOf(story);
    return `${tree.ahead}${tree.isExact ? '' : '+'} ${tree.refusal ?? ''}`.trim();
  };
  assert.equal(ahead(committed()), '1');
  assert.equal(ahead(committed().sh('git push')), '0');
  assert.equal(ahead(committed().sh('git push origin v1', ' * [new tag]         v1 -> v1')), '1');
  assert.equal(ahead(committed().sh('git push origin dome', ' * [new branch]      dome -> dome')), '1');
  const refused = committed().sh(
    'git push',
    ' ! [rejected]        main -> main (fetch first)\nerror: failed',
    1,
  );
  assert.equal(ahead(refused), '1 fetch first');
  assert.equal(ahead(refused.sh('git push -f', ' + 1a2b3c4...5d6e7f8 main -> main (forced update)')), '0');
  assert.equal(ahead(committed().sh('git status -sb', '## main...origin/main [ahead 3]')), '3', 'git tells');
  assert.equal(
    ahead(committed().sh('git merge dome', "Merge made by the 'ort' strategy.")),
    '2+',
    'and what it brought',
  );
  assert.equal(ahead(committed().sh('git switch -c lens', "Switched to a new branch 'lens'")), '1');
});

test('another work tree has changes and commits of its own', () => {
  const tree = '/home/ada/orbit.trees/lens';
  const story = edited(start(), 'a.ts').sh(
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
