// What counts as an identifier (a path, symbol, flag, code, hash, number with meaning) and how much each one matters.

import { codeAt } from '../tokens/characters.ts';
import { DIGIT, KIND, LEAST_DIGITS, LETTER, MIN_LENGTH, scanRuns, UPPER } from './scanner.ts';
import { detached, rowAt, sentencesOfLine } from './sentences.ts';
import type { Quote, RankedIdentifier } from './trail.ts';

/** Where an identifier stands: in the user's words, the agent's, a call of the agent's, or a tool result. */
export type Mention = 'user' | 'agent' | 'call' | 'result';

/** Digits that make a bare number an id at most: more are data. */
const MOST_DIGITS = 12;

const BACKSLASH = 92;
const DOUBLE_QUOTE = 34;
const COLON = 58;

/** Whether a run stands as a key of JSON, that of JSON within a string included: `"run":`, `\\"run\\":`. */
function isKey(text: string, from: number, end: number): boolean {
  if (codeAt(text, from - 1) !== DOUBLE_QUOTE) return false;
  let close = end;
  while (codeAt(text, close) === BACKSLASH) close++;
  return codeAt(text, close) === DOUBLE_QUOTE && codeAt(text, close + 1) === COLON;
}

/** The identifier in a run, or undefined where it is none. */
function identifierIn(run: string, isQuoted: boolean, root: string): string | undefined {
  const identifier = trimmed(run, root);
  return identifier !== undefined && (isQuoted || isIdentifier(identifier)) ? identifier : undefined;
}

/**
 * Calls `visit` with every identifier of a text in order, repetitions included. Linear in the text; runs longer than
 * 120 characters are skipped. A path inside `root` is given relative to it.
 * @param root a directory without its final slash, or an empty string
 */
