// Runs the hooks of `[hooks]`: starts their processes, writes their input, ends them in time. answer.ts interprets their answers.

import { stat } from 'node:fs/promises';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import type { CancelSignal, Hooks } from '../ports.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import type { JsonObject } from '../protocol/item.ts';
import type { HookNotes, HookRun, HookSession, HookVeto } from '../protocol/hook.ts';
import { runProcess } from '../system/processes.io.ts';
import type { ProcessRequest } from '../system/processes.io.ts';
import type { HookEvent } from '../vocabulary.ts';
import { describeCommand, readAnswer } from './answer.ts';
import type { HookEnd } from './answer.ts';
import { hookEnvironment, INSIDE_HOOK } from './environment.ts';
import {
  isMatch,
  postCompactJson,
  preCompactJson,
  sessionStartJson,
  turnCompleteJson,
  userPromptJson,
} from './input.ts';

/**
 * Largest answer, in bytes: six times the longest text, as JSON may have to escape it, and room for the rest. @source
 * docs/decisions/hooks.md
 */
const MAX_STDOUT_BYTES = 128 * 1024;
/** How much of standard error to keep, in bytes; far more than is quoted. */
const MAX_STDERR_BYTES = 16 * 1024;

/** The environment of hooks. */
export interface HookWorld {
  /** The environment of Baton itself; hooks receive it without apparent secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that hold keys regardless of their names: `env_key` of every provider. */
  readonly keyVariables: readonly string[];
  /** Where hooks run when the session's own directory is not on this machine: the workspace. Absolute. */
  readonly cwd: string;
  /** `process.platform`. */
  readonly platform: string;
  /** Called when a command starts and when it has ended. */
  readonly report?: (event: HookProgress) => void;
}

type HookProgress = Extract<SessionEvent, { type: 'hook_begin' | 'hook_end' }>;

type HookCommand = Omit<NonNullable<Config['hooks']['preCompact']>[number], 'matcher'>;
type MatchedCommand = NonNullable<Config['hooks']['preCompact']>[number];

/** The hooks of a configuration. No process starts before an event. */
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
    startsWith: (source) => matching(config.sessionStart, source).length > 0,
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
    userPromptSubmit: async (input, signal) => {
      const occasion = {
        event: 'user_prompt_submit',
        session: input.session,
        json: userPromptJson(input),
      } as const;
      const terms = { world, signal, mayVeto: true };
      const { texts, ...verdict } = await runHooks(config.userPromptSubmit ?? [], occasion, terms);
      throwIfAborted(signal);
      return { ...verdict, context: joined(texts) };
    },
    turnComplete: async (input, signal) => {
      const occasion = {
        event: 'turn_complete',
        session: input.session,
        json: turnCompleteJson(input),
      } as const;
      const terms = { world, signal, mayVeto: false };
      const { runs, warnings } = await runHooks(config.turnComplete ?? [], occasion, terms);
      return { runs, warnings };
    },
  };
}

function matching(hooks: readonly MatchedCommand[] | undefined, word: string): readonly HookCommand[] {
  return (hooks ?? []).filter(({ matcher }) => isMatch(matcher, word));
}

function joined(texts: readonly string[]): string | undefined {
  return texts.length === 0 ? undefined : texts.join('\n\n');
}

function throwIfAborted(signal: CancelSignal): void {
  if (signal.aborted) throw new BatonError('interrupted', 'The hooks were stopped.');
}

/** An event that runs hooks. */
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

interface HookOutcome extends HookNotes {
  readonly veto: HookVeto | undefined;
  readonly texts: readonly string[];
}

/** Runs hooks in order up to the first effective veto. */
async function runHooks(
  hooks: readonly HookCommand[],
  { event, session, json }: Occasion,
  { world, signal, mayVeto }: Terms,
): Promise<HookOutcome> {
  const runs: HookRun[] = [];
  const warnings: string[] = [];
  const texts: string[] = [];
  const done = (veto?: HookVeto): HookOutcome => ({ veto, texts, runs, warnings });
  if (hooks.length === 0) return done();
  const obstacle = whyNoneRun(world);
  if (obstacle !== undefined) {
    warnings.push(`The hooks of ${event} were skipped: ${obstacle}.`);
    return done();
  }
  const cwd = await firstDirectory([session.cwd, world.cwd]);
  const env = hookEnvironment(world.env, world.keyVariables);
  for (const hook of hooks) {
    const command = describeCommand(hook.command);
    const startedMs = performance.now();
    world.report?.({ type: 'hook_begin', event, command });
    const end = await runHook(hook, `${JSON.stringify(json)}\n`, { cwd, env }, signal);
    const durationMs = Math.round(performance.now() - startedMs);
    const { outcome, veto, text, complaints } = readAnswer(event, end);
    const isOverruled = veto !== undefined && !mayVeto;
    const reported = isOverruled ? 'overruled' : outcome;
    runs.push({ event, command, outcome: reported, durationMs });
    world.report?.({ type: 'hook_end', event, command, outcome: reported, duration_ms: durationMs });
    for (const complaint of complaints) warnings.push(`The hook of ${event} (${command}) ${complaint}.`);
    if (outcome === 'interrupted') return done();
    if (veto !== undefined && mayVeto) return done({ command, reason: veto });
    if (isOverruled) warnings.push(`The hook of ${event} (${command}) vetoed in an emergency: ${veto}.`);
    if (text !== undefined) texts.push(text);
  }
  return done();
}

function whyNoneRun({ env, platform }: HookWorld): string | undefined {
  // Without process groups, a hook could not be ended together with the processes it started.
  if (platform === 'win32') return 'hooks run on Linux and macOS only';
  if ((env[INSIDE_HOOK] ?? '') !== '') return 'Baton is running inside a hook';
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

/** Runs one hook to its end, its deadline or the user's Ctrl-C, whichever comes first. Never rejects. */
async function runHook(
  { command, timeoutSeconds }: HookCommand,
  input: string,
  surroundings: Pick<ProcessRequest, 'cwd' | 'env'>,
  signal: CancelSignal,
): Promise<HookEnd> {
  const stdout = new OutputHead(MAX_STDOUT_BYTES);
  const stderr = new OutputHead(MAX_STDERR_BYTES);
  const timeoutMs = timeoutSeconds * 1000;
  const request = { ...surroundings, command, input, timeoutMs, graceMs: 0, leftovers: 'leave' } as const;
  const end = await runProcess(
    request,
    (chunk, stream) => (stream === 'stdout' ? stdout : stderr).add(chunk),
    signal,
  );
  if (end.type === 'timed_out') return { ...end, seconds: timeoutSeconds };
  if (end.type !== 'exited') return end;
  return { ...end, stdout: stdout.text(), droppedBytes: stdout.droppedBytes, stderr: stderr.text() };
}

/** The first part of a process's output. Reads everything, so that the writer never blocks. */
class OutputHead {
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  droppedBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(chunk: Buffer): void {
    const kept = chunk.subarray(0, this.#maxBytes - this.#bytes);
    if (kept.length > 0) this.#chunks.push(kept);
    this.#bytes += kept.length;
    this.droppedBytes += chunk.length - kept.length;
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8');
  }
}
