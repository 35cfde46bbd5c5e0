// What `@` and `/` complete: the mention before the cursor, its suggestions by rank, and the list as lines. Pure.

import { fuzzyFilter } from '@earendil-works/pi-tui/dist/fuzzy.js';
import type { Canvas, Line } from '../lines/line.ts';
import { cut, widthOf } from '../lines/wrap.ts';
import { COMMANDS, commandNamed } from './commands.ts';

/** What the cursor stands behind. */
export interface Mention {
  readonly kind: 'file' | 'command' | 'argument';
  /** What was typed of it, without `@`, `/` and quotes. */
  readonly query: string;
  /** Length of the text before the cursor that a suggestion replaces, in UTF-16 units. */
  readonly length: number;
  /** Of an argument: its command. */
  readonly command?: string;
}

/** One row of the list. */
export interface Suggestion {
  /** Replaces the mention. */
  readonly insert: string;
  readonly label: string;
  /** What may follow it. */
  readonly hint?: string;
  readonly detail?: string;
  /** The whole draft is complete with it, so that Enter can send. */
  readonly isWhole?: boolean;
}

/** Longest mention to complete, in characters. @source Linux, NAME_MAX */
const LONGEST_QUERY = 255;

const FILE = /(?:^|[\s([{])@(?:"([^"]{0,255})|([^\s"]{0,255}))$/;

/**
 * The mention before the cursor.
 * @param before the text of the cursor's line up to the cursor
 * @param isFirstLine whether a command may be there
 */
export function mentionAt(before: string, isFirstLine: boolean): Mention | undefined {
  // Only the end counts, however long a line is.
  const end = before.slice(-LONGEST_QUERY - 3);
  const file = FILE.exec(end);
  if (file !== null) {
    const [, inQuotes, bare] = file;
    const query = inQuotes ?? bare ?? '';
    return { kind: 'file', query, length: query.length + (inQuotes === undefined ? 1 : 2) };
  }
  if (!isFirstLine || end !== before) return undefined;
  const [, name, rest] = /^\/([A-Za-z-]{0,30})(?: (\S{0,40}))?$/.exec(before) ?? [];
  if (name === undefined) return undefined;
  if (rest === undefined) return { kind: 'command', query: name, length: name.length + 1 };
  return { kind: 'argument', query: rest, length: rest.length, command: name };
}

/** The suggestions for a command or an argument, best first. */
export function suggestCommands({ kind, query, command = '' }: Mention): readonly Suggestion[] {
  if (kind === 'argument') {
    const values = commandNamed(command)?.values ?? [];
    return fuzzyFilter([...values], query, (value) => value).map((value) => ({
      insert: value,
      label: value,
      isWhole: true,
    }));
  }
  const rows = COMMANDS.flatMap((row) => [row.name, ...(row.aliases ?? [])].map((name) => ({ name, row })));
  // Without a query each command is listed once, under its first name.
  const listed = query === '' ? rows.filter(({ name, row }) => name === row.name) : rows;
  const matching = fuzzyFilter(listed, query, ({ name }) => name);
  const begin = matching.filter(({ name }) => name.startsWith(query.toLowerCase()));
  const rest = matching.filter((each) => !begin.includes(each));
  return [...begin, ...rest].map(({ name, row: { hint, words, isArgumentRequired } }) => ({
    insert: isArgumentRequired === true ? `/${name} ` : `/${name}`,
    label: `/${name}`,
    ...(hint === '' ? {} : { hint }),
    detail: words,
    isWhole: isArgumentRequired !== true,
  }));
}

/** A file or directory that `@` may complete. */
interface FileName {
  /** Relative to the working directory; a directory ends in `/`. */
  readonly name: string;
  readonly lowerName: string;
  /** The last part of `lowerName`. */
  readonly lowerBase: string;
}

/** Files and directories in the order in which an empty query lists them. */
export type FileIndex = readonly FileName[];

/** Files and their directories, those with the fewest directories above them first. */
export function indexFiles(names: readonly string[]): FileIndex {
  const depths = new Map<string, number>();
  for (const name of names) {
    let depth = 0;
    for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) {
      depths.set(name.slice(0, at + 1), depth++);
    }
    depths.set(name, depth);
  }
  return [...depths]
    .toSorted(([one, depth], [other, otherDepth]) => depth - otherDepth || (one < other ? -1 : 1))
    .map(([name]) => {
      const lowerName = name.toLowerCase();
      return {
        name,
        lowerName,
        lowerBase: lowerName.slice(lowerName.lastIndexOf('/', lowerName.length - 2) + 1),
      };
    });
}

/**
 * Matches to rank at most: the first ones of the best kinds, since a query that matches more says too little to rank them.
 * @source measured: a key shows within 10 ms among 20,000 files; ranking all took up to 110 ms
 */
const MOST_RANKED = 500;

/** How a file can match, the best first: the first two by the last part of its name. */
const MATCHES: readonly ((entry: FileName, query: string) => boolean)[] = [
  ({ lowerBase }, query) => lowerBase.startsWith(query),
  ({ lowerBase }, query) => lowerBase.includes(query),
  ({ lowerName }, query) => lowerName.includes(query),
  ({ lowerName }, query) => hasInOrder(lowerName, query),
];

/** The suggestions for a file, best first: matches of the last part of a name before matches of the rest. */
export function suggestFiles(index: FileIndex, query: string): readonly Suggestion[] {
  return rankFiles(index, query.toLowerCase()).map(({ name }) => ({
    insert: `@${quoted(name)}${name.endsWith('/') ? '' : ' '}`,
    label: shownName(name),
  }));
}

function rankFiles(index: FileIndex, query: string): readonly FileName[] {
  if (query === '') return index.slice(0, MOST_RANKED);
  const kinds: FileName[][] = MATCHES.map(() => []);
  for (const entry of index) {
    const kind = MATCHES.findIndex((matches) => matches(entry, query));
    if (kind !== -1) kinds[kind]?.push(entry);
  }
  let room = MOST_RANKED;
  return kinds.flatMap((entries, kind) => {
    const kept = entries.slice(0, room);
    room -= kept.length;
    return fuzzyFilter(kept, query, ({ lowerName, lowerBase }) => (kind < 2 ? lowerBase : lowerName));
  });
}

/** Whether a text has the characters of a query in their order. */
function hasInOrder(text: string, query: string): boolean {
  let at = 0;
  for (const character of query) {
    const found = text.indexOf(character, at);
    if (found === -1) return false;
    at = found + character.length;
  }
  return true;
}

/**
 * Characters that would drive a terminal, or hide and reorder text.
 * @source Unicode 16, categories Cc, Zl, Zp and Bidi_Control
 */
// oxlint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g;

/** A name in one line: characters that drive a terminal are shown as JSON writes them. */
function shownName(name: string): string {
  return name.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A name as a message contains it: between quotes, as JSON writes it, if it has spaces, quotes or unsafe characters. */
function quoted(name: string): string {
  if (!/[\s"\\]/.test(name) && name.search(UNSAFE) === -1) return name;
  const text = shownName(name.replaceAll('\\', '\\\\')).replaceAll('"', '\\"');
  // A directory keeps its quotes open, so that typing continues in it.
  return name.endsWith('/') ? `"${text}` : `"${text}"`;
}

/** An open list. */
export interface CompletionList {
  readonly mention: Mention;
  readonly suggestions: readonly Suggestion[];
  /** Index of the selected suggestion. */
  readonly selected: number;
}

/** Rows of a list, its counter included. @source the lists of three agents measured have 3 to 8 rows */
const MOST_ROWS = 6;

/** Columns from which on hints leave room for details. @source half of it holds the longest command with its hint */
const LEAST_WIDTH_FOR_HINTS = 64;

/** A list as lines: at most six, and a counter instead of the last one if more match. */
export function completionLines({ suggestions, selected }: CompletionList, canvas: Canvas): readonly Line[] {
  const { width, hasUnicode } = canvas;
  const mark = hasUnicode ? '…' : '...';
  const isLong = suggestions.length > MOST_ROWS;
  const rows = isLong ? MOST_ROWS - 1 : suggestions.length;
  const first = Math.min(Math.max(0, selected - Math.floor(rows / 2)), suggestions.length - rows);
  const shown = suggestions.slice(first, first + rows);
  const labels = shown.map(({ label, hint = '' }) =>
    hint === '' || width < LEAST_WIDTH_FOR_HINTS ? label : `${label} ${hint}`,
  );
  const labelWidth = Math.min(Math.max(...labels.map(widthOf)), Math.max(12, Math.floor(width / 2) - 2));
  const lines = shown.map(({ detail }, at): Line => {
    const label = labels[at] ?? '';
    const isSelected = first + at === selected;
    const sign = isSelected ? (hasUnicode ? '❯ ' : '> ') : '  ';
    const style = isSelected ? ({ hue: 'accent', isBold: true } as const) : {};
    if (detail === undefined) return cut([{ text: `${sign}${label}`, ...style }], width, mark);
    const [name] = cut([{ text: label }], labelWidth, mark);
    const text = name?.text ?? '';
    const padding = ' '.repeat(Math.max(0, labelWidth - widthOf(text)) + 2);
    return cut(
      [
        { text: `${sign}${text}${padding}`, ...style },
        { text: detail, hue: 'quiet' },
      ],
      width,
      mark,
    );
  });
  const counter: Line = [{ text: `  (${selected + 1}/${suggestions.length})`, hue: 'quiet' }];
  return isLong ? [...lines, cut(counter, width, mark)] : lines;
}
