// Classifies failed requests by the remedy: another request, a wait, or a person.

import { BatonError } from '../errors.ts';
import type { ErrorCode } from '../errors.ts';
import { findOverflow } from './overflow.ts';
import { retryAfterMs } from './retry-after.ts';
import type { HeaderReader } from './retry-after.ts';

/** The kinds of failure, as codes of `BatonError`. */
export type ModelErrorCode = Extract<ErrorCode, `model_${string}`>;

/** The facts behind a failure; `BatonError.data` of every `model_…` code. */
export interface ModelFailure {
  /** The key of the provider. */
  readonly provider: string;
  /** Whether the same request may succeed later. */
  readonly isRetryable: boolean;
  /** The HTTP status of the answer. */
  readonly status?: number;
  /** The provider's own error code. */
  readonly providerCode?: string;
  /** The id under which the provider finds the request in its logs. */
  readonly requestId?: string;
  /** The wait that the provider requests, in milliseconds. */
  readonly retryAfterMs?: number;
  /** The limit is smaller than the request, so no waiting can meet it. */
  readonly isUnmeetable?: boolean;
  /** `tokens`: larger than the window. `bytes`: larger than the provider accepts. */
  readonly measure?: 'tokens' | 'bytes';
  readonly limitTokens?: number;
  readonly requestedTokens?: number;
}

const CURES: Readonly<Record<ModelErrorCode, string>> = {
  model_overflow: 'Compact the conversation, or choose a model with a larger window.',
  model_rate_limit: 'Wait, or ask the provider for a higher limit.',
  model_auth: 'Check the key in the variable that `env_key` of the provider names.',
  model_overloaded: 'Try again later.',
  model_network: 'Check the network and `base_url` of the provider.',
  model_invalid_request: 'Check the name of the model and what it supports.',
  model_refused: 'Change the request, or choose another model.',
  model_cut_off: 'Try again.',
  model_missing: 'Set OPENAI_API_KEY or ANTHROPIC_API_KEY, start Ollama, or configure [model_providers].',
};

/** For a 404: the model may be missing as well as the API. */
const NOT_FOUND_CURE = 'Check the name of the model, and `base_url` of the provider.';

/** Builds the error for a provider's failure. @param cure specific to this failure; default: that of its kind */
export function modelError(
  code: ModelErrorCode,
  message: string,
  failure: ModelFailure,
  cure = cureOf(code, failure),
): BatonError {
  return new BatonError(code, message, { cure, data: { ...failure } });
}

function cureOf(code: ModelErrorCode, { isUnmeetable }: ModelFailure): string {
  if (code !== 'model_rate_limit' || isUnmeetable !== true) return CURES[code];
  return 'Waiting cannot help: compact the conversation, or raise the limit or the credit of the account.';
}

/** The facts of a failure, or undefined if the error is not a provider's. */
export function failureOf(error: unknown): (ModelFailure & { readonly code: ModelErrorCode }) | undefined {
  if (!(error instanceof BatonError) || !error.code.startsWith('model_')) return undefined;
  return { ...(error.data as unknown as ModelFailure), code: error.code as ModelErrorCode };
}

/** The error for a request that the user stopped. */
export function interrupted(): BatonError {
  return new BatonError('interrupted', 'The request to the model was stopped.');
}

/** A provider's complaint: an answer with an error status, or an error inside a stream. */
export interface Complaint {
  readonly provider: string;
  /** Undefined inside a stream, where the status was already 200. */
  readonly status?: number;
  readonly headers?: HeaderReader;
  /** The provider's message, without any key. */
  readonly message: string;
  /** The provider's error code, e.g. `rate_limit_exceeded`. */
  readonly providerCode?: string;
  /** For dates in `Retry-After`. */
  readonly now: number;
}

