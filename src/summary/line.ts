// The building block of a summary: a line with what it is worth.

import { approximateTokens } from '../tokens/estimate.ts';
import { identifiersOf } from '../text/identifiers/identifiers.ts';
import { oneLine } from '../text/sentences.ts';
import type { ListPlace } from '../trail/trail.ts';

/** A line, or a few that belong together, that a summary may hold. */
export interface SummaryLine {
  /** Position in `SUMMARY_SECTIONS`. */
  readonly section: number;
  /** Ascending within a section. */
  readonly order: number;
  readonly text: string;
  /** A heading inside of the section that the first line of the group brings along. */
  readonly group?: string | undefined;
  /** A line below the group's heading that introduces this line and its like, such as the first line of a list. */
  readonly lead?: string | undefined;
  /** Where in the list that `lead` introduces. */
  readonly place?: ListPlace | undefined;
  /** The sentence that the line quotes: no other line that quotes it is taken. */
  readonly says?: string | undefined;
  /** The line without which this one means nothing. */
  readonly parent?: SummaryLine | undefined;
  /** Place in the log of the step or message of the agent that the line tells in short. */
  readonly step?: number | undefined;
  /** Lines that say less of the same: where this one stands, they do not. */
  readonly replaces?: readonly SummaryLine[] | undefined;
  /** Value by itself, in units of one strong identifier. */
  readonly value: number;
  /** Identifiers by line of the text. */
  readonly identifiers: readonly (readonly string[])[];
}

/** A line that must be there: taken before all others, in order, while its share of the budget lasts. */
export interface Floor {
  readonly lines: readonly SummaryLine[];
  /** Share of the budget that these lines may take, 0 to 1. */
  readonly share: number;
  /** `order`: as listed. `worth`: the best for their tokens first. */
  readonly by: 'order' | 'worth';
}

/** Positions in `SUMMARY_SECTIONS`. */
export const SECTION = {
  request: 0,
  concepts: 1,
  files: 2,
  errors: 3,
  solving: 4,
  messages: 5,
  pending: 6,
  current: 7,
  next: 8,
} as const;

/** What a line is made of; its identifiers where they are known without reading its text. */
export type LineParts = Omit<SummaryLine, 'identifiers'> & Partial<Pick<SummaryLine, 'identifiers'>>;

/** A class, so that all lines have one shape: an engine reads thousands of them by one layout, whatever they lack. */
class WrittenLine implements SummaryLine {
  readonly section: number;
  readonly order: number;
  readonly text: string;
  readonly group: string | undefined;
  readonly lead: string | undefined;
  readonly place: ListPlace | undefined;
  readonly says: string | undefined;
  readonly parent: SummaryLine | undefined;
  readonly step: number | undefined;
  readonly replaces: readonly SummaryLine[] | undefined;
  readonly value: number;
  #identifiers: SummaryLine['identifiers'] | undefined;

  constructor(parts: LineParts) {
    const { section, order, text, group, lead, place, says, parent, step, replaces, value, identifiers } =
      parts;
    this.section = section;
    this.order = order;
    this.text = text;
    this.group = group ?? parent?.group;
    this.lead = lead;
    this.place = place;
    this.says = says;
    this.parent = parent;
    this.step = step;
    this.replaces = replaces;
    this.value = value;
    this.#identifiers = identifiers;
  }

  get identifiers(): SummaryLine['identifiers'] {
    return (this.#identifiers ??= identifiersByRow(this.text));
  }
}

/**
 * Makes a line; its identifiers are read off its text when they are asked for, since most of what a summary could say is
 * never weighed. Its group is that of its parent where it names none.
 */
export function summaryLine(parts: LineParts): SummaryLine {
  return new WrittenLine(parts);
}

/** Lines that mean nothing without another one and are put together once that one is taken: most never are. */
export class LazyLines {
  readonly parent: SummaryLine;
  readonly #make: () => readonly SummaryLine[];
  #lines: readonly SummaryLine[] | undefined;

  /** @param make gives lines of the section of `parent`, which is the parent of each */
  constructor(parent: SummaryLine, make: () => readonly SummaryLine[]) {
    this.parent = parent;
    this.#make = make;
  }

  get section(): number {
    return this.parent.section;
  }

  get lines(): readonly SummaryLine[] {
    return (this.#lines ??= this.#make());
  }
}

/** The identifiers of a text in the form that a line has them. */
export function identifiersByRow(text: string): readonly (readonly string[])[] {
  return text.includes('\n') ? text.split('\n').map((row) => identifiersOf(row)) : [identifiersOf(text)];
}

/** Characters from which on a row says the same wherever it stands, and by which it is known again. */
const LEAST_SAID = 40;
const KNOWN_BY = 60;

/** What a row of a file says, whether it stands below the file, in an edit or in what a reader printed; none where it is short. */
export function rowSaid(row: string): string | undefined {
  const said = row.replace(/^\s*(?:[+-] +)?(?:\d+(?:→|\t|: ))?\s*/, '').slice(0, KNOWN_BY);
  return said.length < LEAST_SAID ? undefined : said;
}

/** Characters of a text that cost about so many tokens: four each in English, one or two in Chinese. */
export function charactersFor(tokens: number, text: string): number {
  return Math.floor((tokens * text.length) / Math.max(1, approximateTokens(text)));
}

/** Whether a text costs no more than about so many tokens. */
export function isWithin(tokens: number, text: string): boolean {
  return approximateTokens(text) <= tokens;
}

/** A text as a quotation on one line. */
export function quoted(text: string): string {
  return `"${oneLine(text)}"`;
}

/** Names as a list. A name that looks like a word is marked as one; the marks would cost others a third of their tokens. */
export function listed(names: readonly string[]): string {
  return names.map((name) => (/^[A-Za-z][a-z]*$/.test(name) ? `\`${name}\`` : name)).join(', ');
}

/** A call on a variable of one or two letters (`t.Error`, `m.get`): what it is called on stands nowhere. */
export function isAnonymous(name: string): boolean {
  return /^[A-Za-z]{1,2}\.\w+$/.test(name);
}
