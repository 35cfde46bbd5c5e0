// Where the real tools are, and whether they are installed.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { isObject } from './shape.ts';

/** This folder; another one with a `package.json` and an `install.mjs` of its own has other tools. */
const HERE = new URL('.', import.meta.url);

const pathOf = (path: string, folder = HERE): string => fileURLToPath(new URL(path, folder));

/** Where the packages of the platform keep the programs. */
const PLATFORM = `${process.platform}-${process.arch}`;
const CODEX_VENDOR = `node_modules/@openai/codex-${PLATFORM}/vendor`;

/** Scripts that find the native program of the platform and start it. */
const LAUNCHERS = {
  codex: 'node_modules/@openai/codex/bin/codex.js',
  claude: 'node_modules/@anthropic-ai/claude-code/cli-wrapper.cjs',
} as const;

/**
 * The beginning of a tool's command line: its native program where it is known, which spares a start of Node, else its
 * launcher. Unlike the files in `.bin` neither needs the packages' install scripts to have run.
 */
export function commandOf(tool: 'codex' | 'claude'): readonly string[] {
  const programs =
    tool === 'claude'
      ? [pathOf(`node_modules/@anthropic-ai/claude-code-${PLATFORM}/claude`)]
      : codexTargets().map((target) => join(target, 'bin', 'codex'));
  const program = programs.find((path) => existsSync(path));
  return program === undefined ? [process.execPath, pathOf(LAUNCHERS[tool])] : [program];
}

/** A folder that stands for as long as an installation runs. */
const INSTALL_LOCK = '.cache';

/** Milliseconds that one test file waits for another one to install the tools. Measured: 14 s on two cores. */
const INSTALL_DEADLINE_MS = 300_000;

/**
 * Says whether the tests that need the real tools can run: `false` when they can, else the reason why not, for the
 * `skip` option of `node:test`. `folder`: where they are pinned. In continuous integration it installs what is missing, so there nothing is skipped.
 *
 * @throws Error when the installation fails.
 */
export async function skipReason(folder = HERE): Promise<string | false> {
  const missing = missingTools(folder);
  // While another file installs, the launchers are there before the binaries that they start.
  if (missing.length === 0 && !existsSync(pathOf(INSTALL_LOCK, folder))) return false;
  if (process.env['CI'] !== 'true') {
    const script = relative(process.cwd(), pathOf('install.mjs', folder));
    return `${missing.join(' and ')} not installed; run: node ${script}`;
  }
  await installOnce(folder);
  return false;
}

/** The directories in which an installed Codex keeps ripgrep (`rg`) and Bubblewrap (`bwrap`). */
export function codexProgramDirectories(): readonly string[] {
  return codexTargets().flatMap((target) =>
    ['codex-path', 'codex-resources'].map((name) => join(target, name)),
  );
}

function codexTargets(): readonly string[] {
  const vendor = pathOf(CODEX_VENDOR);
  return existsSync(vendor) ? readdirSync(vendor).map((target) => join(vendor, target)) : [];
}

/** The pinned tools that are absent or of another version, as `name@version`. */
function missingTools(folder: URL): readonly string[] {
  const pinned = readJson('package.json', folder)?.['dependencies'];
  if (!isObject(pinned)) throw new TypeError(`${pathOf('package.json', folder)} pins no tools`);
  return Object.entries(pinned)
    .filter(
      ([name, version]) => readJson(`node_modules/${name}/package.json`, folder)?.['version'] !== version,
    )
    .map(([name, version]) => `${name}@${String(version)}`);
}

function readJson(path: string, folder: URL): Readonly<Record<string, unknown>> | undefined {
  let text: string;
  try {
    text = readFileSync(pathOf(path, folder), 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : undefined;
}

/** Test files run side by side, and two installations in one folder destroy each other: the first one does it. */
async function installOnce(folder: URL): Promise<void> {
  const lock = pathOf(INSTALL_LOCK, folder);
  const deadline = Date.now() + INSTALL_DEADLINE_MS;
  while (!tryMakeFolder(lock)) {
    if (Date.now() > deadline)
      throw new Error(`another installation holds ${lock}; remove it if there is none`);
    await sleep(250);
  }
  try {
    if (missingTools(folder).length === 0) return;
    const { status } = spawnSync(process.execPath, [pathOf('install.mjs', folder)], {
      stdio: ['ignore', 2, 2],
    });
    if (status !== 0) throw new Error('the real tools could not be installed; see the output of npm above');
  } finally {
    rmdirSync(lock);
  }
}

function tryMakeFolder(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
