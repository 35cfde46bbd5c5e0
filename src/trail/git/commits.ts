// The session's commits: which branches hold them, what became of them, which were made after a revision.

import type { Commit, CommitFate } from '../trail.ts';
import type { LoggedCommit } from '../outputs/git-output.ts';
import type { GitStep } from './step.ts';
import { shortHash, shortSubject } from './trees.ts';
import type { Trees } from './trees.ts';
import { stepsBack } from '../../shell/git-words.ts';

const MAX_COMMITS = 120;
/** Characters of a subject that identify a commit after it was recreated. */
const KNOWN_BY = 60;

/** A commit that the session made. */
export interface MadeCommit {
  readonly turn: number;
  readonly position: number;
  hash: string | undefined;
  readonly subject: string;
  readonly tree: string;
  /** The branches that hold it, as far as the session made them. */
  readonly branches: Set<string>;
  /** The changes it contains. */
  readonly files: readonly string[];
  isPushed: boolean;
  fate: CommitFate | undefined;
}

/** Collects the session's commits and moves the branches of the trees along with them; their number is bounded. */
export class MadeCommits {
  readonly #trees: Trees;
  #commits: MadeCommit[] = [];
  #newestPosition: number | undefined;

  constructor(trees: Trees) {
    this.#trees = trees;
  }

  /** Position of the newest commit, in items of the log. */
  get newestPosition(): number | undefined {
    return this.#newestPosition;
  }

  list(): Commit[] {
    return this.#commits.map(({ turn, hash, subject, fate }) => ({ turn, hash, subject, fate }));
  }

  /** The newest commit, in one tree or overall, that was not discarded. */
  newest(root?: string): MadeCommit | undefined {
    return this.#commits.findLast(
      ({ tree, fate }) => fate !== 'thrown away' && (root === undefined || tree === root),
    );
  }

  has(subject: string): boolean {
    return this.#commits.some((commit) => commit.subject === subject);
  }

  /** The commits on the branch that a tree has checked out, newest last. */
  onBranch(root: string): MadeCommit[] {
    const branch = this.#trees.get(root)?.branch ?? '';
    return this.#commits.filter(
      (commit) =>
        commit.tree === root &&
        commit.fate !== 'thrown away' &&
        (branch === '' || commit.branches.has(branch) || commit.branches.has('')),
    );
  }

  /** Adds a commit to the checked-out branch; without a known subject it only moves the branch. */
  add(
    { tree, moment: { turn, position } }: GitStep,
    made: {
      readonly hash: string | undefined;
      readonly subject: string | undefined;
      readonly files: readonly string[];
    },
  ): void {
    const hash = shortHash(made.hash);
    const subject = shortSubject(made.subject);
    this.#newestPosition = position;
    if (subject !== undefined) {
      const branches = new Set([this.#trees.get(tree)?.branch ?? '']);
      const { files } = made;
      const commit = { turn, position, hash, subject, tree, branches, files };
      this.#commits.push({ ...commit, isPushed: false, fate: undefined });
      if (this.#commits.length > MAX_COMMITS) this.#commits.shift();
    }
    const branch = this.#trees.branchOf(tree);
    if (branch === undefined) return;
    branch.head = { hash, subject, position };
    branch.ahead++;
    branch.own++;
  }

  /** A branch starts at another one: it holds the same commits. */
  share(root: string, { from, to }: { readonly from: string; readonly to: string }): void {
    for (const { tree, branches } of this.#commits) if (tree === root && branches.has(from)) branches.add(to);
  }

  /** The branch's newest commit is being amended: its contents go into the new one. */
  takeBack(root: string): MadeCommit | undefined {
    const newest = this.onBranch(root).at(-1);
    const branch = this.#trees.branchOf(root);
    if (branch !== undefined && branch.ahead > 0) branch.ahead--;
    if (branch !== undefined && branch.own > 0) branch.own--;
    const { hash, subject } = branch?.head ?? newest ?? {};
    const isOther =
      newest?.hash === undefined || hash === undefined ? newest?.subject !== subject : newest.hash !== hash;
    if (newest === undefined || isOther) return undefined;
    this.forget([newest]);
    return newest;
  }

  /** Removes commits that no longer exist; their contents are elsewhere. */
  forget(gone: readonly MadeCommit[]): void {
    this.#commits = this.#commits.filter((commit) => !gone.includes(commit));
  }

  /** The commits on a branch made after a revision; undefined if the log does not determine them. */
  madeAfter(revision: string, root: string): MadeCommit[] | undefined {
    const made = this.onBranch(root);
    const steps = stepsBack(revision);
    if (steps === 0) return [];
    if (steps !== undefined) return steps > made.length ? undefined : made.slice(-steps);
    const at = made.findIndex(
      ({ hash }) =>
        hash !== undefined &&
        /^[0-9a-f]{7,40}$/.test(revision) &&
        (hash.startsWith(revision) || revision.startsWith(hash)),
    );
    if (at >= 0) return made.slice(at + 1);
    return /^(?:origin|upstream)\/|^@\{u/.test(revision)
      ? made.filter(({ isPushed }) => !isPushed)
      : undefined;
  }

  /** What is checked out has this hash. */
  rename(root: string, reported: string): void {
    const branch = this.#trees.branchOf(root);
    const head = branch?.head;
    const hash = shortHash(reported);
    if (branch === undefined || head === undefined || head.hash?.slice(0, 7) === hash?.slice(0, 7)) return;
    branch.head = { ...head, hash, subject: head.hash === undefined ? head.subject : undefined };
    const newest = this.onBranch(root).at(-1);
    if (newest === undefined || newest.hash !== undefined || newest.subject !== head.subject) return;
    newest.hash = hash;
    newest.fate = undefined;
  }

  /** A listing shows the hashes of commits that have none, or an outdated one. */
  recognise(root: string, logged: readonly LoggedCommit[]): void {
    for (const { hash, subject } of logged) {
      const known = this.#commits.findLast(
        (commit) =>
          commit.tree === root &&
          (commit.hash === undefined || commit.fate === 'rebased') &&
          commit.subject.slice(0, KNOWN_BY) === subject.slice(0, KNOWN_BY),
      );
      if (known === undefined) continue;
      known.hash = shortHash(hash);
      known.fate = undefined;
    }
  }
}
