// The user's rules, and whether a context still states them in the user's words. The metric has its own detector: with
// the summarizer's, it would agree with it by construction.

import { authorOf } from '../../protocol/item.ts';
import type { LogStep } from './log.ts';

/** Words that make a sentence apply beyond the present task. */
const RULE =
  /\b(?:never|always|must|do not|don['’]t|only|should(?: not|n['’]t)?|instead of|rather than|no longer|make sure|at (?:most|least)|avoid|prefer|without|nie(?:mals)?|immer|nicht|jamais|toujours|nunca|siempre)\b|不要|必须|禁止|只能/iu;

const SHORTEST_WORDS = 3;
const LONGEST_WORDS = 50;

/**
 * The rules that a user's step states: sentences with a word of prohibition, duty, limit or preference, except
 * questions, with white space collapsed and without list marks. Empty for any other step.
 */
export function rulesOf(step: LogStep): readonly string[] {
  return isOfUser(step) ? step.lines.flatMap(sentencesIn) : [];
}

/** Share of the rules that a context holds verbatim, except for white space; undefined without rules. */
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

/** The mark before a list item: it is not part of the rule. */
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
