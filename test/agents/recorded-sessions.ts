// The real session files that lie beside the repository on some machines.

import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A session file that a real agent has written. */
export interface RecordedSession {
  readonly name: string;
  readonly path: string;
}

/** Session files, and why there are none, for the `skip` option of `node:test`. */
export interface RecordedSessions {
  readonly files: readonly RecordedSession[];
  readonly skip: string | false;
}

const ROOT = fileURLToPath(new URL('../../../shared/sessions', import.meta.url));

/** The files in folders of `../shared/sessions`, beside the repository. They are copied before a tool sees them. */
export async function listSessions(...folders: readonly string[]): Promise<RecordedSessions> {
  const files: RecordedSession[] = [];
  for (const folder of folders) {
    const path = join(ROOT, folder);
    const names = await readdir(path).catch((error: unknown) => {
      if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
      throw error;
    });
    files.push(
      ...names.filter((name) => name.endsWith('.jsonl')).map((name) => ({ name, path: join(path, name) })),
    );
  }
  return { files, skip: files.length === 0 ? `no session files in ../shared/sessions` : false };
}

/** The smallest of each generation in which there is something to compact. */
const SMALLEST = [
  /019ed836/,
  /Monotoba/,
  /^overflow/,
  /^manual/,
  /acc53d32/,
  /4a07cdcd/,
  /^reactive-compact/,
];

/**
 * Whether cli.test.ts has Baton compact this session and a real tool resume what came of it, so that no other test has to
 * show that the tool takes a compaction at its end.
 */
export function isCompactedByBaton({ name }: RecordedSession): boolean {
  return SMALLEST.some((each) => each.test(name));
}
