// What items take in a request, in tokens: one measure for previews, receipts, budgets and targets, so that their tables add up.

import type { Entry } from '../history/project.ts';
import type { Item } from '../protocol/item.ts';
import type { TokensByCategory } from '../protocol/receipt.ts';
import { addTokens, itemTokens, sumTokens } from '../tokens/estimate.ts';
import type { CountText, EstimateSettings } from '../tokens/estimate.ts';
import { formatNumber } from '../tokens/words.ts';
import type { Category } from '../vocabulary.ts';
import { MESSAGE_OVERHEAD } from './budget.ts';

/** Tokens of an item by category. The first category includes the overhead of its message; an item that is not sent has none. */
export type Measure = (item: Item) => TokensByCategory;

/** Measures items with a counter of text. */
export function measureWith(count: CountText, estimate: EstimateSettings): Measure {
  return (item) => {
    const split = itemTokens(item, count, estimate);
    const [first] = Object.keys(split) as readonly Category[];
    return first === undefined || sumTokens(split) === 0
      ? split
      : { ...split, [first]: (split[first] ?? 0) + MESSAGE_OVERHEAD };
  };
}

/** Measures each item once: the exact tokenizer is the slowest part of a compaction. */
export function measureOnce(count: CountText, estimate: EstimateSettings): Measure {
  const measure = measureWith(count, estimate);
  const known = new WeakMap<Item, TokensByCategory>();
  return (item) => {
    const split = known.get(item) ?? measure(item);
    known.set(item, split);
    return split;
  };
}

/** Tokens of items as one request. */
export function itemsTokens(items: readonly Item[], measure: Measure): number {
  return items.reduce((tokens, item) => tokens + sumTokens(measure(item)), 0);
}

/** Tokens of entries as one request. */
export function contextTokens(entries: readonly Entry<Item>[], measure: Measure): number {
  return entries.reduce((tokens, { value }) => tokens + sumTokens(measure(value)), 0);
}

/** How many parts are named where a window is full. */
const NAMED_PARTS = 3;

/**
 * `tool results (40,000 tokens), user (9,000 tokens)`: what fills a context most.
 * @param beside tokens of instructions and tools, which are in each request and in no item
 */
export function largestParts(items: readonly Item[], measure: Measure, beside = 0): string {
  const parts: Partial<Record<Category, number>> = {};
  for (const item of items) addTokens(parts, measure(item));
  const fixed = beside === 0 ? {} : { instructions_and_tools: beside };
  return Object.entries({ ...parts, ...fixed })
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, NAMED_PARTS)
    .map(([category, tokens]) => `${category.replaceAll('_', ' ')} (${formatNumber(tokens)} tokens)`)
    .join(', ');
}
