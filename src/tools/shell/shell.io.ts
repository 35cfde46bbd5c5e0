// The tool `shell`: runs a script in a separate process group, confined if the session requires it.

import { lstat, realpath } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import * as z from 'zod';
import { isBelow, readSmallFile } from '../../system/planted.io.ts';
import type { CancelSignal } from '../../ports.ts';
import { runProcess } from '../../system/processes.io.ts';
import type { ProcessEnd } from '../../system/processes.io.ts';
import type { ToolResult } from '../../protocol/tool.ts';
import { locate } from '../../system/workspace.io.ts';
import { MiddleCut, RESULT_TOKENS } from '../cap.ts';
import { gitScriptOf } from './git-script.ts';
import { openRepository, repositoryToRead } from './repository.io.ts';
import { confinedCommand, isReplaced, socketCandidates } from './sandbox.ts';
import type { SandboxMount } from './sandbox.ts';
import { isBinary, TerminalText } from './terminal.ts';
import { defineTool, failed } from '../tool.ts';
import type { Tool, ToolContext } from '../tool.ts';
import type { ToolWorld } from '../world.ts';

/** @source Claude Code's Bash: 2 minutes */
const DEFAULT_TIMEOUT_MS = 120_000;

/** Longest run time of a command, in milliseconds. @source Claude Code's Bash: 10 minutes */
export const MAX_TIMEOUT_MS = 600_000;

/**
 * How long a stopped command may tidy up, in milliseconds: otherwise git would leave its lock behind. @source
 * docs/decisions/tools.md
 */
const GRACE_MS = 500;

/** Maximum characters of live output per call; the result contains head and tail of the whole output. */
export const MAX_DELTA_CHARACTERS = 1_000_000;

/** Room in the result for the lines before the output, in tokens. */
const HEADER_TOKENS = 200;

/** Largest script, in characters; the system limits an argument to 128 KiB. */
const MAX_SCRIPT = 100_000;

interface ShellInput {
  readonly command: string;
  readonly workdir: string;
  readonly timeout_ms: number;
  readonly with_escalated_permissions: boolean;
  readonly justification?: string | undefined;
}

/** Runs scripts; the result reports how the script ended, how long it took and what it wrote. */
export function createShellTool(world: ToolWorld): Tool<ShellInput> {
  return defineTool({
    name: 'shell',
    kind: 'run',
    description:
      'Runs a script in bash. Standard input is empty and there is no terminal. Everything still running when the script ends is ended too, so do not start background processes that must outlive it. In the sandbox .git is read-only unless every command of the script is a plain git command: run git add, git commit and the like in a separate call, joined with && or on separate lines, and git init alone. The result contains exit status, duration, and standard output and error combined.',
    arguments: {
      command: z.string().min(1).max(MAX_SCRIPT),
      workdir: z.string().default('.').describe('The working directory, inside the workspace.'),
      timeout_ms: z.int().min(1).max(MAX_TIMEOUT_MS).default(DEFAULT_TIMEOUT_MS),
      with_escalated_permissions: z
        .boolean()
        .default(false)
        .describe('Ask the user to let it run outside the sandbox, e.g. for the network.'),
      justification: z
        .string()
        .max(500)
        .optional()
        .describe('Why this is necessary, in one sentence for the user.'),
    },
    actionOf: ({ command, workdir, with_escalated_permissions: leavesSandbox, justification }) => ({
      kind: 'run',
      command,
      workdir,
      leavesSandbox,
      ...(justification === undefined ? {} : { justification }),
    }),
    run: (input, context, signal) => runShell(input, context, { world, signal }),
  });
}

interface ShellScope {
  readonly world: ToolWorld;
  readonly signal: CancelSignal;
}

