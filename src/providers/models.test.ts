import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ModelUsage } from '../protocol/model.ts';
import { UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import { costOf, modelInfo } from './models.ts';

const usage: ModelUsage = {
  source: 'reported',
  covers: 'response',
  total: 110_000,
  input: 100_000,
  cachedInput: 60_000,
  cacheWrite: 10_000,
  output: 10_000,
  reasoningOutput: 0,
};

for (const [model, reasoning, outputLimit, isPriced] of [
  ['gpt-5', 'effort', 128_000, true],
  ['gpt-5-2025-08-07', 'effort', 128_000, true],
  ['openai/gpt-5.1', 'effort', 128_000, true],
  ['gpt-5-pro', 'effort', 128_000, false],
  ['gpt-5.1-codex-mini', 'effort', 128_000, false],
  ['gpt-4.1-mini', 'none', 32_768, true],
  ['o3-pro', 'effort', 100_000, false],
  ['claude-sonnet-4-5-20250929', 'budget', 64_000, true],
  ['claude-opus-4-0', 'budget', 32_000, true],
  ['claude-opus-4-8', 'adaptive', 128_000, true],
  ['claude-opus-9', 'adaptive', 64_000, false],
  ['claude-3-opus-20240229', 'none', 4096, false],
  ['qwen3-coder:30b', undefined, undefined, false],
] as const) {
  test(`${model} reasons by ${reasoning}, answers up to ${outputLimit} and has ${isPriced ? 'a' : 'no'} price`, () => {
    const info = modelInfo(model);
    assert.equal(info.reasoning, reasoning);
    assert.equal(info.outputLimit, outputLimit);
    assert.equal(info.price !== undefined, isPriced);
    assert.equal(costOf(model, usage) !== undefined, isPriced);
  });
}

test('cached tokens cost what cached tokens cost', () => {
  // 30,000 plain at 3, 60,000 cached at 0.3, 10,000 written at 3.75, 10,000 answered at 15 dollars a million.
  assert.equal(
    costOf('claude-sonnet-4-5', usage),
    (30_000 * 3 + 60_000 * 0.3 + 10_000 * 3.75 + 10_000 * 15) / 1e6,
  );
  assert.equal(costOf('gpt-5', usage), (30_000 * 1.25 + 60_000 * 0.125 + 10_000 * 1.25 + 10_000 * 10) / 1e6);
});

test('an unknown model is said to be unknown, with the window to assume', () => {
  const { isKnown, window } = modelInfo('somebody/new-1');
  assert.deepEqual([isKnown, window], [false, UNKNOWN_MODEL_WINDOW]);
  assert.equal(modelInfo('gpt-5.1').isKnown, true);
});
