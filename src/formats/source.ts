// A session file as a fixed run of bytes. Agents append to their files while Baton reads them, so the size at the
// moment of opening counts, for every pass and for the copy that `--format same` makes.

import { constants } from 'node:fs';
import { open, mkdtemp, rm, writeFile } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BatonError } from '../errors.ts';

const CHUNK = 1024 * 1024;

/** Opening a named pipe must not wait for its writer; systems without the flag have no such pipes. */
const READ_AT_ONCE = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);

/** The bytes of one session. */
export interface ByteSource {
  /** How errors name it. */
  readonly name: string;
  /** Bytes at the time of opening. */
  readonly size: number;
  /**
   * The bytes in order. The buffer of a chunk is reused for the next one.
   * @param from the first byte wanted, counted from 0
   * @throws BatonError `file_changed` when the file got shorter meanwhile, `interrupted` when `signal` fires
   */
  chunks(signal?: AbortSignal, from?: number): AsyncGenerator<Buffer>;
  /** Whether the file has grown since it was opened. */
  hasGrown(): Promise<boolean>;
  close(): Promise<void>;
}

/**
 * Opens a file, or standard input for `-`.
 * @throws BatonError `file_not_found`, `not_a_file`, `file_unreadable`, `file_empty`
 */
export async function openSource(path: string, stdin: AsyncIterable<Buffer>): Promise<ByteSource> {
  return path === '-' ? spool(stdin) : openFile(path, path);
}

async function openFile(path: string, name: string, dispose?: () => Promise<void>): Promise<ByteSource> {
  const handle = await open(path, READ_AT_ONCE).catch((error: unknown) => {
    throw explainOpen(name, error);
  });
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) {
      const what = stats.isDirectory() ? 'a directory' : 'no regular file';
      throw new BatonError('not_a_file', `${name} is ${what}`, {
        cure: 'Name a session file; `baton sessions` lists the ones on this machine.',
      });
    }
    if (stats.size === 0) {
      throw new BatonError('file_empty', `${name} is empty`, {
        cure: 'An agent writes its session at the first prompt; name a session that has one.',
      });
    }
    return fileSource(handle, name, stats.size, dispose);
  } catch (error) {
    await handle.close();
    throw error;
  }
}

function fileSource(
  handle: FileHandle,
  name: string,
  size: number,
  dispose?: () => Promise<void>,
): ByteSource {
  return {
    name,
    size,
    async *chunks(signal, from = 0) {
      const buffer = Buffer.allocUnsafe(Math.min(CHUNK, size));
      for (let position = from; position < size;) {
        if (signal?.aborted === true) throw new BatonError('interrupted', 'Interrupted');
        const { bytesRead } = await handle.read(
          buffer,
          0,
          Math.min(buffer.length, size - position),
          position,
        );
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
async function spool(stdin: AsyncIterable<Buffer>): Promise<ByteSource> {
  const directory = await mkdtemp(join(tmpdir(), 'baton-'));
  const dispose = () => rm(directory, { recursive: true, force: true });
  const path = join(directory, 'stdin');
  try {
    await writeFile(path, stdin, { flag: 'wx', mode: 0o600 });
    return await openFile(path, 'standard input', dispose);
  } catch (error) {
    await dispose();
    throw error;
  }
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
    cure: 'Check its permissions.',
    cause: error,
  });
}
