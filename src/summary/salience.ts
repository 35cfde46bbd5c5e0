// Which lines of a summary are worth their tokens. Every line has a value of its own and adds its identifiers; an identifier
// counts for the first line that shows it, so a repetitive line is easily left out.

import type { CountText } from '../tokens/estimate.ts';
import { LazyLines, rowKey, SECTION } from './line.ts';
import type { Floor, SummaryLine } from './line.ts';

/**
 * Most identifiers credited to one line. Weights are expectations, and about a third of the names shown are used again: ten of
 * them stay below the six uses per line that the evaluation credits. @source docs/decisions/summary.md
 */
const CREDITED_PER_LINE = 10;

/** The input of a picker. */
export interface PickerSettings {
  /** Tokens that the picked lines may cost. */
  readonly room: number;
  readonly count: CountText;
  /** Identifiers with their weight, in units of one strong identifier. */
  readonly weights: ReadonlyMap<string, number>;
  /** The heading that the first line of a section also has to pay for; empty if headings are already paid for. */
  readonly sectionHeading: (section: number) => string;
}

/** An identifier with a weight. */
interface Name {
  readonly weight: number;
  /** Whether a picked line shows it. */
  isShown: boolean;
}

const NO_NAMES: readonly Name[] = [];

/** A line with its cached properties. */
class LineCandidate {
  readonly line: SummaryLine;
  isTaken = false;
  /** Tokens of its text. */
  ownCost: number | undefined = undefined;
  /** The names in each of its rows, heaviest first; kept because a line is weighed again and again. */
  named: readonly (readonly Name[])[] | undefined = undefined;

  constructor(line: SummaryLine) {
    this.line = line;
  }
}

/** Picks lines for a budget. */
export class LinePicker {
  readonly picked: SummaryLine[] = [];
  readonly #names = new Map<string, Name>();
  readonly #candidates = new Map<SummaryLine, LineCandidate>();
  /** The headings already present, by section. */
  readonly #headings = new Map<number, Set<string>>();
  /** Cached because many lines share a heading; a line is counted only once. */
  readonly #headingCosts = new Map<string, number>();
  readonly #sectionCosts = new Map<number, number>();
  readonly #count: CountText;
  readonly #weights: ReadonlyMap<string, number>;
  readonly #sectionHeading: PickerSettings['sectionHeading'];
  readonly #sections = new Set<number>();
  readonly #said = new Set<string>();
  #room: number;

  constructor({ room, count, weights, sectionHeading }: PickerSettings) {
    this.#room = room;
    this.#count = count;
    this.#weights = weights;
    this.#sectionHeading = sectionHeading;
  }

  /** Tokens left. */
  get room(): number {
    return this.#room;
  }

  /** Sets the tokens available from here on. */
  setRoom(tokens: number): void {
    this.#room = tokens;
  }

