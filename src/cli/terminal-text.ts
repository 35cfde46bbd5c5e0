// The door to a terminal: every character that would drive it or deceive its reader is shown as `\uXXXX`. Pure.
//
// The form is the one of JSON, so that a document that passes the door still holds the same values.

/** Everything Baton writes itself that is not text: styles, and the erasing of a progress line. */
const OWN_SEQUENCE = /^\[(?:\d{1,3}m|1G|K)/;

/** What moves the cursor, sets titles, fills clipboards: C0 but tab and line feed, DEL, C1. A carriage return may end a line. */
// oxlint-disable-next-line no-control-regex
const DRIVING = /\r(?!\n)|[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F]/g;

/**
 * The same, and what hides text or shows it in another order: marks of direction, separators of lines, invisible
 * operators, byte order marks, annotations, tags.
 * @source Unicode 16, Default_Ignorable_Code_Point and Bidi_Control, without joiners and variation selectors, which writing needs
 */
const DECEIVING =
  // oxlint-disable-next-line no-control-regex
  /\r(?!\n)|[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B\u200E\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB\u{E0000}-\u{E007F}]/gu;

/** The stream that a text goes to. */
export interface Screen {
  /**
   * What marks a sequence as Baton's own, directly after its ESC. A secret of the process: text of others that imitates a
   * style is shown like every other sequence. Empty: none is Baton's own.
   */
  readonly seal: string;
  /** In a file or pipe, marks of direction are part of the words of Arabic and Hebrew. */
  readonly isTerminal: boolean;
}

/** A text as it may be written: Baton's own sequences work, all others are shown. Linear. */
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

/** A name or value in a line of Baton's own: line ends are shown, too, so that it cannot begin a line. */
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
