// Confines a model's file access to one directory.

import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';
import { lstat, realpath, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { BatonError } from '../errors.ts';
import { isBelow, openToRead, readWhole } from './planted.io.ts';
import type { FileRead, WorkspaceFiles } from '../ports.ts';

/**
 * A larger file is described instead of read: 5,000 tokens of it would say little. @source docs/decisions/compaction-budget.md.
 */
const LARGEST_FILE = 2 * 1024 * 1024;

/** Longest path that any system opens, in bytes. @source Linux, PATH_MAX */
const LONGEST_PATH = 4096;

/** Where a path of a model leads. Paths are absolute, with links resolved. */
export type ResolvedPath =
  | { readonly kind: 'file' | 'directory'; readonly path: string; readonly stats: Stats }
  /** Nothing is there; `path` is where it would be. */
  | { readonly kind: 'free'; readonly path: string }
  /** Outside the workspace, a link that leads there, or not a regular file; `why` completes "PATH is …". */
  | { readonly kind: 'refused'; readonly why: string };

/**
 * Opens a directory as a workspace.
 * @param directory the present location of the files
 * @param recordedCwd their location when the session was recorded: paths below it are mapped to `directory`
 * @throws BatonError as `resolveRoot`
 */
export async function openWorkspace(
  directory: string,
  recordedCwd: string | undefined,
): Promise<WorkspaceFiles> {
  const root = await resolveRoot(directory);
  return {
    read: (path) => readFileInside(moved(path, root, recordedCwd), root),
  };
}

/** The workspace itself, with links resolved. @throws BatonError `file_not_found`, `file_unreadable`, `not_a_directory` */
export async function resolveRoot(directory: string): Promise<string> {
  const cure = 'Name the directory of the work.';
  const root = await realpath(directory).catch((cause: unknown) => {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') {
      throw new BatonError('file_not_found', `The workspace ${directory} does not exist`, { cure, cause });
    }
    throw new BatonError(
      'file_unreadable',
      `The workspace ${directory} cannot be reached (${code ?? String(cause)})`,
      {
        cure,
        cause,
      },
    );
  });
  if ((await stat(root)).isDirectory()) return root;
  throw new BatonError('not_a_directory', `The workspace ${directory} is not a directory`, { cure });
}

function moved(path: string, root: string, recordedCwd: string | undefined): string {
  return isAbsolute(path) && recordedCwd !== undefined && isBelow(path, recordedCwd)
    ? join(root, relative(recordedCwd, path))
    : path;
}

/**
 * Resolves a path.
 * @param path absolute, or relative to the workspace
 * @param root the workspace, from `resolveRoot`
 */
export async function locate(path: string, root: string): Promise<ResolvedPath> {
  if (path.includes('\0')) return { kind: 'refused', why: 'not a path: it contains a zero byte' };
  // Before anything is done with it: what is missing is looked up step by step.
  if (path.length > LONGEST_PATH) return { kind: 'refused', why: 'not a path: it is too long' };
  const wanted = resolve(root, path);
  if (!isInside(wanted, root)) return { kind: 'refused', why: 'outside the workspace' };
  try {
    const real = await realpath(wanted);
    if (!isInside(real, root)) return { kind: 'refused', why: 'a link that leads out of the workspace' };
    const stats = await lstat(real);
    if (stats.isFile()) return { kind: 'file', path: real, stats };
    if (stats.isDirectory()) return { kind: 'directory', path: real, stats };
    return { kind: 'refused', why: 'not a regular file' };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return locateFree(wanted, root);
    if (code === 'ENOTDIR') return { kind: 'refused', why: 'below something that is not a directory' };
    return { kind: 'refused', why: `not reachable (${code ?? String(error)})` };
  }
}

function isInside(path: string, root: string): boolean {
  return path === root || isBelow(path, root);
}

/** A path that does not exist: the nearest existing parent must be inside. */
async function locateFree(wanted: string, root: string): Promise<ResolvedPath> {
  let there = wanted;
  while (!(await isThere(there))) there = dirname(there);
  // Writing there would write where the link leads.
  if (there === wanted) return { kind: 'refused', why: 'a link that leads nowhere' };
  const parent = await locate(there, root);
  if (parent.kind === 'refused') return parent;
  if (parent.kind === 'file') return { kind: 'refused', why: 'below something that is not a directory' };
  return { kind: 'free', path: join(parent.path, relative(there, wanted)) };
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

/** Reads a whole file. */
async function readFileInside(path: string, root: string): Promise<FileRead> {
  const place = await locate(path, root);
  if (place.kind === 'free') return { kind: 'gone' };
  if (place.kind === 'refused') return place;
  if (place.kind === 'directory') return { kind: 'refused', why: 'not a regular file' };
  try {
    const handle = await openToRead(place.path, 'refuse');
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { kind: 'refused', why: 'not a regular file' };
      if (stats.size > LARGEST_FILE) return { kind: 'large', bytes: stats.size };
      const bytes = await readWhole(handle, LARGEST_FILE);
      if (bytes === undefined) return { kind: 'large', bytes: (await handle.stat()).size };
      return bytes.includes(0) || !isUtf8(bytes)
        ? { kind: 'binary', bytes: bytes.length }
        : { kind: 'text', text: bytes.toString('utf8') };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'gone' };
    return { kind: 'refused', why: `not readable (${code ?? String(error)})` };
  }
}