async function runShell(
  input: ShellInput,
  context: ToolContext,
  { world, signal }: ShellScope,
): Promise<ToolResult> {
  const place = await locate(input.workdir, world.root);
  if (place.kind !== 'directory') {
    const why = place.kind === 'refused' ? place.why : 'not an existing directory';
    return failed(`The command was not run: workdir ${input.workdir} is ${why}.`);
  }
  if (input.command.includes('\0')) return failed('The command was not run: it contains a zero byte.');
  const prepared = await prepare(input.command, place.path, context.sandbox, { world, signal });
  if (typeof prepared === 'string') return failed(`The command was not run: ${prepared}`);
  const { callId: call_id, sandbox } = context;
  context.emit({ type: 'exec_command_begin', call_id, command: input.command, cwd: place.path, sandbox });
  const output = new Output((delta) => context.emit({ type: 'exec_command_output_delta', call_id, delta }));
  const startedMs = world.monotonicMs();
  const end = await runProcess(
    {
      command: prepared.command,
      cwd: place.path,
      env: { ...prepared.env, ...QUIET },
      timeoutMs: input.timeout_ms,
      graceMs: GRACE_MS,
      leftovers: 'kill',
      // Bubblewrap does that itself.
      endsWithBaton: sandbox === 'danger_full_access',
    },
    (chunk) => output.add(chunk),
    signal,
  );
  const planted = await prepared.close();
  const durationMs = Math.round(world.monotonicMs() - startedMs);
  const exitCode = end.type === 'exited' ? end.status : null;
  context.emit({
    type: 'exec_command_end',
    call_id,
    outcome: end.type,
    exit_code: exitCode,
    duration_ms: durationMs,
  });
  const printed = output.end();
  const wasClosed = exitCode !== 0 && isClosed(printed);
  const notes = [planted, wasClosed ? prepared.why : undefined].filter((note) => note !== undefined);
  return {
    text: [`${describeEnd(end, durationMs)}\nOutput:\n${printed === '' ? '(none)' : printed}`, ...notes].join(
      '\n',
    ),
    success: exitCode === 0,
    ...(exitCode === null ? {} : { exitCode }),
  };
}

