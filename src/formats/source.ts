// A session file as a fixed run of bytes. Agents append to their files while Baton reads them, so the size at the
// moment of opening counts, for every pass and for the copy that `--format same` makes.

import { constants } from 'node:fs';
import { open, mkdtemp, rm, stat } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatonError } from '../errors.ts';

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

/**
 * Opens a file, or standard input for `-`.
 * @param signal stops waiting for standard input, which may never end
 * @throws BatonError `file_not_found`, `not_a_file`, `file_unreadable`, `file_empty`, `output_failed` when there is no
 * room to put standard input aside, `interrupted`
 */
export async function openSource(
  path: string,
  stdin: AsyncIterable<Buffer>,
  signal?: AbortSignal,
): Promise<ByteSource> {
  return path === '-' ? spool(stdin, signal) : openFile(path, path === '' ? "''" : path);
}

/** A named pipe without a writer would keep `open` waiting for ever; regular files do not know the flag. */
const READ_WITHOUT_WAITING = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

async function openFile(path: string, name: string, dispose?: () => Promise<void>): Promise<ByteSource> {
  const handle = await open(path, READ_WITHOUT_WAITING).catch((error: unknown) => {
    throw explainOpen(name, error);
  });
  try {
    const stats = await handle.stat({ bigint: true });
    if (!stats.isFile()) {
      const what = stats.isDirectory() ? 'a directory' : 'no regular file';
      throw new BatonError('not_a_file', `${name} is ${what}`, {
        cure: stats.isFIFO()
          ? 'Give what comes through a pipe on standard input: `-` in place of the name.'
          : 'Name a session file; `baton sessions` lists the ones on this machine.',
      });
    }
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

/** Standard input cannot be read twice, so it is put into a private temporary file first. */
async function spool(stdin: AsyncIterable<Buffer>, signal: AbortSignal | undefined): Promise<ByteSource> {
  const directory = await mkdtemp(join(tmpdir(), 'baton-')).catch((error: unknown) => {
    throw explainSpool(error);
  });
  const dispose = () => rm(directory, { recursive: true, force: true });
  const path = join(directory, 'stdin');
  try {
    await writeSpool(path, stdin, signal);
    return await openFile(path, 'standard input', dispose);
  } catch (error) {
    await dispose();
    throw error;
  }
}

async function writeSpool(
  path: string,
  stdin: AsyncIterable<Buffer>,
  signal: AbortSignal | undefined,
): Promise<void> {
  const handle = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw explainSpool(error);
  });
  try {
    const chunks = stdin[Symbol.asyncIterator]();
    for (;;) {
      const next = await orInterrupted(chunks.next(), signal).catch((error: unknown) => {
        throw error instanceof BatonError ? error : explainOpen('standard input', error);
      });
      if (next.done === true) return;
      await handle.appendFile(next.value).catch((error: unknown) => {
        throw explainSpool(error);
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

function explainSpool(error: unknown): BatonError {
  const { code } = error as NodeJS.ErrnoException;
  const reason = code === 'ENOSPC' ? 'the disk is full' : (code ?? String(error));
  return new BatonError('output_failed', `Standard input could not be put aside in ${tmpdir()}: ${reason}`, {
    cure: 'Free space, name another directory in TMPDIR, or give the name of a file.',
    cause: error,
  });
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
    cure: CURES[code ?? ''] ?? 'Check its permissions, and the disk that it lies on.',
    cause: error,
  });
}

/** What helps where a file cannot be read, by what the system says. @source open(2) */
const CURES: Readonly<Record<string, string>> = {
  EACCES: 'Check its permissions.',
  EPERM: 'Check its permissions.',
  ELOOP: 'It is a link that leads back to itself: name the session file that it should lead to.',
  ENAMETOOLONG: 'No file has so long a name: give the path of one, and not what it holds.',
};
