// Finds the configuration sources of this machine. Without any, neither the schema nor the TOML parser is loaded.
// A thread reads the configuration at each of its decisions. The files are small and local, so reads are synchronous: waiting for
// the thread pool would cost ten times as much as the reads.

import { isUtf8 } from 'node:buffer';
import { existsSync, lstatSync, realpathSync, statSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { BatonError } from '../errors.ts';
import { readSmallFile } from '../system/planted.io.ts';
import { DEFAULT_CONFIG } from './defaults.ts';
import type { ConfigProblem, ConfigSources, ConfigText, ResolvedConfig } from './resolve.ts';

/** The configuration options of the command line. */
export interface ConfigRequest {
  /** `--config FILE`: replaces the user's file. */
  readonly configFile?: string | undefined;
  /** The arguments of `-c key=value` in their order; the last one wins. */
  readonly overrides: readonly string[];
}

/** The environment and folders that configure Baton. */
export interface ConfigWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** The user's home directory, absolute. */
  readonly homeDirectory: string;
}

/**
 * The effective configuration: command line, environment, project file, user file, default; see docs/config.md. Faults of the
 * project's file are ignored with a warning: a cloned repository must not keep Baton from starting.
 * @throws BatonError `config_invalid` with every problem in `data.problems` (`ConfigProblem[]`); `file_not_found` when the file
 * of `--config` does not exist; `file_unreadable`; `usage` for a `-c` that is not `key=value`
 */
export async function loadConfig(request: ConfigRequest, world: ConfigWorld): Promise<ResolvedConfig> {
  return resolveSources(readSources(request, world));
}

/**
 * Like `loadConfig`, for commands that check the configuration: faults of the project's file are failures. @throws BatonError as
 * `loadConfig`
 */
export async function checkConfig(request: ConfigRequest, world: ConfigWorld): Promise<ResolvedConfig> {
  return resolveSources({ ...readSources(request, world), projectFaults: 'refuse' });
}

/** The configuration of a long-lived process that reads it often. */
export class ConfigReader {
  readonly #request: ConfigRequest;
  readonly #world: ConfigWorld;
  #known: { readonly sources: string; readonly resolved: ResolvedConfig } | undefined;

  constructor(request: ConfigRequest, world: ConfigWorld) {
    this.#request = request;
    this.#world = world;
  }

  /**
   * The current configuration: the same object until one of its texts changes.
   * @throws BatonError as `loadConfig`
   */
  async read(): Promise<ResolvedConfig> {
    const sources = readSources(this.#request, this.#world);
    const text = JSON.stringify(sources);
    if (this.#known?.sources !== text) {
      this.#known = { sources: text, resolved: await resolveSources(sources) };
    }
    return this.#known.resolved;
  }
}

function readSources(request: ConfigRequest, world: ConfigWorld): ConfigSources {
  requireOwnHome(batonHome(world));
  const userFile = readUserFile(request, world);
  const projectFile = readProjectFile(request, world);
  const isUnread = projectFile !== undefined && 'message' in projectFile;
  return {
    overrides: request.overrides,
    variables: configVariables(world.env),
    files: [isUnread ? undefined : projectFile, userFile].filter((file) => file !== undefined),
    unread: isUnread ? [projectFile] : [],
    projectFaults: 'ignore',
  };
}

async function resolveSources(sources: ConfigSources): Promise<ResolvedConfig> {
  const { files, overrides, variables, unread = [] } = sources;
  if (files.length + unread.length === 0 && overrides.length === 0 && Object.keys(variables).length === 0) {
    return { config: DEFAULT_CONFIG, origins: new Map(), warnings: [] };
  }
  const { resolveConfig } = await import('./resolve.ts');
  return resolveConfig(sources);
}

/**
 * Validates one file alone.
 * @throws BatonError as `loadConfig`
 */
export async function checkConfigFile(file: string, world: ConfigWorld): Promise<ResolvedConfig> {
  const path = resolve(world.cwd, file);
  const text = readNamedFile(path);
  const source = isProjectFile(path, world) ? 'project' : 'user';
  const { resolveConfig } = await import('./resolve.ts');
  return resolveConfig({ overrides: [], variables: {}, files: [{ ...text, source }] });
}

/** Whether a path is that of a project's file and not of the user's own. */
function isProjectFile(path: string, world: ConfigWorld): boolean {
  if (basename(path) !== 'config.toml' || basename(dirname(path)) !== '.baton') return false;
  return wholePath(path) !== wholePath(join(batonHome(world), 'config.toml'));
}

/** The path with links resolved; unchanged where it does not exist. */
function wholePath(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    return path;
  }
}

/** Baton's home: `BATON_HOME`, or `.baton` in the user's home directory. Absolute. */
export function batonHome(world: ConfigWorld): string {
  const configured = world.env['BATON_HOME'] ?? '';
  return configured === '' ? join(world.homeDirectory, '.baton') : resolve(world.cwd, configured);
}

/**
 * Baton obeys the files in its home: it runs hooks, sends prompts and resumes sessions. So they must be the user's.
 * @throws BatonError `file_unreadable` where others can write there
 * @source docs/decisions/tools.md, "Whose home it is"
 */