/** Keeps programs from waiting for a key, asking for a password or drawing on a terminal. */
const QUIET = { PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0', TERM: 'dumb', NO_COLOR: '1' };

/** Messages of git and others about a repository that they may not write. */
const CLOSED = /Read-only file system|Device or resource busy/;

function isClosed(output: string): boolean {
  return output.split('\n').some((line) => line.includes('.git') && CLOSED.test(line));
}

/** A script that is ready to run. */
interface Prepared {
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** What to tell the model if the repository could not be written. */
  readonly why?: string;
  /** As `RepositoryAccess.close`. */
  readonly close: () => Promise<string | undefined>;
}

async function close(): Promise<undefined> {
  return undefined;
}

/** Prepares a script, or says why it cannot run within the session's limits. */
async function prepare(
  script: string,
  cwd: string,
  sandbox: ToolContext['sandbox'],
  { world, signal }: ShellScope,
): Promise<Prepared | string> {
  const { confinement, root, env, gitEnv, programEnv, kept } = world;
  // One pipe for both streams preserves the order of writes.
  const merged = ['/bin/sh', '-c', 'exec "$@" 2>&1', 'sh', world.shell, '-c', script];
  if (sandbox === 'danger_full_access') return { command: merged, env, close };
  if (confinement.type === 'none') {
    return `${confinement.why} Without it a command can only run with the user's approval.`;
  }
  const question = { root, env: programEnv, signal };
  if (sandbox === 'read_only') {
    const mounts = await repositoryToRead(question);
    const sockets = await openSockets(root, mounts);
    const places = { root, cwd, mounts, sockets };
    return { command: confinedCommand(confinement, merged, sandbox, places), env, close };
  }
  if (kept.link !== undefined) {
    return `${kept.link} is a symbolic link to where Baton keeps sessions or configuration, which the sandbox cannot protect. The user can start Baton in another directory, or name the place itself with BATON_HOME or --config.`;
  }
  const kind = gitScriptOf(script, root);
  try {
    const repository = await openRepository(question, kind);
    const mounts = [...repository.mounts, ...kept.mounts];
    const sockets = await openSockets(root, mounts);
    return {
      command: confinedCommand(confinement, merged, sandbox, { root, cwd, mounts, sockets }),
      env: kind === 'other' ? env : gitEnv,
      why: repository.why ?? GIT_ALONE,
      close: () => repository.close(),
    };
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Largest kernel table to read, in bytes: a hundred times that of a busy machine. */
const LARGEST_TABLE = 16 * 1024 * 1024;

/** Sockets of other programs that a sandbox would expose. A path that cannot be inspected cannot be connected to either. */
async function openSockets(root: string, mounts: readonly SandboxMount[]): Promise<readonly string[]> {
  const [unixTable, mountTable] = ['/proc/net/unix', '/proc/self/mountinfo'].map((path) => {
    const read = readSmallFile(path, { maxBytes: LARGEST_TABLE, links: 'follow' });
    return read.kind === 'bytes' ? read.bytes.toString('utf8') : '';
  });
  const shown = [root, ...mounts.map(({ path }) => path)];
  const found = await Promise.all(
    [...socketCandidates(unixTable ?? '', mountTable ?? '')].map(async (path) => {
      const real = await realpath(path).catch(() => undefined);
      if (real === undefined || !(await lstat(real).catch(() => undefined))?.isSocket()) return [];
      return !isReplaced(real) || shown.some((each) => isBelow(real, each)) ? [real] : [];
    }),
  );
  return [...new Set(found.flat())];
}

const GIT_ALONE =
  'In the sandbox .git is read-only unless every command of the script is a plain git command: run git add, git commit and the like in a separate call, without other programs, variables or substitutions, and git init alone. Files that name commands (config, hooks) cannot be changed there: request with_escalated_permissions for that.';

function describeEnd(end: ProcessEnd, durationMs: number): string {
  const seconds = `${(durationMs / 1000).toFixed(1)} seconds`;
  switch (end.type) {
    case 'exited':
      return `Exit code: ${end.status}\nWall time: ${seconds}`;
    case 'killed':
      return `The command was ended by ${end.signal}.\nWall time: ${seconds}`;
    case 'timed_out':
      return `The command timed out after ${seconds} and was ended with everything it had started. Request a longer timeout_ms if it needs more.`;
    case 'interrupted':
      return `The user stopped the command after ${seconds}; everything it had started was ended.`;
    case 'not_started':
      return `The command could not be started: ${end.why}.`;
  }
}

/** The output of a command: live to the client, head and tail of it for the result. */
class Output {
  #decoder = new StringDecoder('utf8');
  readonly #terminal = new TerminalText();
  readonly #cut = new MiddleCut(RESULT_TOKENS - HEADER_TOKENS);
  readonly #report: (delta: string) => void;
  #shownCharacters = 0;
  #binaryBytes = 0;

  constructor(report: (delta: string) => void) {
    this.#report = report;
  }

  add(chunk: Buffer): void {
    const text = this.#decoder.write(chunk);
    if (isBinary(text)) {
      this.#binaryBytes += chunk.length;
      // The start of a character at the end of the last chunk belongs to the binary output.
      this.#decoder = new StringDecoder('utf8');
    } else this.#keep(this.#binaryNote() + text);
  }

  /** The whole output, cut to the limit of a result. */
  end(): string {
    this.#keep(this.#decoder.end() + this.#binaryNote());
    this.#cut.add(this.#terminal.end());
    return this.#cut.render(
      'To see it, run the command again with its output in a file, then read or grep that file.',
    );
  }

  #binaryNote(): string {
    if (this.#binaryBytes === 0) return '';
    const note = `[${this.#binaryBytes} bytes of binary output]\n`;
    this.#binaryBytes = 0;
    return note;
  }

  #keep(text: string): void {
    if (text === '') return;
    // Providers reject zero bytes; `find -print0` and the like write them.
    const shown = text.replaceAll('\0', '\u2400');
    this.#cut.add(this.#terminal.add(shown));
    if (this.#shownCharacters >= MAX_DELTA_CHARACTERS) return;
    const delta = shown.slice(0, MAX_DELTA_CHARACTERS - this.#shownCharacters);
    this.#shownCharacters += delta.length;
    this.#report(delta);
  }
}
