// Texts with their line endings set aside, so that a model that writes line feeds can edit what has others.

/** The text of a file as edits see it: line feeds only, no byte order mark. */
export interface PlainText {
  readonly text: string;
  /** Puts a text that came of `text` back into the file's own form. */
  restore(edits: readonly TextEdit[]): string;
}

/** Replaces `from` to `to` (positions in the plain text, `to` not included) by `text`. */
export interface TextEdit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** What some editors put before a text. */
export const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Opens a text for edits. What no edit touches keeps its bytes, mixed line endings included; new text takes the ending that
 * most lines of the file have.
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

/** A line of a file and what ends it: `\n`, `\r\n`, or nothing at the end of a file without either. */
export interface FileLine {
  readonly text: string;
  readonly ending: string;
}

/** The lines of a text, none for an empty one. A byte order mark belongs to the first. */
export function fileLines(raw: string): readonly FileLine[] {
  const pieces = raw.split('\n');
  const last = pieces.pop() ?? '';
  const lines = pieces.map((piece) =>
    piece.endsWith('\r') ? { text: piece.slice(0, -1), ending: '\r\n' } : { text: piece, ending: '\n' },
  );
  return last === '' ? lines : [...lines, { text: last, ending: '' }];
}

/** The ending of most lines; a line feed where there is none. */
function usualEnding(lines: readonly FileLine[]): string {
  const ended = lines.filter(({ ending }) => ending !== '').length;
  const crlf = lines.filter(({ ending }) => ending === '\r\n').length;
  return crlf * 2 > ended ? '\r\n' : '\n';
}

/** Puts lines together, each ended as it was and new ones (those without an ending) as most lines of `like` are. */
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

/** For every line feed with a carriage return before it: where that line feed is in the text without them. */
function carriageReturns(body: string): number[] {
  const found: number[] = [];
  for (let at = body.indexOf('\r\n'); at >= 0; at = body.indexOf('\r\n', at + 2))
    found.push(at - found.length);
  return found;
}

/** A position before a line feed is before its carriage return, too. */
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

/** A whole new text in the form of the one that it replaces: its byte order mark and the ending of most of its lines. */
export function likeOriginal(text: string, original: string): string {
  const mark =
    original.startsWith(BYTE_ORDER_MARK) && !text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : '';
  const isCrlf = usualEnding(fileLines(original)) === '\r\n' && !text.includes('\r\n');
  return mark + (isCrlf ? text.replaceAll('\n', '\r\n') : text);
}

/** Whether a text holds half of a surrogate pair, which no file in UTF-8 can hold. */
export function hasHalfCharacter(text: string): boolean {
  return /\p{Surrogate}/u.test(text);
}
