// The lines that quote the agent's messages verbatim: the one that the current request answers, the first one after the
// request, the newest, and the newest list.

import { approximateTokens } from '../../tokens/estimate.ts';
import { charactersFor, SECTION, summaryLine } from '../line.ts';
import type { Floor, LineParts, SummaryLine } from '../line.ts';
import { LONGEST_FOLLOW_UP } from '../../trail/talk/items.ts';
import { clip, ELLIPSIS, oneLine, sentencesOf, withoutEmphasis } from '../../text/sentences.ts';
import { isFinding } from '../speech.ts';
import { chainedLines, SINCE } from './step-lines.ts';
import { withRetraction } from '../../trail/talk/retractions.ts';
import type { Retractions } from '../../trail/talk/retractions.ts';
import type { Reply, Trail } from '../../trail/trail.ts';
import { isGoAhead, mayMean } from '../work.ts';

/** The agent's last messages, by how they are selected. */
export interface QuotedLines {
  readonly floors: readonly Floor[];
  readonly all: readonly SummaryLine[];
  /** Position of the agent's first answer to the request, if it is shown. */
  readonly openingAt: number | undefined;
}

/** @param said lines with sentences of the same messages, which are dropped if their message is shown */
export function quotedLines(
  trail: Trail,
  budget: number,
  {
    retractions: standing,
    said,
  }: { readonly retractions: Retractions; readonly said: readonly SummaryLine[] },
): QuotedLines {
  const { repliesTo, newestReply } = trail.current;
  const isSmall = budget < ROOM_FOR_ANSWERED;
  const fitting = isSmall ? 1 : FITTING;
  const opening = openingReply(trail, budget);
  const openingRoom = openingShare(opening, budget) * budget;
  const hasNewerCode = [opening, newestReply].some((reply) => holdsCode(reply));
  const answered = answeredShare(repliesTo, trail, budget);
  const newest = newestShare(trail, budget);
  const reply = replyLines(repliesTo, answered * budget, {
    standing,
    isCodeShown: !hasNewerCode,
    isSmall,
    place: { order: -1e9, group: answeredHeading(trail) },
  });
  const report = replyLines(newestReply, newest * budget, {
    standing,
    isCodeShown: true,
    isSmall,
    place: newestPlace(trail),
  });
  const first = openingLines(opening, openingRoom, { standing, said });
  const list = newestListLines(trail, standing);
  return {
    floors: [
      { lines: report, share: fitting * newest, by: 'order' },
      { lines: reply, share: fitting * answered, by: 'order' },
      { lines: first, share: fitting * openingShare(opening, budget), by: 'order' },
      { lines: list.meant, share: 0.08, by: 'order' },
    ],
    all: [report, reply, first, list.meant, list.old].flat(),
    openingAt: opening?.position,
  };
}

/** Characters of the statement with which the agent withdrew a message. */
const ADMISSION_LENGTH = 200;

/** The heading of the message that the request answers, including the agent's later withdrawal of it. */
function answeredHeading({ requests }: Trail): string {
  const admission = requests.at(-1)?.admission;
  const since =
    admission === undefined
      ? ''
      : `, which it took back since ("${clip(oneLine(admission), ADMISSION_LENGTH)}")`;
  return `The agent's last message before the current request${since}:`;
}

/** By how much lines may exceed their estimated cost. */
const FITTING = 1.15;

/**
 * From this many tokens on, messages of the agent are quoted at their full share: in a small summary, paths and rules come
 * first.
 */
const WHOLE_QUOTES = 5_000;
const QUOTE_SHARE = 0.08;
const LIST_SHARE = 0.1;
/**
 * Share for a message from which the work continues, and the tokens from which on it applies in full. @source
 * docs/decisions/summary.md
 */
const ANSWERED_SHARE = 0.15;
const ROOM_FOR_ANSWERED = 3_000;
/**
 * Up to this many calls on the request, the full share also applies in a small summary: after that the work speaks for itself.
 */
const FRESH_CALLS = 8;
const ROOM_FOR_ALL = 6_000;
/** Factor for the share in other cases. */
const OVERTAKEN = 0.6;
/** Share of a message with a list in such cases, if smaller. */
const SMALL_LIST_SHARE = 0.08;

