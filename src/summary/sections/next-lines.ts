// The lines of "Pending Tasks" and "Optional Next Step": what is open, and which of it comes next.

import { doneSince } from './check-lines.ts';
import { charactersFor, quoted, SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import { announcesLook, isReadOnly } from '../read-only-steps.ts';
import { readsFailed } from '../../trail/outputs/outputs.ts';
import { clip, oneLine } from '../../text/sentences.ts';
import { isIntent, remainingRows } from '../../trail/talk/statements.ts';
import type { Activity, ListedItem, Plan, PlanStep, Trail } from '../../trail/trail.ts';
import { fromList, newerWork, nextListStep } from '../work.ts';

/** Characters that identify a sentence. */
const KNOWN_BY = 40;

/** @param unread the newest results, which still need a reaction */
export function nextLines(trail: Trail, budget: number, unread: readonly Activity[]): SummaryLine[] {
  const section = SECTION.next;
  const lines: SummaryLine[] = [];
  if (trail.nextStep !== undefined && isWorthShowing(trail.nextStep, trail)) {
    const step = oneLine(trail.nextStep);
    const text = quoted(clip(step, charactersFor(Math.max(40, budget / 16), step)));
    lines.push(summaryLine({ section, order: 0, text: `${announcement(trail)}: ${text}`, value: 5 }));
  }
  const next = nextListStep(trail.plans.filter(({ turn }) => newerWork(trail.requests, turn) === 0));
  if (next !== undefined) {
    const text = planText(next.list, next.step, trail);
    lines.push(summaryLine({ section, order: 1, text, value: 4 }));
  }
  if (trail.turns > 0)
    lines.push(summaryLine({ section, order: 2, text: progressOf(trail, unread), value: 3 }));
  return lines;
}

/**
 * An announced step matters less than the agent's closing question. If other messages followed it, it is shown only while
 * nothing was called since: otherwise it is usually done.
 */
function isWorthShowing(step: string, trail: Trail): boolean {
  if (hasAnswered(trail) && asksLast(trail)) return false;
  const status = announcedStatus(trail);
  if (status === 'open') return true;
  if (/[:：]$/.test(step)) return false;
  return status !== 'earlier' || !isOutdated(trail);
}

/** Whether anything was called after an announcement that is not in the newest message. */
function isOutdated({ current, nextStep = '' }: Trail): boolean {
  const head = headOf(nextStep);
  const { position } = current.messages.findLast(({ text }) => oneLine(text).includes(head)) ?? {};
  return position === undefined || current.tail.some((step) => step.position > position);
}

/** The next step of a plan, with how far work continued after the agent updated the plan. */
function planText(list: Plan, step: PlanStep, { current }: Trail): string {
  const { position, steps } = list;
  const from = fromList(list);
  const edits = current.actions.filter(
    (action) => action.position > position && /^(?:edited|wrote) /.test(action.text),
  );
  const text = clip(step.text, 240);
  if (edits.length === 0) return `${from}: ${text}`;
  const named = edits.findLast((edit) => isNamedBy(step.text, edit.text));
  if (named !== undefined) {
    const after = steps.slice(steps.indexOf(step) + 1).find(isOpenStep);
    const then = after === undefined ? '' : `; after it: ${clip(after.text, 120)}`;
    return `${from} (perhaps done by now: since then ${clip(named.text, RAN_LENGTH)}): ${text}${then}`;
  }
  const newest = edits.length === 1 ? 'edit' : `${edits.length} edits`;
  return `${from} (not brought up to date after the newest ${newest}): ${text}`;
}

/** Longer words, and the least number of them that a file named after a step shares with it. */
const STEP_WORD = /\p{L}{4,}/gu;
const NAMING_WORDS = 2;
const NAMING_SHARE = 0.5;

/** Whether an edited file is named in words of a step: more than one of them, and half of its subject. */
function isNamedBy(step: string, edit: string): boolean {
  const name = edit.slice(edit.lastIndexOf('/') + 1).toLowerCase();
  // The first word is the verb.
  const words = step.slice(step.search(/\s|$/)).toLowerCase().match(STEP_WORD) ?? [];
  const about = [...new Set(words.map((word) => word.replace(/(?<=\p{L}{3})s$/u, '')))];
  const shared = about.filter((word) => name.includes(word)).length;
  return shared >= NAMING_WORDS && shared >= NAMING_SHARE * about.length;
}

/**
 * The status of an announced step: `open` when nothing happened since, `begun` when calls followed, `looked` when those only
 * read, `unedited` when they may have done more but edited nothing, `earlier` when a newer message followed, so that it may be
 * done by now.
 */
type AnnouncedStatus = 'open' | 'begun' | 'looked' | 'unedited' | 'earlier';

const STEP_LABELS: Readonly<Record<AnnouncedStatus, string>> = {
  open: "The agent's own words",
  begun: 'Announced, and begun since',
  looked: 'Announced; since then nothing was changed',
  unedited: 'Announced; since then no file was edited',
  earlier: 'Announced before, perhaps done by now',
};

/** Characters of the commands run since an announcement. */
const RAN_LENGTH = 80;

/** The label of an announced step: fresh, begun or older words; once files were edited for it, what was done. */
export function announcement(trail: Trail): string {
  const status = announcedStatus(trail);
  const { position } = trail.current.newestReply ?? {};
  if (status === 'open' || status === 'earlier' || position === undefined) return STEP_LABELS[status];
  if (hasLooked(trail, position)) return LOOKED_LABEL;
  if (status !== 'begun') return STEP_LABELS[status];
  const ran = trail.current.actions.findLast((action) => action.position > position);
  const done = doneSince(trail, position) ?? (ran === undefined ? undefined : clip(ran.text, RAN_LENGTH));
  return done === undefined ? STEP_LABELS[status] : `Announced; since then ${done}`;
}

/** The label of a look whose results have arrived: it is done, or the work continues from them. */
const LOOKED_LABEL = 'Announced, and its results are in';

/**
 * Whether results arrived since the agent announced a look, unless it announced more, edited since, or awaits something that it
 * started.
 */
function hasLooked({ current, nextStep = '' }: Trail, position: number): boolean {
  const since = current.tail.filter((step) => step.position > position);
  const isMore = current.started.length > 0 || since.some(({ edited }) => edited.length > 0);
  return since.length > 0 && !isMore && announcesLook(nextStep);
}

function announcedStatus({ current, nextStep }: Trail): AnnouncedStatus {
  const newest = oneLine(current.newestReply?.text ?? '');
  const head = headOf(nextStep ?? '');
  if (newest !== '' && !newest.includes(head)) return 'earlier';
  if (newest === '' || current.isAgentDone) return 'open';
  const repliedAt = current.newestReply?.position ?? 0;
  const isBegun = current.started.length > 0 || current.actions.some(({ position }) => position > repliedAt);
  if (isBegun) return 'begun';
  return current.tail.every((step) => step.position < repliedAt || isReadOnly(step)) ? 'looked' : 'unedited';
}

/** The part of an announced step that identifies it in its message. */
function headOf(step: string): string {
  return oneLine(step.split('; ')[0] ?? '').slice(0, KNOWN_BY);
}

/**
 * Whether the agent has finished the current request: it has not if it closes by announcing its next step, unless it asks
 * first.
 */
function hasAnswered(trail: Trail): boolean {
  const { current, nextStep } = trail;
  return current.isAgentDone && (nextStep === undefined || !isIntent(nextStep) || asksLast(trail));
}

/** Whether the newest message asks something that the user has not answered yet. */
function asksLast({ openQuestions, current: { newestReply } }: Trail): boolean {
  const newest = oneLine(newestReply?.text ?? '');
  return openQuestions.some(({ text }) => newest.includes(headOf(text)));
}

function progressOf(trail: Trail, unread: readonly Activity[]): string {
  const { current, turns } = trail;
  if (hasAnswered(trail) && hasStepInProgress(trail))
    return 'The agent spoke last, but its plan has a step in progress.';
  if (hasAnswered(trail) && asksLast(trail))
    return 'The agent had answered the current request, and asked what section 7 quotes.';
  if (hasAnswered(trail)) return 'The agent had answered the current request.';
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

/**
 * Characters in which a tool confirms an edit; longer results say something about the file. @source docs/decisions/summary.md
 */
const MADE_LENGTH = 240;

/** Whether a step printed nothing but its success. */
function onlyWentWell({ edited, result }: Activity): boolean {
  const output = result.trim();
  return output === '' || (edited.length > 0 && output.length <= MADE_LENGTH && !readsFailed(output));
}

/** Number of steps in the current request's plan if all are done and no file was edited since; 0 otherwise. */
function stepsOfDonePlan({ plan, turns, current }: Trail): number {
  if (plan === undefined || plan.turn !== turns || plan.steps.some(isOpenStep)) return 0;
  const isEdit = ({ position, edited }: Activity): boolean => position > plan.position && edited.length > 0;
  return current.tail.some(isEdit) ? 0 : plan.steps.length;
}

function hasStepInProgress({ plan, requests }: Trail): boolean {
  if (plan === undefined || newerWork(requests, plan.turn) > 0) return false;
  return plan.steps.some(({ status }) => status === 'in_progress');
}

/** After this many requests for other things, a plan with open steps no longer appears as the plan. */
const OVERTAKEN = 2;

/** @param newer number of requests for other things after the plan */
function isHistory({ isKept }: Plan, newer: number): boolean {
  return newer >= OVERTAKEN && isKept !== true;
}

const isOpenStep = ({ status }: PlanStep): boolean => status === 'in_progress' || status === 'pending';

/** Work in progress, the plan's open steps, its completed ones, and questions that the user has not answered. */
export function pendingLines(trail: Trail): SummaryLine[] {
  const section = SECTION.pending;
  const { plan, requests, turns } = trail;
  const newer = plan === undefined ? 0 : newerWork(requests, plan.turn);
  const planned = plan === undefined || isHistory(plan, newer) ? [] : planLines(plan, trail, newer > 0);
  const lines = [...planned, ...itemLines(trail), ...checklistLines(trail), ...remainingLines(trail)];
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

/** The status of each part of a request with a numbered list, in the agent's words. */
function itemLines(trail: Trail): SummaryLine[] {
  const { items } = trail;
  if (items === undefined) return [];
  const section = SECTION.pending;
  const list =
    items.by === 'user'
      ? `the list of message ${items.turn}`
      : `the agent's list after message ${items.turn}`;
  const group = `Items of ${list}, by what the agent said of each last:`;
  const newest = items.items.at(-1)?.statement;
  const sentences = new Set(items.items.flatMap(({ statement: said }) => said ?? []));
  const mentioned = [...sentences].map((said) => {
    const named = items.items.filter((item) => item.statement === said);
    const text = `- ${numbered(named)}${said === newest ? ', the newest' : ''}: ${quoted(said)}${changedSince(named, trail)}`;
    return summaryLine({ section, order: 104 + (named[0]?.number ?? 0) / 100, text, value: 3, group });
  });
  const rest = [
    ['nothing said yet of', items.silent],
    ['on the list besides, not named by number:', items.others],
  ] as const;
  const unmentioned = rest
    .filter(([, listed]) => listed.length > 0)
    .map(([words, listed], at) =>
      summaryLine({ section, order: 105 + at / 10, text: `- ${words} ${numbered(listed)}`, value: 3, group }),
    );
  return [...unmentioned, ...mentioned];
}

/** Files shown per item. */
const CHANGED_FILES = 2;

/** Work after items were named that may belong to them: no statement says so. */
function changedSince(items: readonly ListedItem[], { tree }: Trail): string {
  const [item] = items;
  if (item === undefined || item.changed.length === 0) return '';
  const files = item.changed.slice(0, CHANGED_FILES).join(', ');
  const more = item.changed.length > CHANGED_FILES ? ` and ${item.changed.length - CHANGED_FILES} more` : '';
  const isCommitted = tree.as !== 'seen' && (tree.newest?.position ?? -1) > item.position;
  return `, then changed ${files}${more}${isCommitted ? ', and committed' : ''}`;
}

/** Open boxes that are shown, and characters of each. */
const NEXT_BOXES = 3;
const BOX_LENGTH = 120;

/** The progress of a checklist in a file, and its next items. */
function checklistLines({ checklist }: Trail): SummaryLine[] {
  if (checklist === undefined) return [];
  const { path, ticked, open } = checklist;
  const next = open.slice(0, NEXT_BOXES).map((box) => quoted(clip(box, BOX_LENGTH)));
  const first = next.length === 0 ? '' : `; the first open: ${next.join(', then ')}`;
  const text = `- ${path}: ${ticked} of ${ticked + open.length} boxes ticked${first}`;
  return [summaryLine({ section: SECTION.pending, order: 106, text, value: 3 })];
}

/** Most items that are identified by more than their numbers. */
const MOST_TITLES = 8;

/** Items by number, a few also with the beginning of their text. */
function numbered(items: readonly ListedItem[]): string {
  if (items.length > MOST_TITLES) return items.map(({ number }) => number).join(', ');
  const length = items.length === 1 ? 60 : 40;
  return items.map(({ number, text }) => `${number} (${clip(text, length)})`).join(', ');
}

function planLines({ steps, turn }: Plan, { turns }: Trail, isOld: boolean): SummaryLine[] {
  const section = SECTION.pending;
  // Work on an earlier request appears with that request.
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

/** A plan followed by several requests for other things is history: one line with a fading value. */
export function olderPlanLines({ plan, requests }: Trail): SummaryLine[] {
  const open = plan?.steps.filter(isOpenStep) ?? [];
  const newer = plan === undefined ? 0 : newerWork(requests, plan.turn);
  if (plan === undefined || open.length === 0 || !isHistory(plan, newer)) return [];
  const steps = clip(open.map(({ text }) => text).join('; '), 200);
  const text = `- An older plan (message ${plan.turn}) left open, which may be done or dropped by now: ${steps}`;
  return [summaryLine({ section: SECTION.pending, order: 300, text, value: OVERTAKEN / newer })];
}

/** Open work listed in the agent's last message, which no plan tool records. */
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
