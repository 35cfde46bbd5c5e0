// What a summary could say, line by line: the trail turned into sentences and compact lists, each with what it is worth.

import { commandLines, quoteLines } from './concept-lines.ts';
import { fileLines } from './file-lines.ts';
import { charactersFor, isWithin, quoted, SECTION, summaryLine } from './line.ts';
import type { Floor, SummaryLine } from './line.ts';
import { messageLines } from './message-lines.ts';
import type { PreservedWords } from './preserved.ts';
import { treeLines } from './tree-lines.ts';
import {
  actionLines,
  listLines,
  replyLines,
  runLines,
  startedLines,
  statementLines,
  tailLines,
  unreadLines,
} from './work-lines.ts';
import { clip, clipMiddle, oneLine, proseLines } from './sentences.ts';
import { isDeed, runnerOf } from './runs.ts';
import { isIntent, remainingRows } from './statements.ts';
import type { Constraint, Failure, Reply, Trail, UserRequest } from './trail.ts';

/** Lines by how they are picked. */
export interface Lines {
  /** Taken first, in this order, each within its share. */
  readonly floors: readonly Floor[];
  /** Everything, the lines of the floors included; taken by worth per token. */
  readonly all: readonly SummaryLine[];
  /** The lines about files by path. */
  readonly files: ReadonlyMap<string, SummaryLine>;
}

/**
 * Everything a summary of about `budget` tokens could say; texts are clipped to lengths that suit the budget. The shares
 * of the floors are those of docs/decisions/summary.md.
 * @param preserved what follows the summary verbatim and is only referred to
 */
export function linesOf(trail: Trail, budget: number, preserved: PreservedWords): Lines {
  const ask = askLines(trail, budget, preserved);
  const rules = ruleLines(trail, quotedWhole(trail, budget, preserved), preserved);
  const template = templateLines(trail, preserved);
  const next = nextLines(trail, budget);
  const pending = pendingLines(trail);
  const tree = treeLines(trail, budget);
  const files = fileLines(trail, budget);
  const actions = actionLines(trail);
  const { now, before, choices } = statementLines(trail, budget);
  const { repliesTo, newestReply } = trail.current;
  const reply = replyLines(repliesTo, "The agent's last message before the current request:", -1e9);
  const report = replyLines(newestReply, "The agent's newest message:", 4e9);
  const list = newestListLines(trail);
  const unread = unreadLines(trail, budget * UNREAD_SHARE * CHARACTERS_PER_TOKEN);
  const started = startedLines(trail);
  const tail = tailLines(trail);
  const messages = messageLines(trail, budget, preserved);
  const failures = failureLines(trail, budget);
  const carried = carriedLines(trail);
  const delivered = deliveredLines(trail);
  const quoteShare = Math.min(1, budget / WHOLE_QUOTES);
  const floors: Floor[] = [
    { lines: ask, share: 0.3, by: 'order' },
    { lines: next, share: 0.12, by: 'order' },
    { lines: rules, share: 0.5, by: 'order' },
    { lines: pending, share: 0.12, by: 'order' },
    { lines: template, share: TEMPLATE_SHARE, by: 'order' },
    { lines: started, share: 0.03, by: 'order' },
    { lines: unread, share: 1.25 * UNREAD_SHARE, by: 'order' },
    { lines: files.changed, share: 0.25, by: 'order' },
    { lines: carried, share: 0.3, by: 'worth' },
    { lines: failures.toSorted((a, b) => b.value - a.value), share: 0.07, by: 'order' },
    { lines: tree, share: 0.04, by: 'order' },
    { lines: actions.toReversed().slice(0, 6), share: 0.05, by: 'order' },
    { lines: report, share: quoteShare * replyShare(newestReply, trail), by: 'order' },
    { lines: reply, share: quoteShare * replyShare(repliesTo, trail), by: 'order' },
    { lines: list, share: quoteShare * 0.05, by: 'order' },
    { lines: now, share: 0.05, by: 'worth' },
    { lines: choices, share: 0.03, by: 'order' },
    { lines: before, share: 0.05 + 0.05 * quoteShare, by: 'worth' },
    { lines: messages.newest, share: 0.07, by: 'order' },
    { lines: messages.doubtful, share: 0.02, by: 'order' },
    { lines: delivered.toReversed().slice(0, 8), share: 0.03, by: 'order' },
    { lines: files.snippets.slice(0, 2), share: 0.05, by: 'order' },
    { lines: commandLines(trail), share: 0.03, by: 'order' },
    { lines: tail, share: tailShare(budget), by: 'order' },
  ];
  // Spread, thousands of lines would make this function hot, and an engine spend longer on compiling it than it ever takes.
  const all = [
    ask,
    rules,
    next,
    pending,
    tree,
    files.changed,
    files.read,
    files.snippets,
    files.rows,
    quoteLines(trail, budget, preserved),
    now,
    report,
    reply,
    before,
    actions,
    runLines(trail),
    started,
    unread,
    list,
    tail,
    messages.all,
    failures,
    delivered,
    carried,
  ].flat();
  return { floors, all, files: files.byPath };
}

