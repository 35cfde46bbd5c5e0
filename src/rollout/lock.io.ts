// Allows one writer per rollout, across processes, with files alone: Node does not offer the system's locks.
//
// A lock is a file whose content names its owner. It appears with its content, by a link, so nobody reads a partial lock, and a
// link to a taken name fails. To replace the lock of a dead owner, a process must hold a second lock, which is named after the
// dead owner: a process that takes this one later finds that the dead owner's lock is gone, and releases it. So at most one of
// any number of processes wins, whatever they have seen before. The second lock is taken like any other, so a process that dies
// while replacing is replaced as well.

import { randomUUID } from 'node:crypto';
import { readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BatonError } from '../errors.ts';
import { readSmallFile } from '../system/planted.io.ts';
import type { Clock } from '../ports.ts';
import type { RolloutFiles } from './files.ts';
import { isAlive, placeOwner, readOwner, readProcStat, writeOwner } from './owner.ts';
import type { Owner, ProcessIdentity, Realm } from './owner.ts';

/** What taking a lock requires. */
export interface LockWorld {
  readonly files: RolloutFiles;
  readonly clock: Clock;
}

/** A lock that is held. */
export interface Lock {
  readonly owner: Owner;
  /** Releases it; does nothing if another process holds it by now. */
  release(): Promise<void>;
}

/** How often to try to replace a dead owner while another process does the same, and the milliseconds between attempts. */
const MOST_ATTEMPTS = 100;
const PAUSE_MS = 5;

/**
 * Takes the lock of a rollout.
 * @throws BatonError `session_live` while another process, or another part of this one, holds it; `output_failed`
 */
export async function takeLock(rollout: string, world: LockWorld): Promise<Lock> {
  const path = `${rollout}.lock`;
  const owner: Owner = {
    ...identifyProcess(),
    nonce: randomUUID(),
    since: new Date(world.clock.now()).toISOString(),
  };
  const taken = await take(path, owner, world).catch((error: unknown) => {
    throw explainLock(path, error);
  });
  if (taken.outcome === 'held') throw explainHeld(rollout, path, taken.by);
  if (taken.tookOver) await sweep(path, owner, world);
  return { owner, release: () => letGo(path, owner, world) };
}

type Taken =
  | { readonly outcome: 'taken'; readonly tookOver: boolean }
  | { readonly outcome: 'held'; readonly by: Owner | undefined };

async function take(path: string, owner: Owner, world: LockWorld): Promise<Taken> {
  let other: Owner | undefined;
  for (let tries = 0; tries < MOST_ATTEMPTS; tries++) {
    if (tries > 0) await sleep(PAUSE_MS);
    if (await create(path, owner, world)) return { outcome: 'taken', tookOver: false };
    const text = await readLock(path, world);
    if (text === undefined) continue;
    const holder = readOwner(text);
    if (holder === undefined || (await lives(holder, world))) return { outcome: 'held', by: holder };
    const replaced = await replace(path, { owner, holder }, world);
    if (replaced.outcome === 'taken') return replaced;
    other = replaced.by;
  }
  return { outcome: 'held', by: other };
}

/** Creates the lock unless it exists: completely or not at all. */
async function create(path: string, owner: Owner, world: LockWorld): Promise<boolean> {
  const draft = await writeDraft(path, owner, world);
  try {
    await world.files.link(draft, path);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await world.files.unlink(draft);
  }
}

/** Replaces a dead owner's lock, unless it is already gone or another process is replacing it. */
async function replace(
  path: string,
  { owner, holder }: { readonly owner: Owner; readonly holder: Owner },
  world: LockWorld,
): Promise<Taken> {
  const right = `${path}.${holder.nonce}`;
  const taken = await take(right, owner, world);
  if (taken.outcome === 'held') return taken;
  try {
    const text = await readLock(path, world);
    const present = text === undefined ? undefined : readOwner(text);
    if (present?.nonce !== holder.nonce) return { outcome: 'held', by: present };
    await world.files.rename(await writeDraft(path, owner, world), path);
    return { outcome: 'taken', tookOver: true };
  } finally {
    await letGo(right, owner, world);
  }
}

/** Synced, so that a lock is never empty after a crash of the machine: its owner would be unknown. */
async function writeDraft(path: string, owner: Owner, { files }: LockWorld): Promise<string> {
  const draft = `${path}.${randomUUID()}.draft`;
  const file = await files.open(draft, 'wx', 0o600);
  try {
    const bytes = Buffer.from(writeOwner(owner));
    const { bytesWritten } = await file.write(bytes);
    if (bytesWritten < bytes.length) throw Object.assign(new Error('short write'), { code: 'ENOSPC' });
    await file.datasync();
  } catch (error) {
    await files.unlink(draft);
    throw error;
  } finally {
    await file.close();
  }
  return draft;
}

