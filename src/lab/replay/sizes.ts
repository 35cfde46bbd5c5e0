// Sizes on a recorded wire. The provider's reports calibrate the estimates.

/** Tokens that must be estimated between reports before the scale is trusted. @source one long tool result is a tenth of it */
const LEAST_EVIDENCE = 5_000;

/** Outside this range the log lacks something, and more evidence would not help. */
const SCALE_RANGE = [0.5, 3] as const;

/** Learns how many reported tokens one estimated token is worth. */
export class SizeScale {
  /** Tokens of every request that no item holds. */
  readonly overhead: number;
  readonly #unreportedScale: number;
  #hasReports = false;
  #reported = 0;
  #estimated = 0;

  /** @param unreportedScale the factor on estimates before the first report */
  constructor(overhead: number, unreportedScale: number) {
    this.overhead = overhead;
    this.#unreportedScale = unreportedScale;
  }

  /** Starts at the provider's first report. */
  start(): void {
    this.#hasReports = true;
  }

  /** Learns from a report that grew over the previous one while items of `estimated` tokens were added. */
  learn(reported: number, estimated: number): void {
    // A shrunken context lost something that no item shows: reasoning of earlier turns.
    if (reported <= 0 || estimated <= 0) return;
    this.#reported += reported;
    this.#estimated += estimated;
  }

  /** Reported tokens per estimated token. */
  get scale(): number {
    if (!this.#hasReports) return this.#unreportedScale;
    return this.#estimated < LEAST_EVIDENCE ? 1 : within(this.#reported / this.#estimated);
  }

  /** The scale for a context of known size: an error in its items carries over to what replaces them. */
  scaleOf(used: number, estimated: number): number {
    return estimated < LEAST_EVIDENCE ? this.scale : within(Math.max(0, used - this.overhead) / estimated);
  }

  /** An estimate in reported tokens, rounded. */
  scaled(estimated: number): number {
    return Math.round(estimated * this.scale);
  }
}

function within(scale: number): number {
  const [least, most] = SCALE_RANGE;
  return Math.min(most, Math.max(least, scale));
}
