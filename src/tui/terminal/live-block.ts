// What changes at the bottom of the terminal, and the bytes that bring it from one frame to the next. Everything above it is
// scrollback: written once, never touched again. Pure.

import { widthOf } from '../lines/wrap.ts';

/** Where the cursor blinks, relative to the block. */
export interface CursorPlace {
  readonly row: number;
  readonly column: number;
}

/** What the terminal should show next. */
export interface NextFrame {
  /** Painted rows that are finished: they enter the scrollback above the block. */
  readonly finished: readonly string[];
  /** Painted rows of the block, each no wider than the terminal. */
  readonly rows: readonly string[];
  /** Undefined: hidden. */
  readonly cursor: CursorPlace | undefined;
}

const ESC = '\u001B';
/** A terminal that knows it shows the bytes between them at once. @source reference: synchronized output, mode 2026 */
const BEGIN = `${ESC}[?2026h`;
const END = `${ESC}[?2026l`;

// oxlint-disable-next-line no-control-regex
const STYLE = /\u001B\[[\d;]{0,30}m/g;

/** The block on the terminal. */
export class LiveBlock {
  #rows: readonly string[] = [];
  /** The row of the block in which the cursor is. */
  #at = 0;
  #cursor: string | undefined = '';

  /** Rows that the block takes. */
  get height(): number {
    return this.#rows.length;
  }

  /** The bytes that show a frame; empty if it is shown already. */
  show({ finished, rows, cursor }: NextFrame): string {
    const place = cursor === undefined ? '' : `${cursor.row}:${cursor.column}`;
    const isSame = rows.length === this.#rows.length && rows.every((row, at) => row === this.#rows[at]);
    if (finished.length === 0 && isSame && place === this.#cursor) return '';
    const body = finished.length === 0 && isSame ? '' : this.#draw(finished, rows);
    const from = body === '' ? this.#at : Math.max(0, rows.length - 1);
    this.#rows = rows;
    this.#cursor = place;
    this.#at = cursor === undefined ? from : Math.min(cursor.row, Math.max(0, rows.length - 1));
    const hidden = `${ESC}[?25l`;
    return `${BEGIN}${hidden}${body}${moveRows(this.#at - from)}${placeColumn(cursor)}${END}`;
  }

  /** Another screen has had the cursor: the next frame places it again. */
  forgetCursor(): void {
    this.#cursor = undefined;
  }

  /** Forgets what is on the terminal: the next frame is drawn from the cursor on. */
  forget(): void {
    this.#rows = [];
    this.#at = 0;
    this.#cursor = '';
  }

  /**
   * The bytes that remove the block; the cursor is then where it began.
   * @param columns of a terminal that has become narrower, and has broken the rows that are too wide for it
   */
  clear(columns = Infinity): string {
    const column = Number(this.#cursor?.split(':')[1] ?? 0);
    const above = this.#rows
      .slice(0, this.#at)
      .reduce((sum, row) => sum + Math.max(1, Math.ceil(widthOf(row.replaceAll(STYLE, '')) / columns)), 0);
    const bytes = `${moveRows(-above - Math.floor(column / columns))}\r${ESC}[J`;
    this.forget();
    return bytes;
  }

  #draw(finished: readonly string[], rows: readonly string[]): string {
    const top = `${moveRows(-this.#at)}\r`;
    const isNew = finished.length > 0;
    const above = isNew ? `${ESC}[J${finished.map((row) => `${row}\r\n`).join('')}` : '';
    const before = isNew ? [] : this.#rows;
    const shrinks = before.length > rows.length;
    if (rows.length === 0) return `${top}${above}${shrinks ? `${ESC}[J` : ''}`;
    const drawn = rows.map((row, at) => {
      const isLast = at === rows.length - 1;
      // Below the last row nothing may stay. It is erased first: in the last column, erasing afterwards would take a character.
      if (isLast && shrinks) return `${ESC}[J${row}`;
      if (row === before[at]) return '';
      return at < before.length ? `${ESC}[2K${row}` : row;
    });
    // A row that is too wide, because the terminal measures differently, must not push the others down.
    return `${top}${above}${ESC}[?7l${drawn.join('\r\n')}${ESC}[?7h`;
  }
}

function moveRows(count: number): string {
  if (count === 0) return '';
  return count < 0 ? `${ESC}[${-count}A` : `${ESC}[${count}B`;
}

function placeColumn(cursor: CursorPlace | undefined): string {
  if (cursor === undefined) return '';
  const right = cursor.column === 0 ? '' : `${ESC}[${cursor.column}C`;
  return `\r${right}${ESC}[?25h`;
}
