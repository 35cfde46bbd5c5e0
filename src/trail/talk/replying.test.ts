import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Story } from '../../../test/support/story.ts';
import { TrailCollector } from '../collect.ts';
import { isReplyTo } from './replying.ts';

const question = 'Should I also extend the moon lens to the northern dome?';

const table: readonly (readonly [text: string, isReply: boolean])[] = [
  ['yes', true],
  [
    'No, the dome has no room for that and will be taken down by the end of the month, as agreed with Ada.',
    true,
  ],
  ['2 and 4', true],
  [
    'b) but with the smaller mirror, since the larger one cracked when we last moved it across the yard',
    true,
  ],
  ['好的', true],
  ['only the southern part', true],
  [
    'The northern one is of glass, so the lens has to be lighter than what we have there at the moment.',
    true,
  ],
  ['why is the tide table empty?', false],
  [
    'I just had an error in the tide table and do not remember which, can you look where it comes from?',
    false,
  ],
  [
    'now let us look at something else: the tide table is empty since the last release, and nobody knows why',
    false,
  ],
  [
    'norway is far away and has nothing whatever to do with this, so look at the tide table first of all',
    false,
  ],
];

for (const [text, isReply] of table) {
  test(`${isReply ? 'answers' : 'goes on to something else'}: ${text}`, () => {
    assert.equal(isReplyTo(question, text), isReply);
  });
}

test('only what reads like an answer is told with the question of the agent', () => {
  const answered = (text: string): readonly string[] => {
    const collector = new TrailCollector();
    for (const record of Story.in('/w').user('Go.').agent(`It is done. ${question}`).user(text).records)
      collector.add(record);
    return collector.trail().answers.map(({ answer }) => answer);
  };
  assert.deepEqual(answered('yes, do'), ['yes, do']);
  assert.deepEqual(answered('why is the tide table empty?'), []);
});
