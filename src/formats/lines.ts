// Bytes to lines to values. Tolerant of everything that a crash, a copy or an editor does to a JSONL file, and linear:
// each byte is looked at a bounded number of times whatever the damage.

import { isUtf8 } from 'node:buffer';
import type { JsonObject } from '../protocol/item.ts';
import type { DamageNote, LineAt, Report } from './reader.ts';

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BOM = Buffer.from([0xef, 0xbb, 0xbf]);

/** A line longer than this is reported and skipped: V8 cannot hold it as one string. */
const LONGEST_LINE_BYTES = 256 * 1024 * 1024;

/** Cuts chunks of bytes into lines. The last line may lack its line feed; `end` tells. */
export class LineSplitter {
  readonly #onLine: (bytes: Buffer, isTerminated: boolean) => void;
  #pending: Buffer[] = [];

  constructor(onLine: (bytes: Buffer, isTerminated: boolean) => void) {
    this.#onLine = onLine;
  }

  /** Takes the next chunk; it may be reused by the caller afterwards. */
  push(chunk: Buffer): void {
    let start = 0;
    for (let feed = chunk.indexOf(LINE_FEED); feed !== -1; feed = chunk.indexOf(LINE_FEED, start)) {
      this.#emit(chunk.subarray(start, feed), true);
      start = feed + 1;
    }
    if (start < chunk.length) this.#pending.push(Buffer.from(chunk.subarray(start)));
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
    this.#onLine(line, isTerminated);
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
    if (clean.length > LONGEST_LINE_BYTES) {
      this.#note(
        'malformed_json',
        `a line of ${clean.length} bytes is too long to be read; it was left out`,
        true,
      );
      return undefined;
    }
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
    if (isObject(value)) this.#onValue(value, { line: this.#line, part });
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
  for (let attempt = 0; attempt < MOST_SALVAGE_ATTEMPTS && start < text.length; attempt++) {
    const end = endOfObject(text, start);
    const value = end === -1 ? undefined : parseOrUndefined(text.slice(start, end));
    if (value !== undefined) {
      values.push(value);
      start = end;
      continue;
    }
    RECORD_START.lastIndex = start + 1;
    const next = RECORD_START.exec(text)?.index ?? text.length;
    lostCharacters += text.slice(start, next).trim().length;
    start = next;
  }
  return { values, lostCharacters: lostCharacters + text.slice(start).trim().length };
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
