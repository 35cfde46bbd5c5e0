// Where a block of lines stands in a file: found in time that grows with the file and the block, not with their product.

import { followStarts } from '../sequence.ts';

/**
 * Comparisons of lines that one patch may take. An honest patch takes a few for each of its lines: its parts have lines that
 * stand at few places.
 * @source measured with Node 20: 0.4 s
 */
const MOST_STEPS = 200_000_000;

/** What it takes to read and write a line of a file, in comparisons. @source measured with Node 20: 200 ns to 3 ns */
const STEPS_PER_LINE = 60;

/** The work that one patch has taken so far. */
export class Steps {
  #left = MOST_STEPS;

  /** Whether the patch has to be refused. */
  get areSpent(): boolean {
    return this.#left < 0;
  }

  spend(steps: number): void {
    this.#left -= steps;
  }
}

/** How alike two lines have to be: the same, the same but for blanks at the end, or at both ends. */
const KEYS: readonly ((line: string) => string)[] = [
  (line) => line,
  (line) => line.trimEnd(),
  (line) => line.trim(),
];

/** The places of a block under the first way of comparing lines by which it stands anywhere. */
export interface Places {
  /** The first places, counted from 0, ascending; not empty. */
  readonly first: readonly number[];
  readonly count: number;
}

/** The lines of a file, ready to be searched for blocks of lines many times. */
export class LineIndex {
  readonly #lines: readonly string[];
  readonly #views: (View | undefined)[] = [];
  readonly #steps: Steps;

  constructor(lines: readonly string[], steps: Steps) {
    this.#lines = lines;
    this.#steps = steps;
  }

  /** The first line from `from` on that is like the one given; undefined without one. */
  firstLine(line: string, from: number): number | undefined {
    for (const [level, key] of KEYS.entries()) {
      const places = this.#view(level).placesOf(key(line));
      const found = places[lowerBound(places, from)];
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Whether a block stands at a place. */
  isAt(block: readonly string[], place: number): boolean {
    return KEYS.some((key) =>
      block.every((line, offset) => key(this.#lines[place + offset] ?? '') === key(line)),
    );
  }

  /**
   * The places from `from` on at which a block stands.
   * @param isFirstEnough whether a place at `from` itself is the one, whatever comes after it
   * @param most how many places are given; all are counted
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

  /** The place at which most of the first lines of a block stand, blanks around lines aside, and how many. */
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
    // Most blocks have a line that stands at few places: only those are looked at.
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

  /** Tells of places, ascending, how many lines of a block stand there; a shorter start inside a longer one is passed over. */
  #match(
    { ids: text }: View,
    ids: readonly number[],
    from: number,
    tell: (place: number, length: number) => void,
  ): void {
    this.#steps.spend(text.length - from + ids.length);
    followStarts(text, ids, tell, from);
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

/** Lines as numbers, the same for lines that are alike. */
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

  /** -1 for what is not there. */
  idOf(key: string): number {
    return this.#idOf.get(key) ?? -1;
  }

  placesOf(key: string): readonly number[] {
    return this.placesOfId(this.idOf(key));
  }

  placesOfId(id: number): readonly number[] {
    return this.#places[id] ?? [];
  }

  /** The position of the id that stands at the fewest places. */
  rarest(ids: readonly number[]): number {
    let rarest = 0;
    for (const [position, id] of ids.entries()) {
      if (this.placesOfId(id).length < this.placesOfId(ids[rarest] ?? -1).length) rarest = position;
    }
    return rarest;
  }
}

/** The position of the first of ascending numbers that is not below another one. */
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
