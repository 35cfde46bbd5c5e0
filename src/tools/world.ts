// What the tools of one thread share.

import type { LogRecord } from '../protocol/record.ts';
import type { ReadTracker } from './files/read-tracker.ts';
import type { Bubblewrap, SandboxMount } from './shell/sandbox.ts';

/** How commands can be confined on this machine. */
export type Confinement =
  | ({ readonly type: 'bubblewrap' } & Bubblewrap)
  /** `why` is one sentence. */
  | { readonly type: 'none'; readonly why: string };

/** Where Baton keeps sessions and configuration, as far as that is in the workspace. */
export interface KeptPaths {
  /** Absolute, with links resolved. */
  readonly paths: readonly string[];
  readonly mounts: readonly SandboxMount[];
  /** A link in the workspace that leads to one of them: a command could replace it, and no mount closes it. */
  readonly link?: string;
}

/** What the tools need of the world, opened once for a thread. */
export interface ToolWorld {
  /** The workspace, absolute, with links resolved. */
  readonly root: string;
  /** The environment of commands, by `commandEnvironment`. */
  readonly env: Readonly<Record<string, string>>;
  /** The same with a search path that leaves the workspace out: for scripts that may write in a repository. */
  readonly gitEnv: Readonly<Record<string, string>>;
  /** The environment of git and ripgrep where Baton itself runs them, by `programEnvironment`. */
  readonly programEnv: Readonly<Record<string, string>>;
  /** The shell that runs scripts: bash where there is one. */
  readonly shell: string;
  readonly confinement: Confinement;
  /** What of the workspace is Baton's own: no edit and no confined command changes it. */
  readonly kept: KeptPaths;
  /** The program, where it is installed. */
  readonly ripgrep: string | undefined;
  /** Whether git answers for the workspace: then what git ignores is left out of listings. */
  readonly isRepository: boolean;
  readonly tracker: ReadTracker;
  /** The log of this thread from its start. */
  readonly log: () => AsyncIterable<LogRecord> | Iterable<LogRecord>;
  /** Milliseconds that only ever grow. */
  readonly monotonicMs: () => number;
}
