// A list with a cursor. It shows the items around the cursor, so it needs no memory of where it was scrolled to.

import type { Canvas, Line } from '../lines/line.ts';
import { cut } from '../lines/wrap.ts';
import { signsOf } from '../lines/signs.ts';
import type { KeyPress } from './panel.ts';

/** Items that Page Up and Page Down skip where rows per item differ. @source the list of commands of Codex, 8 rows */
const PAGE = 8;

/**
 * Where a key moves the cursor: the arrows, Home, End and the page keys, without going around.
 * @returns undefined for any other key
 */
export function movedCursor(cursor: number, count: number, { key }: KeyPress): number | undefined {
  const last = Math.max(0, count - 1);
  switch (key) {
    case 'up':
    case 'ctrl+p':
      return Math.max(0, cursor - 1);
    case 'down':
    case 'ctrl+n':
      return Math.min(last, cursor + 1);
    case 'pageUp':
      return Math.max(0, cursor - PAGE);
    case 'pageDown':
      return Math.min(last, cursor + PAGE);
    case 'home':
      return 0;
    case 'end':
      return last;
    default:
      return undefined;
  }
}

/** How to show a list. */
export interface ListView {
  readonly cursor: number;
  /** Rows. */
  readonly room: number;
  /** The cursor is elsewhere: no item is marked. */
  readonly isIdle?: boolean;
}

/** The columns before each item, which hold the pointer. */
export const GUTTER = 2;

/** The rows of the items around the cursor. Each item is at least one row; rows that are too long are cut. */
export function listLines(
  canvas: Canvas,
  items: readonly (readonly Line[])[],
  { cursor, room, isIdle = false }: ListView,
): readonly Line[] {
  const { from, to } = windowAround(items, cursor, room);
  const { pointer, ellipsis } = signsOf(canvas);
  const rows = items.slice(from, to).flatMap((item, offset) => {
    const isCurrent = !isIdle && from + offset === cursor;
    return item.map((row, index): Line => {
      const head = isCurrent && index === 0 ? pointer.padEnd(GUTTER) : ' '.repeat(GUTTER);
      const shown = isCurrent && index === 0 ? row.map((span) => ({ ...span, isBold: true })) : row;
      return cut([{ text: head, hue: 'accent' }, ...shown], canvas.width, ellipsis);
    });
  });
  return rows.slice(0, Math.max(0, room));
}

/** The closed-open range of items that fit with the cursor in the middle, or all at one end. */
function windowAround(
  items: readonly (readonly Line[])[],
  cursor: number,
  room: number,
): { readonly from: number; readonly to: number } {
  const rows = (index: number): number => items[index]?.length ?? Number.POSITIVE_INFINITY;
  let from = cursor;
  let to = Math.min(cursor + 1, items.length);
  let used = from < to ? rows(from) : 0;
  let isTurnAbove = true;
  for (;;) {
    const fitsAbove = from > 0 && used + rows(from - 1) <= room;
    const fitsBelow = to < items.length && used + rows(to) <= room;
    if (!fitsAbove && !fitsBelow) return { from, to };
    if (fitsAbove && (isTurnAbove || !fitsBelow)) used += rows(--from);
    else used += rows(to++);
    isTurnAbove = !isTurnAbove;
  }
}