  /** Takes the lines of a floor that fit in its share of `budget`. */
  takeFloor({ lines, share, by }: Floor, budget: number): void {
    if (by === 'worth') {
      this.takeBest(lines, this.#room - Math.min(budget * share, this.#room));
      return;
    }
    let left = Math.min(budget * share, this.#room);
    for (const line of lines) {
      const candidate = this.#of(line);
      if (candidate.isTaken || this.#isQuoted(line) || !this.#isReady(line)) continue;
      const cost = this.#cost(candidate);
      if (cost > left) continue;
      left -= cost;
      this.#take(candidate, cost);
    }
  }

  /**
   * Takes the best of `lines` by worth per token until the room is used up. Worth only falls as lines are taken, so a lazy
   * queue is exact.
   * @param reserve tokens to leave
   */
  takeBest(lines: readonly (SummaryLine | LazyLines)[], reserve: number): void {
    this.#room -= reserve;
    this.#takeQueued(lines);
    this.#room += reserve;
  }

  #takeQueued(lines: readonly (SummaryLine | LazyLines)[]): void {
    const queue = new Queue();
    const enqueue = (line: SummaryLine | LazyLines): void => {
      if (line instanceof LazyLines) {
        for (const later of line.lines) if (!this.#of(later).isTaken) enqueue(later);
        return;
      }
      const candidate = this.#of(line);
      const cost = this.#cost(candidate);
      if (cost <= this.#room) queue.push(candidate, cost, this.#worth(candidate) / cost);
    };
    const waiting = new Map<SummaryLine, (SummaryLine | LazyLines)[]>();
    for (const line of lines) {
      if (!(line instanceof LazyLines) && this.#of(line).isTaken) continue;
      if (line.parent === undefined || this.has(line.parent)) enqueue(line);
      else {
        const siblings = waiting.get(line.parent);
        if (siblings === undefined) waiting.set(line.parent, [line]);
        else siblings.push(line);
      }
    }
    for (;;) {
      const best = queue.pop();
      if (best === undefined || best.rate <= 0) return;
      const { candidate } = best;
      if (this.#isQuoted(candidate.line)) continue;
      // Others may pay for its heading, but not for the line itself: this drops most of the queue once the room is used up.
      if (this.#ownCost(candidate) > this.#room) continue;
      const rate = this.#worth(candidate) / best.cost;
      if (rate < best.rate && rate < queue.peekRate()) queue.push(candidate, best.cost, rate);
      else {
        const cost = this.#cost(candidate);
        if (cost > this.#room) continue;
        this.#take(candidate, cost);
        for (const line of waiting.get(candidate.line) ?? []) enqueue(line);
      }
    }
  }

  /** Whether a line was picked. */
  has(line: SummaryLine): boolean {
    return this.#candidates.get(line)?.isTaken ?? false;
  }

  /** Whether a picked line shows an identifier that has a weight. */
  isShown(identifier: string): boolean {
    return this.#names.get(identifier)?.isShown ?? false;
  }

  #isQuoted({ quotes: says }: SummaryLine): boolean {
    return says !== undefined && this.#said.has(says);
  }

  #isReady({ parent }: SummaryLine): boolean {
    return parent === undefined || this.has(parent);
  }

  #of(line: SummaryLine): LineCandidate {
    let candidate = this.#candidates.get(line);
    if (candidate === undefined) {
      candidate = new LineCandidate(line);
      this.#candidates.set(line, candidate);
    }
    return candidate;
  }

  #worth(candidate: LineCandidate): number {
    let worth = candidate.line.value;
    for (const row of this.#namedIn(candidate)) worth += unshownWeight(row);
    return worth;
  }

  #namedIn(candidate: LineCandidate): readonly (readonly Name[])[] {
    if (candidate.named !== undefined) return candidate.named;
    candidate.named = candidate.line.identifiers.map((row) => this.#weighedNames(row));
    return candidate.named;
  }

  /** A name without a weight is neither credited nor remembered. */
  #weighedNames(row: readonly string[]): readonly Name[] {
    let names: Name[] | undefined;
    for (const identifier of row) {
      let name = this.#names.get(identifier);
      if (name === undefined) {
        const weight = this.#weights.get(identifier);
        if (weight === undefined) continue;
        name = { weight, isShown: false };
        this.#names.set(identifier, name);
      }
      // Most rows contain at most one name; an empty list that grows reserves room for seventeen.
      if (names === undefined) names = [name];
      else names.push(name);
    }
    if (names === undefined) return NO_NAMES;
    return names.length === 1 ? names : names.toSorted((a, b) => b.weight - a.weight);
  }

  #take(candidate: LineCandidate, cost: number): void {
    const { line } = candidate;
    this.picked.push(line);
    candidate.isTaken = true;
    this.#room -= cost;
    for (const lesser of line.replaces ?? []) this.#giveUp(lesser);
    this.#sections.add(line.section);
    if (line.quotes !== undefined) this.#said.add(line.quotes);
    if (line.section === SECTION.current) this.#noteRows(line.text);
    this.#stand(line.section, line.group);
    this.#stand(line.section, line.lead);
    for (const row of this.#namedIn(candidate)) for (const name of row) name.isShown = true;
  }

  /** Rows that the steps show of a file are not repeated below the file. */
  #noteRows(text: string): void {
    if (!text.includes('\n')) return;
    for (const row of text.split('\n')) {
      const key = rowKey(row);
      if (key !== undefined) this.#said.add(key);
    }
  }

  /** A line with less content than a picked one is removed, or never picked. */
  #giveUp(line: SummaryLine): void {
    const candidate = this.#of(line);
    // Two lines may replace the same lesser one.
    const at = candidate.isTaken ? this.picked.indexOf(line) : -1;
    if (at >= 0) {
      this.picked.splice(at, 1);
      this.#room += this.#ownCost(candidate);
    }
    candidate.isTaken = true;
  }

  #cost(candidate: LineCandidate): number {
    const { line } = candidate;
    const cost =
      this.#ownCost(candidate) + this.#headingCost(line, line.group) + this.#headingCost(line, line.lead);
    return this.#sections.has(line.section) ? cost : cost + this.#sectionCost(line.section);
  }

  /** What the first line below a heading pays for it. */
  #headingCost({ section }: SummaryLine, heading: string | undefined): number {
    if (heading === undefined || this.#headings.get(section)?.has(heading) === true) return 0;
    let cost = this.#headingCosts.get(heading);
    if (cost === undefined) {
      cost = this.#count(`${heading}\n`);
      this.#headingCosts.set(heading, cost);
    }
    return cost;
  }

  #sectionCost(section: number): number {
    let cost = this.#sectionCosts.get(section);
    if (cost === undefined) {
      const heading = this.#sectionHeading(section);
      cost = heading === '' ? 0 : this.#count(heading);
      this.#sectionCosts.set(section, cost);
    }
    return cost;
  }

