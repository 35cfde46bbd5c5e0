// What lies between a snapshot and the present, and which of it an undo takes back. Pure.

import { splitPaths } from './paths.ts';
import type { LeftOut } from './snapshot.ts';

/** A file in a tree of git's. */
export interface TreeFile {
  /** `link`: the blob is where it leads. */
  readonly kind: 'file' | 'executable' | 'link';
  readonly blob: string;
}

/** A path that is not the same in two trees. Paths as in `paths.ts`. */
export interface TreeChange {
  readonly path: string;
  /** In the older tree; undefined: not there. */
  readonly before: TreeFile | undefined;
  readonly after: TreeFile | undefined;
}

const KINDS: Readonly<Record<string, TreeFile['kind']>> = {
  '100644': 'file',
  '100755': 'executable',
  '120000': 'link',
};

/**
 * Reads `diff-tree -r -z --raw --no-renames THEN NOW`.
 * @throws TypeError for what git never writes
 */
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
  const kind = KINDS[mode];
  if (kind === undefined) throw new TypeError(`a tree holds the mode ${mode}`);
  return { kind, blob };
}

/** What an undo does, and what it leaves. Paths as in `paths.ts`. */
export interface RestorePlan {
  readonly remove: readonly string[];
  readonly write: readonly { readonly path: string; readonly file: TreeFile }[];
  readonly untouched: readonly LeftOut[];
}

/** What else bears on an undo. */
export interface RestoreBounds {
  /** What the snapshot does not hold although it was there. */
  readonly leftOutThen: readonly LeftOut[];
  /** What the present state does not hold although it is there: overwriting it could not be undone. */
  readonly leftOutNow: readonly LeftOut[];
  /** Paths that git ignored by the rules of that time: they may have been there, unseen. */
  readonly ignoredThen: ReadonlySet<string>;
}

/** Chooses what an undo does with each change. Whatever could not be had again stays as it is. */
export function planRestore(changes: readonly TreeChange[], bounds: RestoreBounds): RestorePlan {
  const then = new Map(bounds.leftOutThen.map(({ path, why }) => [path, why]));
  const now = new Map(bounds.leftOutNow.map(({ path, why }) => [path, why]));
  const remove: string[] = [];
  const write: { path: string; file: TreeFile }[] = [];
  const untouched: LeftOut[] = [];
  for (const { path, before: file } of changes) {
    const isUnsaved = now.get(path);
    const wasUnsaved = then.get(path);
    if (isUnsaved !== undefined) untouched.push({ path, why: isUnsaved });
    else if (wasUnsaved !== undefined)
      untouched.push({ path, why: `${wasUnsaved} at the time of the snapshot` });
    else if (file !== undefined) write.push({ path, file });
    else if (bounds.ignoredThen.has(path))
      untouched.push({ path, why: 'a file that git ignored at the time of the snapshot' });
    else remove.push(path);
  }
  return { remove, write, untouched };
}

/** What became of a path since the snapshot. */
export type ChangeWord = 'added' | 'modified' | 'deleted';

/** By which word people know a change. */
export function wordOf({ before, after }: TreeChange): ChangeWord {
  if (before === undefined) return 'added';
  return after === undefined ? 'deleted' : 'modified';
}
