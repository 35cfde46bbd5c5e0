// A run of git as the script that ran it tells: its words, where it ran, what it printed.

import type { Moment } from '../files.ts';
import type { GitCommand, SimpleCommand } from '../shell.ts';
import type { ReportedCommit } from './output.ts';

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
export interface Place {
  readonly directory: string;
  readonly tree: string;
}

/** One run of git inside of a script. */
export interface Step extends Place {
  readonly git: GitCommand;
  readonly run: GitRun;
  readonly moment: Moment;
  /** What the script printed, where all of its git commands ran in one tree; otherwise nothing. */
  readonly output: string;
  /** What git reported to have committed, in order, as far as no command took it yet. */
  readonly reports: ReportedCommit[];
}
