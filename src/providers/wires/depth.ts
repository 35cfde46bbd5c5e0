// Limits the nesting of untrusted JSON. Recursive code overflows its stack at some depth, so such a text is rejected before
// parsing.

/**
 * Deepest nesting that is accepted.
 * @source docs/decisions/limits.md: recorded arguments reach 14 levels, and a walk overflowed at 1,000
 */
export const MOST_NESTED = 200;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Whether a JSON text is nested deeper than `MOST_NESTED`. Linear; the result for invalid JSON is arbitrary. */
export function isTooDeep(text: string): boolean {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) {
      for (at++; at < text.length && text.charCodeAt(at) !== QUOTE; at++) {
        if (text.charCodeAt(at) === BACKSLASH) at++;
      }
    } else if (unit === 0x5b || unit === 0x7b) {
      if (++depth > MOST_NESTED) return true;
    } else if (unit === 0x5d || unit === 0x7d) depth--;
  }
  return false;
}
