// Measuring, wrapping and cutting styled lines by the columns that a terminal gives them. Pure.

import stringWidth from 'string-width';
import type { Line, Span } from './line.ts';

// oxlint-disable-next-line no-control-regex
const PLAIN = /^[\u0020-\u007E]*$/;

/** Characters of one column that never join with their neighbours: Latin letters, punctuation, arrows, boxes and blocks. */
const NARROW = /^[ -~\u00A1-\u00AC\u00AE-\u02AF\u2010-\u2027\u2190-\u21FF\u2500-\u259F]*$/;

/** A single character of two columns: kana, Han, Hangul, full-width forms. */
const WIDE = /^[\u3041-\u3096\u30A0-\u30FF\u3400-\u4DBF\u4E00-\u9FFF\uAC00-\uD7A3\uFF01-\uFF60]$/;

/** Closing punctuation of East Asian writing: a row does not begin with it. */
const CLOSING = new Set('、。，．：；！？）」』】》〉〕”’…ー');

/** Tab stops are not what a model meant by a tab. @source the default of editors for prose and most languages */
const TAB = '    ';

/**
 * Characters that drive a terminal or deceive its reader: C0 (with line ends: a span has none), DEL, C1, marks of direction,
 * invisible operators, tags.
 * @source Unicode 16, Default_Ignorable_Code_Point and Bidi_Control, without joiners and variation selectors, which writing needs
 */
const HIDDEN =
  // oxlint-disable-next-line no-control-regex
  /[\u0000-\u0008\u000A-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;

let segmenter: Intl.Segmenter | undefined;

/** What a reader perceives as characters. Node takes 13 ms to be able to tell, so only a text that needs it pays. */
function graphemesOf(text: string): Iterable<{ readonly segment: string }> {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}

/** The text as a terminal shows it: a tab as spaces, a character that is not shown as `\uXXXX`, in JSON's notation. */
export function shown(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replaceAll('\t', TAB).replace(HIDDEN, escaped);
}

function escaped(character: string): string {
  return Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
  ).join('');
}

/** Columns of a text. A tab or a control character counts as what is shown for it. */
export function widthOf(text: string): number {
  if (NARROW.test(text)) return text.length;
  const visible = shown(text);
  if (NARROW.test(visible)) return visible.length;
  let width = 0;
  for (const { segment } of graphemesOf(visible)) width += graphemeWidth(segment);
  return width;
}

function graphemeWidth(grapheme: string): number {
  if (NARROW.test(grapheme)) return grapheme.length;
  return WIDE.test(grapheme) ? 2 : stringWidth(grapheme);
}

/** Columns of a line. */
export function lineWidth(spans: Line): number {
  return spans.reduce((sum, { text }) => sum + widthOf(text), 0);
}

/** One grapheme with the style of its span. */
interface Glyph {
  readonly text: string;
  readonly width: number;
  readonly style: Span;
}

function glyphsOf(spans: Line): Glyph[] {
  const glyphs: Glyph[] = [];
  for (const style of spans) {
    const text = shown(style.text);
    if (NARROW.test(text)) {
      for (const character of text) glyphs.push({ text: character, width: 1, style });
    } else {
      for (const { segment } of graphemesOf(text)) {
        glyphs.push({ text: segment, width: graphemeWidth(segment), style });
      }
    }
  }
  return glyphs;
}

function spansOf(glyphs: readonly Glyph[]): Line {
  const spans: Span[] = [];
  let last: Span | undefined;
  let text = '';
  const end = (): void => {
    if (last !== undefined && text !== '') spans.push({ ...last, text });
  };
  for (const glyph of glyphs) {
    if (glyph.style !== last) {
      end();
      last = glyph.style;
      text = '';
    }
    text += glyph.text;
  }
  end();
  return spans;
}

