// Repairs the end of a rollout after a crash.

/** The repair of a file's end. */
export interface Repair {
  /** Bytes to keep after the last line feed. The bytes to cut were never acknowledged. */
  readonly keep: number;
  /** They lack a line feed. */
  readonly isUnterminated: boolean;
}

const SOUND: Repair = { keep: 0, isUnterminated: false };

/**
 * Plans the repair of the bytes after a rollout's last line feed. A line that only lacks its line feed stays; a partial line is
 * cut, and so are zeros that a file system leaves where it had no time to write.
 * @param tail one character for each byte
 */
export function planRepair(tail: string): Repair {
  let end = tail.length;
  while (end > 0 && tail.charCodeAt(end - 1) === 0) end--;
  const text = tail.slice(0, end);
  if (text.trim() === '') return SOUND;
  return isWhole(text) ? { keep: text.length, isUnterminated: true } : SOUND;
}

/** A record is an object, and no proper prefix of an object's text is valid JSON: a text that parses is complete. */
function isWhole(text: string): boolean {
  try {
    JSON.parse(text.replaceAll('\0', ''));
    return true;
  } catch {
    return false;
  }
}
