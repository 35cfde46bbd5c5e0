// Decides when to resend a failed request. Pure: randomness is a parameter, and the caller waits.

import type { ModelFailure } from './errors.ts';

/** Limits on retries. Times in milliseconds. */
export interface RetryPolicy {
  /** How often to resend a request whose answer had not begun. */
  readonly requestMaxRetries: number;
  /** How often to resend a request whose answer broke off. */
  readonly streamMaxRetries: number;
  /** The first wait; it doubles each time. */
  readonly baseMs: number;
  /** The longest wait that Baton chooses itself. */
  readonly maxBackoffMs: number;
  /** The longest wait that a provider may request; beyond it, Baton reports the failure instead. */
  readonly maxRetryAfterMs: number;
}

/**
 * @source retries: spec 1-product, `[model_providers]`; 200 ms doubled with 10 % of jitter: rawr-behaviour §11.2, after
 *   Codex; ceilings: docs/decisions/providers.md
 */
export const DEFAULT_RETRY_POLICY: RetryPolicy = {
  requestMaxRetries: 4,
  streamMaxRetries: 5,
  baseMs: 200,
  maxBackoffMs: 30_000,
  maxRetryAfterMs: 120_000,
};

/** Random variation of a wait in both directions, so that clients that failed together do not return together. */
const JITTER = 0.1;

/** The retries so far, counted separately for both kinds of failure. */
export interface Attempts {
  readonly request: number;
  readonly stream: number;
}

/** The decision about a failure. */
export type RetryDecision =
  | { readonly type: 'retry'; readonly delayMs: number; readonly retry: number; readonly maxRetries: number }
  | { readonly type: 'give_up'; readonly why: 'not_retryable' | 'too_often' | 'wait_too_long' };

/**
 * Decides about one failure.
 * @param attempts retries made before it
 * @param random 0 to 1, the second exclusive
 */
export function decideRetry(
  failure: ModelFailure & { readonly code: string },
  attempts: Attempts,
  random: number,
  policy: RetryPolicy,
): RetryDecision {
  if (!failure.isRetryable) return { type: 'give_up', why: 'not_retryable' };
  const kind = kindOf(failure);
  const maxRetries = kind === 'stream' ? policy.streamMaxRetries : policy.requestMaxRetries;
  const retry = attempts[kind] + 1;
  if (retry > maxRetries) return { type: 'give_up', why: 'too_often' };
  const asked = failure.retryAfterMs;
  if (asked !== undefined && asked > policy.maxRetryAfterMs) return { type: 'give_up', why: 'wait_too_long' };
  // Returning before the requested time is refused again, so jitter only adds to it.
  const delayMs =
    asked === undefined ? backoffMs(retry, random, policy) : Math.ceil(asked * (1 + JITTER * random));
  return { type: 'retry', delayMs, retry, maxRetries };
}

/** Which of the two counters a failure increments. */
export function kindOf({ code }: { readonly code: string }): keyof Attempts {
  return code === 'model_cut_off' ? 'stream' : 'request';
}

function backoffMs(retry: number, random: number, { baseMs, maxBackoffMs }: RetryPolicy): number {
  const strayed = baseMs * 2 ** (retry - 1) * (1 - JITTER + 2 * JITTER * random);
  return Math.min(Math.round(strayed), maxBackoffMs);
}
