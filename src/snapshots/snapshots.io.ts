// The snapshots of one thread: saves a work tree before a turn, lists later changes, and restores it. The user's HEAD, index,
// stash, reflogs, configuration and hooks are neither changed nor used.

import { access, lstat, mkdir, realpath, rm, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { BatonError } from '../errors.ts';
import { hasSucceeded, runGit } from '../system/git.io.ts';
import type { CancelSignal, Clock } from '../ports.ts';
import type { LaterEdits } from '../vocabulary.ts';
import { isBelow } from '../system/planted.io.ts';
import { resolveRoot } from '../system/workspace.io.ts';
import {
  bytesOf,
  captureTree,
  closeWorkshop,
  CaptureDeadline,
  explain,
  explainSystem,
  GIT_GRACE_MS,
  isOwn,
  openWorkshop,
  runInWorkshop,
  shownPath,
} from './capture.io.ts';
import type { Captured, CaptureBounds, NotCaptured, Repository, Workshop } from './capture.io.ts';
import { divideChanges, parseTreeDiff, planRestore, wordOf } from './changes.ts';
import type { Authorship, ChangeWord, LaterEdit, RestorePlan, TreeChange } from './changes.ts';
import { isSafePath, joinPaths, splitPaths } from './paths.ts';
import { isLeftover, leftoverPrefix, restoreFiles } from './restore.io.ts';
import { parseSnapshotMessage, snapshotMessage } from './snapshot.ts';
import type { LeftOut, Operation, Snapshot, SnapshotFacts, TurnStates } from './snapshot.ts';

/** Limits of a snapshot before a turn. @source docs/decisions/snapshots.md */
export const SNAPSHOT_BOUNDS: CaptureBounds = {
  files: 100_000,
  untrackedFiles: 10_000,
  untrackedBytes: 100_000_000,
  fileBytes: 10_000_000,
};

/** Longest time that a turn waits for its snapshot, in milliseconds. @source spec 4-session §5; docs/decisions/snapshots.md */
export const SNAPSHOT_LIMIT_MS = 5000;

/** Longest time for an undo or its description, which the user requests and waits for, in milliseconds. */
const UNDO_LIMIT_MS = 60_000;

/** Number of snapshots to keep per thread: before and after each of 20 turns. @source Codex, 20 turns */
const KEPT_SNAPSHOTS = 40;

/** What opening the snapshots of a thread requires. */
export interface SnapshotTerms {
  /** The workspace. Other parts of the same repository are neither saved nor restored. */
  readonly directory: string;
  readonly threadId: string;
  /** A folder that only this process uses, in an existing parent: created when opened, removed when closed. */
  readonly workshop: string;
  /** Baton's home, which is never part of a snapshot. */
  readonly home: string;
  /** Snapshots that the thread's log names. Others do not count, because anybody may have added refs to a repository. */
  readonly named: () => readonly Snapshot[];
  /** Baton's environment, for git. The caller passes it through `withoutSecrets` to hide secrets from git. */
  readonly env: Readonly<Record<string, string>>;
  /** Distinguishes recently changed files from settled ones. */
  readonly clock: Clock;
  /** Absent: `SNAPSHOT_BOUNDS`. */
  readonly bounds?: CaptureBounds;
  /** Absent: `SNAPSHOT_LIMIT_MS`. */
  readonly limitMs?: number;
}

/** The result of taking a snapshot. `why` is one sentence for the user. */
export type SnapshotOutcome =
  | {
      readonly type: 'taken';
      readonly snapshot: Snapshot;
      /** What an undo will not restore, one sentence each. */
      readonly warnings: readonly string[];
    }
  | { readonly type: 'skipped'; readonly why: string };

/** A path and what happened to it since the snapshot, for people. */
export interface ChangedPath {
  readonly path: string;
  readonly change: ChangeWord;
}

/** A path that an undo leaves unchanged; `why` completes "PATH is …". */
export interface UntouchedPath {
  readonly path: string;
  readonly why: string;
}

/** A request to undo turns. */
export interface UndoRequest {
  /** The saved states of the turns, in order; at least one. The first is the target. */
  readonly states: readonly [TurnStates, ...TurnStates[]];
  /** Absent: files that only others changed stay, and nothing is done if they also changed files of the turn. */
  readonly laterEdits?: LaterEdits | undefined;
  /** The states before earlier, unfinished undos of the same turns. */
  readonly found: readonly Snapshot[];
}

/** The effect that an undo would have. */
export type SnapshotDescription =
  | {
      readonly type: 'described';
      /** What the undo reverts, by path: `added` files are removed, `deleted` ones restored. */
      readonly changes: readonly ChangedPath[];
      /** What the undo should revert but cannot. */
      readonly blocked: readonly UntouchedPath[];
      /** Later edits by others, which stay unless `laterEdits` is `revert`. */
      readonly laterEdits: readonly LaterEdit[];
      readonly untouched: readonly UntouchedPath[];
      /** Further warnings for the user, one sentence each. */
      readonly warnings: readonly string[];
    }
  | { readonly type: 'refused'; readonly why: string };

/** The result of an undo. */
export type RestoreOutcome =
  | {
      readonly type: 'restored';
      readonly changes: readonly ChangedPath[];
      /** Files that should have been restored but were not: repeating the undo continues with them. */
      readonly failed: readonly UntouchedPath[];
      readonly laterEdits: readonly LaterEdit[];
      readonly untouched: readonly UntouchedPath[];
      readonly warnings: readonly string[];
      /** The state before the undo: restoring it reverses the undo. */
      readonly undo: Snapshot;
      readonly isStopped: boolean;
    }
  /** Nothing was done: some of these edits overlap with the turn's. */
  | { readonly type: 'conflicting'; readonly laterEdits: readonly LaterEdit[] }
  | { readonly type: 'refused'; readonly why: string };

/**
 * Opens the snapshots of a thread.
 * @returns the snapshots, or one sentence that says why they are unavailable here
 * @throws BatonError `file_not_found` when the workspace does not exist; `interrupted`
 * @throws RangeError for an invalid thread id
 */
export async function openSnapshots(
  terms: SnapshotTerms,
  signal: CancelSignal,
): Promise<Snapshots | { readonly type: 'unavailable'; readonly why: string }> {
  if (!/^\w[\w-]{0,99}$/.test(terms.threadId))
    throw new RangeError(`${terms.threadId} is not the id of a thread`);
  const root = await resolveRoot(terms.directory);
  return within(UNDO_LIMIT_MS, signal, async (deadline) => {
    const repository = await findRepository(root, terms, deadline);
    if ('why' in repository) return { type: 'unavailable', why: repository.why } as const;
    try {
      return new Snapshots(await openWorkshop(repository, terms.workshop, terms.clock, deadline), terms);
    } catch (error) {
      const { why } = explainSystem(error);
      return {
        type: 'unavailable',
        why: `The folder ${terms.workshop} could not be created: ${why}.`,
      } as const;
    }
  });
}

/** The snapshots of one thread. Allows one operation at a time. */
export class Snapshots {
  readonly #workshop: Workshop;
  readonly #terms: SnapshotTerms;
  readonly #made: Snapshot[] = [];
  #newest: { readonly tree: string; readonly message: string; readonly snapshot: Snapshot } | undefined;
  /** The paths of the newest snapshot. A turn that makes git ignore one of these files has not deleted it. */
  #paths: readonly string[] = [];

  /** Use `openSnapshots`. */
  constructor(workshop: Workshop, terms: SnapshotTerms) {
    this.#workshop = workshop;
    this.#terms = terms;
  }

  /**
   * Saves the work tree: the files that git tracks, and those that it neither tracks nor ignores.
   * @throws BatonError `interrupted`
   */
  async take(signal: CancelSignal): Promise<SnapshotOutcome> {
    return within(this.#terms.limitMs ?? SNAPSHOT_LIMIT_MS, signal, async (deadline) => {
      const captured = await this.#capture(deadline, this.#paths).catch(explainSystem);
      if (captured.type === 'skipped') return captured;
      const snapshot = await this.#commit(captured, deadline);
      if ('why' in snapshot) return snapshot;
      return { type: 'taken', snapshot, warnings: warningsOf(captured) };
    });
  }

  /**
   * Describes what an undo would do now. Changes nothing.
   * @throws BatonError `interrupted`
   */
  async describe(request: UndoRequest, signal: CancelSignal): Promise<SnapshotDescription> {
    return within(UNDO_LIMIT_MS, signal, async (deadline) => {
      const target = await this.#target(request, deadline);
      if ('why' in target) return refused(target.why);
      const present = await this.#capture(deadline, target.known).catch(explainSystem);
      if (present.type === 'skipped') return refused(present.why);
      const way = await this.#wayTo({ target, request, present }, deadline).catch(explainSystem);
      if ('why' in way) return refused(way.why);
      return {
        type: 'described',
        changes: changesOf(way, plannedPaths(way.plan)),
        blocked: way.plan.blocked.map(shown),
        laterEdits: way.laterEdits.map(shownEdit),
        untouched: way.plan.untouched.map(shown),
        warnings: way.warnings,
      };
    });
  }

  /**
   * Restores the files to their state before some turns, after saving their present state.
   * @param begin receives the saved present state before the first file changes
   * @throws BatonError `interrupted`, with everything unchanged; once the restoration has begun, the outcome reports how far it
   * got. Also throws the errors of `begin`
   */
  async restore(
    request: UndoRequest,
    begin: (undo: Snapshot) => Promise<void>,
    signal: CancelSignal,
  ): Promise<RestoreOutcome> {
    return within(UNDO_LIMIT_MS, signal, async (deadline, finish) => {
      const target = await this.#target(request, deadline);
      if ('why' in target) return refused(target.why);
      const present = await this.#capture(deadline, target.known).catch(explainSystem);
      if (present.type === 'skipped') return refused(`the present state cannot be saved: ${present.why}`);
      const way = await this.#wayTo({ target, request, present }, deadline).catch(explainSystem);
      if ('why' in way) return refused(way.why);
      const { plan, warnings } = way;
      const laterEdits = way.laterEdits.map(shownEdit);
      if (request.laterEdits === undefined && laterEdits.some(({ overlaps }) => overlaps))
        return { type: 'conflicting', laterEdits };
      const undo = await this.#commit(present, deadline);
      if ('why' in undo) return refused(`the present state cannot be saved: ${undo.why}`);
      await begin(undo);
      finish();
      const { done, failed } = await restoreFiles(this.#workshop, { plan, present, undo }, deadline);
      return {
        type: 'restored',
        changes: changesOf(way, new Set(done)),
        failed: [...plan.blocked, ...failed].map(shown),
        laterEdits,
        untouched: plan.untouched.map(shown),
        warnings,
        undo,
        isStopped: deadline.isInterrupted,
      };
    });
  }

  /**
   * Drops all but the newest snapshots that the thread's log names.
   * @param keep absent: 40
   * @returns how many were dropped
   */
  async prune({ keep = KEPT_SNAPSHOTS }: { readonly keep?: number }, signal: CancelSignal): Promise<number> {
    return within(UNDO_LIMIT_MS, signal, async (deadline) => {
      const own = this.#own().toSorted((a, b) => b.number - a.number);
      const spent = own.slice(keep);
      if (spent.length === 0) return 0;
      const there = await this.#listRefs(deadline);
      const gone = spent.filter(({ ref, commit }) => there.get(ref) === commit);
      if (gone.length === 0) return 0;
      const input = gone.map(({ ref, commit }) => `delete ${ref}\0${commit}\0`).join('');
      const answer = await updateRefs(this.#workshop.repository, ['-z', '--stdin'], deadline, input);
      return hasSucceeded(answer) ? gone.length : 0;
    });
  }

  /** Removes the workshop. The snapshots stay. */
  async close(): Promise<void> {
    await closeWorkshop(this.#workshop);
  }

  get #bounds(): CaptureBounds {
    return this.#terms.bounds ?? SNAPSHOT_BOUNDS;
  }

  #capture(deadline: CaptureDeadline, include: readonly string[]): Promise<Captured | NotCaptured> {
    return captureTree(this.#workshop, this.#bounds, deadline, include);
  }

  /** Commits the captured tree; returns the newest snapshot if that is identical. */
  async #commit(captured: Captured, deadline: CaptureDeadline): Promise<Snapshot | NotCaptured> {
    const { repository } = this.#workshop;
    const { tree, leftOut, nested } = captured;
    this.#paths = [...captured.looks.keys()];
    const message = snapshotMessage({ ...(await momentOf(repository, deadline)), leftOut, nested });
    const newest = this.#newest;
    if (
      newest?.tree === tree &&
      newest.message === message &&
      (await this.#isThere(newest.snapshot, deadline))
    ) {
      return newest.snapshot;
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
    this.#made.push(snapshot);
    this.#newest = { tree, message, snapshot };
    return snapshot;
  }

  async #isThere({ ref, commit }: Snapshot, deadline: CaptureDeadline): Promise<boolean> {
    const { root, env } = this.#workshop.repository;
    const answer = await runGit(['rev-parse', '--verify', '-q', ref], root, { env, signal: deadline.signal });
    return answer.output.toString('latin1').trim() === commit;
  }

  /** Gives the commit the next free number. Skips numbers with a lock file from a crash. */
  async #keep(commit: string, deadline: CaptureDeadline): Promise<string | NotCaptured> {
    const { repository } = this.#workshop;
    const there = await this.#listRefs(deadline);
    let number = Math.max(0, ...this.#own().map((own) => own.number));
    let problem: NotCaptured = { type: 'skipped', why: 'git could not create a ref for it' };
    for (let tries = 0; tries < TRIED_NUMBERS && !deadline.isOver; tries++) {
      do number++;
      while (there.has(this.#refOf(number)));
      const ref = this.#refOf(number);
      const answer = await updateRefs(repository, [ref, commit, ''], deadline);
      if (hasSucceeded(answer)) return ref;
      problem = explain(answer, deadline);
    }
    return problem;
  }

  #refOf(number: number | string): string {
    return `${REFS}/${this.#terms.threadId}/${number}`;
  }

  /** The snapshots under the thread's own name; those that a fork inherited have the name of its parent. */
  #own(): readonly (Snapshot & { readonly number: number })[] {
    const start = this.#refOf('');
    return [...this.#terms.named(), ...this.#made].flatMap((snapshot) => {
      const number = snapshot.ref.startsWith(start) ? snapshot.ref.slice(start.length) : '';
      return /^[1-9]\d{0,8}$/.test(number) ? [{ ...snapshot, number: Number(number) }] : [];
    });
  }

  /** All refs under the thread's name, regardless of their creator, and their targets. Reads no object. */
  async #listRefs(deadline: CaptureDeadline): Promise<ReadonlyMap<string, string>> {
    const { root, env } = this.#workshop.repository;
    const args = ['for-each-ref', '--format=%(refname) %(objectname)', this.#refOf('')];
    const answer = await runGit(args, root, { env, signal: deadline.signal });
    const lines = answer.output.toString('latin1').split('\n');
    return new Map(
      lines.map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)]),
    );
  }

  async #target({ states }: UndoRequest, deadline: CaptureDeadline): Promise<Target | NotCaptured> {
    const target = await this.#read(states[0].before, deadline);
    if ('why' in target) return target;
    const end = states.at(-1)?.after;
    const atEnd = end === undefined ? undefined : await this.#read(end, deadline);
    const known = new Set([...target.paths, ...(atEnd === undefined || 'why' in atEnd ? [] : atEnd.paths)]);
    return { ...target, known: [...known] };
  }

  async #read(snapshot: Snapshot, deadline: CaptureDeadline): Promise<ReadSnapshot | NotCaptured> {
    const { commit } = snapshot;
    if (!/^[0-9a-f]{40,64}$/.test(commit)) return { type: 'skipped', why: 'it does not name a snapshot' };
    const shownCommit = await runInWorkshop(this.#workshop, ['cat-file', 'commit', commit], deadline);
    if (!hasSucceeded(shownCommit)) {
      return deadline.isOver
        ? explain(shownCommit, deadline)
        : { type: 'skipped', why: 'the snapshot is gone' };
    }
    const text = shownCommit.output.toString('utf8');
    const facts = parseSnapshotMessage(text.slice(text.indexOf('\n\n') + 2));
    if (facts === undefined) return { type: 'skipped', why: 'the commit is not a snapshot of Baton' };
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
    const isTheirs = (path: string): boolean => isSafePath(path) && !isOwn(this.#workshop.repository, path);
    return { commit, facts, paths: splitPaths(listed.output.toString('latin1')).filter(isTheirs) };
  }

  async #wayTo({ target, request, present }: Journey, deadline: CaptureDeadline): Promise<Way | NotCaptured> {
    const { commit, facts, paths } = target;
    const { head, operation } = await momentOf(this.#workshop.repository, deadline);
    if (operation !== undefined && operation !== facts.operation) {
      return { type: 'skipped', why: `a ${operation} has begun since; finish or abort it first` };
    }
    const changes = await this.#diff(commit, present.tree, deadline);
    if ('why' in changes) return changes;
    const authorship =
      (await this.#authorship(request, present.tree, deadline)) ??
      ({ turns: new Set(), later: new Set(), unknown: new Set(changes.map(({ path }) => path)) } as const);
    if (deadline.isOver) return { type: 'skipped', why: deadline.why };
    // Temporary files of a killed undo belong to nobody.
    const prefixes = request.found.map(leftoverPrefix);
    const leftovers = changes.filter(({ path }) => isLeftover(path, prefixes));
    const theirs = changes.filter(({ path }) => !isLeftover(path, prefixes));
    const { own, laterEdits } =
      request.laterEdits === 'revert' ? { own: theirs, laterEdits: [] } : divideChanges(theirs, authorship);
    const added = own.filter(({ before }) => before === undefined).map(({ path }) => path);
    const ignoredThen = await this.#ignoredBy(commit, paths, added, deadline);
    if ('why' in ignoredThen) return ignoredThen;
    const bounds = { leftOutThen: facts.leftOut, leftOutNow: present.leftOut, ignoredThen };
    const plan = planRestore(own, bounds);
    // Whatever happened to these paths, they were never saved.
    const known = new Set([
      ...paths,
      ...facts.leftOut.map(({ path }) => path),
      ...changes.map(({ path }) => path),
    ]);
    const neverSaved = present.leftOut.filter(({ path }) => !known.has(path));
    const warnings =
      head === facts.head
        ? []
        : [
            `HEAD has moved from ${short(facts.head)} to ${short(head)} since: commits stay, only files are restored.`,
          ];
    return {
      changes: own,
      plan: {
        ...plan,
        remove: [...leftovers.map(({ path }) => path), ...plan.remove],
        untouched: [...plan.untouched, ...neverSaved],
      },
      laterEdits,
      warnings,
    };
  }

  /** Compares the states between the first one and the present; undefined if one of them is gone. */
  async #authorship(
    { states }: UndoRequest,
    present: string,
    deadline: CaptureDeadline,
  ): Promise<Authorship | undefined> {
    const turns = new Set<string>();
    const later = new Set<string>();
    const unknown = new Set<string>();
    for (const [index, { before, after }] of states.entries()) {
      const next = states[index + 1]?.before.commit ?? present;
      const end = after === undefined ? undefined : await this.#read(after, deadline);
      const stretches: readonly (readonly [Set<string>, from: string, to: string])[] =
        end === undefined || 'why' in end
          ? [[unknown, before.commit, next]]
          : [
              [turns, before.commit, end.commit],
              [later, end.commit, next],
            ];
      for (const [paths, from, to] of stretches) {
        const changes = from === to ? [] : await this.#diff(from, to, deadline);
        if ('why' in changes) return undefined;
        for (const { path } of changes) paths.add(path);
      }
    }
    return { turns, later, unknown };
  }

  async #diff(
    from: string,
    to: string,
    deadline: CaptureDeadline,
  ): Promise<readonly TreeChange[] | NotCaptured> {
    const differs = await runInWorkshop(
      this.#workshop,
      ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--full-index', from, to],
      deadline,
    );
    if (!hasSucceeded(differs)) return explain(differs, deadline);
    const { repository } = this.#workshop;
    return parseTreeDiff(differs.output.toString('latin1')).filter(({ path }) => !isOwn(repository, path));
  }

  /** The paths that the ignore files of a snapshot, in their state at the time, exclude. */
  async #ignoredBy(
    commit: string,
    paths: readonly string[],
    asked: readonly string[],
    deadline: CaptureDeadline,
  ): Promise<ReadonlySet<string> | NotCaptured> {
    if (asked.length === 0) return new Set();
    const { repository } = this.#workshop;
    const directory = join(this.#workshop.directory, 'ignored');
    await mkdir(directory);
    try {
      for (const path of paths.filter((name) => /(?:^|\/)\.gitignore$/.test(name))) {
        const blob = await runInWorkshop(this.#workshop, ['cat-file', 'blob', `${commit}:${path}`], deadline);
        if (!hasSucceeded(blob)) return explain(blob, deadline);
        const place = bytesOf(directory, path);
        await mkdir(Buffer.from(dirname(place.toString('latin1')), 'latin1'), { recursive: true });
        await writeFile(place, blob.output);
      }
      // Rules above the workspace and the user's own are not part of a snapshot; their present state applies.
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

/** How many numbers to try for a new snapshot. */
const TRIED_NUMBERS = 5;

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Baton',
  GIT_AUTHOR_EMAIL: 'baton@localhost',
  GIT_COMMITTER_NAME: 'Baton',
  GIT_COMMITTER_EMAIL: 'baton@localhost',
} as const;

/** A snapshot with its facts. */
interface ReadSnapshot {
  readonly commit: string;
  readonly facts: SnapshotFacts;
  readonly paths: readonly string[];
}

/** The state to restore. */
interface Target extends ReadSnapshot {
  /** Its paths, and those at the end of the turn. */
  readonly known: readonly string[];
}

/** The start and the target of an undo. */
interface Journey {
  readonly target: Target;
  readonly request: UndoRequest;
  readonly present: Captured;
}

/** The changes between the present and a snapshot. */
interface Way {
  readonly changes: readonly TreeChange[];
  readonly plan: RestorePlan;
  readonly laterEdits: readonly LaterEdit[];
  readonly warnings: readonly string[];
}

async function within<T>(
  limitMs: number,
  signal: CancelSignal,
  act: (deadline: CaptureDeadline, finish: () => void) => Promise<T>,
): Promise<T> {
  const deadline = new CaptureDeadline(limitMs, signal);
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
  { env, home }: SnapshotTerms,
  deadline: CaptureDeadline,
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
    return { why: 'Git is not installed, so file changes cannot be undone.' };
  const lines = answer.output.toString('utf8').split('\n');
  const [gitDirectory, commonDirectory, isInside, prefix] = lines;
  if (!hasSucceeded(answer) && !answer.errors.includes('not a git repository')) {
    return { why: `File changes cannot be undone here; git says: ${answer.errors.split('\n')[0] ?? ''}` };
  }
  if (!hasSucceeded(answer) || isInside !== 'true' || prefix === undefined || lines.length !== 5) {
    return { why: 'The workspace is not in a git work tree, so file changes cannot be undone.' };
  }
  if (gitDirectory === undefined || commonDirectory === undefined)
    return { why: 'Git does not report a repository.' };
  const link = await linkAmong(['objects', ...namesUpTo(REFS)].map((name) => join(commonDirectory, name)));
  // A link may have been planted, and git would follow it: objects and refs would be written to its target.
  if (link !== undefined) return { why: `${link} is a symbolic link, so file changes cannot be undone.` };
  if (prefix !== '') {
    const ignored = await runGit(['check-ignore', '-q', '--', '.'], root, { env, signal: deadline.signal });
    if (hasSucceeded(ignored)) return { why: 'Git ignores the workspace, so file changes cannot be undone.' };
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

async function momentOf(
  { root, env, prefix, gitDirectory }: Repository,
  deadline: CaptureDeadline,
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

/** Updates refs without reflogs and hooks. */
async function updateRefs(
  { root, env }: Repository,
  args: readonly string[],
  deadline: CaptureDeadline,
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

function shownEdit({ path, ...edit }: LaterEdit): LaterEdit {
  return { ...edit, path: shownPath(path) };
}

/** How many paths to list in one warning. */
const NAMED = 3;

function warningsOf({ leftOut, nested }: Captured): readonly string[] {
  const warnings: string[] = [];
  if (leftOut.length > 0) {
    const named = leftOut.slice(0, NAMED).map(({ path, why }) => `${shownPath(path)} is ${why}`);
    warnings.push(`Not saved, so an undo cannot restore: ${named.join('; ')}${more(leftOut)}.`);
  }
  if (nested.length > 0) {
    const named = nested.slice(0, NAMED).map(shownPath);
    warnings.push(`Repositories inside this one are not saved: ${named.join(', ')}${more(nested)}.`);
  }
  return warnings;
}

function more(list: readonly unknown[]): string {
  return list.length > NAMED ? ` and ${list.length - NAMED} more` : '';
}

function short(commit: string | undefined): string {
  return commit === undefined ? 'no commit' : commit.slice(0, 8);
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

function refused(why: string): { readonly type: 'refused'; readonly why: string } {
  return { type: 'refused', why: `The files are unchanged: ${why}.` };
}
