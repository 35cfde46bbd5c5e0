// Runs the built command line as a stranger does: a process of its own, with an environment of its own.

import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { existsSync, readdirSync, readlinkSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** The built program. */
export const PROGRAM = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** Why processes cannot be tested, or false when the program is built. */
export const NOT_BUILT: string | false = existsSync(PROGRAM) ? false : 'run `node scripts/build.mjs` first';

/** What a process did. */
export interface Ended {
  /** Null when a signal ended it. */
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

/** How to run it. */
export interface World {
  /** Working directory, home and temporary directory of the process. */
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Standard input: a text, or false to leave it open without ever writing. Nothing by default. */
  readonly input?: string | Buffer | false;
  /** A shell command in which `"$@"` is the command line of Baton: redirections, limits, pipes. */
  readonly shell?: string;
  /** Runs as this user and group, which only root may ask for. */
  readonly userId?: number;
  /** Called once the process runs. */
  readonly started?: (child: ChildProcess) => void;
}

/** What hangs is killed, and its status is null. A 50 MB line takes 2 s, and ten times that on a busy machine. */
const DEADLINE_MS = 120_000;

/** The environment of a process: nothing of the machine but the way to its programs. */
export function environment(
  home: string,
  env: Readonly<Record<string, string>> = {},
): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', HOME: home, TMPDIR: home, LANG: 'C.UTF-8', ...env };
}

/** Runs `baton ARGS…` to its end. */
export async function runBuilt(args: readonly string[], world: World): Promise<Ended> {
  const { home, env, input = '', shell, userId, started } = world;
  const line = [process.execPath, PROGRAM, ...args];
  const [file = '', ...rest] = shell === undefined ? line : ['/bin/sh', '-c', shell, 'sh', ...line];
  const begun = performance.now();
  const child = spawn(file, rest, {
    cwd: home,
    env: environment(home, env),
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: DEADLINE_MS,
    killSignal: 'SIGKILL',
    ...(userId === undefined ? {} : { uid: userId, gid: userId }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // A program that does not read its input closes the pipe; that is its right.
  child.stdin.on('error', () => undefined);
  if (input !== false) child.stdin.end(input);
  started?.(child);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      resolve({ status, stdout, stderr, milliseconds: performance.now() - begun });
    });
  });
}

/** Waits until a process has a file open, where the system shows that; a while elsewhere. */
export async function whenOpen(child: ChildProcess, path: string): Promise<void> {
  if (process.platform !== 'linux') return sleep(150);
  for (let attempt = 0; attempt < 60_000; attempt++) {
    if (openFiles(child).includes(path)) return;
    await sleep(1);
  }
}

/** Characters that a process has read since it has a file open, from which on it reads that file and not only itself. */
const READ_BY_NOW = 2e6;

/** Waits until a process is in the middle of reading a file of many megabytes, where the system shows that; a while elsewhere. */
export async function whenReading(child: ChildProcess, path: string): Promise<void> {
  await whenOpen(child, path);
  const before = charactersRead(child);
  for (let attempt = 0; attempt < 60_000 && charactersRead(child) < before + READ_BY_NOW; attempt++)
    await sleep(1);
}

/** What a process has read in all; without end where that is not known, so that nobody waits for it. */
function charactersRead({ pid }: ChildProcess): number {
  try {
    return Number(/^rchar: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
  } catch {
    return Infinity;
  }
}

/** What a process has open; nothing when it is gone. */
function openFiles({ pid }: ChildProcess): readonly string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).map((descriptor) => readlinkSync(`${folder}/${descriptor}`));
  } catch {
    // What was listed may be closed before it is looked at.
    return [];
  }
}
