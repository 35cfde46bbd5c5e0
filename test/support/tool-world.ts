// A workspace of its own for a test of tools, and calls in it.

import { execFileSync, spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { LogRecord } from '../../src/protocol/record.ts';
import type { ToolEvent, ToolResult } from '../../src/protocol/tool.ts';
import { openToolbox, runCall } from '../../src/tools/toolbox.io.ts';
import type { Toolbox } from '../../src/tools/toolbox.io.ts';
import type { SandboxMode } from '../../src/vocabulary.ts';
import { recordingEmitter } from './recording-emitter.ts';
import { codexProgramDirectories, skipReason } from '../agents/tools.ts';

const NEVER = new AbortController().signal;

/** How a test opens its tools. */
export interface WorldTerms {
  /** Path to content; directories come by themselves. */
  readonly files?: Readonly<Record<string, string>>;
  /** The workspace is a repository, with what `files` holds in the work tree. */
  readonly isRepository?: boolean;
  /** Programs of the environment that the tools do not find. */
  readonly without?: readonly ('rg' | 'bwrap')[];
  readonly env?: Readonly<Record<string, string>>;
  readonly log?: readonly LogRecord[];
}

/** A call's result with all that it told while it ran. */
export interface Called extends ToolResult {
  readonly events: readonly ToolEvent[];
}

/** An open workspace. */
export class ToolBench {
  readonly root: string;
  readonly toolbox: Toolbox;

  private constructor(root: string, toolbox: Toolbox) {
    this.root = root;
    this.toolbox = toolbox;
  }

  static async open(terms: WorldTerms = {}): Promise<ToolBench> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-tools-')));
    for (const [path, content] of Object.entries(terms.files ?? {})) put(join(root, path), content);
    if (terms.isRepository === true) git(root, 'init', '-q', '-b', 'main');
    const env = { PATH: pathWithout(terms.without ?? []), ...terms.env };
    return new ToolBench(root, await openTools(root, env, terms.log));
  }

  /** The tools again, as a new process would open them: of the same workspace, or of another. */
  async reopen(
    env: Readonly<Record<string, string>> = {},
    root = this.root,
    without: NonNullable<WorldTerms['without']> = [],
    batonHome?: string,
  ): Promise<ToolBench> {
    const path = { PATH: pathWithout(without), ...env };
    return new ToolBench(realpathSync(root), await openTools(root, path, [], batonHome));
  }

  /** Runs a call; unconfined unless the test says otherwise. */
  async call(
    name: string,
    args: unknown,
    { signal = NEVER, sandbox = 'danger_full_access' }: { signal?: AbortSignal; sandbox?: SandboxMode } = {},
  ): Promise<Called> {
    const tool = this.toolbox.tools.find(({ spec }) => spec.name === name);
    if (tool === undefined) throw new TypeError(`No tool ${name}`);
    const { events, emit } = recordingEmitter<ToolEvent>();
    const text = typeof args === 'string' ? args : JSON.stringify(args);
    const context = { callId: 'call_1', sandbox, emit };
    return { ...(await runCall({ tool, arguments: text }, context, signal)), events };
  }

  path(...names: readonly string[]): string {
    return join(this.root, ...names);
  }

  put(path: string, content: string | Buffer): void {
    put(this.path(path), content);
  }

  close(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}

function openTools(
  directory: string,
  env: Readonly<Record<string, string>>,
  log: readonly LogRecord[] = [],
  batonHome?: string,
): Promise<Toolbox> {
  const home = process.env['HOME'];
  const terms = {
    directory,
    env: { HOME: home, ...env },
    keyVariables: ['LAB_KEY'],
    passedVariables: ['PASSED', 'MY_*'],
    platform: process.platform,
    ownPaths: batonHome === undefined ? [] : [batonHome],
    log: () => log,
  };
  return openToolbox(terms, NEVER);
}

function put(path: string, content: string | Buffer): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}

/** Runs git for a test, as nobody in particular. */
export function git(cwd: string, ...args: readonly string[]): string {
  const identity = [
    '-c',
    'user.name=test',
    '-c',
    'user.email=test@example.com',
    '-c',
    'commit.gpgsign=false',
  ];
  return execFileSync('git', [...identity, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** The search path as if some programs were not installed: the other programs beside them stay. */
function pathWithout(names: readonly string[]): string {
  const path = process.env['PATH'] ?? '';
  return path
    .split(':')
    .map((directory) =>
      names.some((name) => isThere(join(directory, name))) ? linksWithout(directory, names) : directory,
    )
    .join(':');
}

/** Directories of links, by the directory and the programs that they lack. */
const links = new Map<string, string>();

process.once('exit', () => {
  for (const directory of links.values()) rmSync(directory, { recursive: true, force: true });
});

/** A directory of links to all programs of another directory except some. */
function linksWithout(directory: string, names: readonly string[]): string {
  const key = [directory, ...names].join(':');
  const known = links.get(key);
  if (known !== undefined) return known;
  const made = mkdtempSync(join(tmpdir(), 'baton-programs-'));
  links.set(key, made);
  for (const name of readdirSync(directory))
    if (!names.some((hidden) => hidden === name)) symlinkSync(join(directory, name), join(made, name));
  return made;
}

function isThere(path: string): boolean {
  try {
    execFileSync('test', ['-x', path]);
    return true;
  } catch {
    return false;
  }
}

/** A program that a test needs, and why the test is skipped where there is none. */
export interface Needed {
  readonly skip: string | false;
  /** Variables with which a `ToolBench` finds it. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Looks for a program: on the search path, then in a Codex that is installed for test/agents. In continuous integration
 * that one is installed, so that nothing is skipped there but what the machine itself forbids.
 */
export async function need(name: 'rg' | 'bwrap'): Promise<Needed> {
  const path = process.env['PATH'] ?? '';
  const own = find(name, path.split(':'));
  if (own !== undefined) return { skip: whyUseless(name, own), env: { PATH: path } };
  const isMissing = await skipReason();
  const brought = find(name, codexProgramDirectories());
  if (brought !== undefined) {
    return { skip: whyUseless(name, brought), env: { PATH: `${path}:${dirname(brought)}` } };
  }
  const skip = `${name} is not installed${isMissing === false ? ', and Codex brings none here' : `; nor is ${isMissing}`}`;
  console.error(`SKIPPED: ${skip}`);
  return { skip, env: { PATH: path } };
}

function find(name: string, directories: readonly string[]): string | undefined {
  return directories.map((directory) => join(directory, name)).find(isThere);
}

/** Bubblewrap needs namespaces, which many containers do not give. */
function whyUseless(name: 'rg' | 'bwrap', path: string): string | false {
  if (name === 'rg') return false;
  const tried = spawnSync(path, ['--unshare-pid', '--unshare-net', '--ro-bind', '/', '/', 'true'], {
    encoding: 'utf8',
  });
  if (tried.status === 0) return false;
  const why = `Bubblewrap is installed, and this machine does not let it work: ${tried.stderr.trim()}`;
  console.error(`SKIPPED: ${why}`);
  return why;
}
