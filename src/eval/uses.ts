// What was really used after a cut, and how much of it a context still contains.

import type { LineTable, SessionLog } from './log.ts';

/** An identifier of the past that agent or user wrote again after the cut. */
export interface FutureUse {
  readonly identifier: number;
  /** Inverse document frequency over the items of the past, above 0: ln((items + 1) / items that name it). */
  readonly weight: number;
  /** It was written before a later tool result showed it again: the writer had it from the context. */
  readonly isUnaided: boolean;
}

/** @source spec 2-engine §10: a bag of identifiers is no summary. */
const MOST_CREDITED_PER_LINE = 6;

/**
 * The future uses at a cut, in the order of their first use. The past is the whole log before the cut, whatever earlier
 * compactions took out of the context, without the initial context.
 * @param cut how many steps belong to the past
 */
export function futureUses({ steps, table, initial }: SessionLog, cut: number): readonly FutureUse[] {
  const namedBy = new Uint32Array(table.size);
  let items = 0;
  for (const { kind, identifiers } of steps.slice(0, cut)) {
    if (kind === 'initial') continue;
    items++;
    for (const identifier of identifiers) namedBy[identifier] = (namedBy[identifier] ?? 0) + 1;
  }
  const shown = new Set<number>();
  const uses = new Map<number, FutureUse>();
  for (const { kind, identifiers, used } of steps.slice(cut)) {
    if (kind === 'shown') for (const identifier of identifiers) shown.add(identifier);
    for (const identifier of used) {
      const named = namedBy[identifier] ?? 0;
      if (named === 0 || initial.has(identifier) || uses.has(identifier)) continue;
      const weight = Math.log((items + 1) / named);
      uses.set(identifier, { identifier, weight, isUnaided: !shown.has(identifier) });
    }
  }
  return [...uses.values()];
}

/** Shares between 0 and 1. */
export interface Recall {
  readonly all: number;
  /** Over unaided uses only; undefined where there are none. */
  readonly unaided: number | undefined;
}

/** Counts what a context contains of the future uses, line by line. */
export class Credit {
  readonly #table: LineTable;
  readonly #uses: ReadonlyMap<number, FutureUse>;
  readonly #credited = new Set<number>();

  constructor(table: LineTable, uses: readonly FutureUse[]) {
    this.#table = table;
    this.#uses = new Map(uses.map((use) => [use.identifier, use]));
  }

  /** What the next line would be credited with: the first six uses on it that no earlier line had. */
  newOn(line: string): readonly FutureUse[] {
    const found: FutureUse[] = [];
    for (const identifier of this.#table.identifiersOf(line)) {
      const use = this.#uses.get(identifier);
      if (use === undefined || this.#credited.has(identifier)) continue;
      found.push(use);
      if (found.length === MOST_CREDITED_PER_LINE) break;
    }
    return found;
  }

  /** Takes a line into the context. */
  add(line: string): void {
    for (const { identifier } of this.newOn(line)) this.#credited.add(identifier);
  }

  recall(): Recall {
    let [had, whole, hadUnaided, wholeUnaided] = [0, 0, 0, 0];
    for (const { identifier, weight, isUnaided } of this.#uses.values()) {
      const credited = this.#credited.has(identifier) ? weight : 0;
      had += credited;
      whole += weight;
      if (!isUnaided) continue;
      hadUnaided += credited;
      wholeUnaided += weight;
    }
    return {
      all: whole === 0 ? 0 : Math.min(1, had / whole),
      unaided: wholeUnaided === 0 ? undefined : Math.min(1, hadUnaided / wholeUnaided),
    };
  }
}

/** Future-use recall of a context. */
export function recallOf(lines: readonly string[], uses: readonly FutureUse[], table: LineTable): Recall {
  const credit = new Credit(table, uses);
  for (const line of lines) credit.add(line);
  return credit.recall();
}
