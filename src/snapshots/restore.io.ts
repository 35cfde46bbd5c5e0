// Restores files according to a plan. Each file is checked again immediately before: later changes by others stay.

import { constants, existsSync } from 'node:fs';
import type { Stats } from 'node:fs';
import { chmod, lstat, mkdir, open, rename, rm, rmdir, symlink, unlink, writeFile } from 'node:fs/promises';
import { hasSucceeded } from '../system/git.io.ts';
import type { Captured } from './capture.io.ts';
import type { RestorePlan, TreeFile } from './changes.ts';
import type { SnapshotDeadline } from './deadline.io.ts';
import { directoriesOf, nameOf } from './paths.ts';
import { leftoverPrefix } from './snapshot.ts';
import type { LeftOut, Snapshot } from './snapshot.ts';
import { isSameLook, runInWorkshop } from './workshop.io.ts';
import type { Look, Workshop } from './workshop.io.ts';

/** The result, path by path. */
export interface Restored {
  readonly done: readonly string[];
  readonly failed: readonly LeftOut[];
}

/** The restoration to carry out. */
export interface Restoration {
  readonly plan: RestorePlan;
  /** The state that was saved immediately before. */
  readonly present: Captured;
  /** Its snapshot, after which files are named until they are moved into place. */
  readonly undo: Snapshot;
}

/** How many bytes of contents to hold in memory at once; git may answer with up to twice as much. */
const CONTENTS_AT_ONCE = 32 * 1024 * 1024;

/**
 * Carries out a plan: first removes, so that a file can replace a directory, then writes. Stops between two files when the user
 * asks for it.
 */
export async function restoreFiles(
  workshop: Workshop,
  { plan: { remove, write }, present, undo }: Restoration,
  deadline: SnapshotDeadline,
): Promise<Restored> {
  const { root } = workshop.repository;
  const done: string[] = [];
  const failed: LeftOut[] = [];
  const attempt = async (
    path: string,
    mode: 'find' | 'make',
    act: (place: Buffer, beside: (name: string) => Buffer) => Promise<void>,
  ): Promise<void> => {
    if (deadline.isOver) return void failed.push({ path, why: `not reached: ${deadline.why}` });
    try {
      await inDirectoryOf(root, path, mode, async (beside) => {
        const place = beside(nameOf(path));
        await mustBeAsSaved(place, present.looks.get(path));
        await act(place, beside);
      });
      done.push(path);
    } catch (error) {
      failed.push({ path, why: whyNot(error) });
    }
  };
  for (const path of remove) {
    await attempt(path, 'find', (place) => unlink(place));
    if (done.at(-1) === path) await removeEmpty(root, path);
  }
  for await (const { path, file, content } of contentsOf(workshop, write, deadline)) {
    await attempt(path, 'make', async (place, beside) => {
      if (content === undefined) throw new NotPossible('gone from the snapshot');
      const temporary = beside(`${leftoverPrefix(undo)}${done.length + failed.length}`);
      await put(place, { file, content, before: present.looks.get(path), temporary });
    });
  }
  return { done, failed };
}

/** Where Linux exposes the open directories of this process: a path that begins there follows no link on its way. */
const OPEN_FILES = existsSync('/proc/self/fd') ? '/proc/self/fd' : undefined;

/**
 * Works in the directory of a path. It reaches the directory step by step and holds it open, so that a link that replaces a
 * directory meanwhile has no effect. Where the system does not support that, it checks each step first.
 * @param mode whether to create missing directories
 */
async function inDirectoryOf(
  root: string,
  path: string,
  mode: 'find' | 'make',
  work: (beside: (name: string) => Buffer) => Promise<void>,
): Promise<void> {
  let way: Buffer = Buffer.from(root);
  let handle = OPEN_FILES === undefined ? undefined : await open(root, DIRECTORY);
  const beside = (name: string): Buffer =>
    Buffer.concat([
      handle === undefined ? way : Buffer.from(`${OPEN_FILES}/${handle.fd}`),
      Buffer.from(`/${name}`, 'latin1'),
    ]);
  try {
    for (const name of path.split('/').slice(0, -1)) {
      const step = beside(name);
      if (mode === 'make') await mkdirOnce(step);
      if ((await lookAt(step))?.isDirectory() === false)
        throw new NotPossible('below something that is not a directory');
      if (handle === undefined) way = step;
      else {
        const next = await open(step, DIRECTORY | constants.O_NOFOLLOW);
        await handle.close();
        handle = next;
      }
    }
    await work(beside);
  } finally {
    await handle?.close();
  }
}

const DIRECTORY = constants.O_RDONLY | constants.O_DIRECTORY;

/** The message completes "PATH is …". */
class NotPossible extends Error {}

/** @param look the state of the file when it was saved; undefined: it did not exist */
async function mustBeAsSaved(place: Buffer, look: Look | undefined): Promise<void> {
  const stats = await lookAt(place);
  // A directory can only block a file, and only an empty one gives way.
  if (stats?.isDirectory() === true && look === undefined) return;
  if (!isSameLook(stats, look)) throw new NotPossible('changed since the undo began');
}

