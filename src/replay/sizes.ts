// How large things are on a recorded wire. Estimates are brought into the units of the provider by what it reported.

/** Tokens estimated between reports before the scale is believed. @source one long tool result is a tenth of it */
const LEAST_EVIDENCE = 5_000;

/** Outside of these the log lacks something, and more evidence would not help. */
const SCALE_RANGE = [0.5, 3] as const;

/** Learns what an estimated token is in reported tokens, and what requests hold besides the items of the log. */
export class SizeScale {
  readonly #unreportedScale: number;
  #reported = 0;
  #estimated = 0;
  #first: { readonly reported: number; readonly estimated: number } | undefined;
  #instructions = 0;

  /** @param unreportedScale what an estimate is multiplied by while nothing was reported */
  constructor(unreportedScale: number) {
    this.#unreportedScale = unreportedScale;
  }

  /** Instructions that are in every request but in no item, by the estimate. */
  setInstructions(tokens: number): void {
    this.#instructions = tokens;
  }

  /** The first report of the session, and the estimate of all items that it covers. */
  start(reported: number, estimated: number): void {
    this.#first ??= { reported, estimated };
  }

  /** A report grew over the one before it while items of `estimated` tokens were added. */
  learn(reported: number, estimated: number): void {
    // A context that shrank lost something that no item tells of: reasoning of earlier turns.
    if (reported <= 0 || estimated <= 0) return;
    this.#reported += reported;
    this.#estimated += estimated;
  }

  /** Reported tokens of an estimate, rounded. */
  scaled(estimated: number): number {
    return Math.round(estimated * this.scale);
  }

  /** Reported tokens for one estimated token. */
  get scale(): number {
    if (this.#first === undefined) return this.#unreportedScale;
    if (this.#estimated < LEAST_EVIDENCE) return 1;
    const [least, most] = SCALE_RANGE;
    return Math.min(most, Math.max(least, this.#reported / this.#estimated));
  }

  /** System prompt and tools: tokens of every request that are in no item. */
  get overhead(): number {
    if (this.#first === undefined) return this.scaled(this.#instructions);
    return Math.max(0, Math.round(this.#first.reported - this.#first.estimated * this.scale));
  }
}
