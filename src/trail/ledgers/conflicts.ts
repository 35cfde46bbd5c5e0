// How a git conflict ended: a command other than the failed one continues or aborts the operation.

import { isElsewhere } from './reruns.ts';
import type { ComparedRun } from './reruns.ts';
import type { LaterRun } from '../trail.ts';

/** How git reports that it stopped at a conflict. */
const CONFLICT = /^CONFLICT \(|^error: could not apply |Automatic merge failed/;

const CONTINUES =
  /^git (?:-[cC] \S+ )*(?:commit(?: |$)|(?:merge|rebase|cherry-pick|revert|am|stash) (?:\S+ )*--(?:continue|skip)(?: |$))/;
const GIVES_UP =
  /^git (?:-[cC] \S+ )*(?:(?:merge|rebase|cherry-pick|revert|am) (?:\S+ )*--(?:abort|quit)(?: |$)|reset (?:\S+ )*--(?:hard|merge)(?: |$))/;

/** How a successful run ended the conflict at which another run stopped; undefined if it did not. */
export function endOfConflict(failed: ComparedRun, well: ComparedRun): LaterRun['as'] | undefined {
  if (!failed.outcomeLines.some((line) => CONFLICT.test(line))) return undefined;
  if (isElsewhere(failed.directory, well.directory)) return undefined;
  if (well.parts.some((part) => CONTINUES.test(part))) return 'resolved';
  return well.parts.some((part) => GIVES_UP.test(part)) ? 'given up' : undefined;
}
