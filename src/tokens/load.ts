import { BatonError } from '../errors.ts';
import type { CountText } from './estimate.ts';
import { boundedCounter } from './precise.ts';

/**
 * Loads the exact tokenizer (o200k); costs about 0.1 s and 60 MB, so only what asks for exact counts calls it.
 * @throws BatonError `tokenizer_missing` when the optional package is not installed
 */
export async function loadTokenizer(): Promise<CountText> {
  const tokenizer = await import('gpt-tokenizer/encoding/o200k_base').catch((cause: unknown) => {
    throw new BatonError('tokenizer_missing', 'The exact tokenizer (gpt-tokenizer) is not installed', {
      cure: 'Install it with `npm install gpt-tokenizer`, or go without exact counts.',
      cause,
    });
  });
  const options = { disallowedSpecial: new Set<string>() };
  return boundedCounter((text) => tokenizer.countTokens(text, options));
}
