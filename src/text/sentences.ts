// Cutting text into sentences and lines, and clipping it so that no word is cut in half.

/** The mark of something left out inside of a text. */
export const ELLIPSIS = '…';

/**
 * The sentences of a text, trimmed, line by line: a list item is never joined with its neighbour, and fenced code is
 * left out. Linear; knows Latin and CJK full stops.
 */
export function sentencesOf(text: string): string[] {
  return proseLines(text).flatMap(sentencesOfLine);
}

/** What a sentence may end with. */
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

/** Two underscores around several words. Around one they are a name's own: `__init__`. */
const BOLD_WORDS = /(?<![\w./])__(?=[^\s_])((?:[^_\s]|_(?!_))*\s(?:[^_]|_(?!_))*)(?<=[^\s_])__(?![\w/(])/g;
/** Two asterisks, but in a pattern of paths and where numbers or names are raised to a power. */
const BOLD_MARK = /(?<!\/|\s(?=\*\*\s)|\d(?=\*\*\d))\*\*(?!\/)/g;

/** A line of prose without the marks of bold and italic print; code and names keep their underscores and asterisks. */
export function withoutEmphasis(line: string): string {
  if (!line.includes('**') && !line.includes('__')) return line;
  return line
    .split(/(`+)/)
    .map((part, at) => (at % 4 === 0 ? part.replace(BOLD_WORDS, '$1').replace(BOLD_MARK, '') : part))
    .join('');
}

/** Whether a pattern, which must be global, matches at least as often in a text. It reads no further than it has to. */
export function hasMatches(text: string, pattern: RegExp, count: number): boolean {
  const matches = text.matchAll(pattern);
  for (let found = 0; found < count; found++) if (matches.next().done === true) return false;
  return true;
}

/** The lines of a text without fenced code, list markers, heading marks and table rules. */
export function proseLines(text: string): string[] {
  return proseBlocks(text).map(({ line }) => line);
}

/** A line of prose and what its markers made of it. */
export interface ProseLine {
  /** Without its markers. */
  readonly line: string;
  readonly mark: 'item' | 'heading' | 'none';
}

/** The lines of `proseLines` with what kind of line each is. */
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

/** A line without what only says that it is a heading, an item or a quotation. */
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

/** What a sentence begins with, rather than the rest of one. A bundle makes such a pattern anew wherever it stands in a function. */
const OPENS_SENTENCE = /[\p{Lu}\p{Lo}\d"'“(*_`]/u;

function isSentenceEnd(line: string, index: number, sign: string): boolean {
  if ('。！？'.includes(sign)) return true;
  const next = line.charAt(index + 1);
  if (next !== '' && next !== ' ') return false;
  if (sign !== '.') return true;
  // "e.g. x", "v1. x" and the like end no sentence; a capital, digit, quote or non-Latin letter after it does.
  const before = line.slice(Math.max(0, index - 4), index).toLowerCase();
  if (/(?:\be\.g|\bi\.e|\bvs|\betc|\bcf|\bz\.b|\bno)$/.test(before)) return false;
  const after = line.charAt(index + 2);
  return after === '' || OPENS_SENTENCE.test(after);
}

/** The whole lines that a text begins with, at most `limit` characters; a first line that is longer is clipped. */
export function headLines(text: string, limit: number): string {
  if (text.length <= limit) return text.trimEnd();
  const end = text.lastIndexOf('\n', limit);
  return end < 1 ? clip(text, limit) : text.slice(0, end).trimEnd();
}

/** The line around a place in a text, trimmed; of a long one about `limit` characters around the place, cut between words. */
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

/** White space runs, line feeds included, become one space. */
export function oneLine(text: string): string {
  // A single space stays as it is: matching each would cut the text into words.
  return text.replace(/[^\S ]\s*| \s+/g, ' ').trim();
}

/** Characters of a text that are read for each that is kept of it: the others may be white space. */
const READ_PER_KEPT = 8;

/** What `clip` leaves of a text on one line, without reading all of a long one. */
export function clippedLine(text: string, limit: number): string {
  if (text.length > READ_PER_KEPT * limit) {
    const head = oneLine(text.slice(0, READ_PER_KEPT * limit));
    if (head.length > limit) return clip(head, limit);
  }
  return clip(oneLine(text), limit);
}

/** The head of a text, at most `limit` characters, cut between words and marked where something is missing. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const head = text.slice(0, Math.max(1, limit - 2));
  const space = Math.max(head.lastIndexOf(' '), head.lastIndexOf('\n'));
  const cut = space > limit / 2 ? head.slice(0, space) : withoutHalfPair(head);
  return `${cut.trimEnd()} ${ELLIPSIS}`;
}

/** Head and tail of a text around a mark, together at most `limit` characters: what a long message asks stands at either end. */
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

/** What is kept of a text: the text itself, or a detached part of it. */
export function keptOf(text: string, part: string): string {
  return part.length === text.length ? part : detached(part);
}

/**
 * A copy that shares no memory with the text it was cut from. Engines represent a slice as a view of its parent, so
 * keeping ten characters of a tool result would keep all of it.
 */
export function detached(text: string): string {
  return text.length < 13 ? text : ` ${text}`.slice(1);
}

/** Head and tail of a text, at most `limit` characters each. */
export function endsOf(text: string, limit: number): string {
  return text.length <= 2 * limit ? text : `${text.slice(0, limit)}\n${text.slice(text.length - limit)}`;
}
