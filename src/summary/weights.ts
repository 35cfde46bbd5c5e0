// How much the names of a trail weigh.

import type { Trail } from '../trail/trail.ts';

/** Weights in units of a strong identifier: the mean of the fifty heaviest. */
export function unitWeights(trail: Trail): Map<string, number> {
  const strong = trail.identifiers.slice(0, 50);
  const mean = strong.reduce((sum, { weight }) => sum + weight, 0) / Math.max(1, strong.length);
  return new Map(trail.identifiers.map(({ text, weight }) => [text, weight / (mean || 1)]));
}

/**
 * Least weight, relative to a strong name, with which a name keeps its row in a listing: with 0.05 two thirds of the rows stay,
 * with 0.2 recall falls by 0.001. @source docs/decisions/summary.md
 */
const LEAST_WEIGHT = 0.1;

/** The names that keep their row in a listing. */
export function namesThatCount(trail: Trail): ReadonlySet<string> {
  const weights = [...unitWeights(trail)];
  return new Set(weights.flatMap(([name, weight]) => (weight >= LEAST_WEIGHT ? [name] : [])));
}