function requireOwnHome(home: string): void {
  for (const path of [home, join(home, 'config.toml')]) {
    // A link belongs to its creator, regardless of who owns its target.
    const stranger = strangerAt(path, lstatSync) ?? strangerAt(path, statSync);
    if (stranger === undefined) continue;
    throw new BatonError('file_unreadable', `${path} ${stranger}, so what it says may not be yours`, {
      cure: 'Make it yours alone (chown, chmod go-w), or name another home with BATON_HOME.',
      data: { file: path },
    });
  }
}

const WRITABLE_BY_ALL = 0o002;

/** Who else may write to a path; undefined where only the user may, nothing exists, or the system has no owners. */
function strangerAt(path: string, look: typeof lstatSync): string | undefined {
  const user = process.geteuid?.();
  const stats = statsAt(path, look);
  if (user === undefined || stats === undefined) return undefined;
  // The mode of a link is meaningless.
  const isOpen = !stats.isSymbolicLink() && (stats.mode & WRITABLE_BY_ALL) !== 0;
  if (isOpen) return 'is writable by everybody';
  // Root often works with another user's files: in containers, with sudo.
  return user === 0 || stats.uid === user || stats.uid === 0 ? undefined : 'belongs to another user';
}

function statsAt(path: string, look: typeof lstatSync): Stats | undefined {
  try {
    return look(path, { throwIfNoEntry: false });
  } catch {
    // The read will report why it cannot be reached.
    return undefined;
  }
}

/** The path of the user's config file, or of the one that `--config` names instead. Absolute. */
export function userConfigFile(request: ConfigRequest, world: ConfigWorld): string {
  return request.configFile === undefined
    ? join(batonHome(world), 'config.toml')
    : resolve(world.cwd, request.configFile);
}

/** The variables that set configuration: every non-empty `BATON_…` except `BATON_HOME`. */
function configVariables(env: ConfigWorld['env']): Readonly<Record<string, string>> {
  const variables: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('BATON_') || name === 'BATON_HOME') continue;
    if (value !== undefined && value !== '') variables[name] = value;
  }
  return variables;
}

function readUserFile(request: ConfigRequest, world: ConfigWorld): ConfigText | undefined {
  const file = userConfigFile(request, world);
  return request.configFile === undefined ? readOwnFile(file) : readNamedFile(file);
}

function readNamedFile(file: string): ConfigText {
  const text = readOwnFile(file);
  if (text !== undefined) return text;
  throw new BatonError('file_not_found', `Config file not found: ${file}.`, {
    cure: 'Check the path, or write a file with `baton config init`.',
    data: { file },
  });
}

function readOwnFile(file: string): ConfigText | undefined {
  const read = readConfigFile('user', file, 'follow');
  if (read === undefined || !('message' in read)) return read;
  const code = read.isText ? 'config_invalid' : 'file_unreadable';
  throw new BatonError(code, read.message, {
    cure: read.isText ? 'Save it as UTF-8.' : 'Name a regular file that your permissions let you read.',
    data: read.isText ? { problems: [{ message: read.message, origin: read.origin }] } : { file },
  });
}

/** @returns the nearest project file, or why it was not read */
function readProjectFile(request: ConfigRequest, world: ConfigWorld): ConfigText | ConfigProblem | undefined {
  const userFiles = new Set([join(batonHome(world), 'config.toml'), userConfigFile(request, world)]);
  for (const folder of projectFolders(world)) {
    const file = join(folder, '.baton', 'config.toml');
    if (userFiles.has(file)) continue;
    const read = readConfigFile('project', file, { within: folder });
    if (read !== undefined) return read;
  }
  return undefined;
}

/**
 * Folders whose project file counts, nearest first: up to the root of the git work tree or to just below the home directory.
 * Outside both, a file further up may belong to anyone, so only the working directory counts.
 */
function projectFolders(world: ConfigWorld): readonly string[] {
  const home = wholePath(world.homeDirectory);
  const folders: string[] = [];
  let folder = wholePath(world.cwd);
  while (folder !== home) {
    folders.push(folder);
    if (existsSync(join(folder, '.git'))) return folders;
    const parent = dirname(folder);
    if (parent === folder) return folders.slice(0, 1);
    folder = parent;
  }
  return folders;
}

/** A starter file with every key is 35 KB; a far larger file is not a configuration. @source `baton config init` */
const LARGEST_CONFIG = 256 * 1024;

type Unread = ConfigProblem & { readonly isText: boolean };

function readConfigFile(
  source: ConfigText['source'],
  file: string,
  links: 'follow' | { readonly within: string },
): ConfigText | Unread | undefined {
  const origin = { source, file };
  const read = readSmallFile(file, { maxBytes: LARGEST_CONFIG, links });
  if (read.kind === 'missing') return undefined;
  if (read.kind === 'refused')
    return { message: `The config file ${file} ${read.problem}.`, origin, isText: false };
  if (!isUtf8(read.bytes))
    return { message: `The config file ${file} is not valid UTF-8.`, origin, isText: true };
  return { source, file, text: new TextDecoder().decode(read.bytes) };
}
