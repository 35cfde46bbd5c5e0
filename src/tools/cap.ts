// Keeps results within their limit: head and tail stay, the middle is cut, and a note says how much was omitted.

import { DEFAULT_ESTIMATE, utf8Length } from '../tokens/estimate.ts';

/** Largest result of a call, in tokens of 4 bytes. @source Codex' `truncation_policy` (codex-behaviour §4.5) */
export const RESULT_TOKENS = 10_000;

/** Room for the note, in bytes. */
const NOTE_BYTES = 400;

/** A text of any length in bounded memory: its head, its tail, and the size of the part between. */
export class MiddleCut {
  readonly #sideBytes: number;
  #head = '';
  #tail: string[] = [];
  #tailLength = 0;
  #bytes = 0;
  #lines = 0;

  /** @param maxTokens largest text of `render`, including its note; at least 200 */
  constructor(maxTokens: number = RESULT_TOKENS) {
    if (maxTokens < 200) throw new RangeError(`${maxTokens} tokens leave no room besides the note`);
    this.#sideBytes = Math.floor((maxTokens * DEFAULT_ESTIMATE.approxBytesPerToken - NOTE_BYTES) / 2);
  }

  /** Line feeds so far. */
  get lines(): number {
    return this.#lines;
  }

  add(text: string): void {
    this.#bytes += utf8Length(text);
    this.#lines += countLineFeeds(text);
    // Both sides keep at least as many characters as `render` can need bytes, so nothing that would have fit is lost.
    const limit = 2 * this.#sideBytes + NOTE_BYTES;
    const free = limit - this.#head.length;
    if (free > 0) this.#head += text.slice(0, free);
    const rest = free > 0 ? text.slice(free) : text;
    if (rest === '') return;
    const kept = rest.slice(-limit);
    this.#tail.push(kept);
    this.#tailLength += kept.length;
    for (let first = this.#tail[0]; first !== undefined; first = this.#tail[0]) {
      if (this.#tailLength - first.length < limit) break;
      this.#tailLength -= first.length;
      this.#tail.shift();
    }
  }

  /** @param howToGet a sentence that tells the model how to get the omitted part */
  render(howToGet: string): string {
    const tail = this.#tail.join('');
    if (tail === '' && this.#bytes <= 2 * this.#sideBytes + NOTE_BYTES) return this.#head;
    const head = headOf(this.#head, this.#sideBytes);
    const end = tailOf(this.#head.slice(head.length) + tail, this.#sideBytes);
    const bytes = this.#bytes - utf8Length(head) - utf8Length(end);
    const lines = this.#lines - countLineFeeds(head) - countLineFeeds(end);
    const what = lines > 0 ? `${lines} lines, ${bytes} bytes` : `${bytes} bytes`;
    const gap = head === '' || head.endsWith('\n') ? '' : '\n';
    return `${head}${gap}[… ${what} omitted here. ${howToGet}]\n${end}`;
  }
}

/** A complete text within the limit of a result. */
export function capText(text: string, howToGet: string, maxTokens: number = RESULT_TOKENS): string {
  const cut = new MiddleCut(maxTokens);
  cut.add(text);
  return cut.render(howToGet);
}

/** Up to `maxBytes` of the start, in whole lines unless the last line is large. */
function headOf(text: string, maxBytes: number): string {
  let bytes = 0;
  let end = 0;
  while (end < text.length) {
    const code = text.codePointAt(end) ?? 0;
    bytes += utf8Size(code);
    if (bytes > maxBytes) break;
    end += code > 0xffff ? 2 : 1;
  }
  const line = text.lastIndexOf('\n', end - 1) + 1;
  return text.slice(0, end - line < end / 4 ? line : end);
}

function tailOf(text: string, maxBytes: number): string {
  let bytes = 0;
  let start = text.length;
  while (start > 0) {
    const step = isPairBefore(text, start) ? 2 : 1;
    bytes += utf8Size(text.codePointAt(start - step) ?? 0);
    if (bytes > maxBytes) break;
    start -= step;
  }
  const line = text.indexOf('\n', start) + 1;
  return text.slice(line > 0 && line - start < (text.length - start) / 4 ? line : start);
}

function isPairBefore(text: string, index: number): boolean {
  return index >= 2 && (text.codePointAt(index - 2) ?? 0) > 0xffff;
}

function utf8Size(code: number): number {
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

function countLineFeeds(text: string): number {
  let count = 0;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++;
  return count;
}

/**
 * Cuts a line to a number of characters and reports how many are missing. Never splits a surrogate pair.
 * @param length of the whole line, where `line` is only its start
 */
export function cutLine(line: string, maxCharacters: number, length = line.length): string {
  if (length <= maxCharacters) return line;
  const end = (line.codePointAt(maxCharacters - 1) ?? 0) > 0xffff ? maxCharacters - 1 : maxCharacters;
  return `${line.slice(0, end)} [… ${length - end} characters of this line omitted]`;
}

/** A path as one line: a name may contain line feeds and so imitate another result. */
export function pathLine(path: string): string {
  return /\p{Cc}/u.test(path) ? JSON.stringify(path) : path;
}