async function letGo(path: string, owner: Owner, world: LockWorld): Promise<void> {
  const text = await readLock(path, world);
  if (text !== undefined && readOwner(text)?.nonce === owner.nonce) await world.files.unlink(path);
}

async function readLock(path: string, { files }: LockWorld): Promise<string | undefined> {
  return files.readFile(path).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
}

/** Removes the temporary files of dead processes. */
async function sweep(path: string, owner: Owner, world: LockWorld): Promise<void> {
  const prefix = `${basename(path)}.`;
  const folder = dirname(path);
  for (const name of await world.files.readdir(folder).catch(() => [])) {
    if (!name.startsWith(prefix)) continue;
    const left = join(folder, name);
    const text = await readLock(left, world).catch(() => undefined);
    const holder = text === undefined ? undefined : readOwner(text);
    if (holder === undefined || holder.nonce === owner.nonce || (await lives(holder, world))) continue;
    // Another process may sweep at the same time.
    await world.files.unlink(left).catch(() => undefined);
  }
}

/** Removes the locks of sessions that never began because the process that held them died first. */
export async function sweepAbandoned(folder: string, world: LockWorld): Promise<void> {
  const names = new Set(await world.files.readdir(folder).catch(() => []));
  for (const name of names) {
    if (!name.endsWith('.jsonl.lock') || names.has(name.slice(0, -'.lock'.length))) continue;
    const path = join(folder, name);
    const holder = readOwner((await readLock(path, world).catch(() => undefined)) ?? '');
    if (holder === undefined || (await lives(holder, world))) continue;
    await world.files.unlink(path).catch(() => undefined);
  }
}

async function lives(owner: Owner, { files }: LockWorld): Promise<boolean> {
  const place = placeOwner(owner, realm());
  if (place !== 'here') return place === 'elsewhere';
  return isAlive(owner, await observe(owner.pid, files));
}

/** The identity of this process. */
function identifyProcess(): ProcessIdentity {
  const startedAt = readProcStat(readProc('/proc/self/stat') ?? '')?.startedAt;
  return { pid: process.pid, startedAt, realm: realm() };
}

const isLinux = process.platform === 'linux';

function realm(): Realm {
  return {
    host: hostname(),
    boot: readProc('/proc/sys/kernel/random/boot_id')?.trim(),
    namespace: attempt(() => readlinkSync('/proc/self/ns/pid')),
  };
}

function attempt(read: () => string): string | undefined {
  try {
    return isLinux ? read() : undefined;
  } catch {
    return undefined;
  }
}

/** A file of Linux; undefined on other systems. */
function readProc(path: string): string | undefined {
  if (!isLinux) return undefined;
  const read = readSmallFile(path, { maxBytes: MOST_OF_PROC, links: 'follow' });
  return read.kind === 'bytes' ? read.bytes.toString('utf8') : undefined;
}

/** @source proc(5): one page holds either file */
const MOST_OF_PROC = 4096;

type Observed = { readonly startedAt?: string | undefined } | undefined;

async function observe(pid: number, files: RolloutFiles): Promise<Observed> {
  if (!isLinux) return observeByNumber(pid);
  const stat = await files.readFile(`/proc/${pid}/stat`).catch(() => undefined);
  // A process that is hidden from this user may be alive.
  return stat === undefined ? observeByNumber(pid) : readProcStat(stat);
}

function observeByNumber(pid: number): Observed {
  try {
    process.kill(pid, 0);
    return {};
  } catch (error) {
    // A process of another user is alive as well.
    return codeOf(error) === 'EPERM' ? {} : undefined;
  }
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}

function explainHeld(rollout: string, path: string, by: Owner | undefined): BatonError {
  const name = basename(rollout);
  if (by === undefined) {
    return new BatonError('session_live', `${name} has a lock that does not name a process`, {
      cure: `Make sure that nothing writes to the session, then remove ${path}.`,
      data: { lock: path },
    });
  }
  const { pid, realm: where, since } = by;
  const data = { pid, host: where.host, since, lock: path };
  if (placeOwner(by, realm()) === 'elsewhere') {
    return new BatonError(
      'session_live',
      `${name} is open in process ${pid} on ${where.host}, or was when that host stopped`,
      { cure: `End it there. If it is gone, remove ${path}.`, data },
    );
  }
  return new BatonError('session_live', `${name} is open in process ${pid} since ${since}`, {
    cure: `Continue there, end that process, or fork the session. If that process is not Baton, remove ${path}.`,
    data,
  });
}

function explainLock(path: string, error: unknown): unknown {
  if (error instanceof BatonError) return error;
  const code = codeOf(error);
  return new BatonError('output_failed', `The lock ${path} could not be created: ${code ?? String(error)}`, {
    cure: code === 'ENOSPC' ? 'Free space on the disk.' : 'Check the permissions of its folder.',
    cause: error,
  });
}
