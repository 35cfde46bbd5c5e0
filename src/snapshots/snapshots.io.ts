// The snapshots of one thread: saves a work tree before a turn, describes its undo, and restores it. The user's HEAD, index, stash,
// reflogs, configuration and hooks are neither changed nor used.

import type { CancelSignal, Clock } from '../ports.ts';
import { resolveRoot } from '../system/workspace.io.ts';
import { captureTree } from './capture.io.ts';
import type { Captured, CaptureBounds } from './capture.io.ts';
import type { Authorship } from './changes.ts';
import { explainSystem, skipped, withinLimit } from './deadline.io.ts';
import type { SnapshotDeadline, SnapshotProblem } from './deadline.io.ts';
import { commitTree, diffTrees, ignoredBy, readSnapshot } from './objects.io.ts';
import type { ReadSnapshot } from './objects.io.ts';
import { shownPath } from './path-bytes.io.ts';
import { SnapshotRefs } from './refs.io.ts';
import { findRepository, readMoment } from './repository.io.ts';
import { restoreFiles } from './restore.io.ts';
import { snapshotMessage } from './snapshot.ts';
import type { Snapshot, TurnStates } from './snapshot.ts';
import {
  addedSince,
  changesAt,
  divideForUndo,
  isConflicting,
  obstacleTo,
  plannedPaths,
  planUndo,
  stretchesOf,
} from './undo.ts';
import type { RestoreOutcome, SnapshotDescription, UndoPlan, UndoRequest } from './undo.ts';
import { closeWorkshop, openWorkshop } from './workshop.io.ts';
import type { Workshop } from './workshop.io.ts';

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
  return withinLimit(UNDO_LIMIT_MS, signal, async (deadline) => {
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
  readonly #refs: SnapshotRefs;
  #newest: { readonly tree: string; readonly message: string; readonly snapshot: Snapshot } | undefined;
  /** The paths of the newest snapshot. A turn that makes git ignore one of these files has not deleted it. */
  #paths: readonly string[] = [];

  /** Use `openSnapshots`. */
  constructor(workshop: Workshop, terms: SnapshotTerms) {
    this.#workshop = workshop;
    this.#terms = terms;
    this.#refs = new SnapshotRefs(workshop.repository, terms.threadId, terms.named);
  }

  /**
   * Saves the work tree: the files that git tracks, and those that it neither tracks nor ignores.
   * @throws BatonError `interrupted`
   */
  async take(signal: CancelSignal): Promise<SnapshotOutcome> {
    return withinLimit(this.#terms.limitMs ?? SNAPSHOT_LIMIT_MS, signal, async (deadline) => {
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
    return withinLimit(UNDO_LIMIT_MS, signal, async (deadline) => {
      const planned = await this.#planUndo(request, deadline);
      if ('why' in planned) return refused(planned.why);
      const { plan } = planned;
      return {
        type: 'described',
        changes: changesAt(plan, plannedPaths(plan)).map(shown),
        blocked: plan.blocked.map(shown),
        laterEdits: plan.laterEdits.map(shown),
        untouched: plan.untouched.map(shown),
        warnings: plan.warnings,
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
    return withinLimit(UNDO_LIMIT_MS, signal, async (deadline, finish) => {
      const planned = await this.#planUndo(request, deadline);
      if ('why' in planned) return refused(planned.why);
      const { plan, present } = planned;
      const laterEdits = plan.laterEdits.map(shown);
      if (isConflicting(plan, request)) return { type: 'conflicting', laterEdits };
      const undo = await this.#commit(present, deadline);
      if ('why' in undo) return refused(unsaved(undo).why);
      await begin(undo);
      finish();
      const { done, failed } = await restoreFiles(this.#workshop, { plan, present, undo }, deadline);
      return {
        type: 'restored',
        changes: changesAt(plan, new Set(done)).map(shown),
        failed: [...plan.blocked, ...failed].map(shown),
        laterEdits,
        untouched: plan.untouched.map(shown),
        warnings: plan.warnings,
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
    return withinLimit(UNDO_LIMIT_MS, signal, (deadline) => this.#refs.prune(keep, deadline));
  }

  /** Removes the workshop. The snapshots stay. */
  async close(): Promise<void> {
    await closeWorkshop(this.#workshop);
  }

  #capture(deadline: SnapshotDeadline, include: readonly string[]): Promise<Captured | SnapshotProblem> {
    const bounds = this.#terms.bounds ?? SNAPSHOT_BOUNDS;
    return captureTree(this.#workshop, bounds, deadline, include).catch(explainSystem);
  }

  /** Commits the captured tree; returns the newest snapshot if that is identical. */
  async #commit(captured: Captured, deadline: SnapshotDeadline): Promise<Snapshot | SnapshotProblem> {
    const { tree, leftOut, nested } = captured;
    this.#paths = [...captured.looks.keys()];
    const moment = await readMoment(this.#workshop.repository, deadline);
    const message = snapshotMessage({ ...moment, leftOut, nested });
    const newest = this.#newest;
    const isSame = newest?.tree === tree && newest.message === message;
    if (isSame && (await this.#refs.has(newest.snapshot, deadline))) return newest.snapshot;
    const commit = await commitTree(this.#workshop, { tree, message }, deadline);
    if (typeof commit !== 'string') return commit;
    const snapshot = await this.#refs.add(commit, deadline);
    if (!('why' in snapshot)) this.#newest = { tree, message, snapshot };
    return snapshot;
  }

  /** Reads the saved states, captures the present one, and plans the way back. */
  async #planUndo(
    request: UndoRequest,
    deadline: SnapshotDeadline,
  ): Promise<{ readonly plan: UndoPlan; readonly present: Captured } | SnapshotProblem> {
    const target = await readSnapshot(this.#workshop, request.states[0].before, deadline);
    if ('why' in target) return target;
    const states = await this.#readableStates(request.states, deadline);
    const known = new Set([...target.paths, ...(states.at(-1)?.end?.paths ?? [])]);
    const present = await this.#capture(deadline, [...known]);
    if ('why' in present) return unsaved(present);
    const plan = await this.#planFrom({ target, states, request, present }, deadline).catch(explainSystem);
    return 'why' in plan ? plan : { plan, present };
  }

  async #planFrom(
    { target, states, request, present }: UndoStates,
    deadline: SnapshotDeadline,
  ): Promise<UndoPlan | SnapshotProblem> {
    const now = await readMoment(this.#workshop.repository, deadline);
    const obstacle = obstacleTo(target.facts, now);
    if (obstacle !== undefined) return skipped(obstacle);
    const changes = await diffTrees(this.#workshop, target.commit, present.tree, deadline);
    if ('why' in changes) return changes;
    const authorship = await this.#authorship(states, present.tree, deadline);
    if (deadline.isOver) return skipped(deadline.why);
    const divided = divideForUndo(changes, authorship, request);
    const ignoredThen = await ignoredBy(this.#workshop, target, addedSince(divided), deadline);
    if ('why' in ignoredThen) return ignoredThen;
    return planUndo({ divided, target, changes, leftOutNow: present.leftOut, ignoredThen, now });
  }

  /** The states of turns, without ends that cannot be read. */
  async #readableStates(
    states: UndoRequest['states'],
    deadline: SnapshotDeadline,
  ): Promise<readonly ReadableStates[]> {
    const readable: ReadableStates[] = [];
    for (const { before, after } of states) {
      const end = after === undefined ? undefined : await readSnapshot(this.#workshop, after, deadline);
      if (end === undefined || 'why' in end) readable.push({ before, after: undefined, end: undefined });
      else readable.push({ before, after, end });
    }
    return readable;
  }

  /** Compares the states between the first one and the present; undefined if one of them is gone. */
  async #authorship(
    states: readonly TurnStates[],
    present: string,
    deadline: SnapshotDeadline,
  ): Promise<Authorship | undefined> {
    const paths = { turns: new Set<string>(), later: new Set<string>(), unknown: new Set<string>() };
    for (const { by, from, to } of stretchesOf(states, present)) {
      const changes = from === to ? [] : await diffTrees(this.#workshop, from, to, deadline);
      if ('why' in changes) return undefined;
      for (const { path } of changes) paths[by].add(path);
    }
    return paths;
  }
}

interface ReadableStates extends TurnStates {
  readonly end: ReadSnapshot | undefined;
}

/** The states that an undo compares. */
interface UndoStates {
  readonly target: ReadSnapshot;
  readonly states: readonly ReadableStates[];
  readonly request: UndoRequest;
  readonly present: Captured;
}

/** The same with its path for people. */
function shown<Named extends { readonly path: string }>(named: Named): Named {
  return { ...named, path: shownPath(named.path) };
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

function unsaved({ why }: SnapshotProblem): SnapshotProblem {
  return skipped(`the present state cannot be saved: ${why}`);
}

function refused(why: string): { readonly type: 'refused'; readonly why: string } {
  return { type: 'refused', why: `The files are unchanged: ${why}.` };
}
