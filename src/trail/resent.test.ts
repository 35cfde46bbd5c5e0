import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../test/support/story.ts';
import { trailOf } from '../../test/support/trail.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { writeSummary } from '../summary/write.ts';

const story = () => Story.in('/home/ada/orbit').user('Build the dome.').agent('Built.');

test('a message that was sent again with more is one message, and its cut rule is none', () => {
  const trail = trailOf(
    story()
      .user('Never paint the north do')
      .user('Never paint the north door, and oil its hinges.')
      .agent('Oiled.'),
  );
  assert.deepEqual(
    trail.requests.map(({ turn, text }) => [turn, text]),
    [
      [1, 'Build the dome.'],
      [2, 'Never paint the north door, and oil its hinges.'],
    ],
  );
  assert.deepEqual(
    trail.constraints.map(({ text }) => text),
    ['Never paint the north door, and oil its hinges.'],
  );
});

test('a message on which something was done, and a short one, stay messages of their own', () => {
  const done = trailOf(
    story().user('Paint the north door').sh('npm run paint').user('Paint the north door and the south door'),
  );
  assert.equal(done.turns, 3);
  const short = trailOf(story().user('yes').user('yes, and the south door'));
  assert.equal(short.turns, 3);
});

test('a message stays readable whose rules are quoted above', () => {
  const text =
    'First: Never paint the dome. Then oil the hinges of the north door. Always lock it after dusk. Thank you for that.';
  const long = story()
    .user(text)
    .agent('Done.')
    .user('Go home.')
    .agent('Done.')
    .user('Sleep.')
    .agent('Slept.')
    .user('Wake up.');
  const summary = writeSummary(trailOf(long), { budgetTokens: 4_000, count: approximateTokens }).text;
  assert.match(summary, /- "First: Never paint the dome\." \(message 2\)/, 'the rule stands above');
  assert.ok(summary.includes(`2. "${text}"`), summary);
});
