// What a command of the user stands for: the harness puts its instructions behind it, in its own name.

import { constraintsOf, isLasting } from './constraints.ts';
import { clip, detached, oneLine, proseBlocks, withoutEmphasis } from './sentences.ts';
import { redact } from './redact.ts';

/** Characters of the outline that is kept. */
const OUTLINE_LENGTH = 360;

/** How Claude Code says where the instructions of a skill lie. @source Claude Code session files. */
const SKILL_OPENING = /^Base directory for this skill: (.+)\n/;

/**
 * Instructions in one line: where they lie, and their headings, or where there are none their
 * beginning. Undefined for reminders and what else stands in tags.
 */
export function outlineOf(text: string): string | undefined {
  if (/^\s*(?:<|$)/.test(text)) return undefined;
  const directory = SKILL_OPENING.exec(text)?.[1];
  const body = directory === undefined ? text : text.replace(SKILL_OPENING, '');
  const headings = proseBlocks(body).flatMap(({ line, mark }) => (mark === 'heading' ? [line] : []));
  const outline = headings.length === 0 ? oneLine(body) : headings.join('; ');
  const place = directory === undefined ? 'these instructions' : `the instructions in ${directory}`;
  return detached(redact(`${place}: ${clip(outline, OUTLINE_LENGTH)}`));
}

/** Orders that are kept, and characters of one. */
const MOST_ORDERS = 12;
const ORDER_LENGTH = 240;

/** What is forbidden, or where to stop, comes before what is asked for: that is what nobody would guess. */
const FORBIDS = /\b(?:never|do not|don['’]t|must not|without|only|stop|wait)\b/i;

/** A clause that tells what something is like: fields "that are never read" are looked for, and nobody is told not to read. */
const DESCRIBES = /\b(?:that|which|who) (?:(?:is|are|was|were|has|have|had) )?(?:never|always|only)\b/gi;

/** What instructions order or forbid in so many words, verbatim, in their order. */
export function ordersOf(text: string): string[] {
  const orders = constraintsOf(text.replace(SKILL_OPENING, '')).filter(
    (order) =>
      isLasting(order) && !/[:：]$/.test(order) && constraintsOf(order.replace(DESCRIBES, '')).length > 0,
  );
  const forbiddenFirst = orders.toSorted((a, b) => Number(FORBIDS.test(b)) - Number(FORBIDS.test(a)));
  const kept = new Set(forbiddenFirst.slice(0, MOST_ORDERS));
  return orders
    .filter((order) => kept.has(order))
    .map((order) => detached(redact(clip(oneLine(withoutEmphasis(order)), ORDER_LENGTH))));
}
