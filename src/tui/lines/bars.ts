// Bars: how much of a whole its parts take. Each part has its own sign, because a terminal may have no colours. Pure.

import { apportion } from '../../text/apportion.ts';
import type { Canvas, Hue, Line, Sheet } from './line.ts';

/** A part of a bar. */
export interface BarPart {
  /** In any unit, not negative. */
  readonly size: number;
  readonly hue?: Hue;
}

/** What parts are drawn with, in turn, from the first part on. */
const SIGNS = { unicode: ['█', '▓', '▒', '▚', '▞', '▤'], ascii: ['#', '=', '+', '%', 'o', '~'] } as const;

/** What is free. */
const FREE = { unicode: '░', ascii: '.' } as const;

/** The sign of a part of a bar, for its legend. @param index of the part, from 0; after the sixth the signs repeat */
export function partSign(index: number, { hasUnicode }: Pick<Canvas, 'hasUnicode'>): string {
  const signs = SIGNS[hasUnicode ? 'unicode' : 'ascii'];
  return signs[index % signs.length] ?? '';
}

/** The sign of what no part takes, for a legend. */
export function freeSign({ hasUnicode }: Pick<Canvas, 'hasUnicode'>): string {
  return FREE[hasUnicode ? 'unicode' : 'ascii'];
}

/**
 * A bar of exactly `width` columns. A part above 0 has at least a column, as far as there are columns; what no part takes is drawn
 * as free. Parts that exceed the whole fill the bar by their share of each other.
 */
export function partsBar(parts: readonly BarPart[], whole: number, { width, hasUnicode }: Sheet): Line {
  const used = parts.reduce((sum, { size }) => sum + size, 0);
  const all = Math.max(whole, used);
  const columns = [...apportion([...parts.map(({ size }) => size), all - used], { whole: all, of: width })];
  for (const [index, { size }] of parts.entries()) {
    if (size <= 0 || (columns[index] ?? 0) > 0) continue;
    const widest = columns.indexOf(Math.max(...columns));
    if ((columns[widest] ?? 0) < 2) break;
    columns[widest] = (columns[widest] ?? 0) - 1;
    columns[index] = 1;
  }
  const taken = columns.slice(0, -1).reduce((sum, each) => sum + each, 0);
  return [
    ...parts.map(({ hue }, index) => ({
      text: partSign(index, { hasUnicode }).repeat(columns[index] ?? 0),
      ...(hue === undefined ? {} : { hue }),
    })),
    { text: freeSign({ hasUnicode }).repeat(Math.max(0, width - taken)), hue: 'quiet' as const },
  ].filter(({ text }) => text !== '');
}
