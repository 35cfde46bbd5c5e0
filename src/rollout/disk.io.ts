// The file of a rollout on disk: creates, opens, appends, repairs after a crash, and explains failures.

import { constants } from 'node:fs';
import { link, mkdir, open, readdir, rename, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { BatonError } from '../errors.ts';
import { readSmallFile, refusalOf } from '../system/planted.io.ts';
import type { DamageNote } from '../formats/reader.ts';
import type { RolloutFile, RolloutFiles } from './files.ts';
import { planRepair } from './torn.ts';

/** The file system of the machine. */
export const NODE_FILES: RolloutFiles = { open, mkdir, readFile: readText, readdir, link, rename, unlink };

/** A lock has a few hundred bytes, and so does `/proc/PID/stat`. @source measured: 254 and 330 */
const LARGEST_TEXT = 64 * 1024;

async function readText(path: string): Promise<string> {
  const read = readSmallFile(path, { maxBytes: LARGEST_TEXT, links: 'refuse' });
  if (read.kind === 'bytes') return read.bytes.toString('utf8');
  const code = read.kind === 'missing' ? 'ENOENT' : read.code;
  if (code === undefined || code === 'ELOOP') return '';
  throw Object.assign(new Error(`${path} ${read.kind === 'missing' ? 'does not exist' : read.problem}`), {
    code,
  });
}

/**
 * Appends at the end, wherever another writer left it, and never creates the file. Opening does not block: a named pipe in its
 * place would otherwise wait forever.
 */
const OPEN_TO_APPEND =
  constants.O_RDWR | constants.O_APPEND | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);

/** Opens a regular file to append to it. @throws BatonError `output_failed` */
export async function openToAppend(path: string, files: RolloutFiles): Promise<RolloutFile> {
  let file: RolloutFile | undefined;
  try {
    file = await files.open(path, OPEN_TO_APPEND);
    const refused = refusalOf(await file.stat());
    if (refused === undefined) return file;
    throw new BatonError('output_failed', `${path} ${refused}`, {
      cure: 'Another program put it there while the session was being opened: remove it, then open the session again.',
    });
  } catch (error) {
    await file?.close();
    throw explainWrite(path, error, false);
  }
}

/** Creates a new file that only its owner can access. */
export async function createFile(path: string, files: RolloutFiles): Promise<RolloutFile> {
  return files.open(path, 'ax+', 0o600);
}

/** Checks that nobody else has written to the file or removed it. @throws BatonError `file_changed` */
export async function requireUnchanged(file: RolloutFile, size: number, path: string): Promise<void> {
  const stats = await file.stat();
  if (stats.nlink > 0 && stats.size === size) return;
  const what =
    stats.nlink === 0 ? 'was removed' : `has ${stats.size} bytes instead of the ${size} that were written`;
  throw new BatonError('file_changed', `${path} ${what} while the session was running`, {
    cure: 'Open the session again, and keep other programs from writing to it.',
    data: { isBroken: true },
  });
}

/** Appends all bytes, in as many writes as necessary. */
export async function writeWhole(file: RolloutFile, bytes: Buffer): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await file.write(bytes.subarray(written));
    if (bytesWritten === 0) throw Object.assign(new Error('nothing was written'), { code: 'EIO' });
    written += bytesWritten;
  }
}

/** Syncs the folders of a new file, including those created for it: all in parallel, since each waits for the disk. */
export async function syncFolders(path: string, home: string, files: RolloutFiles): Promise<void> {
  await Promise.all(foldersUpTo(home, path).map((folder) => syncFolder(folder, files)));
}

function foldersUpTo(home: string, path: string): readonly string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder.startsWith(home); folder = dirname(folder)) {
    folders.push(folder);
    if (folder === dirname(folder)) break;
  }
  return folders;
}

async function syncFolder(folder: string, files: RolloutFiles): Promise<void> {
  const handle = await files.open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Repairs the end of a file and returns what it found. @throws BatonError `output_failed` */
export async function repair(path: string, file: RolloutFile): Promise<Omit<DamageNote, 'line'> | undefined> {
  try {
    const { size } = await file.stat();
    const tail = await readTail(file, size);
    if (tail.length === 0) return undefined;
    const { keep, isUnterminated } = planRepair(tail.toString('latin1'));
    if (keep < tail.length) await file.truncate(size - tail.length + keep);
    if (isUnterminated) await writeWhole(file, Buffer.from('\n'));
    return {
      kind: 'torn_last_line',
      message:
        keep > 0
          ? 'the last line lacked its end, as after a crash; it was completed'
          : `${tail.length} bytes of an unfinished line, as after a crash, were cut off`,
      lost: keep === 0,
    };
  } catch (error) {
    throw explainWrite(path, error, false);
  }
}

/** The bytes after the last line feed. */
async function readTail(file: RolloutFile, size: number): Promise<Buffer> {
  for (let length = Math.min(size, LOOK_BACK); ; length = Math.min(size, length * 4)) {
    const bytes = Buffer.alloc(length);
    for (let read = 0; read < length;) {
      const { bytesRead } = await file.read(bytes, read, length - read, size - length + read);
      if (bytesRead === 0) throw Object.assign(new Error('the file became shorter'), { code: 'EIO' });
      read += bytesRead;
    }
    const feed = bytes.lastIndexOf(0x0a);
    if (feed !== -1 || length === size) return bytes.subarray(feed + 1);
  }
}

/** How many bytes to search first for the end of the last line. */
const LOOK_BACK = 64 * 1024;

const REASONS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ENOSPC: 'the disk is full',
    EDQUOT: 'the disk quota is used up',
    EFBIG: 'the file has reached its maximum size',
    EROFS: 'the disk is read-only',
    EACCES: 'no permission',
    EPERM: 'no permission',
  }),
);

/**
 * The failure of a write, with a readable reason.
 * @param isBroken nothing more can be written until the thread is reopened
 */
export function explainWrite(path: string, error: unknown, isBroken: boolean): BatonError {
  if (error instanceof BatonError) return error;
  const { code } = error as NodeJS.ErrnoException;
  const reason = (code === undefined ? undefined : REASONS.get(code)) ?? code ?? String(error);
  return new BatonError('output_failed', `${path} could not be written: ${reason}`, {
    cure: isBroken
      ? 'Fix the disk, then open the session again: it contains everything recorded before.'
      : 'The session contains everything recorded before; fix the disk and try again.',
    data: { isBroken, ...(code === undefined ? {} : { code }) },
    cause: error,
  });
}
