// Detects a file's format by the content of its lines. The name of a file proves nothing.

import type { JsonObject } from '../protocol/item.ts';
import type { Format } from '../vocabulary.ts';

/** How well a line fits a format: 0 not at all, 1 beyond doubt. */
export type Likeness = (value: JsonObject) => number;

/** A format that Baton does not read but that is easily mistaken for one that it does. */
export interface LookAlike {
  /** What it is, in the user's words. */
  readonly name: string;
  readonly matches: (value: JsonObject) => boolean;
}

/** Most lines examined before the decision. */
export const DETECTION_LINES = 64;

/** Least average likeness of the lines of a recognised format; unknown kinds of lines lower the average. */
const LEAST_LIKENESS = 0.5;

export type Detection =
  { readonly format: Format } | { readonly format: undefined; readonly looksLike: string | undefined };

/** Decides from the first lines of a file. A look-alike that fits most lines wins over a format that fits few. */
export function detectFormat(
  values: readonly JsonObject[],
  likeness: Readonly<Partial<Record<Format, Likeness>>>,
  lookAlikes: readonly LookAlike[],
): Detection {
  const lookAlike = lookAlikes.find(
    ({ matches }) => values.filter(matches).length * 2 > values.length && values.length > 0,
  );
  if (lookAlike !== undefined) return { format: undefined, looksLike: lookAlike.name };
  let best: { format: Format; score: number } | undefined;
  for (const [format, of] of Object.entries(likeness) as [Format, Likeness][]) {
    const score = values.reduce((sum, value) => sum + of(value), 0) / Math.max(1, values.length);
    if (best === undefined || score > best.score) best = { format, score };
  }
  return best !== undefined && best.score >= LEAST_LIKENESS
    ? { format: best.format }
    : { format: undefined, looksLike: undefined };
}
