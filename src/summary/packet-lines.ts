// The lines of the packet that the watcher writes itself, in six sections: the line writers and the picker of the summary, so that
// both say the same in the same words.

import type { CountText } from '../tokens/estimate.ts';
import { clip, clipMiddle, oneLine } from '../text/sentences.ts';
import { findRetractions } from '../trail/talk/retractions.ts';
import type { Trail, UserRequest } from '../trail/trail.ts';
import { fromList, nextListStep } from './work.ts';
import { charactersFor, isWithin, quoted, summaryLine } from './line.ts';
import type { SummaryLine } from './line.ts';
import { preservedWords } from './preserved.ts';
import { LinePicker } from './salience.ts';
import { fileLines } from './sections/file-lines.ts';
import { messageLines } from './sections/message-lines.ts';
import { announcement, pendingLines } from './sections/next-lines.ts';
import { carriedLines, deliveredLines, failureLines } from './sections/outcome-lines.ts';
import { ruleLines } from './sections/request-lines.ts';
import { actionLines, statementLines } from './sections/work-lines.ts';
import { unitWeights } from './weights.ts';
import { renderLines } from './write.ts';

/** The headings of the sections, in their order. */
export const PACKET_HEADINGS = [
  'What the user asked',
  'All requests in order, with what was done about each',
  'Plan and commits',
  'Where we are',
  'What is next',
  'Rules of the user, decisions, traps',
] as const;
const ASK = 0;
const CHAIN = 1;
const PLAN = 2;
const STATE = 3;
const NEXT = 4;
const RULES = 5;

/**
 * The sections with at least one line, each under its heading.
 * @param turns the requests that the chain should mention; it names those that found no room
 */
export function renderPacketLines(
  picked: readonly SummaryLine[],
  turns: readonly number[],
): readonly string[] {
  return PACKET_HEADINGS.flatMap((heading, section) => {
    const lines = picked.filter((line) => line.section === section).toSorted((a, b) => a.order - b.order);
    const note = section === CHAIN ? leftOut(lines, turns) : '';
    return lines.length === 0 ? [] : [`## ${heading}\n\n${renderLines(lines)}${note}`];
  });
}

/** Says which requests found no room. Several that say the same are told as one, `3–5.`. */
function leftOut(lines: readonly SummaryLine[], turns: readonly number[]): string {
  const told = lines.flatMap(({ text }) => {
    const match = /^(\d+)(?:–(\d+))?\. /.exec(text);
    return match === null ? [] : [{ from: Number(match[1]), to: Number(match[2] ?? match[1]) }];
  });
  const missing = turns.filter((turn) => !told.some(({ from, to }) => from <= turn && turn <= to));
  return missing.length === 0 ? '' : `\n(No room for message ${clip(missing.join(', '), 60)}.)`;
}

/** The lines for `room` tokens, those worth most first. */
export function packetLines(trail: Trail, room: number, count: CountText): SummaryLine[] {
  const budget = Math.max(1, room);
  const picker = new LinePicker({
    room: budget,
    count,
    weights: unitWeights(trail),
    sectionHeading: () => '',
  });
  const nothing = preservedWords([]);
  const standing = findRetractions(trail);
  // Here the chain of requests is the point: no message is replaced by a reference to the rules in it.
  const messages = messageLines({ ...trail, constraints: [] }, budget, {
    preserved: nothing,
    retractions: standing,
  });
  // A packet quotes no whole message, so their sentences are statements like others.
  const current = { ...trail.current, repliesTo: undefined, newestReply: undefined };
  const { now, before } = statementLines(newestStatements({ ...trail, current }), budget, standing);
  const ask = askLines(trail, budget);
  const next = nextLines(trail, budget);
  const plan = placed(pendingLines(trail), PLAN, 0);
  const commits = placed(deliveredLines(trail), PLAN, 1e6);
  const state = stateLines(trail);
  const chain = placed(messages.all, CHAIN, 0);
  const rules = ruleFloor(trail, chain, budget);
  const files = placed(fileLines(trail, budget).changed, STATE, 4e9, 'Files changed, most telling first:');
  const actions = placed(actionLines(trail), STATE, 1);
  const said = placed(now, STATE, 1);
  const decisions = placed(before, RULES, 1e6);
  const traps = placed(failureLines(trail, budget), RULES, 1e9, 'Traps: what failed, and how that ended:');
  const carried = placed(carriedLines(trail), STATE, -2e10);
  const floors = [
    { lines: ask.slice(0, 1), share: 1 },
    { lines: ask, share: 0.4 },
    { lines: next, share: 0.15 },
    { lines: state, share: 0.05 },
    { lines: rules, share: 0.35 },
    { lines: plan, share: 0.15 },
    { lines: chain.filter(({ parent }) => parent === undefined).toReversed(), share: 0.4 },
    { lines: actions.toReversed().slice(0, 8), share: 0.1 },
    { lines: said.toReversed().slice(0, 6), share: 0.1 },
    { lines: files, share: 0.12 },
    { lines: decisions.toReversed().slice(0, 10), share: 0.1 },
    { lines: traps.toReversed().slice(0, 6), share: 0.08 },
    { lines: commits.toReversed().slice(0, 6), share: 0.05 },
    { lines: carried, share: 0.3 },
  ];
  for (const { lines, share } of floors) picker.takeFloor({ lines, share, by: 'order' }, budget);
  picker.takeBest(
    [
      ...rules,
      ...plan,
      ...chain,
      ...actions,
      ...said,
      ...files,
      ...decisions,
      ...traps,
      ...commits,
      ...carried,
    ],
    0,
  );
  return picker.picked;
}

