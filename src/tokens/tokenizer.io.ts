import { setImmediate } from 'node:timers/promises';
import { BatonError } from '../errors.ts';
import type { CountText } from './estimate.ts';
import { boundedCounter, countSlices } from './precise.ts';

/** An exact counter, in two forms. */
export interface Tokenizer {
  /** Counts synchronously; a megabyte takes about 60 ms. */
  readonly count: CountText;
  /**
   * Counts texts in turns between which the process can do other work, and remembers the counts: `count` of the same texts
   * costs next to nothing afterwards.
   * @throws BatonError `interrupted` when `signal` fires
   */
  readonly countAhead: (texts: Iterable<string>, signal?: AbortSignal) => Promise<void>;
}

/** Longest turn, in milliseconds. @source docs/benchmarks.md: no turn over 50 ms, and a slice may start just before the end */
const TURN_MS = 20;

/** Shorter texts are counted faster than they are looked up, in characters. @source measured with Node 20 */
const LEAST_REMEMBERED = 256;

/**
 * Loads the exact tokenizer (o200k). It costs about 0.1 s and 60 MB, so only callers that need exact counts load it.
 * @throws BatonError `tokenizer_missing` when the optional package is not installed
 */
export async function loadTokenizer(): Promise<CountText> {
  return boundedCounter(await loadCounter());
}

/**
 * The same for a large context in a program that must stay responsive.
 * @throws BatonError `tokenizer_missing`
 */
export async function loadPatientTokenizer(): Promise<Tokenizer> {
  return patientCounter(await loadCounter());
}

/**
 * Makes a tokenizer yield between slices.
 * @param countSlice counts a slice without long runs; must not throw on special tokens
 */
export function patientCounter(countSlice: CountText): Tokenizer {
  const known = new Map<string, number>();
  const countNow = boundedCounter(countSlice);
  return {
    count: (text) => (text.length < LEAST_REMEMBERED ? undefined : known.get(text)) ?? countNow(text),
    async countAhead(texts, signal) {
      let turnStarted = performance.now();
      for (const text of texts) {
        if (text.length < LEAST_REMEMBERED || known.has(text)) continue;
        let tokens = 0;
        for (const counted of countSlices(text, countSlice)) {
          tokens += counted;
          if (performance.now() - turnStarted < TURN_MS) continue;
          await setImmediate();
          if (signal?.aborted === true) throw new BatonError('interrupted', 'Interrupted');
          turnStarted = performance.now();
        }
        known.set(text, tokens);
      }
    },
  };
}

async function loadCounter(): Promise<CountText> {
  const tokenizer = await import('gpt-tokenizer/encoding/o200k_base').catch((cause: unknown) => {
    throw new BatonError('tokenizer_missing', 'The exact tokenizer (gpt-tokenizer) is not installed', {
      cure: 'Install it with `npm install gpt-tokenizer`, or do without exact counts.',
      cause,
    });
  });
  const options = { disallowedSpecial: new Set<string>() };
  return (text) => tokenizer.countTokens(text, options);
}