/** A message with a list is what the user refers to next. */
function isList(reply: Reply | undefined, { current }: Trail): boolean {
  return reply !== undefined && reply.position === current.newestList?.position;
}

function quoteShare(reply: Reply | undefined, trail: Trail, budget: number): number {
  return (isList(reply, trail) ? LIST_SHARE : QUOTE_SHARE) * Math.min(1, budget / WHOLE_QUOTES);
}

/** A message that the user answers in few words ("confirm these", "do 2 and 4") is what the request is about. */
function answeredShare(reply: Reply | undefined, trail: Trail, budget: number): number {
  const share = quoteShare(reply, trail, budget);
  const { turn = 0, text = '' } = trail.requests.at(-1) ?? {};
  if (reply === undefined || turn !== reply.turn + 1 || text.length > LONGEST_FOLLOW_UP) return share;
  // If the user only agrees, section 1 shows the offer.
  const isFresh = trail.current.calls <= FRESH_CALLS || budget >= ROOM_FOR_ALL;
  if (budget >= ROOM_FOR_ANSWERED) return isFresh && !isGoAhead(text) ? ANSWERED_SHARE : OVERTAKEN * share;
  return listItems(reply.text) < LEAST_ITEMS ? share : Math.max(share, SMALL_LIST_SHARE);
}

/**
 * Characters per row in a small summary: a list that the user answers is shown with all its rows, each as far as there is room.
 */
function smallRow(text: string, tokens: number): number {
  if (listItems(text) < LEAST_ITEMS || charactersFor(tokens, text) >= text.length) return LEAST_ROW;
  const rows = text.split('\n').filter((row) => row.trim() !== '').length;
  return Math.max(LEAST_LIST_ROW, Math.floor((CHARACTERS_PER_TOKEN * tokens) / rows));
}

const LEAST_LIST_ROW = 70;
/** Least number of characters of a message per token, in nearly all cases. */
const CHARACTERS_PER_TOKEN = 3;

function listItems(text: string): number {
  return text.split('\n').filter((row) => LIST_ITEM.test(row)).length;
}

const LIST_ITEM = /^\s*(?:[-*•] |\d{1,3}[.)] |\|)/;
const LEAST_ITEMS = 3;

/** The message that ended the agent's work is where the user continues. */
function newestShare(trail: Trail, budget: number): number {
  const share = quoteShare(trail.current.newestReply, trail, budget);
  return trail.current.isAgentDone && budget >= ROOM_FOR_ALL ? ANSWERED_SHARE : share;
}

/** The place of the newest message: among the steps if some followed it, so that it does not read as the last word on them. */
function newestPlace({ current, turns }: Trail): QuotePlacement {
  const { newestReply, unread, tail } = current;
  const at = newestReply?.position ?? 0;
  const isUnread = new Set(unread.map(({ position }) => position));
  const later = tail.filter(({ position, turn }) => turn === turns && position > at);
  const calls = later.length === 1 ? 'call' : 'calls';
  return later.every(({ position }) => isUnread.has(position))
    ? { order: 4e9, group: "The agent's newest message:" }
    : { order: at, group: SINCE, lead: `- said last (${later.length} ${calls} since):` };
}

/** The place of a quoted message. */
type QuotePlacement = Pick<LineParts, 'order' | 'group' | 'lead'>;

interface Quoting {
  readonly standing: Retractions;
  /** Whether code blocks are shown: those of an older message give way to those of a newer one. */
  readonly isCodeShown: boolean;
  readonly isSmall: boolean;
  readonly place: QuotePlacement;
}

/**
 * A message of the agent verbatim, row by row, its end first: there it asks, summarizes or announces the next step. If not
 * everything fits, its beginning follows, and then the middle; no row appears without the one after it.
 */
