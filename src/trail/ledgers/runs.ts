// Commands that were run, and how they went.

import { toldWords } from '../outputs/command-text.ts';
import { FailureLedger } from './failures.ts';
import { isStatusHidden, printsFailure } from '../outputs/hidden-status.ts';
import { tellingLines } from '../outputs/outputs.ts';
import { isCheck } from '../../shell/runners.ts';
import { clip, detached, ELLIPSIS, oneLine } from '../../text/sentences.ts';
import { joinPath, scriptRows } from '../../shell/scripts.ts';
import type { LogMoment } from './files.ts';
import type { SimpleCommand } from '../../shell/scripts.ts';
import type { CommandRun, Failure } from '../trail.ts';

const MAX_RUNS = 240;
/** A command is shown in one line of this many characters. */
const COMMAND_LENGTH = 200;

/** Programs that look, print or filter: their failures tell nothing and they name no kind of work. */
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

/** Verbs of git that look. */
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

/** Of verbs of git that look or change, how the words begin of those that look. */
const LISTS =
  /^(?:$|(?:-[alrv]+|--(?:all|list|remotes|contains|no-contains|merged|no-merged|points-at|show-current|verbose|sort\S*|format\S*))(?: |$))/;
const LISTING_GIT: ReadonlyMap<string, RegExp> = new Map([
  ['branch', LISTS],
  ['tag', LISTS],
  ['stash', /^(?:list|show)\b/],
  ['worktree', /^list\b/],
  ['config', /^(?:--(?:get\S*|list)|-l|get|list)(?: |$)/],
]);

/** Whether a command does something, rather than look at files or filter text. */
export function isWork(simple: readonly SimpleCommand[]): boolean {
  return !simple.every(isLooking);
}

/** Options that only decide how much is printed, how it looks, or how soon a run stops. */
const PRINTING =
  /^(?:--|-[qvsx]+|--?(?:quiet|verbose|silent|(?:no-)?colou?rs?|tb|watch|count|reporter|maxfail|bail|no-header|disable-warnings|show-capture|durations)(?:=.*)?)$/;
/** Characters of one command by which it is compared. */
const COMPARED_LENGTH = 600;

/** The commands of a script that do something, in all their words but for those that only decide what is printed. */
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

/** Variables that only decide how an output looks. */
const LOOKS = /^(?:NO_COLOR|FORCE_COLOR|CLICOLOR\w*|TERM|COLUMNS|PAGER|GIT_PAGER|LESS)=/;
/** Variables whose values nobody should tell, and values that say little for their length. */
const SECRET = /^(?=\w*(?:KEY|TOKEN|SECRET|PASS|PWD|CRED|AUTH))(\w+)=.*$/is;
const SECRETS = /\b(?=\w*(?:KEY|TOKEN|SECRET|PASS|PWD|CRED|AUTH))(\w+)=(?:"[^"]*"|'[^']*'|[^\s"']+)/gi;
const VALUE_LENGTH = 40;

/** The words of a command behind the variables that are set for it. */
function wordsOf({ assignments, words: bare, given }: SimpleCommand): readonly string[] {
  const words = given === undefined ? bare : [given, ...bare.slice(1)];
  if (assignments.length === 0) return words;
  const set = assignments
    .filter((word) => !LOOKS.test(word))
    .map((word) => (SECRET.test(word) ? word.replace(SECRET, `$1=${ELLIPSIS}`) : clip(word, VALUE_LENGTH)));
  return [...set, ...words];
}

/**
 * The parts of a command that do something, as one line: without `cd`, output filters and redirections, joined as they were. Of
 * what depends on conditions the script is told as it is written.
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
    const part = clip(toldWords(wordsOf(one)).map(shown).join(' '), room);
    text = text === '' ? part : `${text}${JOINTS.get(joint) ?? ' '}${part}`;
    joint = '';
  }
  return clip(oneLine(text), COMMAND_LENGTH);
}

/** Commands of one script up to which each is told that does the same to something else. */
const MOST_EQUAL = 3;

/** Characters of each command: where a script does one thing to several, what it does it to must not be cut off with the rest. */
function roomOfEach(work: readonly SimpleCommand[]): number {
  const kinds = new Set(work.map(({ words }) => words.slice(0, 2).join(' ')));
  if (work.length < 2 || work.length > MOST_EQUAL || kinds.size > 1) return COMMAND_LENGTH;
  return Math.floor(COMMAND_LENGTH / work.length) - 2;
}

/** How joints are written, the loosest last. */
const JOINTS: ReadonlyMap<string, string> = new Map(Object.entries({ '|': ' | ', '&&': ' && ', ';': '; ' }));
const LOOSENESS = [...JOINTS.keys()];

