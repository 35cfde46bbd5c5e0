import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Item, MessageItem } from '../protocol/item.ts';
import { anyThread, thread } from '../../test/support/thread.ts';
import { SUMMARY_PREFIX, filterForSummary, initialContextRange, isSummary, isUserMessage } from './filter.ts';

function user(text: string, more: Partial<MessageItem> = {}): MessageItem {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }], ...more };
}

const reasons: readonly (readonly [notation: string, reasons: string])[] = [
  ['u a', '- -'],
  ['dev h u', 'system system -'],
  ['sum u', '- -'],
  ['u progress ghost', '- progress ghost_snapshot'],
  ['u shell>', '- -'],
  ['boundary todo-list u', '- - -'],
  ['u r a', '- - -'],
  ['u r shell> shell<', '- - - -'],
  ['u a r', '- - thinking_only'],
  ['u r u a', '- thinking_only - -'],
  ['u r r a', '- - - -'],
  ['u r ghost u', '- thinking_only ghost_snapshot -'],
  ['u r progress a', '- - progress -'],
  ['shell#x> r shell#x< u', '- thinking_only - -'],
];

for (const [notation, expected] of reasons) {
  test(`a summarizer sees of "${notation}": ${expected}`, () => {
    const filtered = filterForSummary(thread(notation));
    assert.equal(filtered.map(({ reason }) => reason ?? '-').join(' '), expected);
  });
}

test('every item is classified once, in its order', () => {
  fc.assert(
    fc.property(anyThread, (notation) => {
      const items = thread(notation);
      assert.deepEqual(
        filterForSummary(items).map(({ index }) => index),
        items.map((_, index) => index),
      );
    }),
    { seed: 20_260_103 },
  );
});

test('placeholders of a failed request and injected steps are left out, but the packet stays', () => {
  const items: Item[] = [
    user('x', { isApiErrorMessage: true }),
    user('x', { model: '<synthetic>' }),
    user('x', { origin: { author: 'synthetic', step: 'heads_up' } }),
    user('x', { origin: { author: 'synthetic', step: 'packet' } }),
  ];
  assert.deepEqual(
    filterForSummary(items).map(({ reason }) => reason),
    ['synthetic_error', 'synthetic_error', 'injected', undefined],
  );
});

test('a summary is known by its flag, else by the prefixes that producers write', () => {
  assert.equal(isSummary(user('x', { isCompactSummary: true })), true);
  assert.equal(isSummary(user(`${SUMMARY_PREFIX} And so on.`)), true);
  assert.equal(isSummary(user(SUMMARY_PREFIX, { isCompactSummary: false })), false);
  assert.equal(isSummary({ ...user(SUMMARY_PREFIX), role: 'assistant' }), false);
  assert.equal(isSummary(user('A question about summaries')), false);
});

test('a user message is what a person wrote: text or an image', () => {
  const [withImage, harness, summary, developer] = thread('u+img h sum dev');
  assert.ok(withImage !== undefined && isUserMessage(withImage));
  for (const item of [harness, summary, developer]) assert.ok(item !== undefined && !isUserMessage(item));
  assert.equal(isUserMessage(user(' \n\t')), false);
  assert.equal(isUserMessage(user('', { content: [{ type: 'input_image' }] })), true);
  assert.equal(isUserMessage(user('x', { origin: { author: 'user' } })), true);
  assert.equal(isUserMessage(user('x', { origin: { author: 'synthetic', step: 'handoff' } })), false);
});

const ranges: readonly (readonly [notation: string, from: number, to: number])[] = [
  ['', 0, 0],
  ['u a', 0, 0],
  ['dev h u a', 0, 2],
  ['u dev h u dev', 1, 3],
  ['sum dev u', 1, 2],
  ['dev dev', 0, 2],
  ['u a h u', 0, 0],
  ['u shell:9 dev a', 0, 0],
  ['u h a h', 1, 2],
];

for (const [notation, from, to] of ranges) {
  test(`the initial context of "${notation}" is [${from}, ${to})`, () => {
    assert.deepEqual(initialContextRange(thread(notation)), { from, to });
  });
}

test('of the packets only the newest is seen, handed back or as it was written', () => {
  const written = (step: 'packet' | 'handoff', sequenceId: string): Item =>
    user('x', { origin: { author: 'synthetic', step, sequenceId } });
  const items: Item[] = [
    written('packet', 's1'),
    written('handoff', 's1'),
    user('go on'),
    written('packet', 's2'),
    written('handoff', 's2'),
    user('thanks'),
  ];
  assert.deepEqual(
    filterForSummary(items).map(({ reason }) => reason),
    ['injected', 'injected', undefined, 'injected', undefined, undefined],
  );
  assert.deepEqual(
    filterForSummary(items.slice(0, 1)).map(({ reason }) => reason),
    [undefined],
  );
});

function answer(step: 'scratch' | 'packet'): Item {
  return {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'x' }],
    origin: { author: 'agent', step },
  };
}

test('an answer to the scratch request is in its file, the agent’s packet is not', () => {
  assert.deepEqual(
    filterForSummary([answer('scratch'), answer('packet')]).map(({ reason }) => reason),
    ['injected', undefined],
  );
});
