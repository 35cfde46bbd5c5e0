// What the three adapters share: one request after another until one is answered whole, or until it makes no sense.

import type { BatonError } from '../errors.ts';
import type { CancelSignal } from '../ports.ts';
import type { ModelEvent, RestartedEvent } from '../protocol/model.ts';
import { wait } from '../waiting/driver.ts';
import { failureOf, interrupted } from './errors.ts';
import { decideRetry, kindOf } from './retry.ts';
import type { Attempts, RetryDecision, RetryPolicy } from './retry.ts';
import { streamEvents, unfinished } from './transport.ts';
import type { Call, StreamPart } from './transport.ts';

/** How a provider is reached. */
export interface ProviderSettings {
  /** Its key in `[model_providers]`, by which items know their maker. */
  readonly provider: string;
  /** With the version: `https://api.openai.com/v1`. A slash at the end does not matter. */
  readonly baseUrl: string;
  /** Empty: none is sent. Appears in no message and no log. */
  readonly apiKey: string;
  /** Milliseconds without a byte after which a request counts as failed. */
  readonly idleTimeoutMs: number;
  readonly retry: RetryPolicy;
  /** 0 to 1, the second exclusive; for the jitter of waits. */
  readonly random: () => number;
}

/** Puts the events of one wire format together. One for each request. */
export interface AnswerFold {
  /** What an event adds. @throws BatonError for an error inside of the stream, or an event that cannot be */
  accept(part: StreamPart): readonly ModelEvent[];
  /** Whether the terminal event came: nothing more is read. */
  readonly isFinished: boolean;
  /** The last events where all that matters came, also without the terminal event; else undefined. */
  end(): readonly ModelEvent[] | undefined;
}

/** The address of an endpoint. */
export function endpoint({ baseUrl }: ProviderSettings, path: string): string {
  return `${baseUrl.replace(/\/+$/, '')}/${path}`;
}

/** Streams one answer, sending the request again as often as the policy says. */
export async function* streamAnswer(
  call: Call,
  settings: ProviderSettings,
  newFold: () => AnswerFold,
): AsyncGenerator<ModelEvent, void, undefined> {
  let attempts: Attempts = { request: 0, stream: 0 };
  for (;;) {
    try {
      yield* streamOnce(call, newFold());
      return;
    } catch (error) {
      const again = nextAttempt(error, attempts, settings);
      yield restarted(error, again);
      await wait(again.delayMs, call.signal, interrupted);
      attempts = again.attempts;
    }
  }
}

/** Does something that answers at once, again as often as the policy says. @param onRestart told before each time */
export async function retrying<Value>(
  call: Call,
  settings: ProviderSettings,
  send: (call: Call) => Promise<Value>,
  onRestart?: (event: RestartedEvent) => void,
): Promise<Value> {
  let attempts: Attempts = { request: 0, stream: 0 };
  for (;;) {
    try {
      return await send(call);
    } catch (error) {
      const again = nextAttempt(error, attempts, settings);
      onRestart?.(restarted(error, again));
      await wait(again.delayMs, call.signal, interrupted);
      attempts = again.attempts;
    }
  }
}

function restarted(
  error: unknown,
  { retry, maxRetries, delayMs }: Extract<RetryDecision, { type: 'retry' }>,
): RestartedEvent {
  return { type: 'restarted', retry, maxRetries, delayMs, why: (error as BatonError).message };
}

async function* streamOnce(call: Call, fold: AnswerFold): AsyncGenerator<ModelEvent, void, undefined> {
  let last: readonly ModelEvent[] | undefined;
  try {
    for await (const part of streamEvents(call)) {
      for (const event of fold.accept(part)) yield* unlessStopped(event, call.signal);
      if (fold.isFinished) break;
    }
  } catch (error) {
    // A connection that breaks after everything was said took nothing with it.
    last = failureOf(error)?.code === 'model_cut_off' ? fold.end() : undefined;
    if (last === undefined) throw error;
  }
  last ??= fold.end();
  if (last === undefined) throw unfinished(call.provider);
  for (const event of last) yield* unlessStopped(event, call.signal);
}

function* unlessStopped(event: ModelEvent, signal: CancelSignal): Generator<ModelEvent, void, undefined> {
  if (signal.aborted) throw interrupted();
  yield event;
}

function nextAttempt(
  error: unknown,
  attempts: Attempts,
  { retry: policy, random }: ProviderSettings,
): Extract<RetryDecision, { type: 'retry' }> & { readonly attempts: Attempts } {
  const failure = failureOf(error);
  if (failure === undefined) throw error;
  const decision = decideRetry(failure, attempts, random(), policy);
  if (decision.type === 'give_up') throw error;
  return { ...decision, attempts: { ...attempts, [kindOf(failure)]: decision.retry } };
}
