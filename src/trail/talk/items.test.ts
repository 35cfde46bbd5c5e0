import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../../test/support/story.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { TrailCollector } from '../collect.ts';
import { writeSummary } from '../../summary/write.ts';

const home = '/home/ada/orbit';
const list =
  'The review says:\n1. The hatch leaks\n2. The lamp is dim\n3. **No spare bulb**\n4. The log is too long\n5. A typo';

/** What section 7 tells of the items of a list. */
function itemLines({ records }: Story): string[] {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { budgetTokens: 2_000, count: approximateTokens });
  const rows = text.split('\n');
  const from = rows.findIndex((row) => row.startsWith('Items of the'));
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
  assert.deepEqual(itemLines(story), [
    'Items of the list of message 1, by what the agent said of each last:',
    '- 1 (The hatch leaks): "Item 1 is sealed."',
    '- 2 (The lamp is dim), 5 (A typo): "I will fix items 1-3 and 5.", then changed hatch.ts',
    '- 3 (No spare bulb), the newest: "Now item 3: I look for bulbs."',
    '- 4 (The log is too long): "Good news: item 4 is fine."',
  ]);
});

test('of an item that was only announced it is told what was changed next, and that it was committed', () => {
  const story = Story.in(home)
    .user(list)
    .agent('Item 1: seal the hatch')
    .edit(`${home}/hatch.ts`, 'a', 'b')
    .edit(`${home}/seal.ts`, 'a', 'b')
    .edit(`${home}/rim.ts`, 'a', 'b')
    .sh('git commit -qam "Seal the hatch"', '[main 0a1b2c3] Seal the hatch\n 3 files changed')
    .agent('Item 2: a lamp')
    .edit(`${home}/lamp.ts`, 'a', 'b')
    .agent('Item 4 is fine.');
  assert.deepEqual(itemLines(story).slice(1, 4), [
    '- 1 (The hatch leaks): "Item 1: seal the hatch", then changed hatch.ts, seal.ts and 1 more, and committed',
    '- 2 (The lamp is dim): "Item 2: a lamp", then changed lamp.ts',
    '- 4 (The log is too long), the newest: "Item 4 is fine."',
  ]);
});

test('items of which nothing was said are named; a list of which nobody speaks any more is not told', () => {
  const begun = (): Story => Story.in(home).user('Check the ship.').agent(list);
  assert.deepEqual(
    itemLines(begun().user('Do them all.').agent('Finding 2: a new lamp.').sh('make lamp', 'ok')),
    [
      "Items of the agent's list after message 1, by what the agent said of each last:",
      '- 2 (The lamp is dim), the newest: "Finding 2: a new lamp."',
      '- nothing said yet of 1 (The hatch leaks), 3 (No spare bulb), 4 (The log is too long), 5 (A typo)',
    ],
  );
  const spoken = begun().user('Do them all.').agent('Finding 2: a new lamp.');
  assert.deepEqual(
    itemLines(spoken.user('Now paint the hull.').agent('Painting.')),
    [],
    'of another request',
  );
  assert.deepEqual(itemLines(begun().user('Do them all.').agent('See issue 77 and version 2.5.')), []);
  const two = Story.in(home).user('Please:\n1. One\n2. Two').agent('Item 1 is done.');
  assert.deepEqual(itemLines(two), [], 'two rows need no list');
});

/** A session in which the agent answers with a list that the user goes on from. */
const goingOn = (text: string): Story => Story.in(home).user('Check the ship.').agent(list).user(text);

test('the rows of a table are items, too, and the newest list is the one that is meant', () => {
  const table =
    '| # | Id | Where | What |\n|---|---|---|---|\n| 1 | 77 | hull.ts:3 | Paint peels off |\n| 2 | 78 | mast.ts:9 | The mast is loose |\n| 3 | 79 | deck.ts:1 | Planks are missing |';
  const story = goingOn('Do them all.').agent('Done with item 2.').user('Give me the list again');
  assert.deepEqual(
    itemLines(story.agent(table).user('go').agent('I look at item 2.').sh('make mast', 'ok')),
    [
      "Items of the agent's list after message 3, by what the agent said of each last:",
      '- 2 (The mast is loose), the newest: "I look at item 2."',
      '- nothing said yet of 1 (Paint peels off), 3 (Planks are missing)',
    ],
  );
});

test('what the user leaves out, and what the agent spoke of in other words or as a whole, is not told as unspoken', () => {
  const silent = (story: Story): string[] => itemLines(story).filter((row) => row.includes('nothing'));
  const named = 'Item 2 has a new lamp.';
  assert.deepEqual(silent(goingOn('Skip 3 and do the rest').agent(named)), []);
  assert.deepEqual(silent(goingOn('Do them all.').agent(`${named} The hatch is sealed.`)), [
    '- nothing said yet of 3 (No spare bulb), 4 (The log is too long), 5 (A typo)',
  ]);
  assert.deepEqual(silent(goingOn('Do them all.').agent(`Fixing all 5 findings. ${named}`)), []);
});

test('items that were spoken of in other words, or with all others only, are listed without a word on them', () => {
  const others = (...said: string[]): string[] =>
    itemLines(goingOn('Do them all.').agent(said.join(' '))).filter((row) => row.includes('besides'));
  assert.deepEqual(others('Fixing all 5 findings.', 'Item 2 has a new lamp.'), [
    '- on the list besides, not named by number: 1 (The hatch leaks), 3 (No spare bulb), 4 (The log is too long), 5 (A typo)',
  ]);
  assert.deepEqual(others('The hatch is sealed.', 'Item 2 has a new lamp.'), [
    '- on the list besides, not named by number: 1 (The hatch leaks)',
  ]);
  assert.deepEqual(others('Item 2 has a new lamp.'), []);
});

test('a number is of a list only where nothing else counts so: tasks of a tool, a list in between, items of another kind', () => {
  const tasks = goingOn('Do them all.').call('TaskCreate', { subject: 'Rig the sails' }, 'Task #1 created');
  assert.deepEqual(itemLines(tasks.agent('Task #4 is under way.')), [], 'tasks of a tool');
  const own = goingOn('Do them all.').agent('Issue 1: no spare bulb is left on board.');
  assert.deepEqual(itemLines(own), [], 'the words of item 3');
  const steps = '1. Read the manual\n2. Order parts\n3. Paint';
  const between = (said: string): string[] => itemLines(goingOn('Do them all.').agent(steps).agent(said));
  assert.deepEqual(between('Item 2 is done.'), [], 'of either list');
  assert.equal(
    between('Item 2: parts are there.')[1],
    '- 2 (Order parts), the newest: "Item 2: parts are there."',
  );
  assert.equal(between('Item 5 is done.')[1], '- 5 (A typo), the newest: "Item 5 is done."');
});
