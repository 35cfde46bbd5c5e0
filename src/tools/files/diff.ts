// The difference between two texts as a unified diff. This does not use git, because not every user has it.

/** A line of either text with its line feed, if it has one. */
interface Edit {
  readonly sign: ' ' | '-' | '+';
  readonly line: string;
}

/** What turns one text into the other. */
export interface Difference {
  /** Unified, without a header; empty for equal texts. */
  readonly hunks: string;
  /** Lines of the whole difference, even where `hunks` was cut. */
  readonly added: number;
  readonly removed: number;
  /** `hunks` ends early, at the end of a line. */
  readonly isCut: boolean;
}

/** Unchanged lines around a change. @source POSIX diff -u */
const CONTEXT = 3;

/**
 * Maximum number of line pairs to compare for a shortest difference; above it, everything between the first and the last
 * difference is removed and added. @source 4 bytes for each, 16 MB: 2,000 lines against 2,000
 */
const MOST_PAIRS = 4_000_000;

/**
 * The unified diff that turns `before` into `after`; empty for equal texts.
 * @param names the names of both texts in the header
 */
export function unifiedDiff(
  before: string,
  after: string,
  names: { readonly before: string; readonly after: string },
): string {
  if (before === after) return '';
  return `--- ${names.before}\n+++ ${names.after}\n${differenceOf(before, after).hunks}`;
}

/**
 * The difference of two texts. Linear in their common start and end; shortest where few lines are between.
 * @param maxCharacters longest `hunks`
 */
export function differenceOf(before: string, after: string, maxCharacters = Infinity): Difference {
  if (before === after) return { hunks: '', added: 0, removed: 0, isCut: false };
  const head = commonStart(before, after);
  const tail = commonEnd(before, after, head);
  const old = before.slice(head, before.length - tail);
  const fresh = after.slice(head, after.length - tail);
  const [removed, added] = [countLines(old), countLines(fresh)];
  const isSmall = (removed + 1) * (added + 1) <= MOST_PAIRS;
  // For a truncated diff, take no more lines than fit.
  const most = isSmall ? Infinity : maxCharacters;
  const [oldLines, freshLines] = [linesOf(old, most), linesOf(fresh, most)];
  const opening = linesBefore(before, head);
  const edits = [
    ...opening.map(unchanged),
    ...(isSmall ? shortest(oldLines, freshLines) : replacing(oldLines, freshLines)),
    ...linesOf(before.slice(before.length - tail), CONTEXT).map(unchanged),
  ];
  const above = countLines(before.slice(0, head)) - opening.length;
  const room = { above, maxCharacters };
  if (!isSmall) {
    const shared = edits.length - oldLines.length - freshLines.length;
    const { hunks, isCut } = renderHunks(edits, room, { old: removed + shared, fresh: added + shared });
    const isPart = oldLines.length < removed || freshLines.length < added;
    return { hunks, added, removed, isCut: isCut || isPart };
  }
  const count = (sign: Edit['sign']): number => edits.filter((edit) => edit.sign === sign).length;
  return { ...renderHunks(edits, room), removed: count('-'), added: count('+') };
}

/** Number of characters in the complete lines that two texts begin with. */
function commonStart(before: string, after: string): number {
  const shorter = Math.min(before.length, after.length);
  let same = 0;
  while (same < shorter && before[same] === after[same]) same++;
  return same === 0 ? 0 : before.lastIndexOf('\n', same - 1) + 1;
}

/** Number of characters in the complete lines that two texts end with, after their common start. */
function commonEnd(before: string, after: string, head: number): number {
  const shorter = Math.min(before.length, after.length) - head;
  let same = 0;
  while (same < shorter && before.at(-1 - same) === after.at(-1 - same)) same++;
  const isLineStart = (text: string): boolean => {
    const at = text.length - same;
    return at === head || text[at - 1] === '\n';
  };
  if (isLineStart(before) && isLineStart(after)) return same;
  const lineEnd = before.indexOf('\n', before.length - same);
  return lineEnd < 0 ? 0 : before.length - lineEnd - 1;
}

/** The last lines of context above a position at the start of a line. */
function linesBefore(text: string, end: number): readonly string[] {
  let from = end;
  for (let lines = 0; lines < CONTEXT && from > 0; lines++) from = text.lastIndexOf('\n', from - 2) + 1;
  return linesOf(text.slice(from, end), CONTEXT);
}