function replyLines(
  reply: Reply | undefined,
  tokens: number,
  { standing, isCodeShown, isSmall, place }: Quoting,
): SummaryLine[] {
  if (reply === undefined) return [];
  const message = isCodeShown ? reply.text : withoutCode(reply.text);
  const rows = contentRows(
    message,
    isSmall ? () => smallRow(message, tokens) : (row) => rowRoom(row, tokens),
  );
  const indent = place.lead === undefined ? '  ' : '    ';
  const { head, tail } = fittingEnds(rows, tokens);
  const lines: SummaryLine[] = [];
  const add = (row: string, at: number, replaces?: readonly SummaryLine[]): void => {
    const text = withRetraction(`${indent}${row}`, reply.turn, standing);
    const order = place.order + at / 1_000;
    const parent = lines.at(-1);
    lines.push(
      summaryLine({ ...place, section: SECTION.current, order, text, value: 0.5, parent, replaces }),
    );
  };
  for (let at = rows.length - 1; at >= tail; at--) add(rows[at] ?? '', at);
  for (let at = 0; at < head; at++) add(rows[at] ?? '', at);
  if (head > 0 && head < tail) add(ELLIPSIS, head - 0.5);
  const gap = head > 0 ? lines.slice(-1) : [];
  for (let at = tail - 1; at >= head; at--) add(rows[at] ?? '', at, at === head ? gap : undefined);
  return lines;
}

/** Content without meaning in a quoted message: rules, fences, directives to the client. */
const NO_CONTENT = /^\s*(?!\s)(?:[\s|:=_*─━═⎯│┃-]*|```\w*|~~~\w*|::[\w-]+\{.*)$/;

/** The meaningful rows of a message. */
function contentRows(text: string, lengthOf: (row: string) => number): string[] {
  return text
    .split('\n')
    .filter((row) => !NO_CONTENT.test(row))
    .map((row) => withoutEmphasis(row.trimEnd()))
    .map((row) => clip(row, lengthOf(row)));
}

/** Characters of a row that does not take most of the room. */
function rowRoom(row: string, tokens: number): number {
  return Math.max(LEAST_ROW, charactersFor(ROW_SHARE * tokens, row));
}

/** Share of the room for the beginning of a message whose middle is cut. */
const HEAD_SHARE = 0.4;
/** Share of the room that one row may take, and the characters that it may have in any case. */
const ROW_SHARE = 0.7;
const LEAST_ROW = 260;

/** How many rows of its beginning fit, and from which row on its end fits, if not all rows do. */
function fittingEnds(
  rows: readonly string[],
  tokens: number,
): { readonly head: number; readonly tail: number } {
  const costs = rows.map(costOf);
  if (costs.reduce((sum, cost) => sum + cost, 0) <= tokens || tokens < ROOM_FOR_ENDS)
    return { head: 0, tail: 0 };
  let left = tokens;
  let [head, tail] = [0, rows.length];
  const fits = (at: number, reserve: number): boolean => {
    const cost = costs[at] ?? Infinity;
    if (head >= tail || cost > left - reserve) return false;
    left -= cost;
    return true;
  };
  while (fits(tail - 1, HEAD_SHARE * tokens)) tail--;
  while (fits(head, 0)) head++;
  while (fits(tail - 1, 0)) tail--;
  return { head, tail };
}

/** How many rows fit, counted from the first one, which always does. */
function fittingHead(rows: readonly string[], tokens: number): number {
  let left = tokens;
  const end = rows.findIndex((row) => (left -= costOf(row)) < 0);
  return end < 0 ? rows.length : Math.max(1, end);
}

/** Fewer tokens than this cannot hold two ends. */
const ROOM_FOR_ENDS = 200;

/** Names and code cost more than the estimate. */
const COST_FACTOR = 1.2;

function costOf(row: string): number {
  return COST_FACTOR * approximateTokens(row) + 1;
}

const FENCE = /^\s*(?:```|~~~)/;

function holdsCode(reply: Reply | undefined): boolean {
  return reply?.text.includes('```') === true;
}

/** A text with a mark in place of each fenced block. */
function withoutCode(text: string): string {
  let isFenced = false;
  return text
    .split('\n')
    .flatMap((row) => {
      const isFence = FENCE.test(row);
      if (isFence) isFenced = !isFenced;
      if (isFence && isFenced) return [ELLIPSIS];
      return isFence || isFenced ? [] : [row];
    })
    .join('\n');
}

