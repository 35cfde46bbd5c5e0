// The work trees of a repository: which tree a path belongs to, which branch each has checked out, what its index and its
// stashes hold.

import { clip, detached } from '../../text/sentences.ts';
import type { Stash } from './change.ts';
import type { Distance } from '../outputs/git-output.ts';
import type { RunDirectory, GitStep } from './step.ts';
import { isAtOrBelow, operandsOf } from '../../shell/git-words.ts';

const MAX_TREES = 60;
/** Characters kept of a long hash. */
const HASH_LENGTH = 9;
const SUBJECT_LENGTH = 200;
/** Characters of a hash that identify it. */
const KNOWN_BY = 7;

/** The newest commit of a branch, and where in the log it appears; parts that git did not print are undefined. */
export interface BranchHead {
  readonly hash: string | undefined;
  readonly subject: string | undefined;
  readonly position: number;
}

/** What is known of one branch in one tree. */
export interface Branch {
  head: BranchHead | undefined;
  /** Number of commits that its remote does not have, and whether that number is exact. */
  ahead: number;
  /** Those of them that the session made. */
  own: number;
  /** Commits that the remote lacked before the session's first commit, according to git. */
  before: number;
  isExact: boolean;
  /** Git reported its remote, or a push was attempted. */
  isRemoteSeen: boolean;
  /** Commits on its remote that it does not have, according to git. */
  behind: number;
  /** Why git rejected the newest push. */
  refusal: string | undefined;
  /** It has since been brought up to date with the remote. */
  isMended: boolean;
  /** What was checked out before somebody outside the session moved it. */
  movedFrom: string | undefined;
  /** A command of the session may have moved it, but git did not report that. */
  mayHaveMoved: boolean;
}

/** What awaits the next commit, besides what the changes themselves record. */
export interface Index {
  /** Whether anything was staged since the last commit. */
  hasAdded: boolean;
  /** The staged content is unknown: a commit may hold anything. */
  isUnclear: boolean;
  /** The paths staged since the last commit; undefined after a pattern was staged. */
  added: Set<string> | undefined;
}

/** One work tree. */
export interface Tree {
  /** The checked-out branch; empty if unknown. */
  branch: string;
  readonly branches: Map<string, Branch>;
  index: Index;
  /** The newest last. */
  readonly stashes: Stash[];
}

/** The work trees in the log, each by its root, named as in the trail; their number is bounded. */
export class Trees {
  readonly #trees = new Map<string, Tree>([['.', newTree()]]);

  get(root: string): Tree | undefined {
    return this.#trees.get(root);
  }

  /** Resets a work tree. */
  add(root: string): void {
    this.#trees.set(detached(root), newTree());
  }

  remove(root: string): void {
    this.#trees.delete(root);
  }

