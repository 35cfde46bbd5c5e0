// The cost of a play's requests, with the prompt cache as a provider would run it.

import { costOf, priceOf } from '../../tokens/prices.ts';

/** A provider forgets a prefix without requests for this long. @source Anthropic's and OpenAI's documented 5 minutes */
const CACHE_LIFETIME_MS = 5 * 60_000;

/** Counts in tokens. `cached` is part of `input`. */
export interface Bill {
  readonly requests: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** US dollars; undefined if the model of a request has no price. */
  readonly usd: number | undefined;
}

/** A request to bill. */
export interface BilledRequest {
  readonly atMs: number;
  readonly model: string | undefined;
  readonly inputTokens: number;
  /** Its instructions or tools differ from the last request's: the cache does not apply, nor for the next request. */
  readonly hasOwnPrefix?: boolean;
}

/** Bills requests in order. A context only grows between two of them, unless `invalidate` reports a change. */
export class Biller {
  #requests = 0;
  #input = 0;
  #cached = 0;
  #output = 0;
  #usd: number | undefined = 0;
  /** Tokens at the start of the context that the provider has seen. */
  #seen = 0;
  #seenAtMs = -Infinity;
  #model: string | undefined;

  /** Everything from this token on is new to the provider. */
  invalidate(from: number): void {
    this.#seen = Math.min(this.#seen, Math.max(0, Math.floor(from)));
  }

  /** A request is sent. */
  request({ atMs, model, inputTokens, hasOwnPrefix = false }: BilledRequest): void {
    const isForgotten = atMs - this.#seenAtMs > CACHE_LIFETIME_MS || model !== this.#model;
    const cached = isForgotten || hasOwnPrefix ? 0 : Math.min(this.#seen, inputTokens);
    this.#model = model;
    this.#requests++;
    this.#input += inputTokens;
    this.#cached += cached;
    this.#charge({ input: inputTokens, cached, output: 0 });
    if (hasOwnPrefix) return;
    this.#seen = inputTokens;
    this.#seenAtMs = atMs;
  }

  /** Bills the answer, at the price of the last request's model. */
  answer(outputTokens: number): void {
    this.#output += outputTokens;
    this.#charge({ input: 0, cached: 0, output: outputTokens });
  }

  bill(): Bill {
    return {
      requests: this.#requests,
      input: this.#input,
      cached: this.#cached,
      output: this.#output,
      usd: this.#usd,
    };
  }

  #charge(tokens: { readonly input: number; readonly cached: number; readonly output: number }): void {
    const price = priceOf(this.#model);
    this.#usd =
      price === undefined || this.#usd === undefined ? undefined : this.#usd + costOf(tokens, price);
  }
}
