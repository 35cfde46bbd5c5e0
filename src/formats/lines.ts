// From bytes to lines to values. Tolerates everything that a crash, a copy or an editor does to a JSONL file, and is linear: it
// examines each byte a bounded number of times, whatever the damage.

import { isAscii, isUtf8 } from 'node:buffer';
import type { JsonObject } from '../protocol/item.ts';
import { isJsonObject } from './fields.ts';
import type { DamageNote, LineAt, Report } from './reader.ts';
import { plural } from '../tokens/words.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const MARKS: ReadonlySet<number> = new Set(Buffer.from('{[,:'));
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * A value nested deeper than this is reported and skipped: `JSON.parse` accepts any depth, but `JSON.stringify` and every
 * recursive walk overflow the stack at some thousands. @source real sessions stay below 20 levels.
 */
const DEEPEST = 500;

/**
 * The largest document that is read: it is parsed as one text, which takes about four times its size, and the longest text
 * of Node is 512 MB. @source the largest of the recorded sessions that are documents has 4 MB
 */
export const LARGEST_DOCUMENT_BYTES = 200 * 1024 * 1024;

/**
 * The longest line that is read. `compact` takes about eleven times the size of a line that is one message.
 * @source docs/decisions/session-files.md: the longest line of the recorded sessions has 0.2 MB
 */
export const LONGEST_LINE_BYTES = 32 * 1024 * 1024;

/**
 * Brackets, commas and colons outside of strings in a line that is read: each may become a value, of up to 100 bytes.
 * @source docs/decisions/session-files.md: the recorded sessions have at most 2,095 in a line
 */
const MOST_MARKS = 1_000_000;

/** Splits chunks of bytes into lines. The last line may lack its line feed; `end` reports that. */
export class LineSplitter {
  readonly #onLine: (bytes: Buffer, isTerminated: boolean) => void;
  readonly #longest: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  /** @param longest bytes of a line that are kept; of a longer one, the rest of its chunk as well */
  constructor(onLine: (bytes: Buffer, isTerminated: boolean) => void, longest = LONGEST_LINE_BYTES) {
    this.#onLine = onLine;
    this.#longest = longest;
  }

  /** Takes in the next chunk; the caller may reuse it afterwards. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let feed = chunk.indexOf(LINE_FEED); feed !== -1; feed = chunk.indexOf(LINE_FEED, start)) {
      this.#emit(chunk.subarray(start, feed), true);
      start = feed + 1;
    }
    if (start === chunk.length || this.#pendingBytes > this.#longest) return;
    this.#pending.push(Buffer.from(chunk.subarray(start)));
    this.#pendingBytes += chunk.length - start;
  }

  end(): void {
    if (this.#pending.length > 0) this.#emit(Buffer.alloc(0), false);
  }

  #emit(tail: Buffer, isTerminated: boolean): void {
    if (this.#pending.length === 0) {
      this.#onLine(tail, isTerminated);
      return;
    }
    const line = Buffer.concat([...this.#pending, tail]);
    this.#pending = [];
    this.#pendingBytes = 0;
    this.#onLine(line, isTerminated);
  }
}

/** Parses one line, or returns undefined if it cannot. */
export type ParseLine = (text: string) => unknown;

/** Turns lines into JSON objects and reports what was wrong with the others. */
export class ValueReader {
  readonly #onValue: (value: JsonObject, at: LineAt) => void;
  readonly #report: Report;
  readonly #parse: ParseLine;
  readonly #longest: number;
  #line = 0;
  /** A line that did not parse: torn if nothing follows it, otherwise malformed. */
  #suspect: DamageNote | undefined;

  /**
   * @param parse tried before `JSON.parse`; undefined means that it cannot decide
   * @param longest bytes of the longest line that is read
   */
  constructor(
    onValue: (value: JsonObject, at: LineAt) => void,
    report: Report,
    parse: ParseLine = () => undefined,
    longest = LONGEST_LINE_BYTES,
  ) {
    this.#onValue = onValue;
    this.#report = report;
    this.#parse = parse;
    this.#longest = longest;
  }

  /** Lines seen so far, including blank ones. */
  get lines(): number {
    return this.#line;
  }

  accept(bytes: Buffer): void {
    this.#line++;
    const clean = this.#clean(bytes);
    if (clean === undefined) return;
    this.#flushSuspect();
    const excess = excessOf(clean);
    if (excess !== undefined) return this.#note('wrong_shape', excess, true);
    const text = this.#decode(clean);
    const value = this.#parse(text) ?? parseOrUndefined(text);
    if (value !== undefined && (text.length < 2 * DEEPEST || !isDeeperThan(value, DEEPEST)))
      this.#give(value, 0);
    else if (value !== undefined) this.#refuseDeep();
    else this.#recover(text);
  }

  /** @param isTerminated whether the last line ended with a line feed */
  end(isTerminated: boolean): void {
    const suspect = this.#suspect;
    this.#suspect = undefined;
    if (suspect === undefined) return;
    this.#report(
      isTerminated
        ? suspect
        : {
            ...suspect,
            kind: 'torn_last_line',
            message:
              'the last line is cut off, by a crash or because the file is still being written; it was skipped',
          },
    );
  }

  #clean(bytes: Buffer): Buffer | undefined {
    let clean = bytes;
    if (this.#line === 1 && clean.subarray(0, 3).equals(BOM)) clean = clean.subarray(3);
    if (clean.at(-1) === CARRIAGE_RETURN) clean = clean.subarray(0, -1);
    if (clean.length > this.#longest) {
      this.#flushSuspect();
      this.#note(
        'malformed_json',
        `a line of more than ${this.#longest} bytes is too long to read; it was skipped`,
        true,
      );
      return undefined;
    }
    if (clean.includes(0)) {
      clean = Buffer.from(clean.filter((byte) => byte !== 0));
      this.#note('nul_bytes', 'NUL bytes, which a crash may leave, were skipped', false);
    }
    return isBlank(clean) ? undefined : clean;
  }

  /** Decodes a line. Most lines are ASCII, which is detected and copied several times faster than UTF-8 is decoded. */
  #decode(bytes: Buffer): string {
    if (isAscii(bytes)) return bytes.toString('latin1');
    if (!isUtf8(bytes)) {
      this.#note('invalid_utf8', 'bytes that are not UTF-8 were read as U+FFFD', false);
    }
    return bytes.toString('utf8');
  }

  #recover(text: string): void {
    const { values, lostCharacters } = salvage(text);
    values.forEach((value, part) => {
      if (isDeeperThan(value, DEEPEST)) this.#refuseDeep();
      else this.#give(value, part);
    });
    if (values.length === 0) {
      this.#suspect = {
        line: this.#line,
        kind: 'malformed_json',
        message: `${text.length} characters are not JSON; the line was skipped`,
        lost: true,
      };
      return;
    }
    const lost = lostCharacters === 0 ? '' : `; ${lostCharacters} characters that are not JSON were skipped`;
    this.#note(
      'glued_lines',
      `${plural(values.length, 'record')} read from one damaged line${lost}`,
      lostCharacters > 0,
    );
  }

  #refuseDeep(): void {
    this.#note('wrong_shape', TOO_DEEP, true);
  }

  #give(value: unknown, part: number): void {
    if (isJsonObject(value)) this.#onValue(value, { line: this.#line, part });
    else this.#note('not_an_object', 'a JSON value that is not an object was skipped', true);
  }

  #flushSuspect(): void {
    if (this.#suspect !== undefined) this.#report(this.#suspect);
    this.#suspect = undefined;
  }

  #note(kind: DamageNote['kind'], message: string, lost: boolean): void {
    this.#report({ line: this.#line, kind, message, lost });
  }
}

