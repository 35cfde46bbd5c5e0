// The lines of what came of the work: failures and how they ended, commits and links, what an earlier summary told.

import { SECTION, summaryLine } from './line.ts';
import type { SummaryLine } from './line.ts';
import { isDeed, runnerOf } from './runs.ts';
import { clip, proseLines } from './sentences.ts';
import type { Commit, Failure, Trail } from './trail.ts';

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

/** Commits, all or those given, pushes and links. */
export function deliveredLines(trail: Trail, told: readonly Commit[] = trail.commits): SummaryLine[] {
  const section = SECTION.solving;
  const commits = told.map(({ hash, subject, turn, fate }, at) => {
    const since = fate === undefined ? '' : `, ${fate} since`;
    const text = `- ${hash === undefined ? '' : `${hash} `}${subject} (message ${turn}${since})`;
    return summaryLine({
      section,
      order: at / 1_000,
      text,
      value: turn === trail.turns ? 2 : 1,
      group: 'Commits:',
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
