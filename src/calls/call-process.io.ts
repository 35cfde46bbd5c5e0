// The environment of a program that calls the library, for files and models.

import { homedir } from 'node:os';
import type { CancelSignal } from '../ports.ts';
import type { SourceWorld } from './session-source.ts';

/**
 * Runs a call with the environment, directory and standard input (for `-`) of its process.
 * @param signal the caller's; the call listens to it until it ends
 */
export async function withProcess<T>(
  signal: CancelSignal | undefined,
  call: (world: SourceWorld) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  const stop = (): void => controller.abort();
  if (signal?.aborted === true) stop();
  signal?.addEventListener('abort', stop);
  try {
    return await call({
      env: process.env,
      cwd: process.cwd(),
      homeDirectory: homedir(),
      stdin: standardInput(),
      signal: controller.signal,
    });
  } finally {
    signal?.removeEventListener('abort', stop);
  }
}

/** Opened by the first read: merely touching standard input would keep the process alive. */
async function* standardInput(): AsyncGenerator<Buffer> {
  yield* process.stdin;
}
