// Lists files: with git where available, so that ignored files are omitted; otherwise by walking directories.

import { opendir } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { runGit } from '../../system/git.io.ts';
import type { CancelSignal } from '../../ports.ts';
import { comparePaths } from './glob-pattern.ts';
import type { ToolWorld } from '../world.ts';

/** How many entries of a directory to stat at once. */
const ENTRIES_AT_ONCE = 1000;

/** Maximum number of files, and of directories, to examine in one call. @source docs/decisions/tools.md */
export const MAX_FILES = 100_000;

/** Files below a directory. */
export interface Listing {
  /** Relative to the workspace, in the order of `comparePaths`. A file that git knows may no longer exist on disk. */
  readonly paths: readonly string[];
  /** There are more files than were examined. */
  readonly isPartial: boolean;
}

/** Lists the files below a directory inside the workspace. A walk neither lists nor follows links. */
export async function listFiles(directory: string, world: ToolWorld, signal: CancelSignal): Promise<Listing> {
  const found = new Set<string>();
  const isKnownToGit = world.isRepository && !(await isIgnored(directory, world, signal));
  const to: Collection = { world, signal, found, directories: 0 };
  await collect(directory, isKnownToGit, to);
  return { paths: [...found].toSorted(comparePaths), isPartial: isFull(to) };
}

interface Collection {
  readonly world: ToolWorld;
  readonly signal: CancelSignal;
  readonly found: Set<string>;
  /** Number of walked directories: empty ones take time as well. */
  directories: number;
}

function isFull({ found, directories }: Collection): boolean {
  return found.size >= MAX_FILES || directories >= MAX_FILES;
}

async function collect(directory: string, isKnownToGit: boolean, to: Collection): Promise<void> {
  const { world, signal, found } = to;
  if (signal.aborted || isFull(to)) return;
  if (isKnownToGit) {
    const args = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const output = await askGit(args, directory, { world, signal });
    if (output !== undefined) {
      for (const path of output.toString('utf8').split('\0')) {
        if (found.size >= MAX_FILES) return;
        // A repository nested in this one.
        if (path.endsWith('/')) await collect(join(directory, path), true, to);
        else if (path !== '') found.add(relative(world.root, join(directory, path)));
      }
      return;
    }
  }
  await walk(directory, to);
}

async function walk(directory: string, to: Collection): Promise<void> {
  const { world, signal, found } = to;
  if (signal.aborted || isFull(to)) return;
  to.directories++;
  const below: string[] = [];
  try {
    for await (const entry of await opendir(directory, { bufferSize: ENTRIES_AT_ONCE })) {
      if (signal.aborted || isFull(to) || below.length >= MAX_FILES) return;
      if (entry.name === '.git') {
        if (directory === world.root) continue;
        return await collect(directory, true, to);
      }
      const path = join(directory, entry.name);
      if (entry.isDirectory()) below.push(path);
      else if (entry.isFile()) found.add(relative(world.root, path));
    }
  } catch {
    // A directory that is unreadable or gone.
    return;
  }
  for (const path of below.toSorted(comparePaths)) await walk(path, to);
}

/** Whether git ignores a path; false where git cannot say. */
export async function isIgnored(path: string, world: ToolWorld, signal: CancelSignal): Promise<boolean> {
  if (path === world.root) return false;
  return (await askGit(['check-ignore', '-q', '--', path], world.root, { world, signal })) !== undefined;
}

/** The paths that git ignores; none where git cannot say. */
export async function ignoredOf(
  paths: readonly string[],
  world: ToolWorld,
  signal: CancelSignal,
): Promise<ReadonlySet<string>> {
  if (!world.isRepository || paths.length === 0) return new Set();
  const input = paths.map((path) => `${path}\0`).join('');
  const output = await askGit(['check-ignore', '-z', '--stdin'], world.root, { world, signal, input });
  return new Set(output?.toString('utf8').split('\0').slice(0, -1));
}

interface ListingQuery {
  readonly world: ToolWorld;
  readonly signal: CancelSignal;
  readonly input?: string;
}

/** Time limit for one answer of git. @source docs/decisions/tools.md, "Searching": ten times what 50,000 files take */
const TIMEOUT_MS = 10_000;

/** Threads where git once missed the time limit: a named pipe as `.gitignore` would block it again at every call. */
const silent = new WeakSet<ToolWorld>();

/** Whether git did not answer in time once in this thread: it is asked no more. */
export function isSilent(world: ToolWorld): boolean {
  return silent.has(world);
}

/** Asks git for its rules in the whole workspace. @returns whether it did not answer in time */
export async function findSilence(world: ToolWorld, signal: CancelSignal): Promise<boolean> {
  const args = ['ls-files', '-z', '--others', '--exclude-standard'];
  await askGit(args, world.root, { world, signal });
  return isSilent(world);
}

/** What git says; undefined where it fails, or did not answer before. */
async function askGit(
  args: readonly string[],
  directory: string,
  { world, signal, input }: ListingQuery,
): Promise<Buffer | undefined> {
  if (silent.has(world)) return undefined;
  const terms = { env: world.programEnv, signal, timeoutMs: TIMEOUT_MS };
  const { end, output, wouldWait } = await runGit(
    args,
    directory,
    input === undefined ? terms : { ...terms, input },
  );
  if (end.type === 'timed_out' || wouldWait === true) silent.add(world);
  return end.type === 'exited' && end.status === 0 ? output : undefined;
}
