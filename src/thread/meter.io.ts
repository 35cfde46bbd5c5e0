// Counts every request to a model: the thread's turns, its judge, its summaries. Charges report what the usage in the
// log does not contain, before the next request; and no request exceeds a limit.

import { BatonError } from '../errors.ts';
import type { CancelSignal, Model } from '../ports.ts';
import type {
  ModelEvent,
  ModelRequest,
  ModelUsage,
  RemoteCompaction,
  RestartedEvent,
} from '../protocol/model.ts';
import type { ReachedLimit } from '../session/limits.ts';
import { purposeOf } from '../session/spending.ts';
import type { Charge } from '../session/spending.ts';
import { approximateTokens, itemTokens, sumTokens } from '../tokens/estimate.ts';
import { uncertainTokens, whyTooSmall } from '../tokens/report.ts';
import { costOf, priceOf } from '../tokens/prices.ts';
import type { Summarizers } from '../compaction/summarise/summarizers.ts';
import type { ThreadWorld } from './terms.ts';

/** Where charges go. */
export interface Till {
  /** Resolves once the charge is in the log. */
  spend(charge: Charge): Promise<void>;
  /** Why no further request is allowed; undefined: it is. */
  reachedLimit(): ReachedLimit | undefined;
  /** Takes note that a reported count is not used. @param why the count, and why it cannot be true */
  ignore(why: string): void;
}

/** The purpose of a request. With `turns` the caller writes the usage of a complete answer to the log. */
export type Purpose = 'turns' | 'judgment' | 'summary';

/** A model whose requests are counted. */
export class MeteredModel implements Model {
  readonly #model: Model;
  readonly #till: () => Till;
  readonly #purpose: Purpose;
  readonly compactRemote?: NonNullable<Model['compactRemote']>;
  readonly countTokens?: NonNullable<Model['countTokens']>;

  constructor(model: Model, till: () => Till, purpose: Purpose) {
    this.#model = model;
    this.#till = till;
    this.#purpose = purpose;
    if (model.countTokens !== undefined) this.countTokens = model.countTokens.bind(model);
    if (model.compactRemote !== undefined) {
      this.compactRemote = (request, signal, onRestart) => this.#compact(request, signal, onRestart);
    }
  }

  get provider(): string {
    return this.#model.provider;
  }

