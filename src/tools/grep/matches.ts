// Formats the lines that a search found, with either search engine.

import { cutLine, pathLine } from '../cap.ts';

/** A line in a search result. */
export interface FoundLine {
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly text: string;
  /** False for a line of context. */
  readonly isMatch: boolean;
}

/** Longest line, in characters. @source docs/decisions/tools.md */
const MAX_LINE = 500;

/** `path:line:text`, with `-` around the numbers of context lines and `--` between places, like grep. */
export function showLines(lines: readonly FoundLine[], hasContext: boolean): string[] {
  const shown: string[] = [];
  let last: FoundLine | undefined;
  for (const found of lines) {
    const isNext = last?.path === found.path && last.line + 1 === found.line;
    if (hasContext && last !== undefined && !isNext) shown.push('--');
    const sign = found.isMatch ? ':' : '-';
    shown.push(`${pathLine(found.path)}${sign}${found.line}${sign}${cutLine(found.text, MAX_LINE)}`);
    last = found;
  }
  return shown;
}

/** Adds the lines around matches, in order and each once. @param matches numbers of lines, counted from 0, in order */
export function withContext(
  path: string,
  lines: readonly string[],
  matches: readonly number[],
  context: number,
): readonly FoundLine[] {
  const found: FoundLine[] = [];
  const isMatch = new Set(matches);
  let next = 0;
  for (const match of matches) {
    const to = Math.min(lines.length - 1, match + context);
    for (let at = Math.max(next, match - context); at <= to; at++) {
      found.push({ path, line: at + 1, text: lines[at] ?? '', isMatch: isMatch.has(at) });
    }
    next = Math.max(next, to + 1);
  }
  return found;
}
