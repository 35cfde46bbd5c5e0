// Which quoted sentences are informative speech: not code, a drawing, a row of output or a guess.

import { isIntent } from '../trail/talk/statements.ts';

/** Signs of a row that was printed, drawn or typed at a prompt. */
const PRINTED =
  /^(?:[-*] )?(?:[│├└╭╰┃┌|>$]|<\/?\w|\d{1,6} (?:return|if|else|for|self|def|from|import|assert|class)\b|[0-9a-f]{7,12} |\[\S+ [0-9a-f]{7,}\]|["'][\w.-]+["']: |@@ |(?:\/|\w+\/)\S+:\d+: )|[│├└┃] |\||[│┃]\s*$/u;

/** Characters that programs have and prose lacks, outside quoted code. */
const OPERATORS =
  / (?:[:=!<>+]?=|=>|&&|\|\||<<|\/\/) |\w\((?:[^()]*\))?;?$|\(\)[.;,)]|[;{}[(]$|^(?:return|assert|raise|import|from|def|class|const|let|var|func|type|if not) \S+[^a-z ,.]/u;

/** A word of prose with its surrounding marks. */
const PLAIN_WORD = /^["'“‘(*_]*\p{L}[\p{L}'’-]*(?:[.,;:!?)”"*_][.,;:!?)”’"'*_]*)?$/u;
const OPTION = /^--?[a-z]/;
const LEAST_WORDS = 3;
/** Least share of words in a sentence that names options, and in others. */
const WORDS_SHARE = 0.5;
const WORDS_SHARE_OF_CALLS = 0.7;
/** The same for writing systems without spaces. */
const SIGNS = /\p{Lo}{6,}/u;

/** Whether a text is a spoken sentence, rather than code, a drawing, an id, a command or a row of output. */
export function isSpeech(text: string): boolean {
  if (PRINTED.test(text)) return false;
  const prose = text.replaceAll(/`[^`]*`/g, '`');
  if (OPERATORS.test(prose)) return false;
  if (SIGNS.test(prose)) return true;
  const parts = prose.split(/\s+/).filter((part) => /[\p{L}\p{N}]/u.test(part));
  const namesOptions = parts.some((part) => OPTION.test(part));
  if (namesOptions && /^[a-z]/.test(prose)) return false;
  const words = parts.filter((part) => PLAIN_WORD.test(part)).length;
  const share = namesOptions ? WORDS_SHARE_OF_CALLS : WORDS_SHARE;
  return words >= LEAST_WORDS && words >= share * parts.length;
}

/** Words of uncertainty; in parentheses they only concern a detail. */
const DOUBT =
  /\b(?:seems?|appears? to|might|maybe|perhaps|probably|possibly|likely|presumably|looks like|I (?:assume|guess|suspect)|may (?:have|be)|could be|vielleicht|vermutlich|wahrscheinlich|womöglich|scheint|peut-être|probablement|il semble|quizás?|tal vez|probablemente|parece|talvez|provavelmente|forse|probabilmente|misschien|waarschijnlijk|lijkt)\b|возможно|наверное|похоже|вероятно|może|prawdopodobnie|belki|muhtemelen|也许|可能|大概|似乎|好像|かもしれ|おそらく|多分|ようです|아마|것 같/i;
/** The reason that a sentence gives for its claim. */
const REASON =
  /\b(?:because|since|so that|so|to avoid|weil|da|damit|parce que|car|porque|ya que)\b|因为|ため|ので|때문/i;

/** Whether a sentence guesses in its main claim, not just in a reason or an aside. */
export function isGuess(sentence: string): boolean {
  // Few sentences express doubt, and the others need not be parsed.
  if (!DOUBT.test(sentence)) return false;
  const claim = sentence.replace(/^\(([^()]*)\)$/, '$1').replaceAll(/\([^()]*\)/g, '');
  return DOUBT.test(claim.split(REASON)[0] ?? '');
}

/** How a thought or an announcement begins: the following text settles it. */
const THINKS =
  /^(?:(?:but|so|and|or|then|now|ok(?:ay)?|well|no),? )?(?:if|wait|hmm+|maybe|perhaps|let me|let['’]?s|I(?:['’](?:ll|m)| (?:will|need to|should|can|could|see|am going))|what if|should I)\b|^(?:continuing with|still (?:running|active))\b/i;

/** How a sentence begins that continues the previous one. */
const POINTS_BACK =
  /^(?:(?:It|They)(?:['’]\w+)?|(?:This|That|These|Those) (?:is|are|was|were|has|have|does|do|will|would|can|could|means?|makes?|matches|prints|happens|comes|explains|includes|breaks|works|leaves|gives))\b/;

/** Whether a sentence is meaningless without the previous one. */
export function pointsBack(sentence: string): boolean {
  return POINTS_BACK.test(sentence);
}

/** Whether a sentence of the agent states a finding, rather than a thought or an intention. */
export function isFinding(sentence: string): boolean {
  return (
    !THINKS.test(sentence) && !isIntent(sentence) && !isGuess(sentence) && !/[?？]["”)]*$/u.test(sentence)
  );
}
