// Who may change a thread, and when: one after the other, and some only where nothing would be torn apart.

/** Lets work through one at a time. What fails keeps nothing from going on. */
export class ThreadMutex {
  readonly #isBetween: () => boolean;
  #queue: Promise<void> = Promise.resolve();
  #waiting: (() => void)[] = [];
  #isTaken = false;

  /** @param isBetween whether the thread stands where items tear nothing apart: between turns, or in one that is held */
  constructor(isBetween: () => boolean) {
    this.#isBetween = isBetween;
  }

  /** Something that is no sampling has the thread to itself: a compaction, an undo. */
  get isTaken(): boolean {
    return this.#isTaken;
  }

  /** Has the thread to itself until `free`; for work that lasts longer than one passage. */
  take(): void {
    this.#isTaken = true;
  }

  free(): void {
    this.#isTaken = false;
    this.wake();
  }

  /** Does something when everything before it is done. */
  async pass<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(work);
    this.#queue = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  /**
   * Does something where it tears nothing apart: nothing else happens to the thread meanwhile.
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

  /** Fulfilled at once where it is quiet, or else when somebody has said `wake`: look again then. */
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
