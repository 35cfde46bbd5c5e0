// A session file as a fixed run of bytes. Agents append to their files while Baton reads them, so the size at the
// moment of opening counts, for every pass and for the copy that `--format same` makes.

import { open, mkdtemp, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatonError } from '../errors.ts';
import { openPipe, openToRead, refusalOf } from '../system/planted.io.ts';

const CHUNK = 1024 * 1024;

/** The bytes of one session. */
export interface ByteSource {
  /** How errors name it. */
  readonly name: string;
  /** Bytes at the time of opening. */
  readonly size: number;
  /** Whether a path leads to a file that is read, by whatever name or link; also asked when all is closed. */
  isAt(path: string): Promise<boolean>;
  /**
   * The bytes in order. The buffer of a chunk is reused for the next one.
   * @param from the first byte wanted, counted from 0
   * @throws BatonError `file_changed` when the file got shorter meanwhile, `file_unreadable` when the system fails to
   * read it, `interrupted` when `signal` fires
   */
  chunks(signal?: AbortSignal, from?: number): AsyncGenerator<Buffer>;
  /** Whether the file has grown since it was opened. */
  hasGrown(): Promise<boolean>;
  close(): Promise<void>;
}

/** The most that is put aside of a stream. @source docs/decisions/configuration.md: 500 times the largest session known */
const MOST_SPOOLED = 2 * 1024 * 1024 * 1024;

/**
 * Opens a file; for `-`, standard input; for `/dev/fd/N`, as a shell writes `<(…)`, the pipe. A pipe with a name in the file
 * system is refused: anyone may have planted it, and nobody may ever write to it.
 * @param signal stops waiting for a stream, which may never end
 * @param mostSpooled bytes of a stream, at most
 * @throws BatonError `file_not_found`, `not_a_file`, `file_unreadable`, `file_empty`, `output_failed` when there is no
 * room to put standard input aside, `interrupted`
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

/** Whether a path names a pipe that this process was given. */
async function streamAt(path: string): Promise<'stdin' | 'pipe' | undefined> {
  const match = DESCRIPTOR.exec(path);
  const stats = match === null ? undefined : await stat(path).catch(() => undefined);
  if (stats === undefined || !(stats.isFIFO() || stats.isSocket())) return undefined;
  return Number(match?.[1] ?? 0) === 0 ? 'stdin' : 'pipe';
}

async function openFile(path: string, name: string, dispose?: () => Promise<void>): Promise<ByteSource> {
  // A device may act on being opened, so what is there is asked first.
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
        cure: 'An agent writes its session at the first prompt; name a session that has one.',
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
      ? 'Give what comes through a pipe on standard input: `-` in place of the name.'
      : 'Name a session file; `baton sessions` lists the ones on this machine.',
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
          throw new BatonError('file_changed', `${name} got shorter while it was read`, {
            cure: 'Try again when the agent that writes it is idle.',
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

/** The last bytes of a source, from the first line that starts in them. `size` counts the skipped part line too. */
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

/** The first bytes of a source, up to the last line that ends in them; all of them where none does. */
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

/** A stream cannot be read twice, so it is put into a private temporary file first. */
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
        throw new BatonError('file_unreadable', `${name} holds more than ${mostBytes} bytes`, {
          cure: 'Save it to a file and name that: a file is read where it lies.',
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
    `${name[0]?.toUpperCase()}${name.slice(1)} could not be put aside in ${tmpdir()}: ${reason}`,
    {
      cure: 'Free space, name another directory in TMPDIR, or give the name of a file.',
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
    cure: CURES.get(code ?? '') ?? 'Check its permissions, and the disk that it lies on.',
    cause: error,
  });
}

/** What helps where a file cannot be read, by what the system says. @source open(2) */
const CURES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    EACCES: 'Check its permissions.',
    EPERM: 'Check its permissions.',
    ELOOP: 'It is a link that leads back to itself: name the session file that it should lead to.',
    ENAMETOOLONG: 'No file has so long a name: give the path of one, and not what it holds.',
  }),
);
