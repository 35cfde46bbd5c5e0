// What has the shape of a name and is a piece of something else.

/**
 * Numbers that a reader puts before lines, modes of files, what a terminal's colours leave, the two hashes between which a
 * diff stands. Nobody calls anything by them. @source docs/decisions/summary.md
 */
const FRAGMENT =
  /^(?:L\d+|[dl-][r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-]|(?:100644|100755|120000|040000)|\d{1,3}m[A-Za-z]\w*|[0-9a-f]{7,40}\.\.[0-9a-f]{7,40})$/;

/** Whether an identifier is a piece of what a program printed or was given, and names nothing. */
export function isFragment(identifier: string): boolean {
  return FRAGMENT.test(identifier);
}
