// Scrolling through more rows than fit.

import type { Line } from '../lines/line.ts';
import type { KeyPress } from './panel.ts';

/** What is scrolled, in rows. */
export interface Scrolled {
  readonly total: number;
  readonly room: number;
}

/** The first row shown, within what there is. */
export function clampTop(top: number, { total, room }: Scrolled): number {
  return Math.max(0, Math.min(top, total - room));
}

/** The first row shown after a key; undefined: the key does not scroll. One row of a page is repeated on the next. */
export function scrolledTop(top: number, { key, text }: KeyPress, size: Scrolled): number | undefined {
  const page = Math.max(1, size.room - 1);
  switch (key === 'space' || text === ' ' ? 'pageDown' : key) {
    case 'up':
      return clampTop(top - 1, size);
    case 'down':
      return clampTop(top + 1, size);
    case 'pageUp':
      return clampTop(top - page, size);
    case 'pageDown':
      return clampTop(top + page, size);
    case 'home':
      return 0;
    case 'end':
      return clampTop(size.total, size);
    default:
      return undefined;
  }
}

/** The rows that are shown. */
export function shownRows(rows: readonly Line[], top: number, room: number): readonly Line[] {
  const from = clampTop(top, { total: rows.length, room });
  return rows.slice(from, from + room);
}

/** `rows 1-20 of 57`; undefined if all are shown. */
export function placeOf(top: number, { total, room }: Scrolled): string | undefined {
  if (total <= room) return undefined;
  const from = clampTop(top, { total, room });
  return `rows ${from + 1}-${from + room} of ${total}`;
}
