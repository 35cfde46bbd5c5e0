import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOfParts } from '../../protocol/item.ts';
import type { Ask } from './ladder.ts';
import { askMessage, wantedTokens } from './prompt.ts';
import type { SummaryPrompts } from './prompt.ts';

const PROMPTS: SummaryPrompts = {
  system: 'You summarise.',
  request: 'Summarise in {maxWords} words. {other}',
  hasSections: true,
};
const ASK: Ask = { author: 0, rung: 'whole', room: 10_000, partials: [] };
const ALL = { items: [], omitted: 0, omittedTokens: 0 };

function told(ask: Partial<Ask>, excerpt = ALL, prompts: Partial<SummaryPrompts> = {}, digest = ''): string {
  const message = askMessage({ ...ASK, ...ask }, { ...PROMPTS, ...prompts }, excerpt, {
    mostTokens: 4_000,
    digest,
  });
  assert.equal(message.role, 'user');
  assert.deepEqual(message.origin, { author: 'harness' });
  return textOfParts(message.content);
}

test('the request says how long the summary may be, and nothing else where nothing else is to be said', () => {
  assert.equal(told({}), 'Summarise in 3000 words. {other}');
});

test('what the user asks in particular, and what was wrong with the last answer, come last', () => {
  const text = told({ reminder: 'Be shorter.' }, ALL, { instructions: 'Dwell on $& and {maxWords}.' });
  assert.match(text, /The user asks of this summary in particular:\nDwell on \$& and \{maxWords\}\.\n\n/);
  assert.match(text, /Your last answer could not be used\. Be shorter\.$/);
});

test('an omission is told with its size, and with what is known of it', () => {
  const excerpt = { items: [], omitted: 12, omittedTokens: 34_000 };
  assert.match(
    told({}, excerpt),
    /^Earlier context is omitted here: 12 items of about 34000 tokens did not fit\.\n\n/,
  );
  assert.match(
    told({}, excerpt, {}, 'The user asked for oil.'),
    /rely on them .*:\n\nThe user asked for oil\.\n\n/,
  );
  assert.doesNotMatch(told({}, ALL, {}, 'The user asked for oil.'), /asked for oil/);
});

test('a piece is asked for by itself, shorter, and knows its place', () => {
  const ask = { rung: 'chunked', chunk: { index: 1, count: 4 }, partials: ['The first part.'] } as const;
  const text = told(ask);
  assert.match(text, /^This is part 2 of 4 .* at most 750 words/);
  assert.doesNotMatch(text, /The first part|Summarise in/);
  assert.equal(wantedTokens({ ...ASK, ...ask }, 4_000), 1_000);
  assert.equal(
    wantedTokens({ ...ASK, ...ask }, 100),
    200,
    'a piece is never asked for less than makes sense',
  );
});

test('pieces are put together in their order, those that failed are passed over', () => {
  const text = told({ rung: 'chunked', partials: ['Oil.', undefined, 'Lamp.'] });
  assert.match(text, /Summary of part 1:\nOil\.\n\nSummary of part 3:\nLamp\.\n\nSummarise in 3000 words/);
});

test("a user's own prompt stands as it is", () => {
  const request = 'Only the open questions. $& $` {unknown} {{maxWords}}';
  assert.equal(told({}, ALL, { request }), 'Only the open questions. $& $` {unknown} {3000}');
});
