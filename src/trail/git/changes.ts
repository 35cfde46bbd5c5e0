// The changes that no commit holds: made by the session, put into the index, taken by commits, given back by git.

import type { FileAction } from '../calls/calls.ts';
import { detached } from '../../text/sentences.ts';
import type { UncommittedChange, Stash } from './change.ts';
import type { ListedPath } from '../outputs/git-output.ts';
import type { RunDirectory } from './step.ts';
import type { Trees } from './trees.ts';
import { isAtOrBelow, pathsOf } from '../../shell/git-words.ts';
import type { CommitWords } from '../../shell/git-words.ts';

const MAX_CHANGES = 1_500;

/** A row of `git status` with its path as the trail names it. */
export interface StatusRow extends ListedPath {
  /** A directory of which git knows nothing, so that it does not list what lies in it. */
  readonly isUnknownDirectory: boolean;
}

/** Collects the changes that no commit holds; their number is bounded. */
export class OpenChanges {
  readonly #trees: Trees;
  readonly #changes = new Map<string, UncommittedChange>();
  /** Changes that the newest commits may hold or not. */
  readonly #doubtful = new Map<string, UncommittedChange>();
  /** Directories of which git does not list what is made there. */
  readonly #ignored = new Set<string>();

  constructor(trees: Trees) {
    this.#trees = trees;
  }

  /** Takes in what happened to a file. @param isNew whether the session made it, as it seems */
  note(file: Pick<FileAction, 'action' | 'path' | 'to'>, position: number, isNew: boolean): void {
    const { action, path, to } = file;
    if (action === 'restore') this.#restore(path);
    else if (action === 'delete') this.#delete(path, position);
    else if (action === 'move') {
      const before = this.#changes.get(path);
      this.#changes.delete(path);
      this.#dirty(to ?? path, position, before?.isNew ?? false);
    } else if (action !== 'read') this.#dirty(path, position, isNew);
  }

