// Emphasis, code, links and images inside a text, as styled spans. Pure.

import { Lexer, type Token } from 'marked';
import type { Line, Span } from '../line.ts';

/** Without any of these a text is plain. Addresses become links, and `&` begins an entity. */
const MARKED = /[\\`*_[\]<>&~@]|https?:|ftp:|www\.|\n/i;

/**
 * Characters that are read at once; a longer text is read in parts, at spaces. The library needs up to the cube of the length.
 * @source measured: 2,000 characters that each begin a link take 500 ms
 */
const LONGEST_PART = 2_000;

/** Marks in a part that may each begin something; with more it is shown as it is. @source measured: 5 ms for the worst part */
const MOST_OPENERS = 120;

/** Spans of a text, with an end of line where the text breaks hard. Never throws. */
export function inlineLines(text: string, style: Omit<Span, 'text'> = {}): readonly Line[] {
  const lines: Span[][] = [[]];
  for (const part of partsOf(text)) {
    if (!MARKED.test(part)) {
      push(lines, part, style);
      continue;
    }
    const tokens = tokensOf(part);
    if (tokens === undefined) push(lines, part.replaceAll('\n', ' '), style);
    else addTokens(lines, tokens, style);
  }
  return lines;
}

function partsOf(text: string): readonly string[] {
  if (text.length <= LONGEST_PART) return [text];
  const parts: string[] = [];
  let start = 0;
  while (text.length - start > LONGEST_PART) {
    const window = text.slice(start, start + LONGEST_PART);
    const at = Math.max(window.lastIndexOf('\n'), window.lastIndexOf(' ')) + 1;
    const last = window.charCodeAt(LONGEST_PART - 1);
    const end = at > 0 ? at : LONGEST_PART - (last >= 0xd800 && last <= 0xdbff ? 1 : 0);
    parts.push(window.slice(0, end));
    start += end;
  }
  return [...parts, text.slice(start)];
}

/** @returns undefined if a text is too entangled to be read in time */
function tokensOf(text: string): readonly Token[] | undefined {
  const openers =
    text.match(/[[*_<]+/g)?.reduce((sum, run) => sum + (run.startsWith('[') ? run.length : 1), 0) ?? 0;
  const longest = Math.max(0, ...(text.match(/[*_~`]{16,}/g) ?? []).map((run) => run.length));
  if (openers > MOST_OPENERS || longest > MOST_OPENERS) return undefined;
  try {
    return Lexer.lexInline(text, { gfm: true });
  } catch {
    return undefined;
  }
}

function push(lines: Span[][], text: string, style: Omit<Span, 'text'>): void {
  if (text !== '') lines.at(-1)?.push({ ...style, text });
}

function addTokens(lines: Span[][], tokens: readonly Token[], style: Omit<Span, 'text'>): void {
  for (const token of tokens) addToken(lines, token, style);
}

function addToken(lines: Span[][], token: Token, style: Omit<Span, 'text'>): void {
  const inner = (more: Omit<Span, 'text'>): void => {
    addTokens(lines, ('tokens' in token ? token.tokens : undefined) ?? [], { ...style, ...more });
  };
  switch (token.type) {
    case 'strong':
      inner({ isBold: true });
      break;
    case 'em':
      inner({ isItalic: true });
      break;
    case 'del':
      inner({ isStruck: true });
      break;
    case 'codespan':
      push(lines, token['text'] as string, { ...style, hue: 'accent' });
      break;
    case 'br':
      lines.push([]);
      break;
    case 'image':
      push(lines, `[image: ${decoded(token['text'] as string) || String(token['href'])}]`, {
        ...style,
        hue: 'quiet',
      });
      break;
    case 'link': {
      const href = String(token['href']);
      const text = decoded(String(token['text']));
      if (text !== '') inner({ hue: 'accent', isUnderlined: true });
      const isSame = [text, `mailto:${text}`, `http://${text}`, `https://${text}`].includes(href);
      if (!isSame) push(lines, text === '' ? href : ` (${href})`, { ...style, hue: 'quiet' });
      break;
    }
    case 'html':
      if (/^<br ?\/?>$/i.test(token.raw)) lines.push([]);
      else push(lines, token.raw.replaceAll('\n', ' '), style);
      break;
    case 'escape':
      push(lines, String(token['text']), style);
      break;
    default:
      push(lines, decoded(joinedLines(token.raw)), style);
  }
}

/** A soft break is a space. */
function joinedLines(text: string): string {
  const rows = text.split('\n');
  if (rows.length === 1) return text;
  const last = rows.length - 1;
  return rows
    .map((row, index) => (index === 0 ? row.trimEnd() : index === last ? row.trimStart() : row.trim()))
    .join(' ');
}

/** Entities that models write. @source HTML 5, the names that occur in prose */
const ENTITIES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    amp: '&',
    lt: '<',
    gt: '>',
    quot: '"',
    apos: "'",
    nbsp: '\u00A0',
    hellip: '…',
    ndash: '–',
    mdash: '—',
    rarr: '→',
    larr: '←',
    times: '×',
    copy: '©',
  }),
);

function decoded(text: string): string {
  if (!text.includes('&')) return text;
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (entity, ...groups) => {
    const [decimal, hexadecimal, name] = groups as (string | undefined)[];
    if (name !== undefined) return ENTITIES.get(name) ?? entity;
    const code = decimal === undefined ? Number.parseInt(hexadecimal ?? '', 16) : Number(decimal);
    return code > 0 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : '\uFFFD';
  });
}
