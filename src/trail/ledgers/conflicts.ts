// How a conflict of git ended: what it came from goes on, or is given up, by another command than the one that failed.

import { isElsewhere } from './reruns.ts';
import type { ComparedRun } from './reruns.ts';
import type { LaterRun } from '../trail.ts';

/** How git says that it stopped at a conflict. */
const CONFLICT = /^CONFLICT \(|^error: could not apply |Automatic merge failed/;

const CONTINUES =
  /^git (?:-[cC] \S+ )*(?:commit(?: |$)|(?:merge|rebase|cherry-pick|revert|am|stash) (?:\S+ )*--(?:continue|skip)(?: |$))/;
const GIVES_UP =
  /^git (?:-[cC] \S+ )*(?:(?:merge|rebase|cherry-pick|revert|am) (?:\S+ )*--(?:abort|quit)(?: |$)|reset (?:\S+ )*--(?:hard|merge)(?: |$))/;

/** What a run that went well made of a conflict at which another one had stopped; undefined where it made nothing of it. */
export function endOfConflict(failed: ComparedRun, well: ComparedRun): LaterRun['as'] | undefined {
  if (!failed.telling.some((line) => CONFLICT.test(line))) return undefined;
  if (isElsewhere(failed.directory, well.directory)) return undefined;
  if (well.parts.some((part) => CONTINUES.test(part))) return 'resolved';
  return well.parts.some((part) => GIVES_UP.test(part)) ? 'given up' : undefined;
}