async function lookAt(place: Buffer): Promise<Stats | undefined> {
  return lstat(place).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
}

function whyNot(error: unknown): string {
  if (error instanceof NotPossible) return error.message;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOTEMPTY') return 'blocked by a directory that holds other files';
  if (code === 'ENOENT') return 'changed since the undo began';
  if (code === 'ELOOP' || code === 'ENOTDIR') return 'below something that is not a directory';
  if (code === 'ENOSPC' || code === 'EDQUOT') return 'not written because the disk is full';
  return `not changeable (${code ?? message})`;
}

/** Removes directories that a removal left empty, up to the workspace. */
async function removeEmpty(root: string, path: string): Promise<void> {
  for (const directory of directoriesOf(path).toReversed()) {
    try {
      await inDirectoryOf(root, directory, 'find', (beside) => rmdir(beside(nameOf(directory))));
    } catch {
      return;
    }
  }
}

const ANY_EXECUTE = 0o111;
const ALL_PERMISSIONS = 0o777;

interface Put {
  readonly file: TreeFile;
  readonly content: Buffer;
  readonly before: Look | undefined;
  /** The temporary path next to the target. */
  readonly temporary: Buffer;
}

/** Writes a temporary file and renames it, so that no link is followed and no partial file is ever visible. */
async function put(place: Buffer, { file, content, before, temporary }: Put): Promise<void> {
  if ((await lookAt(place))?.isDirectory() === true) await rmdir(place);
  try {
    if (file.kind === 'link') await symlink(content, temporary);
    else {
      const isExecutable = file.kind === 'executable';
      await writeFile(temporary, content, { flag: 'wx', mode: isExecutable ? 0o777 : 0o666 });
      const mode = before === undefined ? undefined : permissionsOf(before.mode, isExecutable);
      if (mode !== undefined) await chmod(temporary, mode);
    }
    await rename(temporary, place);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The permissions that a file had, without execute permissions: a snapshot records only whether it is executable. */
function permissionsOf(mode: number, isExecutable: boolean): number | undefined {
  const isRegular = (mode & 0o170000) === 0o100000;
  if (!isRegular) return undefined;
  const permissions = mode & ALL_PERMISSIONS;
  if (!isExecutable) return permissions & ~ANY_EXECUTE;
  return (permissions & ANY_EXECUTE) === 0 ? permissions | ((permissions & 0o444) >> 2) : permissions;
}

async function mkdirOnce(path: Buffer): Promise<void> {
  await mkdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error;
  });
}

interface Content {
  readonly path: string;
  readonly file: TreeFile;
  readonly content: Buffer | undefined;
}

/** The contents of files, in portions that fit into memory. */
async function* contentsOf(
  workshop: Workshop,
  files: RestorePlan['write'],
  deadline: SnapshotDeadline,
): AsyncIterable<Content> {
  const sizes = await sizesOf(workshop, files, deadline);
  let from = 0;
  while (from < files.length) {
    let bytes = 0;
    let to = from;
    while (to < files.length && (to === from || bytes + (sizes[to] ?? 0) <= CONTENTS_AT_ONCE))
      bytes += sizes[to++] ?? 0;
    const some = files.slice(from, to);
    const input = some.map(({ file }) => `${file.blob}\n`).join('');
    const { output } = await runInWorkshop(workshop, ['cat-file', '--batch'], deadline, { input });
    const blobs = parseBatch(output);
    for (const [index, { path, file }] of some.entries()) yield { path, file, content: blobs[index] };
    from = to;
  }
}

async function sizesOf(
  workshop: Workshop,
  files: RestorePlan['write'],
  deadline: SnapshotDeadline,
): Promise<readonly number[]> {
  const input = files.map(({ file }) => `${file.blob}\n`).join('');
  const format = '--batch-check=%(objectsize)';
  const answer = await runInWorkshop(workshop, ['cat-file', format], deadline, { input });
  if (!hasSucceeded(answer)) return [];
  return answer.output
    .toString('latin1')
    .split('\n')
    .map((size) => Number(size) || 0);
}

/** Parses the output of `cat-file --batch`: a line with the size, the content, a line feed; undefined for missing objects. */
function parseBatch(output: Buffer): (Buffer | undefined)[] {
  const blobs: (Buffer | undefined)[] = [];
  let at = 0;
  while (at < output.length) {
    const end = output.indexOf(10, at);
    if (end === -1) break;
    const [, type, size] = output.toString('latin1', at, end).split(' ');
    at = end + 1;
    if (type !== 'blob') {
      blobs.push(undefined);
      continue;
    }
    const bytes = Number(size);
    const isWhole = at + bytes < output.length;
    blobs.push(isWhole ? output.subarray(at, at + bytes) : undefined);
    at += bytes + 1;
  }
  return blobs;
}
