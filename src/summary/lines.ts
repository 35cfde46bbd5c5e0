// The candidate lines of a summary: the trail as sentences and compact lists, each with its value.

import { checkLines } from './sections/check-lines.ts';
import { commandLines, quoteLines } from './sections/concept-lines.ts';
import { fileLines } from './sections/file-lines.ts';
import type { Floor, LazyLines, SummaryLine } from './line.ts';
import { messageLines } from './sections/message-lines.ts';
import { nextLines, olderPlanLines, pendingLines } from './sections/next-lines.ts';
import { carriedLines, deliveredLines, failureLines } from './sections/outcome-lines.ts';
import type { PreservedWords } from './preserved.ts';
import { quotedLines } from './sections/reply-lines.ts';
import {
  requestLines,
  orderLines,
  ORDERS_SHARE,
  quotedWhole,
  ruleLines,
  templateLines,
  templateShare,
} from './sections/request-lines.ts';
import { sentSteps } from './sections/sent-lines.ts';
import {
  alsoUnreadLines,
  startedLines,
  stepLines,
  tailLines,
  shownStepPositions,
  unreadLines,
  wholeSteps,
} from './sections/step-lines.ts';
import { findRetractions } from '../trail/talk/retractions.ts';
import { otherCommits, treeLines } from './sections/tree-lines.ts';
import type { Trail } from '../trail/trail.ts';
import { isBinding } from './work.ts';
import { actionLines, runLines, statementLines } from './sections/work-lines.ts';
import { namesThatCount } from './weights.ts';

/** Lines by how they are selected. */
export interface Lines {
  /** Taken first, in this order, each within its share. */
  readonly floors: readonly Floor[];
  /** All lines, including those of the floors; taken by worth per token. */
  readonly all: readonly (SummaryLine | LazyLines)[];
  /** The lines about files by path. */
  readonly files: ReadonlyMap<string, SummaryLine>;
  /** The lines about messages, with the number of messages that each covers. */
  readonly messages: ReadonlyMap<SummaryLine, number>;
}

/** The lines of a summary, given the tokens that an attempt without them left unused: the newest results get them. */
export type LinesFor = (spare: number) => Lines;

/**
 * The candidate lines of a summary of about `budget` tokens; texts are clipped to suit the budget. docs/decisions/summary.md
 * explains the shares of the floors. Lines that the spare tokens do not affect remain the same objects.
 * @param preserved the messages that follow the summary verbatim, which it only refers to
 */
