// How full the context is, and what a compaction would leave of it.

import type { Config } from '../../config/schema.ts';
import type { AccountFold } from '../../history/account.ts';
import { initialContextRange, isUserMessage } from '../../history/filter.ts';
import type { Situation } from '../../protocol/decision.ts';
import type { Item } from '../../protocol/item.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import { tokensLeft } from '../../compaction/budget.ts';
import { percentRemaining, usableWindow } from '../../tokens/pressure.ts';

/** Measures one thread. Counts each item once. */
export class Projection {
  readonly #config: Config;
  readonly #tokens = new WeakMap<Item, number>();

  constructor(config: Config) {
    this.#config = config;
  }

  /** @param account the gauge of the items, which also estimates what a compaction would leave */
  situation(account: Pick<AccountFold, 'gauge' | 'usedWith'>, items: readonly Item[]): Situation {
    const { used, rawWindow } = account.gauge();
    const window = rawWindow === undefined ? undefined : usableWindow(rawWindow);
    return {
      used,
      window,
      percentRemaining: window === undefined ? undefined : percentRemaining(used, window),
      projected: account.usedWith(this.#left(rawWindow, items)),
    };
  }

  #left(window: number | undefined, items: readonly Item[]): number {
    const { userMessageMaxTokens } = this.#config.compact;
    const user = items.filter(isUserMessage).reduce((sum, item) => sum + this.#sizeOf(item), 0);
    const { from, to } = initialContextRange(items);
    const initial = items.slice(from, to).reduce((sum, item) => sum + this.#sizeOf(item), 0);
    return tokensLeft({ initial, user }, { window, userMessageMaxTokens });
  }

  #sizeOf(item: Item): number {
    const known = this.#tokens.get(item);
    if (known !== undefined) return known;
    const { compact } = this.#config;
    const tokens = sumTokens(itemTokens(item, (text) => approximateTokens(text, compact), compact));
    this.#tokens.set(item, tokens);
    return tokens;
  }
}
