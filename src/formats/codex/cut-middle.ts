import { approximateTokens } from '../../tokens/estimate.ts';

/**
 * A text cut in the middle, so that about `tokens` of it remain, with a note of how many are gone. Surrogate pairs stay
 * whole. A text that fits is returned as it is.
 * @source codex-behaviour §4.2: head and tail of equal size around "…N tokens truncated…".
 */
export function cutMiddle(text: string, tokens: number): string {
  const all = approximateTokens(text);
  if (all <= tokens) return text;
  // Units for bytes: exact for ASCII, proportional for the rest.
  const half = Math.floor((text.length * tokens) / all / 2);
  const head = text.slice(0, isInsidePair(text, half) ? half - 1 : half);
  const from = text.length - half;
  const tail = text.slice(isInsidePair(text, from) ? from + 1 : from);
  return `${head}…${all - tokens} tokens truncated…${tail}`;
}

function isInsidePair(text: string, index: number): boolean {
  const before = text.charCodeAt(index - 1);
  const at = text.charCodeAt(index);
  return before >= 0xd800 && before <= 0xdbff && at >= 0xdc00 && at <= 0xdfff;
}
