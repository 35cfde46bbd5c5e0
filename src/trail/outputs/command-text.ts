// How a command is shown. What distinguishes calls is often at the end, after options that are always the same.

import { clip, ELLIPSIS } from '../../text/sentences.ts';

/** Programs that fetch a page, and their options that control how, not what, they fetch; some take the next word as a value. */
const FETCHERS = new Set(['curl', 'wget', 'http', 'https']);
const HOW = /^(?:-[sSLfkqv]+|--(?:silent|show-error|location|fail|compressed|quiet|no-verbose))$/;
const HEADER = /^(?:-H|--header)$/;
/** Headers about the expected response or the client, not the resource. */
const USUAL = /^(?:accept|user-agent|content-type|cache-control|x-github-api-version)[\w-]*:/i;

/** The words of a command to show. @param words after the variables set for it */
export function shownWords(words: readonly string[]): readonly string[] {
  if (!FETCHERS.has(words.find((word) => !/^\w+=/.test(word)) ?? '')) return words;
  return words.filter((word, at) => {
    const isUsual = HEADER.test(word) && USUAL.test(words[at + 1] ?? '');
    return !HOW.test(word) && !isUsual && !(USUAL.test(word) && HEADER.test(words[at - 1] ?? ''));
  });
}

/** Least characters of a cut word in the head of a command; a shorter part may be meaningless. */
const LEAST_PART = 12;

/**
 * The head of a command, at most `limit` characters. It may be cut within a long word, which may be the only distinguishing
 * part.
 */
export function clipCommand(command: string, limit: number): string {
  if (command.length <= limit) return command;
  const head = command.slice(0, limit - ELLIPSIS.length);
  const part = head.length - head.lastIndexOf(' ') - 1;
  return part < LEAST_PART ? clip(command, limit) : `${head}${ELLIPSIS}`;
}
