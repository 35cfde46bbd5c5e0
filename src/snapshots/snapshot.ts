// What a snapshot is, and what it says of itself in the message of its commit. Pure.

/** A saved work tree. */
export interface Snapshot {
  readonly commit: string;
  /** What keeps it from being collected: `refs/baton/snapshots/THREAD/NUMBER`. */
  readonly ref: string;
}

/** What was saved of one turn. */
export interface TurnStates {
  /** The files before the turn first changed one. */
  readonly before: Snapshot;
  /** The files at its end; undefined where they could not be saved, or an earlier version of Baton ran the turn. */
  readonly after: Snapshot | undefined;
}

/** A path that is not part of a snapshot although git does not ignore it; `why` completes "PATH is …". */
export interface LeftOut {
  readonly path: string;
  readonly why: string;
}

/** What git was in the middle of. */
export const OPERATIONS = ['merge', 'rebase', 'cherry-pick', 'revert'] as const;
export type Operation = (typeof OPERATIONS)[number];

/** What a snapshot says of the moment at which it was taken. Paths as in `paths.ts`. */
export interface SnapshotFacts {
  /** The workspace below the top of the repository, with a closing slash; empty for the top itself. */
  readonly prefix: string;
  /** The commit that was checked out; undefined where there was none yet. */
  readonly head: string | undefined;
  readonly operation: Operation | undefined;
  readonly leftOut: readonly LeftOut[];
  /** Repositories inside of this one, which a snapshot leaves alone. */
  readonly nested: readonly string[];
}

/** Earlier versions went on with "before a turn". */
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

/** Reads it back; undefined for the message of any other commit. */
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
