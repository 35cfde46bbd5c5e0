// What happened to each file, under its newest name.

import type { IdentifierIndex } from './identifiers.ts';
import { redact, redactPrivateKeys } from './redact.ts';
import { detached, rowAt } from './sentences.ts';
import type { FileAction } from './calls.ts';
import type { FileRow, FileTrail, LineRange } from './trail.ts';

const MAX_FILES = 1_500;
const KEPT_FILES = 1_000;
const MAX_SYMBOLS = 160;
const MAX_RANGES = 4;
const MAX_SNIPPETS = 3;
/** A new text up to this length is a small edit whose content is worth keeping. */
const SNIPPET_LENGTH = 700;
/** Characters of a written or read text that are searched for symbols. */
const SEARCHED_LENGTH = 16_000;
/** Symbols named for one file. */
const SHOWN_SYMBOLS = 60;
/** Files whose lines are told at most, and characters of one line. */
const FILES_WITH_ROWS = 60;
const ROW_LENGTH = 110;

interface Entry {
  path: string;
  state: FileTrail['state'];
  reads: number;
  edits: number;
  ranges: LineRange[];
  renamedFrom: string[];
  lastTurn: number;
  lastEditTurn: number;
  lastPosition: number;
  snippets: string[];
  /** With the newest text of the file that holds it, in the order of the last mention, oldest first. */
  readonly symbols: Map<string, Content>;
  /** Names that a text of the file defines, with the word of the language that introduces each. */
  readonly defined: Map<string, string>;
}

/** A text that was read from a file or written to it. */
interface Content {
  readonly text: string;
  readonly isWritten: boolean;
}

/** Where in the session something happened. */
export interface Moment {
  readonly turn: number;
  readonly position: number;
}

/** Collects file actions; memory is bounded by the limits above. */
export class FileLedger {
  readonly #index: IdentifierIndex;
  #files = new Map<string, Entry>();

  /** @param index has taken in every text before it is noted here */
  constructor(index: IdentifierIndex) {
    this.#index = index;
  }

  /** Takes one action in; its path is already relative to the working directory. */
  add(action: FileAction, moment: Moment): void {
    const entry = this.#entry(action.path);
    entry.lastTurn = moment.turn;
    entry.lastPosition = moment.position;
    if (action.action === 'read') {
      entry.reads++;
      if (action.range !== undefined) entry.ranges = [...entry.ranges, action.range].slice(-MAX_RANGES);
      return;
    }
    entry.lastEditTurn = moment.turn;
    if (action.action === 'move') this.#move(entry, action.to ?? action.path);
    else if (action.action === 'delete') {
      entry.state = 'deleted';
      entry.snippets = [];
    } else this.#write(entry, action);
  }

  /** Notes the symbols of a text that was read from a file. */
  noteContent(path: string, text: string): void {
    const entry = this.#files.get(path);
    if (entry !== undefined) this.#addSymbols(entry, text, false);
  }

