// What a call changed in files, as rows of a diff without context.

import type { FileAction } from './calls.ts';
import type { TextReplacement } from './known-text.ts';
import { ELLIPSIS, headLines } from '../../text/sentences.ts';

/** Most removed rows shown for one place of a file: the new text matters more. */
const SHOWN_REMOVED = 3;

/**
 * The changes of one call, row by row: `- ` marks removed rows, `+ ` added rows, `~ ` the commands of a script. A path precedes
 * them if files are changed in different ways, and a count replaces omitted rows. Undefined if the call does not show its
 * changes.
 * @param limit characters
 */
export function changedRows(files: readonly FileAction[], limit: number): string | undefined {
  const changed = files.map((file) => ({ file, rows: rowsOf(file) })).filter(({ rows }) => rows.length > 0);
  if (changed.length === 0) return undefined;
  const [first, ...others] = changed;
  const isOfOne = others.every(({ rows: own }) => own.join('\n') === first?.rows.join('\n'));
  const rows = isOfOne
    ? (first?.rows ?? [])
    : changed.flatMap(({ file, rows: own }) => [`${file.path}:`, ...own]);
  const text = rows.join('\n');
  if (text.length <= limit) return text;
  const head = headLines(text, limit);
  return [head, ...moreRows(representedRows(rows.slice(head.split('\n').length)))].join('\n');
}

const MORE = /^(?:- )?… \((\d+) more\)$/;

/** How many rows of a change a displayed row represents: a mark counts as the rows it omits, a lone brace as none. */
export function representedRows(rows: readonly string[]): number {
  return rows.reduce((sum, row) => sum + (omittedRows(row) ?? (/\w/.test(row.slice(2)) ? 1 : 0)), 0);
}

/** How many rows are omitted, if a row is a mark for that. */
export function omittedRows(row: string): number | undefined {
  const count = row.includes(ELLIPSIS) ? MORE.exec(row)?.[1] : undefined;
  return count === undefined ? undefined : Number(count);
}

/** The row that counts omitted rows; `leftOut` parses it. */
export function moreMark(count: number): string {
  return `${ELLIPSIS} (${count} more)`;
}

/** The same as an array; empty for a count of 0. */
export function moreRows(count: number, mark = ''): readonly string[] {
  return count === 0 ? [] : [`${mark}${moreMark(count)}`];
}

/** Whether a row says at how many places a change was made. */
export function saysWhere(row: string): boolean {
  return row.startsWith(AT_PLACES) || row === EVERYWHERE;
}

const AT_PLACES = `${ELLIPSIS} (the same at `;
const EVERYWHERE = `${ELLIPSIS} (wherever it stood)`;

function rowsOf({ action, added = '', replaced = [], how, isEverywhere }: FileAction): readonly string[] {
  if (action === 'read') return [];
  if (how !== undefined) return filled(how).rows.map((row) => `~ ${row}`);
  const rows = (replaced.length > 0 ? replaced : [{ old: '', new: added }]).flatMap(differingRows);
  return isEverywhere === true && rows.length > 0 ? [...rows, EVERYWHERE] : rows;
}

function differingRows(place: Pick<TextReplacement, 'old' | 'new'>): readonly string[] {
  const [old, fresh] = [filled(place.old), filled(place.new)];
  const removed = without(old, fresh).map((row) => `- ${row}`);
  const added = without(fresh, old).map((row) => `+ ${row}`);
  if (isOneEdit(removed, added))
    return [...removed.slice(0, 1), ...added.slice(0, 1), `${AT_PLACES}${added.length} places)`];
  const more = moreRows(representedRows(removed.slice(SHOWN_REMOVED)), '- ');
  return [...removed.slice(0, SHOWN_REMOVED), ...more, ...added];
}

/** From this many places on, one edit of them all is shown once: two are as short as the mark. */
const ALIKE = 3;

/** Whether the same edit turned each removed row into its replacement. */
function isOneEdit(removed: readonly string[], added: readonly string[]): boolean {
  if (added.length < ALIKE || removed.length !== added.length) return false;
  const edit = editOf(removed[0] ?? '', added[0] ?? '');
  return edit !== undefined && added.every((row, at) => editOf(removed[at] ?? '', row) === edit);
}

/** What an edit did inside a row; undefined if it left nothing of it. */
function editOf(removed: string, added: string): string | undefined {
  const [old, fresh] = [removed.slice(2).trim(), added.slice(2).trim()];
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && old[head] === fresh[head]) head++;
  let tail = 0;
  while (tail < shorter - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++;
  if (head + tail === 0) return undefined;
  return `${old.slice(head, old.length - tail)}\n${fresh.slice(head, fresh.length - tail)}`;
}

/** The non-blank rows of a text, each with its text without indentation. */
interface FilledRows {
  readonly rows: readonly string[];
  readonly trimmed: readonly string[];
}

function filled(text: string): FilledRows {
  const rows: string[] = [];
  const trimmed: string[] = [];
  for (const row of text.split('\n')) {
    const bare = row.trim();
    if (bare === '' || bare === ELLIPSIS) continue;
    rows.push(row);
    trimmed.push(bare);
  }
  return { rows, trimmed };
}

/** The rows that do not occur among others, ignoring indentation. */
function without({ rows, trimmed }: FilledRows, others: FilledRows): readonly string[] {
  const known = new Set(others.trimmed);
  return rows.filter((_, at) => !known.has(trimmed[at] ?? ''));
}
