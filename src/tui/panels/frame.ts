// The shape that all panels share: a rule with the title, what the panel says, and the keys in the last row.

import type { Canvas, Hue, Line } from '../lines/line.ts';
import { line } from '../lines/line.ts';
import { signsOf } from '../lines/signs.ts';
import { cut, lineWidth, widthOf } from '../lines/wrap.ts';

/** A key and what it does. */
export interface KeyHint {
  readonly keys: string;
  readonly does: string;
  /** Omitted first where the row is too short, the last one before the others. */
  readonly isMinor?: true;
}

/** What a frame holds. */
export interface Framed {
  readonly title: string;
  /** Of the title; absent: `accent`. */
  readonly hue?: Hue;
  /** At the right end of the title's rule, such as `3 of 12`. */
  readonly note?: string;
  /** Loses its last rows where the screen is too small. */
  readonly body: readonly Line[];
  /** Always shown, above the keys. */
  readonly foot?: readonly Line[];
  readonly keys: readonly KeyHint[];
}

/** The rows of a frame that hold neither body nor foot: the title and the keys. */
const FRAME_ROWS = 2;

/** Draws a frame: at most `rows` rows of at most `width` columns. */
export function frame(canvas: Canvas, { title, hue, note, body, foot = [], keys }: Framed): readonly Line[] {
  const { ellipsis } = signsOf(canvas);
  const inside = Math.max(0, canvas.rows - FRAME_ROWS);
  const kept = foot.slice(0, inside);
  const rows = [
    titleRule(canvas, { title, note, hue: hue ?? 'accent' }),
    ...body.slice(0, inside - kept.length),
    ...kept,
    keyRow(canvas, keys),
  ];
  return rows.map((row) => cut(row, canvas.width, ellipsis));
}

/** The rows that a frame leaves for its body. At least 1. */
export function roomFor({ rows }: Canvas, footRows = 0): number {
  return Math.max(1, rows - FRAME_ROWS - footRows);
}

function titleRule(
  canvas: Canvas,
  { title, note, hue }: { readonly title: string; readonly note: string | undefined; readonly hue: Hue },
): Line {
  const { rule, ellipsis } = signsOf(canvas);
  const end = note === undefined ? '' : ` ${note} ${rule.repeat(2)}`;
  // The two ends of the rule and a blank on each side of the title.
  const shown = cut(line(title, { hue, isBold: true }), canvas.width - widthOf(end) - 6, ellipsis);
  const used = lineWidth(shown) + widthOf(end) + 4;
  const between = rule.repeat(Math.max(0, canvas.width - used));
  return [
    { text: `${rule.repeat(2)} `, hue: 'quiet' },
    ...shown,
    { text: ` ${between}${end}`, hue: 'quiet' },
  ];
}

function keyRow(canvas: Canvas, keys: readonly KeyHint[]): Line {
  const between = ` ${signsOf(canvas).dot} `;
  const row = (hints: readonly KeyHint[]): Line =>
    hints.flatMap(({ keys: names, does }, index): Line => [
      ...line(index === 0 ? '' : between, { hue: 'quiet' }),
      { text: names },
      ...line(does === '' ? '' : ` ${does}`, { hue: 'quiet' }),
    ]);
  let hints = keys;
  while (lineWidth(row(hints)) > canvas.width) {
    const last = hints.findLastIndex(({ isMinor }) => isMinor === true);
    if (last === -1) break;
    hints = hints.toSpliced(last, 1);
  }
  return row(hints);
}
