// Splits text into sentences and lines, and clips it without cutting words in half.

/** Marks an omission inside a text. */
export const ELLIPSIS = '…';

/**
 * The sentences of a text, trimmed, line by line: a list item is never joined with its neighbour, and fenced code is skipped.
 * Linear; knows Latin and CJK full stops.
 */
export function sentencesOf(text: string): string[] {
  return proseLines(text).flatMap(sentencesOfLine);
}

/** Characters that may end a sentence. */
const END = /[.!?。！？]/g;

/** The sentences of one line, trimmed. */
export function sentencesOfLine(line: string): string[] {
  const sentences: string[] = [];
  let start = 0;
  for (const { 0: sign, index } of line.matchAll(END)) {
    if (!isSentenceEnd(line, index, sign)) continue;
    pushTrimmed(sentences, line.slice(start, index + 1));
    start = index + 1;
  }
  pushTrimmed(sentences, line.slice(start));
  return sentences;
}

/** Two underscores around several words. Around a single word they belong to a name: `__init__`. */
const BOLD_WORDS = /(?<![\w./])__(?=[^\s_])((?:[^_\s]|_(?!_))*\s(?:[^_]|_(?!_))*)(?<=[^\s_])__(?![\w/(])/g;
/** Two asterisks, except in a path pattern or as a power operator. */
const BOLD_MARK = /(?<!\/|\s(?=\*\*\s)|\d(?=\*\*\d))\*\*(?!\/)/g;

/** A line of prose without bold and italic marks; code and names keep their underscores and asterisks. */
export function withoutEmphasis(line: string): string {
  if (!line.includes('**') && !line.includes('__')) return line;
  return line
    .split(/(`+)/)
    .map((part, at) => (at % 4 === 0 ? part.replace(BOLD_WORDS, '$1').replace(BOLD_MARK, '') : part))
    .join('');
}

/** Whether a global pattern matches at least `count` times in a text. It reads no further than necessary. */
export function hasMatches(text: string, pattern: RegExp, count: number): boolean {
  const matches = text.matchAll(pattern);
  for (let found = 0; found < count; found++) if (matches.next().done === true) return false;
  return true;
}

/** The lines of a text without fenced code, list markers, heading marks and table rules. */
export function proseLines(text: string): string[] {
  return proseBlocks(text).map(({ line }) => line);
}

/** A line of prose with the kind that its markers indicate. */
export interface ProseLine {
  /** Without its markers. */
  readonly line: string;
  readonly mark: 'item' | 'heading' | 'none';
}

/** The lines of `proseLines`, each with its kind. */
export function proseBlocks(text: string): ProseLine[] {
  const lines: ProseLine[] = [];
  let isFenced = false;
  for (const raw of text.split('\n')) {
    const line = raw.trim();
    if (line.startsWith('```') || line.startsWith('~~~')) {
      isFenced = !isFenced;
      continue;
    }
    if (isFenced || line === '' || /^[\s|:=_*-]+$/.test(line) || /^<[^<>]{1,80}>$/.test(line)) continue;
    const bare = withoutMarker(line);
    lines.push({ line: bare, mark: bare.length === line.length ? 'none' : markOf(line) });
  }
  return lines;
}

/** A line without its markers for a heading, an item or a quotation. */
export function withoutMarker(line: string): string {
  return line.replace(/^(?:#{1,6} +|> *|[-*+] +|[•・–] *|\d{1,3}[.)] +)+/, '').replace(/^\[[ xX]\] +/, '');
}

function markOf(line: string): ProseLine['mark'] {
  if (line.startsWith('#')) return 'heading';
  return line.startsWith('>') ? 'none' : 'item';
}

function pushTrimmed(sentences: string[], sentence: string): void {
  const trimmed = sentence.trim();
  if (trimmed !== '') sentences.push(trimmed);
}

/**
 * How a sentence begins, as opposed to the remainder of one. Defined outside the function because a bundle would otherwise
 * recreate the pattern on each call.
 */
const OPENS_SENTENCE = /[\p{Lu}\p{Lo}\d"'“(*_`]/u;

function isSentenceEnd(line: string, index: number, sign: string): boolean {
  if ('。！？'.includes(sign)) return true;
  const next = line.charAt(index + 1);
  if (next !== '' && next !== ' ') return false;
  if (sign !== '.') return true;
  // "e.g. x", "v1. x" and the like do not end a sentence; a following capital, digit, quote or non-Latin letter does.
  const before = line.slice(Math.max(0, index - 4), index).toLowerCase();
  if (/(?:\be\.g|\bi\.e|\bvs|\betc|\bcf|\bz\.b|\bno)$/.test(before)) return false;
  const after = line.charAt(index + 2);
  return after === '' || OPENS_SENTENCE.test(after);
}

/** The whole lines at the beginning of a text, at most `limit` characters; a longer first line is clipped. */
export function headLines(text: string, limit: number): string {
  if (text.length <= limit) return text.trimEnd();
  const end = text.lastIndexOf('\n', limit);
  return end < 1 ? clip(text, limit) : text.slice(0, end).trimEnd();
}

/** The line around a place in a text, trimmed; for a long line about `limit` characters around the place, cut between words. */
export function rowAt(text: string, at: number, limit: number): string {
  const from = text.lastIndexOf('\n', at - 1) + 1;
  const end = text.indexOf('\n', at);
  const to = end < 0 ? text.length : end;
  if (to - from <= limit) return text.slice(from, to).trim();
  const start = Math.max(from, Math.min(at - Math.floor(limit / 3), to - limit));
  const space = start === from ? -1 : text.indexOf(' ', start);
  const head = space >= 0 && space < at ? space + 1 : start;
  const cut = clip(text.slice(head, Math.min(to, head + limit + 1)).trim(), limit);
  return head === from ? cut : `${ELLIPSIS} ${cut}`;
}

/** Replaces each run of white space, including line feeds, with one space. */
export function oneLine(text: string): string {
  // A single space stays: matching each would split the text into words.
  return text.replace(/[^\S ]\s*| \s+/g, ' ').trim();
}

/** Characters read for each one kept: the others may be white space. */
const READ_PER_KEPT = 8;

/** What `clip` leaves of a text on one line, without reading all of a long one. */
export function clippedLine(text: string, limit: number): string {
  if (text.length > READ_PER_KEPT * limit) {
    const head = oneLine(text.slice(0, READ_PER_KEPT * limit));
    if (head.length > limit) return clip(head, limit);
  }
  return clip(oneLine(text), limit);
}

/** The head of a text, at most `limit` characters, cut between words and marked if anything is missing. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, Math.max(1, limit - 2));
  const space = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'));
  const cut = space > limit / 2 ? head.slice(0, space) : withoutHalfPair(head);
  return `${cut.trimEnd()} ${ELLIPSIS}`;
}

/**
 * Head and tail of a text around a mark, together at most `limit` characters: the request in a long message is at one of its
 * ends.
 */
export function clipMiddle(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const headRoom = Math.floor(limit * 0.65);
  const tailRoom = limit - headRoom - 5;
  if (tailRoom < 40) return clip(text, limit);
  const tail = text.slice(text.length - tailRoom);
  const space = tail.search(/\s/);
  const end = space >= 0 && space < tailRoom / 2 ? tail.slice(space + 1) : withoutLeadingHalf(tail);
  return `${clip(text, headRoom)} ${end.trimStart()}`;
}

function withoutHalfPair(text: string): string {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff ? text.slice(0, -1) : text;
}

function withoutLeadingHalf(text: string): string {
  const first = text.charCodeAt(0);
  return first >= 0xdc00 && first <= 0xdfff ? text.slice(1) : text;
}

/** The part of a text to keep: the text itself, or a detached part of it. */
export function keptOf(text: string, part: string): string {
  return part.length === text.length ? part : detached(part);
}

/**
 * A copy that shares no memory with the text it was cut from. Engines represent a slice as a view of its parent, so keeping ten
 * characters of a tool result would otherwise keep all of it.
 */
export function detached(text: string): string {
  return text.length < 13 ? text : ` ${text}`.slice(1);
}

/** Head and tail of a text, at most `limit` characters each. */
export function endsOf(text: string, limit: number): string {
  return text.length <= 2 * limit ? text : `${text.slice(0, limit)}\n${text.slice(text.length - limit)}`;
}
