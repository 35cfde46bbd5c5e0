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
  const [first, ...others] = changed;
  const isOfOne = others.every(({ rows: own }) => own.join('\n') === first?.rows.join('\n'));
  const rows = isOfOne
    ? (first?.rows ?? [])
    : changed.flatMap(({ file, rows: own }) => [`${file.path}:`, ...own]);
  const text = rows.join('\n');
  return text.length <= limit ? text : `${headLines(text, limit)}\n${ELLIPSIS}`;
}

function rowsOf({ action, added = '', replaced = [], how }: FileAction): readonly string[] {
  if (action === 'read') return [];
  if (how !== undefined) return filled(how).rows.map((row) => `~ ${row}`);
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

/** The rows of a text that say something, beside each as it reads whatever its indentation. */
interface FilledRows {
  readonly rows: readonly string[];
  readonly trimmed: readonly string[];
}

function filled(text: string): FilledRows {
  const rows: string[] = [];
  const trimmed: string[] = [];
  for (const row of text.slice(0, READ_LENGTH).split('\n')) {
    const bare = row.trim();
    if (bare === '' || bare === ELLIPSIS) continue;
    rows.push(row);
    trimmed.push(bare);
  }
  return { rows, trimmed };
}

/** The rows that stand nowhere among others, whatever their indentation. */
function without({ rows, trimmed }: FilledRows, others: FilledRows): readonly string[] {
  const known = new Set(others.trimmed);
  return rows.filter((_, at) => !known.has(trimmed[at] ?? ''));
}