/** Share of the budget for the newest results, to which the agent has not reacted yet. @source docs/decisions/summary.md */
const UNREAD_SHARE = 0.05;
/** Tokens from which on messages of the agent are quoted at their whole share: in a small summary paths and rules come first. */
const WHOLE_QUOTES = 5_000;
/** Characters of code and output that a token holds at least, nearly always. */
const CHARACTERS_PER_TOKEN = 3;

/** Share of the newest steps as they stand: small summaries need the room for what is older. @source docs/decisions/summary.md */
function tailShare(budget: number): number {
  return Math.min(0.2, Math.max(0, (budget - 4_000) / 40_000));
}

/** A message with a list is what the user refers to next: "do 2 and 4". */
function replyShare(reply: Reply | undefined, { current }: Trail): number {
  return reply !== undefined && reply.position === current.newestList?.position ? 0.1 : 0.08;
}

/** The agent's newest list, where it stands in neither of the two messages that are quoted anyway. */
function newestListLines({ current }: Trail): SummaryLine[] {
  const { newestList, repliesTo, newestReply } = current;
  const isQuoted = [repliesTo, newestReply].some((reply) => reply?.position === newestList?.position);
  if (newestList === undefined || isQuoted) return [];
  return listLines(newestList, `The agent's newest list (after message ${newestList.turn}):`, -1.5e9);
}

/** Tokens of the current request that are quoted: an eighth of the budget. */
function askTokens(budget: number): number {
  return Math.max(40, budget / 8);
}

/** Characters of a request that follows verbatim: enough to know it by. */
const REFERRED_LENGTH = 120;

/** Characters by which a sentence is known again. */
const KNOWN_BY = 40;

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
interface Asked {
  readonly current: UserRequest | undefined;
  readonly before: UserRequest | undefined;
  readonly first: UserRequest | undefined;
}

function askedIn({ requests }: Trail, preserved: PreservedWords): Asked {
  const current = requests.at(-1);
  const before = requests.findLast(({ turn, text }) => turn < (current?.turn ?? 0) && text !== current?.text);
  // A command of the client says nothing of what the session is about.
  const opening = requests.find(({ text }) => /\s/.test(text)) ?? requests[0];
  const first = opening === before || opening === current ? undefined : opening;
  const told = (request: UserRequest | undefined) =>
    request === undefined || preserved.hasMessage(request.text) ? undefined : request;
  return { current, before: told(before), first: told(first) };
}

function askLines(trail: Trail, budget: number, preserved: PreservedWords): SummaryLine[] {
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
    const rule = isRuleAlone(first, trail) ? MAY_BIND : '';
    const text = `The session began with${rule}: ${toldRequest(first.text, firstTokens(budget), preserved)}`;
    lines.push(summaryLine({ section, order: 2, text, value: 3 }));
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
  return `Before that, message ${before.turn} asked${isRuleAlone(before, trail) ? MAY_BIND : ''}`;
}

/** Said of a request that reads like a rule, which the list of rules does not tell again. */
const MAY_BIND = ' (it may bind)';

