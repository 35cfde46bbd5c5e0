import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { summaryOf } from '../../../test/support/trail.ts';
import { backgroundReportOf } from './background.ts';

const told = (result: string): string =>
  `<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<summary>Agent "Look at the roof" completed</summary>\n<result>${result}</result>\n</task-notification>`;

test('a report of the background is read from what the harness says, and from nothing else', () => {
  assert.deepEqual(backgroundReportOf(told('The roof &amp; the dome &lt;leak&gt;.')), {
    summary: 'Agent "Look at the roof" completed',
    result: 'The roof & the dome <leak>.',
  });
  assert.equal(backgroundReportOf('<system-reminder>Look.</system-reminder>'), undefined);
  assert.equal(backgroundReportOf('<task-notification></task-notification>'), undefined);
  assert.deepEqual(backgroundReportOf('<task-notification><summary>It ended</summary><result>cut o'), {
    summary: 'It ended',
    result: 'cut o',
  });
});

test('what ran in the background is the newest result once it ended, until the agent reacts', () => {
  const waiting = (): Story =>
    Story.in('/w')
      .user('Look at the roof.')
      .call('Agent', { description: 'Look at the roof' }, 'Async agent launched successfully.')
      .agent('Still waiting for the agent.');
  const text = summaryOf(waiting().harness(told('The `roofEdge` leaks at gutter 7.')));
  assert.match(
    text,
    /Newest result, not reacted to yet:\n- Agent "Look at the roof" completed\n {4}The `roofEdge` leaks at gutter 7\./,
  );
  assert.match(text, /go on from the newest result above\.$/);
  const read = summaryOf(waiting().harness(told('It leaks.')).agent('The roof leaks.'));
  assert.doesNotMatch(read, /not reacted to yet/);
});

test('a small summary names what came at once with the newest result', () => {
  const story = Story.in('/w').user('Look at the roof.');
  for (const name of ['one', 'two', 'three', 'four', 'five'])
    story.harness(told(`Roof ${name} leaks.`).replace('the roof', `roof ${name}`));
  assert.match(
    summaryOf(story, 1_500),
    /^Came at once with it: `Agent "Look at roof two" completed`, `[^`]*three[^`]*`, `[^`]*four[^`]*` and 1 more$/m,
  );
  assert.doesNotMatch(summaryOf(story, 4_000), /Came at once/);
});