  #stand(section: number, heading: string | undefined): void {
    if (heading === undefined) return;
    const present = this.#headings.get(section);
    if (present === undefined) this.#headings.set(section, new Set([heading]));
    else present.add(heading);
  }

  #ownCost(candidate: LineCandidate): number {
    return (candidate.ownCost ??= this.#count(`${candidate.line.text}\n`));
  }
}

/** The weight of the names in a row that no line shows yet. */
function unshownWeight(row: readonly Name[]): number {
  let weight = 0;
  let credited = 0;
  for (const name of row) {
    if (name.isShown) continue;
    weight += name.weight;
    if (++credited === CREDITED_PER_LINE) break;
  }
  return weight;
}

interface Queued {
  readonly candidate: LineCandidate;
  readonly cost: number;
  readonly rate: number;
  readonly age: number;
}

/** A binary heap with the best rate on top; on ties, the line pushed first. */
class Queue {
  readonly #heap: Queued[] = [];
  #age = 0;

  peekRate(): number {
    return this.#heap[0]?.rate ?? -Infinity;
  }

  push(candidate: LineCandidate, cost: number, rate: number): void {
    const heap = this.#heap;
    let at = heap.push({ candidate, cost, rate, age: this.#age++ }) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!this.#isBetter(at, parent)) break;
      this.#swap(at, parent);
      at = parent;
    }
  }

  pop(): Queued | undefined {
    const heap = this.#heap;
    const top = heap[0];
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return top;
    heap[0] = last;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      let best = at;
      if (left < heap.length && this.#isBetter(left, best)) best = left;
      if (right < heap.length && this.#isBetter(right, best)) best = right;
      if (best === at) return top;
      this.#swap(at, best);
      at = best;
    }
  }

  #isBetter(a: number, b: number): boolean {
    const first = this.#heap[a];
    const second = this.#heap[b];
    if (first === undefined || second === undefined) return false;
    return first.rate > second.rate || (first.rate === second.rate && first.age < second.age);
  }

  #swap(a: number, b: number): void {
    const first = this.#heap[a];
    const second = this.#heap[b];
    if (first === undefined || second === undefined) return;
    this.#heap[a] = second;
    this.#heap[b] = first;
  }
}