/** How to wrap a line. */
export interface Wrapping {
  /** Columns. */
  readonly width: number;
  /** What every row after the first begins with. It is cut where it would leave less than two columns. */
  readonly hanging?: Line;
  /** Break anywhere instead of at spaces: for code and output, where every column counts. */
  readonly isVerbatim?: boolean;
}

/** Columns that a hanging indentation leaves at least: the widest characters have two. */
const LEAST_ROOM = 2;

/**
 * Breaks a line into rows at spaces or between East Asian characters, or inside a word that is wider than a row. A row never
 * exceeds the width, except for a single character wider than the whole terminal. Spaces at a break are dropped unless the
 * wrapping is verbatim; nothing else is.
 */
export function wrap(spans: Line, { width, hanging = [], isVerbatim = false }: Wrapping): readonly Line[] {
  const most = Math.max(1, width);
  const fits = spans.every(({ text }) => PLAIN.test(text)) && lineWidth(spans) <= most;
  if (fits) return [spans];
  const head = cut(hanging, Math.max(0, most - LEAST_ROOM), '');
  const indent = lineWidth(head);
  const glyphs = glyphsOf(spans);
  const rows: Line[] = [];
  let start = 0;
  do {
    const room = rows.length === 0 ? most : most - indent;
    const { end, next } = rowEnd(glyphs, start, { room, isVerbatim });
    const row = spansOf(glyphs.slice(start, end));
    rows.push(rows.length === 0 ? row : [...head, ...row]);
    start = next;
  } while (start < glyphs.length);
  return rows;
}

/** Where the row from `start` ends, and where the next one begins. */
function rowEnd(
  glyphs: readonly Glyph[],
  start: number,
  { room, isVerbatim }: { readonly room: number; readonly isVerbatim: boolean },
): { readonly end: number; readonly next: number } {
  let used = 0;
  let at = start;
  let breakAt = -1;
  let hasWord = false;
  for (; at < glyphs.length; at++) {
    const glyph = glyphs[at];
    if (glyph === undefined || (at > start && used + glyph.width > room)) break;
    used += glyph.width;
    if (glyph.text !== ' ') hasWord = true;
    const canBreak = glyph.text === ' ' || (glyph.width === 2 && !CLOSING.has(glyphs[at + 1]?.text ?? ''));
    if (canBreak && hasWord) breakAt = at + 1;
  }
  if (at === glyphs.length || isVerbatim) return { end: at, next: at };
  const isAtSpace = glyphs[at]?.text === ' ';
  const end = isAtSpace || breakAt < 0 ? at : breakAt;
  let next = end;
  if (isAtSpace) while (glyphs[next]?.text === ' ') next++;
  return { end: trimmedEnd(glyphs, start, end), next };
}

function trimmedEnd(glyphs: readonly Glyph[], start: number, end: number): number {
  let trimmed = end;
  while (trimmed > start && glyphs[trimmed - 1]?.text === ' ') trimmed--;
  return trimmed;
}

/** Cuts a line to a width; a cut line ends with `mark`, as far as that fits. */
export function cut(spans: Line, width: number, mark = '…'): Line {
  const isPlain = spans.every(({ text }) => PLAIN.test(text));
  if (isPlain && lineWidth(spans) <= width) return spans;
  const glyphs = glyphsOf(spans);
  const whole = glyphs.reduce((sum, glyph) => sum + glyph.width, 0);
  if (whole <= width) return spansOf(glyphs);
  const isMarked = mark !== '' && widthOf(mark) <= width;
  const room = Math.max(0, width - (isMarked ? widthOf(mark) : 0));
  const kept: Glyph[] = [];
  let used = 0;
  for (const glyph of glyphs) {
    if (used + glyph.width > room) break;
    kept.push(glyph);
    used += glyph.width;
  }
  const style = kept.at(-1)?.style ?? { text: '' };
  return spansOf([...kept, ...(isMarked ? [{ text: mark, width: widthOf(mark), style }] : [])]);
}
