import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { trailOf } from '../../../test/support/trail.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { deliveredLines } from './outcome-lines.ts';
import { otherCommits, treeLines } from './tree-lines.ts';

const home = '/home/ada/orbit';
const start = () => Story.in(home).user('Build the dome.');
const commit = (story: Story, subject = 'dome') =>
  story.sh(`git commit -am dome`, `[main 1a2b3c4] ${subject}\n 1 file changed`);

function told(story: Story, budget = 2_000): string[] {
  return treeLines(trailOf(story), budget).map(({ text }) => text);
}

test('the newest commit is told, and what was changed since, the newest first', () => {
  const story = commit(start().edit(`${home}/a.ts`, 'x', 'y'))
    .edit(`${home}/b.ts`, 'x', 'y')
    .sh('rm c.ts');
  assert.deepEqual(told(story), [
    'Newest commit: 1a2b3c4 dome (no push seen)',
    'Not committed: c.ts (deleted), b.ts.',
  ]);
});

test('where nothing was committed that is said, where git knows of nothing there is no line', () => {
  const edited = start().edit(`${home}/a.ts`, 'x', 'y');
  assert.deepEqual(told(edited), ['No commit by the agent; changed: a.ts.']);
  assert.deepEqual(told(commit(edited)), ['Newest commit: 1a2b3c4 dome (no push seen)']);
  assert.deepEqual(told(start().read(`${home}/a.ts`, 'x')), []);
});

test('a commit of somebody else is told as what git showed', () => {
  const seen = start().sh('git log --oneline -1', '1a2b3c4 moon');
  assert.deepEqual(told(seen), ['HEAD as git last showed it: 1a2b3c4 moon']);
  const merged = commit(start()).sh('git pull', 'Updating 1a2b3c4..5d6e7f8\nFast-forward');
  assert.deepEqual(told(merged), ['Newest commit made here: 1a2b3c4 dome']);
});

test('what was not pushed is told, and why', () => {
  assert.deepEqual(
    told(commit(commit(start(), 'moon')))[0],
    'Newest commit: 1a2b3c4 dome (no push seen of the 2 made here)',
  );
  const refused = commit(start()).sh('git push', ' ! [rejected]        main -> main (fetch first)', 1);
  assert.deepEqual(told(refused), ['Newest commit: 1a2b3c4 dome (not pushed, push refused: fetch first)']);
  assert.deepEqual(told(commit(start()).sh('git push')), ['Newest commit: 1a2b3c4 dome']);
});

test('behind a merge, which brings any number of commits, those that were made here are counted', () => {
  const merge = "Merge made by the 'ort' strategy.\n a.ts | 2 +-";
  const merged = (story: Story): string[] => told(story.sh('git merge origin/main', merge));
  const pushed = (): Story => commit(start(), 'moon').sh('git push');
  assert.deepEqual(merged(commit(pushed())), [
    'Newest commit: Merge of origin/main (not pushed, 2 made here)',
  ]);
  assert.deepEqual(merged(pushed()), ['Newest commit: Merge of origin/main (not pushed)']);
});

test('what is stashed is told', () => {
  const story = start()
    .edit(`${home}/a.ts`, 'x', 'y')
    .sh('git stash', 'Saved working directory and index state');
  assert.deepEqual(told(story), ['Stashed: a.ts.']);
});

test('what git put back and what lies elsewhere is no change of the work tree', () => {
  const story = start().edit(`${home}/a.ts`, 'x', 'y').sh('git checkout -- a.ts');
  assert.deepEqual(told(story.edit('/tmp/try.ts', 'x', 'y').sh('echo 1 > ~/notes.md')), []);
});

test('a work tree that the newest commands ran in counts as the work', () => {
  const tree = '/home/ada/orbit.trees/dome';
  const story = start().call('exec_command', { cmd: 'make', workdir: tree }, 'fine');
  assert.deepEqual(told(story.edit(`${tree}/a.ts`, 'x', 'y')), [
    `No commit by the agent; changed: ${tree}/a.ts.`,
  ]);
});

test('a commit elsewhere is told with its place', () => {
  const call = { cmd: 'git commit -am dome', workdir: '/home/ada/atlas' };
  const story = start().call('exec_command', call, '[main 1a2b3c4] dome').sh('make').sh('make test');
  assert.deepEqual(told(story), ['Newest commit in /home/ada/atlas: 1a2b3c4 dome (no push seen)']);
});

