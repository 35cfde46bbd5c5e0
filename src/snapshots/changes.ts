// The differences between a snapshot and the present, and which of them an undo reverts. Pure.

import { isSafePath, splitPaths } from './paths.ts';
import type { LeftOut } from './snapshot.ts';

/** A file in a git tree. */
export interface TreeFile {
  /** `link`: the blob holds its target; `other`: anything that snapshots do not hold, such as a nested repository. */
  readonly kind: 'file' | 'executable' | 'link' | 'other';
  readonly blob: string;
}

/** A path that differs between two trees. Paths as in `paths.ts`. */
export interface TreeChange {
  readonly path: string;
  /** In the older tree; undefined: absent. */
  readonly before: TreeFile | undefined;
  readonly after: TreeFile | undefined;
}

const KINDS: ReadonlyMap<string, TreeFile['kind']> = new Map(
  Object.entries({
    '100644': 'file',
    '100755': 'executable',
    '120000': 'link',
  }),
);

/** Parses `diff-tree -r -z --raw --no-renames THEN NOW`. */
export function parseTreeDiff(output: string): readonly TreeChange[] {
  const fields = splitPaths(output);
  const changes: TreeChange[] = [];
  for (let index = 0; index + 1 < fields.length; index += 2) {
    const [modeThen = '', modeNow = '', blobThen = '', blobNow = ''] = (fields[index] ?? '')
      .slice(1)
      .split(' ');
    const path = fields[index + 1] ?? '';
    changes.push({ path, before: treeFile(modeThen, blobThen), after: treeFile(modeNow, blobNow) });
  }
  return changes;
}

function treeFile(mode: string, blob: string): TreeFile | undefined {
  if (mode === '000000') return undefined;
  return { kind: KINDS.get(mode) ?? 'other', blob };
}

/** What an undo restores, and what it leaves. Paths as in `paths.ts`. */
export interface RestorePlan {
  readonly remove: readonly string[];
  readonly write: readonly { readonly path: string; readonly file: TreeFile }[];
  /** Changes that should be undone but cannot: while they exist, the undo is incomplete. */
  readonly blocked: readonly LeftOut[];
  /** Paths that may be unchanged, or were never saved. */
  readonly untouched: readonly LeftOut[];
}

/** Further constraints on an undo. */
export interface RestoreBounds {
  /** Paths that existed at the time but are missing from the snapshot. */
  readonly leftOutThen: readonly LeftOut[];
  /** Paths that exist now but are missing from the saved present state: overwriting them would be irreversible. */
  readonly leftOutNow: readonly LeftOut[];
  /** Paths that git ignored by the rules of that time: they may have existed unseen. */
  readonly ignoredThen: ReadonlySet<string>;
}

/** Chooses what an undo does with each change. Whatever could not be recovered stays unchanged. */
export function planRestore(changes: readonly TreeChange[], bounds: RestoreBounds): RestorePlan {
  const then = new Map(bounds.leftOutThen.map(({ path, why }) => [path, why]));
  const now = new Map(bounds.leftOutNow.map(({ path, why }) => [path, why]));
  const remove: string[] = [];
  const write: { path: string; file: TreeFile }[] = [];
  const blocked: LeftOut[] = [];
  const untouched: LeftOut[] = [];
  for (const { path, before: file, after } of changes) {
    const isUnsaved = now.get(path);
    const wasUnsaved = then.get(path);
    if (isUnsaved !== undefined) blocked.push({ path, why: isUnsaved });
    else if (!isSafePath(path) || file?.kind === 'other' || after?.kind === 'other')
      blocked.push({ path, why: 'nothing that Baton saves, so something else changed the snapshot' });
    else if (wasUnsaved !== undefined)
      untouched.push({ path, why: `${wasUnsaved} at the time of the snapshot` });
    else if (file !== undefined) write.push({ path, file });
    else if (bounds.ignoredThen.has(path))
      untouched.push({ path, why: 'a file that git ignored at the time of the snapshot' });
    else remove.push(path);
  }
  return { remove, write, blocked, untouched };
}

/** A path that differs from its state at the end of the turn. */
export interface LaterEdit extends LeftOut {
  /** The turn changed it as well, or may have: the user decides whether to revert it. */
  readonly overlaps: boolean;
}

/** Which paths changed when, from comparing the saved states. Paths as in `paths.ts`. */
export interface Authorship {
  /** Changed in a turn to undo. */
  readonly turns: ReadonlySet<string>;
  /** Changed after such a turn had ended. */
  readonly later: ReadonlySet<string>;
  /** Changed since the start of a turn whose end was not saved. */
  readonly unknown: ReadonlySet<string>;
}

/** Divides the differences from the snapshot into the turn's own changes and later edits by others. */
export function divideChanges(
  changes: readonly TreeChange[],
  { turns, later, unknown }: Authorship,
): { readonly own: readonly TreeChange[]; readonly laterEdits: readonly LaterEdit[] } {
  const own: TreeChange[] = [];
  const laterEdits: LaterEdit[] = [];
  for (const change of changes) {
    const { path } = change;
    if (unknown.has(path))
      laterEdits.push({
        path,
        why: 'changed by the turn or after it: its end was not saved',
        overlaps: true,
      });
    else if (!later.has(path)) own.push(change);
    else if (turns.has(path))
      laterEdits.push({ path, why: 'changed by the turn and again after it', overlaps: true });
    else laterEdits.push({ path, why: 'changed after the turn, which did not touch it', overlaps: false });
  }
  return { own, laterEdits };
}

/** What happened to a path since the snapshot. */
export type ChangeWord = 'added' | 'modified' | 'deleted';

/** The word for a change. */
export function wordOf({ before, after }: TreeChange): ChangeWord {
  if (before === undefined) return 'added';
  return after === undefined ? 'deleted' : 'modified';
}
