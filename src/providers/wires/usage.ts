// Validates the usage that a provider reports.

import type { ModelUsage } from '../../protocol/model.ts';

/** More tokens than any request uses: fifty times the largest window. @source windows: tokens/models.ts */
const MOST_TOKENS = 100_000_000;

/** A plausible usage, with its parts within the whole; undefined for any other. */
export function possibleUsage(usage: ModelUsage): ModelUsage | undefined {
  const { input, output, cachedInput, cacheWrite, reasoningOutput } = usage;
  const counts = [input, output, cachedInput, cacheWrite, reasoningOutput];
  if (!counts.every((count) => Number.isInteger(count) && count >= 0 && count <= MOST_TOKENS))
    return undefined;
  return {
    ...usage,
    cachedInput: Math.min(cachedInput, input),
    cacheWrite: Math.min(cacheWrite, input - Math.min(cachedInput, input)),
    reasoningOutput: Math.min(reasoningOutput, output),
  };
}
