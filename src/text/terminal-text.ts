// The only way to a terminal: shows every character that would control it or deceive its reader as `\uXXXX`. Pure.
//
// That is JSON's notation, so a JSON document keeps its values.

/** Baton's own sequences: styles, and clearing a progress line. */
const OWN_SEQUENCE = /^\[(?:\d{1,3}m|1G|K)/;

/**
 * Characters that move the cursor, set titles or fill clipboards: C0 except tab and line feed, DEL, C1. A carriage return may end
 * a line.
 */
// oxlint-disable-next-line no-control-regex
const DRIVING = /\r(?!\n)|[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g;

/**
 * The same, plus characters that hide or reorder text: marks of direction, line separators, invisible operators, byte order
 * marks, annotations, tags.
 * @source Unicode 16, Default_Ignorable_Code_Point and Bidi_Control, without joiners and variation selectors, which writing needs
 */
const DECEIVING =
  // oxlint-disable-next-line no-control-regex
  /\r(?!\n)|[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;

/** The destination of a text. */
export interface Screen {
  /**
   * Marks a sequence as Baton's own, directly after its ESC. It is a secret of the process, so imitated styles are shown like
   * every other sequence. Empty: no sequence is Baton's own.
   */
  readonly seal: string;
  /** In a file or pipe, marks of direction belong to Arabic and Hebrew text. */
  readonly isTerminal: boolean;
}

/** Makes a text safe to write: Baton's own sequences work, all others are shown. Linear time. */
export function terminalText(text: string, { seal, isTerminal }: Screen): string {
  const harmful = isTerminal ? DECEIVING : DRIVING;
  if (seal === '') return text.replace(harmful, escaped);
  return text
    .split(`\u001B${seal}`)
    .map((piece, index) => {
      if (index === 0) return piece.replace(harmful, escaped);
      const own = OWN_SEQUENCE.exec(piece)?.[0] ?? '';
      return `${own === '' ? '' : `\u001B${own}`}${piece.slice(own.length).replace(harmful, escaped)}`;
    })
    .join('');
}

/** A name or value inside one of Baton's own lines: line ends are shown too, so that it cannot begin a line. */
export function printable(text: string): string {
  return text.replace(DECEIVING, escaped).replaceAll(/[\n\r]/g, escaped);
}

function escaped(character: string): string {
  let shown = '';
  for (let at = 0; at < character.length; at++) {
    shown += `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
  return shown;
}
