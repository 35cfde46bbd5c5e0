// What the agent knows of files: their content as it last saw or wrote it. Kept for one thread.

/** Contents by path, as hashes: a file that was only touched is not a changed one. */
export class ReadTracker {
  readonly #hashes = new Map<string, string>();

  /** @param path absolute, with links resolved @param sha256 of the bytes, in hex */
  note(path: string, sha256: string): void {
    this.#hashes.set(path, sha256);
  }

  forget(path: string): void {
    this.#hashes.delete(path);
  }

  /** `unread`: the agent never saw the file through its tools. `stale`: it saw other content. */
  stateOf(path: string, sha256: string): 'unread' | 'current' | 'stale' {
    const known = this.#hashes.get(path);
    if (known === undefined) return 'unread';
    return known === sha256 ? 'current' : 'stale';
  }
}