  /** The changes of the paths that a test chooses, the newest first. */
  list(isIn: (path: string) => boolean): { readonly path: string; readonly isDeleted: boolean }[] {
    return [...this.#changes]
      .filter(([path]) => isIn(path))
      .toSorted(([, a], [, b]) => b.position - a.position)
      .map(([path, { isDeleted }]) => ({ path, isDeleted }));
  }

  /** Whether a path has a change, or one below it. */
  hasAtOrBelow(path: string): boolean {
    return [...this.#changes.keys()].some((known) => isAtOrBelow(known, path));
  }

  /** Whether a path has a change that neither a commit nor the index holds, or may have one. */
  isDirty(path: string): boolean {
    return this.#changes.get(path)?.isDirty ?? this.#doubtful.has(path);
  }

  /** Puts changes into the index. @param isTracked only of what git knows */
  stage(place: RunDirectory, matches: (path: string) => boolean, isTracked: boolean): void {
    for (const [path, change] of this.#at(place)) {
      if (!matches(path) || (isTracked && change.isNew && !change.isStaged)) continue;
      this.#changes.set(path, { ...change, isStaged: true, isDirty: false });
    }
  }

  /** Takes changes out of the index again; without pathspecs all of a tree. */
  unstage(place: RunDirectory, specs: readonly string[]): void {
    const { matches } = specs.length === 0 ? { matches: () => true } : pathsOf(specs, place.directory);
    for (const [path, change] of this.#at(place))
      if (change.isStaged && matches(path))
        this.#changes.set(path, { ...change, isStaged: false, isDirty: true });
  }

  /** Takes away the changes of a tree that a test chooses. */
  take(place: RunDirectory, isTaken: (path: string, change: UncommittedChange) => boolean): Stash {
    const taken = new Map(this.#at(place).filter(([path, change]) => isTaken(path, change)));
    for (const path of taken.keys()) this.#changes.delete(path);
    return taken;
  }

  /** Gives back what was stashed, nothing of it in the index. */
  putBack(stash: Stash): void {
    for (const [path, change] of stash)
      this.#changes.set(path, { ...change, isStaged: false, isDirty: true });
  }

  /** A commit that held a path is undone, which leaves the file as it is. */
  bringBack(path: string, isStaged: boolean, position: number): void {
    const before = this.#changes.get(path);
    this.#changes.set(path, {
      position: before?.position ?? position,
      isStaged: isStaged || before?.isStaged === true,
      isDirty: !isStaged || before?.isDirty === true,
      isNew: before?.isNew ?? false,
      isDeleted: before?.isDeleted ?? false,
    });
  }

  /** A work tree is gone with all that lay in it. */
  forgetBelow(root: string): void {
    for (const path of this.#changes.keys()) if (isAtOrBelow(path, root)) this.#changes.delete(path);
  }

  /**
   * Takes out what a commit holds; the paths of that.
   * @param isKnown whether the log tells what that is: where it does not, all of the tree go, until git tells more
   */
  settle(place: RunDirectory, words: CommitWords, isKnown: boolean): string[] {
    const { paths, isAll, isOfIndex } = words;
    const taken: string[] = [];
    for (const [path, change] of this.#at(place)) {
      const isOfAll =
        isAll && (change.isStaged || !change.isNew) && this.#trees.whereIs(path, place) === 'here';
      const isWhole = isOfAll || paths?.matches(path) === true;
      const isIn = isWhole || (isOfIndex && change.isStaged);
      if (isIn) taken.push(path);
      if (isWhole || (isIn && !change.isDirty)) this.#changes.delete(path);
      else if (!isKnown || isAll) this.#doubt(path, change);
      else if (isIn) this.#changes.set(path, { ...change, isStaged: false, isNew: false });
    }
    return taken;
  }

  /**
   * Compares with what `git status` lists, which is so.
   * @param isAll whether it was asked for all and printed all: then what it does not list is in a commit
   */
  compare(place: RunDirectory, rows: readonly StatusRow[], isAll: boolean): void {
    for (const [path, change] of [...this.#doubtful, ...this.#changes]) {
      if (this.#trees.whereIs(path, place) === 'elsewhere') continue;
      const row = rows.find((one) => one.path === path);
      if (row !== undefined) {
        const { isStaged, isDirty, isUntracked, isDeleted } = row;
        const { position } = change;
        this.#changes.set(path, { position, isStaged, isDirty, isNew: isUntracked, isDeleted });
      } else if (rows.some((one) => one.isUnknownDirectory && isAtOrBelow(path, one.path)))
        this.#changes.set(path, change);
      else if (isAll) {
        this.#changes.delete(path);
        if (change.isNew && !change.isDeleted && !change.isStaged) this.#ignored.add(directoryOf(path));
      }
      if (isAll || row !== undefined) this.#doubtful.delete(path);
    }
  }

  /** Somebody else committed: nobody knows what of a tree is in that. */
  doubtAll(place: RunDirectory): void {
    for (const [path, change] of this.#at(place)) this.#doubt(path, change);
  }

  /** A commit of somebody else lists files, maybe with their paths cut in front: it may hold what was changed of them. */
  doubtListed(place: RunDirectory, files: readonly string[]): void {
    for (const [path, change] of this.#at(place))
      if (files.some((file) => path === file || path.endsWith(`/${file}`))) this.#doubt(path, change);
  }

  /** The changes that may lie in the tree in which git ran. */
  #at(place: RunDirectory): [string, UncommittedChange][] {
    return [...this.#changes].filter(([path]) => this.#trees.whereIs(path, place) !== 'elsewhere');
  }

  #dirty(path: string, position: number, isNew: boolean): void {
    const before = this.#changes.get(path);
    if (isNew && before === undefined && this.#ignored.has(directoryOf(path))) return;
    this.#changes.delete(path);
    this.#doubtful.delete(path);
    this.#changes.set(detached(path), {
      position,
      isStaged: before?.isStaged ?? false,
      isDirty: true,
      isNew: before?.isNew ?? isNew,
      isDeleted: false,
    });
    for (const oldest of this.#changes.keys()) {
      if (this.#changes.size <= MAX_CHANGES) break;
      this.#changes.delete(oldest);
    }
  }

  /** What lay in a directory is gone with it; a file that only the session knew, without a trace. */
  #delete(path: string, position: number): void {
    const below = [...this.#changes.keys()].filter((known) => known !== path && isAtOrBelow(known, path));
    for (const known of below) this.#delete(known, position);
    const before = this.#changes.get(path);
    this.#changes.delete(path);
    // What looks like a directory may have been built and be none of git's.
    const isOfGit = before !== undefined || /[^/.]\.\w+$/.test(path);
    if (!isOfGit || (before?.isNew === true && !before.isStaged)) return;
    this.#changes.set(detached(path), {
      position,
      isStaged: before?.isStaged ?? false,
      isDirty: true,
      isNew: before?.isNew ?? false,
      isDeleted: true,
    });
  }

  /** Git put back what it has, of a directory all it knows. What waits in the index stays there. */
  #restore(path: string): void {
    for (const [known, change] of this.#changes) {
      if (known !== path && (change.isNew || !isAtOrBelow(known, path))) continue;
      if (change.isStaged) this.#changes.set(known, { ...change, isDirty: false });
      else this.#changes.delete(known);
    }
  }

  /** Nobody knows whether a commit holds it, unless git tells. */
  #doubt(path: string, change: UncommittedChange): void {
    this.#changes.delete(path);
    this.#doubtful.set(path, change);
  }
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
