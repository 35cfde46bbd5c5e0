// The content of the messages that a compaction keeps verbatim after the summary, so that the summary need not repeat it.

import { templatedTask } from '../trail/calls/actions.ts';
import { redact } from '../text/redact.ts';
import { ownWords } from '../trail/talk/requests.ts';
import { ELLIPSIS, oneLine } from '../text/sentences.ts';
import type { UserRequest } from '../trail/trail.ts';

/** The words that follow a summary verbatim. */
export interface PreservedWords {
  /** Whether a message follows in full. A clipped text does not count, because its middle may be missing. */
  readonly hasMessage: (text: string) => boolean;
  /** Whether a message follows with its middle cut out. */
  readonly hasCut: (text: string) => boolean;
  /** Whether one of the messages contains a sentence. */
  readonly hasSentence: (sentence: string) => boolean;
  /** Which of some requests follow, in order; repeated words follow only as often as they occur there. */
  readonly followingOf: (requests: readonly UserRequest[]) => Following;
}

/** What follows a summary. */
export interface Following {
  /** The numbers of requests that follow in full. */
  readonly whole: readonly number[];
  /** Those of requests that follow with their middle cut out. */
  readonly cut: readonly number[];
  /** Texts that are not requests, on one line: commands of a client. */
  readonly others: readonly string[];
}

/** Characters that identify a message whose middle was cut out. */
const KNOWN_BY = 80;

/** Reads the texts of preserved messages in the same way as the trail: the user's own words on one line, secrets redacted. */
export function preservedWords(texts: readonly string[]): PreservedWords {
  const readings = texts.map(readingsOf);
  const own = readings.flat();
  const whole = new Set(own);
  return {
    hasMessage: (text) => whole.has(oneLine(text)),
    hasCut: (text) => {
      const head = oneLine(text).slice(0, KNOWN_BY);
      return (
        head.length === KNOWN_BY && !whole.has(oneLine(text)) && own.some((kept) => kept.startsWith(head))
      );
    },
    hasSentence: (sentence) => own.some((text) => text.includes(oneLine(sentence))),
    followingOf: (requests) => alignedWith(requests, texts, readings),
  };
}

/** A text as the trail may have read it; whole comes last, as Baton's own threads know it to be the user's. */
function readingsOf(text: string): readonly string[] {
  const words = redact(ownWords(text) ?? '');
  const { task, template } = templatedTask(words);
  return [words, ...(template === '' ? [] : [task]), redact(text)].map(oneLine);
}

/** How many requests are searched for the next older text: what follows a summary is nearly always an unbroken run of them. */
const WITHIN = 8;
/** Least characters at the beginning of a cut text that identify it. */
const LEAST_HEAD = 20;

/** The newest texts belong to the newest requests: repeated texts are distinguished by position. */
function alignedWith(
  requests: readonly UserRequest[],
  texts: readonly string[],
  readings: readonly (readonly string[])[],
): Following {
  const requested = requests.map(({ text }) => oneLine(text));
  const [whole, cut, others]: [number[], number[], string[]] = [[], [], []];
  let end = requests.length;
  const find = (fits: (text: string) => boolean): number =>
    requested.findLastIndex((text, index) => index < end && index >= end - WITHIN && fits(text));
  for (let at = texts.length - 1; at >= 0; at--) {
    const words = readings[at] ?? [];
    const [head = ''] = (words[0] ?? '').slice(0, KNOWN_BY).split(ELLIPSIS);
    const same = find((said) => words.includes(said));
    const known = same >= 0 || head.length < LEAST_HEAD ? same : find((text) => text.startsWith(head));
    const turn = requests[known]?.turn;
    if (turn !== undefined) (same >= 0 ? whole : cut).unshift(turn);
    else if (words[0] === '') others.unshift(oneLine(texts[at] ?? ''));
    if (known >= 0) end = known;
  }
  return { whole, cut, others };
}
