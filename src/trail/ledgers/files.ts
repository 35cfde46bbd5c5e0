// What happened to each file, under its newest name.

import { codeAt } from '../../tokens/characters.ts';
import type { IdentifierIndex } from '../../text/identifiers/identifiers.ts';
import { DEFINITION, definedIn, LASTING_KIND } from './definitions.ts';
import { lazyRows } from './file-rows.ts';
import { bringUpToDate, isTouched, trimmedLines } from '../calls/known-text.ts';
import type { FileChange, KnownText } from '../calls/known-text.ts';
import { redact, withoutSecrets } from '../../text/redact.ts';
import { detached } from '../../text/sentences.ts';
import type { FileAction } from '../calls/calls.ts';
import type { FileTrail, Removal } from '../trail.ts';
import type { LineRange } from '../../shell/file-actions.ts';

const MAX_FILES = 1_500;
const KEPT_FILES = 1_000;
const MAX_SYMBOLS = 160;
const MAX_RANGES = 4;
const MAX_MISSING = 12;
const MAX_SNIPPETS = 3;
/** A new text up to this length is a small edit whose content is worth keeping. */
const SNIPPET_LENGTH = 700;
/** Characters of a written or read text that are searched for symbols. */
const SEARCHED_LENGTH = 16_000;
/** Characters of edits that wait to be applied to a file's texts. A longer edit discards those texts entirely. */
const WAITING_LENGTH = 64_000;
/** Symbols listed for one file. */
const SHOWN_SYMBOLS = 60;
/** Most files whose lines are shown. */
const FILES_WITH_ROWS = 60;

interface FileEntry {
  path: string;
  state: FileTrail['state'];
  /** Position at which the session appears to have created it; −1 if it existed before. */
  madeAt: number;
  /** It was read in full since the newest edit. */
  isReadWhole: boolean;
  isRestored: boolean;
  reads: number;
  edits: number;
  /** Position of the first change that still applies; −1 without one. */
  firstEditPosition: number;
  ranges: LineRange[];
  lines: number | undefined;
  hasGaps: boolean;
  renamedFrom: string[];
  lastTurn: number;
  lastEditTurn: number;
  lastEditPosition: number;
  lastPosition: number;
  snippets: { readonly text: string; readonly changes: number }[];
  /** Each with the newest text of the file that contains it, ordered by last mention, oldest first. */
  readonly symbols: Map<string, KnownText>;
  /** Names that a text of the file defines, each with the keyword that introduces it. */
  readonly defined: Map<string, string>;
  /** The changes so far, and those not yet applied to the texts. */
  changes: number;
  waiting: FileChange[];
  waitingLength: number;
}

/** A point in the session. */
export interface LogMoment {
  readonly turn: number;
  readonly position: number;
}

/** What git discarded when it restored files. */
export interface Restoring {
  /** Git kept changes up to this position. */
  readonly since: number;
  /** Whether it discarded changes of a file. */
  readonly isUndone: (path: string) => boolean;
}

/** Collects file actions; the limits above bound its memory. */
export class FileLedger {
  readonly #index: IdentifierIndex;
  #files = new Map<string, FileEntry>();
  readonly #removed = new Map<string, Removal>();
  readonly #missing = new Set<string>();

  /** @param index has indexed every text before this ledger receives it */
  constructor(index: IdentifierIndex) {
    this.#index = index;
  }

