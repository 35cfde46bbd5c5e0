// A session file as a fixed run of bytes. Agents append to their files while Baton reads them, so the size when the file was
// opened applies to every pass and to the copy that `--format same` makes.

import { open, mkdtemp, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatonError } from '../errors.ts';
import { openPipe, openToRead, refusalOf } from '../system/planted.io.ts';

const CHUNK = 1024 * 1024;

/** The bytes of one session. */
export interface ByteSource {
  /** Its name in errors. */
  readonly name: string;
  /** Bytes at the time of opening. */
  readonly size: number;
  /** Whether a path leads to one of the files being read, under any name or link; also works after closing. */
  isAt(path: string): Promise<boolean>;
  /**
   * The bytes in order. The buffer of a chunk is reused for the next one.
   * @param from the first byte wanted, counted from 0
   * @throws BatonError `file_changed` if the file has become shorter, `file_unreadable` if the system fails to read it,
   * `interrupted` when `signal` fires
   */
  chunks(signal?: AbortSignal, from?: number): AsyncGenerator<Buffer>;
  /** Whether the file has grown since it was opened. */
  hasGrown(): Promise<boolean>;
  close(): Promise<void>;
}

/** Limit for storing a stream. @source docs/decisions/configuration.md: 500 times the largest session known */
const MOST_SPOOLED = 2 * 1024 * 1024 * 1024;

/**
 * Opens a file; for `-`, standard input; for `/dev/fd/N`, as in a shell's `<(…)`, the pipe. Rejects a named pipe in the file
 * system: anyone may have planted it, and it may never be written to.
 * @param signal stops waiting for a stream, which may never end
 * @param mostSpooled bytes of a stream, at most
 * @throws BatonError `file_not_found`, `not_a_file`, `file_unreadable`, `file_empty`, `output_failed` when there is not enough
 * space to store standard input, `interrupted`
 */
export async function openSource(
  path: string,
  stdin: AsyncIterable<Buffer>,
  signal?: AbortSignal,
  mostSpooled: number = MOST_SPOOLED,
): Promise<ByteSource> {
  const spooling = { signal, mostBytes: mostSpooled };
  if (path === '-') return spool('standard input', stdin, spooling);
  const stream = await streamAt(path);
  if (stream === undefined) return openFile(path, path === '' ? "''" : path);
  if (stream === 'stdin') return spool('standard input', stdin, spooling);
  const pipe = openPipe(path);
  try {
    return await spool(path, pipe, spooling);
  } finally {
    pipe.destroy();
  }
}

const DESCRIPTOR = /^\/(?:dev\/stdin|(?:dev|proc\/self)\/fd\/(\d+))$/;

/** Which pipe of this process a path names, if any. */
async function streamAt(path: string): Promise<'stdin' | 'pipe' | undefined> {
  const match = DESCRIPTOR.exec(path);
  const stats = match === null ? undefined : await stat(path).catch(() => undefined);
  if (stats === undefined || !(stats.isFIFO() || stats.isSocket())) return undefined;
  return Number(match?.[1] ?? 0) === 0 ? 'stdin' : 'pipe';
}

async function openFile(path: string, name: string, dispose?: () => Promise<void>): Promise<ByteSource> {
  // Opening a device may have effects, so its kind is checked first.
  const found = await stat(path).catch((error: unknown) => {
    throw explainOpen(name, error);
  });
  requireFile(name, found);
  const handle = await openToRead(path, 'follow').catch((error: unknown) => {
    throw explainOpen(name, error);
  });
  try {
    const stats = await handle.stat({ bigint: true });
    requireFile(name, stats);
    if (stats.size === 0n) {
      throw new BatonError('file_empty', `${name} is empty`, {
        cure: 'An agent writes its session at the first prompt; choose a session that has one.',
      });
    }
    return fileSource(
      handle,
      { name, size: Number(stats.size), device: stats.dev, inode: stats.ino },
      dispose,
    );
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function requireFile(name: string, stats: Parameters<typeof refusalOf>[0]): void {
  const refused = refusalOf(stats);
  if (refused === undefined) return;
  throw new BatonError('not_a_file', `${name} ${refused}`, {
    cure: stats.isFIFO()
      ? 'Pipe it to standard input, and give `-` as the name.'
      : 'Name a session file; `baton sessions` lists those on this machine.',
  });
}

interface OpenedFile {
  readonly name: string;
  readonly size: number;
  readonly device: bigint;
  readonly inode: bigint;
}

function fileSource(
  handle: FileHandle,
  { name, size, device, inode }: OpenedFile,
  dispose?: () => Promise<void>,
): ByteSource {
  return {
    name,
    size,
    isAt: async (path) => {
      const other = await stat(path, { bigint: true }).catch(() => undefined);
      return other?.dev === device && other.ino === inode;
    },
    async *chunks(signal, from = 0) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size));
      for (let position = from; position < size;) {
        if (signal?.aborted === true) throw new BatonError('interrupted', 'Interrupted');
        const { bytesRead } = await handle
          .read(buffer, 0, Math.min(buffer.length, size - position), position)
          .catch((error: unknown) => {
            throw explainOpen(name, error);
          });
        if (bytesRead === 0) {
          throw new BatonError('file_changed', `${name} became shorter while Baton was reading it`, {
            cure: 'Try again when the agent that writes to it is idle.',
          });
        }
        position += bytesRead;
        yield buffer.subarray(0, bytesRead);
      }
    },
    hasGrown: async () => (await handle.stat()).size > size,
    close: async () => {
      await handle.close();
      await dispose?.();
    },
  };
}

