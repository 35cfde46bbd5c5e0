// Items of a numbered list from user or agent, and the agent's statements about each: if a request has several parts, a
// successor must know which of them are done.

import { clip, detached, oneLine, sentencesOf, withoutEmphasis } from '../../text/sentences.ts';
import type { LogMoment } from '../ledgers/files.ts';
import type { ItemList, ListedItem, Reply } from '../trail.ts';

const LEAST_ITEMS = 3;
const MOST_ITEMS = 20;
const ITEM_LENGTH = 60;
const SAID_LENGTH = 160;
/** Most items that a sentence may name and still say something about each. */
const MOST_TOGETHER = 2;
/** A message up to this many characters continues the previous answer rather than being complete on its own. */
export const LONGEST_FOLLOW_UP = 200;

/** A row that begins with its number. */
const NUMBERED_ROW = /^\s{0,3}(?:[*_]{2})?(\d{1,2})[.)](?:[*_]{2})? +(\S.*)$/;

/** A table row with its number in the first cell. */
const TABLE_ROW = /^\s*\|\s*[*_#`]{0,3}(\d{1,2})[*_`]{0,3}\s*\|(.*\S)/;

/** How an agent refers to one or several items by number. Steps and phases nearly always belong to something else. */
const NAMED_ITEM =
  /\b(items?|points?|tasks?|issues?|findings?|comments?|problems?|suggestions?|questions?|todos?|bugs?|fix(?:es)?|requests?)\s+#?(\d{1,2}(?:\s*(?:,|-|–|&|and|to|\+)\s*(?:and\s*)?#?\d{1,2})*)(?!\.?\d|%)/gi;

/** How an agent refers to all items at once. */
const ALL_ITEMS =
  /\b(?:all|each|every|both|the rest)\b.{0,24}\b(?:items?|points?|tasks?|issues?|findings?|comments?|problems?|suggestions?|questions?|todos?|bugs?|fix(?:es)?|requests?)\b/i;

/** How a user omits or selects items: the others may then not be wanted. */
const NARROWED =
  /\b(?:skip|ignore|drop|except|without|leave|not|but|only|just|do|fix|items?|points?|numbers?)\s+#?\d{1,2}(?![\d.%])/i;

/** Words that identify the item a sentence is about, and how many of another item's words outweigh its number. */
const WORD = /[\p{L}\p{N}_]{4,}/gu;
const OTHER_ITEM_WORDS = 2;

/** An item whose changes are still being recorded. */
type OpenItem = ListedItem & { readonly changed: string[] };

interface Listing {
  readonly turn: number;
  readonly by: ItemList['by'];
  readonly items: Map<number, OpenItem>;
  /** Words that occur in no other item. */
  readonly words: ReadonlyMap<number, ReadonlySet<string>>;
  readonly isNarrowed: boolean;
}

/** Follows the newest list whose items were mentioned by number. */
export class ItemLedger {
  #list: Listing | undefined;
  /** A newer list from the agent, whose numbers have not been mentioned yet. */
  #given: Listing | undefined;
  #hasTasks = false;
  /** The items named last, until the user speaks: changes made meanwhile belong to them. */
  #spoken: OpenItem[] = [];
  readonly #touched = new Set<number>();

  /** From now on a tool numbers its own tasks: "task 4" no longer refers to a list. */
  noteTasks(): void {
    this.#hasTasks = true;
  }

  /** Takes in a message of the user. @param replied the agent's answer before it */
  addRequest(text: string, turn: number, replied: Reply | undefined): void {
    this.#spoken = [];
    const own = listingOf(text, turn, 'user');
    if (own !== undefined) this.#follow(own);
    if (own !== undefined || replied === undefined || text.length > LONGEST_FOLLOW_UP) return;
    const taken = listingOf(replied.text, replied.turn, 'agent');
    if (taken !== undefined) this.#follow({ ...taken, isNarrowed: NARROWED.test(text) });
  }

  /** Takes in a message of the agent. */
  addAnswer(text: string, moment: LogMoment): void {
    if (this.#list !== undefined || this.#given !== undefined)
      for (const sentence of sentencesOf(text)) this.#addSentence(sentence, moment);
    this.#given = listingOf(text, moment.turn, 'agent') ?? this.#given;
  }

  /** The agent changed a file. */
  noteEdit(path: string): void {
    for (const { changed } of this.#spoken) if (!changed.includes(path)) changed.push(detached(path));
  }

  #addSentence(sentence: string, moment: LogMoment): void {
    if (sentence.endsWith('?')) return;
    const numbers = namedIn(sentence, this.#hasTasks);
    const isOfGiven = numbers.length > 0 && this.#isOfGiven(sentence, numbers);
    if (isOfGiven === undefined) return;
    if (isOfGiven && this.#given !== undefined) this.#follow(this.#given);
    const list = this.#list;
    if (list === undefined) return;
    for (const number of aboutIn(sentence, list)) this.#touched.add(number);
    if (numbers.length > 0) this.#spoken = [];
    if (numbers.some((number) => isOfAnother(sentence, number, list))) this.#list = undefined;
    else
      for (const number of numbers)
        this.#say(number, sentence, { ...moment, isTogether: numbers.length > MOST_TOGETHER });
  }

  #say(
    number: number,
    sentence: string,
    { turn, position, isTogether }: LogMoment & { readonly isTogether: boolean },
  ): void {
    const items = this.#list?.items;
    const item = items?.get(number);
    // A statement about many items counts less than one about a single item.
    if (item === undefined || (isTogether && item.statement !== undefined)) return;
    // Moved to the end: the newest comes last.
    items?.delete(number);
    const statement = detached(clip(oneLine(withoutEmphasis(sentence)), SAID_LENGTH));
    const updated: OpenItem = { ...item, statement: statement, turn, position, changed: [] };
    items?.set(number, updated);
    this.#spoken.push(updated);
  }

  /** Whether a sentence means the newer list; undefined if it may mean either. */
  #isOfGiven(sentence: string, numbers: readonly number[]): boolean | undefined {
    const [isGiven, isListed] = [this.#given, this.#list].map(
      (list) => list !== undefined && numbers.every((number) => list.items.has(number)),
    );
    if (isGiven !== true || isListed !== true) return isGiven;
    const said = wordsOf(sentence);
    const [given, listed] = [this.#given, this.#list].map(
      (list) => list !== undefined && numbers.some((number) => sharedWords(said, list.words.get(number)) > 0),
    );
    return given === listed ? undefined : given;
  }

  #follow(list: Listing): void {
    this.#list = list;
    this.#given = undefined;
    this.#touched.clear();
  }

  /** The list with the statements about it, oldest first; undefined if nobody mentioned it in this turn. */
  list(turn: number): ItemList | undefined {
    if (this.#list === undefined) return undefined;
    const { by, isNarrowed, items: all } = this.#list;
    const items = [...all.values()].map((item) => ({ ...item, changed: [...item.changed] }));
    if (!items.some((item) => item.turn === turn)) return undefined;
    const unnamed = isNarrowed ? [] : items.filter(({ statement: said }) => said === undefined);
    const silent = unnamed.filter(({ number }) => !this.#touched.has(number));
    const others = unnamed.filter(({ number }) => this.#touched.has(number));
    return { turn: this.#list.turn, by, items, silent, others };
  }
}

function listingOf(text: string, turn: number, by: ItemList['by']): Listing | undefined {
  const items = itemsOf(text);
  if (items.size === 0) return undefined;
  const words = [...items].map(([number, item]) => [number, wordsOf(item.text)] as const);
  const owners = new Map<string, number>();
  for (const [, own] of words) for (const word of own) owners.set(word, (owners.get(word) ?? 0) + 1);
  const rare = words.map(
    ([number, own]) => [number, new Set([...own].filter((word) => owners.get(word) === 1))] as const,
  );
  return { turn, by, items, words: new Map(rare), isNarrowed: false };
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(WORD));
}

function sharedWords(said: ReadonlySet<string>, words: ReadonlySet<string> = new Set()): number {
  return [...words].filter((word) => said.has(word)).length;
}

/** The items that a sentence is about according to its words, or all. */
function aboutIn(sentence: string, { items, words }: Listing): number[] {
  if (ALL_ITEMS.test(sentence)) return [...items.keys()];
  const said = wordsOf(sentence);
  return [...items.keys()].filter((number) => sharedWords(said, words.get(number)) > 0);
}

/** Whether a sentence's words belong to another item than its number: it then counts in its own list. */
function isOfAnother(sentence: string, number: number, { items, words }: Listing): boolean {
  const said = wordsOf(sentence);
  if (!items.has(number) || sharedWords(said, words.get(number)) > 0) return false;
  return [...words.values()].some((own) => sharedWords(said, own) >= OTHER_ITEM_WORDS);
}

/** The items of the last numbered list of at least three, by number. */
function itemsOf(text: string): Map<number, OpenItem> {
  let items = new Map<number, OpenItem>();
  let best = items;
  for (const row of text.split('\n')) {
    const match = NUMBERED_ROW.exec(row) ?? TABLE_ROW.exec(row);
    if (match === null) continue;
    const number = Number(match[1]);
    if (number !== items.size + 1) items = new Map();
    if (number !== items.size + 1) continue;
    const itemText = detached(clip(oneLine(withoutEmphasis(richestCell(match[2] ?? ''))), ITEM_LENGTH));
    items.set(number, { number, text: itemText, statement: undefined, turn: 0, position: -1, changed: [] });
    if (items.size >= LEAST_ITEMS && items.size <= MOST_ITEMS) best = items;
  }
  return best.size >= LEAST_ITEMS ? best : new Map();
}

/** The cell of a row with the most words: the others are ids, places, marks. */
function richestCell(row: string): string {
  if (!row.endsWith('|')) return row;
  const cells = row.split('|').map((cell) => cell.trim());
  return cells.toSorted((a, b) => wordCount(b) - wordCount(a))[0] ?? '';
}

function wordCount(text: string): number {
  return text.split(/\s+/).length;
}

/** The item numbers in a sentence, with ranges expanded. @param hasTasks whether a tool numbers its own tasks */
function namedIn(sentence: string, hasTasks: boolean): number[] {
  return [...sentence.matchAll(NAMED_ITEM)].flatMap(([, noun = '', numbers = '']) => {
    if (hasTasks && /^tasks?$/i.test(noun)) return [];
    const named: number[] = [];
    for (const [, link, digits] of numbers.matchAll(/(?:(-|–|to)\s*)?#?(\d{1,2})/g)) {
      const last = named.at(-1);
      const to = Number(digits);
      if (link !== undefined && last !== undefined)
        for (let at = last + 1; at < to && at <= MOST_ITEMS; at++) named.push(at);
      named.push(to);
    }
    return named;
  });
}
