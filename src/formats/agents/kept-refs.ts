// The messages that compactions keep, by id. In a file of n compactions that each keep everything before them, these would be
// n² ids.

/**
 * Most ids that the compactions of one file may keep in total.
 * @source measured with Node 20: these take 0.15 s; the recorded sessions keep less than 1,000, and an agent that keeps half of
 * 120 events with each compaction keeps 10,000 in 10,000 events
 */
const MOST_KEPT_REFS = 100_000;

/** The ids that each compaction of a file keeps, computed once each, up to a total limit. */
export class KeptRefs<Compaction extends object> {
  readonly #onExceeded: (message: string) => void;
  readonly #refs = new Map<Compaction, readonly string[]>();
  #count = 0;

  /** @param onExceeded called once, with the text of a note, at the first compaction that is read as keeping nothing */
  constructor(onExceeded: (message: string) => void) {
    this.#onExceeded = onExceeded;
  }

  /** The ids that a compaction keeps; none if earlier ones have kept too many. */
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

const TOO_MANY_KEPT = `The compactions of this file keep more than ${MOST_KEPT_REFS} messages in total; from here on Baton reads them as if they kept none`;
