// Who may change a thread, and when: one at a time, and some only where they split nothing.

/** Admits work one at a time. A failure does not block the work after it. */
export class ThreadMutex {
  readonly #isBetween: () => boolean;
  #queue: Promise<void> = Promise.resolve();
  #waiting: (() => void)[] = [];
  #isTaken = false;

  /** @param isBetween whether items would split nothing now: between turns, or in a held turn */
  constructor(isBetween: () => boolean) {
    this.#isBetween = isBetween;
  }

  /** Work other than a sampling holds the thread: a compaction, an undo. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Holds the thread until `free`; for work that lasts longer than one passage. */
  take(): void {
    this.#isTaken = true;
  }

  free(): void {
    this.#isTaken = false;
    this.wake();
  }

  /** Runs work after everything before it is done. */
  async pass<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(work);
    this.#queue = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  /**
   * Runs work where it splits nothing: nothing else changes the thread meanwhile.
   * @param isBetween where that is, if not where items may be written
   */
  async whenQuiet<Result>(work: () => Promise<Result>, isBetween = this.#isBetween): Promise<Result> {
    for (;;) {
      const done = await this.pass(async () =>
        this.#isQuiet(isBetween) ? { result: await work() } : undefined,
      );
      if (done !== undefined) return done.result;
      await this.nextQuiet(isBetween);
    }
  }

  /** Resolves at once if it is quiet, else after the next `wake`: check again then. */
  nextQuiet(isBetween = this.#isBetween): Promise<void> {
    if (this.#isQuiet(isBetween)) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** It may be quiet now. */
  wake(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const wake of waiting) wake();
  }

  #isQuiet(isBetween: () => boolean): boolean {
    return !this.#isTaken && isBetween();
  }
}
