// The process of a program that calls the library, as files and models see it.

import { homedir } from 'node:os';
import type { CancelSignal } from '../ports.ts';
import type { SourceWorld } from './session-source.ts';

/**
 * Runs a call in the world of its process: its environment, its directory, its standard input for `-`.
 * @param signal of the caller; the call listens to it until it ends
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

/** Opened by who reads it: a look at it would keep the process alive. */
async function* standardInput(): AsyncGenerator<Buffer> {
  yield* process.stdin;
}
