// The real world of a command: streams, signals, terminal, clock. Turns what commands throw into text and status.

import { randomUUID } from 'node:crypto';
import { homedir } from 'node:os';
import { BatonError } from '../errors.ts';
import { errorJson, exitStatus, explain } from './explain.ts';
import type { CommandIo, ExitStatus, Look } from './io.ts';
import { buildProgram } from './program.ts';

/** Columns where the output is no terminal. @source the terminal of 1978, and spec 1-product: 80 × 24. */
const DEFAULT_WIDTH = 80;

/** Runs one command line and returns its exit status. Nothing it does ends the process. */
export async function run(args: readonly string[], version: string): Promise<ExitStatus> {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once('SIGINT', stop).once('SIGTERM', stop);
  process.stdout.on('error', ignoreClosedPipe);
  process.stderr.on('error', ignoreClosedPipe);
  const io = processIo(args, stopping.signal);
  try {
    return await buildProgram(io, version).run(args);
  } catch (error) {
    return explainFailure(io, args, stopping.signal.aborted ? interrupted(error) : error);
  } finally {
    process.removeListener('SIGINT', stop).removeListener('SIGTERM', stop);
  }
}

function interrupted(cause: unknown): BatonError {
  return new BatonError('interrupted', 'Interrupted', { cure: 'Nothing was written.', cause });
}

function explainFailure(io: CommandIo, args: readonly string[], error: unknown): ExitStatus {
  if (!(error instanceof BatonError)) throw error;
  io.stderr(explain(error));
  if (args.includes('--json')) io.stdout(`${JSON.stringify({ error: errorJson(error) }, null, 2)}\n`);
  return exitStatus(error);
}

/** A reader that went away (`| head`) is no failure; everything else is. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
  process.exit(process.exitCode ?? 0);
}

function processIo(args: readonly string[], signal: AbortSignal): CommandIo {
  return {
    stdout: (text) => void process.stdout.write(text),
    stderr: (text) => void process.stderr.write(text),
    stdoutBytes: (bytes) =>
      new Promise((resolve, reject) => {
        process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()));
      }),
    stdin: process.stdin,
    env: process.env,
    cwd: process.cwd(),
    homeDirectory: homedir(),
    now: () => new Date(),
    clock: { now: () => Date.now() },
    ids: { uuid: () => randomUUID() },
    look: processLook(args),
    showsProgress: process.stderr.isTTY && !args.includes('--json'),
    signal,
  };
}

function processLook(args: readonly string[]): Look {
  return {
    hasColor: wantsColor(args),
    hasUnicode: wantsUnicode(),
    width: process.stdout.columns > 0 ? process.stdout.columns : DEFAULT_WIDTH,
  };
}

/** `--color always|never|auto`, then NO_COLOR, then whether a person looks. @source no-color.org */
function wantsColor(args: readonly string[]): boolean {
  const flag = args.findLastIndex((arg) => arg === '--color' || arg.startsWith('--color='));
  const value = flag === -1 ? 'auto' : (args[flag]?.split('=')[1] ?? args[flag + 1]);
  if (value === 'always') return true;
  if (value === 'never' || (process.env['NO_COLOR'] ?? '') !== '') return false;
  return process.stdout.isTTY && process.env['TERM'] !== 'dumb';
}

/** By the locale, as POSIX orders its variables; a locale that says nothing is taken for UTF-8. */
function wantsUnicode(): boolean {
  const { LC_ALL, LC_CTYPE, LANG, TERM } = process.env;
  const locale = [LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '');
  if (TERM === 'dumb' || locale === 'C' || locale === 'POSIX') return false;
  return locale === undefined || /utf-?8/i.test(locale);
}
