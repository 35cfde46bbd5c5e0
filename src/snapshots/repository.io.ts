// The repository of a workspace: whether snapshots can be taken there, and what git is doing in it.

import { access, lstat, realpath } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { hasSucceeded, runGit } from '../system/git.io.ts';
import { isBelow } from '../system/planted.io.ts';
import type { SnapshotDeadline } from './deadline.io.ts';
import { SNAPSHOT_REFS } from './snapshot.ts';
import type { Operation, RepositoryMoment } from './snapshot.ts';

/** The repository of a workspace. Paths are absolute. */
export interface Repository {
  /** The workspace, with links resolved. */
  readonly root: string;
  /** The workspace relative to the top of the work tree, with a trailing slash; empty for the top itself. */
  readonly prefix: string;
  /** The directory that belongs to this work tree alone. */
  readonly gitDirectory: string;
  /** The directory that all work trees of the repository share. */
  readonly commonDirectory: string;
  /** Baton's own folder inside the workspace, with a trailing slash, as in `paths.ts`; undefined where there is none. */
  readonly own: string | undefined;
  readonly env: Readonly<Record<string, string>>;
}

/** Whether a path is Baton's own: its sessions and folders change while it works, and are not the user's work. */
export function isOwn({ own }: Repository, path: string): boolean {
  return own !== undefined && path.startsWith(own);
}

/**
 * Finds the repository of a workspace.
 * @param root the workspace, with links resolved
 * @param home Baton's home, which is never part of a snapshot
 * @returns the repository, or one sentence that says why file changes cannot be undone here
 */
export async function findRepository(
  root: string,
  { env, home }: Pick<Repository, 'env'> & { readonly home: string },
  deadline: SnapshotDeadline,
): Promise<Repository | { readonly why: string }> {
  const args = [
    'rev-parse',
    '--path-format=absolute',
    '--git-dir',
    '--git-common-dir',
    '--is-inside-work-tree',
    '--show-prefix',
  ];
  const answer = await runGit(args, root, { env, signal: deadline.signal });
  if (answer.end.type === 'not_started') return { why: 'Git is not installed.' };
  const lines = answer.output.toString('utf8').split('\n');
  const [gitDirectory, commonDirectory, isInside, prefix] = lines;
  if (!hasSucceeded(answer) && !answer.errors.includes('not a git repository')) {
    return { why: `Git reports: ${answer.errors.split('\n')[0] ?? ''}` };
  }
  if (!hasSucceeded(answer) || isInside !== 'true' || prefix === undefined || lines.length !== 5) {
    return { why: 'The workspace is not in a git work tree.' };
  }
  if (gitDirectory === undefined || commonDirectory === undefined)
    return { why: 'Git does not report a repository.' };
  const link = await linkAmong(
    ['objects', ...namesUpTo(SNAPSHOT_REFS)].map((name) => join(commonDirectory, name)),
  );
  // A link may have been planted, and git would follow it: objects and refs would be written to its target.
  if (link !== undefined) return { why: `${link} is a symbolic link.` };
  if (prefix !== '') {
    const ignored = await runGit(['check-ignore', '-q', '--', '.'], root, { env, signal: deadline.signal });
    if (hasSucceeded(ignored)) return { why: 'Git ignores the workspace.' };
  }
  const whole = await realpath(home).catch(() => home);
  const own = isBelow(whole, root) ? Buffer.from(`${relative(root, whole)}/`).toString('latin1') : undefined;
  return { root, prefix, gitDirectory, commonDirectory, own, env };
}

const OPERATION_FILES: readonly (readonly [file: string, operation: Operation])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['MERGE_HEAD', 'merge'],
];

/** Reads the checked-out commit, and the operation that git is in the middle of. */
export async function readMoment(
  { root, env, prefix, gitDirectory }: Repository,
  deadline: SnapshotDeadline,
): Promise<RepositoryMoment> {
  const answer = await runGit(['rev-parse', '--verify', '-q', 'HEAD'], root, {
    env,
    signal: deadline.signal,
  });
  const head = hasSucceeded(answer) ? answer.output.toString('latin1').trim() : undefined;
  for (const [file, operation] of OPERATION_FILES) {
    const isThere = await access(join(gitDirectory, file)).then(
      () => true,
      () => false,
    );
    if (isThere) return { prefix, head, operation };
  }
  return { prefix, head, operation: undefined };
}

/** `a/b/c` as `a`, `a/b` and `a/b/c`. */
function namesUpTo(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

/** The first path that is a symbolic link. */
async function linkAmong(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const stats = await lstat(path).catch(() => undefined);
    if (stats?.isSymbolicLink() === true) return path;
  }
  return undefined;
}
