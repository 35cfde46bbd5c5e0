// A private repository next to the user's. Of the user's repository, only the object store changes: the workshop provides index and
// settings, and writes its objects into the user's store.

import type { Stats } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runGit } from '../system/git.io.ts';
import type { GitAnswer } from '../system/git.io.ts';
import type { Clock } from '../ports.ts';
import type { SnapshotDeadline } from './deadline.io.ts';
import { splitPaths } from './paths.ts';
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

/** Settings that describe the file system. */
const COPIED_SETTINGS =
  '^(core\\.(filemode|symlinks|ignorecase|precomposeunicode)|extensions\\.objectformat)$';

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
  const copied = await runGit(['config', '-z', '--get-regexp', COPIED_SETTINGS], root, {
    env,
    signal: deadline.signal,
  });
  await mkdir(directory, { mode: 0o700 });
  await mkdir(join(directory, 'info'));
  await mkdir(join(directory, 'refs'));
  await mkdir(join(directory, 'objects'));
  await writeFile(join(directory, 'HEAD'), 'ref: refs/heads/none\n');
  await writeFile(join(directory, 'info', 'attributes'), ATTRIBUTES);
  await writeFile(join(directory, 'config'), configOf(copied.output.toString('utf8')));
  return { repository, directory, held: new Map(), clock };
}

/** Removes a workshop. */
export async function closeWorkshop({ directory }: Workshop): Promise<void> {
  await rm(directory, { recursive: true, force: true });
}

function configOf(copied: string): string {
  const settings = splitPaths(copied).map((setting) => setting.split('\n'));
  const lines = (section: string) =>
    settings.flatMap(([name = '', value = '']) =>
      name.startsWith(`${section}.`) ? [`\t${name.slice(section.length + 1)} = ${value}\n`] : [],
    );
  const extensions = lines('extensions');
  return [
    `[core]\n\trepositoryformatversion = ${extensions.length === 0 ? 0 : 1}\n\tbare = false\n`,
    ...lines('core'),
    ...(extensions.length === 0 ? [] : ['[extensions]\n', ...extensions]),
  ].join('');
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
