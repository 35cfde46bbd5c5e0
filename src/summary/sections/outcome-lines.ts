// The lines of outcomes: failures and how they ended, commits and links, the content of an earlier summary.

import { SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import { actOf, checksIn, isOneTime, isMisspelled } from '../../shell/runners.ts';
import { clip, proseLines } from '../../text/sentences.ts';
import { joinPath } from '../../shell/scripts.ts';
import type { Commit, Failure, Trail } from '../../trail/trail.ts';
import { SUMMARY_SECTIONS } from '../../vocabulary.ts';

/** With a smaller budget, only the first line of a failure is shown. */
const ROOM_FOR_DETAILS = 3_000;

/** Failures and how they ended, as long as the budget allows; those of one command with the same ending are grouped. */
export function failureLines(trail: Trail, budget: number): SummaryLine[] {
  const rows = budget < ROOM_FOR_DETAILS ? 1 : 2;
  const groups = new Map<string, [Failure, ...Failure[]]>();
  for (const failure of trail.failures) {
    const { command, outcomeLines: telling, outcome, later } = failure;
    if (telling.length === 0 || (isHealed(failure) && isOneTime(command))) continue;
    const key = [namedCheck(command), outcome, later?.as, later?.command, farPlace(failure, trail)].join(
      '\n',
    );
    groups.set(key, [failure, ...(groups.get(key) ?? [])]);
  }
  return [...groups.values()].map((group) =>
    summaryLine({
      section: SECTION.errors,
      order: Math.max(...group.map(({ position }) => position)),
      text: failureText(group, { rows, place: farPlace(group[0], trail) }),
      value: Math.max(...group.map((failure) => failureValue(failure, trail))),
    }),
  );
}

/** Whether the only problem was the spelling of the command, which was corrected. */
function isHealed({ outcomeLines: telling, later }: Failure): boolean {
  const isSpelled = later?.as === 'variant' || later?.as === 'respelled' || later?.as === 'understood';
  return isSpelled && isMisspelled(telling);
}

/** Causes shown for a command not seen to pass, and characters of those before the newest. */
const SHOWN_CAUSES = 3;
const CAUSE_LENGTH = 100;

/** The checks in a command by name, because what precedes them varies; otherwise the command. */
function namedCheck(command: string): string {
  const checks = checksIn(command);
  return checks.length === 0 ? command : checks.join(' && ');
}

/** Where a command failed that was not seen to pass, if that is not the current place of work, inside it or around it. */
function farPlace({ command, directory, outcome }: Failure, { cwd, workedIn }: Trail): string | undefined {
  if (directory === undefined || outcome === 'passed' || isOneTime(command)) return undefined;
  const failed = directory === '.' ? (cwd ?? '') : joinPath(cwd, directory);
  const now = workedIn ?? cwd ?? '';
  return isIn(failed, now) || isIn(now, failed) ? undefined : directory === '.' ? failed : directory;
}

function isIn(path: string, directory: string): boolean {
  return directory === '' || `${path}/`.startsWith(`${directory}/`);
}

/** How failures are shown: the number of lines, and the place if elsewhere. */
interface Placed {
  readonly rows: number;
  readonly place: string | undefined;
}

/** Failures of one command with the same ending, newest first. */
function failureText([newest, ...others]: readonly [Failure, ...Failure[]], { rows, place }: Placed): string {
  const { command, outcomeLines, times, outcome } = newest;
  const all = others.reduce((sum, failure) => sum + failure.times, times);
  const often = `${all > 1 ? ` ${all} times` : ''}${place === undefined ? '' : ` in ${place}`}`;
  const own = outcomeLines.slice(0, rows).map((text) => clip(text, 150));
  const shown = outcome === 'passed' || rows === 1 ? [] : others.slice(0, SHOWN_CAUSES - 1);
  const before = shown.map(({ outcomeLines: [cause = ''] }) => `; before: ${clip(cause, CAUSE_LENGTH)}`);
  const left = others.length - shown.length;
  const more = left === 0 ? '' : `; ${left} other cause${left > 1 ? 's' : ''}`;
  const causes = `${own.join(' | ')}${before.join('')}${more}`.replace(/\.$/, '');
  // The agent will not return to another place to run it again.
  const end = place === undefined ? endText(newest) : '';
  return `- \`${clip(command, 100)}\` failed${often}: ${causes}.${end}`;
}

/** Files shown as having repaired a failure. */
const MENDING_FILES = 2;

/** Of the files edited between failure and success, those that the failure names, or else the last ones. */
function mending({ editedBetween, outcomeLines, command }: Failure): readonly string[] {
  const words = [command, ...outcomeLines].join('\n');
  const named = editedBetween.filter((path) => words.includes(path.slice(path.lastIndexOf('/') + 1)));
  return (named.length > 0 ? named : editedBetween).slice(-MENDING_FILES);
}

/** Paths; those in the directory of the first are shown by name only. */
function shownPaths([first = '', ...rest]: readonly string[]): readonly string[] {
  const directory = first.slice(0, first.lastIndexOf('/') + 1);
  return [
    first,
    ...rest.map((path) =>
      path.slice(0, path.lastIndexOf('/') + 1) === directory ? path.slice(directory.length) : path,
    ),
  ];
}

/** How a failure ended; empty if the command would not be run again. */
function endText(failure: Failure): string {
  const { command, outcome, later } = failure;
  if (outcome === 'passed') return ` Passed later${mendingText(failure)}.`;
  if (later?.as === 'resolved' || later?.as === 'given up')
    return ` The conflict was ${later.as}: \`${clip(later.command, MENDING_LENGTH)}\`.`;
  if (isOneTime(command)) return '';
  switch (later?.as) {
    case 'variant':
      return ` ${variantText(command, later.command)}`;
    case 'check':
      return ` Later \`${clip(checksIn(later.command).join(' && '), 60)}\` passed.`;
    case 'part':
      return ` Only a part passed since: \`${clip(later.command, VARIANT_LENGTH)}\`.`;
    case 'respelled':
      return ` Another \`${actOf(later.command)}\` ran well later.`;
    case 'understood':
      return '';
    default:
      return ' Not seen to pass since.';
  }
}

/** What made a command pass. */
function mendingText(failure: Failure): string {
  const { editedBetween, mendedBy } = failure;
  if (mendedBy === 'permissions') return ' with escalated permissions';
  if (mendedBy !== undefined) return ` after \`${clip(mendedBy.command, MENDING_LENGTH)}\``;
  return editedBetween.length === 0 ? '' : ` after edits to ${shownPaths(mending(failure)).join(', ')}`;
}

/** Characters of the wording in which a command succeeded. */
const VARIANT_LENGTH = 80;
/** Characters of the command that made another one pass. */
const MENDING_LENGTH = 60;

/** If the later command only adds words, only those are shown. */
function variantText(command: string, later: string): string {
  const more = later.startsWith(`${command} `)
    ? later.slice(command.length)
    : later.endsWith(` ${command}`)
      ? later.slice(0, -command.length)
      : '';
  return more !== ''
    ? `With \`${clip(more.trim(), VARIANT_LENGTH)}\` it ran well later.`
    : `Run later as \`${clip(later, VARIANT_LENGTH)}\`: ok.`;
}

/** Failures that are still open matter most, then those that took edits to repair; old ones fade. */
function failureValue(failure: Failure, trail: Trail): number {
  const { command, outcome, turn, editedBetween, later } = failure;
  const fresh = 1 / (1 + (trail.turns - turn) / 3);
  if (isHealed(failure) || later?.as === 'resolved' || later?.as === 'given up') return 0.3 * fresh;
  const isLeft = later !== undefined || isOneTime(command) || farPlace(failure, trail) !== undefined;
  if (outcome === 'open') return (isLeft ? 0.8 : 2.5) * fresh;
  return (editedBetween.length > 0 ? 1.5 : 0.5) * fresh;
}

/** Commits (all, or those given), pushes and links. */
export function deliveredLines(trail: Trail, shown: readonly Commit[] = trail.commits): SummaryLine[] {
  const section = SECTION.solving;
  const group = shown.length === trail.commits.length ? 'Commits:' : 'Other commits:';
  const commits = shown.map(({ hash, subject, turn, fate }, at) => {
    const since = fate === undefined ? '' : `, ${fate} since`;
    const text = `- ${hash === undefined ? '' : `${hash} `}${subject} (message ${turn}${since})`;
    return summaryLine({
      section,
      order: at / 1_000,
      text,
      value: turn === trail.turns ? 2 : 1,
      group,
    });
  });
  const landmarks = trail.landmarks.map(({ text, state }, at) =>
    summaryLine({
      section,
      order: 0.5 + at / 1_000,
      text: state === undefined ? `- ${text}` : `- ${text} (${state} in this session)`,
      value: state === undefined ? 0.6 : 2,
      group: 'Pushes and links:',
    }),
  );
  const own = landmarks.findLast((_, at) => trail.landmarks[at]?.state !== undefined);
  return [...landmarks.filter((line) => line !== own), ...commits, ...(own === undefined ? [] : [own])];
}

const CARRIED = 'Carried over from an earlier summary, whose past is not in this log:';

/** Rows of an earlier summary that say nothing of the work: its headings, and what pointed at messages beside it. */
const FRAME_ROWS: ReadonlySet<string> = new Set([
  CARRIED,
  'None.',
  ...SUMMARY_SECTIONS.map((name) => `${name}:`),
]);
const POINTER = /\bfollows? verbatim after this summary\b/;

/** What an earlier summary told whose past is not in the log; of one that carried over another, each row once. */
export function carriedLines(trail: Trail): SummaryLine[] {
  if (trail.carriedOver === undefined) return [];
  const rows = proseLines(trail.carriedOver).filter((row) => !FRAME_ROWS.has(row) && !POINTER.test(row));
  return [...new Set(rows)].map((text, at) =>
    summaryLine({
      section: SECTION.solving,
      order: -1_000 + at / 10_000,
      text: `- ${clip(text, 400)}`,
      value: 2,
      group: CARRIED,
    }),
  );
}
