// Runs one process in its own group, to its end or its deadline, together with all processes it starts.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { openSync, readdirSync } from 'node:fs';
import { access, constants, realpath } from 'node:fs/promises';
import { delimiter, isAbsolute, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import type { CancelSignal } from '../ports.ts';
import { readSmallFile } from './planted.io.ts';
import { announceRemains } from './remains.io.ts';

/** How a process ended. */
export type ProcessEnd =
  | { readonly type: 'exited'; readonly status: number }
  | { readonly type: 'killed'; readonly signal: string }
  | { readonly type: 'timed_out' }
  | { readonly type: 'interrupted' }
  /** `why` completes "could not be started: …". */
  | { readonly type: 'not_started'; readonly why: string };

/** A process to run. */
export interface ProcessRequest {
  /** A script for `/bin/sh`, or a program with its arguments. */
  readonly command: string | readonly string[];
  /** Undefined: Baton's working directory. */
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /** Written to standard input, which is then closed; undefined: standard input is empty. */
  readonly input?: string | Uint8Array;
  readonly timeoutMs: number;
  /** How long a stopped process may tidy up, from SIGTERM to SIGKILL, in milliseconds; 0: SIGKILL immediately. */
  readonly graceMs: number;
  /** What to do with the rest of its group when the process itself has ended. */
  readonly leftovers: 'leave' | 'kill';
  /** Ends the group even if Baton is killed and cannot do so. Costs one waiting shell. */
  readonly endsWithBaton?: boolean;
}

/** Receives a process's output as it is written. */
export type TakeOutput = (chunk: Buffer, stream: 'stdout' | 'stderr') => void;

/**
 * How long to keep reading output that another process of the group still holds open after the main process has ended, in
 * milliseconds.
 * @source docs/decisions/hooks.md
 */
const DRAIN_MS = 100;

/**
 * Groups that end with Baton: they do not belong to the terminal, so nothing else would end them. One listener for all, because
 * many searches may run at once.
 */
const groups = new Set<ChildProcess>();
function killAll(): void {
  for (const child of groups) signalGroup(child.pid, 'SIGKILL');
}

function keepGroup(child: ChildProcess): void {
  if (groups.size === 0) process.on('exit', killAll);
  groups.add(child);
  // A thread that is terminated from outside runs no listeners.
  if (child.pid !== undefined) announceRemains('begun', { type: 'group', pid: child.pid });
}

function releaseGroup(child: ChildProcess): void {
  if (!groups.delete(child)) return;
  if (groups.size === 0) process.off('exit', killAll);
  if (child.pid !== undefined) announceRemains('settled', { type: 'group', pid: child.pid });
}

/** Runs one process to its end, its deadline or the user's Ctrl-C, whichever comes first. Never rejects. */
export async function runProcess(
  request: ProcessRequest,
  take: TakeOutput,
  signal: CancelSignal,
): Promise<ProcessEnd> {
  if (signal.aborted) return { type: 'interrupted' };
  const child = start(request);
  if (child instanceof Error) return { type: 'not_started', why: describeFailure(child) };
  keepGroup(child);
  for (const name of ['stdout', 'stderr'] as const) {
    const stream: Readable | null = child[name];
    stream?.on('error', () => undefined);
    stream?.on('data', (chunk: Buffer) => take(chunk, name));
  }
  // A process may ignore its input, or end before all of it is written.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(request.input);
  const life = new Life(child, request);
  const interrupt = () => life.stop({ type: 'interrupted' });
  signal.addEventListener('abort', interrupt);
  try {
    return await life.end;
  } finally {
    signal.removeEventListener('abort', interrupt);
    releaseGroup(child);
    for (const stream of child.stdio) stream?.destroy();
    child.unref();
  }
}

/** The life of a process, from its start until nothing more is expected from it. */
class Life {
  readonly end: Promise<ProcessEnd>;
  readonly #child: ChildProcess;
  readonly #graceMs: number;
  #resolve: (end: ProcessEnd) => void = () => undefined;
  #stoppedBy: ProcessEnd | undefined;
  #hasExited = false;
  #isOver = false;
  #timer: NodeJS.Timeout;

  constructor(child: ChildProcess, { timeoutMs, graceMs, leftovers }: ProcessRequest) {
    this.#child = child;
    this.#graceMs = graceMs;
    this.end = new Promise((resolve) => (this.#resolve = resolve));
    this.#timer = setTimeout(() => this.stop({ type: 'timed_out' }), timeoutMs);
    child.once('error', (error) => this.#finish({ type: 'not_started', why: describeFailure(error) }));
    child.once('exit', (status, signalName) => {
      this.#hasExited = true;
      const end: ProcessEnd =
        this.#stoppedBy ??
        (status === null ? { type: 'killed', signal: signalName ?? 'a signal' } : { type: 'exited', status });
      child.once('close', () => this.#finish(end));
      // A process that is being stopped leaves its group the rest of the time to tidy up.
      child.stdio[GUARD_DESCRIPTOR]?.destroy();
      if (this.#stoppedBy !== undefined) return;
      if (leftovers === 'kill') signalGroup(child.pid, 'SIGKILL');
      // From now on the group id may be reused, unless part of the group was left running.
      releaseGroup(child);
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#finish(end), DRAIN_MS);
    });
  }

  /** Ends the group early. */
  stop(end: ProcessEnd): void {
    if (this.#stoppedBy !== undefined || this.#hasExited) return;
    this.#stoppedBy = end;
    clearTimeout(this.#timer);
    if (this.#graceMs > 0) {
      signalGroup(this.#child.pid, 'SIGTERM');
      this.#timer = setTimeout(() => this.#kill(end), this.#graceMs);
    } else this.#kill(end);
  }

  #kill(end: ProcessEnd): void {
    signalGroup(this.#child.pid, 'SIGKILL');
    if (this.#graceMs > 0) this.#timer = setTimeout(() => this.#finish(end), DRAIN_MS);
    else this.#finish(end);
  }

  #finish(end: ProcessEnd): void {
    if (this.#isOver) return;
    this.#isOver = true;
    clearTimeout(this.#timer);
    // For processes that closed their output and keep running.
    if (this.#stoppedBy !== undefined) signalGroup(this.#child.pid, 'SIGKILL');
    this.#resolve(end);
  }
}

/** A pipe that only Baton holds open, and that a shell of the group waits for. */
const GUARD_DESCRIPTOR = 3;

/** Runs its arguments; a shell beside them ends the group when the pipe closes. POSIX has no signal for that. */
const GUARD = `
{ read -r _ <&3; kill -s KILL -- "-$$"; } > /dev/null 2>&1 &
exec "$@" 3<&-
`;

function start({ command, cwd, env, input, endsWithBaton = false }: ProcessRequest): ChildProcess | Error {
  const plain = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  const [file = '', ...args] = endsWithBaton ? ['/bin/sh', '-c', GUARD, 'sh', ...plain] : plain;
  const stdin = input === undefined ? 'ignore' : 'pipe';
  const stdio = [stdin, 'pipe', 'pipe', ...(endsWithBaton ? (['pipe'] as const) : [])] as const;
  try {
    return spawn(file, args, { cwd, env, detached: true, stdio: [...stdio, ...instead(stdio.length)] });
  } catch (error) {
    // Errors that the system reports immediately: arguments that are too long or contain a zero byte.
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** @source open(2), `O_CLOEXEC` on Linux for every processor that Node runs on */
const CLOSE_ON_EXEC = 0o2000000;

/** Highest descriptor that is looked for. @source the usual limit of a process, `ulimit -n` */
const HIGHEST_DESCRIPTOR = 1024;

/**
 * What a child gets, from a descriptor on, instead of those that Baton was started with: `/dev/null`. Node hands on all but its own
 * and the first sixteen, and through an open directory a command leaves the sandbox.
 * @source libuv, `uv_disable_stdio_inheritance`; its `ignore` leaves a descriptor above 2 as it is
 */
function instead(first: number): readonly (number | 'ignore')[] {
  inherited ??= findInherited();
  if (inherited.size === 0) return [];
  const empty = (nothing ??= openSync('/dev/null', 'r'));
  const length = Math.max(0, Math.max(...inherited) + 1 - first);
  return Array.from({ length }, (_, at) => (inherited?.has(first + at) === true ? empty : 'ignore'));
}

/** Nothing that is opened later is handed on. */
let inherited: ReadonlySet<number> | undefined;
let nothing: number | undefined;

function findInherited(): ReadonlySet<number> {
  try {
    const numbers = readdirSync('/proc/self/fd').map(Number);
    return new Set(
      numbers.filter((number) => number > 2 && number <= HIGHEST_DESCRIPTOR && isHandedOn(number)),
    );
  } catch {
    // Only Linux shows them.
    return new Set();
  }
}

function isHandedOn(descriptor: number): boolean {
  const read = readSmallFile(`/proc/self/fdinfo/${descriptor}`, { maxBytes: 65_536, links: 'refuse' });
  const [, flags] =
    (read.kind === 'bytes' && /^flags:\s*([0-7]+)$/m.exec(read.bytes.toString('latin1'))) || [];
  return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
}

function describeFailure(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code ?? error.message;
  if (code === 'ENOENT') return 'the command does not exist';
  if (code === 'EACCES') return 'it is not executable';
  return code;
}

function signalGroup(pid: number | undefined, name: 'SIGTERM' | 'SIGKILL'): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, name);
  } catch {
    // It has already ended.
  }
}

/**
 * The directories of a search path for Baton's own programs: absolute, and outside the workspace, because a file that an agent
 * can write must not become Baton's own tool.
 * @param path the variable `PATH`
 * @param workspace absolute, with links resolved
 */
export async function programDirectories(path: string, workspace: string): Promise<readonly string[]> {
  const named = path.split(delimiter).filter((directory) => isAbsolute(directory));
  const real = await Promise.all(named.map((directory) => realpath(directory).catch(() => undefined)));
  return named.filter((_, at) => {
    const directory = real[at];
    return directory !== undefined && /^\.\.(?:\/|$)/.test(relative(workspace, directory));
  });
}

/** The path of the first program of that name; undefined without an executable one. */
export async function findProgram(name: string, directories: readonly string[]): Promise<string | undefined> {
  for (const directory of directories) {
    const path = join(directory, name);
    const isThere = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (isThere) return path;
  }
  return undefined;
}