export function scanIdentifiers(text: string, root: string, visit: (identifier: string) => void): void {
  scanRuns(text, (from, to, isQuoted) => {
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
    // Most texts are lines with a few: a set for each would be most of the cost.
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

/** What looks like an option in `diff --git a/file b/file`; git has none of this name. */
const DIFF_HEADER = '--git';

function isIdentifier(text: string): boolean {
  if (text.startsWith('--')) return text.length >= 4 && isLetterAt(text, 2) && text !== DIFF_HEADER;
  if (text.startsWith('#')) return isAllDigits(text, 1);
  if (text.startsWith('-') || text.startsWith('_-')) return false;
  const shape = shapeOf(text);
  // A short bare number says nothing by itself; a version and a long id do.
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

/** A part of a time stamp: `2026-01-23T14`, `00Z`. */
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

function shapeOf(text: string): Shape {
  const shape = {
    letters: 0,
    uppers: 0,
    digits: 0,
    slashes: 0,
    underscores: 0,
    dots: 0,
    hyphens: 0,
    humps: 0,
  };
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

/** Base64 and its like: long, without joints, in mixed case with digits. */
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
  /** Empty once it was let go. */
  text: string;
  /** What came of a call, once it is known. */
  outcome?: string | undefined;
}

/** What a text is and where it stands. */
export interface IndexedText {
  readonly by: Mention;
  /** Position in the log. */
  readonly position: number;
  /** Working directory without its final slash, or empty. */
  readonly root: string;
  /** What may be quoted for the names in the text. */
  readonly quotable?: Quotable | undefined;
}

class Mentions {
  readonly text: string;
  user = 0;
  agent = 0;
  call = 0;
  result = 0;
  /** Results in which it stands first as a key of JSON: what a program prints of its own, not what the work is about. */
  key = 0;
  /** Position of the newest mention by anyone, and by user or agent. */
  last = 0;
  lastOwn = -1;
  /** Number of the newest item that held it. */
  item = 0;
  /** The newest text of user or agent that can be quoted for it. */
  said: Quotable | undefined;

  constructor(text: string) {
    this.text = text;
  }
}

/** Runs of one text with where they stand. Lists of numbers: an object for each would be most of what a session allocates. */
class FoundRuns {
  readonly #runs: Run[] = [];
  /** Twice the place of a run, one more where backticks enclose it. */
  readonly #places: number[] = [];
  #count = 0;

  clear(): void {
    this.#count = 0;
  }

  add(run: Run, from: number, isQuoted: boolean): void {
    this.#runs[this.#count] = run;
    this.#places[this.#count] = 2 * from + Number(isQuoted);
    this.#count++;
  }

  /** Calls `visit` with each in order until it says true. */
  some(visit: (run: Run, from: number, isQuoted: boolean) => boolean): boolean {
    for (let at = 0; at < this.#count; at++) {
      const [run, place = 0] = [this.#runs[at], this.#places[at]];
      if (run !== undefined && visit(run, place >> 1, (place & 1) === 1)) return true;
    }
    return false;
  }
}

const NO_IDENTIFIER = 'no identifier';

/** An identifier's mentions with how much they speak for it. */
interface Weighed {
  readonly mentions: Mentions;
  readonly weight: number;
}

/** A run with what is known of it: its identifier where it stands bare and where backticks enclose it. */
class Run {
  readonly text: string;
  readonly isNumber: boolean;
  readonly hash: number;
  bare: Mentions | typeof NO_IDENTIFIER | undefined;
  quoted: Mentions | typeof NO_IDENTIFIER | undefined;

  constructor(text: string, hash: number) {
    this.text = text;
    this.isNumber = isLongNumber(text);
    this.hash = hash;
    this.bare = undefined;
    this.quoted = undefined;
  }
}

/** Mixes what lies in the upper bits into the lower ones, which choose the place. */
function placeOf(hash: number): number {
  return hash ^ (hash >>> 15);
}

function emptyPlaces(count: number): (Run | undefined)[] {
  return Array<Run | undefined>(count).fill(undefined);
}

/** The identifier in a run as far as it was looked for, and else the run. */
function nameOf({ text, bare, quoted }: Run, isQuoted: boolean): string {
  const mentions = isQuoted ? quoted : bare;
  return mentions === undefined || mentions === NO_IDENTIFIER ? text : mentions.text;
}

const FIRST_PLACES = 1 << 12;
const MOST_PLACES = 1 << 16;

/**
 * Runs seen lately, so that what comes back is looked up and not looked at, and found without cutting it out of its
 * text. Every run has one place, and a newer one takes it over: memory and the time of a look-up are bounded.
 */
class RunTable {
  #places = emptyPlaces(FIRST_PLACES);
  #taken = 0;

  /** The run that reads as `text` does between two positions, or undefined. */
  find(text: string, from: number, to: number, hash: number): Run | undefined {
    const run = this.#places[placeOf(hash) & (this.#places.length - 1)];
    return run?.hash === hash && run.text.length === to - from && text.startsWith(run.text, from)
      ? run
      : undefined;
  }

  put(run: Run): void {
    if (2 * this.#taken > this.#places.length && this.#places.length < MOST_PLACES) this.#grow();
    const place = placeOf(run.hash) & (this.#places.length - 1);
    if (this.#places[place] === undefined) this.#taken++;
    this.#places[place] = run;
  }

  #grow(): void {
    const before = this.#places;
    this.#places = emptyPlaces(4 * before.length);
    this.#taken = 0;
    for (const run of before) if (run !== undefined) this.put(run);
  }
}

/** Entries kept after pruning, and the number that starts one: memory stays bounded whatever the session's length. */
const KEPT_IDENTIFIERS = 20_000;
const MAX_IDENTIFIERS = 40_000;

/**
 * Items after which the chance of a further use has halved. With the terms of `#weightOf` it follows how often names of
 * real sessions were used again, by number, place and age of their mentions. @source docs/decisions/summary.md.
 */
const HALF_LIFE_ITEMS = 250;

/** Characters of quotable texts that are remembered, the newest. */
const QUOTABLE_LENGTH = 1_000_000;

/** Counts who mentioned which identifier and when. An item counts once, however often it repeats one. */
export class IdentifierIndex {
  readonly #mentions = new Map<string, Mentions>();
  readonly #quotables: Quotable[] = [];
  #quotableLength = 0;
  #runs = new RunTable();
  #root = '';
  #items = 0;
  #position = 0;
  /** The result taken in last, and the runs in it that hold each of its identifiers for the first time. */
  #newest = '';
  readonly #newestRuns = new FoundRuns();

  /** Takes in one text. */
  add(text: string, { by, position, root, quotable }: IndexedText): void {
    if (quotable !== undefined) this.#remember(quotable);
    this.#items++;
    this.#position = position;
    if (root !== this.#root) {
      this.#runs = new RunTable();
      this.#root = root;
    }
    const isResult = by === 'result';
    this.#newest = isResult ? text : '';
    this.#newestRuns.clear();
    scanRuns(text, (from, to, isQuoted, hash) => {
      const run = this.#runs.find(text, from, to, hash) ?? this.#meet(text.slice(from, to), hash);
      // Programs print numbers without end; those that somebody wrote are ids.
      const mentions =
        isResult && run.isNumber ? this.#mentions.get(run.text) : this.#mentionsOf(run, isQuoted);
      if (mentions?.item === this.#items || (mentions === undefined && !run.isNumber)) return;
      if (isResult) this.#newestRuns.add(run, from, isQuoted);
      if (mentions === undefined) return;
      mentions.item = this.#items;
      mentions.last = position;
      if (isResult) {
        mentions.result++;
        if (isKey(text, from, to)) mentions.key++;
      } else {
        mentions[by]++;
        mentions.lastOwn = position;
        if (quotable !== undefined) mentions.said = quotable;
      }
    });
    if (this.#mentions.size > MAX_IDENTIFIERS) this.#prune();
  }

  /**
   * The identifiers of a text that was taken in before, each once, in order; faster than `identifiersOf`. A text that the
   * newest one ends with, from a line on, is not read again: what a reader printed of a file was its result a moment ago.
   */
  identifiersOf(text: string): Set<string> {
    const found = new Set<string>();
    const start = this.#startInNewest(text);
    if (start !== undefined) {
      this.#newestRuns.some((run, from, isQuoted) => {
        const mentions = from < start ? undefined : this.#mentionsOf(run, isQuoted);
        if (mentions !== undefined) found.add(mentions.text);
        return false;
      });
      return found;
    }
    scanRuns(text, (from, to, isQuoted, hash) => {
      const run = this.#runs.find(text, from, to, hash) ?? this.#meet(text.slice(from, to), hash);
      const mentions = this.#mentionsOf(run, isQuoted);
      if (mentions !== undefined) found.add(mentions.text);
    });
    return found;
  }

  /** Where a text begins with which the newest one ends; undefined where it does not, or where that tells too little. */
  #startInNewest(text: string): number | undefined {
    const start = this.#newest.length - text.length;
    const isWhole = start === 0 || this.#newest[start - 1] === '\n';
    if (!isWhole || text === '' || !this.#newest.endsWith(text)) return undefined;
    // What stands before the text, too, was noted there and not again.
    const isShared = this.#newestRuns.some(
      (run, from, isQuoted) => from < start && text.includes(nameOf(run, isQuoted)),
    );
    return isShared ? undefined : start;
  }

  /** How much an identifier speaks for a text that holds it: 0 for one never seen. */
  weight(identifier: string): number {
    const mentions = this.#mentions.get(identifier);
    return mentions === undefined ? 0 : this.#weightOf(mentions);
  }

  /** The heaviest identifiers, heaviest first; ties in the order of their text. The first `quoted` have their quotations. */
  top(limit: number, quoted = limit): RankedIdentifier[] {
    return this.#heaviest(limit).map(({ mentions, weight }, at) => ({
      text: mentions.text,
      weight,
      ownMentions: mentions.user + mentions.agent + mentions.call,
      position: mentions.lastOwn >= 0 ? mentions.lastOwn : mentions.last,
      quote: at < quoted ? quoteFor(mentions) : undefined,
    }));
  }

  #heaviest(limit: number): readonly Weighed[] {
    const heavy: Weighed[] = [];
    for (const mentions of this.#mentions.values()) {
      const weight = this.#isSideOfDiff(mentions.text) ? 0 : this.#weightOf(mentions);
      if (weight > 0) heavy.push({ mentions, weight });
    }
    // Few of many are wanted: numbers are sorted several times faster than what they belong to.
    const weights = new Float64Array(heavy.length);
    for (let at = 0; at < heavy.length; at++) weights[at] = heavy[at]?.weight ?? 0;
    const least = heavy.length <= limit ? 0 : (weights.toSorted()[heavy.length - limit] ?? 0);
    const wanted = heavy.filter(({ weight }) => weight >= least);
    wanted.sort((a, b) => b.weight - a.weight || (a.mentions.text < b.mentions.text ? -1 : 1));
    return wanted.slice(0, limit);
  }

  /** Whether it is a known path behind the `a/` or `b/` that a diff puts before its two sides. */
  #isSideOfDiff(text: string): boolean {
    return text[1] === '/' && (text[0] === 'a' || text[0] === 'b') && this.#mentions.has(text.slice(2));
  }

  #remember(quotable: Quotable): void {
    this.#quotables.push(quotable);
    this.#quotableLength += quotable.text.length;
    while (this.#quotableLength > QUOTABLE_LENGTH) {
      const oldest = this.#quotables.shift();
      if (oldest === undefined) break;
      this.#quotableLength -= oldest.text.length;
      oldest.text = '';
    }
  }

  /** Remembers a run that was not seen lately. */
  #meet(text: string, hash: number): Run {
    const run = new Run(detached(text), hash);
    this.#runs.put(run);
    return run;
  }

  /** The mentions of the identifier in a run, new ones included; undefined where it is none. */
  #mentionsOf(run: Run, isQuoted: boolean): Mentions | undefined {
    if (isQuoted) {
      run.quoted ??= this.#mentionsIn(run.text, true);
      return run.quoted === NO_IDENTIFIER ? undefined : run.quoted;
    }
    run.bare ??= this.#mentionsIn(run.text, false);
    return run.bare === NO_IDENTIFIER ? undefined : run.bare;
  }

  #mentionsIn(run: string, isQuoted: boolean): Mentions | typeof NO_IDENTIFIER {
    const identifier = identifierIn(run, isQuoted, this.#root);
    if (identifier === undefined) return NO_IDENTIFIER;
    let mentions = this.#mentions.get(identifier);
    if (mentions === undefined) {
      mentions = new Mentions(detached(identifier));
      this.#mentions.set(mentions.text, mentions);
    }
    return mentions;
  }

  /** Rarity times the chance to be used again, so that the sum over a text is what it is expected to save. */
  #weightOf(mentions: Mentions): number {
    const frequency = mentions.user + mentions.agent + mentions.call + mentions.result;
    if (frequency === 0) return 0;
    const rarity = Math.log(1 + this.#items / frequency);
    const own = 1.2 * mentions.user + 0.5 * mentions.agent + mentions.call;
    if (own === 0 && 2 * mentions.key > frequency) return 0;
    const chance = own > 0 ? (own + 0.4) / (own + 2.6) : 0.05 * Math.log1p(mentions.result);
    const age = this.#position - (own > 0 ? mentions.lastOwn : mentions.last);
    return (rarity * chance * HALF_LIFE_ITEMS) / (HALF_LIFE_ITEMS + age);
  }

  #prune(): void {
    const kept = new Set(this.#heaviest(KEPT_IDENTIFIERS).map(({ mentions }) => mentions.text));
    for (const text of this.#mentions.keys()) if (!kept.has(text)) this.#mentions.delete(text);
    this.#runs = new RunTable();
    this.#newest = '';
    this.#newestRuns.clear();
  }
}

/** Characters of a call and of a sentence that are quoted for a name. */
const CALL_LENGTH = 160;
const SENTENCE_LENGTH = 260;
const ROW_LENGTH = 1_000;

/** The sentence, or the line of a call, in which a name was said last; of a long one what surrounds the name. */
function quoteFor({ said, text: name }: Mentions): Quote | undefined {
  const at = said === undefined ? -1 : said.text.lastIndexOf(name);
  if (said === undefined || at < 0) return undefined;
  const { by, position, outcome } = said;
  const text = by === 'call' ? rowAt(said.text, at, CALL_LENGTH) : sentenceAt(said.text, at, name);
  return { by, position, text: detached(text), outcome };
}

function sentenceAt(text: string, at: number, name: string): string {
  const row = rowAt(text, at, ROW_LENGTH);
  const sentence = sentencesOfLine(row).findLast((one) => one.includes(name)) ?? row;
  return rowAt(sentence, Math.max(0, sentence.lastIndexOf(name)), SENTENCE_LENGTH);
}
