// Exact counts by a real tokenizer, made safe: every BPE library takes quadratic time on a single unbroken run and throws on
// text that spells a special token (library-peers §2a).

import { codeAt } from './characters.ts';
import type { CountText } from './estimate.ts';

/**
 * A longer run of one kind (white space or not) is cut before tokenization. @source library-peers §2a: 256 costs 0.3 % at most.
 */
const LONGEST_RUN = 256;

/**
 * From this length on, a slice ends at the next token start: long enough to hide the about 20 µs that each split adds, short
 * enough for a turn. @source measured with Node 20, gpt-tokenizer 4
 */
const SLICE = 32 * 1024;

/** A longer unbroken run is sampled, not counted: a megabyte of base64 would take a second. */
const LONGEST_COUNTED_RUN = 64 * 1024;
const SAMPLES = 8;
const SAMPLE_LENGTH = 4 * 1024;

/**
 * Makes a tokenizer safe for any text. Linear in the text; exact unless the text contains runs over `LONGEST_RUN`.
 * @param countSlice counts a slice without long runs; must not throw on special tokens
 */
export function boundedCounter(countSlice: CountText): CountText {
  return (text) => {
    if (isOneSlice(text)) return countSlice(text);
    let tokens = 0;
    for (const counted of countSlices(text, countSlice)) tokens += counted;
    return tokens;
  };
}

/** Counts a text slice by slice, so that a caller can do other work in between; the counts add up to the whole. */
export function* countSlices(text: string, countSlice: CountText): Generator<number> {
  if (text.length > LONGEST_RUN && hasLongRun(text)) {
    yield* countRuns(text, countSlice);
    return;
  }
  for (let from = 0; from < text.length;) {
    const to = endOfSlice(text, from);
    yield countSlice(text.slice(from, to));
    from = to;
  }
}

function endOfSlice(text: string, from: number): number {
  for (let index = from + SLICE; index < text.length; index++) {
    if (isSpace(codeAt(text, index)) !== isSpace(codeAt(text, index - 1)) && isTokenStart(text, index)) {
      return index;
    }
  }
  return text.length;
}

/** The same for a text with overlong runs, which it cuts, so that every character is examined. */
function* countRuns(text: string, countSlice: CountText): Generator<number> {
  let sliceStart = 0;
  let runStart = 0;
  let runIsSpace = isSpace(codeAt(text, 0));
  for (let index = 1; index <= text.length; index++) {
    const space = index < text.length ? isSpace(codeAt(text, index)) : !runIsSpace;
    if (space === runIsSpace) continue;
    if (index - runStart > LONGEST_RUN) {
      yield countIfAny(countSlice, text, sliceStart, runStart);
      yield countRun(countSlice, text, runStart, index);
      sliceStart = index;
    } else if (index - sliceStart >= SLICE && isTokenStart(text, index)) {
      yield countSlice(text.slice(sliceStart, index));
      sliceStart = index;
    }
    runStart = index;
    runIsSpace = space;
  }
  yield countIfAny(countSlice, text, sliceStart, text.length);
}

function isOneSlice(text: string): boolean {
  return text.length <= LONGEST_RUN || (text.length <= SLICE && !hasLongRun(text));
}

/**
 * Whether there is a run over `LONGEST_RUN`. Searches backwards from where one would end, so it examines few of the characters.
 */
function hasLongRun(text: string): boolean {
  for (let runStart = 0; runStart + LONGEST_RUN < text.length;) {
    let start = runStart + LONGEST_RUN;
    const space = isSpace(codeAt(text, start));
    while (start > runStart && isSpace(codeAt(text, start - 1)) === space) start--;
    if (start === runStart) return true;
    runStart = start;
  }
  return false;
}

function countIfAny(countSlice: CountText, text: string, from: number, to: number): number {
  return from < to ? countSlice(text.slice(from, to)) : 0;
}

function countRun(countSlice: CountText, text: string, from: number, to: number): number {
  const length = to - from;
  if (length <= LONGEST_COUNTED_RUN) return countPieces(countSlice, text, from, to);
  let sampled = 0;
  for (let sample = 0; sample < SAMPLES; sample++) {
    const start = from + Math.floor(((length - SAMPLE_LENGTH) * sample) / (SAMPLES - 1));
    sampled += countPieces(countSlice, text, start, start + SAMPLE_LENGTH);
  }
  return Math.round((sampled / (SAMPLES * SAMPLE_LENGTH)) * length);
}

function countPieces(countSlice: CountText, text: string, from: number, to: number): number {
  let tokens = 0;
  for (let start = from; start < to; start += LONGEST_RUN) {
    tokens += countSlice(text.slice(start, Math.min(to, start + LONGEST_RUN)));
  }
  return tokens;
}

/**
 * Whether a token starts between two runs in any context: o200k joins line feeds to preceding punctuation and slashes to
 * preceding line feeds, and nothing else across the border of white space.
 */
function isTokenStart(text: string, index: number): boolean {
  const before = text[index - 1];
  const after = text[index];
  return before === '\n' ? after !== '/' : after === ' ' || after === '\t';
}

/** The characters that `\s` matches, without the cost of a regular expression for each. */
function isSpace(unit: number): boolean {
  if (unit < 0x80) return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d);
  return unit === 0xa0 || (unit >= 0x1680 && isWideSpace(unit));
}

function isWideSpace(unit: number): boolean {
  if (unit >= 0x2000 && unit <= 0x200a) return true;
  return WIDE_SPACES.has(unit);
}

const WIDE_SPACES: ReadonlySet<number> = new Set([0x1680, 0x2028, 0x2029, 0x202f, 0x205f, 0x3000, 0xfeff]);
