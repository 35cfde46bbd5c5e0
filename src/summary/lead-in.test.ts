import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../test/support/story.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { TrailCollector } from '../trail/collect.ts';
import { namedList } from '../trail/talk/statements.ts';
import { writeSummary } from './write.ts';

const items = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(
  (n) =>
    `- The lamp \`hallLamp${n}\` burns because \`switch${n}\` closes the circuit of room ${n} for the night`,
);

function findingsOf(budgetTokens: number): string {
  const story = Story.in('/home/ada/orbit')
    .user('Why do the lamps burn?')
    .agent(`I looked at all of them, one after the other.\n\nThe cause by lamp:\n${items.join('\n')}`)
    .user('Thanks. What of the doors?')
    .agent('The doors are shut.')
    .user('And the windows?');
  const collector = new TrailCollector();
  for (const record of story.records) collector.add(record);
  const { text } = writeSummary(collector.trail(), { budgetTokens, count: approximateTokens });
  return /\n5\. .*\n([^]*?)\n6\. /.exec(text)?.[1] ?? '';
}

test('a list that is told in part says how many of its items are told', () => {
  let partial = 0;
  for (let budget = 300; budget < 1_400; budget += 20) {
    const found = findingsOf(budget);
    const told = found.match(/hallLamp/g)?.length ?? 0;
    if (told === 0 || told === items.length) continue;
    partial++;
    assert.ok(found.includes(`- The cause by lamp (${told} of 9):`), found);
  }
  assert.ok(partial > 0, 'some budget tells a part');
});

test('a list that is told whole says no number', () => {
  const found = findingsOf(4_000);
  assert.equal(found.match(/hallLamp/g)?.length, 9);
  assert.match(found, /- The cause by lamp:$/m);
});

test('code between two items does not cut their list', () => {
  const code = '```ts\n1. no item\n2. none\n3. none\nrun();\nrun();\nrun();\nrun();\n```';
  const text = `The plan:\n1. aim\n2. focus\n3. wait\n${code}\n4. shoot\n5. store\n6. sleep`;
  assert.equal(namedList(text), 'The plan:\n1. aim\n2. focus\n3. wait\n4. shoot\n5. store\n6. sleep');
});

test('a list begins with its first item, and says where that is not there', () => {
  const talk = Array.from({ length: 9 }, (_, at) => `So much about the first, ${at}.`).join('\n');
  const list = '2. focus\n3. wait\n4. shoot';
  assert.equal(namedList(`The plan:\n1. aim\n${talk}\n${list}`), `The plan:\n1. aim\n${talk}\n${list}`);
  assert.equal(namedList(`and so on.\n${list}`), `…\n${list}`);
});
