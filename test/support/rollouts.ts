// What tests of rollouts need of the world: a home of their own, a clock that jumps, ids that can be told in advance, and a
// file system between the rollout and the disk that fails, or ends the process, where a test wants it.

import * as nodeFiles from 'node:fs/promises';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { NODE_FILES } from '../../src/rollout/disk.io.ts';
import type { RolloutFile, RolloutFiles } from '../../src/rollout/files.ts';
import type { RolloutWorld } from '../../src/rollout/rollout.io.ts';

/** A home that is gone after the test. */
export async function temporaryHome(t: TestContext): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'baton-rollout-'));
  t.after(() => rm(home, { recursive: true, force: true }));
  return home;
}

/** A world whose n-th id ends in n, and whose clock stands still unless it is set. */
export function rolloutWorld(
  more: Partial<RolloutWorld> = {},
): RolloutWorld & { clock: { nowMs: number; now(): number } } {
  let id = 0;
  return {
    ids: { uuid: () => `01a00000-0000-7000-8000-${String(++id).padStart(12, '0')}` },
    ...more,
    clock: {
      nowMs: Date.UTC(2026, 0, 2, 3, 4, 5),
      now() {
        return this.nowMs;
      },
    },
  };
}

/** One call to the file system. */
export interface Call {
  readonly name: keyof RolloutFiles | keyof RolloutFile;
  readonly path: string;
  /** What a write was given. */
  readonly bytes?: Uint8Array;
}

/** Is asked at each call, and may make it, fail it, or make it otherwise. */
export type OnCall = <T>(call: Call, perform: (bytes?: Uint8Array) => Promise<T>) => Promise<T>;

/** The file system of the machine, with somebody in between. */
export function interceptedFiles(onCall: OnCall): RolloutFiles {
  const pathCall =
    <Name extends 'readFile' | 'readdir' | 'link' | 'rename' | 'unlink' | 'mkdir'>(name: Name) =>
    (path: string, ...rest: unknown[]) =>
      onCall({ name, path }, () =>
        (NODE_FILES[name] as (...args: unknown[]) => Promise<never>)(path, ...rest),
      );
  return {
    open: async (path, flags, mode) =>
      interceptedFile(
        path,
        await onCall({ name: 'open', path }, () => nodeFiles.open(path, flags, mode)),
        onCall,
      ),
    mkdir: pathCall('mkdir'),
    readFile: pathCall('readFile'),
    readdir: pathCall('readdir'),
    link: pathCall('link'),
    rename: pathCall('rename'),
    unlink: pathCall('unlink'),
  };
}

function interceptedFile(path: string, handle: nodeFiles.FileHandle, onCall: OnCall): RolloutFile {
  return {
    write: (bytes) => onCall({ name: 'write', path, bytes }, (some = bytes) => handle.write(some)),
    read: (...args) => handle.read(...args),
    stat: () => onCall({ name: 'stat', path }, () => handle.stat()),
    truncate: (bytes) => onCall({ name: 'truncate', path }, () => handle.truncate(bytes)),
    datasync: () => onCall({ name: 'datasync', path }, () => handle.datasync()),
    sync: () => onCall({ name: 'sync', path }, () => handle.sync()),
    close: () => onCall({ name: 'close', path }, () => handle.close()),
  };
}

/** A failure as the system words it. */
export function systemError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
