// The tools of one thread: opened once, run one call at a time or several read-only calls in parallel.

import { lstat, realpath } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { delimiter, dirname } from 'node:path';
import { isBelow } from '../system/planted.io.ts';
import { runGit } from '../system/git.io.ts';
import type { CancelSignal } from '../ports.ts';
import { findProgram, programDirectories, runProcess } from '../system/processes.io.ts';
import { commandEnvironment, programEnvironment } from '../system/environment.ts';
import type { ToolResult } from '../protocol/tool.ts';
import { resolveRoot } from '../system/workspace.io.ts';
import { capText } from './cap.ts';
import { createEditTool } from './files/edit.io.ts';
import { createGlobTool } from './files/glob.io.ts';
import { createGrepTool } from './grep/grep.io.ts';
import { createListDirTool } from './files/list-dir.io.ts';
import { createPatchTool } from './patch/patch.io.ts';
import { createReadTool } from './files/read.io.ts';
import { ReadTracker } from './files/read-tracker.ts';
import { createRecallTool } from './recall/recall.io.ts';
import { lookAtRepository, pinned } from './shell/repository.io.ts';
import type { RepositoryQuestion } from './shell/repository.io.ts';
import { confinedCommand, CONFINEMENT_PROBE, ISOLATIONS, scratchLimit } from './shell/sandbox.ts';
import { createShellTool } from './shell/shell.io.ts';
import { createPhaseCheckpointTool, createTodoTool, createUpdatePlanTool } from './thread-state-tools.ts';
import { failed } from './tool.ts';
import type { Tool, ToolContext } from './tool.ts';
import { createWriteTool } from './files/write.io.ts';
import type { Confinement, KeptPaths, ToolWorld } from './world.ts';

/** What a thread passes to its tools. */
export interface ToolTerms {
  /** The workspace. */
  readonly directory: string;
  /** Baton's own environment; commands get the part that `commandEnvironment` allows. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that hold keys regardless of their names: `env_key` of every provider. */
  readonly keyVariables: readonly string[];
  /** Names of additional variables for commands: `shell_environment.pass`. */
  readonly passedVariables: readonly string[];
  /** `process.platform`. */
  readonly platform: string;
  /** The log of this thread from its start, for `recall`. */
  readonly log: ToolWorld['log'];
  /** Where Baton keeps sessions and configuration, absolute: no edit and no confined command may change it. */
  readonly ownPaths: readonly string[];
}

/** The tools of one thread. */
export interface Toolbox {
  /** In the order in which models see them, which never changes within a thread. */
  readonly tools: readonly Tool[];
  /** Whether commands can be confined here, and if not, why, for the user. */
  readonly confinement: Confinement;
  /** The workspace, absolute, with links resolved. */
  readonly root: string;
  /** The shell that runs scripts. */
  readonly shell: string;
  /** The environment of Baton's own programs. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Opens the tools of a thread.
 * @throws BatonError `file_not_found` when the workspace does not exist
 */
export async function openToolbox(terms: ToolTerms, signal: CancelSignal): Promise<Toolbox> {
  const world = await openWorld(terms, signal);
  const { confinement, root, shell, programEnv: env } = world;
  return { tools: createTools(world), confinement, root, shell, env };
}

/** Baton's own tools, in the order in which models see them. */
export function createTools(world: ToolWorld): readonly Tool[] {
  return [
    createShellTool(world),
    createReadTool(world),
    createWriteTool(world),
    createEditTool(world),
    createPatchTool(world),
    createGrepTool(world),
    createGlobTool(world),
    createListDirTool(world),
    createUpdatePlanTool(),
    createTodoTool(),
    createPhaseCheckpointTool(),
    createRecallTool(world),
  ];
}

/** Inspects the machine once. */
export async function openWorld(terms: ToolTerms, signal: CancelSignal): Promise<ToolWorld> {
  const root = await resolveRoot(terms.directory);
  const { keyVariables, passedVariables: pass } = terms;
  const env = commandEnvironment(terms.env, { keyVariables, pass });
  const directories = await programDirectories(terms.env['PATH'] ?? '', root);
  const PATH = directories.join(delimiter);
  const programEnv = { ...programEnvironment(terms.env), PATH };
  const [bash, ripgrep, kept] = await Promise.all([
    findProgram('bash', directories),
    findProgram('rg', directories),
    keep(terms.ownPaths, root),
  ]);
  const question = { root, env: programEnv, signal };
  const [repository, confinement] = await Promise.all([
    lookAtRepository(question),
    tryConfinement(terms.platform, question, directories),
  ]);
  const world: ToolWorld = {
    root,
    env,
    gitEnv: { ...env, PATH },
    programEnv,
    shell: bash ?? '/bin/sh',
    ripgrep,
    isRepository: repository !== undefined,
    tracker: new ReadTracker(),
    log: terms.log,
    monotonicMs: () => performance.now(),
    confinement,
    kept,
  };
  // Below a directory that git ignores, git would list nothing.
  const isHidden =
    repository !== undefined && repository.top !== root && (await isHiddenFromGit(world, signal));
  return isHidden ? { ...world, isRepository: false } : world;
}

/** The parts of a workspace that belong to Baton; all of a workspace inside Baton's own folder. */
async function keep(ownPaths: readonly string[], root: string): Promise<KeptPaths> {
  const found = await Promise.all(ownPaths.map((path) => realpath(path).catch(() => undefined)));
  const paths = found.flatMap((path) => {
    if (path === undefined) return [];
    if (path === root || isBelow(root, path)) return [root];
    return isBelow(path, root) ? [path] : [];
  });
  const links = await Promise.all(ownPaths.map((path) => linkInside(path, root)));
  const link = links.find((each) => each !== undefined);
  const mounts = paths.flatMap((path) => pinned(path, root, 'read'));
  return { paths, mounts, ...(link === undefined ? {} : { link }) };
}

/** The first link inside a workspace on the way to a path. */
async function linkInside(path: string, root: string): Promise<string | undefined> {
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const isLink = await lstat(at).then(
      (stats) => stats.isSymbolicLink(),
      () => false,
    );
    const folder = isLink ? await realpath(dirname(at)).catch(() => undefined) : undefined;
    if (folder !== undefined && (folder === root || isBelow(folder, root))) return at;
  }
  return undefined;
}

