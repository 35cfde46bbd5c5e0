// Extracts something from the newest text that contains it. Reading every text is expensive, and nearly always only the newest
// matters.

/** Most texts that wait to be read. */
const MOST_WAITING = 8;

/** Keeps the result from the newest text that has one. Reads texts on request, or when many are waiting. */
export class Newest<Source, Found> {
  readonly #read: (source: Source) => Found | undefined;
  #waiting: Source[] = [];
  #found: Found | undefined;

  /** @param read returns undefined for a text without a result */
  constructor(read: (source: Source) => Found | undefined) {
    this.#read = read;
  }

  add(source: Source): void {
    this.#waiting.push(source);
    if (this.#waiting.length >= MOST_WAITING) this.#readWaiting();
  }

  /** Undefined if no text has a result. */
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
