// Runs of similar rows (imports, the names of a listing, rows that differ in their last word), of which only the first few are
// shown.

import { moreMark } from '../calls/changes.ts';
import { identifiersOf } from '../../text/identifiers/identifiers.ts';

/** Rows shown of a run, and the least number of further rows to fold: a fold mark is as long as two. */
const SHOWN_OF_RUN = 3;
const LEAST_FOLDED = 3;

/**
 * The rows to fold: all but the first few of each run of similar, uninformative rows, except those that name something that
 * counts.
 * @param counting names whose rows are shown
 */
export function foldedRows(rows: readonly string[], counting: ReadonlySet<string>): ReadonlySet<number> {
  const folded = new Set<number>();
  const names = (at: number): boolean => identifiersOf(rows[at] ?? '').some((name) => counting.has(name));
  for (const { kind, places } of runsOf(rows)) {
    let stretch: number[] = [];
    for (const at of [...places.slice(SHOWN_OF_RUN), undefined]) {
      if (at !== undefined && (kind === 'passed' || !names(at))) {
        stretch.push(at);
        continue;
      }
      if (stretch.length >= LEAST_FOLDED) for (const one of stretch) folded.add(one);
      stretch = [];
    }
  }
  return folded;
}

/** Consecutive rows of one kind. */
interface RowRun {
  readonly kind: Kind;
  readonly places: number[];
}

function runsOf(rows: readonly string[]): RowRun[] {
  const runs: RowRun[] = [];
  let before: Kind | undefined;
  for (const [at, kind] of kindsOf(rows).entries()) {
    if (kind !== undefined && kind === before) runs.at(-1)?.places.push(at);
    else if (kind !== undefined) runs.push({ kind, places: [at] });
    before = kind;
  }
  return runs;
}

/** Rows with each folded run replaced by a mark that counts it. */
export function withFolds(rows: readonly string[], folded: ReadonlySet<number>): string[] {
  if (folded.size === 0) return [...rows];
  let foldedCount = 0;
  return rows.flatMap((row, at) => {
    if (!folded.has(at)) return [row];
    foldedCount++;
    if (folded.has(at + 1)) return [];
    const mark = `${/^\s*/.exec(row)?.[0] ?? ''}${moreMark(foldedCount)}`;
    foldedCount = 0;
    return [mark];
  });
}

/** Number of equal rows that are merged into one: two say more than a count. */
const LEAST_EQUAL = 3;

/**
 * Rows with each run of equal ones merged into the first and a count.
 * @param render what to show of a row, before the count
 */
export function withoutEqual(rows: readonly string[], render = (row: string): string => row): string[] {
  const merged: string[] = [];
  for (let at = 0; at < rows.length;) {
    const row = rows[at] ?? '';
    let end = at + 1;
    while (rows[end] === row) end++;
    const isWhole = end - at < LEAST_EQUAL || !/\w/.test(row);
    merged.push(...(isWhole ? rows.slice(at, end).map(render) : [`${render(row)} (${end - at}×)`]));
    at = end;
  }
  return merged;
}

/** What precedes the text of a row: its number, its indentation. */
const PLACE = /^\s*(?:\d{1,6}(?:→|\t|:|-) ?\s*)?/;
const IMPORT =
  /^(?:import\b|from \S+ import\b|export (?:type )?(?:\*|\{[^}]*\}) from |(?:pub )?use [\w:]+(?:::|;)|#include\b|using [\w.]+;|(?:const|let|var) [^=]{1,200}= require\(|require(?:_relative)? ['"])/;
/** A row between the opening of an import and its end. */
const IMPORTED = /^(?:(?:type )?[\w$*]+(?: as [\w$]+)?,?|(?:[\w.]+ )?"[^"\s]+"|[)}].*)$/;
const NAME = /^(?=\W*\w)[^\s(){};=<>,"'`|]+$/;
const LISTED = /^[dl-][rwxsStT-]{9}[@+.]? /;
const PASSED = /^(?:(?:OK|PASS)(?::| )|[✓✔] )/;
const TESTED = /^(?:ok\s+\S+\s+(?:[\d.]+s\b|\(cached\))|\?\s+\S+\s+\[no test files\])/;

/** What rows are folded by; a passing check gives no reason to show what it covered. */
type Kind = 'import' | 'name' | 'listed' | 'passed' | 'tested';

/** The kind of each row; undefined for a row with content of its own. */
function kindsOf(rows: readonly string[]): (Kind | undefined)[] {
  let isOpen = false;
  return rows.map((numbered) => {
    const row = numbered.replace(PLACE, '').trimEnd();
    const isImport = IMPORT.test(row) || (isOpen && IMPORTED.test(row));
    isOpen = isImport && (/[{(]$/.test(row) || (isOpen && !/^[)}]/.test(row)));
    return isImport ? 'import' : kindOf(row);
  });
}

function kindOf(row: string): Kind | undefined {
  if (NAME.test(row)) return 'name';
  if (LISTED.test(row)) return 'listed';
  if (PASSED.test(row)) return 'passed';
  if (TESTED.test(row)) return 'tested';
  return undefined;
}
