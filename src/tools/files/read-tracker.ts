// What the agent knows about files: their content when it last saw or wrote it. One tracker per thread.

/** Lines of a file, counted from 1, inclusive; `of` is their total number. */
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

/** Contents by path, as hashes: touching a file does not count as a change. */
export class ReadTracker {
  readonly #known = new Map<string, Known>();

  /**
   * Records that the agent knows the whole file, because it wrote it.
   * @param path absolute, with links resolved
   * @param sha256 of the bytes, in hex
   */
  noteWhole(path: string, sha256: string): void {
    this.#known.set(path, { sha256, shownTo: 0, lines: 0 });
  }

  /** Records lines shown to the agent. Consecutive pages add up. */
  noteLines(path: string, sha256: string, { from, to, of: lines }: ShownLines): void {
    const known = this.#known.get(path);
    if (known?.sha256 === sha256 && known.shownTo >= known.lines) return;
    const before = known?.sha256 === sha256 ? known.shownTo : 0;
    this.#known.set(path, { sha256, shownTo: from <= before + 1 ? Math.max(before, to) : before, lines });
  }

  forget(path: string): void {
    this.#known.delete(path);
  }

  /**
   * `unread`: the agent never saw the file through its tools. `stale`: it saw other content. `partial`: it has not seen all
   * lines.
   */
  stateOf(path: string, sha256: string): 'unread' | 'stale' | 'partial' | 'current' {
    const known = this.#known.get(path);
    if (known === undefined) return 'unread';
    if (known.sha256 !== sha256) return 'stale';
    return known.shownTo < known.lines ? 'partial' : 'current';
  }
}
