// Finds what configures Baton on this machine. When nothing does, neither the schema nor the TOML parser is loaded.
// A thread looks at each of its decisions, and these are small files of this machine: waiting for the thread pool at every
// step would cost ten times what the steps cost, so they are not waited for.

import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { BatonError } from '../errors.ts';
import { DEFAULT_CONFIG } from './defaults.ts';
import type { ConfigSources, ConfigText, ResolvedConfig } from './resolve.ts';

/** What the command line says about the configuration. */
export interface ConfigRequest {
  /** `--config FILE`: takes the place of the user's file. */
  readonly configFile?: string | undefined;
  /** The arguments of `-c key=value`, in the order given; the last one wins. */
  readonly overrides: readonly string[];
}

/** What the machine says about it. */
export interface ConfigWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly cwd: string;
  /** The user's home directory, absolute. */
  readonly homeDirectory: string;
}

/**
 * The effective configuration: command line, environment, project file, user file, default; see docs/config.md.
 * @throws BatonError `config_invalid` with every problem in `data.problems` (`ConfigProblem[]`); `file_not_found` when
 *   the file of `--config` does not exist; `file_unreadable`; `usage` for a `-c` that is not `key=value`
 */
export async function loadConfig(request: ConfigRequest, world: ConfigWorld): Promise<ResolvedConfig> {
  return resolveSources(readSources(request, world));
}

/** The configuration of a process that lives long and asks for it often. */
export class ConfigReader {
  readonly #request: ConfigRequest;
  readonly #world: ConfigWorld;
  #known: { readonly sources: string; readonly resolved: ResolvedConfig } | undefined;

  constructor(request: ConfigRequest, world: ConfigWorld) {
    this.#request = request;
    this.#world = world;
  }

  /**
   * The configuration as it is now: the same object as long as no text of it has changed.
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
  const files = [readProjectFile(world), readUserFile(request, world)].filter((file) => file !== undefined);
  return { overrides: request.overrides, variables: configVariables(world.env), files };
}

async function resolveSources(sources: ConfigSources): Promise<ResolvedConfig> {
  const { files, overrides, variables } = sources;
  if (files.length === 0 && overrides.length === 0 && Object.keys(variables).length === 0) {
    return { config: DEFAULT_CONFIG, origins: new Map(), warnings: [] };
  }
  const { resolveConfig } = await import('./resolve.ts');
  return resolveConfig(sources);
}

/**
 * Validates one file and nothing else.
 * @throws BatonError as `loadConfig`
 */
export async function checkConfigFile(file: string, world: ConfigWorld): Promise<ResolvedConfig> {
  const path = resolve(world.cwd, file);
  const text = readNamedFile(path);
  const source = isProjectFile(path, world) ? 'project' : 'user';
  const { resolveConfig } = await import('./resolve.ts');
  return resolveConfig({ overrides: [], variables: {}, files: [{ ...text, source }] });
}

/** Whether a file stands where a project's file stands and is not the user's own. */
function isProjectFile(path: string, world: ConfigWorld): boolean {
  if (basename(path) !== 'config.toml' || basename(dirname(path)) !== '.baton') return false;
  return wholePath(path) !== wholePath(join(batonHome(world), 'config.toml'));
}

/** Without links; as it is where it leads nowhere. */
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

/** The path of the user's config file, or of the one that `--config` puts in its place. Absolute. */
export function userConfigFile(request: ConfigRequest, world: ConfigWorld): string {
  return request.configFile === undefined
    ? join(batonHome(world), 'config.toml')
    : resolve(world.cwd, request.configFile);
}

/** The variables that set configuration: `BATON_…` but `BATON_HOME`, unless empty. */
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
  return request.configFile === undefined ? readConfigFile('user', file) : readNamedFile(file);
}

function readNamedFile(file: string): ConfigText {
  const text = readConfigFile('user', file);
  if (text !== undefined) return text;
  throw new BatonError('file_not_found', `There is no config file ${file}.`, {
    cure: 'Check the path, or write a file with `baton config init`.',
    data: { file },
  });
}

function readProjectFile(world: ConfigWorld): ConfigText | undefined {
  const userFile = join(batonHome(world), 'config.toml');
  for (const folder of projectFolders(world)) {
    const file = join(folder, '.baton', 'config.toml');
    const text = file === userFile ? undefined : readConfigFile('project', file);
    if (text !== undefined) return text;
  }
  return undefined;
}

/**
 * Folders whose project file counts, nearest first: up to the root of the git work tree or below the home directory.
 * Where neither is above, a file further up may be anyone's, so only the working directory counts.
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

function readConfigFile(source: ConfigText['source'], file: string): ConfigText | undefined {
  let bytes: Uint8Array;
  try {
    bytes = readFileSync(file);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw new BatonError('file_unreadable', `The config file ${file} cannot be read (${code}).`, {
      cure: 'Check that it is a file and that its permissions let you read it.',
      data: { file, code },
      cause: error,
    });
  }
  return { source, file, text: decodeText(bytes, source, file) };
}

function decodeText(bytes: Uint8Array, source: ConfigText['source'], file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    const message = `The config file ${file} is not valid UTF-8.`;
    throw new BatonError('config_invalid', message, {
      cure: 'Save it as UTF-8.',
      data: { problems: [{ message, origin: { source, file } }] },
      cause: error,
    });
  }
}