/** Classifies a complaint. */
export function readComplaint(complaint: Complaint): BatonError {
  const { provider, status, headers, message, providerCode } = complaint;
  const requestId = headers?.get('x-request-id') ?? headers?.get('request-id') ?? undefined;
  const wait = retryAfterMs(headers, message, complaint.now);
  const facts = {
    provider,
    ...(status === undefined ? {} : { status }),
    ...(providerCode === undefined ? {} : { providerCode }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(wait === undefined ? {} : { retryAfterMs: wait }),
  };
  const said = `${provider} says${status === undefined ? '' : ` (${status})`}: ${message}`;
  const overflow = findOverflow(message, providerCode);
  if (overflow !== undefined) {
    return modelError('model_overflow', said, {
      ...facts,
      ...overflow,
      isRetryable: false,
      measure: 'tokens',
    });
  }
  const code = codeOf(complaint);
  const isUnmeetable = code === 'model_rate_limit' && isBeyondWaiting(complaint);
  const failure: ModelFailure = {
    ...facts,
    isRetryable: isRetryable(code, status) && !isUnmeetable,
    ...(code === 'model_overflow' ? { measure: 'bytes' } : {}),
    ...(isUnmeetable ? { isUnmeetable } : {}),
  };
  return modelError(code, said, failure, status === 404 ? NOT_FOUND_CURE : undefined);
}

/** @source names of errors: OpenAI error codes; Anthropic API errors */
const CODE_OF_NAME: ReadonlyMap<string, ModelErrorCode> = new Map([
  ['rate_limit_exceeded', 'model_rate_limit'],
  ['rate_limit_error', 'model_rate_limit'],
  ['insufficient_quota', 'model_rate_limit'],
  ['billing_error', 'model_rate_limit'],
  ['usage_limit_reached', 'model_rate_limit'],
  ['authentication_error', 'model_auth'],
  ['permission_error', 'model_auth'],
  ['invalid_api_key', 'model_auth'],
  ['overloaded_error', 'model_overloaded'],
  ['server_is_overloaded', 'model_overloaded'],
  ['slow_down', 'model_overloaded'],
  ['api_error', 'model_overloaded'],
  ['server_error', 'model_overloaded'],
  ['timeout_error', 'model_overloaded'],
  ['request_too_large', 'model_overflow'],
  ['invalid_prompt', 'model_refused'],
  ['content_filter', 'model_refused'],
  ['content_policy_violation', 'model_refused'],
]);

function codeOf({ status, providerCode }: Complaint): ModelErrorCode {
  const named = providerCode === undefined ? undefined : CODE_OF_NAME.get(providerCode);
  if (named !== undefined) return named;
  if (status === undefined) return 'model_overloaded';
  if (status === 401 || status === 403) return 'model_auth';
  if (status === 413) return 'model_overflow';
  if (status === 429 || status === 402) return 'model_rate_limit';
  // 408 and 409 are timeouts and locks on the provider's side. @source OpenAI and Anthropic SDKs, which retry them
  if (status >= 500 || status === 408 || status === 409) return 'model_overloaded';
  return 'model_invalid_request';
}

function isRetryable(code: ModelErrorCode, status: number | undefined): boolean {
  // 501 and 505 are permanent, the other 5xx temporary.
  return (code === 'model_overloaded' && status !== 501 && status !== 505) || code === 'model_rate_limit';
}

/** Whether credit is exhausted, or a limit per minute is smaller than this one request. */
function isBeyondWaiting({ providerCode, status, message, headers }: Complaint): boolean {
  if (providerCode === 'insufficient_quota' || providerCode === 'billing_error' || status === 402)
    return true;
  // @source OpenAI: "Request too large for … on tokens per min (TPM): Limit 30000, Requested 45000."
  const match = /limit:? (\d[\d,]*),? requested:? (\d[\d,]*)/i.exec(message);
  if (match !== null) return toCount(match[2]) > toCount(match[1]);
  return LIMIT_HEADERS.some(([limit, remaining]) => isFull(headers, limit, remaining));
}

function toCount(digits = ''): number {
  return Number(digits.replaceAll(',', ''));
}

/** Pairs of headers: a limit of tokens, and what is left of it. @source Anthropic and OpenAI, rate limits */
const LIMIT_HEADERS = [
  ['anthropic-ratelimit-input-tokens-limit', 'anthropic-ratelimit-input-tokens-remaining'],
  ['x-ratelimit-limit-tokens', 'x-ratelimit-remaining-tokens'],
] as const;

/** Whether the limit is unused and the request was refused nevertheless: it is larger than the limit. */
function isFull(headers: HeaderReader | undefined, limit: string, remaining: string): boolean {
  const whole = headers?.get(limit);
  return whole !== null && whole !== undefined && whole === headers?.get(remaining);
}
