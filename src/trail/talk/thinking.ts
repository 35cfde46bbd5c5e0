// How a message of the agent thinks: up to where it muses, and whether it goes on to check what it says.

import { isQuestion } from '../../text/questions.ts';

/** How a sentence begins that turns a thought around, or tries one. */
const TURNS =
  /^(?:(?:but|so|and|or|then|now|ok(?:ay)?|well|oh|ah),? )?(?:wait|hmm+|maybe|perhaps|what if|actually|no,|let['’]?s (?:see|look|check|try|assume|say|think|verify|trace)|I (?:wonder|assume|guess|suspect)|moment|vielleicht|attends|peut-être|espera|quizás?)(?!\p{L})|^(?:等等|也许|或许|待って|もしかして|잠깐|아마)/iu;

/** Turns from which on a message thinks aloud; of those that only ask something, one that turns a thought around. */
const MANY_TURNS = 3;

/** How many of the sentences of a message come before its last turn where it thinks aloud; 0 where it does not. */
export function musedSentences(sentences: readonly string[]): number {
  let turns = 0;
  let hasTurned = false;
  let last = 0;
  for (const [at, sentence] of sentences.entries()) {
    const isTurn = TURNS.test(sentence);
    if (!isTurn && !isQuestion(sentence)) continue;
    turns++;
    hasTurned ||= isTurn;
    last = at;
  }
  return turns >= MANY_TURNS && hasTurned ? last : 0;
}

/** How somebody says that he looks at something next. */
const LOOKS =
  /\b(?:let me|let['’]s|I(?:['’]ll| will|['’]m(?: now| going to)?)|now|need to)\s+(?:(?:now|also|just|first|quickly) |double[- ]|re-?)*(?:verify|check|confirm|investigat|look|see|examin|trac|find|search|dig|inspect|read|compar|test|reproduc|debug|understand)|\b(?:ich (?:prüfe|schaue|sehe)|je (?:vérifie|regarde)|voy a (?:ver|comprobar|revisar)|vou verificar)\b|让我|我来|確認し|확인해/i;

/** Whether a sentence says that its speaker is about to look at something. */
export function announcesLook(sentence: string): boolean {
  return LOOKS.test(sentence);
}
