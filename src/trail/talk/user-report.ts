// The user's reports on the agent's work: that it was undone, or that it did not help.

import { sentencesOf } from '../../text/sentences.ts';

/** How a user says that work was undone, or should be. */
const UNDOES =
  /\b(?:I(?:['’]ve| have)? (?:just )?(?:undid|undone|reverted|rolled back|discarded|threw away)|(?:undo|revert|roll ?back|discard|throw away) (?:that|this|it|these|those|your|the (?:last|latest|previous)|all (?:of )?(?:that|this|your|these))|mach das rückgängig|annule (?:ça|cela)|deshaz (?:eso|lo))\b|撤销|还原|元に戻し/i;

/** How a user says that a repair changed nothing. */
const REMAINS =
  /\b(?:still (?:see|get|have (?:the|an?) (?:\w+ )?(?:error|problem|issue|bug)|fail(?:s|ing)?|show(?:s|ing)?|broken|the same|wrong|happen(?:s|ing)?|crash\w*|not|does ?n['’]?o?t|is ?n['’]?o?t)|(?:does|did|is)(?: not|n['’]t) (?:work|fix)(?:ed|ing)?|not fixed|same (?:error|problem|issue) (?:again|still)|(?:geht|funktioniert) (?:immer )?noch nicht|ne marche (?:toujours )?pas|sigue (?:sin|fallando))\b|还是不|仍然|まだ/i;

/** How a user's message begins that calls the agent's conclusion wrong, with or without a correction. */
const REFUTES =
  /^(?:(?:no|nope|but|well|hmm+|ne(?:in)?|non)[\s,.!—–-]+)*(?:(?:that|this|it|you)(?:['’]s| is|['’]re| are| was) (?:(?:still|also|just|simply|plain|totally|completely) )?(?:wrong|incorrect|false|not (?:it|right|true|correct|so|what I|the (?:right|case|place|problem|cause|issue|reason)))\b|(?:das|es) (?:stimmt nicht|ist falsch)|c['’]est faux|eso (?:no es (?:así|cierto|correcto)|es falso)|不对|错了|違います)/i;

/** Characters of a message that says so directly; longer ones were pasted and concern something else. */
const REPORT_LENGTH = 400;

/** How a sentence says that something was repaired, or what was done. */
const MENDED =
  /\b(?:fixed|works?|handles?|handled|resolve[sd]?|solve[sd]|correctly|properly|no longer|as expected)\b|\bnow (?:\w+ )?(?:shows|passes|returns|uses|has|follows|contains)\b/i;
const DONE =
  /^(?:\p{Lu}\p{Ll}+ed|Made|Set|Wrote|Put|Built|Split|I(?:['’]ve| have) \w+)\s|\bnow (?:\w+ )?\w+s\b/u;

/** A user's report on the work: it was or should be undone, nothing has changed, or the agent's conclusion is wrong. */
export type Report = 'undone' | 'remains' | 'refuted';

/** A user message's report on the work before it. */
export function reportOf(text: string): Report | undefined {
  if (text.length > REPORT_LENGTH) return undefined;
  const statements = sentencesOf(text).filter((sentence) => !/[?？]/.test(sentence));
  if (statements.some((sentence) => UNDOES.test(sentence) && !NEGATED.test(sentence))) return 'undone';
  if (statements.some((sentence) => REMAINS.test(sentence))) return 'remains';
  return REFUTES.test(text.trim()) ? 'refuted' : undefined;
}

const NEGATED = /\b(?:not|never|without|cannot|nicht|pas|no)\b|n['’]t\b|不|没/i;

/** Whether a user reports having discarded the work personally. */
export function isUndoneByUser(text: string): boolean {
  return (
    text.length <= REPORT_LENGTH &&
    /\bI(?:['’]ve| have)? (?:just )?(?:undid|undone|reverted|rolled back|discarded|threw away)\b/i.test(text)
  );
}

/** Whether a report contradicts a sentence about the work. */
export function denies(report: Report | undefined, text: string): boolean {
  return report !== undefined && (MENDED.test(text) || (report === 'undone' && DONE.test(text)));
}
