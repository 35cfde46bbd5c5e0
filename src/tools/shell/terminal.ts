// What a terminal would show of an output, for a reader without one.

/** Longest line that is kept back until its end comes, in characters. */
const MAX_PENDING = 16_384;

const ESCAPE = '\u001b';

/** Escape sequences: colours and cursors, window titles, character sets. No two parts can match the same text. */
const SEQUENCES = new RegExp(
  [
    String.raw`${ESCAPE}\[[0-?]*[ -/]*[@-~]`,
    String.raw`${ESCAPE}[\]PX^_][^\u0007${ESCAPE}]*(?:\u0007|${ESCAPE}\\)?`,
    String.raw`${ESCAPE}[ -/]+[0-~]`,
    String.raw`${ESCAPE}[0-Z\\=>c-~]`,
  ].join('|'),
  'g',
);

/**
 * Plain text from an output that comes in pieces: no colours, and of a line that was written over again and again (progress
 * bars) what stood there last.
 */
export class TerminalText {
  #pending = '';

  /** What can be told for sure after this piece. */
  add(text: string): string {
    const all = this.#pending + text;
    const end = all.lastIndexOf('\n') + 1;
    const rest = all.slice(end);
    this.#pending = rest.length > MAX_PENDING ? '' : rest;
    return linesOf(all.slice(0, end)) + (rest.length > MAX_PENDING ? lineOf(rest) : '');
  }

  /** What was kept back. */
  end(): string {
    const rest = this.#pending;
    this.#pending = '';
    return lineOf(rest);
  }
}

function linesOf(text: string): string {
  return text === '' ? '' : text.split('\n').map(lineOf).join('\n');
}

function lineOf(line: string): string {
  const plain = line.includes(ESCAPE) ? line.replace(SEQUENCES, '') : line;
  if (!plain.includes('\r')) return plain;
  const shown = plain.replace(/(?<!\r)\r+$/, '');
  return shown.slice(shown.lastIndexOf('\r') + 1);
}

/** Share of characters that no text has, above which a piece of output counts as binary. */
const BINARY_SHARE = 0.1;
/** Fewer of them make no binary output: where a pipe cuts is chance, and a short piece of text may hold a zero byte. */
const LEAST_ODD = 3;

/** Whether a decoded piece of output is no text: much of it is control characters or was no UTF-8. */
export function isBinary(text: string): boolean {
  let odd = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0xfffd || (code < 0x20 && (code < 7 || code > 13) && code !== 0x1b)) odd++;
  }
  return odd >= LEAST_ODD && odd > text.length * BINARY_SHARE;
}
