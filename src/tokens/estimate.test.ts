import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Item } from '../protocol/item.ts';
import { anyItem, anyText, thread } from '../../test/support/thread.ts';
import {
  DEFAULT_ESTIMATE,
  addTokens,
  approximateTokens,
  encryptedReasoningTokens,
  itemTokens,
  sumTokens,
  utf8Length,
  withSafetyMargin,
} from './estimate.ts';
import { isO200kModel, knownWindow } from './models.ts';

const SEED = { seed: 20_260_110 };

test('the length of any text is that of its bytes, lone surrogates included', () => {
  fc.assert(
    fc.property(anyText, (text) => assert.equal(utf8Length(text), Buffer.byteLength(text))),
    { ...SEED, numRuns: 2000 },
  );
  for (const text of ['\ud83d', '\udc00', '\ud83d\ud83d\udc00', '\udc00\ud83d', '\ud83dx', '\u07ff\u0800']) {
    assert.equal(utf8Length(text), Buffer.byteLength(text));
  }
});

test('tokens are bytes over bytes per token, rounded up', () => {
  const cases: readonly (readonly [text: string, tokens: number])[] = [
    ['', 0],
    ['a', 1],
    ['abcd', 1],
    ['abcde', 2],
    ['🙂', 1],
    ['中文', 2],
    ['\ud83d', 1],
  ];
  for (const [text, tokens] of cases) assert.equal(approximateTokens(text), tokens);
  assert.equal(approximateTokens('abcdefg', { ...DEFAULT_ESTIMATE, approxBytesPerToken: 3 }), 3);
  assert.equal(approximateTokens('abcdefg', { ...DEFAULT_ESTIMATE, approxBytesPerToken: 3.5 }), 2);
});

test('the margin is rounded up', () => {
  assert.deepEqual(
    [0, 1, 3, 100].map((tokens) => withSafetyMargin(tokens, 1.33)),
    [0, 2, 4, 133],
  );
  assert.equal(withSafetyMargin(7, 1), 7);
});

test('encrypted reasoning: three quarters of its characters less 650 bytes', () => {
  assert.deepEqual([0, 866, 867, 872, 4000].map(encryptedReasoningTokens), [0, 0, 1, 1, 588]);
});

const sizes: readonly (readonly [item: Item | string, split: Readonly<Record<string, number>>])[] = [
  ['u:40', { user: 40 }],
  ['u+img:40', { user: 40, images: 2000 }],
  ['h:40', { system: 40 }],
  ['dev:40', { system: 40 }],
  ['sum:40', { summary: 40 }],
  ['a:40', { assistant: 40 }],
  ['r:40', { reasoning: 40 }],
  ['todo-list:40', { attachments: 40 }],
  ['boundary', {}],
  ['progress:40', {}],
  ['ghost', {}],
  ['x<:40', { tool_results: 40 }],
  ['x<:img', { tool_results: 0, images: 2000 }],
  ['abcde>', { tool_calls: 2 + 2 }],
  [{ type: 'custom_tool_call', name: 'abcd', input: 'abcde', call_id: 'c' }, { tool_calls: 3 }],
  [{ type: 'local_shell_call', call_id: 'c', action: { a: 1 } }, { tool_calls: 2 }],
  [{ type: 'web_search_call' }, { tool_calls: 1 }],
  [{ type: 'reasoning', summary: [], encrypted_content: 'x'.repeat(4000) }, { reasoning: 588 }],
  [{ type: 'reasoning', summary: [], text: 'abcde', signature: 'x'.repeat(4000) }, { reasoning: 588 }],
  [{ type: 'reasoning', summary: [], encrypted_content: null }, { reasoning: 0 }],
  [{ type: 'compaction', encrypted_content: 'x'.repeat(4000) }, { summary: 588 }],
  [{ type: 'unknown', raw: { type: 'new' } }, { other: 4 }],
  [
    {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'refusal', refusal: 'abcde' },
        { type: 'other', value: {} },
      ],
    },
    { assistant: 3 },
  ],
];

for (const [of, split] of sizes) {
  const [item] = typeof of === 'string' ? thread(of) : [of];
  test(`what ${typeof of === 'string' ? of : `a ${of.type}`} costs`, () => {
    assert.ok(item);
    assert.deepEqual(itemTokens(item), split);
  });
}

test('an item never costs less than nothing, and a sum of splits is the sum of their sums', () => {
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 10 }), (items) => {
      const totals = {};
      for (const item of items) {
        const split = itemTokens(item);
        for (const tokens of Object.values(split)) assert.ok(Number.isInteger(tokens) && tokens >= 0);
        addTokens(totals, split);
      }
      assert.equal(
        sumTokens(totals),
        items.reduce((sum, item) => sum + sumTokens(itemTokens(item)), 0),
      );
    }),
    SEED,
  );
});

test('the window of a model is that of its longest known prefix, and of the variant that its usage shows', () => {
  const cases: readonly (readonly [model: string, leastUsage: number, window: number | undefined])[] = [
    ['gpt-5-codex', 0, 272_000],
    ['gpt-5.3-codex', 0, 272_000],
    ['gpt-5.3-codex-spark', 0, 128_000],
    ['gpt-5.3-codex-spark', 200_000, 128_000],
    ['claude-sonnet-4-5', 0, 200_000],
    ['claude-sonnet-4-5', 200_000, 200_000],
    ['claude-sonnet-4-5', 200_001, 1_000_000],
    ['claude-sonnet-4-5', 3_000_000, 1_000_000],
    ['llama', 0, undefined],
    ['', 0, undefined],
  ];
  for (const [model, leastUsage, window] of cases)
    assert.equal(knownWindow(model, leastUsage), window, model);
});

test('o200k is the tokenizer of the models that have it', () => {
  for (const model of [
    'gpt-4o-mini',
    'gpt-4.1',
    'gpt-5',
    'gpt-5.3-codex',
    'o3',
    'o4-mini',
    'codex-mini-latest',
    'chatgpt-4o-latest',
  ]) {
    assert.equal(isO200kModel(model), true, model);
  }
  for (const model of ['gpt-4', 'gpt-4-turbo', 'gpt-3.5-turbo', 'claude-opus-5', 'opus', undefined]) {
    assert.equal(isO200kModel(model), false, model);
  }
});
