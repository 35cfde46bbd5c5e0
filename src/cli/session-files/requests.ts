// The requests of a session, totalled from the agent's own log.

import type { LogRecord } from '../../protocol/record.ts';
import type { UsageSample } from '../../protocol/usage.ts';
import type { Spent } from '../../session/spending.ts';
import { costOf, priceOf } from '../../tokens/prices.ts';

/** Totals the requests in the log of any agent, at list prices. Usage that a log does not report is missing. */
export class RequestsFold {
  #spent: Spent = { requests: 0, tokens: 0, dollars: 0, unpriced: 0 };
  #model: string | undefined;

  /** The total of the records so far. */
  get spent(): Spent {
    return this.#spent;
  }

  add(record: LogRecord): void {
    if (record.type === 'settings') this.#model = record.model ?? this.#model;
    else if (record.type === 'usage' && record.usage.source === 'reported') this.#add(record.usage);
  }

  #add({ covers, total, cachedInput = 0, output = 0 }: UsageSample): void {
    const price = priceOf(this.#model);
    const input = covers === 'response' ? Math.max(0, total - output) : total;
    const { requests, tokens, dollars, unpriced } = this.#spent;
    const billed = { input, cached: Math.min(cachedInput, input), output };
    this.#spent = {
      requests: requests + 1,
      tokens: tokens + input + output,
      dollars: dollars + (price === undefined ? 0 : costOf(billed, price)),
      unpriced: unpriced + (price === undefined ? 1 : 0),
    };
  }
}
