// What compactions keep, as ids of messages. A file of n compactions that each keep all before would take n² of them.

/**
 * Ids that the compactions of one file may keep in all.
 * @source measured with Node 20: these take 0.15 s; the recorded sessions keep less than 1,000, and an agent that keeps half of
 * 120 events with each compaction keeps 10,000 in 10,000 events
 */
const MOST_KEPT_REFS = 100_000;

/** The ids that each compaction of a file keeps, found once each, as long as they are not too many in all. */
export class KeptRefs<Compaction extends object> {
  readonly #onExceeded: (message: string) => void;
  readonly #refs = new Map<Compaction, readonly string[]>();
  #count = 0;

  /** @param onExceeded called once, with what a note should say, when a compaction is the first to be read as keeping nothing */
  constructor(onExceeded: (message: string) => void) {
    this.#onExceeded = onExceeded;
  }

  /** What a compaction keeps; nothing where those before it have kept too much. */
  of(compaction: Compaction, find: () => readonly string[]): readonly string[] {
    const known = this.#refs.get(compaction);
    if (known !== undefined) return known;
    const found = this.#count > MOST_KEPT_REFS ? [] : find();
    const isTooMany = this.#count + found.length > MOST_KEPT_REFS;
    if (isTooMany && this.#count <= MOST_KEPT_REFS) this.#onExceeded(TOO_MANY_KEPT);
    this.#count += found.length;
    const refs = isTooMany ? [] : found;
    this.#refs.set(compaction, refs);
    return refs;
  }
}

const TOO_MANY_KEPT = `The compactions of this file keep more than ${MOST_KEPT_REFS} messages in all; from here on they are read as if they kept none`;
