// A run of git as the script that ran it tells: its words, where it ran, what it printed.

import type { LogMoment } from '../ledgers/files.ts';
import type { GitCommand, SimpleCommand } from '../../shell/scripts.ts';
import type { ReportedCommit } from '../outputs/git-output.ts';

/** How and where a script ran. */
export interface GitRun {
  readonly simple: readonly SimpleCommand[];
  readonly output: string;
  readonly failed: boolean;
  /** The directory of a run of git as the trail names paths: `.` for the working directory. */
  readonly directoryOf: (git: GitCommand) => string;
  readonly branchOf: (git: GitCommand) => string | undefined;
}

/** Where git ran: a directory, and the root of the work tree that it lies in. */
export interface RunDirectory {
  readonly directory: string;
  readonly tree: string;
}

/** One run of git inside of a script. */
export interface GitStep extends RunDirectory {
  readonly git: GitCommand;
  readonly run: GitRun;
  readonly moment: LogMoment;
  /** What the script printed, where all of its git commands ran in one tree; otherwise nothing. */
  readonly output: string;
  /** What git reported to have committed, in order, as far as no command took it yet. */
  readonly reports: ReportedCommit[];
}