export function linesOf(trail: Trail, budget: number, preserved: PreservedWords): LinesFor {
  const ask = requestLines(trail, budget, preserved);
  // Rules that applied to an earlier request only appear with that request.
  const binding = trail.constraints.filter((rule) => isBinding(rule, trail.requests));
  const rules = ruleLines(
    { ...trail, constraints: binding },
    quotedWhole(trail, budget, preserved),
    preserved,
  );
  const template = templateLines(trail, preserved);
  const orders = orderLines(trail, budget, preserved);
  const sent = sentSteps(trail);
  const next = nextLines(trail, budget, sent.rest.current.unread);
  const pending = pendingLines(trail);
  const tree = treeLines(trail, budget);
  const files = fileLines(trail, budget);
  const actions = actionLines(sent.rest, shownStepPositions(sent.rest));
  const retractions = findRetractions(trail);
  const { now, before, choices, passed } = statementLines(trail, budget, retractions);
  const quotes = quotedLines(trail, budget, { retractions: retractions, said: now });
  const counting = namesThatCount(trail);
  const alsoUnread = budget < ROOM_FOR_UNREAD ? alsoUnreadLines(trail) : [];
  const stepRoom = Math.min(budget * stepsShare(budget) * CHARACTERS_PER_TOKEN, MOST_OF_STEPS);
  const checks = checkLines(trail, budget);
  const started = startedLines(trail);
  const messages = messageLines(trail, budget, { preserved, retractions: retractions });
  const failures = failureLines(trail, budget);
  const carried = carriedLines(trail);
  const delivered = deliveredLines(trail, otherCommits(trail));
  const quoteShare = Math.min(1, budget / WHOLE_QUOTES);
  const commands = commandLines(trail);
  const runs = runLines(sent.rest);
  const older = olderPlanLines(trail);
  const quotations = quoteLines(trail, budget, { preserved, retractions: retractions, passed });
  const newestLines = (spare: number): NewestLines => {
    const weights = new Map(trail.identifiers.map(({ text, weight }) => [text, weight]));
    const options = { weights, counting, from: trail.workedIn };
    const room = (budget * unreadShare(budget) + spare) * CHARACTERS_PER_TOKEN;
    const unread = unreadLines(sent.rest, { ...options, room });
    const steps = stepLines(sent.rest, { ...options, room: stepRoom }, files.snippets);
    const tail = tailLines(sent.rest, {
      budget,
      whole: new Set([...wholeSteps(sent.rest, stepRoom), quotes.openingAt ?? -1]),
      short: [...steps, ...actions, ...now, ...files.snippets],
      isOutdated: retractions.isOutdated,
      counting,
    });
    return { unread, steps, tail };
  };
  const floorsWith = ({ unread, steps, tail }: NewestLines): Floor[] => [
    { lines: ask, share: 0.3, by: 'order' },
    { lines: next, share: 0.12, by: 'order' },
    { lines: rules, share: 0.5, by: 'order' },
    { lines: messages.limited, share: 0.25, by: 'order' },
    { lines: pending, share: 0.12, by: 'order' },
    { lines: template, share: templateShare(budget), by: 'order' },
    { lines: orders, share: ORDERS_SHARE, by: 'order' },
    { lines: started, share: 0.03, by: 'order' },
    { lines: checks, share: 0.03, by: 'order' },
    { lines: sent.lines, share: SENT_SHARE, by: 'order' },
    { lines: unread, share: 1.25 * unreadShare(budget), by: 'order' },
    { lines: alsoUnread, share: 0.05, by: 'order' },
    { lines: steps, share: 1.25 * stepsShare(budget), by: 'order' },
    { lines: files.changed, share: 0.25, by: 'order' },
    { lines: carried, share: 0.3, by: 'worth' },
    { lines: failures.toSorted((a, b) => b.value - a.value), share: 0.07, by: 'order' },
    { lines: tree, share: 0.04, by: 'order' },
    { lines: actions.toReversed().slice(0, 6), share: 0.03, by: 'order' },
    ...quotes.floors,
    { lines: now, share: 0.05, by: 'worth' },
    { lines: choices, share: 0.03, by: 'order' },
    { lines: before, share: 0.05 + 0.05 * quoteShare, by: 'worth' },
    { lines: messages.newest, share: 0.07, by: 'order' },
    { lines: messages.doubtful, share: 0.04, by: 'order' },
    { lines: delivered.toReversed().slice(0, 8), share: 0.04, by: 'order' },
    { lines: files.snippets.slice(0, 2), share: 0.05, by: 'order' },
    { lines: commands, share: 0.03, by: 'order' },
    { lines: tail, share: tailShare(budget), by: 'order' },
  ];
  // Spreading thousands of lines would make this function hot, and an engine would spend longer compiling it than running it.
  const allWith = ({ unread, steps, tail }: NewestLines): Lines['all'] =>
    [
      ask,
      rules,
      orders,
      next,
      pending,
      older,
      tree,
      files.changed,
      files.read,
      files.snippets,
      files.rows,
      quotations,
      now,
      quotes.all,
      before,
      actions,
      sent.lines,
      runs,
      started,
      checks,
      unread,
      alsoUnread,
      steps,
      tail,
      messages.all,
      failures,
      delivered,
      carried,
    ].flat();
  return (spare) => {
    const newest = newestLines(spare);
    return {
      floors: floorsWith(newest),
      all: allWith(newest),
      files: files.byPath,
      messages: messages.counts,
    };
  };
}

/** The lines of the newest results and of the steps before them: each name counts with the first line that shows it. */
interface NewestLines {
  readonly unread: readonly SummaryLine[];
  readonly steps: readonly SummaryLine[];
  readonly tail: readonly SummaryLine[];
}

/**
 * Share of the budget for the newest results, to which the agent has not reacted yet: a dozen rows are shown in full, more if
 * there is room. @source docs/decisions/summary.md
 */
function unreadShare(budget: number): number {
  const share = 0.03 + 0.02 * Math.min(1, budget / WHOLE_QUOTES);
  return budget < ROOM_FOR_UNREAD ? share : Math.max(share, UNREAD_LENGTH / CHARACTERS_PER_TOKEN / budget);
}

const UNREAD_LENGTH = 1_200;
const ROOM_FOR_UNREAD = 3_000;

/** Share for texts sent to many targets: the size of two dozen numbers in a small summary. @source docs/decisions/summary.md */
const SENT_SHARE = 0.08;

/** Characters of the steps on the current request; with more room, they also appear verbatim. */
const MOST_OF_STEPS = 2_000;
/** Share for the preceding steps on the current request; in a small summary, paths and rules come first here, too. */
function stepsShare(budget: number): number {
  return 0.01 + 0.07 * Math.min(1, budget / WHOLE_QUOTES);
}

/**
 * From this many tokens on, messages of the agent are quoted at their full share: in a small summary, paths and rules come
 * first.
 */
const WHOLE_QUOTES = 5_000;
/** Least number of characters of code and output per token, in nearly all cases. */
const CHARACTERS_PER_TOKEN = 3;

/** Share of the newest steps verbatim: small summaries need the room for older content. @source docs/decisions/summary.md */
function tailShare(budget: number): number {
  return Math.min(0.2, Math.max(0, (budget - 4_000) / 40_000));
}
