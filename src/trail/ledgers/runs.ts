// The commands that were run, and their outcomes.

import { shownWords } from '../outputs/command-text.ts';
import { FailureLedger } from './failures.ts';
import { isStatusHidden, printsFailure } from '../outputs/hidden-status.ts';
import { outcomeLinesOf } from '../outputs/outputs.ts';
import { isCheck } from '../../shell/runners.ts';
import { clip, detached, ELLIPSIS, oneLine } from '../../text/sentences.ts';
import { joinPath } from '../../shell/scripts.ts';
import { scriptRows } from '../../shell/script-rows.ts';
import type { LogMoment } from './files.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';
import type { CommandRun, Failure } from '../trail.ts';

const MAX_RUNS = 240;
/** A command is shown on one line of at most this many characters. */
const COMMAND_LENGTH = 200;

/** Programs that inspect, print or filter: their failures mean little, and they do not identify a kind of work. */
const LOOKING = new Set([
  'cd',
  'echo',
  'printf',
  'cat',
  'head',
  'tail',
  'ls',
  'pwd',
  'grep',
  'rg',
  'sed',
  'awk',
  'sort',
  'uniq',
  'wc',
  'find',
  'true',
  'false',
  'test',
  '[',
  'sleep',
  'read',
  'tee',
  'nl',
  'which',
  'command',
  'export',
  'set',
  ':',
  'xargs',
  'cut',
  'tr',
  'diff',
  'jq',
  'tree',
  'stat',
  'file',
  'less',
  'source',
  '.',
]);

/** Git verbs that only inspect. */
const LOOKING_GIT = new Set([
  'status',
  'diff',
  'log',
  'show',
  'blame',
  'grep',
  'ls-files',
  'ls-tree',
  'ls-remote',
  'rev-parse',
  'rev-list',
  'remote',
  'describe',
  'merge-base',
  'cat-file',
  'reflog',
]);

function isLooking({ words }: SimpleCommand): boolean {
  const [program = ''] = words;
  if (program !== 'git') return LOOKING.has(program);
  const at = words.findIndex(
    (word, place) =>
      place > 0 && !word.startsWith('-') && words[place - 1] !== '-C' && words[place - 1] !== '-c',
  );
  const verb = at < 0 ? 'status' : (words[at] ?? '');
  const rest = at < 0 ? '' : words.slice(at + 1).join(' ');
  return LOOKING_GIT.has(verb) || LISTING_GIT.get(verb)?.test(rest) === true;
}

/** For git verbs that inspect or change: how the arguments of the inspecting form begin. */
const LISTS =
  /^(?:$|(?:-[alrv]+|--(?:all|list|remotes|contains|no-contains|merged|no-merged|points-at|show-current|verbose|sort\S*|format\S*))(?: |$))/;
const LISTING_GIT: ReadonlyMap<string, RegExp> = new Map([
  ['branch', LISTS],
  ['tag', LISTS],
  ['stash', /^(?:list|show)\b/],
  ['worktree', /^list\b/],
  ['config', /^(?:--(?:get\S*|list)|-l|get|list)(?: |$)/],
]);

/** Whether a command does work, rather than read files or filter text. */
export function isWork(simple: readonly SimpleCommand[]): boolean {
  return !simple.every(isLooking);
}

/** Options that only control the amount or form of the output, or how soon a run stops. */
const PRINTING =
  /^(?:--|-[qvsx]+|--?(?:quiet|verbose|silent|(?:no-)?colou?rs?|tb|watch|count|reporter|maxfail|bail|no-header|disable-warnings|show-capture|durations)(?:=.*)?)$/;
/** Characters of one command that are compared. */
const COMPARED_LENGTH = 600;

/** The working commands of a script in full, without words that only control the output. */
function partsOf(command: string, simple: readonly SimpleCommand[]): string[] {
  const work = simple.filter((one) => !isLooking(one));
  if (work.length === 0) return [clip(oneLine(command), COMPARED_LENGTH)];
  return work.map((one) =>
    wordsOf(one)
      .filter((word) => !PRINTING.test(word))
      .join(' ')
      .slice(0, COMPARED_LENGTH),
  );
}

