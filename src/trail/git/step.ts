// A run of git according to its script: its words, where it ran, what it printed.

import type { LogMoment } from '../ledgers/files.ts';
import type { GitCommand } from '../../shell/git-commands.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';
import type { ReportedCommit } from '../outputs/git-output.ts';

/** How and where a script ran. */
export interface GitRun {
  readonly simple: readonly SimpleCommand[];
  readonly output: string;
  readonly failed: boolean;
  /** The directory of a git command, named as in the trail: `.` for the working directory. */
  readonly directoryOf: (git: GitCommand) => string;
  readonly branchOf: (git: GitCommand) => string | undefined;
}

/** Where git ran: a directory, and the root of its work tree. */
export interface RunDirectory {
  readonly directory: string;
  readonly tree: string;
}

/** One run of git within a script. */
export interface GitStep extends RunDirectory {
  readonly git: GitCommand;
  readonly run: GitRun;
  readonly moment: LogMoment;
  /** The script's output if all its git commands ran in one tree; otherwise empty. */
  readonly output: string;
  /** The commits that git reported, in order, minus those that a command has already claimed. */
  readonly reports: ReportedCommit[];
}
