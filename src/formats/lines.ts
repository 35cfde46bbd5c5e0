// Bytes to lines to values. Tolerant of everything that a crash, a copy or an editor does to a JSONL file, and linear:
// each byte is looked at a bounded number of times whatever the damage.

import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../protocol/item.ts';
import type { DamageNote, LineAt, Report } from './reader.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/**
 * A value nested deeper than this is reported and skipped. `JSON.parse` takes any depth, `JSON.stringify` and every
 * recursive walk overflow the stack at some thousands. @source the deepest line of 29 real session files has 12 levels.
 */
const DEEPEST = 500;

/** A line longer than this is reported and skipped: V8 cannot hold it as one string. */
const LONGEST_LINE_BYTES = 256 * 1024 * 1024;

/** Takes the lines of a file in order. */
export interface LineTaker {
  /** @param isTerminated false for a last line without line feed */
  line(bytes: Buffer, isTerminated: boolean): void;
  /** Takes the place of a line that is too long to be held; `bytes` is its length. */
  overlongLine(bytes: number, isTerminated: boolean): void;
}

/** Cuts chunks of bytes into lines, and holds no more of a line than could be read. */
export class LineSplitter {
  readonly #taker: LineTaker;
  readonly #longest: number;
  #pending: Buffer[] = [];
  #pendingBytes = 0;

  constructor(taker: LineTaker, longest = LONGEST_LINE_BYTES) {
    this.#taker = taker;
    this.#longest = longest;
  }

  /** Takes the next chunk; it may be reused by the caller afterwards. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let feed = chunk.indexOf(LINE_FEED); feed !== -1; feed = chunk.indexOf(LINE_FEED, start)) {
      this.#emit(chunk.subarray(start, feed), true);
      start = feed + 1;
    }
    if (start < chunk.length) this.#hold(chunk.subarray(start));
  }

  end(): void {
    if (this.#pendingBytes > 0) this.#emit(Buffer.alloc(0), false);
  }

  #hold(part: Buffer): void {
    this.#pendingBytes += part.length;
    if (this.#pendingBytes > this.#longest) this.#pending = [];
    else this.#pending.push(Buffer.from(part));
  }

  #emit(rest: Buffer, isTerminated: boolean): void {
    const bytes = this.#pendingBytes + rest.length;
    const pending = this.#pending;
    this.#pending = [];
    this.#pendingBytes = 0;
    if (bytes > this.#longest) this.#taker.overlongLine(bytes, isTerminated);
    else this.#taker.line(pending.length === 0 ? rest : Buffer.concat([...pending, rest]), isTerminated);
  }
}

/** Reads the text of one line, or says that it cannot. */
export type ParseLine = (text: string) => unknown;

/** Turns lines into JSON objects and says what was wrong with the others. */
export class ValueReader {
  readonly #onValue: (value: JsonObject, at: LineAt) => void;
  readonly #report: Report;
  readonly #parse: ParseLine;
  #line = 0;
  /** A line that did not parse: torn if nothing follows it, malformed otherwise. */
  #suspect: DamageNote | undefined;

  /** @param parse tried before `JSON.parse`; undefined means that it cannot tell */
  constructor(
    onValue: (value: JsonObject, at: LineAt) => void,
    report: Report,
    parse: ParseLine = () => undefined,
  ) {
    this.#onValue = onValue;
    this.#report = report;
    this.#parse = parse;
  }

  /** Lines seen so far, blank ones included. */
  get lines(): number {
    return this.#line;
  }

  accept(bytes: Buffer): void {
    this.#line++;
    const clean = this.#clean(bytes);
    if (clean === undefined) return;
    this.#flushSuspect();
    const text = clean.toString('utf8');
    const value = this.#parse(text) ?? parseOrUndefined(text);
    if (value !== undefined) this.#give(value, 0);
    else this.#recover(text);
  }

  /** Takes the place of a line that cannot be held. */
  skip(bytes: number): void {
    this.#line++;
    this.#flushSuspect();
    this.#note('malformed_json', `a line of ${bytes} bytes is too long to be read; it was left out`, true);
  }