/**
 * Whether commands can be confined to a directory here, and if not, why.
 * @throws BatonError as `openToolbox`
 */
export async function findConfinement(
  { directory, env: all, platform }: Pick<ToolTerms, 'directory' | 'env' | 'platform'>,
  signal: CancelSignal,
): Promise<Confinement> {
  const root = await resolveRoot(directory);
  const env = programEnvironment(all);
  const directories = await programDirectories(env['PATH'] ?? '', root);
  return tryConfinement(platform, { root, env, signal }, directories);
}

async function isHiddenFromGit(world: ToolWorld, signal: CancelSignal): Promise<boolean> {
  const { end } = await runGit(['check-ignore', '-q', '--', '.'], world.root, {
    env: world.programEnv,
    signal,
  });
  return end.type === 'exited' && end.status === 0;
}

const CONFINEMENT_TIMEOUT_MS = 5000;

/**
 * Bubblewrap may be installed but not permitted to confine, as in many containers, or confine less than requested: only a trial
 * shows.
 */
async function tryConfinement(
  platform: string,
  { root, env, signal }: RepositoryQuestion,
  directories: readonly string[],
): Promise<Confinement> {
  if (platform !== 'linux') return { type: 'none', why: 'Commands can be confined on Linux only.' };
  const path = await findProgram('bwrap', directories);
  if (path === undefined) {
    return { type: 'none', why: 'Bubblewrap (bwrap) is not installed, so commands cannot be confined.' };
  }
  let why = '';
  // An old program that knows no limits still confines.
  const limit = scratchLimit(Math.min(totalmem(), process.constrainedMemory() || Infinity));
  const trials = [limit, undefined].flatMap((scratchBytes) =>
    ISOLATIONS.map((isolation) => ({ path, isolation, scratchBytes })),
  );
  for (const trial of trials) {
    let errors = '';
    const probe = ['/bin/sh', '-c', CONFINEMENT_PROBE];
    const end = await runProcess(
      {
        command: confinedCommand(trial, probe, 'workspace_write', {
          root,
          cwd: root,
          mounts: [],
          sockets: [],
        }),
        cwd: root,
        env,
        timeoutMs: CONFINEMENT_TIMEOUT_MS,
        graceMs: 0,
        leftovers: 'kill',
      },
      (chunk) => (errors = (errors + chunk.toString('utf8')).slice(0, 300)),
      signal,
    );
    if (end.type === 'exited' && end.status === 0) return { type: 'bubblewrap', ...trial };
    why = errors.trim() || end.type;
    if (end.type !== 'exited') break;
  }
  return { type: 'none', why: `Bubblewrap does not work here (${why}).` };
}

/** A call to run. */
export interface ToolCall {
  readonly tool: Tool;
  /** The arguments as the model wrote them. */
  readonly arguments: string;
}

/** Runs an approved call. Every failure becomes a result for the model; nothing is thrown. */
export async function runCall(
  { tool, arguments: text }: ToolCall,
  context: ToolContext,
  signal: CancelSignal,
): Promise<ToolResult> {
  const parsed = tool.parse(text);
  if (parsed.type === 'complaint') return failed(parsed.text);
  if (signal.aborted) return failed('The user stopped the work before this call was run.');
  try {
    const result = await tool.run(parsed.input, context, signal);
    return { ...result, text: capText(result.text, 'Request less at a time.') };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return failed(`${tool.spec.name} failed: ${code ?? message}.`);
  }
}