/** Variables that only control the form of an output. */
const LOOKS = /^(?:NO_COLOR|FORCE_COLOR|CLICOLOR\w*|TERM|COLUMNS|PAGER|GIT_PAGER|LESS)=/;
/** Variables whose values are secret, and values that are long but say little. */
const SECRET = /^(?=\w*(?:KEY|TOKEN|SECRET|PASS|PWD|CRED|AUTH))(\w+)=.*$/is;
const SECRETS = /\b(?=\w*(?:KEY|TOKEN|SECRET|PASS|PWD|CRED|AUTH))(\w+)=(?:"[^"]*"|'[^']*'|[^\s"']+)/gi;
const VALUE_LENGTH = 40;

/** The words of a command after the variables set for it. */
function wordsOf({ assignments, words: bare, given }: SimpleCommand): readonly string[] {
  const words = given === undefined ? bare : [given, ...bare.slice(1)];
  if (assignments.length === 0) return words;
  const set = assignments
    .filter((word) => !LOOKS.test(word))
    .map((word) => (SECRET.test(word) ? word.replace(SECRET, `$1=${ELLIPSIS}`) : clip(word, VALUE_LENGTH)));
  return [...set, ...words];
}

/**
 * The working parts of a command on one line: without `cd`, output filters and redirections, joined as before. A script with
 * conditions is shown as written.
 */
export function workOf(command: string, simple: readonly SimpleCommand[]): string {
  const work = simple.filter((one) => !isLooking(one));
  if (work.length === 0) return clip(oneLine(command), COMMAND_LENGTH);
  if (work.length > 1 && work.some(({ joint }) => joint === 'inner'))
    return clip(oneLine(writtenAs(command)), COMMAND_LENGTH);
  let text = '';
  let joint = '';
  const room = roomOfEach(work);
  for (const one of simple) {
    joint = looser(joint, one.joint);
    if (isLooking(one)) continue;
    const part = clip(shownWords(wordsOf(one)).map(shown).join(' '), room);
    text = text === '' ? part : `${text}${JOINTS.get(joint) ?? ' '}${part}`;
    joint = '';
  }
  return clip(oneLine(text), COMMAND_LENGTH);
}

/** Up to this many similar commands of a script on different targets, each is shown. */
const MOST_EQUAL = 3;

/** Characters for each command: if a script does the same to several targets, no target may be cut off. */
function roomOfEach(work: readonly SimpleCommand[]): number {
  const kinds = new Set(work.map(({ words }) => words.slice(0, 2).join(' ')));
  if (work.length < 2 || work.length > MOST_EQUAL || kinds.size > 1) return COMMAND_LENGTH;
  return Math.floor(COMMAND_LENGTH / work.length) - 2;
}

/** How joints are written, the loosest last. */
const JOINTS: ReadonlyMap<string, string> = new Map(Object.entries({ '|': ' | ', '&&': ' && ', ';': '; ' }));
const LOOSENESS = [...JOINTS.keys()];

/** The looser of two joints around something that is omitted. */
function looser(one: string, other: string): string {
  return LOOSENESS.indexOf(other) >= LOOSENESS.indexOf(one) ? other : one;
}

/** The commands of a script as written, without comments and a leading `cd`. */
function writtenAs(script: string): string {
  const { commands } = scriptRows(script);
  return withoutComments(commands)
    .replace(/^\s*cd \S{1,300} *(?:&&|;|\n)\s*/, '')
    .replaceAll(SECRETS, (_, name: string) => `${name}=${ELLIPSIS}`);
}

/** Rows without comments and without the empty rows above a comment. */
function withoutComments(script: string): string {
  const kept: string[] = [];
  for (const row of script.split('\n')) {
    if (!row.trimStart().startsWith('#')) kept.push(row);
    else while (kept.at(-1)?.trim() === '') kept.pop();
  }
  return kept.join('\n');
}

