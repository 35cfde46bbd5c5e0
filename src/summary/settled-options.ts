// Options that the agent put to the user and that the user settled: what was not chosen stands for nothing any more.

import { wordsOf } from '../text/subjects.ts';
import type { Statement, Trail } from '../trail/trail.ts';

/** What options stand below: not the options of a program, which no sentence puts to anybody. */
const PUTS_OPTIONS =
  /^\W*(?:(?:the|your|our|some|possible|potential|two|three|four|a few|\d) )*(?:options?|choices|alternatives|ways forward)(?: (?:are|here|now|forward|would be|you have|we have|I see))*\W*$/i;

/** Whether a statement is an option of a list to which the user replied, and not one that the reply takes up. */
export function settledOptions({ answers, requests }: Trail): (statement: Statement) => boolean {
  const answered = new Set(answers.map(({ turn }) => turn));
  const replies = new Map(requests.map(({ turn, text }) => [turn, wordsOf(text)]));
  return ({ turn, lead, text }) => {
    if (lead === undefined || !answered.has(turn + 1) || !PUTS_OPTIONS.test(lead)) return false;
    const reply = replies.get(turn + 1);
    return reply !== undefined && ![...wordsOf(text)].some((word) => reply.has(word));
  };
}
