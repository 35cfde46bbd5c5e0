// Plans an undo: which paths it restores, which later edits overlap with the turn, and what cannot be restored. Pure.

import { divideChanges, planRestore, wordOf } from './changes.ts';
import type { Authorship, ChangeWord, LaterEdit, RestorePlan, TreeChange } from './changes.ts';
import { nameOf } from './paths.ts';
import { leftoverPrefix } from './snapshot.ts';
import type { LeftOut, RepositoryMoment, Snapshot, SnapshotFacts, TurnStates } from './snapshot.ts';
import type { LaterEdits } from '../vocabulary.ts';

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

/** Two saved states, and who changed what lies between them. */
export interface Stretch {
  readonly by: keyof Authorship;
  /** Commits or trees. */
  readonly from: string;
  readonly to: string;
}

/**
 * Divides the time since the first turn into the turns and what came after each.
 * @param states the states of the turns, in order; `after` is undefined where it cannot be read
 * @param present the tree of the present
 */
export function stretchesOf(states: readonly TurnStates[], present: string): readonly Stretch[] {
  return states.flatMap(({ before, after }, index): readonly Stretch[] => {
    const from = before.commit;
    const next = states[index + 1]?.before.commit ?? present;
    if (after === undefined) return [{ by: 'unknown', from, to: next }];
    return [
      { by: 'turns', from, to: after.commit },
      { by: 'later', from: after.commit, to: next },
    ];
  });
}

/** Why no undo may begin now; undefined: it may. */
export function obstacleTo(target: RepositoryMoment, now: RepositoryMoment): string | undefined {
  const { operation } = now;
  if (operation === undefined || operation === target.operation) return undefined;
  return `a ${operation} has begun since; finish or abort it first`;
}

/** The differences between the target and the present, by who is responsible for them. */
export interface DividedChanges {
  /** What the undo reverts. */
  readonly own: readonly TreeChange[];
  readonly laterEdits: readonly LaterEdit[];
  /** Temporary files of a killed undo, which belong to nobody. */
  readonly leftovers: readonly string[];
}

/** Divides the changes since the target. @param authorship undefined: a state between is gone, so any change may be anybody's */
export function divideForUndo(
  changes: readonly TreeChange[],
  authorship: Authorship | undefined,
  { found, laterEdits }: Pick<UndoRequest, 'found' | 'laterEdits'>,
): DividedChanges {
  const prefixes = found.map(leftoverPrefix);
  const isLeftover = ({ path }: TreeChange): boolean =>
    prefixes.some((prefix) => nameOf(path).startsWith(prefix));
  const leftovers = changes.filter(isLeftover).map(({ path }) => path);
  const theirs = changes.filter((change) => !isLeftover(change));
  if (laterEdits === 'revert') return { own: theirs, laterEdits: [], leftovers };
  const unknown = new Set(changes.map(({ path }) => path));
  const known = authorship ?? { turns: new Set(), later: new Set(), unknown };
  return { ...divideChanges(theirs, known), leftovers };
}

/** The paths that an undo would remove, unless git ignored them at the time. */
export function addedSince({ own }: DividedChanges): readonly string[] {
  return own.filter(({ before }) => before === undefined).map(({ path }) => path);
}

/** What a plan takes into account. */
export interface UndoFacts {
  readonly divided: DividedChanges;
  /** The snapshot to restore, and its paths. */
  readonly target: { readonly facts: SnapshotFacts; readonly paths: readonly string[] };
  readonly changes: readonly TreeChange[];
  /** What the saved present state omits. */
  readonly leftOutNow: readonly LeftOut[];
  /** Paths that git ignored by the rules of the target. */
  readonly ignoredThen: ReadonlySet<string>;
  readonly now: RepositoryMoment;
}

/** What an undo does. Paths as in `paths.ts`. */
export interface UndoPlan extends RestorePlan {
  readonly own: readonly TreeChange[];
  readonly laterEdits: readonly LaterEdit[];
  /** One sentence each. */
  readonly warnings: readonly string[];
}

/** Plans an undo. */
export function planUndo({ divided, target, changes, leftOutNow, ignoredThen, now }: UndoFacts): UndoPlan {
  const { facts, paths } = target;
  const { own, laterEdits, leftovers } = divided;
  const plan = planRestore(own, { leftOutThen: facts.leftOut, leftOutNow, ignoredThen });
  // Whatever happened to these paths, they were never saved.
  const known = new Set([...paths, ...[...facts.leftOut, ...changes].map(({ path }) => path)]);
  return {
    ...plan,
    own,
    laterEdits,
    remove: [...leftovers, ...plan.remove],
    untouched: [...plan.untouched, ...leftOutNow.filter(({ path }) => !known.has(path))],
    warnings:
      now.head === facts.head
        ? []
        : [
            `HEAD has moved from ${short(facts.head)} to ${short(now.head)} since: commits stay, only files are restored.`,
          ],
  };
}

/** Whether the user must decide about later edits before anything is restored. */
export function isConflicting(
  { laterEdits }: UndoPlan,
  { laterEdits: decided }: Pick<UndoRequest, 'laterEdits'>,
): boolean {
  return decided === undefined && laterEdits.some(({ overlaps }) => overlaps);
}

/** The paths that a plan removes or writes. */
export function plannedPaths({ remove, write }: RestorePlan): ReadonlySet<string> {
  return new Set([...remove, ...write.map(({ path }) => path)]);
}

/** The changes of the turn at these paths. */
export function changesAt({ own }: UndoPlan, paths: ReadonlySet<string>): readonly ChangedPath[] {
  return own
    .filter(({ path }) => paths.has(path))
    .map((change) => ({ path: change.path, change: wordOf(change) }));
}

function short(commit: string | undefined): string {
  return commit === undefined ? 'no commit' : commit.slice(0, 8);
}