/** The last bytes of a source, from the first line that starts in them. `size` also counts the skipped partial line. */
export function tailOf(source: ByteSource, bytes: number): ByteSource {
  if (source.size <= bytes) return source;
  return {
    ...source,
    size: bytes,
    async *chunks(signal) {
      let isInLine = true;
      for await (const chunk of source.chunks(signal, source.size - bytes)) {
        const feed = isInLine ? chunk.indexOf(0x0a) : -1;
        if (isInLine && feed === -1) continue;
        isInLine = false;
        yield feed === -1 ? chunk : chunk.subarray(feed + 1);
      }
    },
  };
}

/** The first bytes of a source, up to the last line that ends in them; all of them if no line does. */
export function headOf(source: ByteSource, bytes: number): ByteSource {
  if (source.size <= bytes) return source;
  return {
    ...source,
    size: bytes,
    async *chunks(signal, from = 0) {
      let left = bytes - from;
      for await (const chunk of source.chunks(signal, from)) {
        const piece = chunk.subarray(0, left);
        left -= piece.length;
        const end = left > 0 ? -1 : piece.lastIndexOf(0x0a);
        yield end === -1 ? piece : piece.subarray(0, end + 1);
        if (left === 0) return;
      }
    },
  };
}

interface Spooling {
  readonly signal: AbortSignal | undefined;
  readonly mostBytes: number;
}

/** A stream cannot be read twice, so it is first copied to a private temporary file. */
async function spool(name: string, stream: AsyncIterable<Buffer>, terms: Spooling): Promise<ByteSource> {
  const directory = await mkdtemp(join(tmpdir(), 'baton-')).catch((error: unknown) => {
    throw explainSpool(name, error);
  });
  const dispose = () => rm(directory, { recursive: true, force: true });
  const path = join(directory, 'stdin');
  try {
    await writeSpool(path, { name, stream }, terms);
    return await openFile(path, name, dispose);
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function writeSpool(
  path: string,
  { name, stream }: { readonly name: string; readonly stream: AsyncIterable<Buffer> },
  { signal, mostBytes }: Spooling,
): Promise<void> {
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw explainSpool(name, error);
  });
  try {
    const chunks = stream[Symbol.asyncIterator]();
    for (let total = 0; ;) {
      const next = await orInterrupted(chunks.next(), signal).catch((error: unknown) => {
        throw error instanceof BatonError ? error : explainOpen(name, error);
      });
      if (next.done === true) return;
      total += next.value.length;
      if (total > mostBytes) {
        throw new BatonError('file_unreadable', `${name} contains more than ${mostBytes} bytes`, {
          cure: 'Save it to a file and name that file: Baton reads a file in place.',
        });
      }
      await handle.appendFile(next.value).catch((error: unknown) => {
        throw explainSpool(name, error);
      });
    }
  } finally {
    await handle.close();
  }
}

async function orInterrupted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  let stop: (() => void) | undefined;
  const stopped = new Promise<never>((_, reject) => {
    stop = () => reject(new BatonError('interrupted', 'Interrupted'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
  try {
    return await Promise.race([work, stopped]);
  } finally {
    if (stop !== undefined) signal.removeEventListener('abort', stop);
  }
}

function explainSpool(name: string, error: unknown): BatonError {
  const { code } = error as NodeJS.ErrnoException;
  const reason = code === 'ENOSPC' ? 'the disk is full' : (code ?? String(error));
  return new BatonError(
    'output_failed',
    `${name[0]?.toUpperCase()}${name.slice(1)} could not be stored in ${tmpdir()}: ${reason}`,
    {
      cure: 'Free some space, set TMPDIR to another directory, or give the name of a file.',
      cause: error,
    },
  );
}

function explainOpen(name: string, error: unknown): BatonError {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return new BatonError('file_not_found', `${name} does not exist`, {
      cure: 'Check the path; `baton sessions` lists the sessions on this machine.',
      cause: error,
    });
  }
  return new BatonError('file_unreadable', `${name} cannot be read (${code ?? String(error)})`, {
    cure: CURES.get(code ?? '') ?? 'Check its permissions and its disk.',
    cause: error,
  });
}

/** What helps against a read error, by the system's error code. @source open(2) */
const CURES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    EACCES: 'Check its permissions.',
    EPERM: 'Check its permissions.',
    ELOOP: 'The link leads back to itself: name the session file that it should lead to.',
    ENAMETOOLONG: 'The name is too long for a file: give the path of the file, not its content.',
  }),
);