  /** @param isTerminated whether the last line ended in a line feed */
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
            message: 'the last line is cut off, as by a crash or a writer at work; it was left out',
          },
    );
  }

  #clean(bytes: Buffer): Buffer | undefined {
    let clean = bytes;
    if (this.#line === 1 && clean.subarray(0, 3).equals(BOM)) clean = clean.subarray(3);
    if (clean.at(-1) === CARRIAGE_RETURN) clean = clean.subarray(0, -1);
    if (clean.includes(0)) {
      clean = Buffer.from(clean.filter((byte) => byte !== 0));
      this.#note('nul_bytes', 'NUL bytes, as a crash leaves them, were skipped', false);
    }
    if (isBlank(clean)) return undefined;
    if (!isUtf8(clean)) {
      this.#note('invalid_utf8', 'bytes that are no UTF-8 were read as U+FFFD', false);
    }
    return clean;
  }

  #recover(text: string): void {
    const { values, lostCharacters } = salvage(text);
    values.forEach((value, part) => this.#give(value, part));
    if (values.length === 0) {
      this.#suspect = {
        line: this.#line,
        kind: 'malformed_json',
        message: `${text.length} characters are no JSON; the line was left out`,
        lost: true,
      };
      return;
    }
    const lost = lostCharacters === 0 ? '' : `; ${lostCharacters} characters that are no JSON were left out`;
    this.#note(
      'glued_lines',
      `${values.length} record(s) read from one damaged line${lost}`,
      lostCharacters > 0,
    );
  }

  #give(value: unknown, part: number): void {
    if (isDeeperThan(value, DEEPEST)) {
      const message = `values nested deeper than ${DEEPEST} levels, which no agent writes, were left out`;
      this.#note('wrong_shape', message, true);
    } else if (isObject(value)) this.#onValue(value, { line: this.#line, part });
    else this.#note('not_an_object', 'a JSON value that is no object was left out', true);
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

function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && isDeeperThan(child, levels - 1)) return true;
  }
  return false;
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isBlank(bytes: Buffer): boolean {
  for (const byte of bytes) if (byte !== 0x20 && byte !== 0x09 && byte !== CARRIAGE_RETURN) return false;
  return true;
}

/** How the lines of session files begin; where a torn line and the next record share a line, the record starts so. */
const RECORD_START =
  /\{"(?:timestamp|parentUuid|type|uuid|isSidechain|id|sessionId|ordinal|record_type|messageId)":/g;

/** Starts tried on one damaged line; each costs at most one pass over it. */
const MOST_SALVAGE_ATTEMPTS = 32;

/** Finds the complete records on a line that holds several, or one beside a torn one. */
function salvage(text: string): { values: unknown[]; lostCharacters: number } {
  const values: unknown[] = [];
  let lostCharacters = 0;
  let start = 0;
  let isAfterTornText = false;
  for (let attempt = 0; attempt < MOST_SALVAGE_ATTEMPTS && start < text.length; attempt++) {
    const end = endOfObject(text, start);
    const isWhole = end !== -1 && (!isAfterTornText || isEndOfRecord(text, end));
    const value = isWhole ? parseOrUndefined(text.slice(start, end)) : undefined;
    if (value !== undefined) {
      values.push(value);
      start = end;
      isAfterTornText = false;
      continue;
    }
    const next = nextRecord(text, start + 1);
    lostCharacters += text.slice(start, next).trim().length;
    start = next;
    isAfterTornText = true;
  }
  return { values, lostCharacters: lostCharacters + text.slice(start).trim().length };
}

/** Where the next record may start: its first key is one of a record's, and it is no part of a torn one. */
function nextRecord(text: string, from: number): number {
  RECORD_START.lastIndex = from;
  for (let match = RECORD_START.exec(text); match !== null; match = RECORD_START.exec(text)) {
    if (!':,['.includes(text[match.index - 1] ?? ' ')) return match.index;
  }
  return text.length;
}

/** A record ends with its line or where another starts; what a comma or a bracket follows is part of a torn one. */
function isEndOfRecord(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\t') at++;
  return at >= text.length || text[at] === '{';
}

/** The index after the object that starts at `start`, or -1 when none starts there or none ends. */
function endOfObject(text: string, start: number): number {
  let index = start;
  while (text[index] === ' ' || text[index] === '\t') index++;
  if (text[index] !== '{') return -1;
  let depth = 0;
  let isInString = false;
  for (; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (isInString) {
      if (unit === 0x5c) index++;
      else if (unit === 0x22) isInString = false;
    } else if (unit === 0x22) isInString = true;
    else if (unit === 0x7b) depth++;
    else if (unit === 0x7d && --depth === 0) return index + 1;
  }
  return -1;
}
