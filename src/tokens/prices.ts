// What models charge. Prices change and are dated; for a model outside the table Baton counts tokens only.

/** US dollars per million tokens, standard tier, as of `PRICES_AS_OF`. */
export interface ModelPrice {
  /** Input outside the prompt cache. */
  readonly input: number;
  /** Input read from the prompt cache. */
  readonly cachedInput: number;
  /** Input written to the prompt cache; equals `input` if writing costs nothing extra. */
  readonly cacheWrite: number;
  readonly output: number;
}

/** The day on which the table's sources were read. */
export const PRICES_AS_OF = '2026-11-21';

type Row = readonly [prefix: string, input: number, cachedInput: number, cacheWrite: number, output: number];

/**
 * By model name prefix; the longest match counts.
 * @source OpenAI: its pricing page as quoted by comparisons of April to June 2026 and by Codex's rate card of May 2026; writing
 * to its cache is free. Anthropic: platform.claude.com/docs/en/about-claude/pricing, five-minute cache.
 */
const PRICES: readonly Row[] = [
  ['gpt-4.1', 2, 0.5, 2, 8],
  ['gpt-4.1-mini', 0.4, 0.1, 0.4, 1.6],
  ['gpt-4.1-nano', 0.1, 0.025, 0.1, 0.4],
  ['gpt-4o', 2.5, 1.25, 2.5, 10],
  ['gpt-4o-mini', 0.15, 0.075, 0.15, 0.6],
  ['o3', 2, 0.5, 2, 8],
  ['o4-mini', 1.1, 0.275, 1.1, 4.4],
  ['gpt-5', 1.25, 0.125, 1.25, 10],
  ['gpt-5-mini', 0.25, 0.025, 0.25, 2],
  ['gpt-5-nano', 0.05, 0.005, 0.05, 0.4],
  ['gpt-5.2', 1.75, 0.175, 1.75, 14],
  ['gpt-5.3', 1.75, 0.175, 1.75, 14],
  ['gpt-5.4', 2.5, 0.25, 2.5, 15],
  ['gpt-5.4-mini', 0.75, 0.075, 0.75, 4.5],
  ['gpt-5.4-nano', 0.2, 0.02, 0.2, 1.25],
  ['gpt-5.5', 5, 0.5, 5, 30],
  ['claude-3-5-haiku', 0.8, 0.08, 1, 4],
  ['claude-3-7-sonnet', 3, 0.3, 3.75, 15],
  ['claude-opus-4', 15, 1.5, 18.75, 75],
  ['claude-opus-4-1', 15, 1.5, 18.75, 75],
  ['claude-opus-4-5', 5, 0.5, 6.25, 25],
  ['claude-opus-4-6', 5, 0.5, 6.25, 25],
  ['claude-opus-4-7', 5, 0.5, 6.25, 25],
  ['claude-opus-4-8', 5, 0.5, 6.25, 25],
  ['claude-opus-5', 5, 0.5, 6.25, 25],
  ['claude-opus-5-5', 4, 0.2, 5, 20],
  ['claude-sonnet-4', 3, 0.3, 3.75, 15],
  ['claude-sonnet-5', 2, 0.2, 2.5, 10],
  ['claude-sonnet-5-5', 2, 0.1, 2.5, 10],
  ['claude-haiku-4-5', 1, 0.1, 1.25, 5],
];

/** Variants with the prefix of a priced name but without a list price, or with another one. */
const UNPRICED = /-(?:spark|pro|mini|nano|audio|realtime|search)(?:-|$)/;

/** The price of a model; undefined if it is not in the table. Ignores a provider prefix (`google/…`). */
export function priceOf(model: string | undefined): ModelPrice | undefined {
  if (model === undefined) return undefined;
  const name = model.slice(model.lastIndexOf('/') + 1);
  let best: Row | undefined;
  for (const row of PRICES)
    if (name.startsWith(row[0]) && row[0].length > (best?.[0].length ?? 0)) best = row;
  if (best === undefined || UNPRICED.test(name.slice(best[0].length))) return undefined;
  const [, input, cachedInput, cacheWrite, output] = best;
  return { input, cachedInput, cacheWrite, output };
}

/** What a request is billed for. Counts in tokens; `cached` is a part of `input`. */
export interface BilledTokens {
  readonly input: number;
  readonly cached: number;
  readonly output: number;
}

/** US dollars for a request whose uncached input is written to the cache. */
export function costOf({ input, cached, output }: BilledTokens, price: ModelPrice): number {
  return ((input - cached) * price.cacheWrite + cached * price.cachedInput + output * price.output) / 1e6;
}
