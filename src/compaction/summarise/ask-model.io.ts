// What all requests of a compaction to a model share: a deadline, an answer put together, what a failure comes to.

import { BatonError } from '../../errors.ts';
import type { CancelSignal, Clock, Model } from '../../ports.ts';
import { callOf, textOfParts } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import { shadowMessage } from '../../history/shadow.ts';
import type { ModelEvent, ModelRequest, ModelUsage, RestartedEvent } from '../../protocol/model.ts';
import type { SummaryAttempt } from '../../protocol/receipt.ts';
import type { StopReason } from '../../vocabulary.ts';
import type { ModelAnswer } from './answer.ts';
import type { SummaryModel } from './summarizers.ts';

/** Under which circumstances models are asked. */
export interface AskingWorld {
  readonly clock: Clock;
  /** The user's: it ends the compaction. */
  readonly signal: CancelSignal;
  /** Milliseconds for all requests together; after them the compaction goes on without a model. */
  readonly deadlineMs: number;
  /** Takes one sentence for each request and retry. */
  readonly report: (message: string) => void;
}

/** The model as people name it. */
export function nameOf({ model, name }: Pick<SummaryModel, 'model' | 'name'>): string {
  return `${model.provider}/${name}`;
}

/**
 * A history as a model can be shown it that may not have made it: encrypted reasoning that is not known to be of its
 * provider is left out, and a provider's compaction stands in words where there are any. Another provider, and another
 * account of the same one, refuses the whole request for such a state.
 */
export function readableBy(
  items: readonly Item[],
  { model: { provider } }: Pick<SummaryModel, 'model'>,
): readonly Item[] {
  return items.flatMap((item): readonly Item[] => {
    if (item.provider === provider) return [item];
    if (item.type === 'compaction') return [shadowMessage(item) ?? item];
    return item.type === 'reasoning' && typeof item.encrypted_content === 'string' ? [] : [item];
  });
}

/** A request to which nothing came that could be used. */
export type Unanswered =
  | { readonly type: 'refused'; readonly why: string }
  /** `mayTakeLess`: it is the content that is not taken, a picture for example. */
  | { readonly type: 'failed'; readonly why: string; readonly mayTakeLess: boolean }
  | {
      readonly type: 'too_large';
      readonly why: string;
      readonly limitTokens?: number;
      readonly requestedTokens?: number;
    };

/**
 * What a failed request comes to.
 * @throws BatonError `interrupted` if the user's own signal is the reason; anything that is not a provider's failure
 */
export function whyUnanswered(error: unknown, signal: CancelSignal): Unanswered {
  if (!(error instanceof BatonError)) throw error;
  if (error.code === 'interrupted') {
    if (signal.aborted) throw stopped();
    return { type: 'failed', why: 'the compaction ran out of time', mayTakeLess: false };
  }
  if (error.code === 'limit_reached')
    return { type: 'failed', why: error.message.replace(/\.$/, ''), mayTakeLess: false };
  if (!error.code.startsWith('model_')) throw error;
  const { limitTokens, requestedTokens } = error.data as Readonly<Record<string, unknown>>;
  const why = error.message.replace(/\.$/, '');
  if (isTooLarge(error)) {
    return {
      type: 'too_large',
      why,
      ...(typeof limitTokens === 'number' ? { limitTokens } : {}),
      ...(typeof requestedTokens === 'number' ? { requestedTokens } : {}),
    };
  }
  if (error.code === 'model_refused') return { type: 'refused', why };
  const isUnknown = error.data['status'] === 404;
  return { type: 'failed', why, mayTakeLess: error.code === 'model_invalid_request' && !isUnknown };
}

/** The user stopped the compaction. */
export function stopped(): BatonError {
  return new BatonError('interrupted', 'The compaction was stopped.', { cure: 'Nothing was changed.' });
}

/** A limit per minute below the size of the request is met by a smaller request; an account without credit by none. */
function isTooLarge({ code, data }: BatonError): boolean {
  if (code === 'model_overflow') return true;
  const hasNoCredit = data['status'] === 402 || NO_CREDIT.has(data['providerCode']);
  return code === 'model_rate_limit' && data['isUnmeetable'] === true && !hasNoCredit;
}

