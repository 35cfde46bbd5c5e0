// Reads files back from a workspace, and from nowhere else.

import { isUtf8 } from 'node:buffer';
import { open, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, resolve, sep } from 'node:path';
import { BatonError } from '../errors.ts';
import type { FileRead, WorkspaceFiles } from '../ports.ts';

/** A file beyond this is described instead of read: 5,000 tokens of it would say little. @source docs/decisions/compaction-budget.md. */
const LARGEST_FILE = 2 * 1024 * 1024;

/**
 * Opens a directory as a workspace.
 * @param directory where the files are now
 * @param recordedCwd where they were when the session was recorded: paths below it are looked up below `directory`
 * @throws BatonError `file_not_found` when the directory does not exist
 */
export async function openWorkspace(
  directory: string,
  recordedCwd: string | undefined,
): Promise<WorkspaceFiles> {
  const root = await realpath(directory).catch((cause: unknown) => {
    throw new BatonError('file_not_found', `The workspace ${directory} does not exist`, {
      cure: 'Name the directory that the agent worked in.',
      cause,
    });
  });
  return {
    read: async (path) => {
      const inside = locate(path, root, recordedCwd);
      return inside === undefined
        ? { kind: 'refused', why: 'outside of the workspace' }
        : readInside(inside, root);
    },
  };
}

function locate(path: string, root: string, recordedCwd: string | undefined): string | undefined {
  const wanted = isAbsolute(path)
    ? recordedCwd !== undefined && isBelow(path, recordedCwd)
      ? join(root, relative(recordedCwd, path))
      : path
    : resolve(root, path);
  return isBelow(wanted, root) ? wanted : undefined;
}

function isBelow(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

async function readInside(path: string, root: string): Promise<FileRead> {
  try {
    const real = await realpath(path);
    if (!isBelow(real, root)) return { kind: 'refused', why: 'a link that leads out of the workspace' };
    const handle = await open(real, 'r');
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { kind: 'refused', why: 'no regular file' };
      if (stats.size > LARGEST_FILE) return { kind: 'large', bytes: stats.size };
      const bytes = await handle.readFile();
      return bytes.includes(0) || !isUtf8(bytes)
        ? { kind: 'binary', bytes: bytes.length }
        : { kind: 'text', text: bytes.toString('utf8') };
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'gone' };
    return { kind: 'refused', why: code ?? String(error) };
  }
}
