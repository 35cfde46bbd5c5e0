import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findBrokenPairs, normalizeItems, pairView } from '../src/history/pairs.ts';
import { breakPairs, generateSteps, textsOf, toItems } from './histories.ts';

const steps = generateSteps(2000);

test('a history has the length asked for, and the same seed gives the same one', () => {
  assert.deepEqual(
    [1, 7, 2000].map((count) => generateSteps(count).length),
    [1, 7, 2000],
  );
  assert.deepEqual(generateSteps(300, 5), generateSteps(300, 5));
  assert.notDeepEqual(generateSteps(300, 5), generateSteps(300, 6));
});

test('calls and results pair up; half of the messages are results, most of the text is theirs', () => {
  assert.deepEqual(findBrokenPairs(toItems(steps).map(pairView)), {
    orphanCalls: [],
    orphanResults: [],
    duplicateResults: [],
  });
  const results = steps.filter(({ type }) => type === 'result');
  const share = lengthOf(results.map(({ text }) => text)) / lengthOf(textsOf(steps));
  assert.ok(Math.abs(results.length / steps.length - 0.5) < 0.05);
  assert.ok(share > 0.6 && share < 0.9, `${share}`);
});

test('a broken history lacks results and calls, and can be repaired', () => {
  const items = toItems(breakPairs(steps));
  const broken = findBrokenPairs(items.map(pairView));
  assert.ok(broken.orphanCalls.length >= 5 && broken.orphanResults.length >= 5);
  const repaired = normalizeItems(items).items.map(pairView);
  assert.deepEqual(findBrokenPairs(repaired).orphanCalls, []);
  assert.deepEqual(findBrokenPairs(repaired).orphanResults, []);
});

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
