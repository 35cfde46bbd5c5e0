// Tables in boxes. Columns shrink and wrap until the table fits; where they would be too narrow, each cell has its own line. Pure.

import { line, type Line, type Sheet } from '../line.ts';
import { lineWidth, wrap } from '../wrap.ts';
import { cellsOf } from './blocks.ts';
import { inlineLines } from './inline.ts';

/** Columns of text that a cell needs to be read as one. @source a short word, and tables of six columns at 80 */
const LEAST_CELL = 7;

/** Sides of a box. */
interface Box {
  readonly across: string;
  readonly down: string;
  /** Left end, crossing, right end. */
  readonly top: string;
  readonly middle: string;
  readonly bottom: string;
}

const UNICODE: Box = { across: '─', down: '│', top: '┌┬┐', middle: '├┼┤', bottom: '└┴┘' };
const ASCII: Box = { across: '-', down: '|', top: '+++', middle: '+++', bottom: '+++' };

type Alignment = 'left' | 'center' | 'right';
type TableCell = readonly Line[];

/** Draws a table. @param source its rows as in Markdown: header, dashes, cells */
export function tableLines(source: string, { width, hasUnicode }: Sheet): readonly Line[] {
  const [header = '', dashes = '', ...body] = source.split('\n');
  const names = cellsOf(header);
  const alignments = cellsOf(dashes).map(alignmentOf);
  const head = names.map((name) => inlineLines(name, { isBold: true }));
  const rows = body.map((row) => {
    const cells = cellsOf(row);
    return names.map((_, column) => inlineLines(cells[column] ?? ''));
  });
  const natural = names.map((_, column) =>
    Math.max(1, ...[head, ...rows].flatMap((row) => (row[column] ?? []).map(lineWidth))),
  );
  const widths = fit(natural, width - 3 * names.length - 1);
  if (widths === undefined) return fieldLines(head, rows, { width, hasUnicode });
  const box = hasUnicode ? UNICODE : ASCII;
  const rule = (ends: string): Line =>
    line(
      (ends[0] ?? '') + widths.map((each) => box.across.repeat(each + 2)).join(ends[1]) + (ends[2] ?? ''),
      { hue: 'quiet' },
    );
  const drawn = [head, ...rows].map((row) => row.map((cell, column) => wrapCell(cell, widths[column] ?? 1)));
  const hasTall = drawn.slice(1).some((row) => row.some((cell) => cell.length > 1));
  const lines: Line[] = [rule(box.top)];
  for (const [index, row] of drawn.entries()) {
    if (index === 1 || (index > 1 && hasTall)) lines.push(rule(box.middle));
    const height = Math.max(1, ...row.map((cell) => cell.length));
    for (let at = 0; at < height; at++) {
      lines.push([
        ...row.flatMap((cell, column): Line => [
          { text: column === 0 ? `${box.down} ` : ` ${box.down} `, hue: 'quiet' },
          ...aligned(cell[at] ?? [], widths[column] ?? 1, alignments[column] ?? 'left'),
        ]),
        { text: ` ${box.down}`, hue: 'quiet' },
      ]);
    }
  }
  return [...lines, rule(box.bottom)];
}

function alignmentOf(dashes: string): Alignment {
  if (!dashes.endsWith(':')) return 'left';
  return dashes.startsWith(':') ? 'center' : 'right';
}

function wrapCell(cell: TableCell, width: number): TableCell {
  return cell.flatMap((each) => wrap(each, { width }));
}

/**
 * Gives narrow columns what they need and divides the rest among the others.
 * @returns undefined if a column would be too narrow to read
 */
function fit(natural: readonly number[], room: number): readonly number[] | undefined {
  const widths = natural.map(() => 0);
  let open = natural.map((_, column) => column);
  let left = room;
  for (;;) {
    const share = Math.floor(left / open.length);
    const narrow = open.filter((column) => (natural[column] ?? 0) <= share);
    if (narrow.length === 0) {
      if (share < LEAST_CELL) return undefined;
      for (const [index, column] of open.entries()) {
        widths[column] = share + (index < left - share * open.length ? 1 : 0);
      }
      return widths;
    }
    for (const column of narrow) {
      widths[column] = natural[column] ?? 0;
      left -= natural[column] ?? 0;
    }
    open = open.filter((column) => !narrow.includes(column));
    if (open.length === 0) return widths;
  }
}

function aligned(text: Line, width: number, alignment: Alignment): Line {
  const free = Math.max(0, width - lineWidth(text));
  const before = { left: 0, center: free >> 1, right: free }[alignment];
  return [...line(' '.repeat(before)), ...text, ...line(' '.repeat(free - before))];
}

/** `Name: value`, a line for each cell, and a short rule between rows. */
function fieldLines(
  head: readonly TableCell[],
  rows: readonly (readonly TableCell[])[],
  { width, hasUnicode }: Sheet,
): readonly Line[] {
  const rule = line((hasUnicode ? '─' : '-').repeat(Math.min(3, width)), { hue: 'quiet' });
  if (rows.length === 0) return head.flatMap((name) => wrapCell(name, width));
  return rows.flatMap((row, index) => [
    ...(index === 0 ? [] : [rule]),
    ...row.flatMap((cell, column) => {
      const text: Line = [
        ...(head[column] ?? []).flatMap((each) => each),
        { text: ': ', isBold: true },
        ...cell.flatMap((each, at) => (at === 0 ? each : [{ text: ' ' }, ...each])),
      ];
      return wrap(text, { width, hanging: line('  ') });
    }),
  ]);
}