/** Whether a message says nothing but rules. */
function isRuleAlone({ turn, text }: UserRequest, { constraints }: Trail): boolean {
  const rules = constraints.filter((rule) => rule.turn === turn && !rule.isPasted);
  return rules.reduce((words, rule) => words.replace(rule.text, ''), oneLine(text)).trim() === '';
}

/** Tokens from which on the requests of section 1 always have room. */
const ROOM_FOR_REQUESTS = 1_000;

/** The requests that section 1 quotes from their first word to their last: what is in them is not told again. */
function quotedWhole(trail: Trail, budget: number, preserved: PreservedWords): string[] {
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
  return asked && `It replies to the agent's question: ${quoted(asked.question)}`;
}

/** A rule this short costs less than the search for it among the messages that follow. */
const SHORT_RULE = 80;

/**
 * The user's own first, the newest first: where the room does not suffice, what was said last holds.
 * @param told messages that are quoted whole anyway, each on one line
 */
export function ruleLines(
  { constraints }: Trail,
  told: readonly string[],
  preserved: PreservedWords,
): SummaryLine[] {
  const isBelow = ({ text }: Constraint) => text.length > SHORT_RULE && preserved.hasSentence(text);
  const isOwnBelow = (rule: Constraint) => !rule.isPasted && isBelow(rule);
  const lines = constraints
    .filter(({ isTemplate }) => isTemplate !== true)
    .filter(({ text }) => !told.some((request) => request.includes(text)))
    .filter((rule) => !isBelow(rule))
    .map((constraint, at) => ruleLine(constraint, at))
    .toReversed()
    .toSorted((a, b) => b.value - a.value);
  return constraints.some(isOwnBelow) ? [moreRulesLine(), ...lines] : lines;
}

const RULES_GROUP = 'Rules, limits and corrections of the user, verbatim:';

/** Whoever reads the list must not take it for all there is. */
function moreRulesLine(): SummaryLine {
  const text = '- Longer ones: in the messages below.';
  return summaryLine({ section: SECTION.request, order: 9_000, text, value: 3, group: RULES_GROUP });
}

/** Share of the budget for the rules of a template: they say how to work with a harness, not what is to be done. */
const TEMPLATE_SHARE = 0.04;