test('many files are told in few tokens, the others by their number', () => {
  const story = commit(start(), 'Polish the mirrors of the telescope '.repeat(6).trim());
  for (let at = 1; at <= 30; at++) story.edit(`${home}/src/telescope/mirror-${at}.ts`, 'x', 'y');
  const [commitLine = '', text = ''] = told(story);
  assert.match(text, /^Not committed: src\/telescope\/mirror-30\.ts.* and \d+ more\.$/);
  const tokens = approximateTokens(commitLine) + approximateTokens(text);
  assert.ok(tokens <= 60, `${tokens} tokens`);
  const more = Number(/and (\d+) more/.exec(text)?.[1]);
  assert.equal(text.split(', ').length + more, 30);
  assert.ok((told(story, 16_000)[1] ?? '').length > 1.5 * text.length, 'a larger summary names more');
});

test('what somebody else did, and how far the remote went on, is told with the newest commit', () => {
  const seen = start().edit(`${home}/a.ts`, 'x', 'y').sh('git log --oneline -1', '1a2b3c4 moon');
  const moved = seen.sh('git log --oneline -1', '5d6e7f8 sun').edit(`${home}/b.ts`, 'x', 'y');
  assert.deepEqual(told(moved), [
    'HEAD as git last showed it: 5d6e7f8 sun (moved from 1a2b3c4 outside of this session)',
    'Not committed: b.ts.',
  ]);
  const diverged = "Your branch and 'origin/main' have diverged,\nand have 4 and 1 different commits each";
  assert.deepEqual(told(commit(start()).sh('git status', `On branch main\n${diverged}\nnothing to commit`)), [
    'Newest commit: 1a2b3c4 dome (4 ahead and 1 behind its remote)',
  ]);
});

test('commits from before the session are told apart, and a refusal that was mended', () => {
  const ahead = (): Story => start().sh('git status -sb', '## main...origin/main [ahead 2]');
  const refused = commit(ahead()).sh('git push', ' ! [rejected]        main -> main (fetch first)', 1);
  const count = '3 commits not pushed, 2 of them from before';
  assert.deepEqual(told(refused), [`Newest commit: 1a2b3c4 dome (${count}, push refused: fetch first)`]);
  refused.sh('git pull --rebase', 'Successfully rebased and updated refs/heads/main.');
  assert.deepEqual(told(refused), [
    `Newest commit: dome (${count}, push refused: fetch first; rebased or merged since)`,
  ]);
  const pushed = commit(refused.sh('git push', '   1a2b3c4..5d6e7f8  main -> main'), 'moon');
  assert.deepEqual(told(pushed), ['Newest commit: 1a2b3c4 moon (not pushed)']);
  const later = commit(commit(start()).sh('git status -sb', '## main...origin/main [ahead 3]'), 'moon');
  assert.deepEqual(told(later), ['Newest commit: 1a2b3c4 moon (4 commits not pushed)'], 'nobody knows whose');
});

test('changes of the working directory say so where the newest commit lies in another work tree', () => {
  const tree = '/home/ada/orbit__worktrees/lens';
  const story = start()
    .edit(`${home}/a.ts`, 'x', 'y')
    .sh(`cp a.ts ${tree}/a.ts && cd ${tree} && git status --short`, ' M a.ts')
    .sh(`cd ${tree} && git commit -am dome`, '[lens 1a2b3c4] dome\n 1 file changed');
  assert.deepEqual(told(story).slice(-1), [
    'Not committed in the working directory: a.ts. 1a2b3c4 holds files of these names in another work tree.',
  ]);
  assert.match(told(story.edit(`${home}/b.ts`, 'x', 'y')).at(-1) ?? '', /: b\.ts, a\.ts\.$/);
});

test('a list of commits that lacks the newest says that it does', () => {
  const groups = (story: Story): readonly (string | undefined)[] => {
    const trail = trailOf(story);
    return deliveredLines(trail, otherCommits(trail)).map(({ group }) => group);
  };
  assert.deepEqual(groups(commit(commit(start(), 'moon'))), ['Other commits:']);
  const moved = commit(start()).sh('git log --oneline -1', '5d6e7f8 moon');
  assert.deepEqual(groups(moved), ['Commits:'], 'another one is checked out');
});

test('nothing is said of the remote before the log tells of it', () => {
  assert.deepEqual(told(commit(start())), ['Newest commit: 1a2b3c4 dome (no push seen)']);
  const seen = commit(start().sh('git status -sb', '## main...origin/main'));
  assert.deepEqual(told(seen), ['Newest commit: 1a2b3c4 dome (not pushed)']);
});
