// The names of the files that `@` completes: what git lists, or else a bounded walk.

import type { Dirent } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import { programEnvironment } from '../../system/environment.ts';
import type { Variables } from '../../system/environment.ts';
import { hasSucceeded, runGit } from '../../system/git.io.ts';

/** Where to look. */
export interface FilesTerms {
  /** The working directory: names are relative to it. */
  readonly cwd: string;
  /** Baton's environment. */
  readonly env: Variables;
  readonly signal: AbortSignal;
  /** Names to keep at most; absent: `MOST_FILES`. */
  readonly most?: number;
}

/** What was found. */
export interface FoundFiles {
  /** Relative to the working directory, with `/` on every system; in no order. */
  readonly names: readonly string[];
  /** There are more, or the time ran out. */
  readonly isCut: boolean;
}

/**
 * Names to keep at most.
 * @source measured: a key in a mention among this many files takes 10 ms, within the 20 ms in which it must show
 */
const MOST_FILES = 20_000;

/** How long a walk may take, in milliseconds. @source the time in which a list seems to open at once */
const WALK_MS = 200;

/** How long git may take, in milliseconds. @source ten times its time for the 90,000 files of a large repository with a warm cache */
const GIT_MS = 2000;

/** Directories that a walk skips: without git, nothing says what is made and what is written. */
const SKIPPED: ReadonlySet<string> = new Set(['.git', '.hg', '.svn', 'node_modules']);

/** Lists the files below the working directory, without those that git ignores. Never rejects. */
export async function findFiles({ cwd, env, signal, most = MOST_FILES }: FilesTerms): Promise<FoundFiles> {
  const listed = await runGit(['ls-files', '-co', '--exclude-standard', '-z', '--', '.'], cwd, {
    env: programEnvironment(env),
    signal,
    timeoutMs: GIT_MS,
  });
  if (!hasSucceeded(listed)) return walk(cwd, most, signal);
  const names = listed.output.toString('utf8').split('\0').slice(0, -1);
  // A file in conflict has a name for each of its versions.
  const different = [...new Set(names)];
  return { names: different.slice(0, most), isCut: different.length > most };
}

/** Lists files breadth-first, so that a cut leaves the deepest out. Follows no links. */
async function walk(cwd: string, most: number, signal: AbortSignal): Promise<FoundFiles> {
  const end = performance.now() + WALK_MS;
  const names: string[] = [];
  const folders = [''];
  let seen = 0;
  for (let at = 0; at < folders.length; at++) {
    const folder = folders[at] ?? '';
    for await (const entry of entriesOf(join(cwd, folder))) {
      if (++seen > most || signal.aborted || performance.now() > end) return { names, isCut: true };
      const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
      if (!entry.isDirectory()) names.push(name);
      else if (!SKIPPED.has(entry.name)) folders.push(name);
    }
  }
  return { names, isCut: false };
}

async function* entriesOf(folder: string): AsyncGenerator<Dirent> {
  try {
    yield* await opendir(folder);
  } catch {
    // It may have vanished or be closed to the user: the rest of the list is still of use.
  }
}
