// The prompt files of a user: seeded where they are missing, never overwritten, and replaced by the shipped text where they
// cannot be used.

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access, link, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join, resolve } from 'node:path';
import { parsePrompt } from './frontmatter.ts';
import type { Frontmatter } from './frontmatter.ts';
import { PROMPT_NAMES, SHIPPED_PROMPTS } from './shipped.ts';
import type { PromptName } from './shipped.ts';

/** How a user's file stands to the shipped one. */
export type PromptState = 'shipped' | 'changed' | 'missing' | 'unreadable';

/** A prompt as it is in force. */
export interface LoadedPrompt {
  readonly name: PromptName;
  readonly file: string;
  readonly state: PromptState;
  /** The whole text in force, frontmatter included. */
  readonly text: string;
  readonly body: string;
  readonly frontmatter: Frontmatter;
  readonly warnings: readonly string[];
}

/** Where prompts are: `auto-compact` in Baton's home. */
export function promptFolder(home: string): string {
  return join(home, 'auto-compact');
}

/** Writes the shipped text of each prompt that is missing. @returns a warning where that is impossible */
export async function seedPrompts(home: string): Promise<readonly string[]> {
  const folder = promptFolder(home);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of PROMPT_NAMES) await createPrompt(join(folder, name), SHIPPED_PROMPTS[name]);
    return [];
  } catch (error) {
    return [`${folder} cannot be filled (${codeOf(error)}); the shipped prompts are used.`];
  }
}

/** Whole or not at all, and only where nothing is. */
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

/** Reads a prompt without following a symlink. Writes nothing. */
export async function loadPrompt(home: string, name: PromptName): Promise<LoadedPrompt> {
  const file = join(promptFolder(home), name);
  const read = await readText(file);
  if ('missing' in read) return { ...shippedPrompt(name, file), state: 'missing', warnings: [] };
  if ('problem' in read) return unusable(name, file, read.problem);
  const { warnings, ...parsed } = parsePrompt(read.text);
  if (parsed.body === '') return unusable(name, file, 'is empty');
  const state = read.text === SHIPPED_PROMPTS[name] ? 'shipped' : 'changed';
  return { name, file, state, text: read.text, ...parsed, warnings: warnings.map((each) => `${file}:${each}`) };
}

function unusable(name: PromptName, file: string, problem: string): LoadedPrompt {
  const warning = `${file} ${problem}; the shipped prompt is used.`;
  return { ...shippedPrompt(name, file), state: 'unreadable', warnings: [warning] };
}

function shippedPrompt(name: PromptName, file: string): Omit<LoadedPrompt, 'state' | 'warnings'> {
  const text = SHIPPED_PROMPTS[name];
  const { body, frontmatter } = parsePrompt(text);
  return { name, file, text, body, frontmatter };
}

type ReadText = { readonly text: string } | { readonly missing: true } | { readonly problem: string };

async function readText(file: string): Promise<ReadText> {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      if (!(await handle.stat()).isFile()) return { problem: 'is not a file' };
      return { text: new TextDecoder('utf-8', { fatal: true }).decode(await handle.readFile()) };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const code = codeOf(error);
    if (code === 'ENOENT') return { missing: true };
    if (code === 'ELOOP') return { problem: 'is a symbolic link, which is not followed' };
    if (code === 'ERR_ENCODING_INVALID_ENCODED_DATA') return { problem: 'is not valid UTF-8' };
    return { problem: `cannot be read (${code})` };
  }
}

/** Puts the shipped text back. What was there is moved aside. @returns the path that it has now, if anything was there */
export async function resetPrompt(home: string, name: PromptName): Promise<string | undefined> {
  const folder = promptFolder(home);
  const file = join(folder, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const backup = await moveAside(file);
  await createPrompt(file, SHIPPED_PROMPTS[name]);
  return backup;
}

async function moveAside(file: string): Promise<string | undefined> {
  for (let number = 1; ; number++) {
    const backup = `${file}.bak-${number}`;
    try {
      // Claims the name, so that no other process's backup is replaced.
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

/** Where `decision_prompt_path` leads: absolute or from `~`, else in `auto-compact/` if it is there, else from `cwd`. */
export async function resolvePromptPath(
  path: string,
  place: { readonly home: string; readonly homeDirectory: string; readonly cwd: string },
): Promise<string> {
  if (path === '~' || path.startsWith('~/')) return join(place.homeDirectory, path.slice(1));
  if (isAbsolute(path)) return path;
  const own = join(promptFolder(place.home), path);
  const isThere = await access(own).then(
    () => true,
    () => false,
  );
  return isThere ? own : resolve(place.cwd, path);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
}
