// What a thread has cost so far, in tokens.

import type { TokenUsage } from '../protocol/wire/event.ts';
import type { UsageSample } from '../protocol/usage.ts';

/** All requests of a thread together, and the newest one. */
export interface SpentTokens {
  readonly total: TokenUsage;
  /** Undefined before the first. */
  readonly last: TokenUsage | undefined;
}

/** A thread without requests. */
export const NOTHING_SPENT: SpentTokens = {
  total: {
    input_tokens: 0,
    cached_input_tokens: 0,
    output_tokens: 0,
    reasoning_output_tokens: 0,
    total_tokens: 0,
  },
  last: undefined,
};

/** Adds one more request. Estimates, and counts of anything but a request with its answer, change nothing. */
export function addUsage(spent: SpentTokens, sample: UsageSample): SpentTokens {
  if (sample.source !== 'reported' || sample.covers !== 'response') return spent;
  const { total: whole, cachedInput = 0, output = 0, reasoningOutput = 0 } = sample;
  const last: TokenUsage = {
    input_tokens: Math.max(0, whole - output),
    cached_input_tokens: cachedInput,
    output_tokens: output,
    reasoning_output_tokens: reasoningOutput,
    total_tokens: whole,
  };
  const { total } = spent;
  return {
    total: {
      input_tokens: total.input_tokens + last.input_tokens,
      cached_input_tokens: total.cached_input_tokens + last.cached_input_tokens,
      output_tokens: total.output_tokens + last.output_tokens,
      reasoning_output_tokens: total.reasoning_output_tokens + last.reasoning_output_tokens,
      total_tokens: total.total_tokens + last.total_tokens,
    },
    last,
  };
}