  /** The files, those changed last first. */
  files(): FileTrail[] {
    return [...this.#files.values()]
      .filter((entry) => entry.edits > 0 || entry.reads > 0 || entry.state === 'deleted')
      .toSorted((a, b) => b.lastPosition - a.lastPosition)
      .map(({ symbols, defined, ...entry }, at) => {
        const names = telling({ symbols, defined }, entry.path, this.#index);
        return {
          ...entry,
          symbols: names,
          definitions: new Map([...defined].filter(([name]) => symbols.has(name))),
          rows: at < FILES_WITH_ROWS ? rowsOf(names, symbols, defined) : [],
        };
      });
  }

  #entry(path: string): Entry {
    const known = this.#files.get(path);
    if (known !== undefined) {
      this.#files.delete(path);
      this.#files.set(path, known);
      return known;
    }
    const entry: Entry = {
      path: detached(path),
      state: 'read',
      reads: 0,
      edits: 0,
      ranges: [],
      renamedFrom: [],
      lastTurn: 0,
      lastEditTurn: 0,
      lastPosition: 0,
      snippets: [],
      symbols: new Map(),
      defined: new Map(),
    };
    this.#files.set(entry.path, entry);
    if (this.#files.size > MAX_FILES) this.#prune();
    return entry;
  }

  #write(entry: Entry, action: FileAction): void {
    const isNew = action.action === 'create' && entry.reads === 0 && entry.edits === 0;
    entry.state = isNew || entry.state === 'created' || entry.state === 'deleted' ? 'created' : 'edited';
    entry.edits++;
    entry.ranges = [];
    const added = action.added ?? '';
    if (action.action === 'create') entry.snippets = [];
    if (added.trim() !== '' && added.length <= SNIPPET_LENGTH) {
      entry.snippets = [...entry.snippets, detached(redact(added))].slice(-MAX_SNIPPETS);
    }
    this.#addSymbols(entry, added, true);
  }

  #move(entry: Entry, to: string): void {
    this.#files.delete(entry.path);
    const replaced = this.#files.get(to);
    entry.renamedFrom = [...entry.renamedFrom, entry.path].slice(-3);
    entry.path = detached(to);
    if (entry.state === 'read') entry.state = 'edited';
    entry.edits += 1 + (replaced?.edits ?? 0);
    this.#files.set(entry.path, entry);
  }

  #addSymbols(entry: Entry, text: string, isWritten: boolean): void {
    const searched = redactPrivateKeys(text.slice(0, SEARCHED_LENGTH));
    for (const [, kind, name] of searched.matchAll(DEFINITION)) {
      if (kind !== undefined && name !== undefined) noteNewest(entry.defined, name, kind);
    }
    const content = { text: detached(searched), isWritten };
    for (const symbol of this.#index.identifiersOf(searched)) {
      entry.symbols.delete(symbol);
      entry.symbols.set(symbol, content);
    }
    forgetOldest(entry.symbols);
  }

  #prune(): void {
    const byValue = [...this.#files.values()].toSorted(
      (a, b) => Number(b.edits > 0) - Number(a.edits > 0) || b.lastPosition - a.lastPosition,
    );
    for (const entry of byValue.slice(KEPT_FILES)) this.#files.delete(entry.path);
  }
}

/** How a line of the common languages introduces a name. */
const DEFINITION =
  /^(?: {0,8}\d{1,6}(?:→|\t))?[ \t+]{0,24}(?:(?:export|default|pub(?:\(\w{1,12}\))?|public|private|protected|static|async|abstract|declare|final) ){0,4}(function\*?|func|fn|def|class|interface|type|struct|enum|trait|impl|const|let|var|module|namespace) (?:\([^)\n]{0,60}\) ?)?([A-Za-z_]\w{2,80})/gm;

function noteNewest(names: Map<string, string>, name: string, kind: string): void {
  const isKnown = names.delete(name);
  names.set(isKnown ? name : detached(name), detached(kind));
  forgetOldest(names);
}

function forgetOldest(names: Map<string, unknown>): void {
  for (const oldest of names.keys()) {
    if (names.size <= MAX_SYMBOLS) break;
    names.delete(oldest);
  }
}

/** What a file defines names it better than what it uses. */
const DEFINED_FACTOR = 2.5;

