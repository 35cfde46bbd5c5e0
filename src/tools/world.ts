// What the tools of one thread share.

import type { LogRecord } from '../protocol/record.ts';
import type { ReadTracker } from './files/read-tracker.ts';
import type { Bubblewrap, SandboxMount } from './shell/sandbox.ts';

/** How commands can be confined on this machine. */
export type Confinement =
  | ({ readonly type: 'bubblewrap' } & Bubblewrap)
  /** `why` is one sentence. */
  | { readonly type: 'none'; readonly why: string };

/** Baton's sessions and configuration that are inside the workspace. */
export interface KeptPaths {
  /** Absolute, with links resolved. */
  readonly paths: readonly string[];
  readonly mounts: readonly SandboxMount[];
  /** A link in the workspace that leads to one of them: a command could replace it, and a mount cannot protect it. */
  readonly link?: string;
}

/** The environment of the tools, opened once for a thread. */
export interface ToolWorld {
  /** The workspace, absolute, with links resolved. */
  readonly root: string;
  /** The environment of commands, from `commandEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** The same with a search path without the workspace: for scripts that may write in a repository. */
  readonly gitEnv: Readonly<Record<string, string>>;
  /** The environment of git and ripgrep when Baton itself runs them, from `programEnvironment`. */
  readonly programEnv: Readonly<Record<string, string>>;
  /** The shell that runs scripts: bash if available. */
  readonly shell: string;
  readonly confinement: Confinement;
  /** The parts of the workspace that belong to Baton: no edit and no confined command may change them. */
  readonly kept: KeptPaths;
  /** The path of ripgrep, if installed. */
  readonly ripgrep: string | undefined;
  /** Whether git recognises the workspace: then listings omit what git ignores. */
  readonly isRepository: boolean;
  readonly tracker: ReadTracker;
  /** The log of this thread from its start. */
  readonly log: () => AsyncIterable<LogRecord> | Iterable<LogRecord>;
  /** Milliseconds from a monotonic clock. */
  readonly monotonicMs: () => number;
}
