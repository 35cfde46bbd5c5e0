// How much of what the agent used later a simulated compaction would have left.

import { identifiersIn } from '../eval/identifiers.ts';
import { StepReader } from '../eval/log.ts';
import { linesOf, linesOfItem, linesWritten } from '../eval/text.ts';
import { Credit, UseTally, Writings } from '../eval/uses.ts';
import type { FutureUse } from '../eval/uses.ts';
import type { Item } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';

/** Minimum number of future uses: with fewer, one use would be a tenth of the recall. @source docs/decisions/evaluation.md */
const LEAST_USES = 10;

/**
 * What somebody writes in a session, and when: the future, as far as the recall needs it. It is gathered before the session
 * is played. Memory grows with what agent and user write, not with what tools show.
 */
export class FutureFold {
  /** Working directory without its final slash, or empty. */
  readonly root: string;
  readonly writings = new Writings();
  readonly #reader = new StepReader();
  readonly #numbers = new Map<string, number>();
  /** Names in the base instructions and in the initial context. */
  readonly #initial = new Set<string>();

  constructor(root: string) {
    this.root = root;
  }

  add(record: LogRecord): void {
    if (record.type === 'session_meta') this.#exclude(linesOf(record.instructions ?? ''));
    let step = this.#reader.steps;
    for (const { item, kind } of this.#reader.read(record)) {
      if (kind === 'initial') this.#exclude(linesOfItem(item));
      else if (kind === 'written') this.#write(item, step);
      step++;
    }
  }

  /** How many different identifiers somebody writes. */
  get size(): number {
    return this.#numbers.size;
  }

  /** Those of the identifiers in a line that somebody writes at any time, in order. */
  identifiersOf(line: string): readonly number[] {
    return identifiersIn(line, this.root).flatMap((name) => this.#numbers.get(name) ?? []);
  }

  /** Those that never count, because every window repeats them. */
  initial(): ReadonlySet<number> {
    return new Set([...this.#initial].flatMap((name) => this.#numbers.get(name) ?? []));
  }

  #exclude(lines: readonly string[]): void {
    for (const line of lines) for (const name of identifiersIn(line, this.root)) this.#initial.add(name);
  }

  #write(item: Item, step: number): void {
    const names = new Set(linesWritten(item).flatMap((line) => identifiersIn(line, this.root)));
    for (const name of names) {
      const number = this.#numbers.get(name) ?? this.#numbers.size;
      this.#numbers.set(name, number);
      this.writings.add(number, step);
    }
  }
}

/** Measures contexts against the rest of their session, at one step after another. */
export class RecallMeter {
  readonly #future: FutureFold;
  readonly #tally: UseTally;
  readonly #reader = new StepReader();
  /** Identifiers of the steps that no cut has passed; undefined for the initial context. */
  #ahead: (readonly number[] | undefined)[] = [];
  #cut = 0;
  /** Of items that were read, as long as a context holds them: their lines with identifiers. */
  readonly #linesOf = new WeakMap<Item, readonly (readonly number[])[]>();
  /** The result for the last step: several contexts are measured at the same step. */
  #newest: { readonly step: number; readonly uses: readonly FutureUse[] } | undefined;

  /** @param future of the whole session */
  constructor(future: FutureFold) {
    this.#future = future;
    this.#tally = new UseTally(future.writings, future.initial(), future.size);
  }

  /** Takes the next record in; its steps can be measured until the next one comes. */
  add(record: LogRecord): void {
    this.#advance(this.#reader.steps);
    this.#ahead = this.#reader
      .read(record)
      .map(({ item, kind }) => (kind === 'initial' ? undefined : [...new Set(this.#lines(item).flat())]));
  }

  /**
   * The share, 0 to 1, of the identifiers used after `step` that these items still hold; undefined if there are too
   * few.
   * @param step items of the log before the cut; not fewer than in the previous call
   * @throws RangeError for a step that has passed or was not read
   */
  measure(step: number, items: readonly Item[]): number | undefined {
    if (this.#newest?.step !== step) {
      this.#advance(step);
      this.#newest = { step, uses: this.#tally.usesAt(step) };
    }
    const { uses } = this.#newest;
    if (uses.length < LEAST_USES) return undefined;
    const credit = new Credit(uses);
    for (const item of items) for (const line of this.#lines(item)) credit.add(line);
    return credit.recall().all;
  }

  #advance(step: number): void {
    const passed = step - this.#cut;
    if (passed < 0 || passed > this.#ahead.length) {
      throw new RangeError(`Step ${step} cannot be measured; the position is now ${this.#cut}`);
    }
    for (const identifiers of this.#ahead.splice(0, passed)) {
      if (identifiers !== undefined) this.#tally.pass(identifiers);
    }
    this.#cut = step;
  }

  #lines(item: Item): readonly (readonly number[])[] {
    const known = this.#linesOf.get(item);
    if (known !== undefined) return known;
    const lines = linesOfItem(item)
      .map((line) => this.#future.identifiersOf(line))
      .filter((identifiers) => identifiers.length > 0);
    this.#linesOf.set(item, lines);
    return lines;
  }
}
