// The difference between two texts as people and `patch` read it. Of our own, since not everyone who runs Baton has git.

/** A line of either text with its line feed, where it has one. */
interface Edit {
  readonly sign: ' ' | '-' | '+';
  readonly line: string;
}

/** Unchanged lines shown around a change. @source POSIX diff -u */
const CONTEXT = 3;

/**
 * The unified diff that makes `before` into `after`; empty for equal texts. A shortest one. Time and room grow with the
 * product of the numbers of lines, so one of the texts should be short.
 * @param names what the header calls the two
 */
export function unifiedDiff(
  before: string,
  after: string,
  names: { readonly before: string; readonly after: string },
): string {
  if (before === after) return '';
  const edits = editsBetween(linesOf(before), linesOf(after));
  return `--- ${names.before}\n+++ ${names.after}\n${hunksOf(edits).join('')}`;
}

function linesOf(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** By the longest common subsequence; where both are possible, what is removed comes before what is added. */
function editsBetween(before: readonly string[], after: readonly string[]): readonly Edit[] {
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
    } else if (
      removed !== undefined &&
      (added === undefined || at(row + 1, column) >= at(row, column + 1))
    ) {
      edits.push({ sign: '-', line: removed });
      row++;
    } else {
      edits.push({ sign: '+', line: added ?? '' });
      column++;
    }
  }
}

function hunksOf(edits: readonly Edit[]): readonly string[] {
  const changed = edits.flatMap(({ sign }, index) => (sign === ' ' ? [] : [index]));
  const spans: { from: number; to: number }[] = [];
  for (const index of changed) {
    const last = spans.at(-1);
    const [from, to] = [Math.max(0, index - CONTEXT), Math.min(edits.length, index + CONTEXT + 1)];
    if (last === undefined || last.to < from) spans.push({ from, to });
    else last.to = to;
  }
  return spans.map(({ from, to }) => hunk(edits.slice(0, from), edits.slice(from, to)));
}

function hunk(above: readonly Edit[], edits: readonly Edit[]): string {
  const range = (other: Edit['sign']): string => {
    const skipped = above.filter(({ sign }) => sign !== other).length;
    const count = edits.filter(({ sign }) => sign !== other).length;
    // An empty range stands after the line that it names.
    return `${count === 0 ? skipped : skipped + 1},${count}`;
  };
  const body = edits.map(({ sign, line }) =>
    line.endsWith('\n') ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`,
  );
  return `@@ -${range('+')} +${range('-')} @@\n${body.join('')}`;
}
