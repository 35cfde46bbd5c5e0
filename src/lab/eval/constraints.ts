// Rules of the user, and whether a context still says them in the user's words. The detector is the metric's own: the
// summarizer has another one, and the metric must not agree with it by construction.

import { authorOf } from '../../protocol/item.ts';
import type { LogStep } from './log.ts';

/** Words by which a sentence is about more than the task at hand. */
const RULE =
  /\b(?:never|always|must|do not|don['’]t|only|should(?: not|n['’]t)?|instead of|rather than|no longer|make sure|at (?:most|least)|avoid|prefer|without|nie(?:mals)?|immer|nicht|jamais|toujours|nunca|siempre)\b|不要|必须|禁止|只能/iu;

const SHORTEST_WORDS = 3;
const LONGEST_WORDS = 50;

/**
 * The rules that a step of the user states: sentences with a word of prohibition, duty, limit or preference, no
 * questions, white space collapsed, without the mark of a list. None for any other step.
 */
export function rulesOf(step: LogStep): readonly string[] {
  return isOfUser(step) ? step.lines.flatMap(sentencesIn) : [];
}

/** Share of the rules that a context holds verbatim, but for white space; undefined without rules. */
export function keptConstraints(
  lines: readonly string[],
  constraints: readonly string[],
): number | undefined {
  if (constraints.length === 0) return undefined;
  const text = collapse(lines.join(' '));
  return constraints.filter((constraint) => text.includes(constraint)).length / constraints.length;
}

function isOfUser({ kind, item }: LogStep): boolean {
  return kind === 'written' && authorOf(item) === 'user';
}

/** What stands before an item of a list: it is no word of the rule. */
const LIST_MARK = /^\s*(?:[-*+•] +|\d{1,3}[.)] +)/u;

function sentencesIn(line: string): readonly string[] {
  return (line.replace(LIST_MARK, '').match(/[^.!?。！？]+(?:[.!?](?=\S)[^.!?。！？]*)*[.!?。！？]*/gu) ?? [])
    .map(collapse)
    .filter(isRule);
}

function isRule(sentence: string): boolean {
  const words = sentence.split(' ').length;
  const isLong = words >= SHORTEST_WORDS || /[\u4e00-\u9fff]/u.test(sentence);
  return isLong && words <= LONGEST_WORDS && !/[?？]$/u.test(sentence) && RULE.test(sentence);
}

function collapse(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
