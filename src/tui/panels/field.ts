// A text field of one line, with the keys that shells and editors have in common.

import { line } from '../lines/line.ts';
import type { Line } from '../lines/line.ts';
import { lineWidth, widthOf } from '../lines/wrap.ts';
import type { KeyPress } from './panel.ts';

/** The text of a field and its cursor. */
export interface Field {
  readonly text: string;
  /** The cursor stands before this UTF-16 unit, which begins a grapheme or ends the text. */
  readonly at: number;
}

/** A field without text. */
export const EMPTY_FIELD: Field = { text: '', at: 0 };

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });

/** What a key makes of a field; undefined: the key does not concern it. Line ends of pasted text become blanks. */
export function typeInto({ text, at }: Field, { key, text: typed }: KeyPress): Field | undefined {
  const before = text.slice(0, at);
  const behind = text.slice(at);
  switch (key) {
    case 'left':
    case 'ctrl+b':
      return { text, at: at - (lastGrapheme(before)?.length ?? 0) };
    case 'right':
    case 'ctrl+f':
      return { text, at: at + (firstGrapheme(behind)?.length ?? 0) };
    case 'home':
    case 'ctrl+a':
      return { text, at: 0 };
    case 'end':
    case 'ctrl+e':
      return { text, at: text.length };
    case 'backspace':
      return joined(before.slice(0, at - (lastGrapheme(before)?.length ?? 0)), behind);
    case 'delete':
    case 'ctrl+d':
      return joined(before, behind.slice(firstGrapheme(behind)?.length ?? 0));
    case 'ctrl+u':
      return joined('', behind);
    case 'ctrl+k':
      return joined(before, '');
    case 'ctrl+w':
    case 'alt+backspace':
      return joined(withoutLastWord(before), behind);
    default:
      return typed === '' ? undefined : joined(before + typed.replaceAll(/[\r\n\t]+/g, ' '), behind);
  }
}

function joined(before: string, behind: string): Field {
  return { text: before + behind, at: before.length };
}

function withoutLastWord(text: string): string {
  const end = text.trimEnd();
  return end.slice(0, end.lastIndexOf(' ') + 1);
}

function firstGrapheme(text: string): string | undefined {
  for (const { segment } of GRAPHEMES.segment(text)) return segment;
  return undefined;
}

function lastGrapheme(text: string): string | undefined {
  let last: string | undefined;
  for (const { segment } of GRAPHEMES.segment(text)) last = segment;
  return last;
}

/** How to show a field. */
export interface FieldView {
  /** Columns, including the prompt. */
  readonly width: number;
  readonly prompt: Line;
  /** Shown while the field is empty. */
  readonly placeholder: string;
  /** The keys go elsewhere: without a cursor. */
  readonly isIdle?: boolean;
}

/** The row of a field: as much of the text around its cursor as fits. */
export function fieldLine({ text, at }: Field, view: FieldView): Line {
  const { width, prompt, placeholder, isIdle = false } = view;
  if (text === '') {
    const cursor: Line = isIdle ? [] : [{ text: ' ', isInverse: true }];
    return [...prompt, ...cursor, ...line(placeholder, { hue: 'quiet' })];
  }
  // The cursor stands on a character, or on a blank behind the last one.
  const under = isIdle ? '' : (firstGrapheme(text.slice(at)) ?? ' ');
  const room = Math.max(0, width - lineWidth(prompt) - widthOf(under));
  const graphemes = [...GRAPHEMES.segment(text)];
  let from = 0;
  const before = (): string => text.slice(graphemes[from]?.index ?? text.length, at);
  while (widthOf(before()) > room) from++;
  let behind = '';
  let left = room - widthOf(before());
  for (const { segment } of GRAPHEMES.segment(text.slice(isIdle ? at : at + under.length))) {
    left -= widthOf(segment);
    if (left < 0) break;
    behind += segment;
  }
  return [...prompt, ...line(before()), ...line(under, { isInverse: true }), ...line(behind)];
}
