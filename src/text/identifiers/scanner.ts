// Finds the runs of a text that may be identifiers, with a small automaton: one table lookup per character. Branches would cost
// more than reading, because a processor cannot predict where words end.

import { UnitBuffer } from '../../tokens/characters.ts';

/** Longer runs without a break are data (base64, minified code), not names. */
export const MAX_LENGTH = 120;
export const MIN_LENGTH = 3;

/**
 * Least digits of a bare number that counts as an id: of a comment, a run, a process. Shorter ones are mostly counts and sizes.
 */
export const LEAST_DIGITS = 5;

/** Character classes as bits: an upper-case letter is `LETTER | UPPER`, a character that ends a run is 0. */
export const LETTER = 1;
export const DIGIT = 2;
export const JOINER = 4;
export const UPPER = 8;

/** Classes of the characters below 128; all others end a run. */
export const KIND = new Uint8Array(128);
for (let code = 0; code < 128; code++) {
  if (code >= 97 && code <= 122) KIND[code] = LETTER;
  else if (code >= 65 && code <= 90) KIND[code] = LETTER | UPPER;
  else if (code >= 48 && code <= 57) KIND[code] = DIGIT;
  else if ('_./-@#~+'.includes(String.fromCharCode(code))) KIND[code] = JOINER;
}

const BACKTICK = 96;
const BACKSLASH = 92;

/** Classes by the columns of the automaton. The first ends a run, and so does a backtick, which may quote it. */
const COLUMNS = [0, 0, LETTER, LETTER | UPPER, DIGIT, JOINER];
const QUOTE = 1;
const COLUMN = Uint8Array.from(KIND, (kind, code) => (code === BACKTICK ? QUOTE : COLUMNS.indexOf(kind)));

/** What is known of a run up to some character. */
interface State {
  /** Classes that count: a joiner once it joins, a capital after a small letter. */
  readonly seen: number;
  /** Class of the last character, 0 before the first. */
  readonly before: number;
  /** Length of an all-digit run, at most `LEAST_DIGITS`; 0 for any other run. */
  readonly digits: number;
}

const START: State = { seen: 0, before: 0, digits: 0 };

function stateAfter({ seen, before, digits }: State, kind: number): State {
  // A joiner at the end of a run is punctuation; before a letter or digit it joins. A single capital begins a sentence.
  if (kind === JOINER) return { seen, before: JOINER, digits: counted(seen, digits) };
  const shown = (kind & UPPER) === 0 || before === LETTER ? kind : LETTER;
  const now = seen | (before & JOINER) | shown;
  return { seen: now, before: kind, digits: counted(now, digits) };
}

function counted(seen: number, digits: number): number {
  return seen === DIGIT ? Math.min(LEAST_DIGITS, digits + 1) : 0;
}

/** Words and short numbers are not identifiers unless quoted. */
function isPlain({ seen, digits }: State): boolean {
  return seen === LETTER || (seen === DIGIT && digits < LEAST_DIGITS);
}

/** The state after the end of a run that may be an identifier: in any context, or only in quotes. */
const FOUND = -1;
const FOUND_IF_QUOTED = -2;

function afterEnd(state: State, column: number): number {
  if ((state.seen & (LETTER | DIGIT)) === 0) return 0;
  if (!isPlain(state)) return FOUND;
  return column === QUOTE ? FOUND_IF_QUOTED : 0;
}

/** Next states by state and column; a state is the offset of its row, and the start is 0. */
const NEXT = nextStates();

function nextStates(): Int16Array {
  const states = [START];
  const numbers = new Map([[keyOf(START), 0]]);
  const rowOf = (state: State): number => {
    const number = numbers.get(keyOf(state)) ?? states.push(state) - 1;
    numbers.set(keyOf(state), number);
    return number * COLUMNS.length;
  };
  const next: number[] = [];
  // The list grows during the iteration, until no new state appears.
  for (const state of states) {
    for (const [column, kind] of COLUMNS.entries()) {
      next.push(kind === 0 ? afterEnd(state, column) : rowOf(stateAfter(state, kind)));
    }
  }
  return Int16Array.from(next);
}

function keyOf({ seen, before, digits }: State): string {
  return `${seen} ${before} ${digits}`;
}

/** A run in place: `units` from `from` to `to`, without the letter of a preceding escape. */
export interface ScannedRun {
  readonly units: Uint16Array;
  readonly from: number;
  readonly to: number;
  /** Whether backticks enclose it. */
  readonly isQuoted: boolean;
  readonly hash: number;
}

/** Receives a run, which is valid for this call only: the next run overwrites it. */
export type VisitRun = (run: ScannedRun) => void;

/** One object for all runs of a text. */
class RunAtHand implements ScannedRun {
  readonly units: Uint16Array;
  from = 0;
  to = 0;
  isQuoted = false;
  hash = 0;

  constructor(units: Uint16Array) {
    this.units = units;
  }
}

/** Calls `visit` with every run of a text that may be an identifier, including repetitions, in order. Linear. */
export function scanRuns(text: string, visit: VisitRun): void {
  const { length } = text;
  const buffer = takeBuffer(length);
  buffer.write(text);
  // Copied to locals for the loop, because a bundle turns module constants into variables.
  const [next, columns, { units }] = [NEXT, COLUMN, buffer];
  const run = new RunAtHand(units);
  let state = 0;
  for (let at = 0; at < length; at++) {
    const code = units[at] ?? 0;
    state = next[state + (code < 128 ? (columns[code] ?? 0) : 0)] ?? 0;
    if (state >= 0) continue;
    if (isRun(run, length, at, state === FOUND_IF_QUOTED)) visit(run);
    state = 0;
  }
  if (next[state] === FOUND && isRun(run, length, length, false)) visit(run);
  spare = buffer;
}

/** Size of a buffer kept for the next text, in characters: nearly all texts fit. */
const KEPT_UNITS = 1 << 16;
let spare: UnitBuffer | undefined;

/** A buffer of at least `length` characters. The caller owns the spare one alone, in case `visit` scans as well. */
function takeBuffer(length: number): UnitBuffer {
  if (length > KEPT_UNITS) return new UnitBuffer(length);
  const buffer = spare ?? new UnitBuffer(KEPT_UNITS);
  spare = undefined;
  return buffer;
}

/**
 * Finds the beginning of the run that ends at `end`; returns false if it is not an identifier. `length` is that of the text.
 */
function isRun(run: RunAtHand, length: number, end: number, mustBeQuoted: boolean): boolean {
  const { units } = run;
  let start = end;
  let hash = 0;
  let hashWithoutFirst = 0;
  for (; start > 0; start--) {
    const code = units[start - 1] ?? 0;
    if (code >= 128 || KIND[code] === 0) break;
    hashWithoutFirst = hash;
    hash = (Math.imul(hash, 31) + code) | 0;
  }
  if (end - start < MIN_LENGTH || end - start > MAX_LENGTH) return false;
  const before = start === 0 ? 0 : units[start - 1];
  run.isQuoted = before === BACKTICK && end < length && units[end] === BACKTICK;
  if (mustBeQuoted && !run.isQuoted) return false;
  const isBehindEscape = before === BACKSLASH && isEscape(units[start]);
  run.from = isBehindEscape ? start + 1 : start;
  run.to = end;
  run.hash = isBehindEscape ? hashWithoutFirst : hash;
  return true;
}

/**
 * Whether a letter after a backslash belongs to an escape, as in `\\nfound`; a name after a Windows path's `\\` loses only its
 * first letter.
 */
function isEscape(code: number | undefined): boolean {
  return code === 110 || code === 114 || code === 116;
}
