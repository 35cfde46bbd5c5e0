import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { UsageSample } from '../protocol/usage.ts';
import { addUsage, NOTHING_SPENT } from './usage.ts';

const ANSWER: UsageSample = {
  source: 'reported',
  covers: 'response',
  total: 130,
  cachedInput: 80,
  output: 30,
  reasoningOutput: 10,
};

test('requests add up, and the newest stands alone', () => {
  const once = addUsage(NOTHING_SPENT, ANSWER);
  const twice = addUsage(once, { source: 'reported', covers: 'response', total: 200, output: 20 });
  assert.deepEqual(once.total, once.last);
  assert.deepEqual(twice, {
    total: {
      input_tokens: 280,
      cached_input_tokens: 80,
      output_tokens: 50,
      reasoning_output_tokens: 10,
      total_tokens: 330,
    },
    last: {
      input_tokens: 180,
      cached_input_tokens: 0,
      output_tokens: 20,
      reasoning_output_tokens: 0,
      total_tokens: 200,
    },
  });
});

test('what is no answer of a provider costs nothing', () => {
  const others: readonly UsageSample[] = [
    { ...ANSWER, source: 'estimated' },
    { ...ANSWER, covers: 'history' },
    { ...ANSWER, covers: 'request' },
  ];
  for (const sample of others) assert.equal(addUsage(NOTHING_SPENT, sample), NOTHING_SPENT);
});
