// A message that grows: which blocks are finished, and what is left to draw. Pure, and linear in the message, however it is
// cut into deltas.

import {
  BEGINNING,
  endBlocks,
  LONGEST_BLOCK,
  readLine,
  readRestOfLine,
  type Block,
  type BlockState,
} from './blocks.ts';

/** What has been read of a message. A value: `append` makes the next one. */
export interface MarkdownStream {
  readonly state: BlockState;
  /** The last line, as far as it has arrived. */
  readonly partial: string;
  /** The line began earlier, and was too long. */
  readonly isRest: boolean;
  /** The text ended with a carriage return: a line feed after it is the same line end. */
  readonly isAfterReturn: boolean;
}

export const EMPTY_STREAM: MarkdownStream = {
  state: BEGINNING,
  partial: '',
  isRest: false,
  isAfterReturn: false,
};

/** Takes the next part of a message. @returns the blocks that it finishes, for the scrollback, and the stream from there */
export function append(
  stream: MarkdownStream,
  delta: string,
): { readonly stream: MarkdownStream; readonly finished: readonly Block[] } {
  const finished: Block[] = [];
  let { state, partial, isRest } = stream;
  const read = (text: string): void => {
    const next = isRest ? readRestOfLine(state, text) : readLine(state, text);
    ({ state } = next);
    for (const block of next.blocks) finished.push(block);
  };
  const text = (stream.isAfterReturn && delta.startsWith('\n') ? delta.slice(1) : delta).replaceAll(
    /\r\n?/g,
    '\n',
  );
  const lines = text.split('\n');
  const last = lines.length - 1;
  for (const [index, line] of lines.entries()) {
    partial += line;
    while (partial.length > LONGEST_BLOCK) {
      const end = longLineEnd(partial);
      read(partial.slice(0, end));
      partial = partial.slice(end);
      isRest = true;
    }
    if (index === last) break;
    read(partial);
    partial = '';
    isRest = false;
  }
  const isAfterReturn = delta === '' ? stream.isAfterReturn : delta.endsWith('\r');
  return { stream: { state, partial, isRest, isAfterReturn }, finished };
}

/** How far back a long line looks for a space. @source longer than words are */
const LONGEST_WORD = 100;

/** Where a long line is cut: after a space, or between two characters. */
function longLineEnd(text: string): number {
  const space = text.lastIndexOf(' ', LONGEST_BLOCK - 1);
  if (space > LONGEST_BLOCK - LONGEST_WORD) return space + 1;
  const unit = text.charCodeAt(LONGEST_BLOCK - 1);
  return unit >= 0xd800 && unit <= 0xdbff ? LONGEST_BLOCK - 1 : LONGEST_BLOCK;
}

/** What may still become anything: a bullet, a rule, a heading's underline, a fence. */
const UNDECIDED = /^(?:[-=*_+#`~|:]+|\d{1,9}[.)]?)?$/;

/** The blocks that are not finished, as if the message ended here. */
export function unfinished({ state, partial, isRest }: MarkdownStream): readonly Block[] {
  if (partial === '') return endBlocks(state);
  const next = isRest ? readRestOfLine(state, partial) : readLine(state, partial);
  return [...next.blocks, ...endBlocks(next.state)];
}

/** The same without a last line that says nothing yet, so that a frame does not show a heading where an item begins. */
export function unfinishedSoFar(stream: MarkdownStream): readonly Block[] {
  const { leaf } = stream.state;
  const line = stream.partial.trim();
  const isUndecided =
    leaf?.type === 'fence'
      ? line !== '' && leaf.mark.startsWith(line)
      : !stream.isRest && UNDECIDED.test(line.replace(/^[\s>]+/, ''));
  return unfinished(isUndecided ? { ...stream, partial: '' } : stream);
}

/** All blocks of a message. */
export function blocksOf(source: string): readonly Block[] {
  const { stream, finished } = append(EMPTY_STREAM, source);
  return [...finished, ...unfinished(stream)];
}
