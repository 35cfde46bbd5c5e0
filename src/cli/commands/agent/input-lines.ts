// Lines of untrusted input.

import { BatonError } from '../../../errors.ts';

/** Longest accepted line in bytes, far longer than any message that fits into a window. @source docs/decisions/ops.md */
export const MAX_LINE_BYTES = 4 * 1024 * 1024;

const LINE_FEED = 0x0a;

/** The result of a read: a line, or why there is none. */
export type ReadLine = { readonly text: string } | { readonly problem: BatonError };

/** The non-blank lines of an input, without line ends. A line that is too long is skipped and reported. */
export async function* readLines(input: AsyncIterable<Buffer>): AsyncGenerator<ReadLine> {
  let pieces: Buffer[] = [];
  let bytes = 0;
  const take = (): ReadLine | undefined => {
    const length = bytes;
    const line = Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
    if (length > MAX_LINE_BYTES) return { problem: tooLong(length) };
    const text = line.toString('utf8').trim();
    return text === '' ? undefined : { text };
  };
  for await (const chunk of input) {
    let rest = Buffer.from(chunk);
    for (let end = rest.indexOf(LINE_FEED); ; end = rest.indexOf(LINE_FEED)) {
      const piece = end === -1 ? rest : rest.subarray(0, end);
      bytes += piece.length;
      if (bytes <= MAX_LINE_BYTES) pieces.push(piece);
      else pieces = [];
      if (end === -1) break;
      rest = rest.subarray(end + 1);
      const line = take();
      if (line !== undefined) yield line;
    }
  }
  const last = take();
  if (last !== undefined) yield last;
}

function tooLong(bytes: number): BatonError {
  return new BatonError('op_invalid', `A line of ${bytes} bytes was skipped`, {
    cure: `A line may have at most ${MAX_LINE_BYTES} bytes.`,
    data: { key: '' },
  });
}