  /** The root of the tree that a directory belongs to; records a new tree. */
  noteTreeOf(directory: string): string {
    const root = this.rootOf(directory) ?? directory;
    if (!this.#trees.has(root)) this.add(root);
    for (const oldest of this.#trees.keys()) {
      if (this.#trees.size <= MAX_TREES) break;
      if (oldest !== '.' && oldest !== root) this.#trees.delete(oldest);
    }
    return root;
  }

  /** The deepest known tree that contains a path, or the work tree implied by its directory of work trees. */
  rootOf(path: string): string | undefined {
    const kept = /^(?:.*\/)?[\w.-]*worktrees\/[^/]+(?=\/|$)/.exec(path)?.[0];
    let root: string | undefined = kept;
    for (const known of this.#trees.keys()) {
      const isDeeper = root === undefined || (known !== '.' && (root === '.' || known.length > root.length));
      if (isDeeper && isAtOrBelow(path, known)) root = known;
    }
    return root;
  }

  /** Whether a path is where git ran; `unsure` if it may be in another directory of the same tree, or in another tree. */
  whereIs(path: string, { tree, directory }: RunDirectory): 'here' | 'unsure' | 'elsewhere' {
    if ((this.rootOf(path) ?? tree) !== tree) return 'elsewhere';
    return isAtOrBelow(path, directory) ? 'here' : isAtOrBelow(path, tree) ? 'unsure' : 'elsewhere';
  }

  /** The branch that a tree has checked out. */
  branchOf(root: string): Branch | undefined {
    const tree = this.#trees.get(root);
    return tree?.branches.get(tree.branch);
  }

  /**
   * Switches to the branch that is now checked out. Returns the names of the old branch and of a new one that starts there;
   * undefined without a new one.
   */
  follow({ tree: root, git, run }: GitStep): { readonly from: string; readonly to: string } | undefined {
    const tree = this.#trees.get(root);
    if (tree === undefined) return undefined;
    const moves = git.verb === 'checkout' || git.verb === 'switch';
    const branch = run.branchOf(git) ?? (moves ? '' : tree.branch);
    if (tree.branches.has(branch)) {
      tree.branch = detached(branch);
      return undefined;
    }
    const isNew =
      git.words.some((word) => /^-[bBcC]$|^--create$/.test(word)) && operandsOf(git.words).length < 2;
    const isSame = tree.branch === '' || git.verb === 'branch' || (isNew && !run.failed);
    const from = tree.branch;
    const before = tree.branches.get(from);
    tree.branch = detached(branch);
    tree.branches.set(tree.branch, isSame && before !== undefined ? { ...before } : newBranch());
    return isSame ? { from, to: tree.branch } : undefined;
  }

  /** The staged content is unknown: a commit may hold anything. */
  blur(): void {
    for (const { index } of this.#trees.values()) index.isUnclear = true;
  }

  /** Git reported how far the branch and its remote are apart. */
  setAhead(root: string, distance: Distance | undefined): void {
    const branch = this.branchOf(root);
    if (branch === undefined || distance === undefined) return;
    branch.ahead = distance.ahead;
    if (branch.own === 0) branch.before = distance.ahead;
    branch.behind = distance.behind;
    branch.isExact = true;
    branch.isRemoteSeen = true;
  }

  /** Git reported what is checked out. */
  setHead(root: string, head: Pick<BranchHead, 'hash' | 'subject'> | undefined, position: number): void {
    const branch = this.branchOf(root);
    if (branch === undefined || head === undefined) return;
    branch.head = { hash: shortHash(head.hash), subject: shortSubject(head.subject), position };
    branch.mayHaveMoved = false;
  }

  /** Git showed what is checked out. Returns how that compares with the known state: somebody else may have moved it. */
  seeHead(
    root: string,
    head: Pick<BranchHead, 'hash' | 'subject'>,
    position: number,
  ): 'new' | 'same' | 'moved' {
    const branch = this.branchOf(root);
    const before = branch?.head?.hash;
    const isSame = before !== undefined && head.hash?.startsWith(before.slice(0, KNOWN_BY)) === true;
    const isMoved = before !== undefined && !isSame && branch?.mayHaveMoved === false;
    this.setHead(root, head, position);
    if (branch !== undefined && isMoved) branch.movedFrom = before;
    return isSame ? 'same' : isMoved ? 'moved' : 'new';
  }
}

/** Shortens a hash to the form in which it is kept. */
export function shortHash(hash: string | undefined): string | undefined {
  return hash === undefined ? undefined : detached(hash.slice(0, HASH_LENGTH));
}

/** Shortens a subject to the form in which it is kept. */
export function shortSubject(subject: string | undefined): string | undefined {
  return subject === undefined ? undefined : detached(clip(subject, SUBJECT_LENGTH));
}

/** An index whose content is fully known and empty. */
export function emptyIndex(): Index {
  return { hasAdded: false, isUnclear: false, added: new Set() };
}

function newBranch(): Branch {
  const head = undefined;
  return {
    head,
    ahead: 0,
    own: 0,
    before: 0,
    isExact: true,
    isRemoteSeen: false,
    behind: 0,
    refusal: undefined,
    isMended: false,
    movedFrom: undefined,
    mayHaveMoved: false,
  };
}

function newTree(): Tree {
  return { branch: '', branches: new Map([['', newBranch()]]), index: emptyIndex(), stashes: [] };
}
