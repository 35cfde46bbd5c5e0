// A private repository next to the user's. Of the user's repository, only the object store changes: the workshop provides index and
// settings, and writes its objects into the user's store.

import type { Stats } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runGit } from '../system/git.io.ts';
import type { GitAnswer } from '../system/git.io.ts';
import type { Clock } from '../ports.ts';
import type { SnapshotDeadline } from './deadline.io.ts';
import type { Repository } from './repository.io.ts';

/** A private repository next to the user's, for one thread. */
export interface Workshop {
  readonly repository: Repository;
  readonly directory: string;
  /** The file states in its index: unchanged files need not be added again. */
  readonly held: Map<string, Look>;
  readonly clock: Clock;
}

/** The state of a file when it was listed, from which a later change is detected. */
export type Look = Pick<Stats, 'size' | 'mtimeMs' | 'ctimeMs' | 'ino' | 'mode'>;

/** Whether a file is unchanged since it was seen before. */
export function isSameLook(one: Look | undefined, other: Look | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.size === other.size &&
    one.mtimeMs === other.mtimeMs &&
    one.ctimeMs === other.ctimeMs &&
    one.ino === other.ino &&
    one.mode === other.mode
  );
}

/** Disables every conversion, regardless of the repository's own attributes: what is read is written back unchanged. */
const ATTRIBUTES = '* -text -eol -filter -ident -working-tree-encoding\n';

/** How long a stopped git may remove its temporary files, in milliseconds. */
export const GIT_GRACE_MS = 500;

/**
 * Creates a workshop.
 * @param directory its path, which does not exist yet
 * @throws the error of the file system
 */
export async function openWorkshop(
  repository: Repository,
  directory: string,
  clock: Clock,
  deadline: SnapshotDeadline,
): Promise<Workshop> {
  const { root, env } = repository;
  const asked = await runGit(['rev-parse', '--show-object-format'], root, { env, signal: deadline.signal });
  await mkdir(directory, { mode: 0o700 });
  await mkdir(join(directory, 'info'));
  await mkdir(join(directory, 'refs'));
  await mkdir(join(directory, 'objects'));
  await writeFile(join(directory, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(directory, 'info', 'attributes'), ATTRIBUTES);
  await writeFile(join(directory, 'config'), configOf(asked.output.toString('utf8').trim()));
  return { repository, directory, held: new Map(), clock };
}

/** Removes a workshop. */
export async function closeWorkshop({ directory }: Workshop): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}

/**
 * The repository's own settings can be planted: with them, two names that differ in case become one file, a file stays the link
 * that it was, and execute permissions are lost. Where a file system lacks the difference, a snapshot shows none.
 * @param hash how git names objects there
 */
function configOf(hash: string): string {
  const core = 'bare = false\nfilemode = true\nsymlinks = true\nignorecase = false\n';
  if (hash !== 'sha256') return `[core]\nrepositoryformatversion = 0\n${core}`;
  return `[core]\nrepositoryformatversion = 1\n${core}[extensions]\nobjectformat = sha256\n`;
}

/** Runs git on the objects of the user's repository with the settings of the workshop. */
export async function runInWorkshop(
  { repository, directory }: Workshop,
  args: readonly string[],
  deadline: SnapshotDeadline,
  more: { readonly input?: string | Uint8Array; readonly variables?: Readonly<Record<string, string>> } = {},
): Promise<GitAnswer> {
  const { root, commonDirectory, env } = repository;
  return runGit(args, root, {
    env,
    signal: deadline.signal,
    graceMs: GIT_GRACE_MS,
    timeoutMs: deadline.leftMs + 1000,
    ...(more.input === undefined ? {} : { input: more.input }),
    variables: {
      GIT_DIR: directory,
      GIT_WORK_TREE: root,
      GIT_INDEX_FILE: join(directory, 'index'),
      GIT_OBJECT_DIRECTORY: join(commonDirectory, 'objects'),
      GIT_CONFIG_GLOBAL: '/dev/null',
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_ATTR_NOSYSTEM: '1',
      GIT_NO_REPLACE_OBJECTS: '1',
      GIT_LITERAL_PATHSPECS: '1',
      ...more.variables,
    },
  });
}
