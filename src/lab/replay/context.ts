// The context as a policy would have left it: its items, its size on the wire, and its bill.

import { tokensLeft } from '../../compaction/budget.ts';
import type { KeptItems } from '../../compaction/micro/micro.ts';
import { isUserMessage, initialContextRange } from '../../history/filter.ts';
import { WHOLE_ITEMS } from '../../history/clear.ts';
import { NO_RESULT } from '../../history/present.ts';
import type { Entry } from '../../history/project.ts';
import { authorOf, callOf, resultCallId } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import type { EstimateSettings } from '../../tokens/estimate.ts';
import { Biller } from './bill.ts';
import type { Bill } from './bill.ts';
import type { RecordingMoment } from './play.ts';
import type { SizeScale } from './sizes.ts';

/** One request, for the line of the gauge. */
export interface GaugeSample {
  readonly request: number;
  readonly turn: number;
  readonly used: number;
  readonly window: number;
}

/** A request that exceeded every window. */
export interface Overflow {
  readonly turn: number;
  readonly request: number;
  readonly line: number | undefined;
  /** Items of the log before it. */
  readonly step: number;
}

/** A context that grows as recorded and shrinks as simulated. */
export class SimulatedContext {
  readonly #sizes: SizeScale;
  readonly #estimate: EstimateSettings;
  readonly #biller = new Biller();
  readonly #samples: GaugeSample[] = [];
  readonly #keepsItems: boolean;
  #entries: Entry<Item>[] = [];
  /** Of each entry: its item, its tokens, and the tool whose result it is. */
  #items: Item[] = [];
  #tokens: number[] = [];
  #tools: string[] = [];
  readonly #toolsByCall = new Map<string, string>();
  #nextSeq = 0;
  /** Of all items, and of the user's items. */
  #estimated = 0;
  #userTokens = 0;
  #hasAgentSpoken = false;
  /** The range of the initial context; undefined if it must be searched. */
  #knownRange: { readonly from: number; readonly to: number } | undefined = { from: 0, to: 0 };
  /** Tokens that simulated compactions removed, minus what their sequences added. */
  #freed = 0;
  #overflow: Overflow | undefined;
  #overflows = 0;

  /** @param keepsItems false if nothing is ever compacted, so that memory does not grow with the log */
  constructor(sizes: SizeScale, estimate: EstimateSettings, keepsItems: boolean) {
    this.#sizes = sizes;
    this.#estimate = estimate;
    this.#keepsItems = keepsItems;
  }

  /** The content of the context, oldest first. */
  get entries(): readonly Entry<Item>[] {
    return this.#entries;
  }

  /** The items of the entries. */
  get items(): readonly Item[] {
    return this.#items;
  }

  /** Facts about the entries: each request asks what could be cleared, and inspecting every item takes ten times as long. */
  get kept(): KeptItems {
    return {
      sizeAt: (index) => this.#tokens[index],
      toolAt: (index) => this.#tools[index],
    };
  }

  get samples(): readonly GaugeSample[] {
    return this.#samples;
  }

  get bill(): Bill {
    return this.#biller.bill();
  }

