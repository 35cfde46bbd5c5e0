import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureOf, readComplaint } from './errors.ts';
import type { ModelFailure } from './errors.ts';
import { findOverflow, OVERFLOW_WORDINGS } from './overflow.ts';

test('every wording of an overflow is found in the sentence that it stands for', () => {
  for (const { provider, pattern, example } of OVERFLOW_WORDINGS) {
    assert.match(example, pattern, provider);
    const found = findOverflow(example);
    assert.notEqual(found, undefined, `${provider}: ${example}`);
    const numbers = new Set([...example.matchAll(/\d{4,}/g)].map(([digits]) => Number(digits)));
    for (const each of Object.values(found ?? {}) as number[]) {
      assert.ok(numbers.has(each), `${provider}: ${each} is no number of the sentence`);
    }
  }
});

for (const [message, expected] of [
  [
    "This model's maximum context length is 8192 tokens. However, your messages resulted in 10346 tokens.",
    { limitTokens: 8192, requestedTokens: 10_346 },
  ],
  [
    "This model's maximum context length is 4097 tokens, however you requested 4,927 tokens (3,927 in your prompt)",
    { limitTokens: 4097, requestedTokens: 4927 },
  ],
  ['prompt is too long: 213462 tokens > 200000 maximum', { limitTokens: 200_000, requestedTokens: 213_462 }],
  ["This model's maximum context length is 131,072, so shorten it.", { limitTokens: 131_072 }],
  ["This model's maximum context length is 128k tokens.", { limitTokens: 128_000 }],
  [
    'prompt is too long: 1.213.462 tokens > 1 048 576 maximum',
    { limitTokens: 1_048_576, requestedTokens: 1_213_462 },
  ],
  [
    'request (9\u202f120 tokens) exceeds the available context size (8_192 tokens)',
    { limitTokens: 8192, requestedTokens: 9120 },
  ],
  [`maximum context length is ${'9'.repeat(400)} tokens`, {}],
  ['Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000.', undefined],
  ['Rate limit of 30000 tokens per minute: reduce the length of the messages or wait.', undefined],
  ['too many tokens per day, please wait before trying again', undefined],
  ['The maximum length of the name is 64.', undefined],
  ['max_tokens: 128000 > 64000, which is the maximum allowed number of output tokens', undefined],
] as const) {
  test(`"${message.slice(0, 60)}" is ${expected === undefined ? 'no overflow' : 'an overflow'}`, () => {
    assert.deepEqual(findOverflow(message), expected);
  });
}

const complain = (facts: {
  readonly status?: number;
  readonly message?: string;
  readonly providerCode?: string;
  readonly headers?: Headers;
}): { readonly code: string } & ModelFailure => {
  const failure = failureOf(readComplaint({ provider: 'p', message: 'no', now: 0, ...facts }));
  assert.ok(failure, 'no failure of a provider');
  return failure;
};

for (const [facts, code, isRetryable] of [
  [{ status: 400 }, 'model_invalid_request', false],
  [{ status: 401 }, 'model_auth', false],
  [{ status: 402 }, 'model_rate_limit', false],
  [{ status: 403 }, 'model_auth', false],
  [{ status: 404 }, 'model_invalid_request', false],
  [{ status: 408 }, 'model_overloaded', true],
  [{ status: 413 }, 'model_overflow', false],
  [{ status: 422 }, 'model_invalid_request', false],
  [{ status: 429 }, 'model_rate_limit', true],
  [{ status: 429, providerCode: 'insufficient_quota' }, 'model_rate_limit', false],
  [{ status: 500 }, 'model_overloaded', true],
  [{ status: 501 }, 'model_overloaded', false],
  [{ status: 503 }, 'model_overloaded', true],
  [{ status: 529, providerCode: 'overloaded_error' }, 'model_overloaded', true],
  [{ providerCode: 'overloaded_error' }, 'model_overloaded', true],
  [{ providerCode: 'rate_limit_exceeded' }, 'model_rate_limit', true],
  [{ providerCode: 'context_length_exceeded' }, 'model_overflow', false],
  [{ status: 400, providerCode: 'content_policy_violation' }, 'model_refused', false],
  [{ status: 400, message: 'prompt is too long' }, 'model_overflow', false],
] as const) {
  test(`${JSON.stringify(facts)} is ${code}, ${isRetryable ? 'to be tried again' : 'final'}`, () => {
    const failure = complain(facts);
    assert.equal(failure.code, code);
    assert.equal(failure.isRetryable, isRetryable);
  });
}

test('a limit per minute that is smaller than the request cannot be waited for', () => {
  const tooLarge = complain({
    status: 429,
    message: 'Request too large on tokens per min (TPM): Limit 30000, Requested 45000.',
  });
  assert.equal(tooLarge.isUnmeetable, true);
  assert.equal(tooLarge.isRetryable, false);
  const crowded = complain({
    status: 429,
    message: 'Rate limit reached on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000.',
  });
  const alone = complain({ status: 429, message: 'On tokens per min (TPM): Limit 30000, Requested 4000.' });
  assert.equal(alone.isUnmeetable, undefined);
  assert.equal(crowded.isUnmeetable, undefined);
  assert.equal(crowded.isRetryable, true);
});

test('a limit that is refused although nothing of it is used cannot be waited for', () => {
  const of = (remaining: string) =>
    complain({
      status: 429,
      headers: new Headers({
        'anthropic-ratelimit-input-tokens-limit': '30000',
        'anthropic-ratelimit-input-tokens-remaining': remaining,
      }),
    });
  assert.equal(of('30000').isUnmeetable, true);
  assert.equal(of('12000').isRetryable, true);
});

test('bytes and tokens that are too many are told apart', () => {
  assert.equal(complain({ status: 413 }).measure, 'bytes');
  assert.equal(complain({ status: 400, message: 'prompt is too long' }).measure, 'tokens');
});
