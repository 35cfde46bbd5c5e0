// What counts as an identifier (a path, symbol, flag, code, hash, meaningful number) and how much each one matters.

import { codeAt } from '../../tokens/characters.ts';
import { DIGIT, KIND, LEAST_DIGITS, LETTER, MIN_LENGTH, scanRuns, UPPER } from './scanner.ts';
import type { ScannedRun } from './scanner.ts';
import { NameTable, OWN, ROW } from './name-table.ts';
import { detached, rowAt, sentencesOfLine } from '../sentences.ts';

/** A line that names something. */
export interface Quote {
  readonly by: 'user' | 'agent' | 'call';
  readonly position: number;
  /** For a long line, the text around the name. */
  readonly text: string;
  /** How the output of a call begins. */
  readonly outcome?: string | undefined;
  /** The call ran other rows as well, which may have produced the output. */
  readonly isRowOfMany?: boolean;
}

/** An identifier of the session with the data for its ranking. */
export interface RankedIdentifier {
  readonly text: string;
  /** Above 0; comparable within one trail only. */
  readonly weight: number;
  /** Number of texts by user and agent, including calls, that contain it. */
  readonly ownMentions: number;
  /** The newest mention by user or agent or, without one, the newest result that shows it. */
  readonly position: number;
  /** Its newest mention, if available and the identifier is among the heaviest. */
  readonly quote?: Quote | undefined;
}

/** Where an identifier occurs: in the user's words, the agent's words, an agent's call, or a tool result. */
export type Mention = 'user' | 'agent' | 'call' | 'result';

/** A bare number with more digits is data, not an id. */
const MOST_DIGITS = 12;

const BACKSLASH = 92;
const DOUBLE_QUOTE = 34;
const COLON = 58;

/** Whether a run is a JSON key, also in JSON within a string: `"run":`, `\\"run\\":`. `length` is that of the text. */
function isKey({ units, from, to }: ScannedRun, length: number): boolean {
  if (units[from - 1] !== DOUBLE_QUOTE) return false;
  let close = to;
  while (units[close] === BACKSLASH) close++;
  return close + 1 < length && units[close] === DOUBLE_QUOTE && units[close + 1] === COLON;
}

/** The identifier in a run; undefined if there is none. */
function identifierIn(run: string, isQuoted: boolean, root: string): string | undefined {
  const identifier = trimmed(run, root);
  return identifier !== undefined && (isQuoted || isIdentifier(identifier)) ? identifier : undefined;
}

/**
 * Calls `visit` with every identifier of a text in order, including repetitions. Linear in the text; skips runs longer than 120
 * characters. A path inside `root` is made relative to it.
 * @param root a directory without a trailing slash, or an empty string
 */
export function scanIdentifiers(text: string, root: string, visit: (identifier: string) => void): void {
  scanRuns(text, ({ from, to, isQuoted }) => {
    const identifier = identifierIn(text.slice(from, to), isQuoted, root);
    if (identifier !== undefined) visit(identifier);
  });
}

const MANY_IDENTIFIERS = 16;

/** The identifiers of a text, each once, in order of appearance. */
export function identifiersOf(text: string, root = ''): string[] {
  const found: string[] = [];
  let seen: Set<string> | undefined;
  scanIdentifiers(text, root, (identifier) => {
    // Most texts are lines with a few identifiers: a set for each would dominate the cost.
    if (found.length >= MANY_IDENTIFIERS) seen ??= new Set(found);
    if (seen?.has(identifier) ?? found.includes(identifier)) return;
    found.push(identifier);
    seen?.add(identifier);
  });
  return found;
}

function trimmed(run: string, root: string): string | undefined {
  let from = 0;
  let to = run.length;
  while (to > from && '.-+~@#/'.includes(run.charAt(to - 1))) to--;
  while (from < to && '+@'.includes(run.charAt(from))) from++;
  if (run.startsWith('./', from)) from += 2;
  let text = run.slice(from, to);
  if (root !== '' && text.startsWith(root) && text.charAt(root.length) === '/') {
    text = text.slice(root.length + 1);
  }
  return text.length < MIN_LENGTH ? undefined : text;
}

