// What the agent knows of files: their content as it last saw or wrote it. Kept for one thread.

/** Lines of a file, counted from 1, both included; `of` is how many it has. */
interface ShownLines {
  readonly from: number;
  readonly to: number;
  readonly of: number;
}

interface Known {
  readonly sha256: string;
  /** The agent saw every line up to this one. */
  readonly shownTo: number;
  readonly lines: number;
}

/** Contents by path, as hashes: a file that was only touched is not a changed one. */
export class ReadTracker {
  readonly #known = new Map<string, Known>();

  /**
   * The agent knows the whole file, because it wrote it.
   * @param path absolute, with links resolved
   * @param sha256 of the bytes, in hex
   */
  noteWhole(path: string, sha256: string): void {
    this.#known.set(path, { sha256, shownTo: 0, lines: 0 });
  }

  /** The agent was shown some lines. Pages that follow each other add up. */
  noteLines(path: string, sha256: string, { from, to, of: lines }: ShownLines): void {
    const known = this.#known.get(path);
    if (known?.sha256 === sha256 && known.shownTo >= known.lines) return;
    const before = known?.sha256 === sha256 ? known.shownTo : 0;
    this.#known.set(path, { sha256, shownTo: from <= before + 1 ? Math.max(before, to) : before, lines });
  }

  forget(path: string): void {
    this.#known.delete(path);
  }

  /** `unread`: the agent never saw the file through its tools. `stale`: it saw other content. `partial`: not all lines. */
  stateOf(path: string, sha256: string): 'unread' | 'stale' | 'partial' | 'current' {
    const known = this.#known.get(path);
    if (known === undefined) return 'unread';
    if (known.sha256 !== sha256) return 'stale';
    return known.shownTo < known.lines ? 'partial' : 'current';
  }
}