function shown(word: string): string {
  const text = clip(oneLine(word), 100);
  return /[\s"'$&|;<>()]/.test(text) || text === '' ? JSON.stringify(text) : text;
}

/** A finished command. */
export interface FinishedRun {
  readonly parts: readonly string[];
  readonly command: string;
  /** Where it ran, if the call or its script says so. */
  readonly directory: string | undefined;
  readonly isEscalated: boolean;
  readonly exitCode: number | undefined;
  readonly failed: boolean;
  readonly outcomeLines: readonly string[];
  readonly output: string;
  /** It appears to have succeeded, but the status of its checks, or of its work if it has no checks, is unknown. */
  readonly isHidden: boolean;
}

/** A script that has finished. */
export interface EndedScript {
  readonly command: string;
  readonly simple: readonly SimpleCommand[];
  readonly isEscalated: boolean;
  readonly directory: string | undefined;
  readonly output: string;
  readonly exitCode: number | undefined;
  readonly failed: boolean;
}

/** What is kept of a finished script. */
export function finishedRun(ended: EndedScript): FinishedRun {
  const { command, simple, output, failed, directory, isEscalated, exitCode } = ended;
  return {
    parts: partsOf(command, simple),
    command: workOf(command, simple),
    directory,
    isEscalated,
    exitCode,
    failed,
    outcomeLines: outcomeLinesOf(output, failed),
    output,
    isHidden: !failed && isStatusHidden(judgedOf(simple), { script: command, simple, output }),
  };
}

/** The commands that decide whether a script succeeded: its checks, or all its work if it has none. */
function judgedOf(simple: readonly SimpleCommand[]): readonly SimpleCommand[] {
  const work = simple.filter((one) => !isLooking(one));
  const checks = work.filter(isChecking);
  return checks.length === 0 ? work : checks;
}

function isChecking(one: SimpleCommand): boolean {
  return isCheck(wordsOf(one).join(' '));
}

/** Whether a script printed a failure status for some of its work: `npm test; echo "exit: $?"`. */
export function hasPrintedFailure(simple: readonly SimpleCommand[], output: string): boolean {
  return printsFailure(
    simple.filter((one) => !isLooking(one)),
    { simple, output },
  );
}

/** Whether a run checked something with an unknown result. */
export function isUnclear({ parts, isHidden }: Pick<FinishedRun, 'parts' | 'isHidden'>): boolean {
  return isHidden && parts.some(isCheck);
}

/** Where a script did its work: its last directory, starting from the one that its call names. */
export function workPlace(
  simple: readonly SimpleCommand[],
  directory: string | undefined,
): string | undefined {
  const moved = simple.findLast((one) => !isLooking(one))?.directory;
  return moved === undefined ? directory : joinPath(directory, moved);
}

/** Collects runs and their failures; the limits above bound its memory. */
export class RunLedger {
  #runs: CommandRun[] = [];
  readonly #failures = new FailureLedger();

  add(run: FinishedRun, moment: LogMoment): void {
    const { parts, directory, isEscalated, exitCode, failed, output, isHidden } = run;
    const { turn, position } = moment;
    const outcomeLines = run.outcomeLines.map(detached);
    const command = detached(run.command);
    this.#runs.push({ turn, position, command, exitCode, failed, outcomeLines, isHidden });
    if (this.#runs.length > MAX_RUNS) this.#runs.shift();
    const judged = { parts, directory, isEscalated, command, outcomeLines };
    if (failed) this.#failures.fail(judged, output, moment);
    else if (!isUnclear(run)) this.#failures.pass(judged, output, moment);
  }

  /** A rejected edit is a failure until another edit of the same file succeeds. */
  addRejectedEdit(command: string, outcomeLines: readonly string[], moment: LogMoment): void {
    const place = { directory: undefined, isEscalated: false, exitCode: undefined, isHidden: false };
    this.add({ parts: [command], command, ...place, failed: true, outcomeLines, output: '' }, moment);
  }

  noteEdit(path: string, { position }: LogMoment): void {
    this.#failures.noteEdit(path, position);
  }

  runs(): CommandRun[] {
    return [...this.#runs];
  }

  /** Failures ordered by last occurrence. */
  failures(): Failure[] {
    return this.#failures.list();
  }

  /** Removes the failures of a command: once it succeeds, none of them counts. */
  forget(command: string): void {
    this.#failures.forget(command);
  }
}