/** Looks like an option in `diff --git a/file b/file`, but git has no such option. */
const DIFF_HEADER = '--git';

function isIdentifier(text: string): boolean {
  if (text.startsWith('--')) return text.length >= 4 && isLetterAt(text, 2) && text !== DIFF_HEADER;
  if (text.startsWith('#')) return isAllDigits(text, 1);
  if (text.startsWith('-') || text.startsWith('_-')) return false;
  const shape = shapeOf(text);
  // A short bare number means nothing on its own; a version and a long id do.
  if (shape.letters === 0) return (shape.dots > 1 && shape.digits >= 3) || isLongNumber(text);
  if (shape.letters <= 2 && TIME.test(text)) return false;
  if (isData(text, shape)) return false;
  if (text.startsWith('.') && shape.slashes === 0)
    return shape.letters >= 6 && shape.dots === 1 && shape.humps === 0;
  if (shape.slashes > 0) return isPath(text, shape);
  if (shape.underscores > 0) return shape.letters >= 2;
  if (shape.dots > 0) return !text.includes('..') && shape.letters >= 3;
  if (shape.hyphens > 1) return true;
  if (shape.digits > 0) return shape.uppers > 0 ? shape.digits >= 2 : isHash(text, shape);
  return shape.humps > 0 && shape.letters >= 4;
}

/** A part of a timestamp: `2026-01-23T14`, `00Z`. */
const TIME = /^(?:\d{4}-\d\d-\d\dT\d\d|\d\d(?:\.\d+)?Z|\d{4}-\d\d-\d\dT?)$/;

interface Shape {
  letters: number;
  uppers: number;
  digits: number;
  slashes: number;
  underscores: number;
  dots: number;
  hyphens: number;
  /** Upper-case letters after a lower-case one. */
  humps: number;
}

/** Shared by all texts, which are examined one after another: an object for each would dominate the cost. */
const shapeAtHand: Shape = {
  letters: 0,
  uppers: 0,
  digits: 0,
  slashes: 0,
  underscores: 0,
  dots: 0,
  hyphens: 0,
  humps: 0,
};

/** Valid until the next text. */
function shapeOf(text: string): Shape {
  const shape = shapeAtHand;
  shape.letters = 0;
  shape.uppers = 0;
  shape.digits = 0;
  shape.slashes = 0;
  shape.underscores = 0;
  shape.dots = 0;
  shape.hyphens = 0;
  shape.humps = 0;
  let wasLower = false;
  for (let index = 0; index < text.length; index++) {
    const code = codeAt(text, index);
    const kind = KIND[code] ?? 0;
    const isUpper = (kind & UPPER) !== 0;
    if ((kind & LETTER) !== 0) shape.letters++;
    if (isUpper) shape.uppers++;
    if (isUpper && wasLower) shape.humps++;
    if (kind === DIGIT) shape.digits++;
    else if (code === 47) shape.slashes++;
    else if (code === 95) shape.underscores++;
    else if (code === 46) shape.dots++;
    else if (code === 45) shape.hyphens++;
    wasLower = kind === LETTER;
  }
  return shape;
}

/** Base64 and similar data: long, without separators, in mixed case with digits. */
function isData(text: string, { digits, uppers, letters, hyphens, underscores, dots }: Shape): boolean {
  return (
    text.length >= 32 && digits > 0 && uppers > 2 && letters > uppers && hyphens + underscores + dots === 0
  );
}

function isHash(text: string, { digits, letters }: Shape): boolean {
  return digits >= 2 && letters >= 1 && text.length >= 7 && text.length <= 40 && /^[0-9a-f]+$/.test(text);
}

/** One slash between plain words is prose ("and/or"); anything more is a path. */
function isPath(text: string, shape: Shape): boolean {
  if (text.includes('//')) return false;
  if (shape.slashes > 1) return true;
  if (text.startsWith('/')) return shape.dots > 0;
  return shape.dots + shape.underscores + shape.hyphens + shape.digits > 0;
}

