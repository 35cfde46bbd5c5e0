// Runs the hooks of `[hooks]`: starts their processes, feeds them, ends them in time. What their answers mean is in answer.ts.

import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { stat } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import type { CancelSignal, Hooks } from '../ports.ts';
import type { JsonObject } from '../protocol/item.ts';
import type { HookNotes, HookRun, HookSession, HookVeto } from '../protocol/hook.ts';
import type { HookEvent } from '../vocabulary.ts';
import { describeCommand, readAnswer } from './answer.ts';
import type { HookEnd } from './answer.ts';
import { hookEnvironment, INSIDE_HOOK } from './environment.ts';
import { isMatch, postCompactJson, preCompactJson, sessionStartJson } from './input.ts';

/** Largest answer, in bytes: six times the longest text, as JSON may have to escape it, and room for the rest. @source docs/decisions/hooks.md */
const MAX_STDOUT_BYTES = 128 * 1024;
/** What is kept of standard error, in bytes; far more than is quoted. */
const MAX_STDERR_BYTES = 16 * 1024;

/**
 * How long the output is still read when a hook has ended but left a process behind that holds it open, in milliseconds.
 * @source docs/decisions/hooks.md
 */
const DRAIN_MS = 100;

/** What hooks need of the world. */
export interface HookWorld {
  /** The environment of Baton itself; hooks get it without what looks like a secret. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that hold keys whatever their names look like: `env_key` of every provider. */
  readonly keyVariables: readonly string[];
  /** Where hooks run when the session's own directory is not on this machine: the workspace. Absolute. */
  readonly cwd: string;
  /** `process.platform`. */
  readonly platform: string;
}

type HookCommand = NonNullable<Config['hooks']['preCompact']>[number];

/** The hooks of a configuration. Nothing is started before an event. */
export function createHooks(config: Config['hooks'], world: HookWorld): Hooks {
  return {
    preCompact: async (input, signal) => {
      const hooks = matching(config.preCompact, input.trigger);
      const occasion = { event: 'pre_compact', session: input.session, json: preCompactJson(input) } as const;
      const { texts, ...verdict } = await runHooks(hooks, occasion, {
        world,
        signal,
        mayVeto: input.mayVeto,
      });
      throwIfAborted(signal);
      return { ...verdict, instructions: joined(texts) };
    },
    postCompact: async (input, signal) => {
      const hooks = matching(config.postCompact, input.trigger);
      const occasion = {
        event: 'post_compact',
        session: input.session,
        json: postCompactJson(input),
      } as const;
      const { runs, warnings } = await runHooks(hooks, occasion, { world, signal, mayVeto: false });
      return { runs, warnings };
    },
    sessionStart: async (input, signal) => {
      const hooks = matching(config.sessionStart, input.source);
      const occasion = {
        event: 'session_start',
        session: input.session,
        json: sessionStartJson(input),
      } as const;
      const { runs, warnings, texts } = await runHooks(hooks, occasion, { world, signal, mayVeto: false });
      throwIfAborted(signal);
      return { runs, warnings, context: joined(texts) };
    },
  };
}

function matching(hooks: readonly HookCommand[] | undefined, word: string): readonly HookCommand[] {
  return (hooks ?? []).filter(({ matcher }) => isMatch(matcher, word));
}

