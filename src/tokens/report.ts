// Whether a provider can have counted what it reports: one rule for the gauge of a log and for a request that is being paid.

import type { Item } from '../protocol/item.ts';
import type { TokensByCategory } from '../protocol/receipt.ts';
import { sumTokens } from './estimate.ts';
import { formatNumber } from './words.ts';

/**
 * A report below this share of the estimate did not count the content: the smallest of 3,800 real reports is 0.8 of it.
 * @source docs/decisions/gauge.md
 */
const LEAST_REPORTED_SHARE = 1 / 4;

/**
 * The part of an item's estimate that providers may count at much less: images, which they scale, and hidden reasoning, which
 * they drop.
 * @param estimate of the item, by category
 */
export function uncertainTokens({ type }: Item, estimate: TokensByCategory): number {
  const { images = 0, reasoning = 0 } = estimate;
  return type === 'compaction' ? sumTokens(estimate) : images + reasoning;
}

/**
 * Why a report is too small to be true; undefined: it can be true.
 * @param total as reported, tokens
 * @param estimated what the report can have seen, in estimated tokens
 * @param uncertain the sum of the uncertain parts; called only where they decide
 */
export function whyTooSmall(total: number, estimated: number, uncertain: () => number): string | undefined {
  const isPossible = (counted: number): boolean => total >= counted * LEAST_REPORTED_SHARE;
  return isPossible(estimated) || isPossible(estimated - uncertain())
    ? undefined
    : `a usage of ${formatNumber(total)} tokens, where the content comes to about ${formatNumber(Math.round(estimated))}`;
}
