// The prompt files of a user: created where missing, never overwritten, and replaced by the shipped text where unusable. Reads
// are synchronous, because a thread reads prompts at each of its decisions; see `config/load.io.ts`.

import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { lstatSync } from 'node:fs';
import { link, mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { batonHome } from '../config/load.io.ts';
import type { ConfigWorld } from '../config/load.io.ts';
import type { Config } from '../config/schema.ts';
import { readSmallFile } from '../system/planted.io.ts';
import { NO_FRONTMATTER, splitPrompt } from './parts.ts';
import type { Frontmatter, ParsedPrompt } from './parts.ts';
import { PROMPT_NAMES, SHIPPED_PROMPTS } from './shipped.ts';
import type { PromptName } from './shipped.ts';

/** How a user's file compares with the shipped one. */
export type PromptState = 'shipped' | 'changed' | 'missing' | 'unreadable';

/** A prompt in its effective form. */
export interface LoadedPrompt {
  readonly name: PromptName;
  readonly file: string;
  readonly state: PromptState;
  /** The whole effective text, including frontmatter. */
  readonly text: string;
  readonly body: string;
  readonly frontmatter: Frontmatter;
  readonly warnings: readonly string[];
}

/** Where Baton looks for prompts. */
export interface PromptPlace {
  /** `auto-compact` in Baton's home, absolute. */
  readonly folder: string;
  /** The user's home directory, for `~`. */
  readonly homeDirectory: string;
  /** Paths from the configuration: absolute, from `~`, or relative to `folder`. */
  readonly paths: Readonly<Partial<Record<PromptName, string>>>;
}

type Watcher = Config['rawrAutoCompaction'];

/** The key that sets the path of each prompt. The judge has one key per tier. */
const PATH_KEYS: Readonly<Partial<Record<PromptName, Extract<keyof Watcher, `${string}PromptPath`>>>> = {
  'auto-compact.md': 'autoCompactPromptPath',
  'scratch-write.md': 'scratchWritePromptPath',
  'watcher-packet.md': 'watcherPacketPromptPath',
  'judgment-context.md': 'judgmentContextPromptPath',
  'heads-up.md': 'headsUpPromptPath',
  'handoff.md': 'handoffPromptPath',
};

/** Where a configuration places its prompts. */
export function promptPlace({ rawrAutoCompaction: watcher }: Config, world: ConfigWorld): PromptPlace {
  const paths: Partial<Record<PromptName, string>> = {};
  for (const name of PROMPT_NAMES) {
    const key = PATH_KEYS[name];
    const path = key === undefined ? undefined : watcher[key];
    if (path !== undefined) paths[name] = path;
  }
  const { homeDirectory } = world;
  return { folder: join(batonHome(world), 'auto-compact'), homeDirectory, paths };
}

/** The file of a prompt. */
export function promptFile({ folder, homeDirectory, paths }: PromptPlace, name: PromptName): string {
  return resolve(folder, fromHome(paths[name] ?? name, homeDirectory));
}

/** Whether a prompt is read from the path where `seedPrompts` writes it. */
export function isOwnPrompt(place: PromptPlace, name: PromptName): boolean {
  return promptFile(place, name) === join(place.folder, name);
}

function fromHome(path: string, homeDirectory: string): string {
  return path === '~' || path.startsWith('~/') ? join(homeDirectory, path.slice(1)) : path;
}

/** Writes the shipped text of each missing prompt. @returns a warning where that is impossible */
export async function seedPrompts({ folder }: PromptPlace): Promise<readonly string[]> {
  try {
    // Each thread calls this, and all but the first of a home find every file.
    const missing = PROMPT_NAMES.filter((name) => !isThere(join(folder, name)));
    if (missing.length === 0) return [];
    await mkdir(folder, { recursive: true, mode: 0o700 });
    // Nothing is written through a link, and reading each file reports it.
    if (isLinked(folder)) return [];
    for (const name of missing) await createPrompt(join(folder, name), SHIPPED_PROMPTS[name]);
    return [];
  } catch (error) {
    return [`${folder} cannot be filled (${codeOf(error)}); the shipped prompts are used.`];
  }
}

/** Creates the file completely or not at all, and never replaces one. */
async function createPrompt(file: string, text: string): Promise<void> {
  const temporary = `${file}.${randomUUID()}.tmp`;
  try {
    await writeFile(temporary, text, { flag: 'wx', mode: 0o600 });
    await link(temporary, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

function isLinked(folder: string): boolean {
  try {
    return lstatSync(folder).isSymbolicLink();
  } catch {
    return false;
  }
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

/**
 * Reads a prompt from its configured path. Writes nothing. Inside `auto-compact/` it does not follow symlinks, and a missing file
 * there is no cause for a warning unless a key names it.
 */
export async function loadPrompt(place: PromptPlace, name: PromptName): Promise<LoadedPrompt> {
  const named = place.paths[name];
  const isForeign = named !== undefined && isAbsolute(fromHome(named, place.homeDirectory));
  const file = promptFile(place, name);
  return readPrompt(name, file, {
    isMissingFine: isOwnPrompt(place, name),
    folder: isForeign ? undefined : place.folder,
  });
}

/**
 * Reads the prompt that `decision_prompt_path` names. If the file is missing, it warns and uses the shipped judge; only
 * `judgment.md` itself may be missing without a warning.
 */
export async function loadDecisionPrompt(place: PromptPlace, path: string): Promise<LoadedPrompt> {
  const name = 'judgment.md';
  const file = resolveDecisionPath(place, path);
  const isOwn = file.startsWith(join(place.folder, '/'));
  return readPrompt(name, file, {
    isMissingFine: path === name,
    folder: isOwn ? place.folder : undefined,
  });
}

interface ReadOptions {
  /** No setting names this file. */
  readonly isMissingFine: boolean;
  /** The folder where links are not followed; undefined where the user named another place. */
  readonly folder: string | undefined;
}

async function readPrompt(
  name: PromptName,
  file: string,
  { isMissingFine, folder }: ReadOptions,
): Promise<LoadedPrompt> {
  if (folder !== undefined && isLinked(folder)) {
    return unusable(name, file, `is in a folder that is a symbolic link, which Baton does not follow`);
  }
  const read = readText(file, folder !== undefined);
  if ('missing' in read) {
    const warnings = isMissingFine ? [] : [`${file} does not exist; the shipped prompt is used.`];
    return { ...shippedPrompt(name, file), state: 'missing', warnings };
  }
  if ('problem' in read) return unusable(name, file, read.problem);
  if (read.text === SHIPPED_PROMPTS[name]) return { ...shippedPrompt(name, file), state: 'shipped', warnings: [] };
  const { warnings, ...parsed } = await parseOwn(name, read.text);
  if (parsed.body === '') return unusable(name, file, 'is empty');
  const state = 'changed';
  const rendered = warnings.map((each) => `${file}:${each} The frontmatter is not used.`);
  return { name, file, state, text: read.text, ...parsed, warnings: rendered };
}

/** The latest parse of each prompt: a thread reads them at every decision. */
const PARSED = new Map<PromptName, { readonly text: string; readonly parsed: ParsedPrompt }>();

async function parseOwn(name: PromptName, text: string): Promise<ParsedPrompt> {
  const known = PARSED.get(name);
  if (known?.text === text) return known.parsed;
  const { yaml, body } = splitPrompt(text);
  const parsed =
    yaml === undefined
      ? { frontmatter: NO_FRONTMATTER, body, warnings: [] }
      : (await import('./frontmatter.ts')).parsePrompt(text);
  PARSED.set(name, { text, parsed });
  return parsed;
}

function unusable(name: PromptName, file: string, problem: string): LoadedPrompt {
  const warning = `${file} ${problem}; the shipped prompt is used.`;
  return { ...shippedPrompt(name, file), state: 'unreadable', warnings: [warning] };
}

function shippedPrompt(name: PromptName, file: string): Omit<LoadedPrompt, 'state' | 'warnings'> {
  const text = SHIPPED_PROMPTS[name];
  const { yaml, body } = splitPrompt(text);
  const frontmatter = yaml === undefined ? NO_FRONTMATTER : SHIPPED_FRONTMATTER;
  return { name, file, text, body, frontmatter };
}

/** The frontmatter of every shipped prompt, so that none needs parsing; a test compares. */
const SHIPPED_FRONTMATTER: Frontmatter = { ...NO_FRONTMATTER, version: 1 };

type ReadText = { readonly text: string } | { readonly missing: true } | { readonly problem: string };

/** The largest prompt. @source four bytes a token: 64,000 tokens, more than an answer to it could repay */
const LARGEST_PROMPT = 256 * 1024;

function readText(file: string, refusesLink: boolean): ReadText {
  const read = readSmallFile(file, { maxBytes: LARGEST_PROMPT, links: refusesLink ? 'refuse' : 'follow' });
  if (read.kind === 'missing') return { missing: true };
  if (read.kind === 'refused') return { problem: read.problem };
  return isUtf8(read.bytes) ? { text: new TextDecoder().decode(read.bytes) } : { problem: 'is not valid UTF-8' };
}

/**
 * Restores the shipped text in `auto-compact/`. An existing file is moved aside.
 * @returns the path of the moved file, if there was one
 * @throws Error with the code `ELOOP` where the folder is a symlink
 */
export async function resetPrompt({ folder }: PromptPlace, name: PromptName): Promise<string | undefined> {
  const file = join(folder, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  if (isLinked(folder)) {
    throw Object.assign(new Error(`${folder} is a symbolic link`), { code: 'ELOOP' });
  }
  const backup = await moveAside(file);
  await createPrompt(file, SHIPPED_PROMPTS[name]);
  return backup;
}

async function moveAside(file: string): Promise<string | undefined> {
  for (let number = 1; ; number++) {
    const backup = `${file}.bak-${number}`;
    try {
      // Claims the name, so that another process's backup is not replaced.
      await writeFile(backup, '', { flag: 'wx', mode: 0o600 });
    } catch (error) {
      if (codeOf(error) === 'EEXIST') continue;
      throw error;
    }
    try {
      await rename(file, backup);
      return backup;
    } catch (error) {
      await rm(backup, { force: true });
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }
}

/** Resolves `decision_prompt_path` like every prompt path: absolute, from `~`, or relative to `auto-compact/`. */
export function resolveDecisionPath(place: PromptPlace, path: string): string {
  return resolve(place.folder, fromHome(path, place.homeDirectory));
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
}
