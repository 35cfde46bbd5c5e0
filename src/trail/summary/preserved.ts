// What the messages say that a compaction leaves verbatim behind the summary, so that the summary need not repeat it.

import { templatedTask } from '../actions.ts';
import { redact } from '../redact.ts';
import { ownWords } from '../requests.ts';
import { oneLine } from '../sentences.ts';

/** The words that follow a summary verbatim. */
export interface PreservedWords {
  /** Whether a message follows whole. A clipped text is none: nobody knows whether its middle is there. */
  readonly hasMessage: (text: string) => boolean;
  /** Whether a message follows with its middle cut out. */
  readonly hasCut: (text: string) => boolean;
  /** Whether a sentence stands in one of the messages. */
  readonly hasSentence: (sentence: string) => boolean;
}

/** Characters by which a message is known again whose middle was cut out. */
const KNOWN_BY = 80;

/** Reads the texts of preserved messages as the trail read them: the user's own words, secrets replaced, on one line. */
export function preservedWords(texts: readonly string[]): PreservedWords {
  const own = texts.flatMap((text) => {
    const words = redact(ownWords(text) ?? '');
    const { task, template } = templatedTask(words);
    return template === '' ? [oneLine(words)] : [oneLine(words), oneLine(task)];
  });
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
  };
}
