// Finds a block of lines in a file, in time proportional to the sum of both rather than their product.

import { followStarts } from '../sequence.ts';

/**
 * Maximum number of line comparisons for one patch. An honest patch needs a few for each of its lines: its parts contain lines
 * that occur at few places.
 * @source measured with Node 20: 0.4 s
 */
const MOST_STEPS = 200_000_000;

/** The cost of reading and writing a line of a file, in comparisons. @source measured with Node 20: 200 ns to 3 ns */
const STEPS_PER_LINE = 60;

/** The work of one patch so far. */
export class Steps {
  #left = MOST_STEPS;

  /** Whether the limit is reached and the patch must be rejected. */
  get areSpent(): boolean {
    return this.#left < 0;
  }

  spend(steps: number): void {
    this.#left -= steps;
  }
}

/** When two lines match: exactly, ignoring trailing whitespace, or ignoring whitespace at both ends. */
const KEYS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
];

/** The places of a block under the strictest comparison that finds any. */
export interface Places {
  /** The first places, counted from 0, ascending; not empty. */
  readonly first: readonly number[];
  readonly count: number;
}

/** The lines of a file, indexed for repeated searches for blocks of lines. */
export class LineIndex {
  readonly #lines: readonly string[];
  readonly #views: (View | undefined)[] = [];
  readonly #steps: Steps;

  constructor(lines: readonly string[], steps: Steps) {
    this.#lines = lines;
    this.#steps = steps;
  }

  /** The first line from `from` on that matches the given one; undefined without one. */
  firstLine(line: string, from: number): number | undefined {
    for (const [level, key] of KEYS.entries()) {
      const places = this.#view(level).placesOf(key(line));
      const found = places[lowerBound(places, from)];
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Whether a block occurs at a place. */
  isAt(block: readonly string[], place: number): boolean {
    return KEYS.some((key) =>
      block.every((line, offset) => key(this.#lines[place + offset] ?? '') === key(line)),
    );
  }

  /**
   * The places of a block from `from` on.
   * @param isFirstEnough whether a match at `from` itself is unambiguous, regardless of later ones
   * @param most how many places to return; all are counted
   */
  places(
    block: readonly string[],
    from: number,
    { isFirstEnough, most }: { readonly isFirstEnough: boolean; readonly most: number },
  ): Places | undefined {
    for (const [level, key] of KEYS.entries()) {
      const view = this.#view(level);
      const ids = block.map((line) => view.idOf(key(line)));
      this.#steps.spend(block.length);
      if (ids.includes(-1)) continue;
      if (isFirstEnough && ids.every((id, offset) => view.ids[from + offset] === id))
        return { first: [from], count: 1 };
      const found = this.#search(view, ids, from, most);
      if (found.count > 0) return found;
    }
    return undefined;
  }

  /** The place that matches most of a block's first lines, ignoring whitespace around lines, and how many. */
  longestStart(block: readonly string[]): { readonly place: number; readonly length: number } {
    const level = KEYS.length - 1;
    const view = this.#view(level);
    const ids = block.map((line) => view.idOf((KEYS[level] ?? String)(line)));
    let best = { place: 0, length: 0 };
    this.#match(view, ids, 0, (place, length) => {
      if (length > best.length) best = { place, length };
    });
    return best;
  }

  #search(view: View, ids: readonly number[], from: number, most: number): Places {
    const first: number[] = [];
    let count = 0;
    const add = (place: number): void => {
      if (first.length < most) first.push(place);
      count++;
    };
    // Most blocks have a line that occurs at few places: examine only those.
    const rarest = view.rarest(ids);
    const candidates = view.placesOfId(ids[rarest] ?? -1);
    const begin = lowerBound(candidates, from + rarest);
    const work = (candidates.length - begin) * ids.length;
    if (work <= view.ids.length - from + ids.length) {
      this.#steps.spend(work);
      for (let at = begin; at < candidates.length; at++) {
        const place = (candidates[at] ?? 0) - rarest;
        if (ids.every((id, offset) => view.ids[place + offset] === id)) add(place);
      }
    } else {
      this.#match(view, ids, from, (place, length) => {
        if (length === ids.length) add(place);
      });
    }
    return { first, count };
  }

  /** Reports, in ascending order, how many lines of a block match at a place; skips a shorter match inside a longer one. */
  #match(
    { ids: text }: View,
    ids: readonly number[],
    from: number,
    found: (place: number, length: number) => void,
  ): void {
    this.#steps.spend(text.length - from + ids.length);
    followStarts(text, ids, found, from);
  }

  #view(level: number): View {
    const known = this.#views[level];
    if (known !== undefined) return known;
    this.#steps.spend(this.#lines.length * STEPS_PER_LINE);
    const view = new View(this.#lines.map(KEYS[level] ?? String));
    this.#views[level] = view;
    return view;
  }
}

/** Lines as numbers; matching lines have the same number. */
class View {
  readonly ids: Int32Array;
  readonly #idOf = new Map<string, number>();
  readonly #places: number[][] = [];

  constructor(keys: readonly string[]) {
    this.ids = Int32Array.from(keys, (key, place) => {
      let id = this.#idOf.get(key);
      if (id === undefined) {
        id = this.#places.push([]) - 1;
        this.#idOf.set(key, id);
      }
      this.#places[id]?.push(place);
      return id;
    });
  }

  /** -1 for an unknown line. */
  idOf(key: string): number {
    return this.#idOf.get(key) ?? -1;
  }

  placesOf(key: string): readonly number[] {
    return this.placesOfId(this.idOf(key));
  }

  placesOfId(id: number): readonly number[] {
    return this.#places[id] ?? [];
  }

  /** The position of the id with the fewest occurrences. */
  rarest(ids: readonly number[]): number {
    let rarest = 0;
    for (const [position, id] of ids.entries()) {
      if (this.placesOfId(id).length < this.placesOfId(ids[rarest] ?? -1).length) rarest = position;
    }
    return rarest;
  }
}

/** The index of the first of ascending numbers that is at least `least`. */
function lowerBound(ascending: readonly number[], least: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? Infinity) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}