function joined(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

function throwIfAborted(signal: CancelSignal): void {
  if (signal.aborted) throw new BatonError('interrupted', 'The hooks were stopped.');
}

/** Something that hooks are told of. */
interface Occasion {
  readonly event: HookEvent;
  readonly session: HookSession;
  readonly json: JsonObject;
}

interface Terms {
  readonly world: HookWorld;
  readonly signal: CancelSignal;
  readonly mayVeto: boolean;
}

interface Outcome extends HookNotes {
  readonly veto: HookVeto | undefined;
  readonly texts: readonly string[];
}

/** Runs hooks in their order up to the first veto that counts. */
async function runHooks(
  hooks: readonly HookCommand[],
  { event, session, json }: Occasion,
  { world, signal, mayVeto }: Terms,
): Promise<Outcome> {
  const runs: HookRun[] = [];
  const warnings: string[] = [];
  const texts: string[] = [];
  const done = (veto?: HookVeto): Outcome => ({ veto, texts, runs, warnings });
  if (hooks.length === 0) return done();
  const obstacle = whyNoneRun(world);
  if (obstacle !== undefined) {
    warnings.push(`The hooks of ${event} were left out: ${obstacle}.`);
    return done();
  }
  const cwd = await firstDirectory([session.cwd, world.cwd]);
  const env = hookEnvironment(world.env, world.keyVariables);
  for (const hook of hooks) {
    const command = describeCommand(hook.command);
    const startedMs = performance.now();
    const end = await runProcess(hook, `${JSON.stringify(json)}\n`, { cwd, env }, signal);
    const durationMs = Math.round(performance.now() - startedMs);
    const { outcome, veto, text, complaints } = readAnswer(event, end);
    const isOverruled = veto !== undefined && !mayVeto;
    runs.push({ event, command, outcome: isOverruled ? 'overruled' : outcome, durationMs });
    for (const complaint of complaints) warnings.push(`The hook of ${event} (${command}) ${complaint}.`);
    if (outcome === 'interrupted') return done();
    if (veto !== undefined && mayVeto) return done({ command, reason: veto });
    if (isOverruled) warnings.push(`The hook of ${event} (${command}) vetoed in an emergency: ${veto}.`);
    if (text !== undefined) texts.push(text);
  }
  return done();
}

function whyNoneRun({ env, platform }: HookWorld): string | undefined {
  // Without process groups nothing could end a hook together with what it started.
  if (platform === 'win32') return 'hooks run on Linux and macOS only';
  if ((env[INSIDE_HOOK] ?? '') !== '') return 'this is a run of Baton within a hook';
  return undefined;
}

async function firstDirectory(paths: readonly (string | undefined)[]): Promise<string | undefined> {
  for (const path of paths) {
    if (path === undefined || path === '') continue;
    const isDirectory = await stat(path).then(
      (stats) => stats.isDirectory(),
      () => false,
    );
    if (isDirectory) return path;
  }
  return undefined;
}

interface Surroundings {
  readonly cwd: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** Runs one process to its end, its deadline or the user's Ctrl-C, whichever is first. Never rejects. */
async function runProcess(
  { command, timeoutSeconds }: HookCommand,
  input: string,
  surroundings: Surroundings,
  signal: CancelSignal,
): Promise<HookEnd> {
  if (signal.aborted) return { type: 'interrupted' };
  const child = start(command, surroundings);
  if (child instanceof Error) return { type: 'not_started', why: describeFailure(child) };
  const stdout = new Head(child.stdout, MAX_STDOUT_BYTES);
  const stderr = new Head(child.stderr, MAX_STDERR_BYTES);
  // A hook need not read its input, and may end before all of it is written.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  const kill = () => {
    // The process id of a hook that has ended may be another's by now.
    if (child.exitCode === null && child.signalCode === null) killGroup(child.pid);
  };
  // The group of a hook is not the terminal's, so nothing else ends it with Baton.
  process.once('exit', kill);
  let deadline: NodeJS.Timeout | undefined;
  let stop: (() => void) | undefined;
  try {
    return await new Promise<HookEnd>((resolve) => {
      const endBy = (end: HookEnd) => () => {
        kill();
        resolve(end);
      };
      deadline = setTimeout(endBy({ type: 'timed_out', seconds: timeoutSeconds }), timeoutSeconds * 1000);
      stop = endBy({ type: 'interrupted' });
      signal.addEventListener('abort', stop);
      child.once('error', (error) => resolve({ type: 'not_started', why: describeFailure(error) }));
      child.once('exit', (status, signalName) => {
        clearTimeout(deadline);
        process.off('exit', kill);
        const settle = () => resolve(endOf(status, signalName, { stdout, stderr }));
        child.once('close', settle);
        // Whatever the hook left running may hold its output open for as long as it likes.
        deadline = setTimeout(settle, DRAIN_MS);
      });
    });
  } finally {
    clearTimeout(deadline);
    process.off('exit', kill);
    if (stop !== undefined) signal.removeEventListener('abort', stop);
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.destroy();
    child.unref();
  }
}

function start(
  command: string | readonly string[],
  { cwd, env }: Surroundings,
): ChildProcessWithoutNullStreams | Error {
  const [file = '', ...args] = typeof command === 'string' ? ['/bin/sh', '-c', command] : command;
  try {
    return spawn(file, args, { cwd, env, detached: true, stdio: 'pipe' });
  } catch (error) {
    // What the system refuses at once: arguments that are too long or hold a zero byte.
    return error instanceof Error ? error : new Error(String(error));
  }
}

function endOf(
  status: number | null,
  signalName: string | null,
  { stdout, stderr }: { readonly stdout: Head; readonly stderr: Head },
): HookEnd {
  if (status === null) return { type: 'killed', signal: signalName ?? 'a signal' };
  return {
    type: 'exited',
    status,
    stdout: stdout.text(),
    droppedBytes: stdout.droppedBytes,
    stderr: stderr.text(),
  };
}

function describeFailure(error: Error): string {
  const code = (error as NodeJS.ErrnoException).code ?? error.message;
  if (code === 'ENOENT') return 'there is no such command';
  if (code === 'EACCES') return 'it may not be executed';
  return code;
}

function killGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended already.
  }
}

/** The head of a stream, which is read to its end so that its writer is never held up. */
class Head {
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  droppedBytes = 0;

  constructor(stream: Readable, maxBytes: number) {
    stream.on('error', () => undefined);
    stream.on('data', (chunk: Buffer) => {
      const kept = chunk.subarray(0, maxBytes - this.#bytes);
      if (kept.length > 0) this.#chunks.push(kept);
      this.#bytes += kept.length;
      this.droppedBytes += chunk.length - kept.length;
    });
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
