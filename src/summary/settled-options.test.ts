import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Story } from '../../test/support/story.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { TrailCollector } from '../trail/collect.ts';
import { writeSummary } from './write.ts';

/** What is told of a session in which the agent puts options, and the user replies. */
function told(reply: string, heading = 'Options:'): string {
  const { records } = Story.in('/home/ada/orbit')
    .user('The roof leaks.')
    .agent(
      `It rains in.\n\n${heading}\n\n- Cover it with the blue tarpaulin of \`deck_store\`, because it is here\n- Order new slates from \`slate_works\`, because they last\n- Move the \`big_lens\` elsewhere, because it is light\n\nWhich one do you want?`,
    )
    .user(reply)
    .agent('I do that.')
    .sh('make roof', 'tight')
    .user('Now clean the mirror.')
    .agent('I begin with the cloth.')
    .sh('make mirror', 'wet');
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  return writeSummary(collector.trail(), { budgetTokens: 4_000, count: approximateTokens }).text;
}

test('options that the user settled are told no more, but the one that the reply takes up is', () => {
  const text = told('yes, order the slates');
  assert.match(text, /Order new slates from `slate_works`/);
  assert.doesNotMatch(text, /tarpaulin|`big_lens`/);
});

test('what is no list of options, or was not answered, stays', () => {
  assert.match(told('yes, order the slates', 'What I found in the hold:'), /tarpaulin[^]*`big_lens`/);
  assert.match(told('A quick question first: who built the dome over there?'), /tarpaulin[^]*`big_lens`/);
});