/** @source names of errors: OpenAI, Anthropic */
const NO_CREDIT: ReadonlySet<unknown> = new Set(['insufficient_quota', 'billing_error']);

/** What one request took, for its receipt. */
export function costsOf(usage: ModelUsage | undefined, model: SummaryModel): Partial<SummaryAttempt> {
  if (usage === undefined) return {};
  const costUsd = model.costOf(usage);
  return {
    inputTokens: usage.input,
    cachedInputTokens: usage.cachedInput,
    outputTokens: usage.output,
    ...(costUsd === undefined ? {} : { costUsd }),
  };
}

/** An answer that says more than this for each token it may take is noise, and is not read to its end. */
const MOST_CHARACTERS_PER_TOKEN = 12;

/** Puts an answer together, and begins again where a request is sent again. */
export class Listener {
  readonly #mostCharacters: number;
  readonly #report: (message: string) => void;
  #texts: string[] = [];
  #heard = 0;
  #said = 0;
  #hasCalls = false;
  #stopReason: StopReason | undefined;
  usage: ModelUsage | undefined;
  retries = 0;

  /** @param answerTokens most that the answer may take */
  constructor(answerTokens: number, report: (message: string) => void) {
    this.#mostCharacters = answerTokens * MOST_CHARACTERS_PER_TOKEN;
    this.#report = report;
  }

  accept(event: ModelEvent): void {
    switch (event.type) {
      case 'restarted':
        this.#texts = [];
        this.#heard = 0;
        this.#said = 0;
        this.#hasCalls = false;
        this.usage = undefined;
        this.retries++;
        this.#report(reconnecting(event));
        return;
      case 'text_delta':
      case 'reasoning_delta':
        this.#heard += event.text.length;
        return;
      case 'item_done':
        if (event.item.type === 'message') this.#add(textOfParts(event.item.content));
        else if (callOf(event.item) !== undefined) this.#hasCalls = true;
        return;
      case 'usage':
        this.usage = event.usage;
        return;
      case 'completed':
        this.#stopReason = event.stopReason;
    }
  }

  #add(text: string): void {
    this.#texts.push(text);
    this.#said += text.length;
  }

  /** Deltas and items say the same twice, but a server may send only one of them. */
  get isNoise(): boolean {
    return Math.max(this.#heard, this.#said) > this.#mostCharacters;
  }

  answer(): ModelAnswer {
    // An answer that was not read to its end is one that was too long.
    const stopReason = this.#stopReason ?? 'output_limit';
    return { text: this.#texts.join('\n\n'), hasCalls: this.#hasCalls, stopReason };
  }
}

/** The message about a request that is sent again. */
export function reconnecting({ retry, maxRetries, why }: RestartedEvent): string {
  return `Reconnecting… ${retry}/${maxRetries} (${why.replace(/\.$/, '')})`;
}

/** The answer to one request. @throws BatonError as `Model.stream` */
export async function listen(
  model: Model,
  request: ModelRequest,
  heard: Listener,
  signal: CancelSignal,
): Promise<ModelAnswer> {
  for await (const event of model.stream(request, signal)) {
    heard.accept(event);
    if (heard.isNoise) break;
  }
  return heard.answer();
}

/** Fires when the user stops the compaction, and when the time for its requests is over. */
export class RequestDeadline implements CancelSignal {
  readonly #listeners = new Set<() => void>();
  readonly #signal: CancelSignal;
  readonly #timer: ReturnType<typeof setTimeout>;
  readonly #fire = (): void => {
    this.isOver = true;
    for (const listener of this.#listeners) listener();
  };
  /** Whether no further request may be sent. */
  isOver: boolean;

  constructor({ signal, deadlineMs }: AskingWorld) {
    this.#signal = signal;
    this.isOver = signal.aborted;
    signal.addEventListener('abort', this.#fire);
    this.#timer = setTimeout(this.#fire, deadlineMs);
  }

  get aborted(): boolean {
    return this.isOver;
  }

  addEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.add(listener);
  }

  removeEventListener(_: 'abort', listener: () => void): void {
    this.#listeners.delete(listener);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#signal.removeEventListener('abort', this.#fire);
  }
}