function telling(
  { symbols, defined }: Pick<Entry, 'symbols' | 'defined'>,
  path: string,
  index: IdentifierIndex,
): string[] {
  return [...symbols.keys()]
    .filter((symbol) => symbol !== path && !/^[\d.#]+$/.test(symbol))
    .map((symbol) => ({ symbol, weight: index.weight(symbol) * (defined.has(symbol) ? DEFINED_FACTOR : 1) }))
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, SHOWN_SYMBOLS)
    .map(({ symbol }) => symbol);
}

/** A line that only says what other files are asked for. */
const IMPORTING = /^(?:import\b|from \S+ import|use \w+::|#include|(?:const|var|let) .* = require\()/;

/** A line of a search, which tells of another file: `src/a.ts:12: …`. */
const FOUND_ELSEWHERE = /^[\w./-]+\.\w+[:-]\d+[:-]/;

/**
 * The lines that name the symbols, each once, those of one text in its order. What a file that was read defines is told by
 * kind and name: its lines would say little more in three times the room.
 */
function rowsOf(
  names: readonly string[],
  symbols: ReadonlyMap<string, Content>,
  defined: ReadonlyMap<string, string>,
): FileRow[] {
  const found = new Map<string, FileRow & { readonly content: Content; readonly at: number }>();
  const texts = new Map<Content, ReadText>();
  for (const name of names) {
    const content = symbols.get(name);
    if (content === undefined) continue;
    const read = texts.get(content) ?? { definitions: undefined, seen: new Set() };
    texts.set(content, read);
    if (defined.has(name)) read.definitions ??= definitionsIn(content.text);
    const definedAt = defined.has(name) ? read.definitions?.get(name) : undefined;
    const isDefinition = definedAt !== undefined;
    if (isDefinition && !content.isWritten) continue;
    // Imports come first in a file.
    const at = definedAt ?? content.text.lastIndexOf(name);
    if (at < 0 || isSeen(read, content.text, at, isDefinition)) continue;
    const text = tellableRow(content, name, at, isDefinition);
    if (text === '' || found.has(text)) continue;
    found.set(text, { text, isWritten: content.isWritten, isDefinition, content, at });
  }
  const order = new Map(
    [...new Set([...found.values()].map(({ content }) => content))].map((c, at) => [c, at]),
  );
  return [...found.values()]
    .toSorted((a, b) => (order.get(a.content) ?? 0) - (order.get(b.content) ?? 0) || a.at - b.at)
    .map(({ text, isWritten, isDefinition }) => ({ text, isWritten, isDefinition }));
}

/** What is known of a text that many names stand in. */
interface ReadText {
  /** Where it defines which name. */
  definitions: ReadonlyMap<string, number> | undefined;
  /** Lines that were looked at, as twice the place of their beginning, one more as a definition. */
  readonly seen: Set<number>;
}

/** Where a text defines its names, each for the first time. */
function definitionsIn(text: string): ReadonlyMap<string, number> {
  const places = new Map<string, number>();
  for (const { 0: match, 2: name = '', index } of text.matchAll(DEFINITION)) {
    if (!places.has(name)) places.set(name, index + match.length - name.length);
  }
  return places;
}

/** Whether a line was looked at for another name: one that is told whole reads the same for all of its names. */
function isSeen({ seen }: ReadText, text: string, at: number, isDefinition: boolean): boolean {
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  if ((end < 0 ? text.length : end) - from > ROW_LENGTH) return false;
  const line = 2 * from + Number(isDefinition);
  if (seen.has(line)) return true;
  seen.add(line);
  return false;
}

/** What a line has to hold to tell something by itself: a definition does, a lone argument or brace does not. */
const LEAST_ROW = 28;
const LEAST_WORDS = 3;

/** A field with a value of one word, which says nothing without what it is a field of. */
const LONE_FIELD = /^["']?[\w.-]+["']?\s*[:=]\s*\S+[,;]?$/;

/** Characters around a name in which a secret is known before the line is cut: half of one has no shape. */
const REDACTED_LENGTH = 1_000;

/** A line with its number, where a reader printed one; empty where it tells nothing or might be a part of a secret. */
function tellableRow({ text }: Content, name: string, at: number, isDefinition: boolean): string {
  const whole = redact(rowAt(text, at, REDACTED_LENGTH));
  const row = rowAt(whole, Math.max(0, whole.indexOf(name)), ROW_LENGTH);
  const numbered = row.replace(/^(\d{1,6})(?:→|\t| {2,})\s*/, '$1: ');
  const bare = numbered.replace(/^\d+: /, '');
  if (!isDefinition && (bare.length < LEAST_ROW || (bare.match(/[A-Za-z]{2,}/g) ?? []).length < LEAST_WORDS))
    return '';
  const isData =
    /^<[^<>]*>$/.test(bare) ||
    (!isDefinition && LONE_FIELD.test(bare)) ||
    (bare.length > 40 && !bare.includes(' '));
  return isData || FOUND_ELSEWHERE.test(bare) || IMPORTING.test(bare) ? '' : numbered;
}
