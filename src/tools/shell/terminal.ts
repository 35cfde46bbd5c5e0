// Renders output as a terminal would show it, for a reader without one.

/** Longest line to hold back until its end arrives, in characters. */
const MAX_PENDING = 16_384;

const ESCAPE = '\u001b';

/** Escape sequences: colours and cursors, window titles, character sets. Two parts never match the same text. */
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
 * Plain text from output that arrives in chunks: without colours, and with only the final state of a line that was overwritten
 * repeatedly (progress bars).
 */
export class TerminalText {
  #pending = '';

  /** The text that is final after this chunk. */
  add(text: string): string {
    const all = this.#pending + text;
    const end = all.lastIndexOf('\n') + 1;
    const rest = all.slice(end);
    this.#pending = rest.length > MAX_PENDING ? '' : rest;
    return linesOf(all.slice(0, end)) + (rest.length > MAX_PENDING ? lineOf(rest) : '');
  }

  /** The text that was held back. */
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

/** Share of non-text characters above which a chunk of output counts as binary. */
const BINARY_SHARE = 0.1;
/**
 * Fewer non-text characters do not make output binary: a pipe cuts anywhere, and a short chunk of text may contain a zero byte.
 */
const LEAST_ODD = 3;

/** Whether a decoded chunk of output is binary: much of it is control characters or invalid UTF-8. */
export function isBinary(text: string): boolean {
  let odd = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0xfffd || (code < 0x20 && (code < 7 || code > 13) && code !== 0x1b)) odd++;
  }
  return odd >= LEAST_ODD && odd > text.length * BINARY_SHARE;
}
