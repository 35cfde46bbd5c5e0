// Where a message of the agent thinks aloud, and whether it announces a check of its own claims.

import { isQuestion } from '../../text/questions.ts';

/** How a sentence begins that reverses a thought or tries one out. */
const TURNS =
  /^(?:(?:but|so|and|or|then|now|ok(?:ay)?|well|oh|ah),? )?(?:wait|hmm+|maybe|perhaps|what if|actually|no,|let['’]?s (?:see|look|check|try|assume|say|think|verify|trace)|I (?:wonder|assume|guess|suspect)|moment|vielleicht|attends|peut-être|espera|quizás?)(?!\p{L})|^(?:等等|也许|或许|待って|もしかして|잠깐|아마)/iu;

/** A message with this many reversals thinks aloud; if they are mostly questions, at least one must reverse a thought. */
const MANY_TURNS = 3;

/** How many sentences precede the last reversal of a message that thinks aloud; 0 for other messages. */
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

/** How a speaker announces a look at something. */
const LOOKS =
  /\b(?:let me|let['’]s|I(?:['’]ll| will|['’]m(?: now| going to)?)|now|need to)\s+(?:(?:now|also|just|first|quickly) |double[- ]|re-?)*(?:verify|check|confirm|investigat|look|see|examin|trac|find|search|dig|inspect|read|compar|test|reproduc|debug|understand)|\b(?:ich (?:prüfe|schaue|sehe)|je (?:vérifie|regarde)|voy a (?:ver|comprobar|revisar)|vou verificar)\b|让我|我来|確認し|확인해/i;

/** Whether a sentence announces that its speaker will look at something. */
export function announcesCheck(sentence: string): boolean {
  return LOOKS.test(sentence);
}