function linesOf(text: string, most: number): readonly string[] {
  const lines: string[] = [];
  for (let from = 0; from < text.length && lines.length < most;) {
    const end = text.indexOf('\n', from) + 1 || text.length;
    lines.push(text.slice(from, end));
    from = end;
  }
  return lines;
}

function countLines(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return text === '' || text.endsWith('\n') ? count : count + 1;
}

function unchanged(line: string): Edit {
  return { sign: ' ', line };
}

function replacing(before: readonly string[], after: readonly string[]): readonly Edit[] {
  return [
    ...before.map((line) => ({ sign: '-', line }) as const),
    ...after.map((line) => ({ sign: '+', line }) as const),
  ];
}

/** Uses the longest common subsequence; where both orders are possible, removals precede additions. */
function shortest(before: readonly string[], after: readonly string[]): readonly Edit[] {
  const width = after.length + 1;
  const common = new Uint32Array((before.length + 1) * width);
  const at = (row: number, column: number): number => common[row * width + column] ?? 0;
  for (let row = before.length - 1; row >= 0; row--) {
    for (let column = after.length - 1; column >= 0; column--) {
      common[row * width + column] =
        before[row] === after[column]
          ? at(row + 1, column + 1) + 1
          : Math.max(at(row + 1, column), at(row, column + 1));
    }
  }
  const edits: Edit[] = [];
  let [row, column] = [0, 0];
  for (;;) {
    const removed = before[row];
    const added = after[column];
    if (removed === undefined && added === undefined) return edits;
    if (removed !== undefined && removed === added) {
      edits.push({ sign: ' ', line: removed });
      row++;
      column++;
    } else if (removed !== undefined && (added === undefined || at(row + 1, column) >= at(row, column + 1))) {
      edits.push({ sign: '-', line: removed });
      row++;
    } else {
      edits.push({ sign: '+', line: added ?? '' });
      column++;
    }
  }
}

/** A run of edits to render. `from` and `to` are positions among all edits, half-open. */
interface EditSpan {
  readonly from: number;
  to: number;
}

function spansOf(edits: readonly Edit[]): readonly EditSpan[] {
  const spans: EditSpan[] = [];
  for (const [index, { sign }] of edits.entries()) {
    if (sign === ' ') continue;
    const last = spans.at(-1);
    const [from, to] = [Math.max(0, index - CONTEXT), Math.min(edits.length, index + CONTEXT + 1)];
    if (last === undefined || last.to < from) spans.push({ from, to });
    else last.to = to;
  }
  return spans;
}

/**
 * Renders edits as hunks.
 * @param above lines that both texts have before the first edit
 * @param counts of the lines of the only hunk, where the edits do not contain all of them
 */
function renderHunks(
  edits: readonly Edit[],
  { above, maxCharacters }: { readonly above: number; readonly maxCharacters: number },
  counts?: { readonly old: number; readonly fresh: number },
): Pick<Difference, 'hunks' | 'isCut'> {
  const spans = counts === undefined ? spansOf(edits) : [{ from: 0, to: edits.length }];
  let [hunks, oldLine, freshLine, at] = ['', above, above, 0];
  for (const { from, to } of spans) {
    oldLine += from - at;
    freshLine += from - at;
    at = to;
    const shown = edits.slice(from, to);
    const { old, fresh } = counts ?? {
      old: shown.filter(({ sign }) => sign !== '+').length,
      fresh: shown.filter(({ sign }) => sign !== '-').length,
    };
    const title = `@@ -${rangeOf(oldLine, old)} +${rangeOf(freshLine, fresh)} @@\n`;
    oldLine += old;
    freshLine += fresh;
    for (const line of [title, ...shown.map(renderLine)]) {
      if (hunks.length + line.length > maxCharacters) return { hunks, isCut: true };
      hunks += line;
    }
  }
  return { hunks, isCut: false };
}

/** An empty range names the line before it. */
function rangeOf(above: number, count: number): string {
  return `${count === 0 ? above : above + 1},${count}`;
}

function renderLine({ sign, line }: Edit): string {
  return line.endsWith('\n') ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`;
}
