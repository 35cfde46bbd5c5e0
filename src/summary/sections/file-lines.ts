// The lines of "Files and Code Sections": which files were changed or read, and what they contain.

import { isAnonymous, LazyLines, listed, rowKey, SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import type { FileRow, FileTrail, Trail } from '../../trail/trail.ts';
import type { LineRange } from '../../shell/file-actions.ts';

/** Symbols on the line of a file: with its path, the number of names that one line is credited with. */
const SYMBOLS_PER_LINE = 5;
const OUTLINE_NAMES = 6;
const PATHS_PER_LINE = 6;
/** Read files that may get a line. */
const MAX_READ_FILES = 80;
/** Tokens of the budget for each changed file with its own line; other files share lines. */
const TOKENS_PER_DETAILED_FILE = 260;
const section = SECTION.files;

/** Lines about files. */
export interface FileLines {
  /** Lines that together name every changed file, most salient first. */
  readonly changed: readonly SummaryLine[];
  /** Files that were only read, newest first. */
  readonly read: readonly SummaryLine[];
  readonly snippets: readonly SummaryLine[];
  /** The content of the files, line by line. */
  readonly rows: readonly (SummaryLine | LazyLines)[];
  /** The line of each file that may have its own. */
  readonly byPath: ReadonlyMap<string, SummaryLine>;
}

/** States what happened to each file. A symbol appears with the first file that contains it. */
export function fileLines(trail: Trail, budget: number): FileLines {
  const changed = trail.files
    .filter(({ state }) => state !== 'read')
    .toSorted((a, b) => salienceOf(b, trail) - salienceOf(a, trail));
  const read = trail.files.filter(({ state }) => state === 'read').slice(0, MAX_READ_FILES);
  const detailed = Math.max(2, Math.floor(budget / TOKENS_PER_DETAILED_FILE));
  const shown = new Set<string>();
  const heads = changed
    .slice(0, detailed)
    .map((file, at) => ({ file, at, line: fileLine(file, at, { value: 4, shown: shown }) }));
  const readHeads = read.map((file, at) => ({
    file,
    line: fileLine(file, 1_000 + at, { value: 0.6, shown: shown }),
  }));
  return {
    changed: [...heads.map(({ line }) => line), ...compactLines(changed.slice(detailed))],
    read: [...readHeads.map(({ line }) => line), ...missingLines(trail)],
    snippets: heads
      .toSorted((a, b) => b.file.lastPosition - a.file.lastPosition)
      .flatMap((head) => snippetLine(head, trail)),
    rows: [...heads, ...readHeads].flatMap((head) => [
      ...outlineLines(head, shown),
      new LazyLines(head.line, () => rowLines(head)),
    ]),
    byPath: new Map([...heads, ...readHeads].map(({ file, line }) => [file.path, line])),
  };
}

/** What else a file defines, heaviest names first; as many per line as one is credited with. */
function outlineLines(
  { file, line: parent }: Pick<FileHead, 'file' | 'line'>,
  shown: Set<string>,
): SummaryLine[] {
  if (file.state === 'deleted') return [];
  const names = file.symbols.filter((name) => file.definitions.has(name) && isInformative(name, shown));
  for (const name of names) shown.add(name);
  const lines: SummaryLine[] = [];
  for (let at = 0; at < names.length; at += OUTLINE_NAMES) {
    const some = names.slice(at, at + OUTLINE_NAMES);
    const text = `  defines ${listedByKind(some, file.definitions)}`;
    lines.push(
      summaryLine({ section, order: parent.order + 2 + at / 1_000, text, value: OUTLINE_VALUE, parent }),
    );
  }
  return lines;
}

/** `function a, b; type C`: names after their keyword, names without one last. */
function listedByKind(names: readonly string[], kinds: ReadonlyMap<string, string>): string {
  const byKind = new Map<string, string[]>();
  for (const name of names) {
    const kind = kinds.get(name) ?? '';
    byKind.set(kind, [...(byKind.get(kind) ?? []), name]);
  }
  const plain = byKind.get('');
  byKind.delete('');
  const groups = [...byKind].map(([kind, some]) => `${kind} ${some.join(', ')}`);
  return [...groups, ...(plain === undefined ? [] : [listed(plain)])].join('; ');
}

/** Value of a file's outline line besides its names. */
const OUTLINE_VALUE = 0.2;
const DEFINITION_VALUE = 0.4;
const ROW_VALUE = 0.05;

/** The informative lines of a file, below it: those that the agent wrote with a plus, as in a patch. */
function rowLines({ file, line: parent }: Pick<FileHead, 'file' | 'line'>): SummaryLine[] {
  return inFileOrder(file.rows()).map(({ text, isWritten, isDefinition }, at) =>
    summaryLine({
      section,
      order: parent.order + 3 + at / 1_000,
      text: `  ${isWritten ? '+' : ' '} ${text}`,
      quotes: rowKey(text),
      value: isDefinition ? DEFINITION_VALUE : ROW_VALUE,
      parent,
    }),
  );
}

/** The number that a reader gave a row; `Infinity` without one. */
function numberOf({ text }: FileRow): number {
  return Number(/^(\d+): /.exec(text)?.[1] ?? Infinity);
}

/** Numbered rows in order, then the others: a file is read in pieces that come in any order. */
function inFileOrder(rows: readonly FileRow[]): readonly FileRow[] {
  return rows
    .map((row) => ({ row, number: numberOf(row) }))
    .toSorted((a, b) => (a.number === b.number ? 0 : a.number - b.number))
    .map(({ row }) => row);
}

interface FileHead {
  readonly file: FileTrail;
  readonly at: number;
  readonly line: SummaryLine;
}

/** Files changed in the current turn first, then those changed often and recently. */
function salienceOf(file: FileTrail, trail: Trail): number {
  const turnsAgo = trail.turns - file.lastEditTurn;
  return (1 + Math.log1p(file.edits)) / (1 + turnsAgo) - (file.state === 'deleted' ? 0.5 : 0);
}

function fileLine(
  file: FileTrail,
  at: number,
  { value, shown: told }: { readonly value: number; readonly shown: Set<string> },
): SummaryLine {
  const facts = [editPhrase(file), readPhrase(file)].filter((fact) => fact !== '');
  const renamed = file.renamedFrom.at(-1);
  if (renamed !== undefined) facts.unshift(`was ${renamed}`);
  const fresh = file.state === 'deleted' ? [] : file.symbols.filter((symbol) => isInformative(symbol, told));
  const symbols = fresh.slice(0, SYMBOLS_PER_LINE);
  for (const symbol of symbols) told.add(symbol);
  const names = symbols.length === 0 ? '' : `: ${listedByKind(symbols, file.definitions)}`;
  const text = `- ${file.path} (${facts.join('; ')})${names}`;
  return summaryLine({ section, order: at * 10, text, value });
}

/** Not shown before, and not a path: next to the file's path it would read as another changed file. */
function isInformative(symbol: string, shown: ReadonlySet<string>): boolean {
  return !shown.has(symbol) && !symbol.includes('/') && !isAnonymous(symbol);
}

function editPhrase({ state, edits, isRestored, renamedFrom }: FileTrail): string {
  if (state === 'read' || (state === 'edited' && edits === 0 && renamedFrom.length > 0)) return '';
  if (state === 'deleted') return 'deleted';
  const times = edits > 1 ? ` ${edits}×` : '';
  if (isRestored) return `edited${times}, then put back by git`;
  if (state === 'edited') return `edited${times}`;
  return edits > 1 ? `created, written${times}` : 'created';
}

/** What was read of an unchanged file. For a changed file this is omitted, because an editor has read it. */
function readPhrase({ ranges, reads, state, lines, hasGaps }: FileTrail): string {
  if (reads === 0 || state !== 'read') return '';
  const part = hasGaps ? ' in part' : '';
  if (ranges.length === 0) return `read${reads > 1 ? ` ${reads}×` : ''}${part}`;
  const of = lines === undefined ? '' : ` of ${lines}`;
  return `read ${merged(ranges).map(rangeText).join(', ')}${of}${part}`;
}

/** Ascending, with adjacent ranges joined. */
function merged(ranges: readonly LineRange[]): LineRange[] {
  const joined: LineRange[] = [];
  for (const range of ranges.toSorted((a, b) => a.from - b.from)) {
    const last = joined.at(-1);
    if (last === undefined || (last.to !== undefined && range.from > last.to + 1)) joined.push(range);
    else if (last.to !== undefined) {
      joined[joined.length - 1] =
        range.to === undefined ? { from: last.from } : { from: last.from, to: Math.max(last.to, range.to) };
    }
  }
  return joined;
}

function rangeText({ from, to }: LineRange): string {
  if (to === undefined) return `${from}–end`;
  return from === to ? String(from) : `${from}–${to}`;
}

/** Files without a line of their own, several to a line, so that no changed path is lost. */
function compactLines(files: readonly FileTrail[]): SummaryLine[] {
  const lines: SummaryLine[] = [];
  for (let at = 0; at < files.length; at += PATHS_PER_LINE) {
    const names = files
      .slice(at, at + PATHS_PER_LINE)
      .map(({ path, state }) => `${path}${state === 'deleted' ? ' (deleted)' : ''}`);
    const text = `- Also changed: ${names.join(', ')}`;
    lines.push(summaryLine({ section, order: 5_000 + at, text, value: 2 }));
  }
  return lines;
}

/** Missing files, which would otherwise be searched for again. */
function missingLines({ missing }: Trail): SummaryLine[] {
  if (missing.length === 0) return [];
  const text = `- Did not exist when looked for: ${missing.slice(0, PATHS_PER_LINE).join(', ')}`;
  return [summaryLine({ section, order: 9e5, text, value: 0.4 })];
}

/** A shorter edit shows little more than a name. */
const LEAST_SNIPPET = 40;

function snippetLine({ file, at, line: parent }: FileHead, trail: Trail): SummaryLine[] {
  const snippet = file.snippets.at(-1);
  if (snippet === undefined || snippet.trim().length < LEAST_SNIPPET) return [];
  const code = snippet
    .trimEnd()
    .split('\n')
    .map((row) => `    ${row}`)
    .join('\n');
  const isFresh = trail.turns - file.lastEditTurn <= 1;
  const text = `  newest small edit:\n${code}`;
  const step = file.lastEditPosition;
  return [summaryLine({ section, order: at * 10 + 5, text, value: isFresh ? 0.8 : 0.2, parent, step })];
}
