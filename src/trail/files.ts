// What happened to each file, under its newest name.

import type { IdentifierIndex } from './identifiers.ts';
import { redact } from './redact.ts';
import { detached } from './sentences.ts';
import type { FileAction } from './calls.ts';
import type { FileTrail, LineRange } from './trail.ts';

const MAX_FILES = 1_500;
const KEPT_FILES = 1_000;
const MAX_SYMBOLS = 160;
const MAX_RANGES = 4;
const MAX_SNIPPETS = 3;
/** A new text up to this length is a small edit whose content is worth keeping. */
const SNIPPET_LENGTH = 700;
/** Characters of a written or read text that are searched for symbols. */
const SEARCHED_LENGTH = 8_000;
/** Symbols named for one file. */
const SHOWN_SYMBOLS = 60;

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
  /** In the order of the last mention, oldest first. */
  readonly symbols: Set<string>;
  /** Names that a text of the file defines. */
  readonly defined: Set<string>;
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
    if (entry !== undefined) this.#addSymbols(entry, text);
  }

  /** The files, those changed last first. */
  files(): FileTrail[] {
    return [...this.#files.values()]
      .filter((entry) => entry.edits > 0 || entry.reads > 0 || entry.state === 'deleted')
      .toSorted((a, b) => b.lastPosition - a.lastPosition)
      .map(({ symbols, defined, ...entry }) => ({
        ...entry,
        symbols: telling({ symbols, defined }, entry.path, this.#index),
      }));
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
      symbols: new Set(),
      defined: new Set(),
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
    this.#addSymbols(entry, added);
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

  #addSymbols(entry: Entry, text: string): void {
    const searched = text.slice(0, SEARCHED_LENGTH);
    for (const [, name] of searched.matchAll(DEFINITION)) {
      if (name !== undefined) addNewest(entry.defined, name);
    }
    for (const symbol of this.#index.identifiersOf(searched)) addNewest(entry.symbols, symbol);
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
  /^[ \t+]{0,24}(?:(?:export|default|pub(?:\(\w{1,12}\))?|public|private|protected|static|async|abstract|declare|final) ){0,4}(?:function\*?|func|fn|def|class|interface|type|struct|enum|trait|impl|const|let|var|module|namespace) (?:\([^)\n]{0,60}\) ?)?([A-Za-z_]\w{2,80})/gm;

function addNewest(names: Set<string>, name: string): void {
  const isKnown = names.delete(name);
  names.add(isKnown ? name : detached(name));
  for (const oldest of names) {
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
  return [...symbols]
    .filter((symbol) => symbol !== path && !/^[\d.#]+$/.test(symbol))
    .map((symbol) => ({ symbol, weight: index.weight(symbol) * (defined.has(symbol) ? DEFINED_FACTOR : 1) }))
    .toSorted((a, b) => b.weight - a.weight)
    .slice(0, SHOWN_SYMBOLS)
    .map(({ symbol }) => symbol);
}
