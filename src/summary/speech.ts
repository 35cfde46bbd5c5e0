// Which quoted sentences are speech that tells something: no code, no drawing, no row of an output, no guess.

import { isIntent } from '../trail/talk/statements.ts';

/** How a sentence begins or runs that is a row of something printed, drawn or typed at a prompt. */
const PRINTED =
  /^(?:[-*] )?(?:[│├└╭╰┃┌|>$]|<\/?\w|\d{1,6} (?:return|if|else|for|self|def|from|import|assert|class)\b|[0-9a-f]{7,12} |\[\S+ [0-9a-f]{7,}\]|["'][\w.-]+["']: |@@ |(?:\/|\w+\/)\S+:\d+: )|[│├└┃] |\||[│┃]\s*$/u;

/** What programs have and prose has not, outside of quoted code. */
const OPERATORS =
  / (?:[:=!<>+]?=|=>|&&|\|\||<<|\/\/) |\w\((?:[^()]*\))?;?$|\(\)[.;,)]|[;{}[(]$|^(?:return|assert|raise|import|from|def|class|const|let|var|func|type|if not) \S+[^a-z ,.]/u;

/** A word of prose with the marks around it. */
const PLAIN_WORD = /^["'“‘(*_]*\p{L}[\p{L}'’-]*(?:[.,;:!?)”"*_][.,;:!?)”’"'*_]*)?$/u;
const OPTION = /^--?[a-z]/;
const LEAST_WORDS = 3;
/** Share of a sentence that is words, where it names options, and otherwise. */
const WORDS_SHARE = 0.5;
const WORDS_SHARE_OF_CALLS = 0.7;
/** As many signs of a script without spaces. */
const SIGNS = /\p{Lo}{6,}/u;

/** Whether a text is a sentence that somebody says, rather than code, a drawing, an id, a command or a row of an output. */
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

/** Words of who does not know; in parentheses they say it of a detail. */
const DOUBT =
  /\b(?:seems?|appears? to|might|maybe|perhaps|probably|possibly|likely|presumably|looks like|I (?:assume|guess|suspect)|may (?:have|be)|could be|vielleicht|vermutlich|wahrscheinlich|womöglich|scheint|peut-être|probablement|il semble|quizás?|tal vez|probablemente|parece|talvez|provavelmente|forse|probabilmente|misschien|waarschijnlijk|lijkt)\b|возможно|наверное|похоже|вероятно|może|prawdopodobnie|belki|muhtemelen|也许|可能|大概|似乎|好像|かもしれ|おそらく|多分|ようです|아마|것 같/i;
/** What a sentence gives as the reason for what it says. */
const REASON =
  /\b(?:because|since|so that|so|to avoid|weil|da|damit|parce que|car|porque|ya que)\b|因为|ため|ので|때문/i;

/** Whether a sentence guesses in what it says, not in a reason or an aside that it gives. */
export function isGuess(sentence: string): boolean {
  // Few sentences doubt anything, and the rest need not be taken apart.
  if (!DOUBT.test(sentence)) return false;
  const said = sentence.replace(/^\(([^()]*)\)$/, '$1').replaceAll(/\([^()]*\)/g, '');
  return DOUBT.test(said.split(REASON)[0] ?? '');
}

/** Beginnings of what somebody thinks or announces: it is spent by what follows. */
const THINKS =
  /^(?:(?:but|so|and|or|then|now|ok(?:ay)?|well|no),? )?(?:if|wait|hmm+|maybe|perhaps|let me|let['’]?s|I(?:['’](?:ll|m)| (?:will|need to|should|can|could|see|am going))|what if|should I)\b|^(?:continuing with|still (?:running|active))\b/i;

/** How a sentence begins whose subject stands in the one before it. */
const POINTS_BACK =
  /^(?:(?:It|They)(?:['’]\w+)?|(?:This|That|These|Those) (?:is|are|was|were|has|have|does|do|will|would|can|could|means?|makes?|matches|prints|happens|comes|explains|includes|breaks|works|leaves|gives))\b/;

/** Whether a sentence says nothing to who did not read the one before it. */
export function pointsBack(sentence: string): boolean {
  return POINTS_BACK.test(sentence);
}

/** Whether a sentence of the agent tells what it found rather than what it wondered or was about to do. */
export function isTold(sentence: string): boolean {
  return (
    !THINKS.test(sentence) && !isIntent(sentence) && !isGuess(sentence) && !/[?？]["”)]*$/u.test(sentence)
  );
}
