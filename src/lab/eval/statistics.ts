// Means over files and their bootstrap intervals. A file is the unit: cuts of one session resemble each other.

import { chanceFrom } from './chance.ts';

/** A mean with its evidence. */
export interface Estimate {
  /** Mean over files of the mean over the cuts of a file. */
  readonly mean: number;
  /** Bootstrap interval (95 %) over files; absent with fewer than two files. */
  readonly interval?: readonly [low: number, high: number];
  readonly files: number;
  readonly cuts: number;
}

/** @source the usual number for percentile intervals; more change the third decimal only. */
const RESAMPLES = 2_000;

/** Arithmetic mean; 0 for no values. */
export function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Estimates a mean from values grouped by file; files without a value do not count. Undefined when no file has one.
 * @param seed distinguishes this estimate's resampling from others
 */
export function estimate(byFile: readonly (readonly number[])[], seed: string): Estimate | undefined {
  const counted = byFile.filter((values) => values.length > 0);
  if (counted.length === 0) return undefined;
  // Sorted, so that the order in which files are named cannot show in the last digits.
  const means = counted.map(mean).toSorted((a, b) => a - b);
  const cuts = counted.reduce((sum, values) => sum + values.length, 0);
  const interval = means.length < 2 ? {} : { interval: bootstrap(means, seed) };
  return { mean: mean(means), ...interval, files: means.length, cuts };
}

function bootstrap(means: readonly number[], seed: string): readonly [number, number] {
  const chance = chanceFrom(seed, 'bootstrap');
  const resampled = new Float64Array(RESAMPLES);
  for (let round = 0; round < RESAMPLES; round++) {
    let sum = 0;
    for (let draw = 0; draw < means.length; draw++) sum += means[Math.floor(chance() * means.length)] ?? 0;
    resampled[round] = sum / means.length;
  }
  resampled.sort();
  const at = (share: number) => resampled[Math.round(share * (RESAMPLES - 1))] ?? 0;
  return [at(0.025), at(0.975)];
}
