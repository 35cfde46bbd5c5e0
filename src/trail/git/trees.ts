// The work trees of a repository: where a path belongs, which branch each has checked out, what its index and its stashes hold.

import { clip, detached } from '../../text/sentences.ts';
import type { Stash } from './change.ts';
import type { Distance } from '../outputs/git-output.ts';
import type { RunDirectory, GitStep } from './step.ts';
import { isAtOrBelow, operandsOf } from '../../shell/git-words.ts';

const MAX_TREES = 60;
/** Characters of a hash that are kept of a long one. */
const HASH_LENGTH = 9;
const SUBJECT_LENGTH = 200;
/** Characters of a hash by which it is known again. */
const KNOWN_BY = 7;

/** The newest commit of a branch, and where the log tells of it; what git did not print is undefined. */
export interface BranchHead {
  readonly hash: string | undefined;
  readonly subject: string | undefined;
  readonly position: number;
}

/** What is known of one branch in one tree. */
export interface Branch {
  head: BranchHead | undefined;
  /** Commits that its remote does not have, and whether there can be no more. */
  ahead: number;
  /** Of these, those that the session made. */
  own: number;
  /** Commits that the remote did not have before the session made its first, as git told. */
  before: number;
  isExact: boolean;
  /** Git told of its remote, or it was to be pushed. */
  isRemoteSeen: boolean;
  /** Commits of its remote that it does not have, as git told. */
  behind: number;
  /** Why git refused the newest push. */
  refusal: string | undefined;
  /** It was put on what the remote has since then. */
  isMended: boolean;
  /** What was checked out before somebody else moved it: the session did nothing that would have. */
  movedFrom: string | undefined;
  /** A command of the session may have moved it, which git did not tell. */
  mayHaveMoved: boolean;
}

/** What waits for the next commit, beside what is told of the changes themselves. */
export interface Index {
  /** Whether anything was seen to be added since the last commit. */
  hasAdded: boolean;
  /** What was added is not known: a commit may hold anything. */
  isUnclear: boolean;
  /** What was added since the last commit, one by one; undefined where a pattern was. */
  added: Set<string> | undefined;
}

/** One work tree. */
export interface Tree {
  /** The branch that is checked out; empty where that is not known. */
  branch: string;
  readonly branches: Map<string, Branch>;
  index: Index;
  /** The newest last. */
  readonly stashes: Stash[];
}

/** The work trees that the log tells of, each by its root as the trail names paths; their number is bounded. */
export class Trees {
  readonly #trees = new Map<string, Tree>([['.', newTree()]]);

  get(root: string): Tree | undefined {
    return this.#trees.get(root);
  }

  /** Begins a work tree anew. */
  add(root: string): void {
    this.#trees.set(detached(root), newTree());
  }

  remove(root: string): void {
    this.#trees.delete(root);
  }

  /** The root of the tree that a directory belongs to, which is noted where it is new. */
  noteTreeOf(directory: string): string {
    const root = this.rootOf(directory) ?? directory;
    if (!this.#trees.has(root)) this.add(root);
    for (const oldest of this.#trees.keys()) {
      if (this.#trees.size <= MAX_TREES) break;
      if (oldest !== '.' && oldest !== root) this.#trees.delete(oldest);
    }
    return root;
  }

  /** The deepest known tree that a path lies in, or the work tree that its directory of work trees tells. */
  rootOf(path: string): string | undefined {
    const kept = /^(?:.*\/)?[\w.-]*worktrees\/[^/]+(?=\/|$)/.exec(path)?.[0];
    let root: string | undefined = kept;
    for (const known of this.#trees.keys()) {
      const isDeeper = root === undefined || (known !== '.' && (root === '.' || known.length > root.length));
      if (isDeeper && isAtOrBelow(path, known)) root = known;
    }
    return root;
  }

  /** Whether a path lies where git ran: `unsure` where it may be another directory of the same tree, or of another one. */
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
   * Moves to the branch that is checked out by now. The names of the old one and of a new one that begins where the old one is;
   * undefined where none does.
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

  /** What was added is not known: a commit may hold anything. */
  blur(): void {
    for (const { index } of this.#trees.values()) index.isUnclear = true;
  }

  /** Git told how far the branch and its remote are apart. */
  setAhead(root: string, distance: Distance | undefined): void {
    const branch = this.branchOf(root);
    if (branch === undefined || distance === undefined) return;
    branch.ahead = distance.ahead;
    if (branch.own === 0) branch.before = distance.ahead;
    branch.behind = distance.behind;
    branch.isExact = true;
    branch.isRemoteSeen = true;
  }

  /** Git told what is checked out. */
  setHead(root: string, head: Pick<BranchHead, 'hash' | 'subject'> | undefined, position: number): void {
    const branch = this.branchOf(root);
    if (branch === undefined || head === undefined) return;
    branch.head = { hash: shortHash(head.hash), subject: shortSubject(head.subject), position };
    branch.mayHaveMoved = false;
  }

  /** Git was asked what is checked out. How that compares with what was known: somebody else may have moved it. */
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

/** A hash as it is kept. */
export function shortHash(hash: string | undefined): string | undefined {
  return hash === undefined ? undefined : detached(hash.slice(0, HASH_LENGTH));
}

/** A subject as it is kept. */
export function shortSubject(subject: string | undefined): string | undefined {
  return subject === undefined ? undefined : detached(clip(subject, SUBJECT_LENGTH));
}

/** An index that holds nothing that is not known. */
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
