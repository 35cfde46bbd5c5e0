import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../test/support/story.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { TrailCollector } from './collect.ts';
import { isGoAhead } from './work.ts';
import { writeSummary } from './write.ts';

function pendingOf({ records }: Story): string {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { budgetTokens: 4_000, count: approximateTokens });
  return text.slice(text.indexOf('7. Pending Tasks:'), text.indexOf('8. Current Work:'));
}

const planned = (): Story =>
  Story.in('/home/ada/orbit')
    .user('Rebuild the dome, please.')
    .plan('done: unpack', 'now: oil the shutter', 'todo: paint the roof')
    .agent('The dome turns again; the shutter is stiff.');

test('a message that only lets the work go on asks for nothing new', () => {
  const goAheads = ['continue', 'ok, go on!', 'Yes please', 'commit and continue', 'weiter', '继续'];
  assert.deepEqual(goAheads.filter(isGoAhead), goAheads);
  const requests = ['continue with the lens', 'no', 'commit the lens only', 'next, oil the shutter'];
  assert.deepEqual(requests.filter(isGoAhead), []);
});

test('a plan stands while the user only lets the agent go on, and says what comes next', () => {
  const story = planned().user('continue').agent('Oiling.').user('ok, go on').sh('make oil', 'done');
  assert.match(
    pendingOf(story),
    /Plan, as it stood after message 1:\n- in progress: oil the shutter\n- to do: paint/,
  );
  assert.doesNotMatch(pendingOf(story), /current request, under way/);
});

test('a plan that several other requests came after is one line below what is under way', () => {
  const story = planned()
    .user('Now list the stars.')
    .agent('They are listed.')
    .user('Clean the mirror.')
    .agent('I begin with the cloth.')
    .sh('make mirror', 'wet');
  const line = 'An older plan (message 1) left open, which may be done or dropped by now';
  assert.equal(
    pendingOf(story).trim(),
    `7. Pending Tasks:\n- The current request, under way.\n- ${line}: oil the shutter; paint the roof`,
  );
});
