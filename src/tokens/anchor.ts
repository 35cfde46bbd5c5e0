// How full the context is, from what the provider last said plus an estimate of what came after. Adding an item costs
// O(item): the history is never recounted.

import { authorOf, callOf, resultCallId } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { UsageSample } from '../protocol/usage.ts';
import { withSafetyMargin } from './estimate.ts';
import { formatNumber } from './words.ts';

/** How one reported sample compares to what was predicted just before it. */
export interface Prediction {
  readonly predicted: number;
  /** The total of the sample, without the answer where its items come only after the sample. */
  readonly reported: number;
  /** |predicted − reported| / reported. */
  readonly relativeError: number;
  /** Whether an earlier report anchored the prediction; an agent's own estimate is no report. */
  readonly anchored: boolean;
}

/** The occupancy of a context, in tokens. */
export interface Usage {
  readonly used: number;
  /** `reported` and `estimated` are anchored in a sample of that source; `none` is a bare estimate with margin. */
  readonly anchor: 'reported' | 'estimated' | 'none';
}

/** What a gauge knows of one history. */
export interface GaugeState {
  readonly anchor: UsageSample | undefined;
  readonly since: number;
  readonly whole: number;
}

/** Result of offering a sample to the gauge. */
export type SampleVerdict =
  | { readonly accepted: true; readonly prediction: Prediction | undefined }
  | { readonly accepted: false; readonly why: string };

/**
 * The incremental account of one context.
 *
 * Producers write a sample before, among or after the items it covers: Codex 0.34 before the answer it measured, later
 * ones after the results of the calls in it. So an item's own kind decides: a result of a call that was made since the
 * last sample cannot have been seen by the response being measured, and agent items that follow a sample with nothing
 * in between belong to the response it measured.
 */
export class UsageGauge {
  #anchor: UsageSample | undefined;
  /** Estimate of items the anchor does not cover. */
  #since = 0;
  /** Estimate of everything since the last reset; used while there is no anchor. */
  #whole = 0;
  #callsSinceSample = new Set<string>();
  #sawAgentSinceSample = false;
  /** Agent items right after a sample belong to it until something else comes. */
  #absorbing = false;
  /** Estimate of items added since the last sample that a response measured now cannot have seen. */
  #unseen = 0;
  /**
   * What requests hold besides the items of the file: system prompt, tool schemas. The smallest difference seen between
   * a reported total and the estimate of its items, since the error of the estimate only adds to it. It outlives a
   * compaction, which changes the items alone.
   */
  #unrecorded = Infinity;
  readonly #marginMultiplier: number;
  readonly #expected: number;

  /** @param expected the estimate of what requests hold besides items and overhead, until a report shows it */
  constructor(marginMultiplier: number, expected = 0) {
    this.#marginMultiplier = marginMultiplier;
    this.#expected = expected;
  }

