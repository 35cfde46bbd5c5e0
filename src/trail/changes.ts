// What a call changed in files, as rows of a diff without its context.

import type { FileAction } from './calls.ts';
import type { Replacement } from './known-text.ts';
import { ELLIPSIS, headLines } from './sentences.ts';

/** Characters of a text that are read. */
const READ_LENGTH = 12_000;

/** Rows that one place of a file loses which are told: what stands there now tells more. */
const SHOWN_REMOVED = 3;

/**
 * What the actions of one call change, row by row: `- ` before what goes, `+ ` before what comes, `~ ` before what a script
 * was told to do to the file, and the path above where files are changed in different ways. Undefined where the call does not tell.
 * @param limit characters
 */
export function changedRows(files: readonly FileAction[], limit: number): string | undefined {
  const changed = files.map((file) => ({ file, rows: rowsOf(file) })).filter(({ rows }) => rows.length > 0);
  if (changed.length === 0) return undefined;
  const [first] = changed;
  const isOfOne = changed.every(({ rows: own }) => own.join('\n') === first?.rows.join('\n'));
  const rows = isOfOne
    ? (first?.rows ?? [])
    : changed.flatMap(({ file, rows: own }) => [`${file.path}:`, ...own]);
  return headLines(rows.join('\n'), limit);
}

function rowsOf({ action, added = '', replaced = [], how }: FileAction): readonly string[] {
  if (action === 'read') return [];
  if (how !== undefined) return filled(how).map((row) => `~ ${row}`);
  return (replaced.length > 0 ? replaced : [{ old: '', new: added }]).flatMap(differingRows);
}

function differingRows(place: Pick<Replacement, 'old' | 'new'>): readonly string[] {
  const [old, fresh] = [filled(place.old), filled(place.new)];
  const removed = without(old, fresh);
  const more = removed.length > SHOWN_REMOVED ? [`- ${ELLIPSIS}`] : [];
  return [
    ...removed.slice(0, SHOWN_REMOVED).map((row) => `- ${row}`),
    ...more,
    ...without(fresh, old).map((row) => `+ ${row}`),
  ];
}

function filled(text: string): readonly string[] {
  return text
    .slice(0, READ_LENGTH)
    .split('\n')
    .filter((row) => row.trim() !== '' && row.trim() !== ELLIPSIS);
}

/** The rows that stand nowhere among others, whatever their indentation. */
function without(rows: readonly string[], others: readonly string[]): readonly string[] {
  const known = new Set(others.map((row) => row.trim()));
  return rows.filter((row) => !known.has(row.trim()));
}
