// The lines of "Primary Request and Intent": the request, what preceded it, the place of the work, and the rules.

import { charactersFor, isWithin, quoted, SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import type { PreservedWords } from '../preserved.ts';
import { isEarnest } from '../../trail/talk/constraints.ts';
import { clip, clipMiddle, oneLine } from '../../text/sentences.ts';
import { isQuestion } from '../../text/questions.ts';
import type { Constraint, Trail, UserRequest } from '../../trail/trail.ts';
import { changeFinder, isBinding } from '../work.ts';

/** Tokens quoted of the current request: an eighth of the budget. */
function requestTokens(budget: number): number {
  return Math.max(40, budget / 8);
}

/** Characters of a request that follows verbatim: enough to identify it. */
const REFERRED_LENGTH = 120;

/** A request in about this many tokens, or its beginning and where the rest is. */
function quotedRequest(text: string, tokens: number, preserved: PreservedWords): string {
  const line = oneLine(text);
  const isCut = preserved.hasCut(text);
  if ((!isCut && !preserved.hasMessage(text)) || line.length <= REFERRED_LENGTH) {
    return quoted(clipMiddle(line, charactersFor(tokens, line)));
  }
  return `${quoted(clip(line, REFERRED_LENGTH))} (${isCut ? 'head and tail' : 'verbatim'} after this summary)`;
}

/** Tokens quoted of the request before the current one, and of the first. */
const beforeTokens = (budget: number): number => Math.max(30, budget / 20);
const firstTokens = (budget: number): number => Math.max(30, 0.0375 * budget);

/** The requests in section 1: the current one, and earlier ones that do not follow the summary. */
interface IntentRequests {
  readonly current: UserRequest | undefined;
  readonly before: UserRequest | undefined;
  readonly first: UserRequest | undefined;
}

function intentRequests({ requests }: Trail, preserved: PreservedWords): IntentRequests {
  const current = requests.at(-1);
  const before = requests.findLast(({ turn, text }) => turn < (current?.turn ?? 0) && text !== current?.text);
  // A client command says nothing about the subject of the session.
  const opening = requests.find(({ text }) => /\s/.test(text)) ?? requests[0];
  const first = opening === before || opening === current ? undefined : opening;
  const quote = (request: UserRequest | undefined) =>
    request === undefined || preserved.hasMessage(request.text) ? undefined : request;
  return { current, before: quote(before), first: quote(first) };
}

export function requestLines(trail: Trail, budget: number, preserved: PreservedWords): SummaryLine[] {
  const section = SECTION.request;
  const { current, before, first } = intentRequests(trail, preserved);
  if (current === undefined) return [];
  const ask = quotedRequest(current.text, requestTokens(budget), preserved);
  const place = `message ${current.turn} of ${trail.turns}`;
  const lines = [
    summaryLine({ section, order: 0, text: `The user's current request (${place}): ${ask}`, value: 9 }),
  ];
  if (before !== undefined) {
    const request = quotedRequest(before.text, earlierTokens(current, before, budget), preserved);
    const text = `${earlierLabel(trail, current, before)}: ${request}`;
    lines.push(summaryLine({ section, order: 1, text, value: 4 }));
  }
  if (first !== undefined) {
    const text = `The session began with${bindingNote(first, trail)}: ${quotedRequest(first.text, firstTokens(budget), preserved)}`;
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

/** Number of messages after a command to which its instructions still apply: the next requests usually continue it. */
const COMMAND_HOLDS = 3;

/** The user's newest command whose instructions are known and may still apply. */
function commandOf({ requests, turns }: Trail, budget: number): UserRequest | undefined {
  const command = requests.findLast(({ instructions }) => instructions !== undefined);
  const holds = budget < ROOM_FOR_ORDERS ? 0 : COMMAND_HOLDS;
  return command !== undefined && turns - command.turn <= holds ? command : undefined;
}

function nameOf({ text }: UserRequest): string {
  return text.split(/\s/, 1)[0] ?? '';
}

/**
 * From this many tokens on, a command's orders are shown, and their share: in a small summary, an outline says where they are.
 */
const ROOM_FOR_ORDERS = 3_000;
export const ORDERS_SHARE = 0.08;

/** The explicit orders in a command's instructions, which no other source would restore. */
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

/** Most skills that are shown. */
const MOST_SKILLS = 2;

/** Instructions outside the work tree that the agent opened for the current request and works by. */
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

/** A message that came before the agent had answered usually adds to the previous one rather than replacing it. */
function isStillOpen(before: UserRequest, { isInterjected, turn }: UserRequest): boolean {
  return isInterjected && before.turn === turn - 1;
}

function earlierTokens(current: UserRequest, before: UserRequest, budget: number): number {
  return isStillOpen(before, current) ? requestTokens(budget) : beforeTokens(budget);
}

function earlierLabel(trail: Trail, current: UserRequest, before: UserRequest): string {
  if (isStillOpen(before, current))
    return `It came while message ${before.turn} was being worked on, which may still stand`;
  return `Before that, message ${before.turn} asked${bindingNote(before, trail)}`;
}

/** A note on a request that reads like a rule but is not in the list of rules, or whose rule a later one changes. */
function bindingNote(request: UserRequest, trail: Trail): string {
  const own = trail.constraints.filter(({ turn, isPasted }) => turn === request.turn && !isPasted);
  const changed = own.map(changeFinder(trail.requests)).find((turn) => turn !== undefined);
  const notes = [
    ...(isRuleAlone(request, trail) ? ['it may bind'] : []),
    ...(changed === undefined ? [] : [`message ${changed} may change it`]),
  ];
  return notes.length === 0 ? '' : ` (${notes.join('; ')})`;
}

/** Whether a message consists of binding rules only. */
function isRuleAlone({ turn, text }: UserRequest, { constraints, requests }: Trail): boolean {
  const rules = constraints.filter(
    (rule) => rule.turn === turn && !rule.isPasted && isBinding(rule, requests),
  );
  return rules.reduce((words, rule) => words.replace(rule.text, ''), oneLine(text)).trim() === '';
}

/** The numbers of the requests in section 1, whole or in part. */
export function intentTurns(trail: Trail, budget: number, preserved: PreservedWords): ReadonlySet<number> {
  const { current, before, first } = intentRequests(trail, preserved);
  const always = budget < ROOM_FOR_REQUESTS ? [current] : [current, before, first];
  return new Set(always.flatMap((request) => (request === undefined ? [] : [request.turn])));
}

/** From this many tokens on, the requests of section 1 always have room. */
const ROOM_FOR_REQUESTS = 1_000;

/** The requests that section 1 quotes in full: their content is not repeated. */
export function quotedWhole(trail: Trail, budget: number, preserved: PreservedWords): string[] {
  const { current, before, first } = intentRequests(trail, preserved);
  const limits: [UserRequest | undefined, number][] = [[current, requestTokens(budget)]];
  // A long message that is still open may leave no room for the first one.
  if (budget >= ROOM_FOR_REQUESTS && isWithin(beforeTokens(budget), before?.text ?? ''))
    limits.push([before, beforeTokens(budget)], [first, firstTokens(budget)]);
  return limits.flatMap(([request, tokens]) => {
    const text = oneLine(request?.text ?? '');
    return isWithin(tokens, text) && !preserved.hasCut(text) ? [text] : [];
  });
}

function repliedTo({ answers }: Trail, { turn, text }: UserRequest): string | undefined {
  const answered = answers.findLast(
    (answer) => answer.turn === turn && text.startsWith(answer.answer.slice(0, 40)),
  );
  return answered && `${replyLabel(answered.question)}: ${quoted(answered.question)}`;
}

function replyLabel(question: string): string {
  if (/^(?:option \d{1,2}: |\d{1,2}\. )/.test(question))
    return question.includes('?')
      ? "It answers the agent's questions by number"
      : "It means items of the agent's list by number";
  return isQuestion(question)
    ? "It replies to the agent's question"
    : 'It agrees to what the agent had offered';
}

/** A shorter rule costs less to repeat than to find among the messages that follow. */
const SHORT_RULE = 80;

/**
 * The user's own rules first, newest first: if there is not enough room, the latest ones count.
 * @param told messages that are quoted in full anyway, each on one line
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

/** Readers must neither take the list for complete nor search for rules that do not exist. */
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
 * Share of the budget for template rules: they explain how to work with a harness, not what to do, so a small summary shows
 * only the first ones. @source docs/decisions/summary.md
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

/** A rule in a pasted text may be somebody else's: it says so and comes after the user's own. */
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
