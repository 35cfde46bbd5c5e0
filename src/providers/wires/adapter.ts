// What the three adapters share: they repeat a request until it is answered completely, or until retrying is pointless.

import { BatonError } from '../../errors.ts';
import type { CancelSignal } from '../../ports.ts';
import type { Item } from '../../protocol/item.ts';
import type { ModelEvent, RestartedEvent } from '../../protocol/model.ts';
import { wait } from '../../system/wait.io.ts';
import { failureOf, interrupted } from '../errors.ts';
import type { ModelFailure } from '../errors.ts';
import { Receiver } from './receiver.ts';
import { decideRetry, kindOf } from '../retry.ts';
import type { Attempts, RetryDecision, RetryPolicy } from '../retry.ts';
import { overdue, streamEvents, unfinished, withDeadline } from './transport.io.ts';
import type { Call, StreamPart } from './transport.io.ts';

/** How to reach a provider. */
export interface ProviderSettings {
  /** Its key in `[model_providers]`, which items record as their maker. */
  readonly provider: string;
  /** Includes the version: `https://api.openai.com/v1`. A trailing slash does not matter. */
  readonly baseUrl: string;
  /** Empty: send no key. Never appears in a message or a log. */
  readonly apiKey: string;
  /** Milliseconds without an event after which a request counts as failed. */
  readonly idleTimeoutMs: number;
  /** Milliseconds for one request with its answer, including all retries and waits. */
  readonly answerTimeoutMs: number;
  readonly retry: RetryPolicy;
  /** 0 to 1, the second exclusive; for the jitter of waits. */
  readonly random: () => number;
}

/** Assembles the events of one wire format. One fold per request. */
export interface AnswerFold {
  /** The result of an event. @throws BatonError for an error inside the stream, or an impossible event */
  accept(part: StreamPart): readonly ModelEvent[];
  /** Whether the terminal event came: nothing more is read. */
  readonly isFinished: boolean;
  /** The last events if everything essential arrived, even without the terminal event; else undefined. */
  end(): readonly ModelEvent[] | undefined;
}

/** The URL of an endpoint. */
export function endpoint({ baseUrl }: ProviderSettings, path: string): string {
  return `${baseUrl.replace(/(?<!\/)\/+$/, '')}/${path}`;
}

/**
 * Streams one answer, resending the request as often as the policy allows.
 * @param history the content of the request: the ids of its calls are taken
 */
export async function* streamAnswer(
  call: Call,
  settings: ProviderSettings,
  newFold: () => AnswerFold,
  history: readonly Item[],
): AsyncGenerator<ModelEvent, void, undefined> {
  const timed = withDeadline(call);
  let attempts: Attempts = { request: 0, stream: 0 };
  for (;;) {
    try {
      yield* streamOnce(timed, newFold(), new Receiver(history));
      return;
    } catch (error) {
      const again = nextAttempt(error, attempts, settings);
      yield restarted(error, again);
      await waitFor(again.delayMs, timed);
      attempts = again.attempts;
    }
  }
}

/** Makes a request with an immediate answer, repeated as often as the policy allows. @param onRestart called before each retry */
export async function retrying<Value>(
  call: Call,
  settings: ProviderSettings,
  send: (call: Call) => Promise<Value>,
  onRestart?: (event: RestartedEvent) => void,
): Promise<Value> {
  const timed = withDeadline(call);
  let attempts: Attempts = { request: 0, stream: 0 };
  for (;;) {
    try {
      return await send(timed);
    } catch (error) {
      const again = nextAttempt(error, attempts, settings);
      onRestart?.(restarted(error, again));
      await waitFor(again.delayMs, timed);
      attempts = again.attempts;
    }
  }
}

async function waitFor(delayMs: number, call: ReturnType<typeof withDeadline>): Promise<void> {
  const leftMs = Math.max(0, call.deadline - performance.now());
  await wait(Math.min(delayMs, leftMs), call.signal, interrupted);
  if (delayMs >= leftMs) throw overdue(call);
}

function restarted(
  error: unknown,
  { retry, maxRetries, delayMs }: Extract<RetryDecision, { type: 'retry' }>,
): RestartedEvent {
  return { type: 'restarted', retry, maxRetries, delayMs, why: (error as BatonError).message };
}

async function* streamOnce(
  call: Call,
  fold: AnswerFold,
  receiver: Receiver,
): AsyncGenerator<ModelEvent, void, undefined> {
  const received = (event: ModelEvent): ModelEvent =>
    event.type === 'item_done' ? { ...event, item: receiver.receive(event.item, call) } : event;
  let last: readonly ModelEvent[] | undefined;
  try {
    for await (const part of streamEvents(call)) {
      for (const event of fold.accept(part)) yield* unlessStopped(received(event), call.signal);
      if (fold.isFinished) break;
    }
  } catch (error) {
    // If a connection breaks after everything essential arrived, nothing is lost.
    last = failureOf(error)?.code === 'model_cut_off' ? fold.end() : undefined;
    if (last === undefined) throw error;
  }
  last ??= fold.end();
  if (last === undefined) throw unfinished(call.provider);
  for (const event of last) yield* unlessStopped(received(event), call.signal);
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
  if (decision.type === 'give_up') {
    throw decision.why === 'wait_too_long' && error instanceof BatonError
      ? tooLongToWait(error, failure)
      : error;
  }
  return { ...decision, attempts: { ...attempts, [kindOf(failure)]: decision.retry } };
}

/** A provider may request a wait of a day: report that instead of waiting silently. */
function tooLongToWait({ code, message, cure }: BatonError, failure: ModelFailure): BatonError {
  const seconds = Math.ceil((failure.retryAfterMs ?? 0) / 1000);
  return new BatonError(
    code,
    `${message} It requests a wait of ${seconds} seconds, which is too long for a retry.`,
    {
      cure,
      data: { ...failure },
    },
  );
}