function isLongNumber(text: string): boolean {
  return text.length >= LEAST_DIGITS && text.length <= MOST_DIGITS && isAllDigits(text, 0);
}

function isLetterAt(text: string, index: number): boolean {
  return ((KIND[codeAt(text, index)] ?? 0) & LETTER) !== 0;
}

function isAllDigits(text: string, from: number): boolean {
  for (let index = from; index < text.length; index++) {
    if (KIND[codeAt(text, index)] !== DIGIT) return false;
  }
  return text.length > from;
}

/** A text that may be quoted for the names in it. */
export interface Quotable {
  readonly by: Exclude<Mention, 'result'>;
  readonly position: number;
  /** Empty after it was released. */
  text: string;
  /** The outcome of a call, once known. */
  outcome?: string | undefined;
}

/** A text with its origin and position. */
export interface IndexedText {
  readonly by: Mention;
  /** Position in the log. */
  readonly position: number;
  /** Working directory without a trailing slash, or empty. */
  readonly root: string;
  /** What may be quoted for the names in the text. */
  readonly quotable?: Quotable | undefined;
}

/** What is known of a text that may be a name, as fields of its row. Counts are of items, each counted once. */
const FIELD = {
  user: OWN,
  agent: OWN + 1,
  call: OWN + 2,
  result: OWN + 3,
  /** Results and user messages where it first occurs as a JSON key: part of a program's output format, not of the work. */
  key: OWN + 4,
  /** Twice the position of the newest mention, by anyone, and by user or agent if there is one: an item may have two. */
  last: OWN + 5,
  lastOwn: OWN + 6,
  /** Number of the newest item that contained it. */
  item: OWN + 7,
  /** Row of the identifier in it, without and with enclosing backticks. */
  bare: OWN + 8,
  quoted: OWN + 9,
  /** 1 for an identifier, and 1 for a long number. */
  isName: OWN + 10,
  isNumber: OWN + 11,
} as const;

/** Marks the absence of an identifier, in place of its row. */
const NO_IDENTIFIER = -1;

function addOne(fields: Int32Array, at: number): void {
  fields[at] = (fields[at] ?? 0) + 1;
}

/** Runs of one text with their places. Lists of numbers, because objects would account for most of a session's allocations. */
class FoundRuns {
  readonly #rows: number[] = [];
  /** Twice the place of a run, plus one if backticks enclose it. */
  readonly #places: number[] = [];
  #count = 0;

  clear(): void {
    this.#count = 0;
  }

  add(row: number, from: number, isQuoted: boolean): void {
    this.#rows[this.#count] = row;
    this.#places[this.#count] = 2 * from + Number(isQuoted);
    this.#count++;
  }

  /** Calls `visit` with each in order until it returns true. */
  some(visit: (row: number, from: number, isQuoted: boolean) => boolean): boolean {
    for (let at = 0; at < this.#count; at++) {
      const [row = 0, place = 0] = [this.#rows[at], this.#places[at]];
      if (visit(row, place >> 1, (place & 1) === 1)) return true;
    }
    return false;
  }
}

/** An identifier by its row, with the weight of its mentions. */
interface Weighed {
  readonly row: number;
  readonly weight: number;
}

/** Entries kept after pruning, and the number that triggers it: memory stays bounded for sessions of any length. */
const KEPT_IDENTIFIERS = 20_000;
const MAX_IDENTIFIERS = 40_000;
/** The same for all runs, identifiers or not. */
const MAX_RUNS = 100_000;

/**
 * Items after which the chance of another use has halved. With the terms of `#weightOf` it models how often names in real
 * sessions were reused, by number, place and age of their mentions. @source docs/decisions/summary.md.
 */
const HALF_LIFE_ITEMS = 250;

/** Characters of quotable texts that are remembered, the newest. */
const QUOTABLE_LENGTH = 1_000_000;

/** Counts who mentioned which identifier and when. An item counts once, however often it repeats one. */
export class IdentifierIndex {
  /** Runs and the identifiers in them, which are mostly the same texts. */
  #table = new NameTable();
  #names = 0;
  /** By row, the newest text of user or agent that can be quoted for an identifier. */
  #said = new Map<number, Quotable>();
  readonly #quotables: Quotable[] = [];
  /** Index of the oldest quotable text that is remembered. */
  #oldestQuotable = 0;
  #quotableLength = 0;
  #root = '';
  #items = 0;
  #position = 0;
  /** The most recent result, and the runs in it that contain each of its identifiers for the first time. */
  #newest = '';
  readonly #newestRuns = new FoundRuns();

