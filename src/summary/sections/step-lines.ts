// The lines of the newest steps with their results: results that await a reaction, and the findings of the steps before them.

import { omittedRows, moreRows, saysWhere, representedRows } from '../../trail/calls/changes.ts';
import {
  byNames,
  contentRows,
  excerptRows,
  wholeLength,
  withoutNotices,
} from '../../trail/outputs/excerpts.ts';
import { identifiersOf } from '../../text/identifiers/identifiers.ts';
import { foldedRows, withFolds, withoutEqual } from '../../trail/outputs/runs-of-rows.ts';
import { SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import { isTraceHead, readsFailed } from '../../trail/outputs/outputs.ts';
import { clip, ELLIPSIS } from '../../text/sentences.ts';
import type { Retractions } from '../../trail/talk/retractions.ts';
import type { Activity, Reply, Trail } from '../../trail/trail.ts';

/** Heading under which messages and actions appear together, in order. */
export const SINCE = 'Since the current request (runs ended well unless noted):';

/** Characters of a row that an edit changed. */
const CHANGED_ROW = 140;

/** Rows of an unread result that are taken or skipped together. */
const UNREAD_CHUNK = 6;

/** The context of the steps. */
export interface StepRoom {
  /** Approximate characters for all of them. */
  readonly room: number;
  /** The weight of each name that counts and was not shown yet; names are removed as they are shown. */
  readonly weights: Map<string, number>;
  /** Names whose rows in a listing are shown. */
  readonly counting: ReadonlySet<string>;
  /** The directory that paths are relative to, if section 1 names another than the working directory. */
  readonly from: string | undefined;
}

/**
 * The newest results, newest first, in about `room` characters together: in full if they fit, otherwise their beginning,
 * problems, the rows with the most names, and the end; for an edit, its changes.
 */
export function unreadLines({ current }: Trail, { room, ...telling }: StepRoom): SummaryLine[] {
  const newest = current.unread.toReversed();
  const whole = wholeResults(newest, room * SHORT_SHARE);
  const rest = room - [...whole.values()].reduce((sum, length) => sum + length, 0);
  return newest.flatMap((step, at) => {
    const share = Math.max(
      rest / 2 ** Math.min(at + (newest.length > 1 ? 1 : 0), 3),
      rest / newest.length / 2,
      whole.get(step) ?? 0,
    );
    return chainedLines(stepRows(step, { room: share, ...telling }), UNREAD_CHUNK, {
      section: SECTION.current,
      order: 6e9 + step.position,
      value: 0.1,
      group: 'Newest result, not reacted to yet:',
    });
  });
}

/** Share of the room for short results, which are shown in full before long ones. */
const SHORT_SHARE = 0.6;

/** The short results shown in full in this room, newest first, each with the length of its step in characters. */
function wholeResults(newest: readonly Activity[], room: number): ReadonlyMap<Activity, number> {
  const whole = new Map<Activity, number>();
  let left = room;
  for (const step of newest) {
    if (step.isRead || step.result.length > PADDED * SHORT_RESULT || madeChange(step) !== undefined) continue;
    const length = wholeLength(step.result);
    const all = Math.min(LEAST_HEAD, headOf(step).length) + length + 1;
    if (length === 0 || length > SHORT_RESULT || all > left) continue;
    left -= all;
    whole.set(step, all);
  }
  return whole;
}

/** By how much a table may exceed the content of its cells. */
const PADDED = 4;

/** Most calls that are named, and characters of each. */
const MOST_ALSO = 3;
const ALSO_LENGTH = 60;

/** The other results that arrived together with the newest one, by their calls: a small summary has no room for more. */
export function alsoUnreadLines({ current: { unread } }: Trail): SummaryLine[] {
  const others = unread.slice(0, -1);
  if (others.length === 0) return [];
  const named = others.slice(-MOST_ALSO).map((step) => `\`${clip(step.call, ALSO_LENGTH)}\``);
  const more = others.length > named.length ? ` and ${others.length - named.length} more` : '';
  const text = `Came at once with it: ${named.join(', ')}${more}`;
  return [summaryLine({ section: SECTION.current, order: 6.9e9, text, value: 0.1 })];
}

/** Steps before the unread ones that are shown with their results. */
const SHOWN_STEPS = 6;
/** Older edits that are also shown if no newer one changed the same file. */
const SHOWN_EDITS = 8;

/**
 * What the newest steps on the current request found or changed, newest first, while the agent is still working on it.
 * @param lesser lines with less about the same steps, which are dropped if their step is shown
 */
export function stepLines(
  trail: Trail,
  { room, ...telling }: StepRoom,
  lesser: readonly SummaryLine[],
): SummaryLine[] {
  const shown = shownSteps(trail);
  const newest = room < ROOM_FOR_SHORT ? [] : newestReads(shown);
  return shown.map((step, at, all) => {
    const share = room * stepShare(at, all.length);
    const whole = newest.includes(step) ? SHORT_RESULT : 0;
    return summaryLine({
      replaces: lesser.filter((line) => line.step === step.position),
      section: SECTION.current,
      order: step.position + 0.4,
      text: stepRows(step, { room: Math.max(share, whole), ...telling }).join('\n'),
      step: step.position,
      value: 0.8,
      group: SINCE,
    });
  });
}

/** Characters of the newest read results, if they are short: two of them may differ only at the ends of their rows. */
const SHORT_RESULT = 640;
/** From this room for all steps on, short results get that much. */
const ROOM_FOR_SHORT = 600;

/** The newest read-only steps, if their results are short. */
function newestReads(steps: readonly Activity[]): readonly Activity[] {
  return steps
    .filter(({ edited }) => edited.length === 0)
    .toSorted((a, b) => b.position - a.position)
    .slice(0, NEWEST_LOOKS)
    .filter(({ result }) => result.length <= PADDED * SHORT_RESULT && wholeLength(result) <= SHORT_RESULT);
}

const NEWEST_LOOKS = 2;

/** The steps that `stepLines` and `unreadLines` show. */
export function shownStepPositions(trail: Trail): ReadonlySet<number> {
  return new Set([...shownSteps(trail), ...trail.current.unread].map(({ position }) => position));
}

/** The steps that `stepLines` shows in full in this room. */
export function wholeSteps(trail: Trail, room: number): ReadonlySet<number> {
  const whole = shownSteps(trail).filter(
    (step, at, all) =>
      headOf(step).length + (madeChange(step) ?? step.result).length < room * stepShare(at, all.length),
  );
  return new Set(whole.map(({ position }) => position));
}

/**
 * The newest steps and the newest edit of each file, edits before reads and runs, each newest first: the current content of a
 * file cannot be guessed. Repeated steps appear once, and reads of a file that changed later are omitted.
 */
function shownSteps({ current, turns }: Trail): readonly Activity[] {
  if (current.isAgentDone) return [];
  const unread = new Set(current.unread.map(({ position }) => position));
  const steps = newestOfEqual(current.tail)
    .filter(({ turn, position, isStale }) => turn === turns && !isStale && !unread.has(position))
    .toReversed();
  const newest = steps.slice(0, SHOWN_STEPS);
  const edits = newestEdits(steps)
    .filter((step) => !newest.includes(step))
    .slice(0, SHOWN_EDITS);
  const shown = [...newest, ...edits];
  return [
    ...shown.filter(({ edited }) => edited.length > 0),
    ...shown.filter(({ edited }) => edited.length === 0),
  ];
}

/** The newest edit of each file. */
function newestEdits(steps: readonly Activity[]): Activity[] {
  const seen = new Set<string>();
  return steps.filter((step) => {
    const isNewest = step.edited.some((path) => !seen.has(path));
    for (const path of step.edited) seen.add(path);
    return isNewest;
  });
}

/** Steps in order; of repeated ones, only the last. */
function newestOfEqual(steps: readonly Activity[]): Activity[] {
  const newest = new Map<string, Activity>();
  for (const step of steps) {
    const key = `${step.turn}\n${step.call}\n${step.changed ?? ''}`;
    newest.delete(key);
    newest.set(key, step);
  }
  return [...newest.values()];
}

/** Share of the room for one of `count` steps, newest first: the newest gets twice as much as the oldest. */
function stepShare(at: number, count: number): number {
  const few = Math.max(FEW_STEPS, count);
  return (2 - at / few) / (1.5 * few + 0.5);
}

/** With fewer steps, the room is shared as if there were this many. */
const FEW_STEPS = 3;

/** The first line of a step: its effect, or the call as it was made. */
function headOf({ call, effect, result }: Activity): string {
  const silent = effect === undefined && result.trim() === '' ? ' → nothing' : '';
  return `- ${effect ?? call}${silent}`;
}

/** What a step changed; undefined for a rejected change. */
function madeChange({ changed, effect }: Activity): string | undefined {
  return effect === undefined ? undefined : changed;
}

/** A step with its result, in about `room` characters; if the result is much longer, the call takes at most half. */
function stepRows(step: Activity, { room, weights, counting, from }: StepRoom): string[] {
  const full = from === undefined ? headOf(step) : headOf(step).replaceAll(`${from}/`, '');
  const most = Math.max(LEAST_HEAD, room / 2);
  const short =
    full.length > most && step.effect === undefined ? full.replaceAll(LONG_PATH, `${ELLIPSIS}$1`) : full;
  const head = clip(short, most);
  const rows = shownRows(step, head, { room: Math.max(LEAST_ROWS, room - head.length), weights, counting });
  for (const row of [head, ...rows]) for (const name of identifiersOf(row)) weights.delete(name);
  return [withoutHalf(head, rows), ...rows.map((row) => `    ${row}`)];
}

/** A head without the truncated cause of a failure that a row shows in full. */
function withoutHalf(head: string, rows: readonly string[]): string {
  const at = head.indexOf(`${FAILED}: `) + FAILED.length;
  if (at < FAILED.length || !head.endsWith(ELLIPSIS)) return head;
  const begun = head.slice(at + 2, -ELLIPSIS.length).trimEnd();
  return begun !== '' && rows.some((row) => row.startsWith(begun)) ? head.slice(0, at) : head;
}

/** The leading directories of a long absolute path. */
const LONG_PATH = /(?:\/[^\s/'"]+){3,}(\/[^\s/'"]+\/?)/g;

/** Characters that a call with its result may take in any case. */
const LEAST_HEAD = 90;
const LEAST_ROWS = 85;

function shownRows(
  step: Activity,
  head: string,
  { room, weights, counting }: Omit<StepRoom, 'from'>,
): string[] {
  const change = madeChange(step);
  const hasFailed = step.effect?.includes(FAILED) === true;
  if (change === undefined) {
    // The head's account of the run is not repeated.
    return excerptRows(withoutRows(step.result, step.effect === undefined ? '' : head), {
      room,
      weights,
      counting,
      isRead: step.isRead,
      hasFailed,
      sought: new Set(identifiersOf(step.call)),
    });
  }
  const rows = change.split('\n').map((row) => clip(`${row.slice(0, 2)}${row.slice(2).trim()}`, CHANGED_ROW));
  const cause = contentRows(step.result).filter(readsFailed).slice(0, 1);
  return [...shownChange(rows, { room, weights }), ...cause.map((row) => clip(row.trim(), CHANGED_ROW))];
}

const FAILED = '→ failed';
/** A row is recognised in a head by this many characters: fewer might match by chance. */
const KNOWN_BY = 60;
const LEAST_KNOWN = 6;

function withoutRows(text: string, head: string): string {
  if (head === '') return text;
  const rows = text.split('\n').filter((row) => {
    const known = row.trim().slice(0, KNOWN_BY);
    return known.length < LEAST_KNOWN || !head.includes(known);
  });
  return rows.join('\n');
}

/**
 * Rows of a change in about `room` characters: of the added rows those with the most names, then the others, then the rows that
 * they replace. The number of omitted rows follows.
 */
function shownChange(
  all: readonly string[],
  { room, weights }: Pick<StepRoom, 'room' | 'weights'>,
): readonly string[] {
  const places = all.filter(saysWhere);
  const rows = all.filter((row) => omittedRows(row) === undefined && !saysWhere(row));
  const kept = new Set<number>();
  let left = room;
  const isGone = (at: number): boolean => rows[at]?.startsWith('- ') === true;
  const inOrder = [...rows.keys()];
  // Without its block, a lone brace means nothing.
  const coming = inOrder.filter((at) => !isGone(at) && /\w/.test(rows[at]?.slice(2) ?? ''));
  const naming = byNames(rows, weights).filter((at) => !isGone(at));
  const take = (at: number): void => {
    const length = (rows[at] ?? '').length + 1;
    if (kept.has(at) || (kept.size > 0 && length > left)) return;
    left -= length;
    kept.add(at);
  };
  for (const at of [...naming, ...coming]) take(at);
  const words = wordsOf([...kept].map((at) => rows[at] ?? ''));
  const gone = inOrder.filter(isGone);
  const length = gone.reduce((sum, at) => sum + (rows[at] ?? '').length + 1, 0);
  // If not everything fits, the removed rows shown are those that read as counterparts of added ones.
  const isOtherSide = (at: number): boolean =>
    coming.length === 0 || [...wordsOf([rows[at] ?? ''])].some((word) => words.has(word));
  for (const at of length <= left ? gone : gone.filter(isOtherSide)) take(at);
  const shown = rows.filter((_, at) => kept.has(at));
  const result = [...shown, ...places];
  return [...result, ...moreRows(representedRows(all) - representedRows(result))];
}

function wordsOf(rows: readonly string[]): ReadonlySet<string> {
  return new Set(rows.flatMap((row) => row.match(/\w{4,}/g) ?? []));
}

/** Calls shown as started: more at once are one kind of work. */
const MAX_STARTED = 3;

/** Calls still running at the end of the log: no other line shows that they were started. */
export function startedLines({ current: { started } }: Trail): SummaryLine[] {
  if (started.length === 0) return [];
  const calls = started.slice(0, MAX_STARTED).map(({ text }) => `\`${text}\``);
  const more = started.length > calls.length ? ` and ${started.length - calls.length} more` : '';
  const text = `Started, no result yet: ${calls.join(', ')}${more}`;
  return [summaryLine({ section: SECTION.current, order: 7e9, text, value: 2 })];
}

/** Rows as lines of `size` rows each, none without the previous one. */
export function chainedLines(
  rows: readonly string[],
  size: number,
  place: Pick<SummaryLine, 'section' | 'order' | 'value'> & { readonly group: string },
): SummaryLine[] {
  const lines: SummaryLine[] = [];
  for (let at = 0; at < rows.length; at += size) {
    const parent = lines.at(-1);
    const text = rows.slice(at, at + size).join('\n');
    const { section, value, group } = place;
    lines.push(summaryLine({ section, order: place.order + at / 1_000, group, text, value, parent }));
  }
  return lines;
}

/** Rows of a step that are taken or skipped together; a longer step continues in lines of a given number. */
const WHOLE_ROWS = 24;
const ROWS_PER_TAIL_LINE = 12;

/** Characters of a row in a message or result of the newest steps; up to four times as many if there are few rows. */
const STEP_ROW = 160;
const MANY_STEPS = 80;
const LONGEST_ROWS = 4;

/**
 * Tokens of a summary per request back whose steps may appear verbatim, except the newest two: distant steps matter little and
 * only fit in a long summary. @source docs/decisions/summary.md
 */
const TOKENS_PER_REQUEST = 2_000;

/** What is already shown when the steps appear verbatim. */
export interface ShownElsewhere {
  readonly budget: number;
  /** Positions of steps that other lines show in full. */
  readonly whole: ReadonlySet<number>;
  /** Lines that summarize steps and messages. */
  readonly short: readonly SummaryLine[];
  readonly isOutdated: Retractions['isOutdated'];
  /** Names whose rows in a listing are shown. */
  readonly counting: ReadonlySet<string>;
}

/**
 * The newest steps verbatim, newest first: the agent's messages and calls, with the beginnings of the results. They use
 * otherwise unclaimed room. A step of the current request replaces its own short lines, unless it is long, where the short line
 * has the essentials.
 */
export function tailLines(
  { current, turns }: Trail,
  { budget, whole, short, isOutdated: isOvertaken, counting }: ShownElsewhere,
): SummaryLine[] {
  const oldest = turns - Math.max(1, Math.floor(budget / TOKENS_PER_REQUEST) - 1);
  const quoted = [...current.unread, current.repliesTo, current.newestReply, current.newestList];
  const shown = new Set([...whole, ...quoted.map((step) => step?.position)]);
  const steps = Math.max(1, current.tail.length + current.messages.length);
  const length = STEP_ROW * Math.min(LONGEST_ROWS, Math.max(1, MANY_STEPS / steps));
  const isListed = ({ position, turn }: Pick<Activity, 'position' | 'turn'>): boolean =>
    !shown.has(position) && turn >= oldest;
  const isCurrent = (said: Reply): boolean => said.text.includes('\n') || !isOvertaken(said);
  const said = current.messages
    .filter((one) => isListed(one) && isCurrent(one))
    .map(({ position, turn, text }) => ({
      position,
      turn,
      rows: messageRows(text, length),
    }));
  // The changes of an edit show that it was made.
  const calls = newestOfEqual(current.tail.filter(({ isStale }) => !isStale))
    .filter(isListed)
    .map((step) => ({
      position: step.position,
      turn: step.turn,
      rows: [headOf(step), ...resultRows(step, { length, counting })],
    }));
  const newest = [...said, ...calls].toSorted((a, b) => b.position - a.position);
  return withoutRepeated(newest, turns).flatMap(({ position, turn, rows }) => {
    const place = { section: SECTION.current, value: 0.02 };
    if (turn === turns && rows.length <= WHOLE_ROWS) {
      const replaces = short.filter(({ step }) => step === position);
      const text = rows.join('\n');
      return [summaryLine({ ...place, order: position + 0.4, text, group: SINCE, replaces })];
    }
    const group = `Steps on ${turn === turns ? 'the current request' : `message ${turn}`}, as they stood:`;
    return chainedLines(rows, ROWS_PER_TAIL_LINE, { ...place, order: 3e9 + position, group });
  });
}

/** Steps as they are shown. */
interface RenderedStep {
  readonly position: number;
  readonly turn: number;
  readonly rows: readonly string[];
}

/** Steps, newest first; those on answered requests without rows that a newer step shows: patches and listings recur. */
function withoutRepeated(steps: readonly RenderedStep[], current: number): RenderedStep[] {
  const shown = new Set<string>();
  return steps.map((step) => {
    const [head = '', ...rest] = step.rows;
    const fresh =
      step.turn === current ? rest : rest.filter((row) => row.length < LEAST_REPEATED || !shown.has(row));
    for (const row of rest) shown.add(row);
    return { ...step, rows: [head, ...fresh] };
  });
}

/** From this length on, a row means the same wherever it occurs. */
const LEAST_REPEATED = 40;

/** The result of a step: its changes, or its output; for listings, the beginning and the rows that count. */
function resultRows(
  step: Activity,
  { length, counting }: { readonly length: number } & Pick<ShownElsewhere, 'counting'>,
): string[] {
  const change = madeChange(step);
  if (change !== undefined) return rowsOf(change, length);
  const rows = rowsOf(step.result, length);
  return withFolds(rows, foldedRows(rows, counting));
}

/** The agent's message as shown among the steps. */
function messageRows(text: string, length: number): string[] {
  const rows = rowsOf(text, length);
  return rows.length === 1 ? [`- said: ${rows[0]?.trim() ?? ''}`] : ['- said:', ...rows];
}

function rowsOf(text: string, length: number): string[] {
  const rows = withoutNotices(text)
    .split('\n')
    .filter((row) => row.trim() !== '' && !isTraceHead(row));
  return withoutEqual(
    rows.map((row) => row.trimEnd()),
    (row) => `    ${clip(row, length)}`,
  );
}
