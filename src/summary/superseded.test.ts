import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Story } from '../../test/support/story.ts';
import { summaryOf, trailOf } from '../../test/support/trail.ts';
import { supersededAmong } from './superseded.ts';

/** What is replaced of some messages of the agent on one request. */
function replacedOf(...messages: string[]): string[] {
  const story = Story.in('/w').user('Why does the dome stop?');
  for (const message of messages) story.agent(message).sh('make look', 'fine');
  return [...supersededAmong(trailOf(story).statements, () => true)].map(({ text }) => text);
}

const first =
  'The `domeSpeed` of the evening is wrong because the wind gauge of the northern tower resets it.';
const newer = 'The evening `domeSpeed` comes from the timetable, not from the wind gauge.';

test('what was said before a look gives way to what is said of the same after it', () => {
  assert.deepEqual(replacedOf(`${first} Let me check the gauge.`, newer), [first]);
});

test('without a look it takes more to replace it', () => {
  const near = 'The `domeSpeed` is read twice, and the gauge belongs to the wind.';
  assert.deepEqual(replacedOf(`${first} Let me check the gauge.`, near), [first]);
  assert.deepEqual(replacedOf(first, near), []);
  assert.deepEqual(replacedOf(first, first.replace('wind gauge', 'moon')), [first]);
});

test('what names something else, or stands in the same message, replaces nothing', () => {
  const other = newer.replace('domeSpeed', 'roofSpeed');
  assert.deepEqual(replacedOf(`${first} Let me check the gauge.`, other), []);
  assert.deepEqual(replacedOf(`${first} ${newer} Let me check the gauge.`), []);
});

test('what says nothing alone replaces nothing', () => {
  const story = Story.in('/w')
    .user('Why does the dome stop?')
    .agent(`${first} Let me check the gauge.`)
    .sh('make look')
    .agent(newer)
    .sh('make look');
  const { statements } = trailOf(story);
  assert.equal(supersededAmong(statements, ({ text }) => text !== newer).size, 0);
});

test('a summary tells the newer word and nothing that was mused', () => {
  const text = summaryOf(
    Story.in('/w')
      .user('Why does the dome stop?')
      .agent(`${first} Let me check the gauge.`)
      .sh('make look', 'fine')
      .agent(
        'Is it the belt? `turnMotor()` always tightens the belt of the dome before it starts to turn. Wait, it has none. Maybe it slips? The `beltOfDome` is worn.',
      )
      .sh('make look', 'fine')
      .agent(newer)
      .user('And the roof?')
      .agent('The roof is fine.')
      .user('Good. Anything else?')
      .agent('Nothing.'),
  );
  assert.doesNotMatch(text, /of the evening is wrong|always tightens/);
  assert.match(text, /comes from the timetable/);
});