/** Of two joints with something between them that is not told the looser one. */
function looser(one: string, other: string): string {
  return LOOSENESS.indexOf(other) >= LOOSENESS.indexOf(one) ? other : one;
}

/** The commands of a script as written, without comments and the way to where they run. */
function writtenAs(script: string): string {
  const { commands } = scriptRows(script);
  return withoutComments(commands)
    .replace(/^\s*cd \S{1,300} *(?:&&|;|\n)\s*/, '')
    .replaceAll(SECRETS, (_, name: string) => `${name}=${ELLIPSIS}`);
}

/** Rows without those that are comments, and without the empty ones above a comment. */
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

/** One finished command. */
export interface FinishedRun {
  readonly parts: readonly string[];
  readonly command: string;
  /** Where it ran, as far as the call or its script told. */
  readonly directory: string | undefined;
  readonly isEscalated: boolean;
  readonly exitCode: number | undefined;
  readonly failed: boolean;
  readonly telling: readonly string[];
  readonly output: string;
  /** It seems to have gone well, but nobody was told the status of its checks, or of its work where it has none. */
  readonly isHidden: boolean;
}

/** A script whose work has ended. */
export interface EndedScript {
  readonly command: string;
  readonly simple: readonly SimpleCommand[];
  readonly isEscalated: boolean;
  readonly directory: string | undefined;
  readonly output: string;
  readonly exitCode: number | undefined;
  readonly failed: boolean;
}

/** What is remembered of a script whose work has ended. */
export function finishedRun(ended: EndedScript): FinishedRun {
  const { command, simple, output, failed, directory, isEscalated, exitCode } = ended;
  return {
    parts: partsOf(command, simple),
    command: workOf(command, simple),
    directory,
    isEscalated,
    exitCode,
    failed,
    telling: tellingLines(output, failed),
    output,
    isHidden: !failed && isStatusHidden(judgedOf(simple), { script: command, simple, output }),
  };
}

/** The commands of a script by which it is judged: its checks, or all its work where it has none. */
function judgedOf(simple: readonly SimpleCommand[]): readonly SimpleCommand[] {
  const work = simple.filter((one) => !isLooking(one));
  const checks = work.filter(isChecking);
  return checks.length === 0 ? work : checks;
}

function isChecking(one: SimpleCommand): boolean {
  return isCheck(wordsOf(one).join(' '));
}

/** Whether a script printed the status of some of its work, and that was no success: `npm test; echo "exit: $?"`. */
export function hasPrintedFailure(simple: readonly SimpleCommand[], output: string): boolean {
  return printsFailure(
    simple.filter((one) => !isLooking(one)),
    { simple, output },
  );
}

/** Whether a run checked something, and nobody knows with what result. */
export function isUnclear({ parts, isHidden }: Pick<FinishedRun, 'parts' | 'isHidden'>): boolean {
  return isHidden && parts.some(isCheck);
}

/** Where the work of a script was done: where it went, from the directory that its call names. */
export function workPlace(
  simple: readonly SimpleCommand[],
  directory: string | undefined,
): string | undefined {
  const moved = simple.findLast((one) => !isLooking(one))?.directory;
  return moved === undefined ? directory : joinPath(directory, moved);
}

/** Collects runs and what failed among them; memory is bounded by the limits above. */
export class RunLedger {
  #runs: CommandRun[] = [];
  readonly #failures = new FailureLedger();

  add(run: FinishedRun, moment: LogMoment): void {
    const { parts, directory, isEscalated, exitCode, failed, output, isHidden } = run;
    const { turn, position } = moment;
    const telling = run.telling.map(detached);
    const command = detached(run.command);
    this.#runs.push({ turn, position, command, exitCode, failed, telling, isHidden });
    if (this.#runs.length > MAX_RUNS) this.#runs.shift();
    const judged = { parts, directory, isEscalated, command, telling };
    if (failed) this.#failures.fail(judged, output, moment);
    else if (!isUnclear(run)) this.#failures.pass(judged, output, moment);
  }

  /** An edit that was refused is a failure of that edit, as long as no other of the same file was made. */
  addRefusedEdit(command: string, telling: readonly string[], moment: LogMoment): void {
    const place = { directory: undefined, isEscalated: false, exitCode: undefined, isHidden: false };
    this.add({ parts: [command], command, ...place, failed: true, telling, output: '' }, moment);
  }

  noteEdit(path: string, { position }: LogMoment): void {
    this.#failures.noteEdit(path, position);
  }

  runs(): CommandRun[] {
    return [...this.#runs];
  }

  /** Failures in the order of their last occurrence. */
  failures(): Failure[] {
    return this.#failures.list();
  }

  /** Forgets what failed of a command: nothing of it is left once it went through. */
  forget(command: string): void {
    this.#failures.forget(command);
  }
}
