import assert from 'node:assert/strict';
import { test } from 'node:test';
import { costOf, priceOf } from './prices.ts';

test('the longest name that fits has the price', () => {
  assert.equal(priceOf('gpt-5')?.input, 1.25);
  assert.equal(priceOf('gpt-5-codex')?.input, 1.25);
  assert.equal(priceOf('gpt-5.4')?.input, 2.5);
  assert.equal(priceOf('gpt-5.4-mini')?.input, 0.75);
  assert.equal(priceOf('claude-opus-4-20250514')?.input, 15);
  assert.equal(priceOf('claude-opus-4-5-20251101')?.input, 5);
  assert.equal(priceOf('openrouter/claude-opus-4-6')?.input, 5);
});

test('variants without a list price of their own have none', () => {
  for (const model of [
    'gpt-5.3-codex-spark',
    'gpt-5.4-pro',
    'gpt-5-pro-2025-10-06',
    'mock-model',
    '',
    undefined,
  ]) {
    assert.equal(priceOf(model), undefined, model);
  }
});

test('what is not cached is written to the cache, at its price', () => {
  const price = priceOf('claude-opus-4-6');
  assert.ok(price !== undefined, 'it is in the table');
  assert.equal(costOf({ input: 1_000_000, cached: 0, output: 0 }, price), 6.25);
  assert.equal(costOf({ input: 1_000_000, cached: 1_000_000, output: 0 }, price), 0.5);
  assert.equal(costOf({ input: 0, cached: 0, output: 1_000_000 }, price), 25);
});
