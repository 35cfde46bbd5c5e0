// Normalizes line endings, so that a model that writes line feeds can edit files with other endings.

/** The text of a file for edits: line feeds only, no byte order mark. */
export interface PlainText {
  readonly text: string;
  /** Applies edits to `text` and restores the file's own form. */
  restore(edits: readonly TextEdit[]): string;
}

/** Replaces the range `from` to `to` (positions in the plain text, `to` excluded) with `text`. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** A prefix that some editors add to texts. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Opens a text for edits. Untouched parts keep their bytes, including mixed line endings; new text gets the most frequent ending
 * of the file.
 */
export function plainText(raw: string): PlainText {
  const mark = raw.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const body = raw.slice(mark.length);
  const removed = carriageReturns(body);
  const text = removed.length === 0 ? body : body.replaceAll('\r\n', '\n');
  const lineFeeds = text.split('\n').length - 1;
  const isMostlyCrlf = removed.length * 2 > lineFeeds;
  return {
    text,
    restore: (edits) => {
      let result = mark;
      let at = 0;
      for (const edit of edits.toSorted((a, b) => a.from - b.from)) {
        const from = rawPosition(edit.from, removed);
        if (from < at) throw new RangeError('Edits overlap');
        const added = edit.text.replaceAll('\r\n', '\n');
        result += body.slice(at, from) + (isMostlyCrlf ? added.replaceAll('\n', '\r\n') : added);
        at = rawPosition(edit.to, removed);
      }
      return result + body.slice(at);
    },
  };
}

/** A line of a file and its ending: `\n`, `\r\n`, or nothing at the end of a file. */
export interface FileLine {
  readonly text: string;
  readonly ending: string;
}

/** The lines of a text; an empty text has none. A byte order mark belongs to the first line. */
export function fileLines(raw: string): readonly FileLine[] {
  const pieces = raw.split('\n');
  const last = pieces.pop() ?? '';
  const lines = pieces.map((piece) =>
    piece.endsWith('\r') ? { text: piece.slice(0, -1), ending: '\r\n' } : { text: piece, ending: '\n' },
  );
  return last === '' ? lines : [...lines, { text: last, ending: '' }];
}

/** The most frequent ending; a line feed where there is none. */
function usualEnding(lines: readonly FileLine[]): string {
  const ended = lines.filter(({ ending }) => ending !== '').length;
  const crlf = lines.filter(({ ending }) => ending === '\r\n').length;
  return crlf * 2 > ended ? '\r\n' : '\n';
}

/** Joins lines: each keeps its ending, and new ones (without an ending) get the most frequent ending of `like`. */
export function joinFileLines(lines: readonly FileLine[], like: readonly FileLine[]): string {
  const usual = usualEnding(like);
  const isOpenEnded = like.at(-1)?.ending === '';
  return lines
    .map(({ text, ending }, index) => {
      if (index === lines.length - 1) return isOpenEnded ? text : text + (ending === '' ? usual : ending);
      return text + (ending === '' ? usual : ending);
    })
    .join('');
}

/** For every line feed after a carriage return: its position in the text without carriage returns. */
function carriageReturns(body: string): number[] {
  const found: number[] = [];
  for (let at = body.indexOf('\r\n'); at >= 0; at = body.indexOf('\r\n', at + 2))
    found.push(at - found.length);
  return found;
}

/** A position before a line feed is also before its carriage return. */
function rawPosition(position: number, removed: readonly number[]): number {
  let low = 0;
  let high = removed.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((removed[middle] ?? Infinity) < position) low = middle + 1;
    else high = middle;
  }
  return position + low;
}

/** Converts a new text to the form of the original: its byte order mark and its most frequent line ending. */
export function likeOriginal(text: string, original: string): string {
  const mark =
    original.startsWith(BYTE_ORDER_MARK) && !text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const isCrlf = usualEnding(fileLines(original)) === '\r\n' && !text.includes('\r\n');
  return mark + (isCrlf ? text.replaceAll('\n', '\r\n') : text);
}

/** Whether a text contains half a surrogate pair, which UTF-8 cannot represent. */
export function hasHalfCharacter(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}