  /** The state as it is, to be put back with `restore`. */
  snapshot(): GaugeState {
    return { anchor: this.#anchor, since: this.#since, whole: this.#whole };
  }

  /** Puts a state back, with tokens that came into the context since. */
  restore({ anchor, since, whole }: GaugeState, added: number): void {
    this.reset();
    this.#anchor = anchor;
    this.#since = since + added;
    this.#whole = whole + added;
  }

  /** What it would say of so many tokens of items and overhead that no report has measured. */
  usedWith(tokens: number): number {
    return this.#estimate(tokens);
  }

  /** Adds one item of `tokens` estimated tokens to the context. */
  add(item: Item, tokens: number): void {
    this.#whole += tokens;
    const isAgent = authorOf(item) === 'agent';
    if (isAgent && this.#absorbing) {
      const call = callOf(item);
      if (call?.callId !== undefined) this.#callsSinceSample.add(call.callId);
      return;
    }
    this.#absorbing = false;
    this.#since += tokens;
    if (isAgent) {
      const call = callOf(item);
      if (call?.callId !== undefined) this.#callsSinceSample.add(call.callId);
      this.#sawAgentSinceSample = true;
      return;
    }
    const answered = resultCallId(item);
    const isOwnResult = answered !== undefined && this.#callsSinceSample.has(answered);
    if (isOwnResult ? this.#sawAgentSinceSample : answered === undefined && this.#sawAgentSinceSample) {
      this.#unseen += tokens;
    }
  }

  /** Adds tokens that are in every request but in no item, such as base instructions. */
  addOverhead(tokens: number): void {
    this.#whole += tokens;
  }

  /** Removes tokens that an edit of the history took out, e.g. cleared results; the anchor stays usable. */
  remove(tokens: number): void {
    this.#whole = Math.max(0, this.#whole - tokens);
    this.#since -= tokens;
  }

  /** Starts over after a compaction: samples measured before it say nothing about the context after it. */
  reset(): void {
    this.#anchor = undefined;
    this.#since = 0;
    this.#whole = 0;
    this.#unseen = 0;
    this.#callsSinceSample.clear();
    this.#sawAgentSinceSample = false;
    this.#absorbing = false;
  }

  /**
   * Takes a sample in, unless it cannot be true.
   * @param windowTokens the raw context window, or undefined where it is unknown
   */
  sample(sample: UsageSample, windowTokens: number | undefined): SampleVerdict {
    const impossible = whyImpossible(sample, windowTokens);
    if (impossible !== undefined) return { accepted: false, why: impossible };
    const unseen = sample.covers === 'response' ? this.#unseen : 0;
    const prediction =
      sample.source === 'reported' ? this.#predict(this.#seenShare(sample), unseen) : undefined;
    if (sample.source === 'reported') {
      this.#unrecorded = Math.min(this.#unrecorded, Math.max(0, sample.total - (this.#whole - unseen)));
    }
    this.#anchor = sample;
    this.#since = unseen;
    this.#unseen = 0;
    this.#absorbing = sample.covers === 'response' && !this.#sawAgentSinceSample;
    this.#sawAgentSinceSample = false;
    this.#callsSinceSample.clear();
    return { accepted: true, prediction };
  }

  /** What each request holds besides its items, as far as reports showed it: system prompt, tool schemas. Without a report the estimate. */
  get fixed(): number {
    return Number.isFinite(this.#unrecorded) ? this.#unrecorded : this.#expected;
  }

  /** Occupancy now. */
  usage(): Usage {
    if (this.#anchor === undefined) {
      return { used: this.#estimate(this.#whole), anchor: 'none' };
    }
    return { used: Math.max(0, this.#anchor.total + this.#since), anchor: this.#anchor.source };
  }

  #estimate(tokens: number): number {
    return withSafetyMargin(tokens, this.#marginMultiplier) + this.fixed;
  }

  /** The part of a sample that could be predicted: an answer that follows its own sample was not there yet. */
  #seenShare({ covers, total, output = 0 }: UsageSample): number {
    return covers === 'response' && !this.#sawAgentSinceSample ? Math.max(0, total - output) : total;
  }

  #predict(reported: number, unseen: number): Prediction {
    const anchored = this.#anchor?.source === 'reported';
    const predicted =
      this.#anchor !== undefined
        ? Math.max(0, (this.#anchor?.total ?? 0) + this.#since - unseen)
        : this.#estimate(this.#whole - unseen);
    const relativeError = reported === 0 ? 0 : Math.abs(predicted - reported) / reported;
    return { predicted, reported, relativeError, anchored };
  }
}

function whyImpossible(sample: UsageSample, windowTokens: number | undefined): string | undefined {
  if (!Number.isSafeInteger(sample.total) || sample.total < 0)
    return `a usage of ${formatNumber(sample.total)} tokens`;
  if (sample.total === 0) return 'a usage of 0 tokens';
  if (windowTokens !== undefined && sample.total > windowTokens) {
    return `a usage of ${formatNumber(sample.total)} tokens in a window of ${formatNumber(windowTokens)}`;
  }
  return undefined;
}
