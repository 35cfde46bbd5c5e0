// How a change of a text is told, in lines.

import { fileLines } from '../line-endings.ts';

/** Lines that were added and removed between the first and the last difference of two texts. */
export function countChangedLines(
  before: string,
  after: string,
): { readonly added_lines: number; readonly removed_lines: number } {
  const old = fileLines(before);
  const fresh = fileLines(after);
  const isSame = (a: number, b: number): boolean =>
    old[a]?.text === fresh[b]?.text && old[a]?.ending === fresh[b]?.ending;
  const shorter = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < shorter && isSame(head, head)) head++;
  let tail = 0;
  while (tail < shorter - head && isSame(old.length - 1 - tail, fresh.length - 1 - tail)) tail++;
  return { added_lines: fresh.length - head - tail, removed_lines: old.length - head - tail };
}
