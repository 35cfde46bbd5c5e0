import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../test/support/story.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { TrailCollector } from './collect.ts';
import { writeSummary } from './summary/write.ts';

const home = '/home/ada/orbit';
const list =
  'The review says:\n1. The hatch leaks\n2. The lamp is dim\n3. **No spare bulb**\n4. The log is too long\n5. A typo';

/** What section 7 tells of the items of a list. */
function itemsTold({ records }: Story): string[] {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { budgetTokens: 2_000, count: approximateTokens });
  const rows = text.split('\n');
  const from = rows.findIndex((row) => row.startsWith('Items of the list'));
  return from < 0 ? [] : rows.slice(from, rows.indexOf('', from));
}

test('where a request has several parts, each is told with what the agent said of it last', () => {
  const story = Story.in(home)
    .user(list)
    .agent('Good news: item 4 is fine. I will fix items 1-3 and 5.')
    .edit(`${home}/hatch.ts`, 'a', 'b')
    .agent(
      '**Item 1** is sealed. Shall I go on with item 2? Items 1 to 4 belong together. Now item 3: I look for bulbs. It is 20 % of item 9.',
    )
    .sh('make bulbs', 'ok');
  assert.deepEqual(itemsTold(story), [
    'Items of the list of message 1, by what the agent said of each last:',
    '- 1 (The hatch leaks): "Item 1 is sealed."',
    '- 2 (The lamp is dim), 5 (A typo): "I will fix items 1-3 and 5."',
    '- 3 (No spare bulb), the newest: "Now item 3: I look for bulbs."',
    '- 4 (The log is too long): "Good news: item 4 is fine."',
  ]);
});

test('items of which nothing was said are named; a list of which nobody speaks any more is not told', () => {
  const begun = (): Story => Story.in(home).user('Check the ship.').agent(list);
  assert.deepEqual(
    itemsTold(begun().user('Do them all.').agent('Finding 2: a new lamp.').sh('make lamp', 'ok')),
    [
      'Items of the list of message 2, by what the agent said of each last:',
      '- 2 (The lamp is dim), the newest: "Finding 2: a new lamp."',
      '- nothing yet of 1 (The hatch leaks), 3 (No spare bulb), 4 (The log is too long), 5 (A typo)',
    ],
  );
  const spoken = begun().user('Do them all.').agent('Finding 2: a new lamp.');
  assert.deepEqual(
    itemsTold(spoken.user('Now paint the hull.').agent('Painting.')),
    [],
    'of another request',
  );
  assert.deepEqual(itemsTold(begun().user('Do them all.').agent('See issue 77 and version 2.5.')), []);
  const two = Story.in(home).user('Please:\n1. One\n2. Two').agent('Item 1 is done.');
  assert.deepEqual(itemsTold(two), [], 'two rows need no list');
});
