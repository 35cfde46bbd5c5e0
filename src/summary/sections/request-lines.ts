// The lines of "Primary Request and Intent": what is asked, after what, where, and under which rules.

import { charactersFor, isWithin, quoted, SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import type { PreservedWords } from '../preserved.ts';
import { isEarnest } from '../../trail/talk/constraints.ts';
import { clip, clipMiddle, oneLine } from '../../text/sentences.ts';
import { isQuestion } from '../../text/questions.ts';
import type { Constraint, Trail, UserRequest } from '../../trail/trail.ts';
import { changeFinder, isBinding } from '../work.ts';

/** Tokens of the current request that are quoted: an eighth of the budget. */
function askTokens(budget: number): number {
  return Math.max(40, budget / 8);
}

/** Characters of a request that follows verbatim: enough to know it by. */
const REFERRED_LENGTH = 120;

/** A request in about so many tokens, or its beginning and where the rest stands. */
function toldRequest(text: string, tokens: number, preserved: PreservedWords): string {
  const line = oneLine(text);
  const isCut = preserved.hasCut(text);
  if ((!isCut && !preserved.hasMessage(text)) || line.length <= REFERRED_LENGTH) {
    return quoted(clipMiddle(line, charactersFor(tokens, line)));
  }
  return `${quoted(clip(line, REFERRED_LENGTH))} (${isCut ? 'head and tail' : 'verbatim'} after this summary)`;
}

/** Tokens of the request before the current one that are quoted, and of the first. */
const beforeTokens = (budget: number): number => Math.max(30, budget / 20);
const firstTokens = (budget: number): number => Math.max(30, 0.0375 * budget);

/** The requests that section 1 tells: the current one, and those before that do not follow the summary. */
interface IntentRequests {
  readonly current: UserRequest | undefined;
  readonly before: UserRequest | undefined;
  readonly first: UserRequest | undefined;
}

function askedIn({ requests }: Trail, preserved: PreservedWords): IntentRequests {
  const current = requests.at(-1);
  const before = requests.findLast(({ turn, text }) => turn < (current?.turn ?? 0) && text !== current?.text);
  // A command of the client says nothing of what the session is about.
  const opening = requests.find(({ text }) => /\s/.test(text)) ?? requests[0];
  const first = opening === before || opening === current ? undefined : opening;
  const told = (request: UserRequest | undefined) =>
    request === undefined || preserved.hasMessage(request.text) ? undefined : request;
  return { current, before: told(before), first: told(first) };
}

export function askLines(trail: Trail, budget: number, preserved: PreservedWords): SummaryLine[] {
  const section = SECTION.request;
  const { current, before, first } = askedIn(trail, preserved);
  if (current === undefined) return [];
  const ask = toldRequest(current.text, askTokens(budget), preserved);
  const place = `message ${current.turn} of ${trail.turns}`;
  const lines = [
    summaryLine({ section, order: 0, text: `The user's current request (${place}): ${ask}`, value: 9 }),
  ];
  if (before !== undefined) {
    const told = toldRequest(before.text, earlierTokens(current, before, budget), preserved);
    const text = `${earlierLabel(trail, current, before)}: ${told}`;
    lines.push(summaryLine({ section, order: 1, text, value: 4 }));
  }
  if (first !== undefined) {
    const text = `The session began with${bindingNote(first, trail)}: ${toldRequest(first.text, firstTokens(budget), preserved)}`;
    lines.push(summaryLine({ section, order: 2, text, value: 3 }));
  }
  const command = commandOf(trail, budget);
  if (command?.instructions !== undefined) {
    const name = command === current ? 'The command' : `${nameOf(command)} of message ${command.turn}`;
    const text = `${name} stands for ${command.instructions}`;
    lines.push(summaryLine({ section, order: 0.4, text, value: 5 }));
  }
  const skills = skillsRead(trail);
  if (skills.length > 0) {
    const text = `Skills read for it: ${skills.join(', ')}`;
    lines.push(summaryLine({ section, order: 0.45, text, value: 3 }));
  }
  const context = repliedTo(trail, current);
  if (context !== undefined) lines.push(summaryLine({ section, order: 0.5, text: context, value: 5 }));
  if (trail.cwd !== undefined) {
    const branch = trail.gitBranch === undefined ? '' : `, branch ${trail.gitBranch}`;
    const text = `Working directory: ${trail.cwd}${branch}${elsewhere(trail)}`;
    lines.push(summaryLine({ section, order: 3, text, value: 2 }));
  }
  return lines;
}

/** Messages after a command for which its instructions are told to hold: what is asked next mostly goes on with it. */
const COMMAND_HOLDS = 3;

/** The newest command of the user whose instructions are known and may still hold. */
function commandOf({ requests, turns }: Trail, budget: number): UserRequest | undefined {
  const command = requests.findLast(({ instructions }) => instructions !== undefined);
  const holds = budget < ROOM_FOR_ORDERS ? 0 : COMMAND_HOLDS;
  return command !== undefined && turns - command.turn <= holds ? command : undefined;
}

function nameOf({ text }: UserRequest): string {
  return text.split(/\s/, 1)[0] ?? '';
}

/** Tokens from which on the orders of a command are told, and their share: in a small summary its outline says where they are. */
const ROOM_FOR_ORDERS = 3_000;
export const ORDERS_SHARE = 0.08;

/** What the instructions of a command order in so many words: nothing else brings them back. */
export function orderLines(trail: Trail, budget: number, preserved: PreservedWords): SummaryLine[] {
  const command = commandOf(trail, budget);
  if (command === undefined || budget < ROOM_FOR_ORDERS) return [];
  const group = `Orders in the instructions of ${nameOf(command)} (message ${command.turn}), verbatim:`;
  return command.orders
    .filter((order) => !preserved.hasSentence(order))
    .map((order, at) => {
      const text = `- ${quoted(order)}`;
      return summaryLine({ section: SECTION.request, order: 30_000 + at, text, value: 0.6, group });
    });
}

/** Skills told at most. */
const MOST_SKILLS = 2;

/** Instructions outside of the work tree that the agent opened for the current request: it works by them. */
function skillsRead({ files, turns }: Trail): string[] {
  return files
    .filter(
      ({ path, edits, lastTurn }) => lastTurn === turns && edits === 0 && /^[/~].*\/SKILL\.md$/.test(path),
    )
    .slice(0, MOST_SKILLS)
    .map(({ path }) => path);
}

function elsewhere({ workedIn, workedInBranch }: Trail): string {
  if (workedIn === undefined) return '';
  return `; the newest commands ran in ${workedIn}${workedInBranch === undefined ? '' : ` (branch ${workedInBranch})`}`;
}

/** What came before the agent had answered the one before adds to it more often than it replaces it. */
function isStillOpen(before: UserRequest, { isInterjected, turn }: UserRequest): boolean {
  return isInterjected && before.turn === turn - 1;
}

function earlierTokens(current: UserRequest, before: UserRequest, budget: number): number {
  return isStillOpen(before, current) ? askTokens(budget) : beforeTokens(budget);
}

function earlierLabel(trail: Trail, current: UserRequest, before: UserRequest): string {
  if (isStillOpen(before, current))
    return `It came while message ${before.turn} was being worked on, which may still stand`;
  return `Before that, message ${before.turn} asked${bindingNote(before, trail)}`;
}

/** Said of a request that reads like a rule, which the list of rules does not tell again, or whose rule a later one changes. */
function bindingNote(request: UserRequest, trail: Trail): string {
  const own = trail.constraints.filter(({ turn, isPasted }) => turn === request.turn && !isPasted);
  const changed = own.map(changeFinder(trail.requests)).find((turn) => turn !== undefined);
  const notes = [
    ...(isRuleAlone(request, trail) ? ['it may bind'] : []),
    ...(changed === undefined ? [] : [`message ${changed} may change it`]),
  ];
  return notes.length === 0 ? '' : ` (${notes.join('; ')})`;
}

/** Whether a message says nothing but rules that bind. */
function isRuleAlone({ turn, text }: UserRequest, { constraints, requests }: Trail): boolean {
  const rules = constraints.filter(
    (rule) => rule.turn === turn && !rule.isPasted && isBinding(rule, requests),
  );
  return rules.reduce((words, rule) => words.replace(rule.text, ''), oneLine(text)).trim() === '';
}

/** The numbers of the requests that section 1 tells, whole or in part. */
export function askedTurns(trail: Trail, budget: number, preserved: PreservedWords): ReadonlySet<number> {
  const { current, before, first } = askedIn(trail, preserved);
  const always = budget < ROOM_FOR_REQUESTS ? [current] : [current, before, first];
  return new Set(always.flatMap((request) => (request === undefined ? [] : [request.turn])));
}

/** Tokens from which on the requests of section 1 always have room. */
const ROOM_FOR_REQUESTS = 1_000;

/** The requests that section 1 quotes from their first word to their last: what is in them is not told again. */
export function quotedWhole(trail: Trail, budget: number, preserved: PreservedWords): string[] {
  const { current, before, first } = askedIn(trail, preserved);
  const limits: [UserRequest | undefined, number][] = [[current, askTokens(budget)]];
  // A long message that is still open may leave no room for the first one.
  if (budget >= ROOM_FOR_REQUESTS && isWithin(beforeTokens(budget), before?.text ?? ''))
    limits.push([before, beforeTokens(budget)], [first, firstTokens(budget)]);
  return limits.flatMap(([request, tokens]) => {
    const text = oneLine(request?.text ?? '');
    return isWithin(tokens, text) && !preserved.hasCut(text) ? [text] : [];
  });
}

function repliedTo({ answers }: Trail, { turn, text }: UserRequest): string | undefined {
  const asked = answers.findLast(
    (answer) => answer.turn === turn && text.startsWith(answer.answer.slice(0, 40)),
  );
  return asked && `${replyLabel(asked.question)}: ${quoted(asked.question)}`;
}

function replyLabel(asked: string): string {
  if (/^(?:option \d{1,2}: |\d{1,2}\. )/.test(asked))
    return asked.includes('?')
      ? "It answers the agent's questions by number"
      : "It means items of the agent's list by number";
  return isQuestion(asked) ? "It replies to the agent's question" : 'It agrees to what the agent had offered';
}

/** A rule this short costs less than the search for it among the messages that follow. */
const SHORT_RULE = 80;

/**
 * The user's own first, the newest first: where the room does not suffice, what was said last holds.
 * @param told messages that are quoted whole anyway, each on one line
 */
export function ruleLines(
  { constraints, requests }: Trail,
  told: readonly string[],
  preserved: PreservedWords,
): SummaryLine[] {
  const changedBy = changeFinder(requests);
  const isBelow = ({ text }: Constraint) => text.length > SHORT_RULE && preserved.hasSentence(text);
  const isOwnBelow = (rule: Constraint) => !rule.isPasted && isBelow(rule);
  const lines = constraints
    .filter(({ isTemplate }) => isTemplate !== true)
    .filter(({ text }) => !told.some((request) => request.includes(text)))
    .filter((rule) => !isBelow(rule))
    .map((constraint, at) => ruleLine(constraint, at, changedBy(constraint)))
    .toReversed()
    .toSorted((a, b) => b.value - a.value);
  const below = constraints.filter((rule) => isOwnBelow(rule) && isEarnest(rule.text));
  return below.length === 0 ? lines : [moreRulesLine(below), ...lines];
}

const RULES_GROUP = 'Rules, limits and corrections of the user, verbatim:';

/** Whoever reads the list must not take it for all there is, nor look for rules where none are. */
function moreRulesLine(below: readonly Constraint[]): SummaryLine {
  const turns = [...new Set(below.map(({ turn }) => turn))];
  const text = `- Longer ones: in message${turns.length === 1 ? '' : 's'} ${joined(turns)} below.`;
  return summaryLine({ section: SECTION.request, order: 9_000, text, value: 3, group: RULES_GROUP });
}

function joined(turns: readonly number[]): string {
  const [last, before] = [turns.at(-1), turns.slice(0, -1)];
  return before.length === 0 ? `${last}` : `${before.join(', ')} and ${last}`;
}

/**
 * Share of the budget for the rules of a template: they say how to work with a harness, not what is to be done, so a small
 * summary tells the first of them only. @source docs/decisions/summary.md
 */
export function templateShare(budget: number): number {
  return Math.min(0.12, budget / 40_000);
}

export function templateLines({ constraints }: Trail, preserved: PreservedWords): SummaryLine[] {
  return constraints
    .filter(({ text, isTemplate }) => isTemplate === true && !preserved.hasSentence(text))
    .map(({ text, turn }, at) =>
      summaryLine({
        section: SECTION.request,
        order: 20_000 + at,
        text: `- ${quoted(text)} (message ${turn})`,
        value: 0.5,
        group: "From the harness's instructions around the task, verbatim:",
      }),
    );
}

/** What stands in a pasted text may be somebody else's rule: it says so and comes after the user's own. */
function ruleLine({ text, turn, isPasted }: Constraint, at: number, changed?: number): SummaryLine {
  const later = changed === undefined ? '' : `; message ${changed} may change it`;
  const place = `message ${turn}${later}${/[:：]$/.test(text) ? '; what follows is left out' : ''}`;
  return summaryLine({
    section: SECTION.request,
    order: (isPasted ? 10_000 : 10) + at,
    text: `- ${quoted(text)} (${place})`,
    value: isPasted ? 2 : 4,
    group: isPasted ? 'In texts that the user pasted (they may bind or not), verbatim:' : RULES_GROUP,
  });
}
