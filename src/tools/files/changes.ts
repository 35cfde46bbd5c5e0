// How a change of files is told to whoever approves it, and afterwards: each file with its diff.

import { LONGEST_DIFF } from '../../protocol/wire/shown.ts';
import type { FileChangeView } from '../../protocol/tool.ts';
import { differenceOf } from './diff.ts';

/** What becomes of one file. */
export interface ToldChange {
  /** Relative to the workspace. */
  readonly path: string;
  /** The new name of a file that is moved. */
  readonly to?: string;
  /** Undefined: there is no such file. */
  readonly before: string | undefined;
  /** Undefined: the file goes. */
  readonly after: string | undefined;
}

/** Changes as events tell them. All diffs together stay within `LONGEST_DIFF`; the counts are those of the whole. */
export function changeViews(changes: readonly ToldChange[]): readonly FileChangeView[] {
  let room = LONGEST_DIFF;
  return changes.map((change) => {
    const view = changeView(change, room);
    room -= view.diff.length;
    return view;
  });
}

function changeView({ path, to, before, after }: ToldChange, room: number): FileChangeView {
  const header = `--- ${before === undefined ? '/dev/null' : `a/${path}`}\n+++ ${after === undefined ? '/dev/null' : `b/${to ?? path}`}\n`;
  const difference = differenceOf(before ?? '', after ?? '', Math.max(0, room - header.length));
  return {
    action:
      to !== undefined ? 'move' : before === undefined ? 'create' : after === undefined ? 'delete' : 'edit',
    path,
    ...(to === undefined ? {} : { to }),
    added_lines: difference.added,
    removed_lines: difference.removed,
    diff: difference.hunks === '' ? '' : `${header}${difference.hunks}`,
    is_diff_cut: difference.isCut,
  };
}
