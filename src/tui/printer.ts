// What enters the scrollback, and what must be printed again when the terminal changes its width. Pure.

import type { Cell } from './chat/cell.ts';
import { cellLines, partsFrom } from './chat/cell-lines.ts';
import type { Canvas, Line } from './lines/line.ts';

/** Cells to keep for a new width and for the page with everything: the newest of a long day. */
const MOST_KEPT = 2000;

/** The scrollback, as far as it is Baton's. */
export class Printer {
  #cells: Cell[] = [];
  #rows = 0;
  /** How many rows a cell took when it was printed last. */
  readonly #heights = new WeakMap<Cell, number>();

  /** Rows printed so far, at the widths of their time. */
  get rows(): number {
    return this.#rows;
  }

  get last(): Cell | undefined {
    return this.#cells.at(-1);
  }

  /** The cells of the scrollback, oldest first. */
  get cells(): readonly Cell[] {
    return this.#cells;
  }

  /** The rows that finished cells add to the scrollback. */
  print(cells: readonly Cell[], canvas: Canvas): readonly Line[] {
    const lines: Line[] = [];
    for (const cell of cells) {
      const rows = rowsOf(cell, this.last, canvas);
      if (rows.length === 0) continue;
      lines.push(...rows);
      this.#heights.set(cell, rows.length);
      this.#cells.push(cell);
    }
    if (this.#cells.length > MOST_KEPT) this.#cells = this.#cells.slice(-MOST_KEPT);
    this.#rows += lines.length;
    return lines;
  }

  /** The newest cells once more, as many as fill the screen: better one of them twice than a line lost. */
  reprint(canvas: Canvas): readonly Line[] {
    const pieces: (readonly Line[])[] = [];
    let count = 0;
    for (let at = this.#cells.length - 1; at >= 0 && count < canvas.rows; at--) {
      const cell = this.#cells[at];
      if (cell === undefined) break;
      const rows = rowsOf(cell, this.#cells[at - 1], canvas);
      pieces.push(rows);
      // The screen holds them as they were printed last, which may be fewer rows.
      count += Math.min(rows.length, this.#heights.get(cell) ?? 0);
      this.#heights.set(cell, rows.length);
    }
    return pieces.toReversed().flat();
  }

  /** Every cell with all of its output. */
  everything(canvas: Canvas): readonly Line[] {
    return this.#cells.flatMap((cell, at) => rowsOf(cell, this.#cells[at - 1], canvas, true));
  }
}

function rowsOf(cell: Cell, before: Cell | undefined, canvas: Canvas, isWhole = false): readonly Line[] {
  const rows = cellLines(cell, { canvas, isWhole, now: undefined });
  if (rows.length === 0) return [];
  return partsFrom(cell, before) ? [[], ...rows] : rows;
}
