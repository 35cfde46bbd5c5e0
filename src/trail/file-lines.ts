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
  const detailed = Math.max(2, Math.floor(budget / TOKENS_PER_DETAILED_FILE));
  const heads = changed.slice(0, detailed).map((file, at) => ({ file, at, line: fileLine(file, at, 4) }));
  const readHeads = read.map((file, at) => ({ file, at: 1_000 + at, line: fileLine(file, 1_000 + at, 0.6) }));
  return {
    changed: [...heads.map(({ line }) => line), ...compactLines(changed.slice(detailed))],
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

function fileLine(file: FileTrail, at: number, value: number): SummaryLine {
  const facts = [editPhrase(file), readPhrase(file)].filter((fact) => fact !== '');
  const renamed = file.renamedFrom.at(-1);
  if (renamed !== undefined) facts.unshift(`was ${renamed}`);
  const symbols = file.state === 'deleted' ? [] : file.symbols.slice(0, SYMBOLS_PER_LINE);
  const names = symbols.length === 0 ? '' : `: ${listed(symbols)}`;
  return summaryLine({
    section,
    order: at * 10,
    text: `- ${file.path} (${facts.join('; ')})${names}`,
    value,
  });
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
function compactLines(files: readonly FileTrail[]): SummaryLine[] {
  const lines: SummaryLine[] = [];
  for (let at = 0; at < files.length; at += PATHS_PER_LINE) {
    const names = files
      .slice(at, at + PATHS_PER_LINE)
      .map(({ path, state }) => (state === 'deleted' ? `${path} (deleted)` : path));
    lines.push(
      summaryLine({ section, order: 5_000 + at, text: `- Also changed: ${names.join(', ')}`, value: 2 }),
    );
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
