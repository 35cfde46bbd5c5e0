// Runs git for Baton itself, never for the model: nothing that a repository's own configuration names is started.

import type { CancelSignal } from '../ports.ts';
import { runProcess } from '../processes/driver.ts';
import type { ProcessEnd } from '../processes/driver.ts';

/** Most that git is listened to, in bytes, unless a caller says otherwise: paths of 100,000 files are far below. */
const MAX_OUTPUT_BYTES = 64 * 1024 * 1024;

const TIMEOUT_MS = 30_000;

/** Longest complaint that is kept, in characters. */
const MAX_COMPLAINT = 2000;

/**
 * Variables that point git at another repository or index, as it sets them for its own hooks, from which Baton may have been
 * started.
 * @source `git rev-parse --local-env-vars`, git 2.39
 */
const LOCAL_VARIABLES: ReadonlySet<string> = new Set([
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_CONFIG',
  'GIT_CONFIG_COUNT',
  'GIT_CONFIG_PARAMETERS',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_NO_REPLACE_OBJECTS',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
]);

/** How git is run. */
export interface GitTerms {
  readonly env: Readonly<Record<string, string>>;
  readonly signal: CancelSignal;
  readonly input?: string | Uint8Array;
  /** Variables of git's own, after those of `env` that point elsewhere were taken out. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly timeoutMs?: number;
  /** Milliseconds in which a stopped git may remove its lock files; 0, the default, for what takes none. */
  readonly graceMs?: number;
}

/** What git said. */
export interface GitAnswer {
  readonly end: ProcessEnd;
  readonly output: Buffer;
  /** What it complained of, trimmed; in English. */
  readonly errors: string;
}

/** Runs git once. Never rejects. */
export async function runGit(args: readonly string[], cwd: string, terms: GitTerms): Promise<GitAnswer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  let errors = '';
  const command = ['git', '-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null', ...args];
  const end = await runProcess(
    {
      command,
      cwd,
      env: { ...withoutLocal(terms.env), GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C', ...terms.variables },
      ...(terms.input === undefined ? {} : { input: terms.input }),
      timeoutMs: terms.timeoutMs ?? TIMEOUT_MS,
      graceMs: terms.graceMs ?? 0,
      leftovers: 'kill',
    },
    (chunk, stream) => {
      if (stream === 'stderr') errors = (errors + chunk.toString('utf8')).slice(0, MAX_COMPLAINT);
      else if (bytes <= MAX_OUTPUT_BYTES) {
        bytes += chunk.length;
        chunks.push(chunk);
      }
    },
    terms.signal,
  );
  return { end, output: Buffer.concat(chunks), errors: errors.trim() };
}

/** Whether git did what it was asked to. */
export function hasSucceeded({ end }: GitAnswer): boolean {
  return end.type === 'exited' && end.status === 0;
}

function withoutLocal(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !LOCAL_VARIABLES.has(name)));
}
