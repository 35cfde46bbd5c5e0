// What git holds of the work: which changes no commit has, which commit is the newest, what is stashed and what was pushed.
// It follows the index as far as the log tells; of what the log does not tell it says nothing.

import type { FileAction } from '../calls/calls.ts';
import type { FileLedger, LogMoment } from '../ledgers/files.ts';
import { gitCommandOf } from '../../shell/scripts.ts';
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

/** Verbs after which what git said of the tree is no longer so, where they tell that they changed something. */
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

/** Verbs that leave it so. */
const TELLING: ReadonlyMap<string, (repository: Repository, step: GitStep) => void> = new Map([
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

/** Collects what git did, in the order of the log; memory is bounded by the limits of what it collects in. */
export class GitLedger {
  readonly #repository: Repository;

  /** @param files is told what git had before the session */
  constructor(files: Pick<FileLedger, 'noteKnown'>) {
    this.#repository = new Repository(files);
  }

  /** Where the newest commit was made, in the items of the log. */
  get newestPosition(): number | undefined {
    return this.#repository.commits.newestPosition;
  }

  commits(): Commit[] {
    return this.#repository.commits.list();
  }

  /** The state of the tree that a directory lies in; changes also of the working directory. */
  state(workedIn: string | undefined): TreeState {
    return this.#repository.state(workedIn);
  }

  /** Whether a file has a change that git would throw away where it puts back what it has. */
  isDirty(path: string): boolean {
    return this.#repository.changes.isDirty(path);
  }

  /** Takes in what happened to a file. @param isNew whether the session made it, as it seems */
  noteChange(
    file: Pick<FileAction, 'action' | 'path' | 'to'>,
    { position }: LogMoment,
    isNew: boolean,
  ): void {
    this.#repository.changes.note(file, position, isNew);
  }

  /** Takes in a script that runs git. Whether it changed what git holds. */
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
    TELLING.get(verb)?.(this.#repository, step);
    return CHANGING.get(verb)?.(this.#repository, step) ?? false;
  }
}

/** Whether a command hands what another printed to a git that changes the index, so that nobody knows what that holds. */
function givesPaths({ words }: SimpleCommand): boolean {
  const changes = /^(?:add|stage|rm|mv|commit|reset|restore|stash)$/;
  return words[0] === 'xargs' && words.includes('git') && words.some((word) => changes.test(word));
}
