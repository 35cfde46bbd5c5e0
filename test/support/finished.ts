// Work that rests now and then, carried out at once.

/** The result of a generator that yields nothing. */
export function finished<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}