/** Lines of the summary in a section of the packet; a line and the one it depends on stay together. */
function placed(
  lines: readonly SummaryLine[],
  section: number,
  from: number,
  group?: string,
): readonly SummaryLine[] {
  const moved = new Map<SummaryLine, SummaryLine>();
  for (const line of lines) {
    const parent = line.parent === undefined ? undefined : (moved.get(line.parent) ?? line.parent);
    const { text, value, lead, identifiers } = line;
    const order = from + Math.min(line.order, 1e12);
    moved.set(
      line,
      summaryLine({ section, order, text, value, lead, identifiers, parent, group: group ?? line.group }),
    );
  }
  return [...moved.values()];
}

/** Decisions and findings that are told besides those of the current request. */
const SHOWN_DECISIONS = 14;
const SHOWN_FINDINGS = 10;
/** Findings of older turns are what the files and the summary tell better. */
const FINDINGS_SINCE = 2;

/** A packet is read whole before work goes on: of what was said only the newest choices and the freshest findings. */
function newestStatements(trail: Trail): Trail {
  const { statements, turns, current } = trail;
  const decisions = statements.filter(({ kind }) => kind === 'decision').slice(-SHOWN_DECISIONS);
  const findings = statements
    .filter(({ kind, turn }) => kind === 'finding' && turn > turns - FINDINGS_SINCE)
    .slice(-SHOWN_FINDINGS);
  const shown = new Set([...decisions, ...findings]);
  return { ...trail, statements: statements.filter((statement) => shown.has(statement)), current };
}

/** Share of a message that a rule in it must be, so that the message itself is told as the rule. */
const WHOLE_MESSAGE = 0.6;

/** What of the user's rules must be there: each as a line of its own, or the message that it is most of. */
function ruleFloor(trail: Trail, chain: readonly SummaryLine[], budget: number): readonly SummaryLine[] {
  const texts = new Map(trail.requests.map(({ turn, text }) => [turn, oneLine(text)]));
  const told = new Map(
    chain.flatMap((line) => (line.parent === undefined ? [[line.order, line] as const] : [])),
  );
  const standing = new Map<string, SummaryLine>();
  for (const { turn, text } of trail.constraints) {
    const line = told.get(turn);
    const isMost = text.length >= WHOLE_MESSAGE * (texts.get(turn)?.length ?? Infinity);
    if (line !== undefined && isMost && line.text.includes(oneLine(text))) standing.set(text, line);
  }
  const constraints = trail.constraints.filter(({ text }) => !standing.has(text));
  const current = oneLine(trail.requests.at(-1)?.text ?? '');
  const whole = isWithin(askTokens(budget, 'current'), current) ? [current] : [];
  const own = placed(ruleLines({ ...trail, constraints }, whole, preservedWords([])), RULES, 0);
  return [...own, ...new Set([...standing.values()].toReversed())];
}

/** Share of the budget for each text that answers the two questions of every packet. */
const ASK_SHARES = { current: 1 / 8, before: 1 / 20, first: 0.0375 };
const LEAST_ASK_TOKENS = 40;

function askTokens(budget: number, of: keyof typeof ASK_SHARES): number {
  return Math.max(LEAST_ASK_TOKENS, budget * ASK_SHARES[of]);
}

