// The current place of the work. A session moves between directories, work trees and branches, which its header does not show.

import type { CallMeaning } from '../calls/calls.ts';
import { detached } from '../../text/sentences.ts';
import { gitCommandOf } from '../../shell/git-commands.ts';
import { joinPath } from '../../shell/scripts.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';

/** Characters at the head of an output that are searched for git's branch name. */
const SEARCHED_LENGTH = 2_000;

/** How git reports the current branch. @source git status, status -b, switch, checkout and commit */
const BRANCH_REPORTS = [
  /^On branch (\S{1,200})$/m,
  /^## (?:No commits yet on )?((?:[^\s.]|\.(?!\.\.)){1,200})(?:\.\.\.\S+)?(?: \[.{1,60}\])?$/m,
  /^(?:Switched to (?:a new )?branch|Already on) '([^'\n]{1,200})'/m,
  /^\[([^\s\]]{1,200})(?: \(root-commit\))? [0-9a-f]{7,40}\] /m,
];

/** How git reports that no branch is checked out. */
const DETACHED =
  /^(?:HEAD detached at |## HEAD \(no branch\)|\[detached HEAD [0-9a-f]{7,40}\]|HEAD is now at )/m;

/** The newest commands that determine the place by majority: a single look elsewhere does not change it. */
const DECIDING_COMMANDS = 7;
/** Directories whose branch is remembered, those named last. */
const MAX_BRANCHES = 60;

/** Tracks where most of the newest commands ran, and the last branch reported for each directory. */
export class PlaceLedger {
  readonly #directories: string[] = [];
  /** By directory, the newest last. */
  readonly #branches = new Map<string, string | undefined>();

  get directory(): string | undefined {
    const counts = new Map<string, number>();
    for (const directory of this.#directories) counts.set(directory, (counts.get(directory) ?? 0) + 1);
    const most = Math.max(0, ...counts.values());
    return this.#directories.findLast((directory) => counts.get(directory) === most);
  }

  /** The branch checked out in a directory; undefined if nothing reported it. */
  branchOf(directory: string): string | undefined {
    return this.#branches.get(this.#checkoutOf(directory));
  }

  /** Records a branch that the file itself names for a directory. */
  noteBranch(directory: string, branch: string): void {
    this.#set(withoutSlash(directory), branch);
  }

  /** Records where a command ran: the directory that the call names, then the one that its script changed to. */
  noteCall({ simple, directory }: CallMeaning, root: string | undefined): void {
    if (simple === undefined) return;
    const to = placeOf(simple.findLast(({ words }) => words[0] !== 'cd')?.directory, directory ?? root);
    if (to === undefined) return;
    this.#directories.push(detached(to));
    if (this.#directories.length > DECIDING_COMMANDS) this.#directories.shift();
  }

  /** Records the branches that a script sets and git reports, each for the directory where git ran. */
  noteOutput({ simple = [], directory }: CallMeaning, output: string, run: Ran): void {
    const calls = simple.flatMap((command) => gitCallOf(command, directory ?? run.root));
    if (!run.failed) for (const call of calls) this.#noteWords(call);
    const [place, other] = new Set(
      calls.filter(({ isWorktree }) => !isWorktree).map((call) => call.directory),
    );
    // With several places, an output does not say which one it is about.
    if (place === undefined || other !== undefined) return;
    const head = output.slice(0, SEARCHED_LENGTH);
    const branch =
      BRANCH_REPORTS.map((pattern) => pattern.exec(head)?.[1]).findLast((name) => name !== undefined) ??
      shownBranch(simple, head);
    if (branch !== undefined && !/^(?:detached|HEAD|\(.*)$/.test(branch))
      this.#set(this.#checkoutOf(place), detached(branch));
    else if (DETACHED.test(head) && calls.some(({ movesHead }) => movesHead))
      this.#set(this.#checkoutOf(place), undefined);
  }

  #noteWords({ directory, sets }: GitCall): void {
    if (sets === undefined) return;
    const branch = sets.branch === undefined ? undefined : detached(sets.branch);
    if (sets.at === undefined) this.#set(this.#checkoutOf(directory), branch);
    else this.#set(sets.at, branch);
  }

  #set(checkout: string, branch: string | undefined): void {
    this.#branches.delete(checkout);
    this.#branches.set(detached(checkout), branch);
    for (const oldest of this.#branches.keys()) {
      if (this.#branches.size <= MAX_BRANCHES) break;
      this.#branches.delete(oldest);
    }
  }

  /** The known checkout that contains a directory. Work trees are often inside the checkout they came from. */
  #checkoutOf(directory: string): string {
    for (let at = directory.length; at > 0; at = directory.lastIndexOf('/', at - 1)) {
      const above = directory.slice(0, at);
      if (this.#branches.has(above)) return above;
      if (/^\.|worktree/i.test(above.slice(above.lastIndexOf('/') + 1))) break;
    }
    return directory;
  }
}

/** How and where a script ran. */
export interface Ran {
  /** The directory of calls that name none. */
  readonly root: string | undefined;
  readonly failed: boolean;
}

/** One run of git. */
interface GitCall {
  readonly directory: string;
  /** It concerns work trees, whatever directory it ran in. */
  readonly isWorktree: boolean;
  /** It may leave the checkout without a branch. */
  readonly movesHead: boolean;
  /** The branch that its words check out, in a separate directory or where it ran. */
  readonly sets: { readonly at?: string; readonly branch: string | undefined } | undefined;
}

function gitCallOf(command: SimpleCommand, base: string | undefined): GitCall[] {
  const git = gitCommandOf(command);
  const place = git === undefined ? undefined : placeOf(git.directory, base);
  if (git === undefined || place === undefined) return [];
  const { verb, words } = git;
  const isWorktree = verb === 'worktree';
  const sets = isWorktree ? addedWorktree(words, place) : newBranch(verb, words);
  return [{ directory: place, isWorktree, movesHead: verb === 'checkout' || verb === 'switch', sets }];
}

/** The options before the name of a branch, by verb. */
const NAMES_BRANCH: ReadonlyMap<string, RegExp> = new Map([
  ['checkout', /^-[bB]$/],
  ['switch', /^(?:-[cC]|--create)$/],
  ['branch', /^-[mM]$/],
]);

/** The branch that `checkout -b`, `switch -c` and `branch -m` leave checked out; other verbs report it in their output. */
function newBranch(verb: string, words: readonly string[]): { readonly branch: string } | undefined {
  const flags = NAMES_BRANCH.get(verb);
  const at = flags === undefined ? -1 : words.findIndex((word) => flags.test(word));
  if (at < 0) return undefined;
  // `branch -m OLD NEW` may rename another one.
  const branch = verb === 'branch' && words.length > at + 2 ? undefined : words[at + 1];
  return branch === undefined || branch.startsWith('-') ? undefined : { branch };
}

const WORKTREE_OPTIONS_WITH_VALUE = new Set(['-b', '-B', '--reason']);

/** `worktree add [-b BRANCH] DIR [COMMIT]`; without `-b` an existing branch, or a new one named after the directory. */
function addedWorktree(words: readonly string[], place: string): GitCall['sets'] {
  if (words[0] !== 'add') return undefined;
  const operands: string[] = [];
  let branch: string | undefined;
  for (let at = 1; at < words.length; at++) {
    const word = words[at] ?? '';
    if (WORKTREE_OPTIONS_WITH_VALUE.has(word)) {
      at++;
      if (word !== '--reason') branch = words[at];
    } else if (!word.startsWith('-')) operands.push(word);
  }
  const [directory = '', commit] = operands;
  const at = placeOf(directory, place);
  if (at === undefined || directory === '') return undefined;
  if (branch !== undefined) return { at, branch };
  if (words.some((word) => word === '-d' || word === '--detach')) return { at, branch: undefined };
  // What is checked out may be a commit or a remote branch: its own output will show it.
  return { at, branch: commit === undefined ? at.slice(at.lastIndexOf('/') + 1) : undefined };
}

/** An absolute directory with `..` resolved; undefined for a relative path without a base, a home directory or a variable. */
export function placeOf(moved: string | undefined, base: string | undefined): string | undefined {
  const path = moved === undefined ? base : joinPath(base, moved);
  if (path?.startsWith('/') !== true || path.includes('$')) return undefined;
  const kept: string[] = [];
  for (const segment of path.split('/')) {
    if (segment === '..') kept.pop();
    else if (segment !== '' && segment !== '.') kept.push(segment);
  }
  return `/${kept.join('/')}`;
}

/** The output of a command that was run alone to show the branch. */
function shownBranch(simple: readonly SimpleCommand[], output: string): string | undefined {
  const [only, other] = simple.filter(({ words }) => words[0] !== 'cd');
  if (only === undefined || other !== undefined) return undefined;
  const { words } = only;
  const isAlone = words.includes('--show-current') || words.includes('--abbrev-ref');
  if (isAlone) return /^\S{1,200}$/.exec(output.trim())?.[0];
  return words.includes('branch') ? /^\* (\S{1,200})(?: |$)/m.exec(output)?.[1] : undefined;
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
