// The session files that a command is to look at: named one by one, or found in directories.

import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { BatonError } from '../../errors.ts';
import { isCopy } from './copies.ts';
import { errorJson, explain } from '../explain.ts';
import type { CommandIo } from '../io.ts';

/** Files to be looked at. */
export interface SessionPaths {
  /** As the user gave them, directories included. */
  readonly named: readonly string[];
  /** Each once, in an order of their own. */
  readonly files: readonly string[];
  /** Those that nobody named: they lie in a directory that somebody did. */
  readonly found: ReadonlySet<string>;
  /** Pipes, sockets, devices and links in those directories that are named like sessions; none is opened. */
  readonly passedOver: number;
}

/** A file that could not be read, with why. */
export interface UnreadFile {
  readonly path: string;
  readonly error: Readonly<Record<string, unknown>>;
}

/** What came of looking at files. */
export interface Visited<Result> {
  readonly results: readonly Result[];
  readonly unread: readonly UnreadFile[];
  /** Files of directories that are no sessions. */
  readonly skipped: number;
}

/** Replaces directories by the files in them, at any depth, that may be sessions by their names. */
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
 * Looks at files one after the other; one that cannot be read is explained and the others are still looked at. Copies that
 * Baton wrote are left out where nobody named them: the same work would count twice.
 * @param visit gets the path and, for progress, how far along it is: ` (2 of 9)`, empty for the only file
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
    // What is wrong with it is told when it is opened.
    () => false,
  );
}

const SESSION_FILE = /\.(?:jsonl?|traj)$/;

async function entriesIn(directory: string): Promise<readonly Dirent[]> {
  const entries = await readdir(directory, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => !entry.isDirectory() && SESSION_FILE.test(entry.name));
}

/** What a file among the others of a directory may be without anybody having asked for it. */
const NO_SESSION: ReadonlySet<string> = new Set(['format_unknown', 'session_empty', 'file_empty']);

function nothingFound(named: readonly string[]): BatonError {
  return new BatonError('session_empty', `${named.join(', ')} holds no session`, {
    cure: 'Name session files, or a directory with some; `baton sessions` lists what is on this machine.',
  });
}