function parseOrUndefined(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

/**
 * Why the reader would reject a line that is to be written: it is too long, nests too deep or holds too many values.
 * @returns completes "The line "; undefined: the reader accepts it
 */
export function whyUnreadable(text: string, value: JsonObject): string | undefined {
  // A string unit takes at most three bytes.
  const bytes = text.length * 3 <= LONGEST_LINE_BYTES ? text.length : Buffer.byteLength(text);
  if (bytes > LONGEST_LINE_BYTES) {
    return `has ${Math.ceil(bytes / MEGABYTE)} MB, more than ${LONGEST_LINE_BYTES / MEGABYTE} MB`;
  }
  if (text.length > MOST_MARKS && excessOf(Buffer.from(text)) !== undefined) {
    return `has more than ${MOST_MARKS} values and separators`;
  }
  if (text.length < 2 * DEEPEST || !isDeeperThan(value, DEEPEST)) return undefined;
  return `is nested deeper than ${DEEPEST} levels`;
}

const MEGABYTE = 1024 * 1024;

/** Why a line would take far more memory as a value than as text. Checked before the line is parsed. */
function excessOf(bytes: Buffer): string | undefined {
  if (bytes.length <= MOST_MARKS) return undefined;
  let marks = 0;
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index] ?? 0;
    if (byte === QUOTE) index = endOfStringBytes(bytes, index);
    else if (MARKS.has(byte) && ++marks > MOST_MARKS) return TOO_MANY;
  }
  return undefined;
}

