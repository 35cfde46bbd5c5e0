// Renders changes of files for approval requests and results: each file with its diff.

import { LONGEST_DIFF } from '../../protocol/wire/shown.ts';
import type { FileChangeView } from '../../protocol/tool.ts';
import { differenceOf } from './diff.ts';

/** The change of one file. */
export interface ShownChange {
  /** Relative to the workspace. */
  readonly path: string;
  /** The new path of a moved file. */
  readonly to?: string;
  /** Undefined: the file does not exist. */
  readonly before: string | undefined;
  /** Undefined: the file is deleted. */
  readonly after: string | undefined;
}

/** Changes as they appear in events. All diffs together stay within `LONGEST_DIFF`; the counts cover the whole change. */
export function changeViews(changes: readonly ShownChange[]): readonly FileChangeView[] {
  let room = LONGEST_DIFF;
  return changes.map((change) => {
    const view = changeView(change, room);
    room -= view.diff.length;
    return view;
  });
}

function changeView({ path, to, before, after }: ShownChange, room: number): FileChangeView {
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
