// A change that no commit holds.

/** A change of one file that no commit holds, as far as the log tells. */
export interface UncommittedChange {
  /** Where in the log it was made. */
  readonly position: number;
  /** A change of the file waits in the index. */
  readonly isStaged: boolean;
  /** It has a change that does not. */
  readonly isDirty: boolean;
  /** The session made the file, so that git does not know it before it is added. */
  readonly isNew: boolean;
  readonly isDeleted: boolean;
}

/** Changes by their paths, put away together. */
export type Stash = ReadonlyMap<string, UncommittedChange>;
