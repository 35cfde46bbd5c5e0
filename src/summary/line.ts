// The building block of a summary: a line with its value.

import { approximateTokens } from '../tokens/estimate.ts';
import { identifiersOf } from '../text/identifiers/identifiers.ts';
import { oneLine } from '../text/sentences.ts';
import type { ListPlace } from '../trail/trail.ts';

/** A candidate line of a summary, or a few lines that belong together. */
export interface SummaryLine {
  /** Position in `SUMMARY_SECTIONS`. */
  readonly section: number;
  /** Ascending within a section. */
  readonly order: number;
  readonly text: string;
  /** A heading inside the section that precedes the first line of the group. */
  readonly group?: string | undefined;
  /** A line below the group's heading that introduces this line and similar ones, such as the first line of a list. */
  readonly lead?: string | undefined;
  /** Its place in the list that `lead` introduces. */
  readonly place?: ListPlace | undefined;
  /** The sentence that the line quotes: only one line that quotes it is taken. */
  readonly quotes?: string | undefined;
  /** The line that this one depends on. */
  readonly parent?: SummaryLine | undefined;
  /** Log position of the agent's step or message that the line summarizes. */
  readonly step?: number | undefined;
  /** Lines with less of the same content: they are dropped if this one is taken. */
  readonly replaces?: readonly SummaryLine[] | undefined;
  /** Value in itself, in units of one strong identifier. */
  readonly value: number;
  /** Identifiers by line of the text. */
  readonly identifiers: readonly (readonly string[])[];
}

/** Required lines: taken before all others, in order, while their share of the budget lasts. */
export interface Floor {
  readonly lines: readonly SummaryLine[];
  /** Share of the budget that these lines may take, 0 to 1. */
  readonly share: number;
  /** `order`: as listed. `worth`: highest worth per token first. */
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

/** The parts of a line; its identifiers if they are known without reading its text. */
export type LineParts = Omit<SummaryLine, 'identifiers'> & Partial<Pick<SummaryLine, 'identifiers'>>;

/** A class, so that all lines have one shape: an engine then reads thousands of them by one layout, whatever they lack. */
class WrittenLine implements SummaryLine {
  readonly section: number;
  readonly order: number;
  readonly text: string;
  readonly group: string | undefined;
  readonly lead: string | undefined;
  readonly place: ListPlace | undefined;
  readonly quotes: string | undefined;
  readonly parent: SummaryLine | undefined;
  readonly step: number | undefined;
  readonly replaces: readonly SummaryLine[] | undefined;
  readonly value: number;
  #identifiers: SummaryLine['identifiers'] | undefined;

  constructor(parts: LineParts) {
    const {
      section,
      order,
      text,
      group,
      lead,
      place,
      quotes: says,
      parent,
      step,
      replaces,
      value,
      identifiers,
    } = parts;
    this.section = section;
    this.order = order;
    this.text = text;
    this.group = group ?? parent?.group;
    this.lead = lead;
    this.place = place;
    this.quotes = says;
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
 * Makes a line. Extracts its identifiers on demand, because most candidates are never weighed. Without a group of its own it
 * takes its parent's.
 */
export function summaryLine(parts: LineParts): SummaryLine {
  return new WrittenLine(parts);
}

/** Lines that depend on another one and are created only after that one is taken: most never are. */
export class LazyLines {
  readonly parent: SummaryLine;
  readonly #make: () => readonly SummaryLine[];
  #lines: readonly SummaryLine[] | undefined;

  /** @param make returns lines of the section of `parent`, which is the parent of each */
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

/** The identifiers of a text in the form that a line uses. */
export function identifiersByRow(text: string): readonly (readonly string[])[] {
  return text.includes('\n') ? text.split('\n').map((row) => identifiersOf(row)) : [identifiersOf(text)];
}

/** From this length on, a row means the same wherever it occurs, and this many characters identify it. */
const LEAST_ROW_KEY = 40;
const KNOWN_BY = 60;

/**
 * What a row of a file says, whether it is shown below the file, in an edit or in a reader's output; undefined for a short one.
 */
export function rowKey(row: string): string | undefined {
  const key = row.replace(/^\s*(?:[+-] +)?(?:\d+(?:→|\t|: ))?\s*/, '').slice(0, KNOWN_BY);
  return key.length < LEAST_ROW_KEY ? undefined : key;
}

/** Characters of a text that cost about this many tokens: four each in English, one or two in Chinese. */
export function charactersFor(tokens: number, text: string): number {
  return Math.floor((tokens * text.length) / Math.max(1, approximateTokens(text)));
}

/** Whether a text costs at most about this many tokens. */
export function isWithin(tokens: number, text: string): boolean {
  return approximateTokens(text) <= tokens;
}

/** A text as a quotation on one line. */
export function quoted(text: string): string {
  return `"${oneLine(text)}"`;
}

/**
 * Names as a list. Only names that look like words are marked; marks would make the others a third more expensive in tokens.
 */
export function listed(names: readonly string[]): string {
  return names.map((name) => (/^[A-Za-z][a-z]*$/.test(name) ? `\`${name}\`` : name)).join(', ');
}

/** A call on a variable of one or two letters (`t.Error`, `m.get`), whose object is unknown. */
export function isAnonymous(name: string): boolean {
  return /^[A-Za-z]{1,2}\.\w+$/.test(name);
}