  /** Takes in one action other than `restore`; its path is already relative to the working directory. */
  add(action: FileAction, moment: LogMoment): void {
    const entry = this.#entry(action.path);
    const isSameCall = entry.lastPosition === moment.position && entry.reads > 0;
    noteMoment(entry, moment, action.action !== 'read');
    if (action.action === 'read') {
      // A call that names a file twice has read it once.
      if (!isSameCall) entry.reads++;
      entry.hasGaps = (entry.reads === 1 || entry.hasGaps) && action.extent?.hasGaps === true;
      entry.lines = action.extent?.total ?? entry.lines;
      entry.isReadWhole ||= isOfAll(action);
      // A reader of the whole file has read every part of it.
      entry.ranges =
        entry.isReadWhole || action.range === undefined
          ? []
          : [...entry.ranges, action.range].slice(-MAX_RANGES);
      return;
    }
    if (entry.isRestored && entry.firstEditPosition < 0) entry.edits = 0;
    if (entry.firstEditPosition < 0) entry.firstEditPosition = moment.position;
    entry.isRestored = false;
    if (action.action === 'move') this.#move(entry, action, moment);
    else if (action.action === 'delete') {
      entry.state = 'deleted';
      forgetText(entry);
      this.#deleteBelow(entry.path, moment);
    } else this.#write(entry, action, moment);
  }

  /**
   * Git restored its version of a file, or of every tracked file below a directory; the resulting text is unknown. Returns the
   * files whose edits it discarded; none if the session had changed none of them.
   */
  restore(path: string, moment: LogMoment, { since, isUndone }: Restoring): readonly string[] | undefined {
    const undone: string[] = [];
    let isKnown = false;
    for (const entry of this.#files.values()) {
      const isBelow = path === '.' ? !/^[/~]/.test(entry.path) : entry.path.startsWith(`${path}/`);
      // Git leaves untracked files alone: a file that appears to be new, unless the command names it.
      if (entry.edits === 0 || (entry.path !== path && (!isBelow || entry.state === 'created'))) continue;
      isKnown = true;
      forgetText(entry);
      if (!isUndone(entry.path)) continue;
      noteMoment(entry, moment, true);
      entry.isRestored = true;
      if (entry.firstEditPosition > since) entry.firstEditPosition = -1;
      undone.push(entry.path);
    }
    return isKnown ? undone : undefined;
  }

  /** Whether the session appears to have created the file. */
  isCreated(path: string): boolean {
    return this.#files.get(path)?.state === 'created';
  }

  /** Whether the session changed a file, or one in the directory with that path. */
  isChanged(path: string): boolean {
    for (const entry of this.#files.values()) {
      const isMeant = entry.path === path || entry.path.startsWith(`${path}/`);
      if (isMeant && entry.firstEditPosition >= 0) return true;
    }
    return false;
  }

  /** Git has an older text of a file, so a file that the session seemed to create since its newest commit existed before. */
  noteKnown(path: string, newestCommit: number): void {
    const entry = this.#files.get(path);
    if (entry === undefined || entry.madeAt <= newestCommit) return;
    entry.madeAt = -1;
    if (entry.state === 'created') entry.state = 'edited';
  }

  /** Indexes the symbols of a text read from a file, or of search hits in it; ignores unknown files. */
  noteContent(path: string, text: string): void {
    const entry = this.#files.get(path);
    if (entry !== undefined) this.#addSymbols(entry, text);
  }

