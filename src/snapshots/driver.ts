// The door to the snapshots of one thread: a work tree saved before a turn, what happened to it since, and the way back. HEAD,
// index, stash, reflogs, configuration and hooks of the user are neither changed nor used.

import { access, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { BatonError } from '../errors.ts';
import { hasSucceeded, runGit } from '../git/driver.ts';
import type { CancelSignal, Clock } from '../ports.ts';
import { resolveRoot } from '../workspace/driver.ts';
import {
  bytesOf,
  captureTree,
  closeWorkshop,
  Deadline,
  explain,
  GIT_GRACE_MS,
  openWorkshop,
  runInWorkshop,
  shownPath,
} from './capture/driver.ts';
import type { Captured, CaptureBounds, NotCaptured, Repository, Workshop } from './capture/driver.ts';
import { parseTreeDiff, planRestore, wordOf } from './changes.ts';
import type { ChangeWord, RestorePlan, TreeChange } from './changes.ts';
import { joinPaths, splitPaths } from './paths.ts';
import { restoreFiles } from './restore/driver.ts';
import { parseSnapshotMessage, snapshotMessage } from './snapshot.ts';
import type { LeftOut, Operation, Snapshot, SnapshotFacts } from './snapshot.ts';

/** Bounds of a snapshot before a turn. @source docs/decisions/snapshots.md */
export const SNAPSHOT_BOUNDS: CaptureBounds = {
  files: 100_000,
  untrackedFiles: 10_000,
  untrackedBytes: 100_000_000,
  fileBytes: 10_000_000,
};

/** Longest that a turn waits for its snapshot, in milliseconds. @source spec 4-session §5; docs/decisions/snapshots.md */
export const SNAPSHOT_LIMIT_MS = 5000;

/** Longest that an undo or its description takes: the user asked for it and waits, in milliseconds. */
const UNDO_LIMIT_MS = 60_000;

/** Snapshots that a thread keeps. @source Codex, 20 */
const KEPT_SNAPSHOTS = 20;

/** What is needed to open the snapshots of a thread. */
export interface SnapshotTerms {
  /** The workspace. What is outside of it in the same repository is neither saved nor put back. */
  readonly directory: string;
  readonly threadId: string;
  /** Baton's environment; git sees no more of it than `withoutSecrets` leaves, if the caller gives that. */
  readonly env: Readonly<Record<string, string>>;
  /** By which files that changed a moment ago are told from settled ones. */
  readonly clock: Clock;
  /** Absent: `SNAPSHOT_BOUNDS`. */
  readonly bounds?: CaptureBounds;
  /** Absent: `SNAPSHOT_LIMIT_MS`. */
  readonly limitMs?: number;
}

/** What came of a snapshot. `why` is one sentence for the user. */
export type SnapshotOutcome =
  | {
      readonly type: 'taken';
      readonly snapshot: Snapshot;
      /** What an undo will not bring back, one sentence each. */
      readonly warnings: readonly string[];
    }
  | { readonly type: 'skipped'; readonly why: string };

/** A path with what became of it since the snapshot, as people read it. */
export interface ChangedPath {
  readonly path: string;
  readonly change: ChangeWord;
}

/** A path that an undo leaves as it is; `why` completes "PATH is …". */
export interface UntouchedPath {
  readonly path: string;
  readonly why: string;
}

/** What an undo would do. */
export type SnapshotDescription =
  | {
      readonly type: 'described';
      /** What the undo takes back, by path: files that were `added` are removed, `deleted` ones brought back. */
      readonly changes: readonly ChangedPath[];
      readonly untouched: readonly UntouchedPath[];
      /** What else the user should know, one sentence each. */
      readonly warnings: readonly string[];
    }
  | { readonly type: 'refused'; readonly why: string };

/** What an undo did. */
export type RestoreOutcome =
  | {
      readonly type: 'restored';
      readonly changes: readonly ChangedPath[];
      readonly untouched: readonly UntouchedPath[];
      readonly warnings: readonly string[];
      /** The state that was left: restoring it takes the undo back. */
      readonly undo: Snapshot;
    }
  | { readonly type: 'refused'; readonly why: string };

/**
 * Opens the snapshots of a thread.
 * @returns the snapshots, or one sentence that says why there are none here
 * @throws BatonError `file_not_found` when the workspace does not exist; `interrupted`
 * @throws RangeError for a thread id that is no name
 */
export async function openSnapshots(
  terms: SnapshotTerms,
  signal: CancelSignal,
): Promise<Snapshots | { readonly type: 'unavailable'; readonly why: string }> {
  if (!/^\w[\w-]{0,99}$/.test(terms.threadId)) throw new RangeError(`${terms.threadId} is no id of a thread`);
  const root = await resolveRoot(terms.directory);
  return within(UNDO_LIMIT_MS, signal, async (deadline) => {
    const repository = await findRepository(root, terms.env, deadline);
    return 'why' in repository
      ? ({ type: 'unavailable', why: repository.why } as const)
      : new Snapshots(await openWorkshop(repository, terms.clock, deadline), terms);
  });
}

/** The snapshots of one thread. One operation at a time. */
export class Snapshots {
  readonly #workshop: Workshop;
  readonly #terms: SnapshotTerms;
  #newest: { readonly tree: string; readonly message: string; readonly snapshot: Snapshot } | undefined;

  /** Use `openSnapshots`. */
  constructor(workshop: Workshop, terms: SnapshotTerms) {
    this.#workshop = workshop;
    this.#terms = terms;
  }

  /**
   * Saves the work tree: what git tracks, and what it neither tracks nor ignores.
   * @throws BatonError `interrupted`
   */
  async take(signal: CancelSignal): Promise<SnapshotOutcome> {
    return within(this.#terms.limitMs ?? SNAPSHOT_LIMIT_MS, signal, async (deadline) => {
      const saved = await this.#save(deadline);
      return 'why' in saved
        ? {
            type: 'skipped',
            why: `No snapshot was taken, so this turn's changes of files cannot be undone: ${saved.why}.`,
          }
        : { type: 'taken', snapshot: saved.snapshot, warnings: warningsOf(saved.captured) };
    });
  }

  /**
   * Says what an undo would do now. Changes nothing.
   * @throws BatonError `interrupted`
   */
  async describe(snapshot: Snapshot, signal: CancelSignal): Promise<SnapshotDescription> {
    return within(UNDO_LIMIT_MS, signal, async (deadline) => {
      const target = await this.#read(snapshot, deadline);
      if ('why' in target) return refused(target.why);
      const present = await captureTree(this.#workshop, this.#bounds, deadline, target.paths);
      if (present.type === 'skipped') return refused(present.why);
      const way = await this.#wayTo(target, present, deadline);
      if ('why' in way) return refused(way.why);
      return {
        type: 'described',
        changes: changesOf(way, plannedPaths(way.plan)),
        untouched: way.plan.untouched.map(shown),
        warnings: way.warnings,
      };
    });
  }

  /**
   * Puts the files back as they were, after saving them as they are.
   * @throws BatonError `interrupted`, with everything as it was; once files are being put back the outcome tells how far it came
   */
  async restore(snapshot: Snapshot, signal: CancelSignal): Promise<RestoreOutcome> {
    return within(UNDO_LIMIT_MS, signal, async (deadline, finish) => {
      const target = await this.#read(snapshot, deadline);
      if ('why' in target) return refused(target.why);
      const saved = await this.#save(deadline, target.paths);
      if ('why' in saved) return refused(`the present state cannot be saved: ${saved.why}`);
      const way = await this.#wayTo(target, saved.captured, deadline);
      if ('why' in way) return refused(way.why);
      finish();
      const { done, untouched } = await restoreFiles(this.#workshop, way.plan, saved.captured, deadline);
      return {
        type: 'restored',
        changes: changesOf(way, new Set(done)),
        untouched: untouched.map(shown),
        warnings: way.warnings,
        undo: saved.snapshot,
      };
    });
  }

  /**
   * Lets go of all but the newest snapshots of this thread, and of those of other threads that are older than a moment.
   * @param keep absent: 20
   * @returns how many it let go
   */
  async prune(
    { keep = KEPT_SNAPSHOTS, before }: { readonly keep?: number; readonly before?: Date },
    signal: CancelSignal,
  ): Promise<number> {
    return within(UNDO_LIMIT_MS, signal, async (deadline) => {
      const known = await listRefs(this.#workshop.repository, '', deadline);
      const own = known.filter(({ threadId }) => threadId === this.#terms.threadId);
      const spared = new Set(own.toSorted((a, b) => b.number - a.number).slice(0, keep));
      const beforeSeconds = before === undefined ? -Infinity : before.getTime() / 1000;
      const gone = known.filter((ref) =>
        ref.threadId === this.#terms.threadId ? !spared.has(ref) : ref.atSeconds < beforeSeconds,
      );
      if (gone.length === 0) return 0;
      const input = gone.map(({ ref, commit }) => `delete ${ref}\0${commit}\0`).join('');
      const answer = await updateRefs(this.#workshop.repository, ['-z', '--stdin'], deadline, input);
      return hasSucceeded(answer) ? gone.length : 0;
    });
  }

  /** Removes what was put into the directory of temporary files. The snapshots stay. */
  async close(): Promise<void> {
    await closeWorkshop(this.#workshop);
  }

  get #bounds(): CaptureBounds {
    return this.#terms.bounds ?? SNAPSHOT_BOUNDS;
  }

  async #save(
    deadline: Deadline,
    include: readonly string[] = [],
  ): Promise<{ readonly snapshot: Snapshot; readonly captured: Captured } | NotCaptured> {
    const { repository } = this.#workshop;
    const captured = await captureTree(this.#workshop, this.#bounds, deadline, include);
    if (captured.type === 'skipped') return captured;
    const { tree, leftOut, nested } = captured;
    const message = snapshotMessage({ ...(await momentOf(repository, deadline)), leftOut, nested });
    const newest = this.#newest;
    if (
      newest?.tree === tree &&
      newest.message === message &&
      (await this.#isThere(newest.snapshot, deadline))
    ) {
      return { snapshot: newest.snapshot, captured };
    }
    const committed = await runInWorkshop(this.#workshop, ['commit-tree', tree, '-F', '-'], deadline, {
      input: message,
      variables: IDENTITY,
    });
    if (!hasSucceeded(committed)) return explain(committed, deadline);
    const commit = committed.output.toString('latin1').trim();
    const ref = await this.#keep(commit, deadline);
    if (typeof ref !== 'string') return ref;
    const snapshot = { commit, ref };
    this.#newest = { tree, message, snapshot };
    return { snapshot, captured };
  }

  async #isThere({ ref, commit }: Snapshot, deadline: Deadline): Promise<boolean> {
    const { root, env } = this.#workshop.repository;
    const answer = await runGit(['rev-parse', '--verify', '-q', ref], root, { env, signal: deadline.signal });
    return answer.output.toString('latin1').trim() === commit;
  }

  /** Gives the commit the next free number. A number whose lock file a crash left behind is passed over. */
  async #keep(commit: string, deadline: Deadline): Promise<string | NotCaptured> {
    const { repository } = this.#workshop;
    const { threadId } = this.#terms;
    const known = await listRefs(repository, threadId, deadline);
    const next = Math.max(0, ...known.map(({ number }) => number)) + 1;
    let problem: NotCaptured = { type: 'skipped', why: 'git gave it no name' };
    for (let number = next; number < next + TRIED_NUMBERS; number++) {
      const ref = `${REFS}/${threadId}/${number}`;
      const answer = await updateRefs(repository, [ref, commit, ''], deadline);
      if (hasSucceeded(answer)) return ref;
      problem = explain(answer, deadline);
      if (deadline.isOver) break;
    }
    return problem;
  }

  async #read(snapshot: Snapshot, deadline: Deadline): Promise<Target | NotCaptured> {
    const { commit } = snapshot;
    if (!/^[0-9a-f]{40,64}$/.test(commit)) return { type: 'skipped', why: 'it names no snapshot' };
    const shownCommit = await runInWorkshop(this.#workshop, ['cat-file', 'commit', commit], deadline);
    if (!hasSucceeded(shownCommit)) {
      return deadline.isOver
        ? explain(shownCommit, deadline)
        : { type: 'skipped', why: 'the snapshot is gone' };
    }
    const text = shownCommit.output.toString('utf8');
    const facts = parseSnapshotMessage(text.slice(text.indexOf('\n\n') + 2));
    if (facts === undefined) return { type: 'skipped', why: 'the commit is no snapshot of Baton' };
    if (facts.prefix !== this.#workshop.repository.prefix) {
      return {
        type: 'skipped',
        why: `it is a snapshot of ${facts.prefix === '' ? 'the whole repository' : facts.prefix}`,
      };
    }
    const listed = await runInWorkshop(
      this.#workshop,
      ['ls-tree', '-r', '-z', '--name-only', '--full-tree', commit],
      deadline,
    );
    if (!hasSucceeded(listed)) return explain(listed, deadline);
    return { commit, facts, paths: splitPaths(listed.output.toString('latin1')) };
  }

  async #wayTo(
    { commit, facts, paths }: Target,
    present: Captured,
    deadline: Deadline,
  ): Promise<Way | NotCaptured> {
    const { repository } = this.#workshop;
    const { head, operation } = await momentOf(repository, deadline);
    if (operation !== undefined && operation !== facts.operation) {
      return { type: 'skipped', why: `a ${operation} has begun since; finish or abort it first` };
    }
    const differs = await runInWorkshop(
      this.#workshop,
      ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--full-index', commit, present.tree],
      deadline,
    );
    if (!hasSucceeded(differs)) return explain(differs, deadline);
    const changes = parseTreeDiff(differs.output.toString('latin1'));
    const added = changes.filter(({ before }) => before === undefined).map(({ path }) => path);
    const ignoredThen = await this.#ignoredBy(commit, paths, added, deadline);
    if ('why' in ignoredThen) return ignoredThen;
    const bounds = { leftOutThen: facts.leftOut, leftOutNow: present.leftOut, ignoredThen };
    const warnings =
      head === facts.head
        ? []
        : [
            `HEAD has moved from ${short(facts.head)} to ${short(head)} since: commits stay, only files are put back.`,
          ];
    return { changes, plan: planRestore(changes, bounds), warnings };
  }

  /** Those of some paths that the ignore files of a snapshot, as they were, leave out. */
  async #ignoredBy(
    commit: string,
    paths: readonly string[],
    asked: readonly string[],
    deadline: Deadline,
  ): Promise<ReadonlySet<string> | NotCaptured> {
    if (asked.length === 0) return new Set();
    const { repository } = this.#workshop;
    const directory = await mkdtemp(join(tmpdir(), 'baton-ignored-'));
    try {
      for (const path of paths.filter((name) => /(?:^|\/)\.gitignore$/.test(name))) {
        const blob = await runInWorkshop(this.#workshop, ['cat-file', 'blob', `${commit}:${path}`], deadline);
        if (!hasSucceeded(blob)) return explain(blob, deadline);
        const place = bytesOf(directory, path);
        await mkdir(Buffer.from(dirname(place.toString('latin1')), 'latin1'), { recursive: true });
        await writeFile(place, blob.output);
      }
      // Rules above the workspace and the user's own are no part of a snapshot, and hold as they are now.
      const answer = await runGit(['check-ignore', '-z', '--no-index', '--stdin'], directory, {
        env: repository.env,
        signal: deadline.signal,
        input: Buffer.from(joinPaths(asked), 'latin1'),
        variables: { GIT_DIR: this.#workshop.directory, GIT_WORK_TREE: directory },
      });
      // 1: none of them is ignored.
      if (answer.end.type !== 'exited' || answer.end.status > 1) return explain(answer, deadline);
      return new Set(splitPaths(answer.output.toString('latin1')));
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  }
}

const REFS = 'refs/baton/snapshots';

/** Numbers that are tried for a new snapshot. */
const TRIED_NUMBERS = 5;

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Baton',
  GIT_AUTHOR_EMAIL: 'baton@localhost',
  GIT_COMMITTER_NAME: 'Baton',
  GIT_COMMITTER_EMAIL: 'baton@localhost',
} as const;

/** A snapshot that was read. */
interface Target {
  readonly commit: string;
  readonly facts: SnapshotFacts;
  readonly paths: readonly string[];
}

/** From the present back to a snapshot. */
interface Way {
  readonly changes: readonly TreeChange[];
  readonly plan: RestorePlan;
  readonly warnings: readonly string[];
}

async function within<T>(
  limitMs: number,
  signal: CancelSignal,
  act: (deadline: Deadline, finish: () => void) => Promise<T>,
): Promise<T> {
  const deadline = new Deadline(limitMs, signal);
  let isFinishing = false;
  try {
    const result = await act(deadline, () => (isFinishing = true));
    if (deadline.isInterrupted && !isFinishing)
      throw new BatonError('interrupted', 'The snapshot was stopped');
    return result;
  } finally {
    deadline.clear();
  }
}

async function findRepository(
  root: string,
  env: Readonly<Record<string, string>>,
  deadline: Deadline,
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
  if (answer.end.type === 'not_started')
    return { why: 'Git is not installed, so that changes of files cannot be undone.' };
  const lines = answer.output.toString('utf8').split('\n');
  const [gitDirectory, commonDirectory, isInside, prefix] = lines;
  if (!hasSucceeded(answer) && !answer.errors.includes('not a git repository')) {
    return { why: `Changes of files cannot be undone here; git says: ${answer.errors.split('\n')[0] ?? ''}` };
  }
  if (!hasSucceeded(answer) || isInside !== 'true' || prefix === undefined || lines.length !== 5) {
    return { why: 'The workspace is no work tree of git, so that changes of files cannot be undone.' };
  }
  if (gitDirectory === undefined || commonDirectory === undefined) return { why: 'Git names no repository.' };
  if (prefix !== '') {
    const ignored = await runGit(['check-ignore', '-q', '--', '.'], root, { env, signal: deadline.signal });
    if (hasSucceeded(ignored))
      return { why: 'Git ignores the workspace, so that changes of files cannot be undone.' };
  }
  return { root, prefix, gitDirectory, commonDirectory, env };
}

const OPERATION_FILES: readonly (readonly [file: string, operation: Operation])[] = [
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['MERGE_HEAD', 'merge'],
];

async function momentOf(
  { root, env, prefix, gitDirectory }: Repository,
  deadline: Deadline,
): Promise<Pick<SnapshotFacts, 'prefix' | 'head' | 'operation'>> {
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

interface KnownRef {
  readonly ref: string;
  readonly commit: string;
  readonly threadId: string;
  readonly number: number;
  readonly atSeconds: number;
}

/** @param threadId empty: of all threads */
async function listRefs(
  { root, env }: Repository,
  threadId: string,
  deadline: Deadline,
): Promise<readonly KnownRef[]> {
  const under = threadId === '' ? REFS : `${REFS}/${threadId}`;
  const format = '--format=%(refname) %(objectname) %(creatordate:unix)';
  const answer = await runGit(['for-each-ref', format, under], root, { env, signal: deadline.signal });
  return answer.output
    .toString('utf8')
    .split('\n')
    .flatMap((line) => {
      const [ref = '', commit = '', at = ''] = line.split(' ');
      const [thread = '', number = ''] = ref.slice(REFS.length + 1).split('/');
      return /^\d+$/.test(number)
        ? [{ ref, commit, threadId: thread, number: Number(number), atSeconds: Number(at) }]
        : [];
    });
}

/** Neither a reflog nor a hook learns of it. */
async function updateRefs(
  { root, env }: Repository,
  args: readonly string[],
  deadline: Deadline,
  input?: string,
): ReturnType<typeof runGit> {
  return runGit(['-c', 'core.logAllRefUpdates=false', 'update-ref', ...args], root, {
    env,
    signal: deadline.signal,
    graceMs: GIT_GRACE_MS,
    ...(input === undefined ? {} : { input }),
  });
}

function plannedPaths({ remove, write }: RestorePlan): ReadonlySet<string> {
  return new Set([...remove, ...write.map(({ path }) => path)]);
}

function changesOf({ changes }: Way, paths: ReadonlySet<string>): readonly ChangedPath[] {
  return changes
    .filter(({ path }) => paths.has(path))
    .map((change) => ({ path: shownPath(change.path), change: wordOf(change) }));
}

function shown({ path, why }: LeftOut): UntouchedPath {
  return { path: shownPath(path), why };
}

/** Paths named in one warning. */
const NAMED = 3;

function warningsOf({ leftOut, nested }: Captured): readonly string[] {
  const warnings: string[] = [];
  if (leftOut.length > 0) {
    const named = leftOut.slice(0, NAMED).map(({ path, why }) => `${shownPath(path)} is ${why}`);
    warnings.push(`Not saved, and not to be undone: ${named.join('; ')}${more(leftOut)}.`);
  }
  if (nested.length > 0) {
    const named = nested.slice(0, NAMED).map(shownPath);
    warnings.push(`Repositories inside of this one are not saved: ${named.join(', ')}${more(nested)}.`);
  }
  return warnings;
}

function more(list: readonly unknown[]): string {
  return list.length > NAMED ? ` and ${list.length - NAMED} more` : '';
}

function short(commit: string | undefined): string {
  return commit === undefined ? 'no commit' : commit.slice(0, 8);
}

function refused(why: string): { readonly type: 'refused'; readonly why: string } {
  return { type: 'refused', why: `The files were left as they are: ${why}.` };
}
