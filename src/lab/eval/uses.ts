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

/** @source spec 2-engine §10: a bag of identifiers is not a summary. */
const MOST_CREDITED_PER_LINE = 6;

/** One time that somebody wrote an identifier. */
interface Writing {
  readonly identifier: number;
  readonly step: number;
  /** The last step before it where a tool result showed the identifier; −1 for none. */
  readonly shown: number;
  /** Position of the next time that the same identifier is written. */
  next: number;
}

/** When agent or user wrote each identifier. */
export class Writings {
  readonly #list: Writing[] = [];
  readonly #first = new Map<number, number>();
  readonly #newest = new Map<number, Writing>();

  /** Adds a writing; steps come in order. @param shown the last step where a tool result showed it; −1 for none */
  add(identifier: number, step: number, shown = -1): void {
    const writing = { identifier, step, shown, next: -1 };
    const at = this.#list.push(writing) - 1;
    const before = this.#newest.get(identifier);
    if (before === undefined) this.#first.set(identifier, at);
    else before.next = at;
    this.#newest.set(identifier, writing);
  }

  at(position: number): Writing | undefined {
    return this.#list[position];
  }

  /** By identifier: the position of its first writing. */
  firsts(): Map<number, number> {
    return new Map(this.#first);
  }
}

/** Moves through a session, step by step, and knows at each what of its past is used later. */
export class UseTally {
  readonly #writings: Writings;
  readonly #initial: ReadonlySet<number>;
  /** By identifier: the position of its first writing after the cut, while there is one. */
  readonly #first: Map<number, number>;
  /** By identifier: how many items of the past name it. */
  readonly #namedBy: Uint32Array;
  #items = 0;
  #passed = 0;

  /**
   * @param initial identifiers that never count
   * @param size above every identifier
   */
  constructor(writings: Writings, initial: ReadonlySet<number>, size: number) {
    this.#writings = writings;
    this.#initial = initial;
    this.#first = writings.firsts();
    this.#namedBy = new Uint32Array(size);
  }

  /** Adds an item to the past, unless it belongs to the initial context. @param identifiers each once */
  pass(identifiers: readonly number[]): void {
    this.#items++;
    for (const identifier of identifiers) this.#namedBy[identifier] = (this.#namedBy[identifier] ?? 0) + 1;
  }

  /** The future uses, in the order of their first use. @param cut how many steps belong to the past; never falls */
  usesAt(cut: number): readonly FutureUse[] {
    this.#skip(cut);
    const places: number[] = [];
    for (const [identifier, at] of this.#first) {
      if ((this.#namedBy[identifier] ?? 0) > 0 && !this.#initial.has(identifier)) places.push(at);
    }
    return places
      .toSorted((a, b) => a - b)
      .flatMap((at): FutureUse[] => {
        const writing = this.#writings.at(at);
        if (writing === undefined) return [];
        const { identifier, shown } = writing;
        const weight = Math.log((this.#items + 1) / (this.#namedBy[identifier] ?? 0));
        return [{ identifier, weight, isUnaided: shown < cut }];
      });
  }

  /** Writings before the cut are no longer in the future. */
  #skip(cut: number): void {
    for (;;) {
      const writing = this.#writings.at(this.#passed);
      if (writing === undefined || writing.step >= cut) return;
      if (writing.next < 0) this.#first.delete(writing.identifier);
      else this.#first.set(writing.identifier, writing.next);
      this.#passed++;
    }
  }
}

/** Finds the future uses at one cut after another, so that no cut reads the whole session again. */
export class UseFinder {
  readonly #log: SessionLog;
  readonly #tally: UseTally;
  #cut = 0;

  constructor(log: SessionLog) {
    this.#log = log;
    const writings = new Writings();
    const shown = new Int32Array(log.table.size).fill(-1);
    for (const [step, { kind, identifiers, used }] of log.steps.entries()) {
      if (kind === 'shown') for (const identifier of identifiers) shown[identifier] = step;
      for (const identifier of used) writings.add(identifier, step, shown[identifier]);
    }
    this.#tally = new UseTally(writings, log.initial, log.table.size);
  }

  /**
   * The future uses at a cut, in the order of their first use. The past is the whole log before the cut, including what
   * earlier compactions removed from the context, without the initial context.
   * @param cut how many steps belong to the past; not fewer than in the previous call
   */
  usesAt(cut: number): readonly FutureUse[] {
    for (; this.#cut < cut; this.#cut++) {
      const step = this.#log.steps[this.#cut];
      if (step !== undefined && step.kind !== 'initial') this.#tally.pass(step.identifiers);
    }
    return this.#tally.usesAt(cut);
  }
}

/**
 * The future uses at one cut; see `UseFinder`.
 * @param cut how many steps belong to the past
 */
export function futureUses(log: SessionLog, cut: number): readonly FutureUse[] {
  return new UseFinder(log).usesAt(cut);
}

/** Shares between 0 and 1. */
export interface Recall {
  readonly all: number;
  /** Over unaided uses only; undefined where there are none. */
  readonly unaided: number | undefined;
}

/** Counts what a context contains of the future uses, line by line. */
export class Credit {
  readonly #uses: ReadonlyMap<number, FutureUse>;
  readonly #credited = new Set<number>();

  constructor(uses: readonly FutureUse[]) {
    this.#uses = new Map(uses.map((use) => [use.identifier, use]));
  }

  /** The credit of the next line: the first six uses on it that no earlier line had. @param line its identifiers */
  newOn(line: readonly number[]): readonly FutureUse[] {
    const found: FutureUse[] = [];
    for (const identifier of line) {
      const use = this.#uses.get(identifier);
      if (use === undefined || this.#credited.has(identifier)) continue;
      found.push(use);
      if (found.length === MOST_CREDITED_PER_LINE) break;
    }
    return found;
  }

  /** Adds a line to the context. */
  add(line: readonly number[]): void {
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
  const credit = new Credit(uses);
  for (const line of lines) credit.add(table.identifiersOf(line));
  return credit.recall();
}
