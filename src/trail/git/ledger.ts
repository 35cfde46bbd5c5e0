// What git holds of the work: uncommitted changes, the newest commit, stashes and pushes. It follows the index as far as the
// log shows it, and says nothing about the rest.

import type { FileAction } from '../calls/calls.ts';
import type { FileLedger, LogMoment } from '../ledgers/files.ts';
import { gitCommandOf } from '../../shell/git-commands.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';
import type { Commit, TreeState } from '../trail.ts';
import { changeTrees, checkOut, look } from './checkout.ts';
import { applyCommits, commit } from './commit.ts';
import { commitsIn } from '../outputs/git-output.ts';
import { push } from './push.ts';
import { Repository } from './repository.ts';
import { merge, reset } from './rewriting.ts';
import { add, restoreIndex, stageRemoved } from './staging.ts';
import { stash } from './stash.ts';
import { status } from './status.ts';
import type { GitRun, GitStep } from './step.ts';

/** Verbs that make earlier reports about the tree outdated, if their results show a change. */
const CHANGING: ReadonlyMap<string, (repository: Repository, step: GitStep) => boolean> = new Map([
  ['rm', stageRemoved],
  ['mv', stageRemoved],
  ['commit', commit],
  ['cherry-pick', applyCommits],
  ['revert', applyCommits],
  ['am', applyCommits],
  ['rebase', merge],
  ['pull', merge],
  ['merge', merge],
  ['reset', reset],
  ['stash', stash],
]);

/** Verbs that leave them valid. */
const KEEPING: ReadonlyMap<string, (repository: Repository, step: GitStep) => void> = new Map([
  ['add', add],
  ['stage', add],
  ['restore', restoreIndex],
  ['checkout', checkOut],
  ['switch', checkOut],
  ['push', push],
  ['status', status],
  ['log', look],
  ['show', look],
  ['rev-parse', look],
  ['worktree', changeTrees],
]);

/** Collects what git did, in log order; the limits of its parts bound its memory. */
export class GitLedger {
  readonly #repository: Repository;

  /** @param files receives what git tracked before the session */
  constructor(files: Pick<FileLedger, 'noteKnown'>) {
    this.#repository = new Repository(files);
  }

  /** Position of the newest commit, in items of the log. */
  get newestPosition(): number | undefined {
    return this.#repository.commits.newestPosition;
  }

  commits(): Commit[] {
    return this.#repository.commits.list();
  }

  /** The state of the tree that holds a directory; includes changes in the working directory. */
  state(workedIn: string | undefined): TreeState {
    return this.#repository.state(workedIn);
  }

  /** Whether a file has a change that git would discard on restoring its own version. */
  isDirty(path: string): boolean {
    return this.#repository.changes.isDirty(path);
  }

  /** Takes in what happened to a file. @param isNew whether the session appears to have created it */
  noteChange(
    file: Pick<FileAction, 'action' | 'path' | 'to'>,
    { position }: LogMoment,
    isNew: boolean,
  ): void {
    this.#repository.changes.note(file, position, isNew);
  }

  /** Takes in a script that runs git. Returns whether it changed what git holds. */
  noteRun(run: GitRun, moment: LogMoment): boolean {
    const { trees } = this.#repository;
    const gits = run.simple.flatMap((command) => gitCommandOf(command) ?? []);
    const placed = gits.map((git) => {
      const directory = run.directoryOf(git);
      return { git, directory, tree: trees.noteTreeOf(directory) };
    });
    if (run.simple.some(givesPaths)) trees.blur();
    if (placed.length === 0) return false;
    const isOnePlace =
      new Set(placed.filter(({ git }) => git.verb !== 'worktree').map(({ tree }) => tree)).size === 1;
    const reports = commitsIn(run.output);
    const output = isOnePlace ? run.output : '';
    let hasChanged = false;
    for (const place of placed)
      hasChanged = this.#take({ ...place, run, moment, output, reports }) || hasChanged;
    return hasChanged;
  }

  #take(step: GitStep): boolean {
    const { trees, commits } = this.#repository;
    const { verb } = step.git;
    if (verb !== 'worktree') {
      const begun = trees.follow(step);
      if (begun !== undefined) commits.share(step.tree, begun);
    }
    KEEPING.get(verb)?.(this.#repository, step);
    return CHANGING.get(verb)?.(this.#repository, step) ?? false;
  }
}

/** Whether a command pipes another's output into a git that changes the index, which makes the index unknown. */
function givesPaths({ words }: SimpleCommand): boolean {
  const changes = /^(?:add|stage|rm|mv|commit|reset|restore|stash)$/;
  return words[0] === 'xargs' && words.includes('git') && words.some((word) => changes.test(word));
}
