// An undo that did nothing because of later edits, or that restored only some of the files. Pure.

import { BatonError } from '../../errors.ts';
import type { ChangedPath, RestoreOutcome, UntouchedPath } from '../../snapshots/undo.ts';
import type { LaterEdit } from '../../snapshots/changes.ts';
import type { Snapshot } from '../../snapshots/snapshot.ts';

/** What an undo did before it failed. Paths for display, relative to the workspace. */
interface Progress {
  readonly putBack: readonly ChangedPath[];
  readonly notPutBack: readonly UntouchedPath[];
  /** What the undo must not restore. */
  readonly others: readonly UntouchedPath[];
  /** The git object of the files as the turn's first undo found them; absent if it changed none. */
  readonly keptAs?: string;
  /** The git object of the files before the turn. */
  readonly beforeTurn?: string;
}

/**
 * The code is `undo_conflict`, `undo_incomplete`, or `interrupted`; `data` holds every path. The conversation is
 * unchanged, and the same undo can run again.
 */
export class UndoIncomplete extends BatonError {
  readonly putBack: Progress['putBack'];
  /** Everything that was left unchanged. */
  readonly left: readonly UntouchedPath[];
  readonly keptAs: Progress['keptAs'];

  constructor(
    code: 'undo_conflict' | 'undo_incomplete' | 'interrupted',
    { message, cure }: { readonly message: string; readonly cure: string },
    { putBack, notPutBack, others, keptAs, beforeTurn }: Progress,
  ) {
    const data = {
      put_back: putBack,
      not_put_back: notPutBack.map(({ path, why }) => ({ path, why })),
      left: others.map(({ path, why }) => ({ path, why })),
      kept_as: keptAs ?? null,
      before_turn: beforeTurn ?? null,
    };
    super(code, message, { cure, data });
    this.putBack = putBack;
    this.left = [...notPutBack, ...others];
    this.keptAs = keptAs;
  }
}

/** Nothing was done, because someone has edited what the turn changed. */
export function undoConflict(laterEdits: readonly LaterEdit[]): UndoIncomplete {
  const overlapping = laterEdits.filter(({ overlaps }) => overlaps);
  const others = laterEdits.filter(({ overlaps }) => !overlaps);
  const message = `Nothing was undone, because files of the turn were edited later: ${namesOf(overlapping)}`;
  const cure =
    'Choose with --later-edits (in an op: later_edits): keep leaves them as they are, revert restores them as they were before the turn.';
  return new UndoIncomplete(
    'undo_conflict',
    { message, cure },
    { putBack: [], notPutBack: overlapping, others },
  );
}

/** Not all files were restored. */
export function partialUndo({
  changes,
  failed,
  laterEdits,
  untouched,
  isStopped,
  first,
  before,
}: Extract<RestoreOutcome, { readonly type: 'restored' }> & {
  readonly first: Snapshot;
  readonly before: Snapshot;
}): UndoIncomplete {
  const count = `${changes.length} of ${changes.length + failed.length} files`;
  const what = isStopped ? `Interrupted after ${count} were restored` : `Only ${count} were restored`;
  const message = `${what}, and the conversation is unchanged. Not restored: ${namesOf(failed)}`;
  const cure = `Remove the cause and run the same undo again: it restores the rest. Git keeps the files from before the turn as ${before.ref}, and those from before the undo as ${first.ref}.`;
  const progress = {
    putBack: changes,
    notPutBack: failed,
    others: [...laterEdits, ...untouched],
    keptAs: first.ref,
    beforeTurn: before.ref,
  };
  return new UndoIncomplete(isStopped ? 'interrupted' : 'undo_incomplete', { message, cure }, progress);
}

/** Paths named in one sentence. */
const NAMED = 3;

function namesOf(paths: readonly UntouchedPath[]): string {
  const named = paths.slice(0, NAMED).map(({ path, why }) => `${JSON.stringify(path)} is ${why}`);
  return `${named.join('; ')}${paths.length > NAMED ? `; and ${paths.length - NAMED} more` : ''}`;
}
