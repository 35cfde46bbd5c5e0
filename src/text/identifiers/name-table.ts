// Short texts by number, each once, with a row of numbers about it. With an object and a string for each of the hundred
// thousand names in a long session, they would account for most of the garbage collection; nearly all occur in results only and
// never appear in a summary.

import { codeAt } from '../../tokens/characters.ts';
import { MAX_LENGTH } from './scanner.ts';
import type { ScannedRun } from './scanner.ts';

/** Numbers in a row, so that a row fills one line of the processor's cache; rows start at multiples of it. */
export const ROW = 16;

/** Fields of a row. Those from `OWN` on belong to the owner and start at 0. */
const START = 0;
const LENGTH = 1;
export const OWN = 2;

const FIRST_ROWS = 1 << 10;
/** Slots probed for a text: bounded, because anybody can write texts that share a hash. */
const PROBES = 16;

/**
 * ASCII texts of at most `MAX_LENGTH` characters. A text is represented by the offset of its row in `fields`; a field is read
 * at `fields[row + FIELD]`, and 0 is not a row.
 */
export class NameTable {
  /** The rows; another array after the table has grown. */
  fields = new Int32Array(FIRST_ROWS * ROW);
  #characters = new Uint8Array(FIRST_ROWS * 16);
  #length = 0;
  /** Pairs of a hash and a row, in slots that the hash selects: rows are far apart, and this avoids most misses. */
  #slots = new Int32Array(4 * FIRST_ROWS);
  /** Texts that found no free slot. */
  readonly #others = new Map<string, number>();
  /** Where the next row will start. */
  #end = ROW;
  readonly #texts: (string | undefined)[] = [];

  /** Number of texts. */
  get size(): number {
    return this.#end / ROW - 1;
  }

  /** The row of a run, or 0. */
  find({ units, from, to, hash }: ScannedRun): number {
    const [fields, characters, slots] = [this.fields, this.#characters, this.#slots];
    const length = to - from;
    let slot = slotOf(hash, slots);
    for (let probe = 0; probe < PROBES; probe++, slot = (slot + 2) & (slots.length - 1)) {
      const row = slots[slot + 1] ?? 0;
      if (row === 0) return 0;
      if (slots[slot] !== hash || fields[row + LENGTH] !== length) continue;
      const start = fields[row + START] ?? 0;
      let at = 0;
      while (at < length && characters[start + at] === units[from + at]) at++;
      if (at === length) return row;
    }
    return this.#others.size === 0 ? 0 : (this.#others.get(textOf(units, from, to)) ?? 0);
  }

  /** Adds a new run and returns its row. */
  add({ units, from, to, hash }: ScannedRun): number {
    if (this.#end === this.fields.length) this.#grow();
    const start = this.#length;
    this.#length += to - from;
    if (this.#length > this.#characters.length) this.#characters = doubled(this.#characters);
    for (let at = from; at < to; at++) this.#characters[start + at - from] = units[at] ?? 0;
    const row = this.#end;
    this.#end += ROW;
    this.fields[row + START] = start;
    this.fields[row + LENGTH] = to - from;
    this.#place(row, hash);
    return row;
  }

  /** The row of a text, or 0. */
  rowOf(text: string): number {
    return text.length > MAX_LENGTH ? 0 : this.find(asRun(text));
  }

  /** The row of a text, which is added if new. */
  take(text: string): number {
    const run = asRun(text);
    const known = this.find(run);
    return known === 0 ? this.add(run) : known;
  }

  /** The text of a row. */
  text(row: number): string {
    return (this.#texts[row / ROW] ??= textOf(this.#characters, this.#startOf(row), this.#endOf(row)));
  }

  /** The end of the rows, which start at `ROW`. */
  get end(): number {
    return this.#end;
  }

  /** A table of some of the texts, with their fields. */
  only(rows: Iterable<number>): NameTable {
    const table = new NameTable();
    for (const row of rows) {
      const copy = table.take(this.text(row));
      for (let field = OWN; field < ROW; field++) table.fields[copy + field] = this.fields[row + field] ?? 0;
    }
    return table;
  }

  #startOf(row: number): number {
    return this.fields[row + START] ?? 0;
  }

  #endOf(row: number): number {
    return this.#startOf(row) + (this.fields[row + LENGTH] ?? 0);
  }

  #grow(): void {
    this.fields = doubled(this.fields);
    const [slots, others] = [this.#slots, [...this.#others]];
    this.#slots = new Int32Array(2 * slots.length);
    this.#others.clear();
    for (let slot = 0; slot < slots.length; slot += 2) {
      const [hash = 0, row = 0] = [slots[slot], slots[slot + 1]];
      if (row !== 0) this.#place(row, hash);
    }
    for (const [text, row] of others) this.#place(row, hashOf(text));
  }

  #place(row: number, hash: number): void {
    let slot = slotOf(hash, this.#slots);
    for (let probe = 0; probe < PROBES; probe++, slot = (slot + 2) & (this.#slots.length - 1)) {
      if (this.#slots[slot + 1] !== 0) continue;
      this.#slots[slot] = hash;
      this.#slots[slot + 1] = row;
      return;
    }
    this.#others.set(this.text(row), row);
  }
}

/** The first slot for a hash. Mixes the upper bits into the lower ones, which select the slot. */
function slotOf(hash: number, slots: Int32Array): number {
  return (2 * (hash ^ (hash >>> 15))) & (slots.length - 1);
}

/** A copy of twice the length, padded with 0. */
function doubled<List extends Int32Array | Uint8Array>(list: List): List {
  const longer = new (list.constructor as new (length: number) => List)(2 * list.length);
  longer.set(list);
  return longer;
}

function textOf(units: Uint16Array | Uint8Array, from: number, to: number): string {
  return String.fromCharCode.apply(null, units.subarray(from, to) as unknown as number[]);
}

/** The hash that the scanner gives a run. */
function hashOf(text: string): number {
  let hash = 0;
  for (let at = text.length - 1; at >= 0; at--) hash = (Math.imul(hash, 31) + codeAt(text, at)) | 0;
  return hash;
}

const written = new Uint16Array(MAX_LENGTH);

/** A short text as a run; valid until the next one. */
function asRun(text: string): ScannedRun {
  for (let at = 0; at < text.length; at++) written[at] = codeAt(text, at);
  return { units: written, from: 0, to: text.length, isQuoted: false, hash: hashOf(text) };
}
