// What a command printed, as a terminal would show it: the last state of a progress bar, and no colours. Pure.

import { line, type Line, type Sheet } from './line.ts';
import { shown, widthOf, wrap } from './wrap.ts';

/** Colours and weights: `ESC [ … m`. Other sequences stay, and are shown as text. */
// oxlint-disable-next-line no-control-regex
const STYLES = /\u001B\[[0-9;:]*m/g;

/** What moves the cursor inside a line: carriage return, backspace, tab, "erase the line" and "erase to its end". */
// oxlint-disable-next-line no-control-regex
const MOVES = /([\r\b\t]|\u001B\[[02]?K)/;

/** @source the default of terminals */
const TAB_STOP = 8;

/** Characters of a line that are looked at. @source four screens of 80 × 24 */
const LONGEST_LINE = 8_000;

/** A line of output as a terminal would show it at the end, without styles. */
export function settledLine(raw: string): string {
  const text = raw.replaceAll(STYLES, '');
  if (!MOVES.test(text)) return text;
  // Each cell is a column. A wide character has an empty second one.
  const cells: string[] = [];
  let column = 0;
  for (const piece of text.split(MOVES)) {
    if (piece === '\r') column = 0;
    else if (piece === '\b') column = Math.max(0, column - 1);
    else if (piece === '\t') column += TAB_STOP - (column % TAB_STOP);
    else if (MOVES.test(piece)) cells.length = piece.includes('2') ? 0 : Math.min(cells.length, column);
    else column = overwrite(cells, column, piece);
  }
  return Array.from(cells, (cell) => cell ?? ' ')
    .join('')
    .trimEnd();
}

function overwrite(cells: string[], start: number, text: string): number {
  let column = start;
  for (const { segment } of new Intl.Segmenter().segment(shown(text))) {
    const width = widthOf(segment);
    if (width === 0 && column > 0) {
      cells[column - 1] += segment;
      continue;
    }
    // Half of a wide character that is written over vanishes.
    if (cells[column] === '' && column > 0) cells[column - 1] = ' ';
    if (cells[column + width] === '') cells[column + width] = ' ';
    cells[column] = segment;
    if (width === 2) cells[column + 1] = '';
    column += width;
  }
  return column;
}

/** Lines of a text from a place on; the last one only if it has text. */
function countLines(text: string, from: number): number {
  let count = 0;
  let start = from;
  while (start < text.length) {
    count++;
    const end = text.indexOf('\n', start);
    if (end < 0) break;
    start = end + 1;
  }
  return count;
}

function rowsOf(raw: string, width: number): readonly Line[] {
  return wrap(line(settledLine(raw)), { width, isVerbatim: true });
}

function remark(text: string, { width, hasUnicode }: Sheet): Line {
  return wrap(line(`${hasUnicode ? '…' : '...'} ${text}`, { hue: 'quiet' }), { width })[0] ?? [];
}

function counted(count: number, kind: 'earlier' | 'more'): string {
  return `${count} ${kind} ${count === 1 ? 'line' : 'lines'}`;
}

/**
 * The end of an output: `rows` rows at most, below a row that counts the lines before them. Only what is shown is read, so the
 * cost does not depend on how much was printed, except for counting lines.
 */
export function tailLines(text: string, rows: number, canvas: Sheet): readonly Line[] {
  const kept: Line[] = [];
  let before = text.length;
  while (before > 0 && kept.length < rows) {
    const end = before === text.length && !text.endsWith('\n') ? before : before - 1;
    const start = end === 0 ? 0 : text.lastIndexOf('\n', end - 1) + 1;
    const own = rowsOf(text.slice(Math.max(start, end - LONGEST_LINE), end), canvas.width);
    kept.unshift(...own.slice(Math.max(0, own.length - (rows - kept.length))));
    before = start;
  }
  if (before === 0) return kept;
  return [remark(counted(countLines(text.slice(0, before), 0), 'earlier'), canvas), ...kept];
}

/** The beginning of an output: `rows` rows at most, above a row that counts the lines after them. */
export function headLines(text: string, rows: number, canvas: Sheet): readonly Line[] {
  const kept: Line[] = [];
  let start = 0;
  while (start < text.length && kept.length < rows) {
    const next = text.indexOf('\n', start);
    const end = next < 0 ? text.length : next;
    const own = rowsOf(text.slice(start, Math.min(end, start + LONGEST_LINE)), canvas.width);
    kept.push(...own.slice(0, rows - kept.length));
    start = end + 1;
  }
  const left = countLines(text, start);
  return left === 0 ? kept : [...kept, remark(counted(left, 'more'), canvas)];
}
