// A change that no commit holds.

/** An uncommitted change of one file, as far as the log shows it. */
export interface UncommittedChange {
  /** Its position in the log. */
  readonly position: number;
  /** The index holds a change of the file. */
  readonly isStaged: boolean;
  /** The file has a change that the index does not hold. */
  readonly isDirty: boolean;
  /** The session created the file, so git does not know it until it is added. */
  readonly isNew: boolean;
  readonly isDeleted: boolean;
}

/** Changes by path that were stashed together. */
export type Stash = ReadonlyMap<string, UncommittedChange>;
