// How full the context is: the provider's last report plus an estimate of what followed. Adding an item costs O(item): the
// history is never recounted.

import { authorOf, callOf, resultCallId } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { UsageSample } from '../protocol/usage.ts';
import { withSafetyMargin } from './estimate.ts';
import { whyTooSmall } from './report.ts';
import { formatNumber } from './words.ts';

/** How a reported sample compares with the prediction just before it. */
export interface Prediction {
  readonly predicted: number;
  /** The total of the sample, without the answer if its items come only after the sample. */
  readonly reported: number;
  /** |predicted − reported| / reported. */
  readonly relativeError: number;
  /** Whether an earlier report anchored the prediction; an agent's own estimate does not count as a report. */
  readonly anchored: boolean;
}

/** The occupancy of a context, in tokens. */
export interface Usage {
  readonly used: number;
  /**
   * The basis of the value: `reported` by a provider; `estimated` in the receipt of a compaction; `none` for a bare estimate
   * with a margin.
   */
  readonly anchor: 'reported' | 'estimated' | 'none';
}

/** The gauge's state for one history. */
export interface GaugeState {
  readonly anchor: UsageSample | undefined;
  readonly since: number;
  readonly whole: number;
  readonly restored: number;
  readonly reportedWhole: number;
}

/** Least number of estimated tokens between reports for a credible scale. @source one long tool result is a tenth of it */
const LEAST_GROWTH = 5_000;

/** Outside this range the file lacks something, and more evidence would not help. @source docs/decisions/gauge.md */
const SCALE_RANGE = [0.5, 3] as const;

/** What else a sample is judged by. */
export interface SampleContext {
  /** The raw context window; undefined if unknown. */
  readonly windowTokens?: number | undefined;
  /** Estimates the part of the content that providers may count at much less. */
  readonly uncertain?: () => number;
}

/** Result of offering a sample to the gauge. */
export type SampleVerdict =
  | { readonly accepted: true; readonly prediction: Prediction | undefined }
  | { readonly accepted: false; readonly why: string };

/**
 * The incremental account of one context.
 *
 * Producers write a sample before, among or after the items it covers: Codex 0.34 before the answer it measured, later versions
 * after the results of the calls in it. So an item's own kind decides: the measured response cannot have seen the result of a
 * call made since the last sample, and agent items directly after a sample belong to the response that it measured.
 */
export class UsageGauge {
  #anchor: UsageSample | undefined;
  /** Estimate of items the anchor does not cover. */
  #since = 0;
  /** Estimate of everything since the last reset; used while there is no anchor. */
  #whole = 0;
  #callsSinceSample = new Set<string>();
  #sawAgentSinceSample = false;
  /** Agent items directly after a sample belong to it until another item comes. */
  #absorbing = false;
  /** Estimate of items added since the last sample that a response measured now cannot have seen. */
  #unseen = 0;
  /**
   * What requests contain besides the items of the file: system prompt, tool schemas. The smallest difference shown by a first
   * report, of the file or after a compaction: later differences include the error of ever more estimates. It outlives a
   * compaction, which changes only the items.
   */
  #unrecorded = Infinity;
  /** No report has measured the window that began with the file or the last compaction. */
  #isUnmeasured = true;
  #hasCompacted = false;
  /** What the first report after a compaction showed beyond everything else. */
  #restored = 0;
  /** The growth between two reports, as reported and as estimated. */
  readonly #growth = { reported: 0, estimated: 0 };
  /** The estimate of what the last report counted. */
  #reportedWhole = 0;
  readonly #marginMultiplier: number;
  #expected: number;

  /** @param expected estimated tokens of requests besides items and overhead, until a report shows them */
  constructor(marginMultiplier: number, expected = 0) {
    this.#marginMultiplier = marginMultiplier;
    this.#expected = expected;
  }

  /** Sets the estimate of what requests hold besides items and overhead. */
  expect(tokens: number): void {
    this.#expected = tokens;
  }

  /** The current state, for use with `restore`. */
  snapshot(): GaugeState {
    return {
      anchor: this.#anchor,
      since: this.#since,
      whole: this.#whole,
      restored: this.#restored,
      reportedWhole: this.#reportedWhole,
    };
  }

  /** Restores a state, with tokens added to the context since. */
  restore({ anchor, since, whole, restored, reportedWhole }: GaugeState, added: number): void {
    this.reset();
    this.#restored = restored;
    this.#reportedWhole = reportedWhole;
    this.#anchor = anchor;
    this.#since = since + added;
    this.#whole = whole + added;
  }

  /** The usage for this many tokens of items and overhead that no report has measured. */
  usedWith(tokens: number): number {
    return this.#estimate(tokens);
  }

  /** The usage after this many tokens are removed. */
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

  /** Adds tokens that are in every request but not in any item, such as base instructions. */
  addOverhead(tokens: number): void {
    this.#whole += tokens;
  }

  /** Removes tokens that an edit of the history freed, e.g. cleared results; the anchor stays usable. */
  remove(tokens: number): void {
    this.#whole = Math.max(0, this.#whole - tokens);
    this.#since -= tokens;
  }

  /** Sets the size of the present context to that in a receipt, unless it is not a size. */
  settle(total: number): void {
    if (!Number.isSafeInteger(total) || total < 0) return;
    this.#anchor = { source: 'estimated', covers: 'history', total };
    this.#since = 0;
    this.#unseen = 0;
    this.#callsSinceSample.clear();
    this.#sawAgentSinceSample = false;
    this.#absorbing = false;
  }

  /** Starts over after a compaction: earlier samples say nothing about the new context. */
  startWindow(): void {
    this.reset();
    this.#isUnmeasured = true;
    this.#hasCompacted = true;
    this.#restored = 0;
  }

  /** Starts over when reports no longer count what is in the context. */
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
   * Takes in a sample, unless it is impossible. An agent's own estimate is not an anchor: it counts the same items by the same
   * rule and lacks the constant part of every request.
   */
  sample(sample: UsageSample, { windowTokens, uncertain = () => 0 }: SampleContext = {}): SampleVerdict {
    const impossible = whyImpossible(sample, windowTokens);
    if (impossible !== undefined) return { accepted: false, why: impossible };
    if (sample.source === 'estimated') return { accepted: true, prediction: undefined };
    const unseen = sample.covers === 'response' ? this.#unseen : 0;
    const tooSmall = whyTooSmall(sample.total, this.#whole - unseen, uncertain);
    if (tooSmall !== undefined) return { accepted: false, why: tooSmall };
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

  /** The provider's tokens per estimated token, from the growth between its reports; 1 while there was too little growth. */
  get scale(): number {
    const { reported, estimated } = this.#growth;
    if (estimated < LEAST_GROWTH) return 1;
    const [least, most] = SCALE_RANGE;
    return Math.min(most, Math.max(least, reported / estimated));
  }

  /**
   * What the first report after the last compaction showed beyond the items and the constant part of requests: files read
   * again.
   */
  get restored(): number {
    return this.#restored;
  }

  /**
   * The constant part of each request besides its items, as far as reports showed it: system prompt, tool schemas. Without a
   * report, the estimate.
   */
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

  /** The part of a sample that could be predicted: an answer after its own sample was not there yet. */
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
