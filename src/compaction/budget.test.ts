import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { DEFAULT_SUMMARY_TOKENS } from '../summary/write.ts';
import { LEAST_SUMMARY_TOKENS, shareOut, targetForSummary } from './budget.ts';
import type { BudgetRequest } from './budget.ts';

const SEED = { seed: 20_260_108 };

const plain: BudgetRequest = {
  window: 200_000,
  target: Infinity,
  summaryLimit: DEFAULT_SUMMARY_TOKENS,
  fixed: 1000,
  userMessages: 30_000,
  userMessageLimit: 20_000,
  files: 40_000,
};

const cases: readonly (readonly [
  name: string,
  request: Partial<BudgetRequest>,
  shares: readonly number[] | number,
])[] = [
  // 8 % of 200,000 = 16,000 for each.
  ['no target', {}, [16_000, 16_000, DEFAULT_SUMMARY_TOKENS]],
  ['no target, a large window', { window: 2_000_000 }, [20_000, 40_000, DEFAULT_SUMMARY_TOKENS]],
  // Room 10,000: a quarter for files, three twentieths for the user's words.
  ['a target', { target: 11_000, summaryLimit: Infinity }, [1500, 2500, 6000]],
  // Room 10,000, of which the summary can use 4,000: the user's words have what a quarter for files leaves.
  ['a limit for the summary', { target: 11_000 }, [3500, 2500, 4000]],
  ['the same with few words', { target: 11_000, userMessages: 500 }, [500, 5500, 4000]],
  ['little else', { target: 11_000, summaryLimit: Infinity, files: 0, userMessages: 100 }, [100, 0, 9900]],
  ['a small window', { target: 11_000, summaryLimit: Infinity, window: 8000 }, [640, 640, 8720]],
  // Room 250: what the least summary leaves goes to the user's words first.
  ['a target that leaves little', { target: 1250 }, [37, 13, 200]],
  ['the least target', { target: 1200 }, [0, 0, 200]],
  ['less than the least', { target: 1199 }, 1200],
  ['a target of nothing', { target: 0 }, 1200],
];

for (const [name, request, expected] of cases) {
  test(`shareOut: ${name}`, () => {
    const budget = shareOut({ ...plain, ...request });
    assert.deepEqual(
      budget.fits ? [budget.userMessages, budget.files, budget.summary] : budget.least,
      expected,
    );
  });
}

const anyRequest = fc.record({
  window: fc.integer({ min: 1000, max: 2_000_000 }),
  target: fc.oneof(fc.nat(60_000), fc.constant(Infinity)),
  summaryLimit: fc.constantFrom(DEFAULT_SUMMARY_TOKENS, Infinity),
  fixed: fc.nat(20_000),
  userMessages: fc.nat(100_000),
  userMessageLimit: fc.nat(40_000),
  files: fc.nat(100_000),
});

test('no share is negative, and together they are the room; what is said to be the least is enough', () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const budget = shareOut(request);
      if (!budget.fits) {
        assert.ok(request.target < budget.least);
        assert.equal(shareOut({ ...request, target: budget.least }).fits, true);
        assert.equal(shareOut({ ...request, target: budget.least - 1 }).fits, false);
        return;
      }
      const { userMessages, files, summary } = budget;
      assert.ok(Math.min(userMessages, files) >= 0 && summary >= LEAST_SUMMARY_TOKENS);
      assert.ok(userMessages <= request.userMessageLimit && files <= request.files);
      assert.ok(Math.max(userMessages, files) <= request.window * 0.08);
      const whole = request.fixed + userMessages + files + summary;
      assert.ok(whole <= request.target && summary <= request.summaryLimit);
      if (summary < request.summaryLimit) assert.equal(whole, request.target);
    }),
    { ...SEED, numRuns: 1000 },
  );
});

test('a target made for a summary gives it its room, whatever else asks for room', () => {
  fc.assert(
    fc.property(anyRequest, fc.nat(10_000), (request, summary) => {
      const budget = shareOut({
        ...request,
        summaryLimit: Infinity,
        target: targetForSummary(request.fixed, summary),
      });
      assert.ok(budget.fits && budget.summary >= summary);
    }),
    SEED,
  );
});
