import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { retryAfterMs } from './retry-after.ts';
import { decideRetry, DEFAULT_RETRY_POLICY } from './retry.ts';

const NONE = { request: 0, stream: 0 };
const overloaded = { code: 'model_overloaded', provider: 'p', isRetryable: true };
const cutOff = { code: 'model_cut_off', provider: 'p', isRetryable: true };

test('waits double from 200 ms, stray by a tenth and stay below the ceiling', () => {
  const delays = [0, 1, 2, 3].map((request) =>
    decideRetry(overloaded, { request, stream: 0 }, 0.5, DEFAULT_RETRY_POLICY),
  );
  assert.deepEqual(
    delays.map((each) => each.type === 'retry' && each.delayMs),
    [200, 400, 800, 1600],
  );
  fc.assert(
    fc.property(fc.nat(60), fc.double({ min: 0, max: 0.999, noNaN: true }), (request, random) => {
      const policy = { ...DEFAULT_RETRY_POLICY, requestMaxRetries: 100 };
      const decision = decideRetry(overloaded, { request, stream: 0 }, random, policy);
      assert.equal(decision.type, 'retry');
      if (decision.type !== 'retry') return;
      const scheduled = 200 * 2 ** request;
      assert.ok(decision.delayMs <= policy.maxBackoffMs, `${decision.delayMs} is above the ceiling`);
      assert.ok(
        decision.delayMs >= Math.min(scheduled * 0.9 - 1, policy.maxBackoffMs),
        'waits too short a time',
      );
    }),
    { seed: 7 },
  );
});

test('requests and streams are counted apart', () => {
  const policy = { ...DEFAULT_RETRY_POLICY, requestMaxRetries: 1, streamMaxRetries: 2 };
  assert.deepEqual(decideRetry(overloaded, { request: 1, stream: 0 }, 0.5, policy), {
    type: 'give_up',
    why: 'too_often',
  });
  assert.equal(decideRetry(cutOff, { request: 1, stream: 1 }, 0.5, policy).type, 'retry');
  assert.equal(decideRetry(cutOff, { request: 0, stream: 2 }, 0.5, policy).type, 'give_up');
});

test('what waiting cannot help is not tried again', () => {
  const never = { ...overloaded, isRetryable: false };
  assert.deepEqual(decideRetry(never, NONE, 0.5, DEFAULT_RETRY_POLICY), {
    type: 'give_up',
    why: 'not_retryable',
  });
  const late = { ...overloaded, retryAfterMs: DEFAULT_RETRY_POLICY.maxRetryAfterMs + 1 };
  assert.deepEqual(decideRetry(late, NONE, 0.5, DEFAULT_RETRY_POLICY), {
    type: 'give_up',
    why: 'wait_too_long',
  });
});

test('a provider is never asked before the time that it named', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 120_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (asked, random) => {
        const decision = decideRetry(
          { ...overloaded, retryAfterMs: asked },
          NONE,
          random,
          DEFAULT_RETRY_POLICY,
        );
        assert.ok(decision.type === 'retry' && decision.delayMs >= asked, 'came back too early');
      },
    ),
    { seed: 11 },
  );
});

const NOW = Date.parse('2026-11-21T12:00:00Z');

for (const [headers, message, expected] of [
  [{ 'retry-after': '3' }, '', 3000],
  [{ 'retry-after': '0.25' }, '', 250],
  [{ 'retry-after': '0' }, '', 0],
  [{ 'retry-after': 'Sat, 21 Nov 2026 12:00:07 GMT' }, '', 7000],
  [{ 'retry-after': 'Sat, 21 Nov 2026 11:00:00 GMT' }, '', 0],
  [{ 'retry-after': 'soon' }, '', undefined],
  [{ 'retry-after': '-3' }, '', undefined],
  [{ 'retry-after-ms': '120', 'retry-after': '3' }, '', 120],
  [{ 'retry-after-ms': 'x', 'retry-after': '3' }, '', 3000],
  [{}, 'Rate limit reached. Please try again in 1.2s.', 1200],
  [{}, 'Please try again in 350ms.', 350],
  [{}, 'Please try again in 6m0s.', 360_000],
  [{}, 'Please try again in 1h2m3s.', 3_723_000],
  [{}, 'Please try again in a while.', undefined],
  [{ 'retry-after': '2' }, 'Please try again in 9s.', 2000],
  [{}, '', undefined],
] as const) {
  test(`Retry-After of ${JSON.stringify(headers)} ${message} is ${expected} ms`, () => {
    assert.equal(retryAfterMs(new Headers(headers), message, NOW), expected);
  });
}
