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
  /** `reported`: in what a provider reported; `estimated`: in the receipt of a compaction; `none`: a bare estimate with margin. */
  readonly anchor: 'reported' | 'estimated' | 'none';
}

/** What a gauge knows of one history. */
export interface GaugeState {
  readonly anchor: UsageSample | undefined;
  readonly since: number;
  readonly whole: number;
  readonly restored: number;
  readonly reportedWhole: number;
}

/** Tokens estimated between reports before their scale is believed. @source one long tool result is a tenth of it */
const LEAST_GROWTH = 5_000;

/** Outside of these the file lacks something, and more evidence would not help. @source docs/decisions/gauge.md */
const SCALE_RANGE = [0.5, 3] as const;

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
   * What requests hold besides the items of the file: system prompt, tool schemas. The smallest difference that a first
   * report showed, of the file or after a compaction: later ones hold the error of more and more estimates. It outlives a
   * compaction, which changes the items alone.
   */
  #unrecorded = Infinity;
  /** No report has measured the window that began with the file or the last compaction. */
  #isUnmeasured = true;
  #hasCompacted = false;
  /** What the first report after a compaction showed beyond all else. */
  #restored = 0;
  /** What came between two reports, as reported and as estimated. */
  readonly #growth = { reported: 0, estimated: 0 };
  /** The estimate of what the last report counted. */
  #reportedWhole = 0;
  readonly #marginMultiplier: number;
  readonly #expected: number;

  /** @param expected the estimate of what requests hold besides items and overhead, until a report shows it */
  constructor(marginMultiplier: number, expected = 0) {
    this.#marginMultiplier = marginMultiplier;
    this.#expected = expected;
  }

  /** The state as it is, to be put back with `restore`. */
  snapshot(): GaugeState {
    return {
      anchor: this.#anchor,
      since: this.#since,
      whole: this.#whole,
      restored: this.#restored,
      reportedWhole: this.#reportedWhole,
    };
  }

  /** Puts a state back, with tokens that came into the context since. */
  restore({ anchor, since, whole, restored, reportedWhole }: GaugeState, added: number): void {
    this.reset();
    this.#restored = restored;
    this.#reportedWhole = reportedWhole;
    this.#anchor = anchor;
    this.#since = since + added;
    this.#whole = whole + added;
  }

  /** What it would say of so many tokens of items and overhead that no report has measured. */
  usedWith(tokens: number): number {
    return this.#estimate(tokens);
  }

  /** What it would say once so many tokens are removed. */
  usedWithout(tokens: number): number {
    if (this.#anchor === undefined) return this.#estimate(Math.max(0, this.#whole - tokens));
    return Math.max(0, this.#anchor.total + this.#since - tokens);
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

  /** Takes the size that a receipt states for what is in the context now, unless it is not a size. */
  settle(total: number): void {
    if (!Number.isSafeInteger(total) || total < 0) return;
    this.#anchor = { source: 'estimated', covers: 'history', total };
    this.#since = 0;
    this.#unseen = 0;
    this.#callsSinceSample.clear();
    this.#sawAgentSinceSample = false;
    this.#absorbing = false;
  }

  /** Starts over after a compaction: samples measured before it say nothing about the context after it. */
  startWindow(): void {
    this.reset();
    this.#isUnmeasured = true;
    this.#hasCompacted = true;
    this.#restored = 0;
  }

  /** Starts over where reports no longer count what is there. */
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
   * Takes a sample in, unless it cannot be true. An agent's own estimate anchors nothing: it counts the same items by the
   * same rule and lacks what is in every request besides.
   * @param windowTokens the raw context window, or undefined where it is unknown
   */
  sample(sample: UsageSample, windowTokens: number | undefined): SampleVerdict {
    const impossible = whyImpossible(sample, windowTokens);
    if (impossible !== undefined) return { accepted: false, why: impossible };
    if (sample.source === 'estimated') return { accepted: true, prediction: undefined };
    const unseen = sample.covers === 'response' ? this.#unseen : 0;
    const prediction = this.#predict(this.#seenShare(sample), unseen);
    this.#learnGrowth(sample.total, this.#whole - unseen);
    if (this.#isUnmeasured) this.#measureWindow(sample.total, this.#whole - unseen);
    this.#anchor = sample;
    this.#since = unseen;
    this.#unseen = 0;
    this.#absorbing = sample.covers === 'response' && !this.#sawAgentSinceSample;
    this.#sawAgentSinceSample = false;
    this.#callsSinceSample.clear();
    return { accepted: true, prediction };
  }

  #learnGrowth(total: number, estimated: number): void {
    if (this.#anchor?.source === 'reported') {
      this.#growth.reported += total - this.#anchor.total;
      this.#growth.estimated += estimated - this.#reportedWhole;
    }
    this.#reportedWhole = estimated;
  }

  #measureWindow(total: number, estimated: number): void {
    this.#isUnmeasured = false;
    this.#unrecorded = Math.min(this.#unrecorded, Math.max(0, total - estimated));
    if (!this.#hasCompacted) return;
    this.#restored = Math.max(0, total - this.#unrecorded - Math.round(estimated * this.scale));
  }

  /** What the provider counts for each estimated token, by what came between its reports; 1 while too little came. */
  get scale(): number {
    const { reported, estimated } = this.#growth;
    if (estimated < LEAST_GROWTH) return 1;
    const [least, most] = SCALE_RANGE;
    return Math.min(most, Math.max(least, reported / estimated));
  }

  /** What the first report after the last compaction showed beyond the items and what is in every request: files read again. */
  get restored(): number {
    return this.#restored;
  }

  /** What each request holds besides its items, as far as reports showed it: system prompt, tool schemas. Without a report the estimate. */
  get fixed(): number {
    return Number.isFinite(this.#unrecorded) ? this.#unrecorded : this.#expected;
  }

  /** Occupancy now. */
  usage(): Usage {
    return { used: this.usedWithout(0), anchor: this.#anchor?.source ?? 'none' };
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
    const predicted = this.usedWithout(unseen);
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