/** Least number of the agent's messages in the log: if this many belong to the current request, its first may be missing. */
const KEPT_MESSAGES = 24;

/** The agent's first message after the current request, if that answers something and is not the newest. */
function openingReply(
  { current: { messages: said, newestReply }, turns }: Trail,
  budget: number,
): Reply | undefined {
  const at = said.findIndex(({ turn }) => turn === turns);
  const first = said[at];
  if (first === undefined || first.position === newestReply?.position) return undefined;
  if (at === 0 && said.length >= KEPT_MESSAGES) return undefined;
  const isInformative = budget >= ROOM_FOR_ALL && sentencesOf(first.text).some(isFinding);
  return holdsCode(first) || isInformative ? first : undefined;
}

/** Share for the first message after the request, and for one with a code block. */
const OPENING_SHARE = 0.03;
const CODE_SHARE = 0.08;

function openingShare(reply: Reply | undefined, budget: number): number {
  return (holdsCode(reply) ? CODE_SHARE : OPENING_SHARE) * Math.min(1, budget / WHOLE_QUOTES);
}

/** The first answer to the request, as one line that replaces its separate sentences. */
function openingLines(
  reply: Reply | undefined,
  tokens: number,
  { standing, said }: { readonly standing: Retractions; readonly said: readonly SummaryLine[] },
): SummaryLine[] {
  if (reply === undefined) return [];
  const all = contentRows(reply.text, (row) => rowRoom(row, tokens)).map((row) =>
    withRetraction(row, reply.turn, standing),
  );
  const count = fittingHead(all, tokens);
  const rows = count < all.length ? [...all.slice(0, count), ELLIPSIS] : all;
  const text =
    rows.length === 1
      ? `- said: ${rows[0] ?? ''}`
      : ['- said:', ...rows.map((row) => `    ${row}`)].join('\n');
  return [
    summaryLine({
      section: SECTION.current,
      order: reply.position,
      text,
      value: 0.5,
      group: SINCE,
      replaces: said.filter(({ step }) => step === reply.position),
    }),
  ];
}

/** Characters of one row of a list that was quoted before. */
const LIST_ROW = 260;

/** Least rows of a list that are shown together: a single first row would be just a heading. */
const LEAST_LIST_ROWS = 4;
/** Rows of a list that the user does not refer to, and their value besides their names. */
const OLD_LIST_ROWS = 6;
const OLD_LIST_VALUE = 0.1;

/**
 * The agent's newest list from its first row, no row without the previous one: in full if the user may refer to it, otherwise
 * its first rows before the rest of the section. Empty if a quoted message contains it.
 */
export function newestListLines(
  { current, requests }: Trail,
  standing: Retractions,
): {
  readonly meant: SummaryLine[];
  readonly old: SummaryLine[];
} {
  const { newestList, repliesTo, newestReply } = current;
  const isQuoted = [repliesTo, newestReply].some((reply) => reply?.position === newestList?.position);
  if (newestList === undefined || isQuoted) return { meant: [], old: [] };
  const rows = newestList.text
    .split('\n')
    .filter((row) => !NO_CONTENT.test(row))
    .map((row) => `  ${clip(withoutEmphasis(row.trimEnd()), LIST_ROW)}`)
    .map((row) => withRetraction(row, newestList.turn, standing));
  const group = `The agent's newest list (after message ${newestList.turn}):`;
  const place = { section: SECTION.current, group };
  if (!mayMean(newestList, requests)) {
    const few = rows.length > OLD_LIST_ROWS ? [...rows.slice(0, OLD_LIST_ROWS), `  ${ELLIPSIS}`] : rows;
    const old = chainedLines([few.join('\n')], 1, { ...place, order: -3e9, value: OLD_LIST_VALUE });
    return { meant: [], old };
  }
  const chain = [rows.slice(0, LEAST_LIST_ROWS).join('\n'), ...rows.slice(LEAST_LIST_ROWS)];
  return { meant: chainedLines(chain, 1, { ...place, order: -1.5e9, value: 0.5 }), old: [] };
}
