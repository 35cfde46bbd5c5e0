// Uncommitted changes: made by the session, staged, committed, restored by git.

import type { FileAction } from '../calls/calls.ts';
import { detached } from '../../text/sentences.ts';
import type { UncommittedChange, Stash } from './change.ts';
import type { ListedPath } from '../outputs/git-output.ts';
import type { RunDirectory } from './step.ts';
import type { Trees } from './trees.ts';
import { isAtOrBelow, pathsOf } from '../../shell/git-words.ts';
import type { CommitWords } from '../../shell/git-words.ts';

const MAX_CHANGES = 1_500;

/** A row of `git status`, its path written as in the trail. */
export interface StatusRow extends ListedPath {
  /** An untracked directory, so git does not list its contents. */
  readonly isUnknownDirectory: boolean;
}

/** Collects uncommitted changes; their number is bounded. */
export class OpenChanges {
  readonly #trees: Trees;
  readonly #changes = new Map<string, UncommittedChange>();
  /** Changes that the newest commits may or may not hold. */
  readonly #doubtful = new Map<string, UncommittedChange>();
  /** Directories whose new files git does not list. */
  readonly #ignored = new Set<string>();

  constructor(trees: Trees) {
    this.#trees = trees;
  }

  /** Takes in what happened to a file. @param isNew whether the session appears to have created it */
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

  /** The changes whose paths a test selects, newest first. */
  list(isIn: (path: string) => boolean): { readonly path: string; readonly isDeleted: boolean }[] {
    return [...this.#changes]
      .filter(([path]) => isIn(path))
      .toSorted(([, a], [, b]) => b.position - a.position)
      .map(([path, { isDeleted }]) => ({ path, isDeleted }));
  }

  /** Whether a path, or one below it, has a change. */
  hasAtOrBelow(path: string): boolean {
    return [...this.#changes.keys()].some((known) => isAtOrBelow(known, path));
  }

  /** Whether a path has, or may have, a change that neither a commit nor the index holds. */
  isDirty(path: string): boolean {
    return this.#changes.get(path)?.isDirty ?? this.#doubtful.has(path);
  }

  /** Stages changes. @param isTracked only those of tracked files */
  stage(place: RunDirectory, matches: (path: string) => boolean, isTracked: boolean): void {
    for (const [path, change] of this.#at(place)) {
      if (!matches(path) || (isTracked && change.isNew && !change.isStaged)) continue;
      this.#changes.set(path, { ...change, isStaged: true, isDirty: false });
    }
  }

  /** Unstages changes; without pathspecs, all in a tree. */
  unstage(place: RunDirectory, specs: readonly string[]): void {
    const { matches } = specs.length === 0 ? { matches: () => true } : pathsOf(specs, place.directory);
    for (const [path, change] of this.#at(place))
      if (change.isStaged && matches(path))
        this.#changes.set(path, { ...change, isStaged: false, isDirty: true });
  }

  /** Removes the changes of a tree that a test selects. */
  take(place: RunDirectory, isTaken: (path: string, change: UncommittedChange) => boolean): Stash {
    const taken = new Map(this.#at(place).filter(([path, change]) => isTaken(path, change)));
    for (const path of taken.keys()) this.#changes.delete(path);
    return taken;
  }

  /** Restores stashed changes, all unstaged. */
  putBack(stash: Stash): void {
    for (const [path, change] of stash)
      this.#changes.set(path, { ...change, isStaged: false, isDirty: true });
  }

  /** A commit that held a path is undone; the file itself stays as it is. */
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

  /** A work tree was removed with everything in it. */
  forgetBelow(root: string): void {
    for (const path of this.#changes.keys()) if (isAtOrBelow(path, root)) this.#changes.delete(path);
  }

  /**
   * Removes what a commit holds and returns those paths.
   * @param isKnown whether the log shows what the commit holds; if not, all changes of the tree are removed until git reports
   * more
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
   * Applies a listing of `git status`, which is authoritative.
   * @param isAll whether it was unrestricted and printed in full: then a commit holds what it does not list
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

  /** Somebody outside the session committed: which changes of a tree that commit holds is unknown. */
  doubtAll(place: RunDirectory): void {
    for (const [path, change] of this.#at(place)) this.#doubt(path, change);
  }

  /** An outside commit lists files, perhaps with shortened paths: it may hold the session's changes to them. */
  doubtListed(place: RunDirectory, files: readonly string[]): void {
    for (const [path, change] of this.#at(place))
      if (files.some((file) => path === file || path.endsWith(`/${file}`))) this.#doubt(path, change);
  }

  /** The changes that may be in the tree where git ran. */
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

  /** A deleted directory takes its contents with it; files that only the session knew leave no trace. */
  #delete(path: string, position: number): void {
    const below = [...this.#changes.keys()].filter((known) => known !== path && isAtOrBelow(known, path));
    for (const known of below) this.#delete(known, position);
    const before = this.#changes.get(path);
    this.#changes.delete(path);
    // What looks like a directory may be build output that git does not track.
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

  /** Git restored its version; for a directory, every tracked file. Staged changes stay. */
  #restore(path: string): void {
    for (const [known, change] of this.#changes) {
      if (known !== path && (change.isNew || !isAtOrBelow(known, path))) continue;
      if (change.isStaged) this.#changes.set(known, { ...change, isDirty: false });
      else this.#changes.delete(known);
    }
  }

  /** Whether a commit holds the change is unknown until git shows it. */
  #doubt(path: string, change: UncommittedChange): void {
    this.#changes.delete(path);
    this.#doubtful.set(path, change);
  }
}

function directoryOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}
