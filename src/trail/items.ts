// Items of a numbered list that user or agent gave, and what the agent said of each: where a request has several parts,
// a successor must know which of them are done.

import { clip, detached, oneLine, sentencesOf, withoutEmphasis } from './sentences.ts';
import type { ItemList, ListedItem, Reply } from './trail.ts';

const LEAST_ITEMS = 3;
const MOST_ITEMS = 20;
const ITEM_LENGTH = 60;
const SAID_LENGTH = 160;
/** Items that a sentence may name and still say something of each. */
const MOST_TOGETHER = 2;
/** Characters of a message up to which it goes on from the answer before it rather than saying all itself. */
export const LONGEST_FOLLOW_UP = 200;

/** A row that begins with its number. */
const NUMBERED_ROW = /^\s{0,3}(?:[*_]{2})?(\d{1,2})[.)](?:[*_]{2})? +(\S.*)$/;

/** How an agent names an item by its number, or several by theirs. Steps and phases are nearly always those of something else. */
const NAMED_ITEM =
  /\b(?:items?|points?|tasks?|issues?|findings?|comments?|problems?|suggestions?|questions?|todos?|bugs?|fix(?:es)?|requests?)\s+#?(\d{1,2}(?:\s*(?:,|-|–|&|and|to|\+)\s*(?:and\s*)?#?\d{1,2})*)(?!\.?\d|%)/gi;

/** Follows the newest list. */
export class ItemLedger {
  #list: { readonly turn: number; readonly items: Map<number, ListedItem> } | undefined;

  /** Takes a message of the user in. @param replied the agent's answer before it */
  addRequest(text: string, turn: number, replied: Reply | undefined): void {
    const own = itemsOf(text);
    const items = own.size > 0 || text.length > LONGEST_FOLLOW_UP ? own : itemsOf(replied?.text ?? '');
    if (items.size > 0) this.#list = { turn, items };
  }

  /** Takes what the agent said in. */
  addAnswer(text: string, turn: number): void {
    const items = this.#list?.items;
    if (items === undefined || text.search(NAMED_ITEM) < 0) return;
    for (const sentence of sentencesOf(text)) {
      if (sentence.endsWith('?')) continue;
      const numbers = namedIn(sentence);
      for (const number of numbers) {
        const item = items.get(number);
        // What is said of many together says less of each than what was said of it alone.
        if (item === undefined || (numbers.length > MOST_TOGETHER && item.said !== undefined)) continue;
        // Moved to the end: the newest comes last.
        items.delete(number);
        const said = detached(clip(oneLine(withoutEmphasis(sentence)), SAID_LENGTH));
        items.set(number, { ...item, said, turn });
      }
    }
  }

  /** The list with what was said of it, oldest word first; undefined where in this turn nobody spoke of it. */
  list(turn: number): ItemList | undefined {
    if (this.#list === undefined) return undefined;
    const items = [...this.#list.items.values()];
    if (!items.some((item) => item.turn === turn)) return undefined;
    return { turn: this.#list.turn, items };
  }
}

/** The items of the last numbered list of at least three, by number. */
function itemsOf(text: string): Map<number, ListedItem> {
  let items = new Map<number, ListedItem>();
  let best = items;
  for (const row of text.split('\n')) {
    const match = NUMBERED_ROW.exec(row);
    if (match === null) continue;
    const number = Number(match[1]);
    if (number !== items.size + 1) items = new Map();
    if (number !== items.size + 1) continue;
    const told = detached(clip(oneLine(withoutEmphasis(match[2] ?? '')), ITEM_LENGTH));
    items.set(number, { number, text: told, said: undefined, turn: 0 });
    if (items.size >= LEAST_ITEMS && items.size <= MOST_ITEMS) best = items;
  }
  return best.size >= LEAST_ITEMS ? best : new Map();
}

/** The numbers that a sentence names items by, ranges spelled out. */
function namedIn(sentence: string): number[] {
  return [...sentence.matchAll(NAMED_ITEM)].flatMap(([, numbers = '']) => {
    const named: number[] = [];
    for (const [, link, digits] of numbers.matchAll(/(-|–|to)?\s*#?(\d{1,2})/g)) {
      const last = named.at(-1);
      const to = Number(digits);
      if (link !== undefined && last !== undefined)
        for (let at = last + 1; at < to && at <= MOST_ITEMS; at++) named.push(at);
      named.push(to);
    }
    return named;
  });
}
