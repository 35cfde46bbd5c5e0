// Which steps are known to be read-only: the absence of an edited file does not prove it. And which sentences announce a look,
// which is complete when its results arrive.

import { ELLIPSIS } from '../text/sentences.ts';
import type { Activity } from '../trail/trail.ts';

/** Tools and programs that only read, as they appear at the start of a call. */
const READS =
  /^(?:(?:read|view|grep|glob|ls|list|search|find|open|fetch|web)[_ a-z]*\b|(?:cat|ls|rg|head|tail|wc|echo|printf|pwd|cd|nl|sort|uniq|cut|jq|tree|stat|file|which|diff|test|true|sed -n|awk)\b)/i;
/** Signs of a change, in any command. */
const CHANGES = /(?:^|\s)(?:-delete|-exec\w*|-i\b|--in-place)|(?<![0-9&<])>(?!\s*\/dev\/null|&)|\bxargs\b/;

/** Whether a step is known to be read-only; one that is not shown in full may have done anything. */
export function isReadOnly({ call, effect, isRead }: Activity): boolean {
  if (effect !== undefined) return false;
  if (isRead) return true;
  if (call.endsWith(ELLIPSIS) || CHANGES.test(call)) return false;
  return call.split(/&&|\|\||[;|\n]/).every((part) => READS.test(part.trim()));
}

const LOOKS =
  'analy[sz]|check|confirm|examin|explor|fetch|find|grep|inspect|investigat|list|locat|look|read|refresh|review|sampl|scan|search|see|stud|survey|trac|understand|verif|view';
/** How an agent announces a look. */
const ANNOUNCES_LOOK = new RegExp(
  String.raw`(?:\b(?:let me|let['’]?s|I['’]ll|I will|I['’]m going to|I am going to|I need to)|^(?:now|next|then|first),?|\bI(?:['’]m| am)|^(?=\w+ing\b))(?: (?:now|also|still|first|just|then|next|quickly))* ?(?:re-?|double-?)?(?:${LOOKS})(?:e|y|s|es|ing|ying)?\b`,
  'i',
);
/** A change announced after a look. */
const AND_CHANGE =
  /(?:,|;|\band|\bthen)(?: (?:I['’]ll|let me|also|only|just|then))* (?:add|address|appl|build|change|clean|commit|convert|creat|delet|document|edit|extract|fix|format|implement|install|mak|merg|mov|patch|push|refactor|remov|renam|replac|repl|restart|rewrit|run|send|set|start|test|updat|us|wir|writ)(?:e|y)?\b/i;

/** Whether a sentence announces a look and no change. */
export function announcesLook(sentence: string): boolean {
  return ANNOUNCES_LOOK.test(sentence) && !AND_CHANGE.test(sentence);
}
