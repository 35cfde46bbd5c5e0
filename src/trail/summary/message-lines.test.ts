import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { TrailCollector } from '../collect.ts';
import { writeSummary } from './write.ts';

const home = '/home/ada/orbit';

/** What section 6 tells in so many tokens. */
function messagesTold({ records }: Story, budgetTokens: number): string[] {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { budgetTokens, count: approximateTokens });
  const rows = text.split('\n');
  const from = rows.findIndex((row) => row.startsWith('6. '));
  return rows.slice(from + 1, rows.indexOf('', from));
}

test('a short message that chooses is told with what it chooses before longer ones that do not', () => {
  const drawings =
    'Two drawings:\n### Scenario 1: a round dome\n### Scenario 2: a flat dome with a hatch\nQuestions:\n1. Which one?\n2. Where is the door to be, and how wide should it be made?';
  const story = Story.in(home)
    .user('We need a dome.')
    .agent('I could draw some.')
    .user('Draw several domes, in style of scenario 1, please, and say what they weigh.')
    .agent(drawings)
    .user('1. I like option 2, 2. on the left');
  for (let at = 0; at < 60; at++)
    story
      .agent(`Part ${at} stands in part-${at}.ts.`)
      .user(
        `The lamp ${at} of the tower flickers whenever the wind blows from the sea, look at lamp-${at}.ts`,
      );
  const told = messagesTold(story.agent('I look at it.').sh('ls', 'lamp.ts'), 800);
  assert.ok(told.some((row) => row.includes('more, not told here')));
  assert.match(
    told.find((row) => row.startsWith('3. ')) ?? '',
    /^3\. \(to "option 2: a flat dome with a .*\) "1\. I like option 2, 2\. on the left"$/,
  );
});
