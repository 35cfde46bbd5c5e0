import assert from 'node:assert/strict';
import { test } from 'node:test';
import { apportion } from './apportion.ts';

test('shares add up, and the largest fractions get what is missing', () => {
  assert.deepEqual(apportion([1, 1, 1], { whole: 3, of: 100 }), [34, 33, 33]);
  assert.deepEqual(apportion([1, 2, 4], { whole: 7, of: 10 }), [1, 3, 6]);
  assert.deepEqual(apportion([1, 1], { whole: 8, of: 100, sum: 25 }), [13, 12]);
  assert.deepEqual(apportion([1, 2], { whole: 0, of: 10 }), [0, 0]);
});
