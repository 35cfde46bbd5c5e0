// Writes results. A file appears complete or not at all: it is written beside its destination, synced and renamed.

import { link, lstat, open, realpath, rename, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { dirname, resolve, sep } from 'node:path';
import { BatonError } from '../errors.ts';
import type { ByteSource } from '../formats/source.io.ts';
import { announceRemains } from '../system/remains.io.ts';
import type { Ids } from '../ports.ts';

/** The pieces of an output, in order. */
export type Piece = string | { readonly copyOf: ByteSource };

/** Where an output goes. */
export interface Destination {
  /** A path, or undefined for standard output. */
  readonly path: string | undefined;
  readonly overwrites: boolean;
  /** The files being read: no permission to overwrite covers them. */
  readonly inputs: readonly Input[];
}

/** What writing needs from the process. */
export interface OutputWorld {
  readonly ids: Ids;
  readonly signal: AbortSignal;
  /** Writes to standard output; resolves when the bytes are accepted. */
  readonly stdoutBytes: (bytes: Uint8Array) => Promise<void>;
}

/** An input file, open or already closed. */
export type Input = Pick<ByteSource, 'isAt'>;

/** The files that the paths lead to at the moment of each check. */
export function filesAt(paths: readonly string[]): readonly Input[] {
  return paths.map((path) => ({ isAt: (other) => isSameFile(path, other) }));
}

async function isSameFile(path: string, other: string): Promise<boolean> {
  const [one, two] = await Promise.all(
    [path, other].map((each) => stat(each, { bigint: true }).catch(() => undefined)),
  );
  return one !== undefined && one.dev === two?.dev && one.ino === two.ino;
}

/**
 * Rejects an unusable destination before any work is done for it.
 * @throws BatonError `usage` for `-`; `output_exists`, `output_failed`
 */
export async function checkDestination({ path, ...rest }: Destination): Promise<void> {
  if (path !== undefined) await placeOf(path, rest);
}

/** Where the bytes go: the path, or the file in or below the same folder that the user's link leads to. */
async function placeOf(path: string, { overwrites, inputs }: Omit<Destination, 'path'>): Promise<string> {
  if (path === '-') {
    throw new BatonError('usage', '`-` is not a valid output file', {
      cure: 'Write ./- for a file of that name; without the option, the result goes to standard output.',
    });
  }
  if (path === '') throw noFile("''", 'no name');
  await checkFolder(dirname(path));
  const stats = await stat(path).catch(() => undefined);
  const isLink = await lstat(path).then(
    (own) => own.isSymbolicLink(),
    () => false,
  );
  if (stats === undefined) {
    if (isLink) throw brokenLink(path);
    return path;
  }
  // A rename would replace a device or a pipe with a file.
  if (!stats.isFile()) throw noFile(path, stats.isDirectory() ? 'a directory' : 'not a regular file');
  for (const input of inputs) {
    if (!(await input.isAt(path))) continue;
    throw new BatonError(
      'output_exists',
      `${path} is an input of this command, and Baton never changes an input`,
      {
        cure: 'Choose another name.',
      },
    );
  }
  if (!overwrites) throw existsAlready(path);
  return isLink ? linkedPlace(path) : path;
}

/** A rename would replace the link. A link that leads elsewhere may be a stranger's, and its file someone else's. */
async function linkedPlace(path: string): Promise<string> {
  const [target, folder] = await Promise.all([realpath(path), realpath(dirname(path))]);
  if (target.startsWith(`${folder === sep ? '' : folder}${sep}`)) return target;
  throw new BatonError('output_exists', `${path} is a link to another folder, to ${target}`, {
    cure: 'Name that file itself to replace it, or choose another name.',
  });
}

function brokenLink(path: string): BatonError {
  return new BatonError('output_exists', `${path} is a broken link`, {
    cure: 'Remove it, or choose another name.',
  });
}

async function checkFolder(folder: string): Promise<void> {
  const refusal = (why: string, cure: string): BatonError =>
    new BatonError('output_failed', `The folder ${folder} ${why}`, { cure });
  const stats = await stat(folder).catch(() => undefined);
  if (stats === undefined) throw refusal('does not exist', 'Create it, or choose another folder.');
  if (!stats.isDirectory()) throw refusal('is not a directory', 'Choose another folder.');
}

function noFile(path: string, what: string): BatonError {
  return new BatonError('output_failed', `${path} is ${what}`, {
    cure: 'Name a file.',
  });
}

/**
 * Writes an output.
 * @throws BatonError `output_exists`, `output_failed` (nothing is left behind), `interrupted`
 */
export async function writeOutput(
  io: OutputWorld,
  destination: Destination,
  pieces: readonly Piece[],
): Promise<void> {
  if (destination.path === undefined) {
    await writePieces(pieces, io.signal, io.stdoutBytes);
    return;
  }
  const path = await placeOf(destination.path, destination);
  const temporary = `${path}.${io.ids.uuid()}.tmp`;
  const remains = { type: 'file', path: resolve(temporary) } as const;
  announceRemains('begun', remains);
  try {
    await writeTemporary(temporary, pieces, io.signal);
    if (destination.overwrites) await rename(temporary, path);
    else await publish(temporary, path);
  } catch (error) {
    // If creating the temporary file failed, removing it fails as well; only the first failure matters.
    await rm(temporary, { force: true }).catch(() => undefined);
    throw explainWrite(path, error);
  } finally {
    announceRemains('settled', remains);
  }
}

async function writeTemporary(path: string, pieces: readonly Piece[], signal: AbortSignal): Promise<void> {
  const handle = await open(path, 'wx', 0o600);
  try {
    await writePieces(pieces, signal, (bytes) => writeAll(handle, bytes));
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let written = 0; written < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, written);
    written += bytesWritten;
  }
}

/** A link fails if the name is taken, even if it was taken a moment ago; a rename would replace. */
async function publish(temporary: string, path: string): Promise<void> {
  await link(temporary, path);
  await rm(temporary);
}

async function writePieces(
  pieces: readonly Piece[],
  signal: AbortSignal,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  for (const piece of pieces) {
    if (signal.aborted) throw new BatonError('interrupted', 'Interrupted');
    if (typeof piece === 'string') await write(Buffer.from(piece));
    else await copy(piece.copyOf, signal, write);
  }
}

/** Copies a file and ends its last line with a line feed, so that the appended lines start on a new line. */
async function copy(
  source: ByteSource,
  signal: AbortSignal,
  write: (bytes: Uint8Array) => Promise<void>,
): Promise<void> {
  let last: number | undefined;
  for await (const chunk of source.chunks(signal)) {
    last = chunk.at(-1);
    await write(chunk);
  }
  if (last !== undefined && last !== 0x0a) await write(Buffer.from('\n'));
}

function existsAlready(path: string): BatonError {
  return new BatonError('output_exists', `${path} already exists`, {
    cure: 'Choose another name, or replace it with --force.',
  });
}

function explainWrite(path: string, error: unknown): unknown {
  if (error instanceof BatonError) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EEXIST') return existsAlready(path);
  const reason = code === 'ENOSPC' ? 'the disk is full' : (code ?? String(error));
  return new BatonError('output_failed', `${path} could not be written: ${reason}`, {
    cure: `No partial file remains; ${code === 'ENOSPC' ? 'free space' : 'check the permissions'} or choose another folder, and run the command again.`,
    cause: error,
  });
}
