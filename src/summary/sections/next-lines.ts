// The lines of "Pending Tasks" and "Optional Next Step": what is open, and what of it comes next.

import { doneSince } from './check-lines.ts';
import { charactersFor, quoted, SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import { announcesLook, onlyLooked } from '../looks.ts';
import { readsFailed } from '../../trail/outputs/outputs.ts';
import { clip, oneLine } from '../../text/sentences.ts';
import { isIntent, remainingRows } from '../../trail/talk/statements.ts';
import type { Activity, ListedItem, Plan, PlanStep, Trail } from '../../trail/trail.ts';
import { newerWork } from '../work.ts';

/** Characters by which a sentence is known again. */
const KNOWN_BY = 40;

/** @param unread the newest results that somebody may react to */
export function nextLines(trail: Trail, budget: number, unread: readonly Activity[]): SummaryLine[] {
  const section = SECTION.next;
  const lines: SummaryLine[] = [];
  if (trail.nextStep !== undefined && isWorthTelling(trail.nextStep, trail)) {
    const step = oneLine(trail.nextStep);
    const text = quoted(clip(step, charactersFor(Math.max(40, budget / 16), step)));
    lines.push(summaryLine({ section, order: 0, text: `${announcement(trail)}: ${text}`, value: 5 }));
  }
  const { plan, requests } = trail;
  const steps = plan !== undefined && newerWork(requests, plan.turn) === 0 ? plan.steps : [];
  const step =
    steps.find(({ status }) => status === 'in_progress') ?? steps.find(({ status }) => status === 'pending');
  if (plan !== undefined && step !== undefined) {
    const text = planText(plan, step, trail);
    lines.push(summaryLine({ section, order: 1, text, value: 4 }));
  }
  if (trail.turns > 0)
    lines.push(summaryLine({ section, order: 2, text: whereItStands(trail, unread), value: 3 }));
  return lines;
}

/** What the agent might do is nothing beside the question with which it ended. What was followed by other news is told as long as nothing was called since: otherwise it is done, mostly. */
function isWorthTelling(step: string, trail: Trail): boolean {
  if (hasAnswered(trail) && asksLast(trail)) return false;
  const standing = stepStanding(trail);
  if (standing === 'open') return true;
  if (/[:：]$/.test(step)) return false;
  return standing !== 'earlier' || !isSpent(trail);
}

/** Whether something was called after an announcement that is not in the newest message. */
function isSpent({ current, nextStep = '' }: Trail): boolean {
  const head = headOf(nextStep);
  const { position } = current.said.findLast(({ text }) => oneLine(text).includes(head)) ?? {};
  return position === undefined || current.tail.some((step) => step.position > position);
}

/** The step that a plan gives as the next one, with how far work went on after the agent brought the plan up to date. */
function planText({ position, steps }: Plan, step: PlanStep, { current }: Trail): string {
  const edits = current.actions.filter(
    (action) => action.position > position && /^(?:edited|wrote) /.test(action.text),
  );
  const text = clip(step.text, 240);
  if (edits.length === 0) return `From the plan: ${text}`;
  const named = edits.findLast((edit) => isNamedBy(step.text, edit.text));
  if (named !== undefined) {
    const after = steps.slice(steps.indexOf(step) + 1).find(isOpenStep);
    const then = after === undefined ? '' : `; after it: ${clip(after.text, 120)}`;
    return `From the plan (perhaps done by now: since then ${clip(named.text, RAN_LENGTH)}): ${text}${then}`;
  }
  const newest = edits.length === 1 ? 'edit' : `${edits.length} edits`;
  return `From the plan (not brought up to date after the newest ${newest}): ${text}`;
}

/** Words of some length, and what of them a file that is named after a step shares at least. */
const STEP_WORD = /\p{L}{4,}/gu;
const NAMING_WORDS = 2;
const NAMING_SHARE = 0.5;

/** Whether a file that was edited is named in words of a step: more than one of them, and half of what it is about. */
function isNamedBy(step: string, edit: string): boolean {
  const name = edit.slice(edit.lastIndexOf('/') + 1).toLowerCase();
  // The first word says what is to be done.
  const words = step.slice(step.search(/\s|$/)).toLowerCase().match(STEP_WORD) ?? [];
  const about = [...new Set(words.map((word) => word.replace(/(?<=\p{L}{3})s$/u, '')))];
  const shared = about.filter((word) => name.includes(word)).length;
  return shared >= NAMING_WORDS && shared >= NAMING_SHARE * about.length;
}

/**
 * How what the agent announced stands: `open` when nothing happened since, `begun` when calls followed, `looked` when those
 * only looked around, `unedited` when they may have done more but edited nothing, `earlier` when a newer message followed, so that it may be done by now.
 */
type StepStanding = 'open' | 'begun' | 'looked' | 'unedited' | 'earlier';

const STEP_LABELS: Readonly<Record<StepStanding, string>> = {
  open: "The agent's own words",
  begun: 'Announced, and begun since',
  looked: 'Announced; since then nothing was changed',
  unedited: 'Announced; since then no file was edited',
  earlier: 'Announced before, perhaps done by now',
};

/** Characters of what was run since an announcement. */
const RAN_LENGTH = 80;

/** What to call the step that the agent announced: fresh, begun or older words; once files were edited for it, what was done. */
export function announcement(trail: Trail): string {
  const standing = stepStanding(trail);
  const { position } = trail.current.newestReply ?? {};
  if (standing === 'open' || standing === 'earlier' || position === undefined) return STEP_LABELS[standing];
  if (hasLooked(trail, position)) return LOOKED_LABEL;
  if (standing !== 'begun') return STEP_LABELS[standing];
  const ran = trail.current.actions.findLast((action) => action.position > position);
  const done = doneSince(trail, position) ?? (ran === undefined ? undefined : clip(ran.text, RAN_LENGTH));
  return done === undefined ? STEP_LABELS[standing] : `Announced; since then ${done}`;
}

/** What a look is called whose results came: it is done, or it goes on from them. */
const LOOKED_LABEL = 'Announced, and its results are in';

/** Whether results came since the agent announced a look: not where it announced more, edited since, or waits for what it started. */
function hasLooked({ current, nextStep = '' }: Trail, position: number): boolean {
  const since = current.tail.filter((step) => step.position > position);
  const isMore = current.started.length > 0 || since.some(({ edited }) => edited.length > 0);
  return since.length > 0 && !isMore && announcesLook(nextStep);
}

function stepStanding({ current, nextStep }: Trail): StepStanding {
  const newest = oneLine(current.newestReply?.text ?? '');
  const head = headOf(nextStep ?? '');
  if (newest !== '' && !newest.includes(head)) return 'earlier';
  if (newest === '' || current.isAgentDone) return 'open';
  const said = current.newestReply?.position ?? 0;
  const isBegun = current.started.length > 0 || current.actions.some(({ position }) => position > said);
  if (isBegun) return 'begun';
  return current.tail.every((step) => step.position < said || onlyLooked(step)) ? 'looked' : 'unedited';
}

/** By what an announced step is known again in the message that announces it. */
function headOf(step: string): string {
  return oneLine(step.split('; ')[0] ?? '').slice(0, KNOWN_BY);
}

/** Whether the agent has done with the current request: one that ends with what it will do next has not, unless it asks first. */
function hasAnswered(trail: Trail): boolean {
  const { current, nextStep } = trail;
  return current.isAgentDone && (nextStep === undefined || !isIntent(nextStep) || asksLast(trail));
}

/** Whether the newest message asks what the user has not answered yet. */
function asksLast({ openQuestions, current: { newestReply } }: Trail): boolean {
  const newest = oneLine(newestReply?.text ?? '');
  return openQuestions.some(({ text }) => newest.includes(headOf(text)));
}

function whereItStands(trail: Trail, unread: readonly Activity[]): string {
  const { current, turns } = trail;
  if (hasAnswered(trail) && hasStepInProgress(trail))
    return 'The agent spoke last, but its plan has a step in progress.';
  if (hasAnswered(trail) && asksLast(trail))
    return 'The agent had answered the current request, and asked what section 7 quotes; what comes next is up to the user.';
  if (hasAnswered(trail))
    return 'The agent had answered the current request; what comes next is up to the user.';
  if (current.isAgentDone) return 'The agent announced this in its last message; the log ends there.';
  const done = stepsOfDonePlan(trail);
  if (done > 0) return `All ${done} steps of the plan are done; the closing answer is left.`;
  const hasBegun =
    current.newestReply !== undefined || current.calls > 0 || current.tail.some(({ turn }) => turn === turns);
  const newest = unread.filter(({ turn }) => turn === turns);
  if (newest.length > 0)
    return newest.every(onlyWentWell)
      ? 'Under way: go on with what comes after the newest calls, which ran well.'
      : 'Under way: go on from the newest result above.';
  return hasBegun
    ? 'Under way: go on from what section 8 tells last.'
    : 'Work on the current request had not begun.';
}

/** Characters in which a tool says that an edit was made; with more it says something of the file. @source docs/decisions/summary.md */
const MADE_LENGTH = 240;

/** Whether all that a step printed is that it went well. */
function onlyWentWell({ edited, result }: Activity): boolean {
  const said = result.trim();
  return said === '' || (edited.length > 0 && said.length <= MADE_LENGTH && !readsFailed(said));
}

/** How many steps the plan of the current request has, all of them done and no file edited since; 0 otherwise. */
function stepsOfDonePlan({ plan, turns, current }: Trail): number {
  if (plan === undefined || plan.turn !== turns || plan.steps.some(isOpenStep)) return 0;
  const isEdit = ({ position, edited }: Activity): boolean => position > plan.position && edited.length > 0;
  return current.tail.some(isEdit) ? 0 : plan.steps.length;
}

function hasStepInProgress({ plan, requests }: Trail): boolean {
  if (plan === undefined || newerWork(requests, plan.turn) > 0) return false;
  return plan.steps.some(({ status }) => status === 'in_progress');
}

/** Requests for other things after which a plan with open steps is told as a plan no more. */
const OVERTAKEN = 2;

/** @param newer requests for other things that came after the plan */
function isOvertaken({ isKept }: Plan, newer: number): boolean {
  return newer >= OVERTAKEN && isKept !== true;
}

const isOpenStep = ({ status }: PlanStep): boolean => status === 'in_progress' || status === 'pending';

/** What is under way, the open steps of the plan, what of it is done, and questions that the user has not answered. */
export function pendingLines(trail: Trail): SummaryLine[] {
  const section = SECTION.pending;
  const { plan, requests, turns } = trail;
  const newer = plan === undefined ? 0 : newerWork(requests, plan.turn);
  const told = plan === undefined || isOvertaken(plan, newer) ? [] : planLines(plan, trail, newer > 0);
  const lines = [...told, ...itemLines(trail), ...checklistLines(trail), ...remainingLines(trail)];
  if ((newer > 0 || lines.length === 0) && turns > 0 && !hasAnswered(trail)) {
    const text = `- The current request, under way.`;
    lines.unshift(summaryLine({ section, order: -1, text, value: 1 }));
  }
  for (const question of trail.openQuestions) {
    const text = `- The agent asked, and the user has not answered yet: ${quoted(question.text)}`;
    lines.push(summaryLine({ section, order: 200, text, value: 5 }));
  }
  return lines;
}

/** Where the parts of a request with a numbered list stand, in the agent's words. */
function itemLines(trail: Trail): SummaryLine[] {
  const { items } = trail;
  if (items === undefined) return [];
  const section = SECTION.pending;
  const list =
    items.by === 'user'
      ? `the list of message ${items.turn}`
      : `the agent's list after message ${items.turn}`;
  const group = `Items of ${list}, by what the agent said of each last:`;
  const newest = items.items.at(-1)?.said;
  const sentences = new Set(items.items.flatMap(({ said }) => said ?? []));
  const told = [...sentences].map((said) => {
    const named = items.items.filter((item) => item.said === said);
    const text = `- ${numbered(named)}${said === newest ? ', the newest' : ''}: ${quoted(said)}${changedSince(named, trail)}`;
    return summaryLine({ section, order: 104 + (named[0]?.number ?? 0) / 100, text, value: 3, group });
  });
  const rest = [
    ['nothing said yet of', items.silent],
    ['on the list besides, not named by number:', items.others],
  ] as const;
  const untold = rest
    .filter(([, listed]) => listed.length > 0)
    .map(([words, listed], at) =>
      summaryLine({ section, order: 105 + at / 10, text: `- ${words} ${numbered(listed)}`, value: 3, group }),
    );
  return [...untold, ...told];
}

/** Files that are told of an item. */
const CHANGED_FILES = 2;

/** What was done after items were named, which may be what they ask for: a word for it stands nowhere. */
function changedSince(items: readonly ListedItem[], { tree }: Trail): string {
  const [item] = items;
  if (item === undefined || item.changed.length === 0) return '';
  const files = item.changed.slice(0, CHANGED_FILES).join(', ');
  const more = item.changed.length > CHANGED_FILES ? ` and ${item.changed.length - CHANGED_FILES} more` : '';
  const isCommitted = tree.as !== 'seen' && (tree.newest?.position ?? -1) > item.position;
  return `, then changed ${files}${more}${isCommitted ? ', and committed' : ''}`;
}

/** Open boxes that are told, and characters of one. */
const NEXT_BOXES = 3;
const BOX_LENGTH = 120;

/** How far a checklist in a file is, and what of it comes next. */
function checklistLines({ checklist }: Trail): SummaryLine[] {
  if (checklist === undefined) return [];
  const { path, ticked, open } = checklist;
  const next = open.slice(0, NEXT_BOXES).map((box) => quoted(clip(box, BOX_LENGTH)));
  const first = next.length === 0 ? '' : `; the first open: ${next.join(', then ')}`;
  const text = `- ${path}: ${ticked} of ${ticked + open.length} boxes ticked${first}`;
  return [summaryLine({ section: SECTION.pending, order: 106, text, value: 3 })];
}

/** Items that are named by more than their numbers. */
const MOST_TITLES = 8;

/** Items by number, a few also with the beginning of what they say. */
function numbered(items: readonly ListedItem[]): string {
  if (items.length > MOST_TITLES) return items.map(({ number }) => number).join(', ');
  const length = items.length === 1 ? 60 : 40;
  return items.map(({ number, text }) => `${number} (${clip(text, length)})`).join(', ');
}

function planLines({ steps, turn }: Plan, { turns }: Trail, isOld: boolean): SummaryLine[] {
  const section = SECTION.pending;
  // What was done on an earlier request is told with it.
  if (isOld && !steps.some(isOpenStep)) return [];
  const group = turn < turns ? `Plan, as it stood after message ${turn}:` : 'Plan:';
  const lines = steps.flatMap((step, at) => {
    if (!isOpenStep(step)) return [];
    const mark = step.status === 'in_progress' ? 'in progress' : 'to do';
    return [
      summaryLine({ section, order: at, text: `- ${mark}: ${step.text}`, value: isOld ? 1.5 : 3, group }),
    ];
  });
  const done = steps.filter(({ status }) => status === 'completed').map(({ text }) => text);
  if (done.length > 0) {
    const text = `- done (${done.length} of ${steps.length}): ${clip(done.join('; '), 400)}`;
    lines.push(summaryLine({ section, order: 100, text, value: isOld ? 0.5 : 1.5, group }));
  }
  return lines;
}

/** A plan that several requests for other things came after is history: one line that fades. */
export function olderPlanLines({ plan, requests }: Trail): SummaryLine[] {
  const open = plan?.steps.filter(isOpenStep) ?? [];
  const newer = plan === undefined ? 0 : newerWork(requests, plan.turn);
  if (plan === undefined || open.length === 0 || !isOvertaken(plan, newer)) return [];
  const steps = clip(open.map(({ text }) => text).join('; '), 200);
  const text = `- An older plan (message ${plan.turn}) left open, which may be done or dropped by now: ${steps}`;
  return [summaryLine({ section: SECTION.pending, order: 300, text, value: OVERTAKEN / newer })];
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
