// How a command is told: what differs from one call to the next stands at its end, behind options that are always the same.

import { clip, ELLIPSIS } from '../../text/sentences.ts';

/** Programs that fetch a page, and their options that say how, not what; of some the next word is a part. */
const FETCHERS = new Set(['curl', 'wget', 'http', 'https']);
const HOW = /^(?:-[sSLfkqv]+|--(?:silent|show-error|location|fail|compressed|quiet|no-verbose))$/;
const HEADER = /^(?:-H|--header)$/;
/** Headers that say what may come back, not what is asked for, or by whom. */
const USUAL = /^(?:accept|user-agent|content-type|cache-control|x-github-api-version)[\w-]*:/i;

/** The words of a command that are told. @param words behind variables that are set for it */
export function toldWords(words: readonly string[]): readonly string[] {
  if (!FETCHERS.has(words.find((word) => !/^\w+=/.test(word)) ?? '')) return words;
  return words.filter((word, at) => {
    const isUsual = HEADER.test(word) && USUAL.test(words[at + 1] ?? '');
    return !HOW.test(word) && !isUsual && !(USUAL.test(word) && HEADER.test(words[at - 1] ?? ''));
  });
}

/** Characters of a word that is a part of the head of a command, where a shorter part of it may say nothing. */
const LEAST_PART = 12;

/** The head of a command, at most `limit` characters: cut within a long word, which may be all that tells it from others. */
export function clipCommand(command: string, limit: number): string {
  if (command.length <= limit) return command;
  const head = command.slice(0, limit - ELLIPSIS.length);
  const part = head.length - head.lastIndexOf(' ') - 1;
  return part < LEAST_PART ? clip(command, limit) : `${head}${ELLIPSIS}`;
}
