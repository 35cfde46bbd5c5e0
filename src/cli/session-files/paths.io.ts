// Collects the session files for a command: named one by one, or found in directories.

import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BatonError } from '../../errors.ts';
import { isCopy } from './copies.ts';
import { errorJson, explain } from '../explain.ts';
import type { CommandIo } from '../io.ts';

/** Files to read. */
export interface SessionPaths {
  /** As the user gave them, including directories. */
  readonly named: readonly string[];
  /** Each once, in a separate order. */
  readonly files: readonly string[];
  /** Files found in a named directory rather than named themselves. */
  readonly found: ReadonlySet<string>;
  /** Pipes, sockets, devices and links with session names in those directories; none is opened. */
  readonly passedOver: number;
}

/** A file that could not be read, and why. */
export interface UnreadFile {
  readonly path: string;
  readonly error: Readonly<Record<string, unknown>>;
}

/** The results of visiting files. */
export interface Visited<Result> {
  readonly results: readonly Result[];
  readonly unread: readonly UnreadFile[];
  /** Files in directories that are not sessions. */
  readonly skipped: number;
}

/** Replaces directories by the files in them, at any depth, whose names may be those of sessions. */
export async function findSessions(named: readonly string[]): Promise<SessionPaths> {
  const files: string[] = [];
  const found = new Set<string>();
  let passedOver = 0;
  for (const path of new Set(named)) {
    if (path !== '-' && (await isDirectory(path))) {
      for (const entry of await entriesIn(path)) {
        if (entry.isFile()) found.add(join(entry.parentPath, entry.name));
        else passedOver++;
      }
    } else files.push(path);
  }
  for (const path of files) found.delete(path);
  return { named, files: [...files, ...found].toSorted(), found, passedOver };
}

/**
 * Visits files one after the other; an unreadable one is explained and skipped. Copies that Baton wrote are skipped unless named:
 * the same work would count twice.
 * @param visit receives the path and, for progress, its position: ` (2 of 9)`, empty for the only file
 * @throws BatonError the error of the only file; `session_empty` where directories hold no session; `interrupted`
 */
export async function visitSessions<Result>(
  io: CommandIo,
  { named, files, found, passedOver }: SessionPaths,
  visit: (path: string, place: string) => Promise<Result>,
): Promise<Visited<Result>> {
  const results: Result[] = [];
  const unread: UnreadFile[] = [];
  let skipped = passedOver;
  let copies = 0;
  for (const [at, path] of files.entries()) {
    try {
      if (found.has(path) && (await isCopy(io, path))) {
        copies++;
        continue;
      }
      results.push(await visit(path, files.length === 1 ? '' : ` (${at + 1} of ${files.length})`));
    } catch (error) {
      if (!(error instanceof BatonError) || error.code === 'interrupted') throw error;
      if (found.has(path) && NO_SESSION.has(error.code)) {
        skipped++;
        continue;
      }
      if (files.length === 1) throw error;
      io.stderr(explain(error));
      unread.push({ path, error: errorJson(error) });
    }
  }
  if (results.length === 0 && unread.length === 0) throw nothingFound(named);
  if (copies > 0) io.stderr(`${copiesLeftOut(copies)}\n`);
  return { results, unread, skipped };
}

function copiesLeftOut(copies: number): string {
  return copies === 1
    ? 'Skipped 1 copy that Baton wrote from another session; name it to include it.'
    : `Skipped ${copies} copies that Baton wrote from other sessions; name them to include them.`;
}

async function isDirectory(path: string): Promise<boolean> {
  return stat(path).then(
    (stats) => stats.isDirectory(),
    // Opening it reports the fault.
    () => false,
  );
}

const SESSION_FILE = /\.(?:jsonl?|traj)$/;

async function entriesIn(directory: string): Promise<readonly Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => !entry.isDirectory() && SESSION_FILE.test(entry.name));
}

/** Errors that mean an unnamed file in a directory is not a session. */
const NO_SESSION: ReadonlySet<string> = new Set(['format_unknown', 'session_empty', 'file_empty']);

function nothingFound(named: readonly string[]): BatonError {
  return new BatonError('session_empty', `${named.join(', ')} holds no session`, {
    cure: 'Name session files, or a directory that contains some; `baton sessions` lists those on this machine.',
  });
}
