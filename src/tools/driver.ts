// The tools of one thread: opened once, run one call at a time or several that only read.

import { delimiter, isAbsolute } from 'node:path';
import { isBelow } from '../files/driver.ts';
import { runGit } from '../git/driver.ts';
import type { CancelSignal } from '../ports.ts';
import { findProgram, runProcess } from '../processes/driver.ts';
import { withoutSecrets } from '../processes/environment.ts';
import type { ToolResult } from '../protocol/tool.ts';
import { resolveRoot } from '../workspace/driver.ts';
import { capText } from './cap.ts';
import { createEditTool } from './edit/driver.ts';
import { createGlobTool } from './glob/driver.ts';
import { createGrepTool } from './grep/driver.ts';
import { createListDirTool } from './list-dir/driver.ts';
import { createPatchTool } from './patch/driver.ts';
import { createReadTool } from './read/driver.ts';
import { ReadTracker } from './read-tracker.ts';
import { createRecallTool } from './recall/driver.ts';
import { confinedCommand } from './sandbox.ts';
import { createShellTool } from './shell/driver.ts';
import { createPhaseCheckpointTool, createTodoTool, createUpdatePlanTool } from './state/tools.ts';
import { failed } from './tool.ts';
import type { Tool, ToolContext } from './tool.ts';
import { createWriteTool } from './write/driver.ts';
import type { Confinement, ToolWorld } from './world.ts';

/** What a thread gives to its tools. */
export interface ToolTerms {
  /** The workspace. */
  readonly directory: string;
  /** Baton's own environment; commands get it without what looks like a secret. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Variables that hold keys whatever their names look like: `env_key` of every provider. */
  readonly keyVariables: readonly string[];
  /** `process.platform`. */
  readonly platform: string;
  /** The log of this thread from its start, for `recall`. */
  readonly log: ToolWorld['log'];
}

