// The git objects of snapshots: commits, trees, and the ignore files in them.

import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasSucceeded, runGit } from '../system/git.io.ts';
import { parseTreeDiff } from './changes.ts';
import type { TreeChange } from './changes.ts';
import { explain, skipped } from './deadline.io.ts';
import type { SnapshotDeadline, SnapshotProblem } from './deadline.io.ts';
import { bytesOf } from './path-bytes.io.ts';
import { isSafePath, joinPaths, splitPaths } from './paths.ts';
import { isOwn } from './repository.io.ts';
import { parseSnapshotMessage } from './snapshot.ts';
import type { Snapshot, SnapshotFacts } from './snapshot.ts';
import { runInWorkshop } from './workshop.io.ts';
import type { Workshop } from './workshop.io.ts';

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Baton',
  GIT_AUTHOR_EMAIL: 'baton@localhost',
  GIT_COMMITTER_NAME: 'Baton',
  GIT_COMMITTER_EMAIL: 'baton@localhost',
} as const;

/** A snapshot with its facts. */
export interface ReadSnapshot {
  readonly commit: string;
  readonly facts: SnapshotFacts;
  readonly paths: readonly string[];
}

/** Commits a tree. @returns the id of the commit */
export async function commitTree(
  workshop: Workshop,
  { tree, message }: { readonly tree: string; readonly message: string },
  deadline: SnapshotDeadline,
): Promise<string | SnapshotProblem> {
  const committed = await runInWorkshop(workshop, ['commit-tree', tree, '-F', '-'], deadline, {
    input: message,
    variables: IDENTITY,
  });
  if (!hasSucceeded(committed)) return explain(committed, deadline);
  return committed.output.toString('latin1').trim();
}

/** Reads a snapshot that a log names. The name, and the commit behind it, may have been forged. */
export async function readSnapshot(
  workshop: Workshop,
  { commit }: Snapshot,
  deadline: SnapshotDeadline,
): Promise<ReadSnapshot | SnapshotProblem> {
  if (!/^[0-9a-f]{40,64}$/.test(commit)) return skipped('it does not name a snapshot');
  const shownCommit = await runInWorkshop(workshop, ['cat-file', 'commit', commit], deadline);
  if (!hasSucceeded(shownCommit)) {
    return deadline.isOver ? explain(shownCommit, deadline) : skipped('the snapshot is gone');
  }
  const text = shownCommit.output.toString('utf8');
  const facts = parseSnapshotMessage(text.slice(text.indexOf('\n\n') + 2));
  if (facts === undefined) return skipped('the commit is not a snapshot of Baton');
  if (facts.prefix !== workshop.repository.prefix) {
    return skipped(`it is a snapshot of ${facts.prefix === '' ? 'the whole repository' : facts.prefix}`);
  }
  const listed = await runInWorkshop(
    workshop,
    ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit],
    deadline,
  );
  if (!hasSucceeded(listed)) return explain(listed, deadline);
  const isTheirs = (path: string): boolean => isSafePath(path) && !isOwn(workshop.repository, path);
  return { commit, facts, paths: splitPaths(listed.output.toString('latin1')).filter(isTheirs) };
}

/** The differences between two commits or trees. */
export async function diffTrees(
  workshop: Workshop,
  from: string,
  to: string,
  deadline: SnapshotDeadline,
): Promise<readonly TreeChange[] | SnapshotProblem> {
  const differs = await runInWorkshop(
    workshop,
    ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--full-index', from, to],
    deadline,
  );
  if (!hasSucceeded(differs)) return explain(differs, deadline);
  const { repository } = workshop;
  return parseTreeDiff(differs.output.toString('latin1')).filter(({ path }) => !isOwn(repository, path));
}

/** The candidates that the ignore files of a snapshot, in their state at the time, exclude. */
export async function ignoredBy(
  workshop: Workshop,
  { commit, paths }: ReadSnapshot,
  candidates: readonly string[],
  deadline: SnapshotDeadline,
): Promise<ReadonlySet<string> | SnapshotProblem> {
  if (candidates.length === 0) return new Set();
  const { repository } = workshop;
  const directory = join(workshop.directory, 'ignored');
  await mkdir(directory);
  try {
    for (const path of paths.filter((name) => /(?:^|\/)\.gitignore$/.test(name))) {
      const blob = await runInWorkshop(workshop, ['cat-file', 'blob', `${commit}:${path}`], deadline);
      if (!hasSucceeded(blob)) return explain(blob, deadline);
      const place = bytesOf(directory, path);
      await mkdir(Buffer.from(dirname(place.toString('latin1')), 'latin1'), { recursive: true });
      await writeFile(place, blob.output);
    }
    // Rules above the workspace and the user's own are not part of a snapshot; their present state applies.
    const answer = await runGit(['check-ignore', '-z', '--no-index', '--stdin'], directory, {
      env: repository.env,
      signal: deadline.signal,
      input: Buffer.from(joinPaths(candidates), 'latin1'),
      variables: { GIT_DIR: workshop.directory, GIT_WORK_TREE: directory },
    });
    // 1: none of them is ignored.
    if (answer.end.type !== 'exited' || answer.end.status > 1) return explain(answer, deadline);
    return new Set(splitPaths(answer.output.toString('latin1')));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
