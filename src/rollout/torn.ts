// What a crash leaves at the end of a rollout, and what makes it a whole line again.

/** How the end of a file is made whole. */
export interface Repair {
  /** Bytes behind the last line feed that stay. What is cut was never acknowledged. */
  readonly keep: number;
  /** A line feed is missing behind them. */
  readonly isUnterminated: boolean;
}

const SOUND: Repair = { keep: 0, isUnterminated: false };

/**
 * How to repair what stands behind the last line feed of a rollout. A line that is whole but for its line feed stays; a
 * part of one, and the zeros that a file system leaves where it had no time to write, are cut.
 * @param tail one character for each byte
 */
export function planRepair(tail: string): Repair {
  let end = tail.length;
  while (end > 0 && tail.charCodeAt(end - 1) === 0) end--;
  const text = tail.slice(0, end);
  if (text.trim() === '') return SOUND;
  return isWhole(text) ? { keep: text.length, isUnterminated: true } : SOUND;
}

/** A record is an object, and no part of an object's text is a value: what parses is whole. */
function isWhole(text: string): boolean {
  try {
    JSON.parse(text.replaceAll('\0', ''));
    return true;
  } catch {
    return false;
  }
}