/** "What did the user last ask to do?" and "what before that?". @source seed 004, Variant B design, 1. */
function askLines(trail: Trail, budget: number): SummaryLine[] {
  const { requests, turns } = trail;
  const current = requests.at(-1);
  if (current === undefined) {
    return [summaryLine({ section: ASK, order: 0, text: 'The user has asked for nothing yet.', value: 9 })];
  }
  const before = requests.findLast(({ turn, text }) => turn < current.turn && text !== current.text);
  const first = requests[0];
  const lines = [
    askLine(
      0,
      `**Current ask** (message ${current.turn} of ${turns})`,
      current,
      askTokens(budget, 'current'),
    ),
  ];
  const question = trail.answers.findLast(
    ({ turn, answer }) => turn === current.turn && oneLine(current.text).startsWith(answer.slice(0, 40)),
  );
  if (question !== undefined) {
    const text = `It answers the agent's question: ${quoted(question.question)}`;
    lines.push(summaryLine({ section: ASK, order: 1, text, value: 5 }));
  }
  const reply = current.text.length > SHORT_REQUEST ? undefined : trail.current.repliesTo;
  if (reply !== undefined) {
    const words = oneLine(reply.text);
    const said = clipMiddle(words, charactersFor(askTokens(budget, 'current'), words));
    const text = `Just before it, the agent had said: ${quoted(said)}`;
    lines.push(summaryLine({ section: ASK, order: 1.5, text, value: 5 }));
  }
  if (before !== undefined)
    lines.push(askLine(2, `Before that (message ${before.turn})`, before, askTokens(budget, 'before')));
  if (first !== undefined && first !== current && first !== before) {
    lines.push(askLine(3, 'The session began with', first, askTokens(budget, 'first')));
  }
  return lines;
}

/** A request this short ("yes, do it", "add these, too") means little without what it replies to. */
const SHORT_REQUEST = 240;

function askLine(order: number, label: string, { text }: UserRequest, tokens: number): SummaryLine {
  const words = oneLine(text);
  return summaryLine({
    section: ASK,
    order,
    text: `${label}: ${quoted(clipMiddle(words, charactersFor(tokens, words)))}`,
    value: 9 - order,
  });
}

function stateLines({ current, turns, compactions }: Trail): SummaryLine[] {
  const hasBegun =
    current.actions.some(({ turn }) => turn === turns) || current.tail.some(({ turn }) => turn === turns);
  const text = current.isAgentDone
    ? 'The agent has answered the current ask.'
    : hasBegun
      ? 'Work on the current ask is under way.'
      : 'Work on the current ask has not begun.';
  const before = compactions === 0 ? '' : ` The context was compacted ${times(compactions)} before.`;
  return [summaryLine({ section: STATE, order: -3e10, text: `${text}${before}`, value: 5 })];
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

/** What the log gives as the next step: the agent's words, else the plan's, else going on with what is under way. */
export function nextStepOf(trail: Trail): string | undefined {
  const next = openStep(trail);
  if (trail.nextStep !== undefined) return oneLine(trail.nextStep);
  if (next !== undefined) return next.step.text;
  return trail.current.isAgentDone || trail.turns === 0 ? undefined : 'Go on with the current ask.';
}

function openStep({ plans, turns }: Trail): ReturnType<typeof nextListStep> {
  return nextListStep(plans.filter(({ turn }) => turn === turns));
}

/** Steps of a plan that an earlier request made may be what the current one is about. */
const SHOWN_OLD_STEPS = 4;

function olderSteps({ plan, turns }: Trail): readonly string[] {
  if (plan === undefined || plan.turn === turns) return [];
  return plan.steps
    .filter(({ status }) => status === 'pending' || status === 'in_progress')
    .slice(0, SHOWN_OLD_STEPS)
    .map(
      ({ text }) => `- Open in the plan of message ${plan.turn}, perhaps overtaken since: ${clip(text, 200)}`,
    );
}

/** Enough of the current ask to know what the steps below it are for; the whole is in the first section. */
const ASK_REMINDER = 160;

function nextLines(trail: Trail, budget: number): SummaryLine[] {
  const { current, nextStep, turns, requests, openQuestions, failures } = trail;
  const lines: string[] = [];
  const ask = requests.at(-1);
  // The agent's last words are often a small intent, and a plan may be older than the ask: both serve it.
  if (ask !== undefined && !current.isAgentDone) {
    lines.push(`- Finish the current ask: ${quoted(clip(oneLine(ask.text), ASK_REMINDER))}`);
  }
  if (nextStep !== undefined) {
    const text = quoted(clip(oneLine(nextStep), Math.max(160, budget * 0.25)));
    lines.push(`- ${announcement(trail)}: ${text}`);
  }
  const next = openStep(trail);
  if (next !== undefined) lines.push(`- ${fromList(next.list)}: ${clip(next.step.text, 240)}`);
  for (const question of openQuestions) {
    lines.push(`- The agent asked, and waits for the user's answer: ${quoted(question.text)}`);
  }
  const failure = failures.findLast(({ outcome, turn }) => outcome === 'open' && turn === turns);
  if (failure !== undefined) lines.push(`- Not seen to pass yet: \`${clip(failure.command, 140)}\``);
  if (lines.length === 0) lines.push('- Nothing is left open as far as the log tells.');
  if (next === undefined) lines.push(...olderSteps(trail));
  return lines.map((text, order) => summaryLine({ section: NEXT, order, text, value: 5 - order }));
}
