// The line that says how the work was checked since its last edit.

import { SECTION, summaryLine } from '../line.ts';
import type { SummaryLine } from '../line.ts';
import { isPartOf } from '../../trail/ledgers/reruns.ts';
import { checksIn, isMisspelled } from '../../shell/runners.ts';
import { clip, oneLine } from '../../text/sentences.ts';
import type { CommandRun, FileTrail, Trail } from '../../trail/trail.ts';

/** Words of a command that may be a check of unknown form. */
const MAY_CHECK = /test|spec|check|lint|build|verif|valid|compil|tsc|vet\b|gradle|make/i;
/** Files whose text is not checked by any tool. */
const PROSE = /\.(?:mdx?|txt|rst|adoc)$|^\/tmp\//;

/** With a smaller budget, the newest checks appear only with the names needed to run them, without causes. */
const ROOM_FOR_DETAILS = 3_000;

/** The detail in which checks appear: their number, and characters of a name, of a cause, of a path. */
interface CheckDetail {
  readonly checks: number;
  readonly name: number;
  readonly cause: number;
  readonly isPathWhole: boolean;
}

const BRIEFLY: CheckDetail = { checks: 2, name: 40, cause: 0, isPathWhole: false };
const WHOLE: CheckDetail = { checks: 3, name: 80, cause: 80, isPathWhole: true };

/** How the work of the current request was checked since its last edit, in one line. */
export function checkLines(trail: Trail, budget: number): SummaryLine[] {
  const text = checkText(trail, budget < ROOM_FOR_DETAILS ? BRIEFLY : WHOLE);
  return text === undefined ? [] : [summaryLine({ section: SECTION.current, order: 5e9, text, value: 1.5 })];
}

function checkText({ files, turns, commands, current }: Trail, detail: CheckDetail): string | undefined {
  const edited = lastEdited(files.filter(({ lastEditTurn }) => lastEditTurn === turns));
  if (edited === undefined) return undefined;
  const since = commands.filter(({ position }) => position >= edited.lastEditPosition);
  const checks = newestChecks(since).slice(0, detail.checks);
  if (checks.length > 0)
    return `Since the last edit ${listedChecks(checks, detail)}${unrepeated(commands, since, detail)}.`;
  const mayBeChecked = [...since.map(({ command }) => command), ...current.started.map(({ text }) => text)];
  const isUsual = commands.some(({ command }) => checksIn(command).length > 0);
  const { path } = edited;
  const name = path.slice(path.lastIndexOf('/') + 1);
  // A script that was written and then run has been tried.
  const mayCheck = (command: string): boolean => MAY_CHECK.test(command) || command.includes(name);
  if (!isUsual || mayBeChecked.some(mayCheck)) return undefined;
  const shown = detail.isPathWhole ? path : name;
  return `No check has run since the last edit of ${shown}.`;
}

/** Files listed as edited since an announcement. */
const LISTED_FILES = 2;

/** The files edited after a log position, and the check that succeeded after that; undefined without edits. */
export function doneSince({ files, commands, turns }: Trail, position: number): string | undefined {
  const edited = files
    .filter((file) => file.lastEditTurn === turns && file.lastEditPosition > position)
    .toSorted((a, b) => b.lastEditPosition - a.lastEditPosition);
  const [last] = edited;
  if (last === undefined) return undefined;
  const names = edited.slice(0, LISTED_FILES).map(({ path }) => path.slice(path.lastIndexOf('/') + 1));
  const more = edited.length > names.length ? ` and ${edited.length - names.length} more` : '';
  const checks = newestChecks(commands.filter((run) => run.position >= last.lastEditPosition));
  const [check] = checks;
  const passed = check?.went !== 'well' ? '' : `, \`${clip(check.name, BRIEFLY.name)}\` ran well`;
  return `edited ${names.join(', ')}${more}${passed}`;
}

/** The program file that was edited last. */
function lastEdited(files: readonly FileTrail[]): FileTrail | undefined {
  const code = files.filter(({ path, isRestored, lastEditPosition }) => {
    return lastEditPosition >= 0 && !isRestored && !PROSE.test(path);
  });
  return code.toSorted((a, b) => a.lastEditPosition - b.lastEditPosition).at(-1);
}

/** Full checks of which only parts have succeeded since: the success of a part says nothing about the rest. */
function unrepeated(
  commands: readonly CommandRun[],
  since: readonly CommandRun[],
  { name: length }: CheckDetail,
): string {
  const ran = new Set(since.flatMap(({ command }) => checksIn(command)));
  const well = since
    .filter(({ failed, isHidden }) => !failed && !isHidden)
    .flatMap(({ command }) => checksIn(command));
  if (well.length === 0) return '';
  const wholes = commands
    .filter(({ position }) => position < (since[0]?.position ?? 0))
    .flatMap(({ command }) => checksIn(command))
    .filter((whole) => well.some((part) => isPartOf(part, whole)) && !ran.has(whole));
  const whole = wholes.at(-1);
  return whole === undefined ? '' : `, but not all of \`${clip(whole, length)}\` was run`;
}

/** A check with its last result. */
interface Check {
  readonly name: string;
  readonly went: 'well' | 'failed' | 'unknown';
  readonly cause: string;
}

/** The checks among some runs, the newest of each; failed ones first, then by age, newest first. */
function newestChecks(runs: readonly CommandRun[]): Check[] {
  const newest = new Map<string, Check>();
  for (const { command, failed, isHidden, outcomeLines: telling } of runs) {
    const name = checksIn(command).join(' && ');
    if (name === '') continue;
    newest.delete(name);
    const went = failed ? 'failed' : isHidden ? 'unknown' : 'well';
    newest.set(name, { name, went, cause: oneLine(telling[0] ?? '') });
  }
  // A misspelled command checked nothing.
  for (const { command, failed, outcomeLines: telling } of runs)
    if (failed && isMisspelled(telling)) newest.delete(checksIn(command).join(' && '));
  return [...newest.values()]
    .toReversed()
    .toSorted((a, b) => Number(b.went === 'failed') - Number(a.went === 'failed'));
}

function listedChecks(checks: readonly Check[], { name: length, cause: room }: CheckDetail): string {
  const named = (way: Check['went'], end: string): string[] => {
    const names = checks.filter(({ went }) => went === way).map(({ name }) => `\`${clip(name, length)}\``);
    return names.length === 0 ? [] : [`${names.join(' and ')} ${end}`];
  };
  const failed = checks
    .filter(({ went }) => went === 'failed')
    .map(({ name, cause }) => {
      const why = room === 0 || cause === '' ? '' : `: ${clip(cause, room)}`;
      return `\`${clip(name, length)}\` failed${why}`;
    });
  const unknown = named('unknown', 'ran through a filter, with what status nobody was told');
  return [...failed, ...named('well', 'ran well'), ...unknown].join('; ');
}
