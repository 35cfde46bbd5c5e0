// The lines of "All User Messages": the requests in order, with the outcome of each.

import { soundsBinding } from '../../trail/talk/constraints.ts';
import { quoted, SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import type { Following, PreservedWords } from '../preserved.ts';
import { opensAsReply } from '../../trail/talk/replying.ts';
import { SILENT_REFUSAL } from '../../trail/talk/requests.ts';
import { intentTurns, quotedWhole } from './request-lines.ts';
import { clip, clipMiddle, oneLine, sentencesOf } from '../../text/sentences.ts';
import { withReport, withRetraction } from '../../trail/talk/retractions.ts';
import type { Retractions } from '../../trail/talk/retractions.ts';
import type { AnsweredQuestion, Constraint, Trail, UserRequest } from '../../trail/trail.ts';
import { isBinding, isGoAhead } from '../work.ts';

const section = SECTION.messages;
const NEWEST = 8;
const SHOWN_EDITS = 6;

/** Consecutive requests with the same text ("continue"), shown as one. */
interface RepeatedRequest {
  readonly first: UserRequest;
  readonly last: UserRequest;
}

/** The context for the lines of messages. */
interface MessageContext {
  /** What follows the summary verbatim: one line lists those messages. */
  readonly preserved: PreservedWords;
  readonly retractions: Retractions;
}

/** The lines of messages by how they are selected. */
export interface MessageLines {
  readonly all: readonly SummaryLine[];
  readonly newest: readonly SummaryLine[];
  /** Messages with rules that applied to them only. */
  readonly limited: readonly SummaryLine[];
  /** Messages that may be rules, or that choose between the agent's offers. */
  readonly doubtful: readonly SummaryLine[];
  /** How many messages each line covers that section 1 does not. */
  readonly counts: ReadonlyMap<SummaryLine, number>;
}

/** How many messages no picked line covers, in words; no line if all are covered. */
export function omittedMessagesLines(
  counts: MessageLines['counts'],
  picked: readonly SummaryLine[],
): SummaryLine[] {
  const pickedLines = new Set(picked);
  let omitted = 0;
  for (const [line, count] of counts) if (!pickedLines.has(line)) omitted += count;
  if (omitted === 0) return [];
  const text = `(${omitted} more, not told here)`;
  return [summaryLine({ section, order: 2e8, text, value: 0 })];
}

/** All messages, the newest of them, those with rules that applied to them only, and those that may be rules. */
export function messageLines(
  trail: Trail,
  budget: number,
  { preserved, retractions: standing }: MessageContext,
): MessageLines {
  const runs = runsOf(
    trail.requests.filter((request) => !preserved.hasMessage(request.text) && !isIdleCommand(request, trail)),
  );
  const following = trail.requests.filter(({ text }) => preserved.hasMessage(text));
  const room = Math.min(700, Math.max(90, Math.floor((budget * 1.2) / Math.max(1, runs.length))));
  const answers = new Map(trail.answers.map((answer) => [answer.turn, answer]));
  const open = trail.constraints.filter(({ text }) => !preserved.hasSentence(text));
  const rules = rulesByTurn(open.filter((rule) => isBinding(rule, trail.requests)));
  const passed = rulesByTurn(open.filter((rule) => !isBinding(rule, trail.requests)));
  const inIntent = intentTurns(trail, budget, preserved);
  const quotedAbove = quotedWhole(trail, budget, preserved);
  const isShownAbove = ({ first }: RepeatedRequest) =>
    isRuleAlone(first, trail.turns, rules.get(first.turn) ?? []);
  const shownAbove = runs.filter(isShownAbove).flatMap(({ first, last }) => [first.turn, last.turn]);
  const lines = runs
    .filter((said) => !isShownAbove(said))
    .map(({ first, last }) => {
      const isCurrent = last.turn === trail.turns;
      const fresh = 1 + 2 / (1 + (trail.turns - last.turn) / 4);
      const answer = answers.get(first.turn);
      const isChoice = decides(first, answer);
      const value = isCurrent ? 0.3 : fresh + messageValue(first, isChoice);
      const number = first === last ? `${first.turn}` : `${first.turn}–${last.turn}`;
      const length = mayBind(first) ? Math.max(room, SHORT_MESSAGE) : room;
      const kept = passed.get(first.turn) ?? [];
      const own = wordsOf(first, trail.turns, { room: length, rules: rules.get(first.turn) ?? [], kept });
      // A rule is not quoted separately if its request is quoted in full.
      const isAbove = own.includes(RULE_ABOVE) && quotedAbove.includes(oneLine(first.text));
      const words = isAbove ? '(told in section 1)' : own;
      const text = `${number}. ${answeredTo(answer, first, isChoice ? Math.min(room, budget / CHOSEN_SHARE) : room)}${words}`;
      const line = summaryLine({ section, order: first.turn, text, value });
      const isLimited = kept.some((rule) => !quotedAbove.some((request) => request.includes(rule)));
      const count = turnsOf({ first, last }).filter((turn) => !inIntent.has(turn)).length;
      return {
        line,
        request: last,
        count,
        isLimited,
        isDoubtful: !isCurrent && (isChoice || mayBind(first)),
      };
    });
  const actionsOf = (request: UserRequest, parent?: SummaryLine): SummaryLine[] => {
    const did = request.turn === trail.turns ? '' : actionsText(request, standing);
    if (did === '') return [];
    const text = parent === undefined ? `   → after message ${request.turn}: ${did}` : `   → ${did}`;
    const value = parent === undefined ? 0.6 : 0.5;
    return [
      summaryLine({ section, order: request.turn + 0.5, text, quotes: outcomeOnly(request), value, parent }),
    ];
  };
  const actions = lines.flatMap(({ line, request }) => actionsOf(request, line));
  const actionsOfFollowing = following.flatMap((request) => actionsOf(request));
  const followLine = [
    ...followingLines(preserved.followingOf(trail.requests)),
    ...(shownAbove.length === 0 ? [] : [shownAboveLine(shownAbove)]),
  ];
  const questions = trail.answers
    .filter((answer) => !isRequest(answer, trail.requests))
    .map((answer) => answerLine(answer, trail.turns));
  return {
    all: [...followLine, ...lines.map(({ line }) => line), ...actions, ...actionsOfFollowing, ...questions],
    newest: [
      ...followLine,
      ...[...questions, ...lines.map(({ line }) => line)].toReversed().slice(0, NEWEST),
    ],
    limited: lines.flatMap(({ line, isLimited }) => (isLimited ? [line] : [])).toReversed(),
    doubtful: lines.flatMap(({ line, isDoubtful }) => (isDoubtful ? [line] : [])).toReversed(),
    counts: new Map(lines.map(({ line, count }) => [line, count])),
  };
}

/** The numbers of requests that say the same. */
function turnsOf({ first, last }: RepeatedRequest): number[] {
  return Array.from({ length: last.turn - first.turn + 1 }, (_, at) => first.turn + at);
}

/** A bare command of a client or a project that had no effect. */
function isIdleCommand({ text, turn, actions }: UserRequest, { turns }: Trail): boolean {
  const hasActions = actions.commands > 0 || actions.edited.length > 0 || actions.outcome !== undefined;
  return turn < turns && /^\/[\w:-]*$/.test(text) && !hasActions;
}

/** Extra value of a short message that sounds like a rule but was classified as a question or an account. */
const DOUBT_VALUE = 4;
const SHORT_MESSAGE = 200;

/** Whether a short message contains words of a rule: in doubt, it is shown verbatim. */
function mayBind({ text }: UserRequest): boolean {
  return text.length <= SHORT_MESSAGE && sentencesOf(text).some(soundsBinding);
}

/** Value of a message that makes a choice, and tokens of the budget per character of the question: the choice comes first. */
const CHOICE_VALUE = 3;
const CHOSEN_SHARE = 20;

function messageValue(request: UserRequest, isChoice: boolean): number {
  if (mayBind(request)) return DOUBT_VALUE;
  return isChoice ? CHOICE_VALUE : 0;
}

/** How a message names its choice, or says yes or no before the rest. */
const CHOOSES =
  /\b(?:option|variante?|approach|scenario|alternative|choice|style|version|proposal) (?:\d{1,2}|[a-d])\b|\b(?:I|we)(?:['’]d| would)? (?:rather|prefer|choose|pick|go with)\b|\blet['’]?s (?:use|go with|take|keep|stick (?:to|with)|call it)\b|\bnehmen wir\b|^\W*(?:yes|yep|yeah|no|nope|nah|ja|nein|oui|non|sí|sim|não|да|нет)(?![\p{L}\p{N}])/iu;

/** Whether a short message decides something: it makes an explicit choice, or answers a question with more than consent. */
function decides({ text }: UserRequest, answer: AnsweredQuestion | undefined): boolean {
  if (text.length > SHORT_MESSAGE || isGoAhead(text)) return false;
  return CHOOSES.test(text) || (answer !== undefined && isAnswerOf(answer, { text }) && opensAsReply(text));
}

/** Characters of a client command that identify it. */
const COMMAND_LENGTH = 40;

/** Which messages follow, and what else does, so that the numbering is unambiguous. */
function followingLines({ whole, cut, others }: Following): SummaryLine[] {
  if (whole.length === 0) return [];
  const isOne = whole.length === 1;
  const besides = [
    ...(cut.length === 0 ? [] : [`message${cut.length === 1 ? '' : 's'} ${rangesText(cut)} (cut)`]),
    ...others.map((text) => `${quoted(clip(text, COMMAND_LENGTH))} (a command of the client's)`),
  ];
  const note = besides.length === 0 ? '' : `; besides: ${besides.join(', ')}`;
  const text = `Message${isOne ? '' : 's'} ${rangesText(whole)} follow${isOne ? 's' : ''} verbatim after this summary${note}.`;
  return [summaryLine({ section, order: Infinity, text, value: 3 })];
}

/** Messages that consist of a single rule appear with the rules. */
function shownAboveLine(turns: readonly number[]): SummaryLine {
  const numbers = [...new Set(turns)];
  const text = `Message${numbers.length === 1 ? '' : 's'} ${rangesText(numbers)}: told in section 1.`;
  return summaryLine({ section, order: 1e8, text, value: 1 });
}

/** Ascending numbers as ranges: `2, 5–7`. */
function rangesText(numbers: readonly number[]): string {
  const ranges: { from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = ranges.at(-1);
    if (last !== undefined && last.to === number - 1) last.to = number;
    else ranges.push({ from: number, to: number });
  }
  return ranges.map(({ from, to }) => (from === to ? `${from}` : `${from}–${to}`)).join(', ');
}

function runsOf(requests: readonly UserRequest[]): RepeatedRequest[] {
  const runs: RepeatedRequest[] = [];
  for (const request of requests) {
    const before = runs.at(-1);
    if (before !== undefined && before.first.text.toLowerCase() === request.text.toLowerCase()) {
      runs[runs.length - 1] = { first: before.first, last: request };
    } else runs.push({ first: request, last: request });
  }
  return runs;
}

function rulesByTurn(constraints: readonly Constraint[]): Map<number, string[]> {
  const byTurn = new Map<number, string[]>();
  for (const { turn, text } of constraints) byTurn.set(turn, [...(byTurn.get(turn) ?? []), text]);
  return byTurn;
}

interface Wording {
  /** Characters of the message that are shown. */
  readonly room: number;
  /** Rules that section 1 quotes: the message only refers to them. */
  readonly rules: readonly string[];
  /** Rules that are shown here, in full. */
  readonly kept: readonly string[];
}

/** Only refers to what the summary quotes elsewhere. */
function wordsOf({ text, turn }: UserRequest, turns: number, { room, rules, kept }: Wording): string {
  if (turn === turns) return '(the current request, above)';
  const referring = oneLine(withoutRules(text, rules));
  const words = isReadable(referring) ? referring : oneLine(text);
  return quoted(clipAround(words, room, kept));
}

/** Least characters between two kept sentences when room is scarce. */
const LEAST_GAP = 60;

/** A text in about `room` characters, with some sentences of it in full. */
function clipAround(text: string, room: number, kept: readonly string[]): string {
  if (text.length <= room) return text;
  const gaps: string[] = [];
  const whole: string[] = [];
  let rest = text;
  for (const sentence of kept.map(oneLine)) {
    const at = rest.indexOf(sentence);
    if (at < 0) continue;
    gaps.push(rest.slice(0, at));
    whole.push(sentence);
    rest = rest.slice(at + sentence.length);
  }
  const left = whole.reduce((sum, { length }) => sum - length, room);
  const share = Math.max(LEAST_GAP, left / (gaps.length + 1));
  return [...gaps, rest]
    .flatMap((gap, at) => [clipMiddle(gap.trim(), share), whole[at] ?? ''])
    .filter((part) => part !== '')
    .join(' ');
}

/** Replaces a sentence that section 1 quotes. */
const RULE_ABOVE = '[rule above]';

function withoutRules(text: string, rules: readonly string[]): string {
  return rules.reduce((rest, rule) => rest.replace(rule, RULE_ABOVE), text);
}

/** Whether the text between references to rules above is meaningful: two references, or half a sentence, would be a riddle. */
function isReadable(words: string): boolean {
  const [before = '', after = '', ...more] = words.split(RULE_ABOVE);
  if (!words.includes(RULE_ABOVE)) return true;
  return more.length === 0 && /(?:^|[.!?:…]\s*)$/.test(before) && /^\s*(?:$|[\p{Lu}\d"'(#/h])/u.test(after);
}

function isRuleAlone({ turn, text }: UserRequest, turns: number, rules: readonly string[]): boolean {
  return turn !== turns && withoutRules(text, rules).replaceAll(RULE_ABOVE, '').trim() === '';
}

function answeredTo(answer: AnsweredQuestion | undefined, request: UserRequest, room: number): string {
  if (answer === undefined || !isAnswerOf(answer, request)) return '';
  return `(to ${quoted(clip(answer.question, room))}) `;
}

function isAnswerOf({ answer }: AnsweredQuestion, { text }: Pick<UserRequest, 'text'>): boolean {
  return oneLine(text).startsWith(answer.slice(0, 40));
}

function isRequest(answer: AnsweredQuestion, requests: readonly UserRequest[]): boolean {
  return requests.some((request) => request.turn === answer.turn && isAnswerOf(answer, request));
}

/** Answers in a client's dialog, which are not messages; a silent rejection is explained by the next message. */
function answerLine({ question, answer, turn }: AnsweredQuestion, turns: number): SummaryLine {
  const why = answer === SILENT_REFUSAL && turn < turns ? `, then wrote message ${turn + 1}` : '';
  const text = `   Asked ${quoted(question)}, the user answered: ${quoted(why === '' ? answer : 'no')}${why}`;
  return summaryLine({ section, order: turn + 0.2, text, value: 3 });
}

/** What the agent said, if nothing else is shown of a request. */
function outcomeOnly({ actions }: UserRequest): string | undefined {
  return actions.edited.length === 0 ? actions.outcome : undefined;
}

function actionsText({ actions, turn }: UserRequest, retractions: Retractions): string {
  const parts: string[] = [];
  if (actions.edited.length > 0) {
    const more =
      actions.edited.length > SHOWN_EDITS ? ` and ${actions.edited.length - SHOWN_EDITS} more` : '';
    parts.push(`changed ${actions.edited.slice(0, SHOWN_EDITS).join(', ')}${more}`);
  }
  const { outcome } = actions;
  if (outcome !== undefined && !retractions.isOutdated({ turn, position: Infinity, text: outcome }))
    parts.push(withRetraction(`the agent: ${quoted(outcome)}`, turn, retractions));
  return parts.length === 0 ? '' : withReport(parts.join('; '), turn, retractions);
}
