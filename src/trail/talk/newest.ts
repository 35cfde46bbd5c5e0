// Reads something off the newest text that tells it. Reading every text costs, and nearly always only the newest matters.

/** Texts that wait to be read at most. */
const MOST_WAITING = 8;

/** Keeps what the newest of the texts tells that tells anything. A text is read when somebody asks, or when many wait. */
export class Newest<Source, Found> {
  readonly #read: (source: Source) => Found | undefined;
  #waiting: Source[] = [];
  #found: Found | undefined;

  /** @param read undefined where a text tells nothing */
  constructor(read: (source: Source) => Found | undefined) {
    this.#read = read;
  }

  add(source: Source): void {
    this.#waiting.push(source);
    if (this.#waiting.length >= MOST_WAITING) this.#readWaiting();
  }

  /** Undefined where none told anything. */
  get found(): Found | undefined {
    if (this.#waiting.length > 0) this.#readWaiting();
    return this.#found;
  }

  clear(): void {
    this.#waiting = [];
    this.#found = undefined;
  }

  #readWaiting(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (let at = waiting.length - 1; at >= 0; at--) {
      const source = waiting[at];
      const found = source === undefined ? undefined : this.#read(source);
      if (found === undefined) continue;
      this.#found = found;
      return;
    }
  }
}
