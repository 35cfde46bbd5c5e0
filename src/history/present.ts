// The current content of the context, by size: updated item by item, so that a look at it costs the same at any length.

import type { TokensByCategory } from '../protocol/receipt.ts';
import type { Category } from '../vocabulary.ts';
import { addTokens, sumTokens } from '../tokens/estimate.ts';
import type { ToolShare } from './context-account.ts';
import { PairFinder } from './pairs.ts';
import type { BrokenPairs } from './pairs.ts';

/** In place of a tool name, for items that are not results. */
export const NO_RESULT = '';

/** An item without its content. */
export interface Light {
  readonly split: TokensByCategory;
  readonly estimate: number;
  /** The part of the estimate that `uncertainTokens` names. */
  readonly uncertain: number;
  readonly callId: string | undefined;
  readonly resultOf: string | undefined;
  /** The tool that gave a result, undefined if its call is unknown; `NO_RESULT` for other items. */
  readonly tool: string | undefined;
  /** The same, cleared. Only results have one. */
  readonly cleared?: Light;
}

/** Sizes, tools and pairs of the items in the context. */
export class PresentItems {
  #categories: Partial<Record<Category, number>> = {};
  #tools = new Map<string, { results: number; tokens: number }>();
  #pairs: PairFinder | undefined = new PairFinder();
  #lights: Light[] = [];
  #estimate = 0;
  #uncertain = 0;
  /** One entry per item, in flat arrays, so that a pass over all of them stays in the cache. */
  #sizes: number[] = [];
  #toolsOfResults: (string | undefined)[] = [];
  /** The current items, if they have not been added up yet. */
  #pending: (() => Iterable<Light>) | undefined;

  /** Takes in the next item, which a pending `replace` includes as well. */
  add(light: Light): void {
    if (this.#pending === undefined) this.#add(light);
  }

  #add(light: Light): void {
    this.#lights.push(light);
    this.#estimate += light.estimate;
    this.#uncertain += light.uncertain;
    this.#pairs?.add(light);
    addTokens(this.#categories, light.split);
    const size = sumTokens(light.split);
    this.#sizes.push(size);
    this.#toolsOfResults.push(light.tool);
    if (light.resultOf === undefined) return;
    const tool = light.tool ?? 'unknown';
    const share = this.#tools.get(tool) ?? { results: 0, tokens: 0 };
    this.#tools.set(tool, share);
    share.results++;
    share.tokens += light.split.tool_results ?? 0;
  }

  /**
   * Starts over, after a change of more than the end of the history.
   * @param lights returns all items at the time of the call: many changes may come before it
   */
  replace(lights: () => Iterable<Light>): void {
    this.#pending = lights;
  }

  /**
   * Removes the last items until this many are left. Pairs are found again on demand, because a log may undo one turn after
   * another.
   */
  cutTo(length: number): void {
    this.#settle();
    if (this.#lights.length > length) this.#pairs = undefined;
    while (this.#lights.length > length) {
      const light = this.#lights.pop();
      this.#sizes.pop();
      this.#toolsOfResults.pop();
      if (light === undefined) return;
      this.#estimate -= light.estimate;
      this.#uncertain -= light.uncertain;
      this.#takeFromCategories(light.split);
      if (light.resultOf === undefined) continue;
      this.#takeFromTool(light.tool ?? 'unknown', light.split.tool_results ?? 0);
    }
  }

  #takeFromCategories(split: TokensByCategory): void {
    for (const key in split) {
      const category = key as Category;
      const left = (this.#categories[category] ?? 0) - (split[category] ?? 0);
      if (left === 0) delete this.#categories[category];
      else this.#categories[category] = left;
    }
  }

  #takeFromTool(tool: string, tokens: number): void {
    const share = this.#tools.get(tool);
    if (share === undefined) return;
    share.results--;
    share.tokens -= tokens;
    if (share.results === 0) this.#tools.delete(tool);
  }

  #settle(): void {
    const lights = this.#pending;
    if (lights === undefined) return;
    this.#pending = undefined;
    this.#categories = {};
    this.#tools = new Map();
    this.#pairs = new PairFinder();
    this.#lights = [];
    this.#estimate = 0;
    this.#uncertain = 0;
    this.#sizes = [];
    this.#toolsOfResults = [];
    for (const light of lights()) this.#add(light);
  }

  /** Sum of the uncertain parts of the estimates. */
  get uncertain(): number {
    this.#settle();
    return this.#uncertain;
  }

  /** Sum of the estimates. */
  get estimate(): number {
    this.#settle();
    return this.#estimate;
  }

  /** Tokens of the item at a position. */
  sizeAt(index: number): number | undefined {
    this.#settle();
    return this.#sizes[index];
  }

  /** The tool of the result at a position, as in `Light`. */
  toolAt(index: number): string | undefined {
    this.#settle();
    return this.#toolsOfResults[index];
  }

  get categories(): TokensByCategory {
    this.#settle();
    return { ...this.#categories };
  }

  /** Tokens of results by tool, without their images, largest first. */
  get tools(): ToolShare[] {
    this.#settle();
    return [...this.#tools]
      .map(([tool, share]) => ({ tool, ...share }))
      .toSorted((a, b) => b.tokens - a.tokens || (a.tool < b.tool ? -1 : 1));
  }

  get brokenPairs(): BrokenPairs {
    this.#settle();
    if (this.#pairs === undefined) {
      this.#pairs = new PairFinder();
      for (const light of this.#lights) this.#pairs.add(light);
    }
    return this.#pairs.broken();
  }
}
