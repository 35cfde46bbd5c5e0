// The line that tells which changes of the work tree no commit holds yet.

import { isWithin, SECTION, summaryLine } from './line.ts';
import type { SummaryLine } from './line.ts';
import type { FileTrail, Trail } from './trail.ts';

/** Tokens of the line at least, and as a share of the budget. */
const LEAST_TOKENS = 24;
const SHARE = 0.01;

/**
 * Which files were changed after the newest commit, the newest first; no line where none was. Of what was changed before
 * it the log does not tell whether the commit holds it.
 */
export function treeLines(trail: Trail, budget: number): SummaryLine[] {
  const { newestCommit } = trail;
  const changed = trail.files
    .filter((file) => file.lastEditPosition > (newestCommit?.position ?? -1) && !file.isRestored)
    .filter(({ path }) => isInTree(path, trail))
    .toSorted((a, b) => b.lastEditPosition - a.lastEditPosition)
    .map(toldPath);
  if (changed.length === 0) return [];
  const hash = newestCommit?.hash === undefined ? '' : ` (${newestCommit.hash})`;
  const label =
    newestCommit === undefined
      ? 'Nothing was committed in this session; changed:'
      : `Changed since the newest commit${hash}:`;
  const tokens = Math.max(LEAST_TOKENS, SHARE * budget);
  let text = textOf(label, changed, 1);
  for (let count = 2; count <= changed.length; count++) {
    const longer = textOf(label, changed, count);
    if (!isWithin(tokens, longer)) break;
    text = longer;
  }
  return [summaryLine({ section: SECTION.current, order: -1e12, text, value: 3 })];
}

function textOf(label: string, paths: readonly string[], count: number): string {
  const more = paths.length - count;
  return `${label} ${paths.slice(0, count).join(', ')}${more === 0 ? '' : ` and ${more} more`}.`;
}

function toldPath({ path, state }: FileTrail): string {
  return state === 'deleted' ? `${path} (deleted)` : path;
}

/** A file elsewhere, such as a note in the home directory, is in no commit of the work. */
function isInTree(path: string, { workedIn }: Trail): boolean {
  return !/^[/~]/.test(path) || (workedIn !== undefined && path.startsWith(`${workedIn}/`));
}