function templateLines({ constraints }: Trail, preserved: PreservedWords): SummaryLine[] {
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
function ruleLine({ text, turn, isPasted }: Constraint, at: number): SummaryLine {
  return summaryLine({
    section: SECTION.request,
    order: (isPasted ? 10_000 : 10) + at,
    text: `- ${quoted(text)} (message ${turn})`,
    value: isPasted ? 2 : 4,
    group: isPasted ? 'In texts that the user pasted (they may bind or not), verbatim:' : RULES_GROUP,
  });
}

function nextLines(trail: Trail, budget: number): SummaryLine[] {
  const section = SECTION.next;
  const lines: SummaryLine[] = [];
  if (trail.nextStep !== undefined && (stepStanding(trail) === 'open' || !/[:：]$/.test(trail.nextStep))) {
    const step = oneLine(trail.nextStep);
    const text = quoted(clip(step, charactersFor(Math.max(40, budget / 16), step)));
    lines.push(summaryLine({ section, order: 0, text: `${announcement(trail)}: ${text}`, value: 5 }));
  }
  const steps = trail.plan?.turn === trail.turns ? trail.plan.steps : [];
  const step =
    steps.find(({ status }) => status === 'in_progress') ?? steps.find(({ status }) => status === 'pending');
  if (step !== undefined) {
    lines.push(summaryLine({ section, order: 1, text: `From the plan: ${clip(step.text, 240)}`, value: 4 }));
  }
  if (trail.turns > 0) lines.push(summaryLine({ section, order: 2, text: whereItStands(trail), value: 3 }));
  return lines;
}

/**
 * How what the agent announced stands: `open` when nothing happened since, `begun` when calls followed, `earlier` when a
 * newer message followed, so that it may be done by now.
 */
type StepStanding = 'open' | 'begun' | 'earlier';

const STEP_LABELS: Readonly<Record<StepStanding, string>> = {
  open: "The agent's own words",
  begun: 'Announced, and begun since',
  earlier: 'Announced before, perhaps done by now',
};

/** What to call the step that the agent announced: fresh, begun or older words. */
export function announcement(trail: Trail): string {
  return STEP_LABELS[stepStanding(trail)];
}

function stepStanding({ current, nextStep }: Trail): StepStanding {
  const newest = oneLine(current.newestReply?.text ?? '');
  const head = oneLine(nextStep?.split('; ')[0] ?? '').slice(0, KNOWN_BY);
  if (newest !== '' && !newest.includes(head)) return 'earlier';
  return newest === '' || current.isAgentDone ? 'open' : 'begun';
}

function whereItStands({ current, turns, nextStep }: Trail): string {
  if (current.isAgentDone) {
    return nextStep !== undefined && isIntent(nextStep)
      ? 'The agent announced this in its last message; the log ends there.'
      : 'The agent had answered the current request; what comes next is up to the user.';
  }
  const hasBegun =
    current.newestReply !== undefined || current.calls > 0 || current.tail.some(({ turn }) => turn === turns);
  if (current.unread.length > 0) return 'Under way: go on from the newest result above.';
  return hasBegun
    ? 'Under way: go on from what section 8 tells last.'
    : 'Work on the current request had not begun.';
}

/** The open steps of the plan, what of it is done, and questions that the user has not answered. */
export function pendingLines(trail: Trail): SummaryLine[] {
  const section = SECTION.pending;
  const steps = trail.plan?.steps ?? [];
  const isOld = trail.plan !== undefined && trail.plan.turn < trail.turns;
  const group = isOld ? `Plan, as it stood after message ${trail.plan?.turn}:` : 'Plan:';
  const lines = steps.flatMap(({ text, status }, at) => {
    if (status === 'completed' || status === 'cancelled') return [];
    const mark = status === 'in_progress' ? 'in progress' : 'to do';
    return [summaryLine({ section, order: at, text: `- ${mark}: ${text}`, value: isOld ? 1.5 : 3, group })];
  });
  const done = steps.filter(({ status }) => status === 'completed').map(({ text }) => text);
  if (done.length > 0) {
    const text = `- done (${done.length} of ${steps.length}): ${clip(done.join('; '), 400)}`;
    lines.push(summaryLine({ section, order: 100, text, value: isOld ? 0.5 : 1.5, group }));
  }
  lines.push(...remainingLines(trail));
  if (lines.length === 0 && trail.turns > 0 && !trail.current.isAgentDone) {
    const text = `- The current request, under way.`;
    lines.push(summaryLine({ section, order: 0, text, value: 1 }));
  }
  for (const question of trail.openQuestions) {
    const text = `- The agent asked, and the user has not answered yet: ${quoted(question.text)}`;
    lines.push(summaryLine({ section, order: 200, text, value: 5 }));
  }
  return lines;
}

/** What the agent's last message lists as open, which no tool of plans knows of. */
function remainingLines({ current, turns }: Trail): SummaryLine[] {
  const reply = current.newestReply ?? current.repliesTo;
  if (reply === undefined) return [];
  const { repliesTo } = current;
  if (reply !== repliesTo && repliesTo !== undefined && remainingRows(repliesTo.text).length > 0) {
    const text =
      "- What the agent's last message before the current request lists as remaining is quoted in section 8.";
    return [summaryLine({ section: SECTION.pending, order: 110, text, value: 3 })];
  }
  const when = reply.turn === turns ? '' : `, to message ${reply.turn}`;
  return remainingRows(reply.text).map((row, at) =>
    summaryLine({
      section: SECTION.pending,
      order: 110 + at,
      text: `  ${clip(row.trim(), 240)}`,
      value: 2,
      group: `Left open by the agent's last message${when}:`,
    }),
  );
}

/** Below this a failure is told with the first of its lines only. */
const ROOM_FOR_DETAILS = 3_000;

/** Failures with how they ended, in a length that suits the budget. */
export function failureLines(trail: Trail, budget: number): SummaryLine[] {
  const rows = budget < ROOM_FOR_DETAILS ? 1 : 2;
  return trail.failures
    .filter(({ telling }) => telling.length > 0)
    .map((failure) =>
      summaryLine({
        section: SECTION.errors,
        order: failure.position,
        text: failureText(failure, rows),
        value: failureValue(failure, trail),
      }),
    );
}

function failureText(failure: Failure, rows: number): string {
  const { command, telling, times, outcome, editedBetween, isProgramWell } = failure;
  const often = times > 1 ? ` ${times} times` : '';
  const said = telling
    .slice(0, rows)
    .map((text) => clip(text, 150))
    .join(' | ');
  const after = editedBetween.length === 0 ? '' : ` after edits to ${toldPaths(mending(failure)).join(', ')}`;
  const ended = outcome === 'passed' ? ` Passed later${after}.` : openText(command, isProgramWell);
  return `- \`${clip(command, 100)}\` failed${often}: ${said}.${ended}`;
}

/** Files that are told to have mended a failure. */
const MENDING_FILES = 2;

/** Of the files edited between failure and success those that the failure names, or else the last. */
function mending({ editedBetween, telling, command }: Failure): readonly string[] {
  const said = [command, ...telling].join('\n');
  const named = editedBetween.filter((path) => said.includes(path.slice(path.lastIndexOf('/') + 1)));
  return (named.length > 0 ? named : editedBetween).slice(-MENDING_FILES);
}

/** Paths, of which one in the directory of the first is told by its name. */
function toldPaths([first = '', ...rest]: readonly string[]): readonly string[] {
  const directory = first.slice(0, first.lastIndexOf('/') + 1);
  return [
    first,
    ...rest.map((path) =>
      path.slice(0, path.lastIndexOf('/') + 1) === directory ? path.slice(directory.length) : path,
    ),
  ];
}

/** What is known of a failure that was not seen to end: nothing where nobody would run the command again. */
function openText(command: string, isProgramWell: boolean): string {
  if (isDeed(command)) return '';
  const runner = isProgramWell ? runnerOf(command) : undefined;
  return runner === undefined
    ? ' Not seen to pass since.'
    : ` Not run again as such, but \`${runner}\` ran well later.`;
}

/** What is still broken matters most, then what took edits to mend; old failures fade. */
function failureValue(failure: Failure, trail: Trail): number {
  const { command, outcome, turn, editedBetween, isProgramWell } = failure;
  const fresh = 1 / (1 + (trail.turns - turn) / 3);
  if (outcome === 'open') return (isProgramWell || isDeed(command) ? 0.8 : 2.5) * fresh;
  return (editedBetween.length > 0 ? 1.5 : 0.5) * fresh;
}

/** Commits, pushes and links. */
export function deliveredLines(trail: Trail): SummaryLine[] {
  const section = SECTION.solving;
  const commits = trail.commits.map(({ hash, subject, turn }, at) => {
    const text = `- ${hash === undefined ? '' : `${hash} `}${subject} (message ${turn})`;
    return summaryLine({
      section,
      order: at / 1_000,
      text,
      value: turn === trail.turns ? 2 : 1,
      group: 'Commits:',
    });
  });
  const landmarks = trail.landmarks.map(({ text }, at) =>
    summaryLine({
      section,
      order: 0.5 + at / 1_000,
      text: `- ${text}`,
      value: 0.6,
      group: 'Pushes and links:',
    }),
  );
  return [...landmarks, ...commits];
}

/** What an earlier summary told whose past is not in the log. */
export function carriedLines(trail: Trail): SummaryLine[] {
  if (trail.carriedOver === undefined) return [];
  return proseLines(trail.carriedOver).map((text, at) =>
    summaryLine({
      section: SECTION.solving,
      order: -1_000 + at / 10_000,
      text: `- ${clip(text, 400)}`,
      value: 2,
      group: 'Carried over from an earlier summary, whose past is not in this log:',
    }),
  );
}
