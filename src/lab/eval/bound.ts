// The upper bound: the lines of the past that one would keep if one knew the future.

import type { LineTable } from './log.ts';
import { Credit } from './uses.ts';
import type { FutureUse } from './uses.ts';

interface Offer {
  readonly line: string;
  readonly tokens: number;
  /** Weight per token when it was last looked at; it only falls as others are taken. */
  readonly worth: number;
}

/**
 * Lines of the past, most future use per token first, until every use is covered or the budget is spent. Greedy, so a
 * better choice may exist; the first lines are the choice for any smaller budget.
 */
export function bestLines(
  past: ReadonlySet<string>,
  uses: readonly FutureUse[],
  table: LineTable,
  budget: number,
): readonly string[] {
  const credit = new Credit(uses);
  const offers = new OfferHeap();
  for (const line of past) offers.push(offerOf(line, credit, table));
  const chosen: string[] = [];
  let spent = 0;
  for (let best = offers.pop(); best !== undefined; best = offers.pop()) {
    if (best.worth <= 0) continue;
    const now = offerOf(best.line, credit, table);
    if (now.worth < best.worth) {
      offers.push(now);
      continue;
    }
    if (spent + now.tokens > budget) break;
    credit.add(table.identifiersOf(now.line));
    chosen.push(now.line);
    spent += now.tokens;
  }
  return chosen;
}

function offerOf(line: string, credit: Credit, table: LineTable): Offer {
  let weight = 0;
  for (const use of credit.newOn(table.identifiersOf(line))) weight += use.weight;
  const tokens = table.tokensOfLine(line);
  return { line, tokens, worth: weight / Math.max(1, tokens) };
}

/** A binary heap, most valuable on top; the order of equal offers depends only on the pushed offers. */
class OfferHeap {
  readonly #offers: Offer[] = [];

  push(offer: Offer): void {
    if (offer.worth <= 0) return;
    const offers = this.#offers;
    let at = offers.length;
    offers.push(offer);
    while (at > 0) {
      const above = (at - 1) >> 1;
      const parent = offers[above];
      if (parent === undefined || parent.worth >= offer.worth) break;
      offers[at] = parent;
      at = above;
    }
    offers[at] = offer;
  }

  pop(): Offer | undefined {
    const offers = this.#offers;
    const [top] = offers;
    const last = offers.pop();
    if (last === undefined || offers.length === 0) return top;
    let at = 0;
    for (;;) {
      const child = this.#dearerChild(at);
      const below = offers[child];
      if (below === undefined || below.worth <= last.worth) break;
      offers[at] = below;
      at = child;
    }
    offers[at] = last;
    return top;
  }

  #dearerChild(at: number): number {
    const left = 2 * at + 1;
    const right = left + 1;
    return (this.#offers[right]?.worth ?? -1) > (this.#offers[left]?.worth ?? -1) ? right : left;
  }
}
