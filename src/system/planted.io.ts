// The only way to read a file that a stranger may have planted: a repository, another process, the author of a session file. Only
// regular files pass. Opening never blocks, and a read ends at a stated number of bytes, whatever the file claims to hold.

import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  statSync,
} from 'node:fs';
import type { Stats } from 'node:fs';
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { Socket } from 'node:net';
import { isAbsolute, relative, sep } from 'node:path';

/** How a file may be read. */
export interface ReadTerms {
  /** At least 1. A larger file is refused, not cut. */
  readonly maxBytes: number;
  /** How to treat symbolic links: `refuse` concerns the last component; `within` requires that all links stay in a directory. */
  readonly links: 'follow' | 'refuse' | { readonly within: string };
}

/** The result of reading a file. */
export type FileBytes =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'missing' }
  /** Not read, or not completely; `problem` completes "PATH …" and never quotes the file. */
  | { readonly kind: 'refused'; readonly problem: string; readonly code?: string };

/** Without O_NONBLOCK, opening a named pipe waits for a writer; without O_NOCTTY, a terminal becomes the controlling terminal. */
const READ_ONLY = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0) | (constants.O_NOCTTY ?? 0);
const NO_LINK = constants.O_NOFOLLOW ?? 0;

const CHUNK_BYTES = 64 * 1024;

/** Reads a small file synchronously; see `config/load.io.ts`. Never throws. */
export function readSmallFile(path: string, terms: ReadTerms): FileBytes {
  try {
    const place = placeOf(path, terms.links);
    if (place === undefined)
      return { kind: 'refused', problem: 'is a symbolic link that leads out of the project' };
    // Opening a device may have effects, so check before opening; check again afterwards, because the file may change.
    const refused = refusalOf((place.flags === NO_LINK ? lstatSync : statSync)(place.path));
    if (refused !== undefined) return { kind: 'refused', problem: refused };
    const file = openSync(place.path, READ_ONLY | place.flags);
    try {
      return readOpened(file, terms.maxBytes);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    return explain(error, terms);
  }
}

function placeOf(
  path: string,
  links: ReadTerms['links'],
): { readonly path: string; readonly flags: number } | undefined {
  if (links === 'follow') return { path, flags: 0 };
  if (links === 'refuse') return { path, flags: NO_LINK };
  const real = realpathSync.native(path);
  return isBelow(real, realpathSync.native(links.within)) ? { path: real, flags: NO_LINK } : undefined;
}

/** Whether a path is below a directory, by name. Both absolute. */
export function isBelow(path: string, directory: string): boolean {
  const way = relative(directory, path);
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

function readOpened(file: number, maxBytes: number): FileBytes {
  const stats = fstatSync(file);
  const refused = refusalOf(stats) ?? sizeRefusal(stats.size, maxBytes);
  if (refused !== undefined) return { kind: 'refused', problem: refused };
  const chunks: Buffer[] = [];
  for (let total = 0; total <= maxBytes;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes + 1 - total));
    const bytesRead = readSync(file, chunk);
    if (bytesRead === 0) return { kind: 'bytes', bytes: Buffer.concat(chunks) };
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
  }
  return { kind: 'refused', problem: sizeRefusal(maxBytes + 1, maxBytes) ?? '' };
}

function sizeRefusal(size: number, maxBytes: number): string | undefined {
  return size > maxBytes ? `is larger than ${describeBytes(maxBytes)}` : undefined;
}

function describeBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} bytes`;
  return bytes < 1024 * 1024 ? `${Math.floor(bytes / 1024)} KiB` : `${Math.floor(bytes / 1024 / 1024)} MiB`;
}

const LINK_REFUSED = 'is a symbolic link, which Baton does not follow';

/** The type of a file that is not regular: completes "PATH …"; undefined for a regular file. */
export function refusalOf(
  stats: Pick<Stats, 'isFile' | 'isDirectory' | 'isFIFO' | 'isSocket' | 'isSymbolicLink'>,
): string | undefined {
  if (stats.isFile()) return undefined;
  if (stats.isSymbolicLink()) return LINK_REFUSED;
  if (stats.isDirectory()) return 'is a directory';
  if (stats.isFIFO()) return 'is a named pipe';
  return stats.isSocket() ? 'is a socket' : 'is a device';
}

function explain(error: unknown, { links }: ReadTerms): FileBytes {
  const code = (error as NodeJS.ErrnoException).code ?? String(error);
  if (code === 'ENOENT' || code === 'ENOTDIR') return { kind: 'missing' };
  if (code !== 'ELOOP') return { kind: 'refused', problem: `cannot be read (${code})`, code };
  return {
    kind: 'refused',
    problem: links === 'refuse' ? LINK_REFUSED : 'is a symbolic link to itself',
    code,
  };
}

/**
 * Opens a path for reading without blocking: apply `refusalOf` to its `stat` to check for a regular file.
 * @param links whether to follow a link in the last component
 * @throws Error of the system, with its code
 */
export async function openToRead(path: string, links: 'follow' | 'refuse'): Promise<FileHandle> {
  return open(path, READ_ONLY | (links === 'refuse' ? NO_LINK : 0));
}

/** All bytes of an open regular file; undefined if there are more than `maxBytes`. @throws Error of the system */
export async function readWhole(handle: FileHandle, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  for (let total = 0; total <= maxBytes;) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, maxBytes + 1 - total));
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, total);
    if (bytesRead === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, bytesRead));
    total += bytesRead;
  }
  return undefined;
}

/** Opens a pipe that this process received as `/dev/fd/N` as a stream; destroy it when done. @throws Error of the system */
export function openPipe(path: string): Socket {
  return new Socket({ fd: openSync(path, READ_ONLY), readable: true, writable: false });
}
