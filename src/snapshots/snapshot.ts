// A snapshot, and the message of its commit. Pure.

/** Where the refs of all snapshots are. */
export const SNAPSHOT_REFS = 'refs/baton/snapshots';

/** A saved work tree. */
export interface Snapshot {
  readonly commit: string;
  /** The ref that keeps it from garbage collection: `refs/baton/snapshots/THREAD/NUMBER`. */
  readonly ref: string;
}

/** The prefix of the temporary files that an undo writes. @param undo the state that it saved before */
export function leftoverPrefix({ commit }: Snapshot): string {
  return `.baton-undo-${commit}-`;
}

/** The saved states of one turn. */
export interface TurnStates {
  /** The files before the turn first changed one. */
  readonly before: Snapshot;
  /** The files at its end; undefined if they could not be saved, or an earlier version of Baton ran the turn. */
  readonly after: Snapshot | undefined;
}

/** A path that a snapshot omits although git does not ignore it; `why` completes "PATH is …". */
export interface LeftOut {
  readonly path: string;
  readonly why: string;
}

/** Operations that git can be in the middle of. */
export const OPERATIONS = ['merge', 'rebase', 'cherry-pick', 'revert'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** The state of a repository at one moment. */
export interface RepositoryMoment {
  /** The workspace relative to the top of the repository, with a trailing slash; empty for the top itself. */
  readonly prefix: string;
  /** The checked-out commit; undefined without any. */
  readonly head: string | undefined;
  readonly operation: Operation | undefined;
}

/** The facts of the moment when a snapshot was taken. Paths as in `paths.ts`. */
export interface SnapshotFacts extends RepositoryMoment {
  readonly leftOut: readonly LeftOut[];
  /** Nested repositories, which a snapshot omits. */
  readonly nested: readonly string[];
}

/** Earlier versions continued with "before a turn". */
const SUBJECT = 'Work tree, saved by Baton';
const VERSION = 1;

/** The message of the commit. */
export function snapshotMessage({ prefix, head, operation, leftOut, nested }: SnapshotFacts): string {
  const facts = {
    version: VERSION,
    prefix,
    head,
    operation,
    left_out: leftOut.map(({ path, why }) => [path, why]),
    nested,
  };
  return `${SUBJECT}\n\n${JSON.stringify(facts)}\n`;
}

/** Parses it; undefined for the message of any other commit. */
export function parseSnapshotMessage(message: string): SnapshotFacts | undefined {
  const [subject, , line = ''] = message.split('\n');
  if (subject?.startsWith(SUBJECT) !== true) return undefined;
  try {
    const facts = JSON.parse(line) as Partial<Record<string, unknown>>;
    const { version, prefix, head, operation, left_out: leftOut, nested } = facts;
    if (version !== VERSION || typeof prefix !== 'string') return undefined;
    if (!Array.isArray(leftOut) || !Array.isArray(nested)) return undefined;
    return {
      prefix,
      head: typeof head === 'string' ? head : undefined,
      operation: OPERATIONS.find((name) => name === operation),
      leftOut: leftOut.map(([path, why]: [unknown, unknown]) => ({ path: String(path), why: String(why) })),
      nested: nested.map(String),
    };
  } catch {
    return undefined;
  }
}
