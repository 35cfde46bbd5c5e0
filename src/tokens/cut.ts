import type { CountText } from './estimate.ts';

/**
 * Shortens a text to a budget by cutting its middle; the marker states the tokens removed. Undefined if not even the marker
 * fits. Never splits a surrogate pair.
 */
export function cutMiddle(text: string, budget: number, count: CountText): string | undefined {
  const total = count(text);
  if (total <= budget) return text;
  let low = 0;
  let high = text.length;
  let best: string | undefined;
  while (low <= high) {
    const keep = (low + high) >> 1;
    const candidate = withMarker(text, keep, total, count);
    if (count(candidate) <= budget) {
      best = candidate;
      low = keep + 1;
    } else high = keep - 1;
  }
  return best;
}

function withMarker(text: string, keep: number, total: number, count: CountText): string {
  const headEnd = wholeCharacter(text, Math.ceil(keep / 2));
  const tailStart = Math.max(headEnd, wholeCharacter(text, text.length - Math.floor(keep / 2)));
  const head = text.slice(0, headEnd);
  const tail = text.slice(tailStart);
  return `${head}…${Math.max(1, total - count(head) - count(tail))} tokens truncated…${tail}`;
}

/** The index itself, or the previous one if it would split a surrogate pair. */
function wholeCharacter(text: string, index: number): number {
  return (text.codePointAt(index - 1) ?? 0) > 0xffff ? index - 1 : index;
}
