import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { TrailCollector } from '../../trail/collect.ts';
import { writeSummary } from '../write.ts';

function nextOf({ records }: Story): string {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { budgetTokens: 4_000, count: approximateTokens });
  return text.slice(text.indexOf('9. Optional Next Step:'));
}

const home = '/home/ada/orbit';

test('where every step of the plan is done only the answer is left, unless something was edited since', () => {
  const planned = (...steps: string[]): Story =>
    Story.in(home)
      .user('Clean it.')
      .plan(...steps);
  const done = (): Story => planned('done: empty the shed', 'done: sweep it').sh('npm test', '4 passed');
  assert.match(nextOf(done()), /All 2 steps of the plan are done; the closing answer is left\.$/);
  assert.match(nextOf(done().edit(`${home}/shed.ts`, 'a', 'b')), /Under way: go on with what comes after/);
  assert.match(nextOf(planned('done: empty it', 'now: sweep it').sh('npm test', '4 passed')), /Under way/);
  assert.match(nextOf(done().agent('It is clean.')), /had answered the current request/);
});

test('that nothing was changed is said of looks only', () => {
  const announced = (): Story => Story.in(home).user('Clean it.').agent('Let me clean the shed.');
  const looks = ['ls shed', 'cd shed && rg -n broom . | head -5', 'find shed -name a 2>/dev/null'];
  for (const look of looks)
    assert.match(nextOf(announced().sh(look, 'a')), /Announced; since then nothing was changed/, look);
  const actions = ['find shed -type d -empty -delete', 'rmdir shed', 'git stash list', 'cat a > b'];
  for (const effect of actions)
    assert.doesNotMatch(nextOf(announced().sh(effect, 'a')), /nothing was changed/, effect);
});

const look = (story: Story): Story => story.sh('cat dome.md', 'It turns.').sh('make -n dome', 'turn');

test('a look that was announced is told as taken once its results are in, where no more was announced', () => {
  const after = (words: string, tell: (story: Story) => Story): string =>
    nextOf(tell(Story.in(home).user('Mend the dome.').agent(words)));
  const words = [
    'Let me check how the dome turns.',
    "I’m also reading the dome's manual next.",
    'Exploring the dome.',
  ];
  for (const announced of words)
    assert.match(after(announced, look), /Announced, and its results are in: "/, announced);
  const others = [
    'Let me read the manual and then oil it, add a belt.',
    "I'll check the dome, then update it.",
    'Let me oil the dome.',
  ];
  for (const announced of others) assert.doesNotMatch(after(announced, look), /results are in/, announced);
  const edited = after('Let me check how the dome turns.', (story) =>
    look(story).edit(`${home}/dome.ts`, 'a', 'b'),
  );
  assert.match(edited, /Announced; since then edited dome\.ts/);
});

test('beside the question with which the agent ended nothing is told that it might do', () => {
  const ended = (end: string): Story =>
    Story.in(home)
      .user('Clean it.')
      .agent(`It is clean.\n\n- Optionally paint it, if you want it blue\n\n${end}`);
  const asked = nextOf(ended('Shall I begin with the roof next?'));
  assert.match(asked, /asked what section 7 quotes\.$/);
  assert.doesNotMatch(asked, /paint/);
  const shown = nextOf(ended('Also, let me add more oil:\n\nDoes the dome turn now?'));
  assert.match(shown, /asked what section 7 quotes\.$/);
  assert.doesNotMatch(shown, /more oil/);
  assert.match(nextOf(ended('That is all.')), /paint[^]*had answered the current request\./);
});

test('a step of the plan that names what was edited since is perhaps done, and the one after it is told', () => {
  const planned = (file: string): string =>
    nextOf(
      Story.in(home)
        .user('Mend the dome.')
        .plan('done: read it', 'now: Add tests for the dome hinges', 'todo: oil the belt')
        .edit(`${home}/${file}`, 'a', 'b'),
    );
  assert.match(
    planned('src/dome_hinge_test.go'),
    /From the plan \(perhaps done by now: since then edited src\/dome_hinge_test\.go\): Add tests for the dome hinges; after it: oil the belt/,
  );
  assert.match(planned('src/dome.go'), /\(not brought up to date after the newest edit\): Add tests/);
});

test('nobody is sent to a newest result that only says that it went well', () => {
  const begun = (): Story => Story.in(home).user('Clean it.').agent('The shed is dirty.');
  assert.match(
    nextOf(begun().edit(`${home}/shed.ts`, 'a', 'b')),
    /go on with what comes after the newest calls, which ran well\.$/,
  );
  assert.match(nextOf(begun().sh('git push', '')), /comes after the newest calls, which ran well/);
  assert.match(nextOf(begun().sh('make shed', 'the broom is missing')), /go on from the newest result above/);
});

test('beside a newer todo list, the step of the plan that is in progress comes next; each is named', () => {
  const story = (state: string): Story =>
    Story.in(home)
      .user('Light the lamp.')
      .plan(`${state}: oil the horn`)
      .call('todo', { todos: [{ content: 'Buy wicks', status: 'pending' }] }, 'Noted.');
  assert.match(nextOf(story('now')), /From the plan: oil the horn/);
  assert.match(nextOf(story('done')), /From the todo list: Buy wicks/);
});
