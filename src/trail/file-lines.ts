// The lines of "Files and Code Sections": what was changed, what was read, what stands in it.

import { SECTION, summaryLine } from './line.ts';
import type { SummaryLine } from './line.ts';
import type { FileTrail, LineRange, Trail } from './trail.ts';

/** Symbols named in the first line of a file, and in a further one. */
const SYMBOLS_PER_LINE = 5;
const FURTHER_SYMBOLS = 6;
/** Tokens of the budget for each further line of symbols that a file may get. */
const TOKENS_PER_FURTHER_LINE = 1_500;
const PATHS_PER_LINE = 6;
/** Read files that may get a line. */
const MAX_READ_FILES = 80;
/** Tokens of the budget for each changed file with a line of its own; the others share lines. */
const TOKENS_PER_DETAILED_FILE = 260;
const section = SECTION.files;

/** Lines about files: `changed` name every changed file, most salient first; the rest goes into detail. */
export function fileLines(
  trail: Trail,
  budget: number,
): { changed: SummaryLine[]; details: SummaryLine[]; snippets: SummaryLine[] } {
  const changed = trail.files
    .filter(({ state }) => state !== 'read')
    .toSorted((a, b) => salienceOf(b, trail) - salienceOf(a, trail));
  const read = trail.files.filter(({ state }) => state === 'read').slice(0, MAX_READ_FILES);
  const root = sharedRoot(changed);
  const detailed = Math.max(2, Math.floor(budget / TOKENS_PER_DETAILED_FILE));
  const heads = changed
    .slice(0, detailed)
    .map((file, at) => ({ file, at, line: fileLine(file, at, { value: 4, root }) }));
  const readHeads = read.map((file, at) => ({
    file,
    at: 1_000 + at,
    line: fileLine(file, 1_000 + at, { value: 0.6, root }),
  }));
  return {
    changed: [...heads.map(({ line }) => line), ...compactLines(changed.slice(detailed), root)],
    details: [
      ...readHeads.map(({ line }) => line),
      ...[...heads, ...readHeads].flatMap((head) => symbolLines(head, budget)),
    ],
    snippets: heads
      .toSorted((a, b) => b.file.lastPosition - a.file.lastPosition)
      .flatMap((head) => snippetLine(head, trail)),
  };
}

interface Head {
  readonly file: FileTrail;
  readonly at: number;
  readonly line: SummaryLine;
}

/** Files changed in the current turn first, then those changed often and lately. */
function salienceOf(file: FileTrail, trail: Trail): number {
  const turnsAgo = trail.turns - file.lastEditTurn;
  return (1 + Math.log1p(file.edits)) / (1 + turnsAgo) - (file.state === 'deleted' ? 0.5 : 0);
}

/** Files outside of the working directory that share a root for it to be named once. */
const MIN_ROOTED = 3;

/**
 * The directory outside of the working directory, such as another work tree, that saves most when it is named once; an
 * empty string where there is none.
 */
function sharedRoot(files: readonly FileTrail[]): string {
  const counts = new Map<string, number>();
  for (const { path } of files) {
    if (!path.startsWith('/')) continue;
    for (let slash = path.indexOf('/', 1); slash > 0; slash = path.indexOf('/', slash + 1)) {
      const root = path.slice(0, slash + 1);
      counts.set(root, (counts.get(root) ?? 0) + 1);
    }
  }
  let best = '';
  let saved = 0;
  for (const [root, count] of counts) {
    if (count < MIN_ROOTED || (count - 1) * root.length <= saved) continue;
    best = root;
    saved = (count - 1) * root.length;
  }
  return best;
}

interface Place {
  readonly value: number;
  readonly root: string;
}

function fileLine(file: FileTrail, at: number, { value, root }: Place): SummaryLine {
  const facts = [editPhrase(file), readPhrase(file)].filter((fact) => fact !== '');
  const renamed = file.renamedFrom.at(-1);
  if (renamed !== undefined) facts.unshift(`was ${renamed}`);
  const symbols = file.state === 'deleted' ? [] : file.symbols.slice(0, SYMBOLS_PER_LINE);
  const names = symbols.length === 0 ? '' : `: ${listed(symbols)}`;
  const text = `- ${shortened(file.path, root)} (${facts.join('; ')})${names}`;
  return summaryLine({ section, order: at * 10, text, value, ...grouped(root) });
}

/** The mark that stands for the shared root; the heading of the section's list explains it. */
const ROOT_MARK = '…/';

function shortened(path: string, root: string): string {
  return root !== '' && path.startsWith(root) ? `${ROOT_MARK}${path.slice(root.length)}` : path;
}

function grouped(root: string): { group?: string } {
  return root === '' ? {} : { group: `(${ROOT_MARK} stands for ${root})` };
}

function listed(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ');
}

function editPhrase({ state, edits }: FileTrail): string {
  if (state === 'read') return '';
  if (state === 'deleted') return 'deleted';
  const times = edits > 1 ? ` ${edits}×` : '';
  if (state === 'edited') return `edited${times}`;
  return edits > 1 ? `created, written${times}` : 'created';
}

function readPhrase({ ranges, reads, state }: FileTrail): string {
  if (reads === 0 || state === 'deleted') return '';
  if (ranges.length === 0) return reads > 1 ? `read ${reads}×` : 'read';
  return `read lines ${ranges.map(rangeText).join(', ')}`;
}

function rangeText({ from, to }: LineRange): string {
  if (to === undefined) return `${from}–end`;
  return from === to ? String(from) : `${from}–${to}`;
}

/** Files without a line of their own, several to a line, so that no changed path is lost. */
function compactLines(files: readonly FileTrail[], root: string): SummaryLine[] {
  const lines: SummaryLine[] = [];
  for (let at = 0; at < files.length; at += PATHS_PER_LINE) {
    const names = files
      .slice(at, at + PATHS_PER_LINE)
      .map(({ path, state }) => `${shortened(path, root)}${state === 'deleted' ? ' (deleted)' : ''}`);
    const text = `- Also changed: ${names.join(', ')}`;
    lines.push(summaryLine({ section, order: 5_000 + at, text, value: 2, ...grouped(root) }));
  }
  return lines;
}

function symbolLines({ file, at, line: parent }: Head, budget: number): SummaryLine[] {
  if (file.state === 'deleted') return [];
  const lines: SummaryLine[] = [];
  for (let row = 0; row < Math.max(1, Math.floor(budget / TOKENS_PER_FURTHER_LINE)); row++) {
    const from = SYMBOLS_PER_LINE + row * FURTHER_SYMBOLS;
    const symbols = file.symbols.slice(from, from + FURTHER_SYMBOLS);
    if (symbols.length < 2) break;
    const text = `  also there: ${listed(symbols)}`;
    lines.push(summaryLine({ section, order: at * 10 + 1 + row / 10, text, value: 0, parent }));
  }
  return lines;
}

function snippetLine({ file, at, line: parent }: Head, trail: Trail): SummaryLine[] {
  const snippet = file.snippets.at(-1);
  if (snippet === undefined) return [];
  const code = snippet
    .replace(/\s+$/, '')
    .split('\n')
    .map((row) => `    ${row}`)
    .join('\n');
  const isFresh = trail.turns - file.lastEditTurn <= 1;
  const text = `  newest small edit:\n${code}`;
  return [summaryLine({ section, order: at * 10 + 5, text, value: isFresh ? 0.8 : 0.2, parent })];
}
