// Options that the agent offered and the user decided on: the rejected ones no longer count.

import { wordsOf } from '../text/subjects.ts';
import type { Statement, Trail } from '../trail/trail.ts';

/** How a list of options is introduced: not a program's options, which no sentence offers. */
const PUTS_OPTIONS =
  /^\W*(?:(?:the|your|our|some|possible|potential|two|three|four|a few|\d) )*(?:options?|choices|alternatives|ways forward)(?: (?:are|here|now|forward|would be|you have|we have|I see))*\W*$/i;

/** Whether a statement is an option from a list that the user answered, but not one that the answer takes up. */
export function settledOptions({ answers, requests }: Trail): (statement: Statement) => boolean {
  const answered = new Set(answers.map(({ turn }) => turn));
  const replies = new Map(requests.map(({ turn, text }) => [turn, wordsOf(text)]));
  return ({ turn, lead, text }) => {
    if (lead === undefined || !answered.has(turn + 1) || !PUTS_OPTIONS.test(lead)) return false;
    const reply = replies.get(turn + 1);
    return reply !== undefined && ![...wordsOf(text)].some((word) => reply.has(word));
  };
}
