// Stores a work tree as git objects, byte for byte.

import { accessSync, constants, lstatSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { hasSucceeded, runGit } from '../system/git.io.ts';
import { explain, skipped } from './deadline.io.ts';
import type { SnapshotDeadline, SnapshotProblem } from './deadline.io.ts';
import { bytesOf } from './path-bytes.io.ts';
import { directoriesOf, joinPaths, parseStages, splitPaths } from './paths.ts';
import { isOwn } from './repository.io.ts';
import type { Repository } from './repository.io.ts';
import type { LeftOut } from './snapshot.ts';
import { isSameLook, runInWorkshop } from './workshop.io.ts';
import type { Look, Workshop } from './workshop.io.ts';

/** Limits beyond which a work tree, or one of its files, is not saved. @source docs/decisions/snapshots.md */
export interface CaptureBounds {
  /** Files that git tracks or would add. */
  readonly files: number;
  /** Files that git does not track yet, and their total bytes. */
  readonly untrackedFiles: number;
  readonly untrackedBytes: number;
  /** A larger file is skipped, and the rest saved. */
  readonly fileBytes: number;
}

/** A work tree as git objects. */
export interface Captured {
  readonly type: 'captured';
  readonly tree: string;
  readonly looks: ReadonlyMap<string, Look>;
  readonly leftOut: readonly LeftOut[];
  readonly nested: readonly string[];
}

/** Paths per update of the index. Finished updates remain when the next one times out. */
const BATCH = 10_000;

/**
 * A file that changed less than this many milliseconds before it was read may change again without looking different: file system
 * clocks tick in up to two seconds. @source FAT; git's own rule for its index
 */
const SETTLED_MS = 2500;

/** How many files git may refuse one by one: each costs a dozen runs of git. */
const MAX_REFUSED = 100;

/** Files to stat before other work gets its turn. */
const LOOKS_AT_ONCE = 1000;

/** The files that git lists. */
interface Listed {
  readonly tracked: readonly string[];
  readonly untracked: readonly string[];
  readonly nested: readonly string[];
}

/** @param include paths to add if they exist, even where git ignores them now */
export async function captureTree(
  workshop: Workshop,
  bounds: CaptureBounds,
  deadline: SnapshotDeadline,
  include: readonly string[] = [],
): Promise<Captured | SnapshotProblem> {
  const startedMs = workshop.clock.now();
  const listed = await list(workshop.repository, deadline);
  if ('type' in listed) return listed;
  const { tracked, untracked, nested } = listed;
  const paths = new Set([...tracked, ...untracked, ...include]);
  if (paths.size > bounds.files) {
    return skipped(`the workspace has ${paths.size} files, more than ${bounds.files}`);
  }
  if (untracked.length > bounds.untrackedFiles) {
    return skipped(
      `${untracked.length} files are neither committed nor ignored, more than ${bounds.untrackedFiles}`,
    );
  }
  const { looks, leftOut } = await look(workshop.repository.root, [...paths], bounds, deadline);
  if (deadline.isOver) return skipped(deadline.why);
  const untrackedBytes = untracked.reduce((sum, path) => sum + (looks.get(path)?.size ?? 0), 0);
  if (untrackedBytes > bounds.untrackedBytes) {
    return skipped(
      `files that are neither committed nor ignored hold ${megabytes(untrackedBytes)}, more than ${megabytes(bounds.untrackedBytes)}`,
    );
  }
  // A stopped git may have left it behind.
  await rm(join(workshop.directory, 'index.lock'), { force: true });
  const problem = await forget(workshop, looks, deadline);
  if (problem !== undefined) return problem;
  const refused: LeftOut[] = [];
  const { held } = workshop;
  const wanted = [...looks].flatMap(([path, seen]) => (isSameLook(held.get(path), seen) ? [] : [path]));
  for (let from = 0; from < wanted.length; from += BATCH) {
    const batch = wanted.slice(from, from + BATCH);
    const failure = await takeIn(workshop, batch, { deadline, refused });
    if (failure !== undefined) return failure;
    for (const path of batch) {
      const seen = looks.get(path);
      if (seen !== undefined && seen.ctimeMs < startedMs - SETTLED_MS) held.set(path, seen);
      else held.delete(path);
    }
  }
  const [first] = refused;
  // A fault of every file is a fault of the repository.
  if (first !== undefined && refused.length === looks.size) return skipped(`every file is ${first.why}`);
  for (const { path } of refused) {
    looks.delete(path);
    held.delete(path);
  }
  const written = await runInWorkshop(workshop, ['write-tree'], deadline);
  if (!hasSucceeded(written)) return explain(written, deadline);
  const tree = written.output.toString('latin1').trim();
  return { type: 'captured', tree, looks, leftOut: [...leftOut, ...refused], nested };
}

async function list(repository: Repository, deadline: SnapshotDeadline): Promise<Listed | SnapshotProblem> {
  const { root, env } = repository;
  const terms = { env, signal: deadline.signal, timeoutMs: deadline.leftMs + 1000 };
  const stages = await runGit(['ls-files', '-z', '--stage'], root, terms);
  if (!hasSucceeded(stages)) return explain(stages, deadline);
  const others = await runGit(['ls-files', '-z', '--others', '--exclude-standard'], root, terms);
  if (!hasSucceeded(others)) return explain(others, deadline);
  const isTheirs = (path: string): boolean => !isOwn(repository, path);
  const { files, submodules } = parseStages(stages.output.toString('latin1'));
  const rest = splitPaths(others.output.toString('latin1')).filter(isTheirs);
  return {
    tracked: files.filter(isTheirs),
    untracked: rest.filter((path) => !path.endsWith('/')),
    nested: [...submodules, ...rest.filter((path) => path.endsWith('/'))],
  };
}

/** Stats every path without following links. Missing files are in neither result. */
async function look(
  root: string,
  paths: readonly string[],
  bounds: CaptureBounds,
  deadline: SnapshotDeadline,
): Promise<{ readonly looks: Map<string, Look>; readonly leftOut: readonly LeftOut[] }> {
  const looks = new Map<string, Look>();
  const leftOut: LeftOut[] = [];
  const directories = new Map<string, boolean>();
  for (const [index, path] of paths.entries()) {
    if (index % LOOKS_AT_ONCE === 0) {
      await new Promise((resolve) => setImmediate(resolve));
      if (deadline.isOver) break;
    }
    const stats = lookBelow(root, path, directories);
    if (typeof stats === 'string') {
      leftOut.push({ path, why: `not accessible (${stats})` });
      continue;
    }
    // A directory replaced a file that git knows.
    if (stats === undefined || stats.isDirectory()) continue;
    if (stats.size > bounds.fileBytes) leftOut.push({ path, why: `too large (${megabytes(stats.size)})` });
    else if (stats.isFile() || stats.isSymbolicLink()) looks.set(path, stats);
    else leftOut.push({ path, why: 'not a regular file' });
  }
  return { looks, leftOut };
}

/** @returns the system's error code if it refuses; undefined if nothing is there, or a link is in the way */
function lookBelow(root: string, path: string, known: Map<string, boolean>): Stats | string | undefined {
  try {
    if (!directoriesOf(path).every((directory) => isDirectory(root, directory, known))) return undefined;
    return lstatSync(bytesOf(root, path), { throwIfNoEntry: false });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? String(error);
  }
}

function isDirectory(root: string, path: string, known: Map<string, boolean>): boolean {
  let is = known.get(path);
  if (is === undefined) {
    is = lstatSync(bytesOf(root, path), { throwIfNoEntry: false })?.isDirectory() ?? false;
    known.set(path, is);
  }
  return is;
}

/** Removes paths from the private index that no longer exist or no longer belong in it. */
async function forget(
  workshop: Workshop,
  looks: ReadonlyMap<string, Look>,
  deadline: SnapshotDeadline,
): Promise<SnapshotProblem | undefined> {
  const answer = await runInWorkshop(workshop, ['ls-files', '-z'], deadline);
  if (!hasSucceeded(answer)) return explain(answer, deadline);
  const listed = new Set(splitPaths(answer.output.toString('latin1')));
  // Other programs clean up the directory of the index.
  for (const path of workshop.held.keys()) if (!listed.has(path)) workshop.held.delete(path);
  const gone = [...listed].filter((path) => !looks.has(path));
  if (gone.length === 0) return undefined;
  for (const path of gone) workshop.held.delete(path);
  const input = Buffer.from(joinPaths(gone), 'latin1');
  const forgotten = await runInWorkshop(
    workshop,
    ['update-index', '--force-remove', '-z', '--stdin'],
    deadline,
    {
      input,
    },
  );
  return hasSucceeded(forgotten) ? undefined : explain(forgotten, deadline);
}

interface TakingIn {
  readonly deadline: SnapshotDeadline;
  readonly refused: LeftOut[];
}

/**
 * Adds paths to the private index. Bisects to find files that git refuses, so that only these are skipped.
 * @returns why it cannot continue
 */
async function takeIn(
  workshop: Workshop,
  paths: readonly string[],
  to: TakingIn,
): Promise<SnapshotProblem | undefined> {
  const { deadline, refused } = to;
  if (paths.length === 0) return undefined;
  const answer = await runInWorkshop(
    workshop,
    ['update-index', '--add', '--remove', '--replace', '-z', '--stdin'],
    deadline,
    { input: Buffer.from(joinPaths(paths), 'latin1') },
  );
  if (hasSucceeded(answer)) return undefined;
  // A git that was stopped or killed has refused nothing.
  if (deadline.isOver || answer.end.type !== 'exited' || refused.length >= MAX_REFUSED) {
    return explain(answer, deadline);
  }
  const [only] = paths;
  if (paths.length === 1 && only !== undefined) {
    refused.push({ path: only, why: `refused by git (${answer.errors.split('\n')[0] ?? ''})` });
    return undefined;
  }
  // There may be many unreadable files, so find them all at once.
  const { root } = workshop.repository;
  const readable = paths.filter((path) => isReadable(root, path));
  if (readable.length < paths.length) {
    const known = new Set(readable);
    refused.push(...paths.filter((path) => !known.has(path)).map((path) => ({ path, why: 'not readable' })));
    return takeIn(workshop, readable, to);
  }
  const half = Math.ceil(paths.length / 2);
  return (await takeIn(workshop, paths.slice(0, half), to)) ?? takeIn(workshop, paths.slice(half), to);
}

function isReadable(root: string, path: string): boolean {
  const whole = bytesOf(root, path);
  try {
    if (lstatSync(whole, { throwIfNoEntry: false })?.isSymbolicLink() === true) return true;
    accessSync(whole, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

function megabytes(bytes: number): string {
  return `${Math.ceil(bytes / 1e6)} MB`;
}
