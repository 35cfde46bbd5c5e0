// The cost of requests to models, according to the log: a resumed thread continues the count.

import type { SessionEvent } from '../protocol/wire/event.ts';
import type { Item, JsonObject } from '../protocol/item.ts';
import type { LogRecord, NoteRecord } from '../protocol/record.ts';
import { costOf, priceOf } from '../tokens/prices.ts';
import { SPENDING_KINDS } from '../vocabulary.ts';
import type { SpendingKind } from '../vocabulary.ts';

/** The cost of some requests. */
export interface Spent {
  /** Including retries, judgments and summaries. */
  readonly requests: number;
  /** Sent and answered. */
  readonly tokens: number;
  /** US dollars for the requests whose price is known. */
  readonly dollars: number;
  /** Requests whose price is unknown. */
  readonly unpriced: number;
}

/** The spending that counts against limits. */
export interface Spending {
  /** Since the user's newest message, including the watcher's requests. */
  readonly turn: Spent;
  /** Since the thread began. Undone work was also paid for. */
  readonly session: Spent;
}

/** The spending, by purpose. */
export interface SpendingByKind extends Spending {
  /** Of the session; omits a kind without requests. */
  readonly byKind: Readonly<Partial<Record<SpendingKind, Spent>>>;
  /** The last charge; undefined before the first. */
  readonly last: Charge | undefined;
}

const NOTHING: Spent = { requests: 0, tokens: 0, dollars: 0, unpriced: 0 };

/** A thread without requests to models. */
export const NO_SPENDING: SpendingByKind = { turn: NOTHING, session: NOTHING, byKind: {}, last: undefined };

/** A charge for requests to a model; undefined dollars: the price is unknown. */
export interface Charge {
  readonly kind: SpendingKind;
  readonly requests: number;
  readonly tokens: number;
  readonly dollars: number | undefined;
}

/** The kind of the notes that hold charges. */
export const SPENT_NOTE = 'spent';

/** A charge as the log stores it. */
export function spentNote({ kind, requests, tokens, dollars }: Charge): NoteRecord {
  return { type: 'note', kind: SPENT_NOTE, value: { kind, requests, tokens, dollars: dollars ?? null } };
}

/** The purpose of the answer to a history: the work, or the watcher's last request. */
export function purposeOf(items: readonly Item[]): 'agent' | 'packet' {
  const step = items.findLast(isUserMessage)?.origin?.step;
  return step === undefined || step === 'handoff' ? 'agent' : 'packet';
}

function isUserMessage(item: Item): boolean {
  return item.type === 'message' && item.role === 'user';
}

/** The spending, for clients; undefined before the first charge. */
export function spendingEvent({
  turn,
  session,
  byKind,
  last,
}: SpendingByKind): Extract<SessionEvent, { type: 'spending' }> | undefined {
  if (last === undefined) return undefined;
  return {
    type: 'spending',
    ...last,
    dollars: last.dollars ?? null,
    by_kind: kindsOf({ byKind }),
    turn: wireSpent(turn),
    session: wireSpent(session),
  };
}

/** The spending by kind, on the wire. */
export function kindsOf({ byKind }: Pick<SpendingByKind, 'byKind'>) {
  return SPENDING_KINDS.flatMap((kind) => {
    const spent = byKind[kind];
    return spent === undefined ? [] : [{ kind, ...wireSpent(spent) }];
  });
}

/** The cost of some requests, on the wire. */
export function wireSpent({ requests, tokens, dollars, unpriced }: Spent) {
  return { requests, tokens: Math.round(tokens), dollars, unpriced_requests: unpriced };
}

/** Folds a log into the cost of its requests. */
export class SpendingFold {
  #spending = NO_SPENDING;
  #model: string | undefined;
  #asked: 'agent' | 'packet' = 'agent';

  /** The spending of the records so far; the same object while nothing changes. */
  get spending(): SpendingByKind {
    return this.#spending;
  }

  add(record: LogRecord): void {
    switch (record.type) {
      case 'settings':
        this.#model = record.model ?? this.#model;
        return;
      case 'item':
        if (isUserMessage(record.item)) this.#asked = purposeOf([record.item]);
        return;
      case 'compacted':
        this.#asked = purposeOf(record.replacement);
        return;
      case 'turn_started':
        if (record.origin?.type === 'user' && record.kind === 'regular') {
          this.#spending = { ...this.#spending, turn: NOTHING };
        }
        return;
      case 'usage':
        if (record.usage.source !== 'reported' || record.usage.covers !== 'response') return;
        this.#add({
          kind: this.#asked,
          requests: 1,
          tokens: record.usage.total,
          dollars: this.#dollarsOf(record.usage),
        });
        return;
      case 'note':
        if (record.kind === SPENT_NOTE) this.#add(chargeIn(record.value));
    }
  }

  #dollarsOf({ total, output = 0, cachedInput = 0 }: Extract<LogRecord, { type: 'usage' }>['usage']) {
    const price = priceOf(this.#model);
    const input = Math.max(0, total - output);
    return price === undefined
      ? undefined
      : costOf({ input, cached: Math.min(cachedInput, input), output }, price);
  }

  #add(charge: Charge): void {
    const { turn, session, byKind } = this.#spending;
    this.#spending = {
      turn: plus(turn, charge),
      session: plus(session, charge),
      byKind: { ...byKind, [charge.kind]: plus(byKind[charge.kind] ?? NOTHING, charge) },
      last: charge,
    };
  }
}

function plus(spent: Spent, { requests, tokens, dollars }: Charge): Spent {
  return {
    requests: spent.requests + requests,
    tokens: spent.tokens + tokens,
    dollars: spent.dollars + (dollars ?? 0),
    unpriced: spent.unpriced + (dollars === undefined ? requests : 0),
  };
}

/** No content of a file can reduce the spending. */
function chargeIn(value: JsonObject): Charge {
  const amount = (key: string): number => {
    const found = value[key];
    return typeof found === 'number' && Number.isFinite(found) && found > 0 ? found : 0;
  };
  const dollars = value['dollars'] === null ? undefined : amount('dollars');
  const kind = SPENDING_KINDS.find((each) => each === value['kind']) ?? 'other';
  return { kind, requests: amount('requests'), tokens: amount('tokens'), dollars };
}