  /** The first request that did not fit the window, and the number of such requests. */
  get overflow(): { readonly first: Overflow | undefined; readonly requests: number } {
    return { first: this.#overflow, requests: this.#overflows };
  }

  /** Occupancy in tokens. */
  used({ uncompacted }: RecordingMoment): number {
    return Math.max(0, uncompacted - this.#freed);
  }

  /** Adds an item of the recording; the recorded gauge includes its size. */
  add(item: Item): void {
    if (this.#keepsItems) this.#push(this.#entry(item, false));
  }

  /** Tokens of the items that a full compaction would leave, by estimate. @param userMessageMaxTokens as configured */
  left(window: number, userMessageMaxTokens: number): number {
    const { from, to } = (this.#knownRange ??= initialContextRange(this.#items));
    const initial = this.#sum(this.#items.slice(from, to));
    return tokensLeft({ initial, user: this.#userTokens }, { window, userMessageMaxTokens });
  }

  /** Adds an item that was never recorded. */
  inject(item: Item): number {
    const tokens = this.#sizes.scaled(this.estimateOf(item));
    this.#push(this.#entry(item, true));
    this.#freed -= tokens;
    return tokens;
  }

  /** Sends the present context to the model. */
  request(moment: RecordingMoment): void {
    const used = this.used(moment);
    const { request, turn, window, line, step, atMs, model } = moment;
    if (used > window) {
      this.#overflow ??= { turn, request, line, step };
      this.#overflows++;
    }
    this.#samples.push({ request, turn, used, window });
    this.#biller.request({ atMs, model, inputTokens: used });
  }

  /** A request of a compaction or its sequence: billed, but not a sample of the recording's gauge. */
  requestBeside(moment: RecordingMoment, extraTokens: number, hasOwnPrefix: boolean): void {
    const { atMs, model } = moment;
    this.#biller.request({ atMs, model, inputTokens: this.used(moment) + extraTokens, hasOwnPrefix });
  }

  answer(outputTokens: number): void {
    this.#biller.answer(outputTokens);
  }

  /**
   * Replaces the context. Unchanged items at its start stay in the provider's cache.
   * @returns tokens before and after
   */
  replace(
    moment: RecordingMoment,
    items: readonly Item[],
  ): { readonly preTokens: number; readonly postTokens: number } {
    const preTokens = this.used(moment);
    const scale = this.#sizes.scaleOf(preTokens, this.#estimated);
    const unchanged = this.#unchangedPrefix(items) * scale;
    const after = this.#sizes.overhead + Math.round(this.#sum(items) * scale);
    const postTokens = Math.min(preTokens, after);
    this.#entries = [];
    this.#items = [];
    this.#tokens = [];
    this.#tools = [];
    this.#toolsByCall.clear();
    this.#userTokens = 0;
    this.#estimated = 0;
    for (const item of items) this.#push(this.#entry(item, true));
    this.#knownRange = initialContextRange(items);
    this.#freed += preTokens - postTokens;
    this.#biller.invalidate(this.#sizes.overhead + unchanged);
    return { preTokens, postTokens };
  }

  /** Clears results in place. */
  clear(
    moment: RecordingMoment,
    callIds: ReadonlySet<string>,
  ): { readonly preTokens: number; readonly postTokens: number } {
    const preTokens = this.used(moment);
    let before = 0;
    let saved = 0;
    let firstCleared: number | undefined;
    this.#entries = this.#entries.map((entry, index) => {
      const estimated = this.#tokens[index] ?? 0;
      const callId = WHOLE_ITEMS.resultCallId(entry.value);
      if (callId === undefined || !callIds.has(callId)) {
        before += estimated;
        return entry;
      }
      firstCleared ??= before;
      const cleared = WHOLE_ITEMS.clear(entry.value);
      const left = this.estimateOf(cleared);
      saved += estimated - left;
      this.#tokens[index] = left;
      this.#items[index] = cleared;
      return { ...entry, value: cleared };
    });
    const scale = this.#sizes.scaleOf(preTokens, this.#estimated);
    const freed = Math.min(preTokens, Math.round(saved * scale));
    this.#freed += freed;
    this.#estimated -= saved;
    if (firstCleared !== undefined) {
      this.#biller.invalidate(this.#sizes.overhead + Math.round(firstCleared * scale));
    }
    return { preTokens, postTokens: preTokens - freed };
  }

  /** What clearing results of `estimated` tokens would save. */
  saving(moment: RecordingMoment, estimated: number): number {
    return Math.round(estimated * this.#sizes.scaleOf(this.used(moment), this.#estimated));
  }

  /** The estimated tokens of an item. */
  estimateOf(item: Item): number {
    const settings = this.#estimate;
    return sumTokens(itemTokens(item, (text) => approximateTokens(text, settings), settings));
  }

  #push(entry: Entry<Item>): void {
    this.#entries.push(entry);
    const estimated = this.estimateOf(entry.value);
    this.#items.push(entry.value);
    this.#tokens.push(estimated);
    this.#tools.push(this.#toolOf(entry.value));
    this.#estimated += estimated;
    if (isUserMessage(entry.value)) this.#userTokens += estimated;
    if (authorOf(entry.value) === 'agent') this.#hasAgentSpoken = true;
    // It precedes the agent's first message; inspecting every item again would take quadratic time.
    if (!this.#hasAgentSpoken) {
      this.#knownRange = undefined;
    }
  }

  #toolOf(item: Item): string {
    const call = callOf(item);
    if (call?.callId !== undefined) this.#toolsByCall.set(call.callId, call.name);
    const callId = resultCallId(item);
    return callId === undefined ? NO_RESULT : (this.#toolsByCall.get(callId) ?? NO_RESULT);
  }

  #sum(items: readonly Item[]): number {
    return items.reduce((sum, item) => sum + this.estimateOf(item), 0);
  }

  #unchangedPrefix(items: readonly Item[]): number {
    let same = 0;
    while (same < items.length && items[same] === this.#items[same]) same++;
    return this.#sum(items.slice(0, same));
  }

  #entry(value: Item, isReplacement: boolean): Entry<Item> {
    return { seq: this.#nextSeq++, value, isReplacement };
  }
}
