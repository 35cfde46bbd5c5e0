// Fragments that look like names.

/**
 * Line numbers from a reader, file modes, remains of terminal colours, the two hashes around a diff: none of them names
 * anything. @source docs/decisions/summary.md
 */
const FRAGMENT =
  /^(?:L\d+|[dl-][r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-]|(?:100644|100755|120000|040000)|\d{1,3}m[A-Za-z]\w*|[0-9a-f]{7,40}\.\.[0-9a-f]{7,40})$/;

/** Whether an identifier is a fragment of output or input that names nothing. */
export function isFragment(identifier: string): boolean {
  return FRAGMENT.test(identifier);
}