  /** Takes in one text. */
  add(text: string, { by, position, root, quotable }: IndexedText): void {
    if (quotable !== undefined) this.#remember(quotable);
    this.#items++;
    this.#position = position;
    if (root !== this.#root) this.#setRoot(root);
    const isResult = by === 'result';
    const [table, newestRuns, item] = [this.#table, this.#newestRuns, this.#items];
    const count = FIELD[by];
    this.#newest = isResult ? text : '';
    newestRuns.clear();
    scanRuns(text, (run) => {
      const found = table.find(run) || this.#meet(run, text);
      // Programs print endless numbers; those that a person or the agent wrote are ids.
      const isNumber = table.fields[found + FIELD.isNumber] === 1;
      const name = isResult && isNumber ? this.#nameAt(found) : this.#nameIn(found, run.isQuoted);
      const { fields } = table;
      if (name === 0 ? !isNumber : fields[name + FIELD.item] === item) return;
      if (isResult) newestRuns.add(found, run.from, run.isQuoted);
      if (name === 0) return;
      fields[name + FIELD.item] = item;
      fields[name + FIELD.last] = 2 * position;
      addOne(fields, name + count);
      if ((isResult || by === 'user') && isKey(run, text.length)) addOne(fields, name + FIELD.key);
      if (!isResult) {
        fields[name + FIELD.lastOwn] = 2 * position;
        if (quotable !== undefined) this.#said.set(name, quotable);
      }
    });
    if (this.#names > MAX_IDENTIFIERS) this.#prune();
    else if (table.size > MAX_RUNS) this.#keep(this.#nameRows());
  }

  /**
   * The last `limit` identifiers of an already indexed text, each once, in order of first appearance; faster than
   * `identifiersOf`. If the newest text ends with it from a line on, it is not read again: a file's text was just the reader's
   * result.
   */
  identifiersOf(text: string, limit: number): string[] {
    const found = new Set<number>();
    const note = (row: number, isQuoted: boolean): void => {
      const name = this.#nameIn(row, isQuoted);
      if (name !== 0) found.add(name);
    };
    const start = this.#startInNewest(text);
    if (start === undefined) {
      scanRuns(text, (run) => note(this.#table.find(run) || this.#meet(run, text), run.isQuoted));
    } else {
      this.#newestRuns.some((row, from, isQuoted) => {
        if (from >= start) note(row, isQuoted);
        return false;
      });
    }
    return [...found].slice(-limit).map((name) => this.#table.text(name));
  }

  /** Where the newest text's ending that equals this text begins; undefined without one, or if the match is too short. */
  #startInNewest(text: string): number | undefined {
    const start = this.#newest.length - text.length;
    const isWhole = start === 0 || this.#newest[start - 1] === '\n';
    if (!isWhole || text === '' || !this.#newest.endsWith(text)) return undefined;
    // An identifier that also precedes the text was recorded there and not again.
    const isShared = this.#newestRuns.some(
      (row, from, isQuoted) =>
        from < start && text.includes(this.#table.text(this.#nameIn(row, isQuoted) || row)),
    );
    return isShared ? undefined : start;
  }

  /** The weight of an identifier for a text that contains it: 0 for an unknown one. */
  weight(identifier: string): number {
    const name = this.#nameAt(this.#table.rowOf(identifier));
    return name === 0 ? 0 : this.#weightOf(name);
  }

  /** The heaviest identifiers, heaviest first; ties in text order. The first `quoted` have quotations. */
  top(limit: number, quoted = limit): RankedIdentifier[] {
    const [table, { fields }] = [this.#table, this.#table];
    return this.#heaviest(limit).map(({ row, weight }, at) => {
      const text = table.text(row);
      const [user, agent, call] = [
        fields[row + FIELD.user],
        fields[row + FIELD.agent],
        fields[row + FIELD.call],
      ];
      const ownMentions = (user ?? 0) + (agent ?? 0) + (call ?? 0);
      const position = (fields[row + (ownMentions > 0 ? FIELD.lastOwn : FIELD.last)] ?? 0) / 2;
      return {
        text,
        weight,
        ownMentions,
        position,
        quote: at < quoted ? quoteFor(text, this.#said.get(row)) : undefined,
      };
    });
  }

  #heaviest(limit: number): readonly Weighed[] {
    const wanted = this.#heaviestUnsorted(limit).toSorted(
      (a, b) => b.weight - a.weight || (this.#table.text(a.row) < this.#table.text(b.row) ? -1 : 1),
    );
    return wanted.slice(0, limit);
  }

  /** All that are as heavy as the last of the heaviest: more than `limit` if some weigh the same. */
  #heaviestUnsorted(limit: number): Weighed[] {
    const names = this.#nameRows();
    const weights = new Float64Array(names.length);
    for (let at = 0; at < names.length; at++) weights[at] = this.#weightOf(names[at] ?? 0);
    // Few of many are wanted, and numbers sort several times faster than objects.
    const least = weights.toSorted().at(-limit) ?? 0;
    const wanted: Weighed[] = [];
    for (let at = 0; at < names.length; at++) {
      const row = names[at] ?? 0;
      const weight = weights[at] ?? 0;
      if (weight > 0 && weight >= least && !this.#isSideOfDiff(row)) wanted.push({ row, weight });
    }
    return wanted;
  }

  /** Whether it is a known path after the `a/` or `b/` that a diff puts before its two sides. */
  #isSideOfDiff(row: number): boolean {
    const text = this.#table.text(row);
    const isSide = text[1] === '/' && (text[0] === 'a' || text[0] === 'b');
    return isSide && this.#nameAt(this.#table.rowOf(text.slice(2))) !== 0;
  }

  #remember(quotable: Quotable): void {
    this.#quotables.push(quotable);
    this.#quotableLength += quotable.text.length;
    for (; this.#quotableLength > QUOTABLE_LENGTH; this.#oldestQuotable++) {
      const oldest = this.#quotables[this.#oldestQuotable];
      if (oldest === undefined) break;
      this.#quotableLength -= oldest.text.length;
      oldest.text = '';
    }
    // `shift` moves all elements of a long array, for each short text once: that would be quadratic.
    if (2 * this.#oldestQuotable <= this.#quotables.length) return;
    this.#quotables.splice(0, this.#oldestQuotable);
    this.#oldestQuotable = 0;
  }

  /** A path below the root gets another name when the root changes. */
  #setRoot(root: string): void {
    this.#root = root;
    const { fields, end } = this.#table;
    for (let row = ROW; row < end; row += ROW) {
      fields[row + FIELD.bare] = 0;
      fields[row + FIELD.quoted] = 0;
    }
  }

  /** Adds an unknown run. It is examined here, where its text is available. */
  #meet(run: ScannedRun, text: string): number {
    const row = this.#table.add(run);
    const cut = text.slice(run.from, run.to);
    if (isLongNumber(cut)) this.#table.fields[row + FIELD.isNumber] = 1;
    else this.#look(row, run.isQuoted, cut);
    return row;
  }