/** The tools of one thread. */
export interface Toolbox {
  /** In the order in which models are told of them, which never changes within a thread. */
  readonly tools: readonly Tool[];
  /** Whether commands can be confined here, and if not, why: to be said plainly to the user. */
  readonly confinement: Confinement;
  /** The workspace, absolute, with links resolved. */
  readonly root: string;
  /** The shell that runs scripts. */
  readonly shell: string;
  /** What commands see: the environment without what looks like a secret. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Opens the tools of a thread.
 * @throws BatonError `file_not_found` when the workspace does not exist
 */
export async function openToolbox(terms: ToolTerms, signal: CancelSignal): Promise<Toolbox> {
  const world = await openWorld(terms, signal);
  const tools = [
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
  const { confinement, root, shell, env } = world;
  return { tools, confinement, root, shell, env };
}

/** Looks at the machine once. */
export async function openWorld(terms: ToolTerms, signal: CancelSignal): Promise<ToolWorld> {
  const root = await resolveRoot(terms.directory);
  const env = withoutSecrets(terms.env, terms.keyVariables);
  const programs = new Programs(env['PATH'] ?? '', root);
  const [bash, ripgrep, bubblewrap] = await Promise.all([
    programs.find('bash'),
    programs.find('rg'),
    programs.find('bwrap'),
  ]);
  const git = await lookAtRepository(root, env, signal);
  const base = {
    root,
    env,
    shell: bash ?? '/bin/sh',
    ripgrep,
    isRepository: git.isRepository,
    tracker: new ReadTracker(),
    log: terms.log,
    monotonicMs: () => performance.now(),
  };
  const confinement = await tryConfinement(
    { ...terms, bubblewrap },
    { root, cwd: root, gitDirectory: git.outside },
    { env, signal },
  );
  const world: ToolWorld = { ...base, confinement };
  // Below a directory that git ignores it would list nothing.
  const isHidden = git.isRepository && git.top !== root && (await isHiddenFromGit(world, signal));
  return isHidden ? { ...world, isRepository: false } : world;
}

/**
 * Whether commands can be confined to a directory here, and if not, why.
 * @throws BatonError as `openToolbox`
 */
export async function findConfinement(
  { directory, env: all, keyVariables, platform }: Omit<ToolTerms, 'log'>,
  signal: CancelSignal,
): Promise<Confinement> {
  const root = await resolveRoot(directory);
  const env = withoutSecrets(all, keyVariables);
  const bubblewrap = await new Programs(env['PATH'] ?? '', root).find('bwrap');
  const { outside } = await lookAtRepository(root, env, signal);
  return tryConfinement(
    { platform, bubblewrap },
    { root, cwd: root, gitDirectory: outside },
    { env, signal },
  );
}

async function isHiddenFromGit(world: ToolWorld, signal: CancelSignal): Promise<boolean> {
  const { end } = await runGit(['check-ignore', '-q', '--', '.'], world.root, {
    env: world.env,
    signal,
  });
  return end.type === 'exited' && end.status === 0;
}

/** Programs of `PATH`, never one of the workspace: what an agent can write may not become Baton's own tool. */
class Programs {
  readonly #directories: readonly string[];

  constructor(path: string, root: string) {
    this.#directories = path
      .split(delimiter)
      .filter((directory) => isAbsolute(directory) && directory !== root && !isBelow(directory, root));
  }

  async find(name: string): Promise<string | undefined> {
    return findProgram(name, this.#directories);
  }
}

interface RepositoryFacts {
  readonly isRepository: boolean;
  /** Its top directory. */
  readonly top: string | undefined;
  /** Its own folder, where that is not below the workspace. */
  readonly outside: string | undefined;
}

async function lookAtRepository(
  root: string,
  env: Readonly<Record<string, string>>,
  signal: CancelSignal,
): Promise<RepositoryFacts> {
  const args = ['rev-parse', '--path-format=absolute', '--show-toplevel', '--git-common-dir'];
  const { end, output } = await runGit(args, root, { env, signal });
  const [top, common] = output.toString('utf8').split('\n');
  if (end.type !== 'exited' || end.status !== 0 || top === undefined || common === undefined) {
    return { isRepository: false, top: undefined, outside: undefined };
  }
  return { isRepository: true, top, outside: isBelow(common, root) ? undefined : common };
}

const CONFINEMENT_TIMEOUT_MS = 5000;

/** Bubblewrap may be installed and not allowed to do what it is for, as in many containers: only a try tells. */
async function tryConfinement(
  { platform, bubblewrap }: { readonly platform: string; readonly bubblewrap: string | undefined },
  places: Parameters<typeof confinedCommand>[3],
  { env, signal }: { readonly env: Readonly<Record<string, string>>; readonly signal: CancelSignal },
): Promise<Confinement> {
  if (platform !== 'linux') return { type: 'none', why: 'Commands can be confined on Linux only.' };
  if (bubblewrap === undefined) {
    return { type: 'none', why: 'Bubblewrap (bwrap) is not installed, so that commands cannot be confined.' };
  }
  let errors = '';
  const end = await runProcess(
    {
      command: confinedCommand(bubblewrap, ['/bin/sh', '-c', ':'], 'workspace_write', places),
      cwd: places.root,
      env,
      timeoutMs: CONFINEMENT_TIMEOUT_MS,
      graceMs: 0,
      leftovers: 'kill',
    },
    (chunk) => (errors = (errors + chunk.toString('utf8')).slice(0, 300)),
    signal,
  );
  if (end.type === 'exited' && end.status === 0) {
    return { type: 'bubblewrap', path: bubblewrap, gitDirectory: places.gitDirectory };
  }
  return { type: 'none', why: `Bubblewrap does not work here (${errors.trim() || end.type}).` };
}

/** One call as it is run. */
export interface ToolCall {
  readonly tool: Tool;
  /** The arguments as the model wrote them. */
  readonly arguments: string;
}

/** Runs a call that was approved. Whatever goes wrong is a result for the model; nothing is thrown. */
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
    return { ...result, text: capText(result.text, 'Ask for less at a time.') };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return failed(`${tool.spec.name} failed: ${code ?? message}.`);
  }
}
