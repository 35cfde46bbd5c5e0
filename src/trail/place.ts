// Where the work happens now: a session moves between directories, work trees and branches, which its head does not tell.

import type { CallMeaning } from './calls.ts';
import { detached } from './sentences.ts';
import { joinPath } from './shell.ts';
import type { SimpleCommand } from './shell.ts';

/** Characters at the head of an output in which git names its branch. */
const SEARCHED_LENGTH = 2_000;

/** How git names the branch it is on. @source git status, switch, checkout and commit */
const BRANCH_REPORTS = [
  /^On branch (\S{1,200})$/m,
  /^Switched to (?:a new )?branch '([^'\n]{1,200})'/m,
  /^\[([^\s\]]{1,200})(?: \(root-commit\))? [0-9a-f]{7,40}\] /m,
];

/** Commands that decide together where the work happens: one look at another place moves nothing. */
const DECIDING_COMMANDS = 7;

/** Keeps the directory of most of the newest commands, and the branch that was named last. */
export class PlaceLedger {
  readonly #directories: string[] = [];
  #branch: string | undefined;

  get directory(): string | undefined {
    const counts = new Map<string, number>();
    for (const directory of this.#directories) counts.set(directory, (counts.get(directory) ?? 0) + 1);
    const most = Math.max(0, ...counts.values());
    return this.#directories.findLast((directory) => counts.get(directory) === most);
  }

  get branch(): string | undefined {
    return this.#branch;
  }

  /** Takes over a branch that the file itself names. */
  noteBranch(branch: string): void {
    this.#branch = branch;
  }

  /** Takes in where a command ran: the directory it was given, then where its script went. */
  noteCall({ simple, directory }: CallMeaning, root: string | undefined): void {
    if (simple === undefined) return;
    const moved = directoryOf(simple);
    const base = directory ?? root;
    const to = moved === undefined ? base : joinPath(base, moved);
    // A relative path without a base, a way up and a variable name no place.
    if (to?.startsWith('/') !== true || /\$|\.\./.test(to)) return;
    this.#directories.push(detached(withoutSlash(to)));
    if (this.#directories.length > DECIDING_COMMANDS) this.#directories.shift();
  }

  /** Takes in the branch that git reports. */
  noteOutput({ simple = [] }: CallMeaning, output: string): void {
    const git = simple.filter(({ words }) => words[0] === 'git');
    if (git.length === 0) return;
    const head = output.slice(0, SEARCHED_LENGTH);
    const branch =
      BRANCH_REPORTS.map((pattern) => pattern.exec(head)?.[1]).findLast((name) => name !== undefined) ??
      shownBranch(simple, head);
    if (branch !== undefined && branch !== 'detached') this.#branch = detached(branch);
  }
}

/** Where the last command of a script that does something ran. */
function directoryOf(simple: readonly SimpleCommand[]): string | undefined {
  return simple.findLast(({ words }) => words[0] !== 'cd')?.directory;
}

/** What `git branch --show-current` printed, where nothing else was run. */
function shownBranch(simple: readonly SimpleCommand[], output: string): string | undefined {
  const [only, other] = simple.filter(({ words }) => words[0] !== 'cd');
  if (only === undefined || other !== undefined || !only.words.includes('--show-current')) return undefined;
  return /^\S{1,200}$/.exec(output.trim())?.[0];
}

function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
