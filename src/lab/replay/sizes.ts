// How large things are on a recorded wire. Estimates are brought into the units of the provider by what it reported.

/** Tokens estimated between reports before the scale is believed. @source one long tool result is a tenth of it */
const LEAST_EVIDENCE = 5_000;

/** Outside of these the log lacks something, and more evidence would not help. */
const SCALE_RANGE = [0.5, 3] as const;

/** Learns what an estimated token is in reported tokens. */
export class SizeScale {
  /** Tokens of every request that are in no item. */
  readonly overhead: number;
  readonly #unreportedScale: number;
  #hasReports = false;
  #reported = 0;
  #estimated = 0;

  /** @param unreportedScale what an estimate is multiplied by while nothing was reported */
  constructor(overhead: number, unreportedScale: number) {
    this.overhead = overhead;
    this.#unreportedScale = unreportedScale;
  }

  /** The provider has reported for the first time. */
  start(): void {
    this.#hasReports = true;
  }

  /** A report grew over the one before it while items of `estimated` tokens were added. */
  learn(reported: number, estimated: number): void {
    // A context that shrank lost something that no item tells of: reasoning of earlier turns.
    if (reported <= 0 || estimated <= 0) return;
    this.#reported += reported;
    this.#estimated += estimated;
  }

  /** Reported tokens for one estimated token. */
  get scale(): number {
    if (!this.#hasReports) return this.#unreportedScale;
    return this.#estimated < LEAST_EVIDENCE ? 1 : within(this.#reported / this.#estimated);
  }

  /** The same for a context of a known size: what is off in its own items is off in what becomes of them. */
  scaleOf(used: number, estimated: number): number {
    return estimated < LEAST_EVIDENCE ? this.scale : within(Math.max(0, used - this.overhead) / estimated);
  }

  /** Reported tokens of an estimate, rounded. */
  scaled(estimated: number): number {
    return Math.round(estimated * this.scale);
  }
}

function within(scale: number): number {
  const [least, most] = SCALE_RANGE;
  return Math.min(most, Math.max(least, scale));
}