  #nameRows(): number[] {
    const names: number[] = [];
    for (let row = ROW; row < this.#table.end; row += ROW) if (this.#nameAt(row) !== 0) names.push(row);
    return names;
  }

  /** A row if it belongs to an identifier, or 0. */
  #nameAt(row: number): number {
    return this.#table.fields[row + FIELD.isName] === 1 ? row : 0;
  }

  /** The row of the identifier in a run, added if new; 0 without one. */
  #nameIn(row: number, isQuoted: boolean): number {
    const known = this.#table.fields[row + (isQuoted ? FIELD.quoted : FIELD.bare)] ?? 0;
    if (known === 0) return this.#look(row, isQuoted, this.#table.text(row));
    return known === NO_IDENTIFIER ? 0 : known;
  }

  #look(row: number, isQuoted: boolean, run: string): number {
    const identifier = identifierIn(run, isQuoted, this.#root);
    const name =
      identifier === undefined ? 0 : identifier.length === run.length ? row : this.#table.take(identifier);
    const { fields } = this.#table;
    fields[row + (isQuoted ? FIELD.quoted : FIELD.bare)] = name === 0 ? NO_IDENTIFIER : name;
    if (name !== 0 && this.#nameAt(name) === 0) {
      fields[name + FIELD.isName] = 1;
      this.#names++;
    }
    return name;
  }

  /** Rarity times the chance of another use, so that the sum over a text is its expected saving. */
  #weightOf(name: number): number {
    const { fields } = this.#table;
    const [user, agent] = [fields[name + FIELD.user] ?? 0, fields[name + FIELD.agent] ?? 0];
    const [call, result] = [fields[name + FIELD.call] ?? 0, fields[name + FIELD.result] ?? 0];
    const frequency = user + agent + call + result;
    if (frequency === 0) return 0;
    const rarity = Math.log(1 + this.#items / frequency);
    const own = 1.2 * user + 0.5 * agent + call;
    if (agent + call === 0 && 2 * (fields[name + FIELD.key] ?? 0) > frequency) return 0;
    const chance = own > 0 ? (own + 0.4) / (own + 2.6) : 0.05 * Math.log1p(result);
    const age = this.#position - (fields[name + (own > 0 ? FIELD.lastOwn : FIELD.last)] ?? 0) / 2;
    return (rarity * chance * HALF_LIFE_ITEMS) / (HALF_LIFE_ITEMS + age);
  }

  #prune(): void {
    this.#keep(this.#heaviestUnsorted(KEPT_IDENTIFIERS).map(({ row }) => row));
  }

  /** Drops all runs except some identifiers. */
  #keep(names: readonly number[]): void {
    const before = this.#table;
    const said = this.#said;
    this.#table = before.only(names);
    this.#names = names.length;
    this.#said = new Map();
    for (const name of names) {
      const quotable = said.get(name);
      if (quotable !== undefined) this.#said.set(this.#table.rowOf(before.text(name)), quotable);
    }
    this.#setRoot(this.#root);
    this.#newest = '';
    this.#newestRuns.clear();
  }
}

/** Characters quoted for a name: of a call, and of a sentence. */
const CALL_LENGTH = 160;
const SENTENCE_LENGTH = 260;
const ROW_LENGTH = 1_000;

/** The sentence, or the line of a call, that last contained a name; for a long one the text around the name. */
function quoteFor(name: string, said: Quotable | undefined): Quote | undefined {
  const at = said === undefined ? -1 : said.text.lastIndexOf(name);
  if (said === undefined || at < 0) return undefined;
  const { by, position, outcome } = said;
  const text = by === 'call' ? rowAt(said.text, at, CALL_LENGTH) : sentenceAt(said.text, at, name);
  const isRowOfMany = by === 'call' && outcome !== undefined && said.text.trim().includes('\n');
  return { by, position, text: detached(text), outcome, ...(isRowOfMany ? { isRowOfMany } : {}) };
}

function sentenceAt(text: string, at: number, name: string): string {
  const row = rowAt(text, at, ROW_LENGTH);
  const sentence = sentencesOfLine(row).findLast((one) => one.includes(name)) ?? row;
  return rowAt(sentence, Math.max(0, sentence.lastIndexOf(name)), SENTENCE_LENGTH);
}
