import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../test/support/story.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { TrailCollector } from './collect.ts';
import { treeLines } from './tree-lines.ts';

const home = '/home/ada/orbit';
const start = () => Story.in(home).user('Build the dome.');
const commit = (story: Story) => story.sh('git commit -am dome', '[main 1a2b3c4] dome\n 1 file changed');

function told({ records }: Story, budget = 2_000): string | undefined {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  return treeLines(collector.trail(), budget)[0]?.text;
}

test('what was changed after the newest commit is told, the newest first, with its hash', () => {
  const story = commit(start().edit(`${home}/a.ts`, 'x', 'y'))
    .edit(`${home}/b.ts`, 'x', 'y')
    .sh('rm c.ts');
  assert.equal(told(story), 'Changed since the newest commit (1a2b3c4): c.ts (deleted), b.ts.');
});

test('where nothing was committed that is said, where nothing was changed nothing is', () => {
  const edited = start().edit(`${home}/a.ts`, 'x', 'y');
  assert.equal(told(edited), 'Nothing was committed in this session; changed: a.ts.');
  assert.equal(told(commit(edited)), undefined);
  assert.equal(told(start().read(`${home}/a.ts`, 'x')), undefined);
});

test('what git put back and what lies elsewhere is no change of the work tree', () => {
  const story = commit(start()).edit(`${home}/a.ts`, 'x', 'y').sh('git checkout -- a.ts');
  assert.equal(told(story.edit('/tmp/try.ts', 'x', 'y').sh('echo 1 > ~/notes.md')), undefined);
});

test('a work tree that the newest commands ran in counts as the work', () => {
  const tree = '/home/ada/orbit.trees/dome';
  const story = start().call('exec_command', { cmd: 'make', workdir: tree }, 'fine');
  assert.equal(
    told(story.edit(`${tree}/a.ts`, 'x', 'y')),
    `Nothing was committed in this session; changed: ${tree}/a.ts.`,
  );
});

test('many files are told in few tokens, the others by their number', () => {
  const story = start();
  for (let at = 1; at <= 30; at++) story.edit(`${home}/src/telescope/mirror-${at}.ts`, 'x', 'y');
  const text = told(story) ?? '';
  assert.match(text, /changed: src\/telescope\/mirror-30\.ts.* and \d+ more\.$/);
  assert.ok(approximateTokens(text) <= 40, `${approximateTokens(text)} tokens`);
  const more = Number(/and (\d+) more/.exec(text)?.[1]);
  assert.equal(text.split(', ').length + more, 30);
  assert.ok((told(story, 16_000) ?? '').length > 1.5 * text.length, 'a larger summary names more');
});
