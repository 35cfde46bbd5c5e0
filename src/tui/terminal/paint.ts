// The only way from a line to a terminal: bytes with Baton's own styles, in which every control character of the text is shown
// instead of sent. Pure.

import { printable } from '../../text/terminal-text.ts';
import type { Hue, Line, Span } from '../lines/line.ts';

/** Foreground colours of the terminal's own palette, so that light and dark themes both keep their contrast. */
const HUES: Readonly<Record<Hue, number>> = {
  quiet: 90,
  accent: 36,
  good: 32,
  warning: 33,
  bad: 31,
  keyword: 35,
  string: 32,
  number: 36,
  comment: 90,
  name: 34,
};

/** One row as bytes; it ends in the terminal's own style. @param hasColor false: weight, slant and inversion only */
export function paintLine(spans: Line, hasColor: boolean): string {
  return spans.map((span) => paintSpan(span, hasColor)).join('');
}

function paintSpan(span: Span, hasColor: boolean): string {
  const text = printable(span.text.replaceAll('\t', '    '));
  const codes = [
    ...(span.hue === undefined || !hasColor ? [] : [HUES[span.hue]]),
    ...(span.isBold === true ? [1] : []),
    ...(span.isItalic === true ? [3] : []),
    ...(span.isUnderlined === true ? [4] : []),
    ...(span.isInverse === true ? [7] : []),
    ...(span.isStruck === true ? [9] : []),
  ];
  return codes.length === 0 ? text : `\u001B[${codes.join(';')}m${text}\u001B[0m`;
}
