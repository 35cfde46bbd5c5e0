// The provider's report on the size of a request, which Claude Code records on each line of the answer.

import type { UsageSample } from '../../protocol/usage.ts';
import { isJsonObject } from '../fields.ts';

/**
 * The sample in a message's `usage`: undefined if there is none or all counts are zero (placeholders), 'impossible' if a count
 * is negative or not a number. The total is what was sent; the count of output is that of an unfinished stream.
 */
export function usageSample(usage: unknown): UsageSample | 'impossible' | undefined {
  if (!isJsonObject(usage)) return undefined;
  const fresh = usage['input_tokens'] ?? 0;
  const written = usage['cache_creation_input_tokens'] ?? 0;
  const cachedInput = usage['cache_read_input_tokens'] ?? 0;
  const output = usage['output_tokens'] ?? 0;
  if (!isCount(fresh) || !isCount(written) || !isCount(cachedInput) || !isCount(output)) return 'impossible';
  const total = fresh + written + cachedInput;
  if (total === 0) return undefined;
  return { source: 'reported', covers: 'request', total, cachedInput, output };
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}
