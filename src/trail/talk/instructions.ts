// What a user's command expands to: the harness adds the instructions after it, in its own name.

import { constraintsOf, isLasting } from './constraints.ts';
import { clip, detached, oneLine, proseBlocks, sentencesOf, withoutEmphasis } from '../../text/sentences.ts';
import { redact } from '../../text/redact.ts';

/** Characters of the outline that is kept. */
const OUTLINE_LENGTH = 360;

/** How Claude Code introduces the location of a skill's instructions. @source Claude Code session files. */
const SKILL_OPENING = /^Base directory for this skill: (.+)\n/;

/**
 * Instructions in one line: their location and headings, or their beginning if they have no headings. Undefined for reminders
 * and other tagged text.
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

/** Number of orders kept, and characters of one. */
const MOST_ORDERS = 16;
const ORDER_LENGTH = 240;

/** Prohibitions and stopping points first: they cannot be inferred. */
const FORBIDS = /\b(?:never|do not|don['’]t|must not|without|only|stop|wait)\b/i;

/** A clause that describes something: fields "that are never read" are to be found; it does not forbid reading. */
const DESCRIBES = /\b(?:that|which|who) (?:(?:is|are|was|were|has|have|had) )?(?:never|always|only)\b/gi;

/** The explicit orders and prohibitions in instructions, verbatim, in order. */
export function ordersOf(text: string): string[] {
  const rows = text.replace(SKILL_OPENING, '').split('\n');
  const halts = rows.flatMap((row) => (row.includes('STOP') ? sentencesOf(row).filter(isHalt) : []));
  const found = new Set([...constraintsOf(rows.join('\n')), ...halts]);
  const orders = [...found]
    .toSorted((a, b) => text.indexOf(a) - text.indexOf(b))
    .filter(
      (order) =>
        isHalt(order) ||
        (isLasting(order) && !/[:：]$/.test(order) && constraintsOf(order.replace(DESCRIBES, '')).length > 0),
    );
  const forbiddenFirst = orders.toSorted((a, b) => Number(FORBIDS.test(b)) - Number(FORBIDS.test(a)));
  const kept = new Set(forbiddenFirst.slice(0, MOST_ORDERS));
  return orders
    .filter((order) => kept.has(order))
    .map((order) =>
      detached(redact(clip(oneLine(withoutEmphasis(withCondition(order, rows))), ORDER_LENGTH))),
    );
}

/** Stopping points for the user's decision are written in capitals, without the words of a rule. */
function isHalt(sentence: string): boolean {
  return /\bSTOP\b/.test(sentence);
}

/** How a sentence begins that limits when the next one applies. */
const CONDITION =
  /^(?:[-*+>\d.)][-*+>\d.) ]*)?(?:if|when|once|unless|otherwise|while|after|before|should)\b/i;

/**
 * An order with its condition: the previous sentence in its row, or else its heading. Without it, the order would always apply.
 */
function withCondition(order: string, rows: readonly string[]): string {
  const at = rows.findIndex((row) => row.includes(order));
  const row = rows[at] ?? '';
  const before = sentencesOf(row.slice(0, row.indexOf(order))).at(-1) ?? '';
  if (CONDITION.test(before)) return `${before} ${order}`;
  const scope = CONDITION.test(order) ? undefined : scopeOf(at, rows);
  return scope === undefined ? order : `[${clip(scope, CASE_LENGTH)}] ${order}`;
}

/** Characters of a case. */
const CASE_LENGTH = 60;
const HEADING = /^(#{1,6}) +(?:\d+[.)] +)?(\S.*)$/;
/** A heading whose content applies in one mode or one case only. */
const OF_ONE_CASE =
  /^(?:(?:mode|option|variant|case)\b.{0,3}\S|(?:if|when|unless|on (?:failure|errors?|success|conflicts?))\b)|^[\w-]+ mode\b:?$/i;

/** The case to which a row belongs: the condition that leads to it, or the heading of a mode. */
function scopeOf(at: number, rows: readonly string[]): string | undefined {
  let level = Infinity;
  let isBelow = true;
  for (let above = at - 1; above >= 0 && level > 1; above--) {
    const row = rows[above] ?? '';
    const [, marks = '', heading = ''] = HEADING.exec(row) ?? [];
    if (marks !== '' && marks.length < level && OF_ONE_CASE.test(heading)) return heading;
    if (marks !== '') level = Math.min(level, marks.length);
    isBelow &&= marks === '' && row.trim() !== '';
    if (isBelow && /[:：]\s*$/.test(row) && CONDITION.test(row.trim()))
      return row.trim().replace(/[:：]$/, '');
  }
  return undefined;
}