/** Where the string that starts at `start` ends. */
function endOfStringBytes(bytes: Buffer, start: number): number {
  for (let index = start + 1; index < bytes.length; index++) {
    if (bytes[index] === BACKSLASH) index++;
    else if (bytes[index] === QUOTE) return index;
  }
  return bytes.length;
}

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && isDeeperThan(child, levels - 1)) return true;
  }
  return false;
}

/** Empties values nested too deep within a parsed value, and returns whether there were any. */
export function emptyDeep(value: unknown, levels = DEEPEST): boolean {
  if (typeof value !== 'object' || value === null) return false;
  let isAny = false;
  const container = value as Record<string, unknown>;
  for (const key of Object.keys(container)) {
    const child = container[key];
    if (typeof child !== 'object' || child === null) continue;
    if (levels === 1) container[key] = null;
    if (levels === 1 || emptyDeep(child, levels - 1)) isAny = true;
  }
  return isAny;
}

/** The note for a value nested too deep. */
export const TOO_DEEP = `a value nested deeper than ${DEEPEST} levels, which no agent writes, was omitted`;

const TOO_MANY = `a line of more than ${MOST_MARKS} values and separators, which no agent writes, was omitted`;

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== CARRIAGE_RETURN) return false;
  return true;
}

/** Objects that start like this are always records and never parts of one; shows where a record begins inside a torn one. */
const CERTAIN_START = /\{"(?:timestamp|parentUuid|sessionId|isSidechain|ordinal|record_type)":/g;

/**
 * Finds the complete records on a line that contains several, or one beside a torn one. Parts of a torn record do not count: a
 * record must start where the torn one's grammar breaks, or where only a record can start. Linear.
 */
function salvage(text: string): { values: unknown[]; lostCharacters: number } {
  const values: unknown[] = [];
  let lostCharacters = 0;
  let isAtRecord = true;
  for (let start = 0; start < text.length;) {
    const object = scanObject(text, start);
    const value = object.open.length === 0 ? parseOrUndefined(text.slice(start, object.end)) : undefined;
    if (value !== undefined && (isAtRecord || isRecordNext(text, object.end))) {
      values.push(value);
      start = object.end;
      isAtRecord = true;
      continue;
    }
    isAtRecord = false;
    const next = nextStart(text, start, object);
    lostCharacters += text.slice(start, next).trim().length;
    start = next;
  }
  return { values, lostCharacters };
}

/** Where to continue after the text at `start` proved not to be a record. */
function nextStart(text: string, start: number, { end, open }: ScannedObject): number {
  const inside = completeRecordIn(text, start, { end, open });
  if (inside !== undefined) return inside;
  // A record torn inside a string takes the first quote of the next record as its end: `…abc{"timestamp`.
  const next = text.indexOf('{', Math.max(start + 1, text.startsWith('{"', end - 2) ? end - 2 : end));
  return next === -1 ? text.length : next;
}

/** The first certain start inside a torn record that the tear left complete: what is still open broke with its parent. */
function completeRecordIn(text: string, start: number, { end, open }: ScannedObject): number | undefined {
  let outer = 0;
  CERTAIN_START.lastIndex = start + 1;
  for (let found = CERTAIN_START.exec(text); found !== null; found = CERTAIN_START.exec(text)) {
    const { index } = found;
    if (index >= end) return undefined;
    while ((open[outer] ?? end) < index) outer++;
    if (open[outer] === index) continue;
    return isRecordNext(text, scanObject(text, index).end) ? index : undefined;
  }
  return undefined;
}

function isRecordNext(text: string, end: number): boolean {
  const next = skipSpace(text, end);
  return next === text.length || text[next] === '{';
}

function skipSpace(text: string, from: number): number {
  let index = from;
  while (text[index] === ' ' || text[index] === '\t') index++;
  return index;
}

/** What may come next in a JSON text. */
type Expected = 'key_or_end' | 'key' | 'colon' | 'value_or_end' | 'value' | 'comma_or_end';

const AFTER: Readonly<Record<string, Expected>> = { '{': 'key_or_end', '[': 'value_or_end' };

/** How far the grammar of an object goes. */
interface ScannedObject {
  /** The index after it or, if it is incomplete, of the first character that cannot belong to it, otherwise the length of the text. */
  readonly end: number;
  /** Where the objects and arrays start that are still open there, outermost first; empty: the object is complete. */
  readonly open: readonly number[];
}

/** Follows the grammar of an object that starts at `start`. Does not check literals. */
function scanObject(text: string, start: number): ScannedObject {
  const open: number[] = [];
  let expected = 'value' as Expected;
  for (let index = skipSpace(text, start); index < text.length; index = skipSpace(text, index)) {
    const character = text[index] ?? '';
    const isOpening = character === '{' || character === '[';
    if (open.length === 0 && character !== '{') return { end: index, open: [index] };
    if (isOpening && (expected === 'value' || expected === 'value_or_end')) {
      open.push(index);
      expected = AFTER[character] ?? 'value';
      index++;
    } else if (closes(character, text[open.at(-1) ?? -1], expected)) {
      open.pop();
      index++;
      if (open.length === 0) return { end: index, open };
      expected = 'comma_or_end';
    } else if (character === ',' && expected === 'comma_or_end') {
      expected = text[open.at(-1) ?? -1] === '{' ? 'key' : 'value';
      index++;
    } else if (character === ':' && expected === 'colon') {
      expected = 'value';
      index++;
    } else {
      const end = endOfScalar(text, index, expected);
      if (end === index) return { end, open };
      expected = expected === 'key' || expected === 'key_or_end' ? 'colon' : 'comma_or_end';
      index = end;
    }
  }
  return { end: text.length, open: open.length === 0 ? [text.length] : open };
}

function closes(character: string, opened: string | undefined, expected: Expected): boolean {
  if (expected !== 'comma_or_end' && expected !== 'key_or_end' && expected !== 'value_or_end') return false;
  return (character === '}' && opened === '{') || (character === ']' && opened === '[');
}

const LITERAL = /[-+.\w]+/y;

/** The index after the string or literal at `index`; `index` itself where none is allowed. */
function endOfScalar(text: string, index: number, expected: Expected): number {
  if (expected === 'colon' || expected === 'comma_or_end') return index;
  if (text[index] === '"') return endOfString(text, index);
  if (expected === 'key' || expected === 'key_or_end') return index;
  LITERAL.lastIndex = index;
  return LITERAL.test(text) ? LITERAL.lastIndex : index;
}

function endOfString(text: string, start: number): number {
  for (let index = start + 1; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === 0x5c) index++;
    else if (unit === 0x22) return index + 1;
  }
  return text.length;
}