  async *stream(request: ModelRequest, signal: CancelSignal): AsyncGenerator<ModelEvent> {
    this.#requireLeave();
    const attempt = new Attempt(request, this.#purpose);
    // Not awaited: the code that stopped the answer may be what the log waits for.
    const breakOff = (): void => {
      if (attempt.isOver) return;
      attempt.isOver = true;
      void this.#till().spend(attempt.brokenOff());
    };
    // At once: the provider may take its time to stop, and the thread rests meanwhile.
    signal.addEventListener('abort', breakOff);
    try {
      for await (const event of this.#model.stream(request, signal)) {
        if (event.type === 'usage' && this.#ignores(attempt, event.usage)) continue;
        attempt.accept(event);
        if (attempt.isOver) {
          yield event;
          continue;
        }
        if (event.type === 'restarted') {
          await this.#till().spend(attempt.brokenOff());
          attempt.begin();
        } else if (event.type === 'completed') {
          attempt.isOver = true;
          const charge = attempt.whole(this.#purpose === 'turns');
          if (charge !== undefined) await this.#till().spend(charge);
        }
        yield event;
        if (event.type === 'restarted') this.#requireLeave();
      }
    } finally {
      signal.removeEventListener('abort', breakOff);
      breakOff();
    }
  }

  async #compact(
    request: ModelRequest,
    signal: CancelSignal,
    onRestart?: (event: RestartedEvent) => void,
  ): Promise<RemoteCompaction> {
    this.#requireLeave();
    const attempt = new Attempt(request, this.#purpose);
    const charges: Promise<void>[] = [];
    try {
      const compaction = await this.#model.compactRemote?.(request, signal, (event) => {
        charges.push(this.#till().spend(attempt.brokenOff()));
        attempt.begin();
        onRestart?.(event);
      });
      if (compaction === undefined) throw new TypeError('The model compacts nothing');
      const { usage } = compaction;
      if (usage !== undefined && !this.#ignores(attempt, usage)) attempt.accept({ type: 'usage', usage });
      attempt.isOver = true;
      const charge = attempt.whole(false);
      if (charge !== undefined) charges.push(this.#till().spend(charge));
      return compaction;
    } finally {
      if (!attempt.isOver) charges.push(this.#till().spend(attempt.brokenOff()));
      await Promise.all(charges);
    }
  }

  #ignores(attempt: Attempt, usage: ModelUsage): boolean {
    const why = attempt.whyImpossible(usage);
    if (why !== undefined) this.#till().ignore(why);
    return why !== undefined;
  }

  #requireLeave(): void {
    const reached = this.#till().reachedLimit();
    if (reached !== undefined) throw new BatonError('limit_reached', reached.why, { cure: reached.cure });
  }
}

/** One running request and its cost. */
class Attempt {
  readonly #request: ModelRequest;
  readonly #kind: Charge['kind'];
  readonly #sent: number;
  #heard = 0;
  #usage: ModelUsage | undefined;
  /** It was answered or broken off, and is charged. */
  isOver = false;

  constructor(request: ModelRequest, purpose: Purpose) {
    this.#request = request;
    const { instructions, items, tools } = request;
    this.#kind = purpose === 'turns' ? purposeOf(items) : purpose;
    this.#sent =
      approximateTokens(instructions + JSON.stringify(tools)) +
      items.reduce((sum, item) => sum + sumTokens(itemTokens(item)), 0);
  }

  /** The request is sent again. */
  begin(): void {
    this.#heard = 0;
    this.#usage = undefined;
  }

  /** A count near zero would blind the gauge, the compaction and every limit. */
  whyImpossible({ input, output }: ModelUsage): string | undefined {
    return whyTooSmall(input + output, this.#sent + this.#heard, () => this.#uncertain);
  }

  get #uncertain(): number {
    return this.#request.items.reduce((sum, item) => sum + uncertainTokens(item, itemTokens(item)), 0);
  }

  accept(event: ModelEvent): void {
    if (event.type === 'item_done') this.#heard += sumTokens(itemTokens(event.item));
    else if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type !== 'restarted' && event.type !== 'completed')
      this.#heard += approximateTokens(event.text) / 2;
  }

  /** A failed request is billed if an answer had begun. */
  brokenOff(): Charge {
    const tokens = this.#heard === 0 ? 0 : this.#sent + Math.ceil(this.#heard);
    return {
      kind: this.#kind,
      requests: 1,
      tokens,
      dollars: this.#dollars({ input: tokens, cached: 0, output: 0 }),
    };
  }

  /** @param isRecorded the log has the reported usage @returns undefined: nothing to add */
  whole(isRecorded: boolean): Charge | undefined {
    if (this.#usage === undefined) {
      const [input, output] = [this.#sent, Math.ceil(this.#heard)];
      const dollars = this.#dollars({ input, cached: 0, output });
      return { kind: this.#kind, requests: 1, tokens: input + output, dollars };
    }
    if (isRecorded) return undefined;
    const { input, cachedInput: cached, output, total } = this.#usage;
    return {
      kind: this.#kind,
      requests: 1,
      tokens: total,
      dollars: this.#dollars({ input, cached, output }),
    };
  }

  #dollars(billed: Parameters<typeof costOf>[0]): number | undefined {
    const price = priceOf(this.#request.model);
    return price === undefined ? undefined : costOf(billed, price);
  }
}

/** Counts what models are asked; set as soon as the thread exists. */
export interface Meter {
  till: Till | undefined;
}

/** @throws RangeError before the thread is open */
export function tillOf({ till }: Meter): Till {
  if (till === undefined) throw new RangeError('A model was asked before the thread was open');
  return till;
}

/** The same world, with every summary model metered. */
export function meteredWorld(world: ThreadWorld, meter: Meter): ThreadWorld {
  const metered = (summarizers: Summarizers): Summarizers => ({
    ...summarizers,
    models: summarizers.models.map((each) => ({
      ...each,
      model: new MeteredModel(each.model, () => tillOf(meter), 'summary'),
    })),
  });
  const { summarizers, watcherSummarizers } = world;
  return {
    ...world,
    ...(summarizers === undefined ? {} : { summarizers: metered(summarizers) }),
    ...(watcherSummarizers === undefined ? {} : { watcherSummarizers: metered(watcherSummarizers) }),
  };
}