  /** Records a file that the session tried to read but that does not exist. */
  noteMissing(path: string): void {
    if (this.#files.has(path)) return;
    this.#missing.delete(path);
    this.#missing.add(detached(path));
    if (this.#missing.size > MAX_MISSING)
      for (const oldest of [...this.#missing].slice(0, -MAX_MISSING)) this.#missing.delete(oldest);
  }

  /** Files that do not exist according to the log, the latest attempt first. */
  missing(): string[] {
    return [...this.#missing].toReversed();
  }

  /** The files, the latest change first. */
  files(): FileTrail[] {
    const weightOf = rememberedWeights(this.#index);
    return [...this.#files.values()]
      .filter((entry) => entry.reads > 0 || entry.state !== 'read')
      .toSorted((a, b) => b.lastPosition - a.lastPosition)
      .map((entry, at) => {
        catchUp(entry);
        const { symbols, defined, snippets, ...told } = withoutWorkings(entry);
        const names = telling({ symbols, defined }, entry.path, weightOf);
        return {
          ...told,
          snippets: snippets.map(({ text }) => text),
          symbols: names,
          definitions: definitionsAmong(names, defined),
          rows: at < FILES_WITH_ROWS ? lazyRows(names, entry) : () => [],
        };
      });
  }

  /** Functions and types that an edit removed and no later edit restored, by name. */
  removed(): ReadonlyMap<string, Removal> {
    return new Map(this.#removed);
  }

  #entry(path: string): FileEntry {
    this.#missing.delete(path);
    const known = this.#files.get(path);
    if (known !== undefined) {
      this.#files.delete(path);
      this.#files.set(path, known);
      return known;
    }
    const entry: FileEntry = {
      path: detached(path),
      state: 'read',
      madeAt: -1,
      isReadWhole: false,
      isRestored: false,
      reads: 0,
      edits: 0,
      firstEditPosition: -1,
      ranges: [],
      lines: undefined,
      hasGaps: false,
      renamedFrom: [],
      lastTurn: 0,
      lastEditTurn: 0,
      lastEditPosition: -1,
      lastPosition: 0,
      snippets: [],
      symbols: new Map(),
      defined: new Map(),
      changes: 0,
      waiting: [],
      waitingLength: 0,
    };
    this.#files.set(entry.path, entry);
    if (this.#files.size > MAX_FILES) this.#prune();
    return entry;
  }

  #write(entry: FileEntry, action: FileAction, moment: LogMoment): void {
    const isNew = action.action === 'create' && action.isRewrite !== true;
    if (isNew && entry.reads === 0 && entry.edits === 0 && entry.state === 'read')
      entry.madeAt = moment.position;
    entry.state = entry.madeAt >= 0 ? 'created' : 'edited';
    entry.edits++;
    if (action.action === 'create') forgetText(entry);
    this.#change(entry, action, moment);
  }

  #move(entry: FileEntry, action: FileAction, moment: LogMoment): void {
    const to = action.to ?? action.path;
    this.#files.delete(entry.path);
    this.#missing.delete(to);
    const replaced = this.#files.get(to);
    // A replacement of an existing file is that file's new text, whatever its temporary name was.
    if (replaced !== undefined && replaced.madeAt < 0) {
      entry.madeAt = -1;
      entry.state = 'edited';
      entry.renamedFrom = replaced.renamedFrom;
    } else entry.renamedFrom = [...entry.renamedFrom, entry.path].slice(-3);
    entry.path = detached(to);
    if (entry.state === 'read') entry.state = 'edited';
    entry.edits += replaced?.edits ?? 0;
    this.#files.set(entry.path, entry);
    if (action.added === undefined) return;
    // A patch moves and edits at once.
    if (action.added !== '') entry.edits++;
    this.#change(entry, action, moment);
  }

  /** Updates the known text after an edit: drops what it removed, adds what it wrote. */
  #change(entry: FileEntry, { added = '', replaced = [] }: FileAction, { position }: LogMoment): void {
    let gone: readonly string[] = [];
    entry.ranges = [];
    entry.isReadWhole = false;
    entry.lines = undefined;
    entry.changes++;
    const length = replaced.reduce((sum, { old, new: text }) => sum + old.length + text.length, 0);
    if (length > WAITING_LENGTH) forgetText(entry);
    else if (entry.symbols.size > 0 || entry.snippets.length > 0) {
      const before = definedIn(replaced.map(({ old }) => old));
      gone = before.filter((name) => LASTING_KIND.test(entry.defined.get(name) ?? ''));
      for (const name of before) entry.defined.delete(name);
      const kept = replaced.map((one) => ({ ...one, old: detached(one.old), new: detached(one.new) }));
      entry.waiting.push({ number: entry.changes, replaced: kept });
      entry.waitingLength += length;
      if (entry.waitingLength > WAITING_LENGTH) catchUp(entry);
    }
    if (added.trim() !== '' && added.length <= SNIPPET_LENGTH) {
      const snippet = { text: detached(redact(added)), changes: entry.changes };
      entry.snippets = [...entry.snippets, snippet].slice(-MAX_SNIPPETS);
    }
    this.#addSymbols(entry, added, replaced.map(({ old }) => old).join('\n'));
    for (const name of gone)
      if (!this.#isDefined(name)) noteNewest(this.#removed, name, { path: entry.path, position });
  }

  #isDefined(name: string): boolean {
    return [...this.#files.values()].some(({ defined }) => defined.has(name));
  }

  /** The contents of a deleted directory are deleted too. */
  #deleteBelow(path: string, moment: LogMoment): void {
    for (const entry of this.#files.values()) {
      if (!entry.path.startsWith(`${path}/`)) continue;
      forgetText(entry);
      if (entry.state === 'read') continue;
      noteMoment(entry, moment, true);
      entry.state = 'deleted';
    }
  }

  /** @param replaced the earlier content, for text that the agent wrote; absent for text that was read */
  #addSymbols(entry: FileEntry, text: string, replaced?: string): void {
    const searched = withoutSecrets(text.slice(0, SEARCHED_LENGTH));
    for (const [, kind, name] of searched.matchAll(DEFINITION)) {
      if (kind !== undefined && name !== undefined) {
        noteNewest(entry.defined, name, detached(kind));
        this.#removed.delete(name);
      }
    }
    const isWritten = replaced !== undefined;
    const content = {
      text: detached(searched),
      isWritten,
      replaced: detached(withoutWritten((replaced ?? '').slice(0, SEARCHED_LENGTH), entry)),
      changes: entry.changes,
    };
    const symbols = this.#index.identifiersOf(searched, MAX_SYMBOLS);
    if (symbols.length === MAX_SYMBOLS) entry.symbols.clear();
    for (const symbol of symbols) {
      entry.symbols.delete(symbol);
      entry.symbols.set(symbol, content);
    }
    forgetOldest(entry.symbols);
  }

  #prune(): void {
    const byValue = [...this.#files.values()].toSorted(
      (a, b) => Number(b.state !== 'read') - Number(a.state !== 'read') || b.lastPosition - a.lastPosition,
    );
    for (const entry of byValue.slice(KEPT_FILES)) this.#files.delete(entry.path);
  }
}

function noteMoment(entry: FileEntry, { turn, position }: LogMoment, isChange: boolean): void {
  entry.lastTurn = turn;
  entry.lastPosition = position;
  if (!isChange) return;
  entry.lastEditTurn = turn;
  entry.lastEditPosition = position;
}

/** An entry without the fields that only its ledger needs. */
function withoutWorkings(entry: FileEntry) {
  const { changes: _, waiting: __, waitingLength: ___, madeAt: ____, isReadWhole: _____, ...rest } = entry;
  const { firstEditPosition: ______, ...told } = rest;
  return told;
}

/** Whether a read showed all of a file. */
function isOfAll({ range, extent, mayBePart }: FileAction): boolean {
  return range === undefined && extent?.hasGaps !== true && mayBePart !== true;
}

/** What stood in a file is gone, whole. */
function forgetText(entry: FileEntry): void {
  entry.snippets = [];
  entry.ranges = [];
  entry.isReadWhole = false;
  entry.symbols.clear();
  entry.defined.clear();
  entry.waiting = [];
  entry.waitingLength = 0;
}

/** Lets the texts of a file take in the changes since, and forgets the names that stood only in what is gone. */
function catchUp(entry: FileEntry): void {
  const { waiting, symbols } = entry;
  if (waiting.length === 0) return;
  entry.waiting = [];
  entry.waitingLength = 0;
  entry.snippets = entry.snippets.filter(
    ({ text, changes }) =>
      !isTouched(
        text,
        waiting.filter(({ number }) => number > changes),
      ),
  );
  const known = [...new Set(symbols.values())];
  const before = new Map(known.map((one) => [one, one.text]));
  for (const one of known) bringUpToDate(one, waiting);
  const taken = new Map(known.map((one) => [one, linesTaken(before.get(one) ?? '', one.text)]));
  const newestFirst = known.toReversed();
  for (const [name, content] of symbols) {
    // A path is remembered below the working directory, which its text does not know.
    const isGone = holds(taken.get(content) ?? '', name) && !holds(content.text, name);
    // A piece of a line tells less than the line that it was put into.
    const isPiece = content.isWritten && !content.text.includes('\n');
    if (!isGone && !isPiece) continue;
    const other = newestFirst.find((one) => one !== content && holds(one.text, name));
    if (other !== undefined) symbols.set(name, other);
    else if (isGone) symbols.delete(name);
  }
}

/** The lines of a text that it lost: few, and names are looked for in all that it kept only where one of them held it. */
function linesTaken(before: string, after: string): string {
  if (before === after) return '';
  const left = new Set(after.split('\n'));
  return trimmedLines(before)
    .filter((line) => !left.has(line))
    .join('\n');
}

/** Whether a text holds a name by itself, not as a part of a longer one. */
function holds(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    if (!isWordAt(text, at - 1) && !isWordAt(text, at + name.length)) return true;
  }
  return false;
}

/** As `\w`; not so outside of the text. */
function isWordAt(text: string, at: number): boolean {
  const code = codeAt(text, at);
  return (
    (code >= SMALL_A && code <= SMALL_A + 25) ||
    (code >= LARGE_A && code <= LARGE_A + 25) ||
    (code >= ZERO && code <= ZERO + 9) ||
    code === UNDERSCORE
  );
}

const [ZERO, LARGE_A, UNDERSCORE, SMALL_A] = [0x30, 0x41, 0x5f, 0x61];

function noteNewest<Value>(names: Map<string, Value>, name: string, value: Value): void {
  const isKnown = names.delete(name);
  names.set(isKnown ? name : detached(name), value);
  forgetOldest(names);
}

function forgetOldest(names: Map<string, unknown>): void {
  if (names.size <= MAX_SYMBOLS) return;
  for (const oldest of names.keys()) {
    if (names.size <= MAX_SYMBOLS) break;
    names.delete(oldest);
  }
}

/** What a file defines names it better than what it uses. */
const DEFINED_FACTOR = 2.5;

/** What a name weighs, negative for a number. */
type WeightOf = (symbol: string) => number;

/** Looks each weight up once: many files hold the same names. */
function rememberedWeights(index: IdentifierIndex): WeightOf {
  const weights = new Map<string, number>();
  return (symbol) => {
    const known = weights.get(symbol);
    if (known !== undefined) return known;
    const weight = /^[\d.#]+$/.test(symbol) ? -1 : index.weight(symbol);
    weights.set(symbol, weight);
    return weight;
  };
}

function telling(
  { symbols, defined }: Pick<FileEntry, 'symbols' | 'defined'>,
  path: string,
  weightOf: WeightOf,
): string[] {
  const weighed: { readonly symbol: string; readonly weight: number }[] = [];
  for (const symbol of symbols.keys()) {
    const weight = symbol === path ? -1 : weightOf(symbol);
    if (weight < 0) continue;
    weighed.push({ symbol, weight: weight * (defined.has(symbol) ? DEFINED_FACTOR : 1) });
  }
  return weighed
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, SHOWN_SYMBOLS)
    .map(({ symbol }) => symbol);
}

function definitionsAmong(
  names: readonly string[],
  defined: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const name of names) {
    const kind = defined.get(name);
    if (kind !== undefined) found.set(name, kind);
  }
  return found;
}

/** What an edit replaced without the lines that an earlier edit brought. */
function withoutWritten(replaced: string, { symbols }: Pick<FileEntry, 'symbols'>): string {
  if (replaced === '') return '';
  const written = [...new Set(symbols.values())].filter(({ isWritten }) => isWritten);
  const isKnown = (line: string): boolean =>
    written.some((known) => known.text.includes(line) && !known.replaced.includes(line));
  return trimmedLines(replaced)
    .filter((line) => !isKnown(line))
    .join('\n');
}
