// Follows calls from start to result and records what each one did.

import { isRejectedEdit } from './calls/actions.ts';
import { excerpt } from './trail-state.ts';
import type { TrailState } from './trail-state.ts';
import { isEdit } from './calls/calls.ts';
import type { CallMeaning } from './calls/calls.ts';
import { changedRows } from './calls/changes.ts';
import { CommandResults } from './command-results.ts';
import { DueCalls } from './due-calls.ts';
import type { DueCall } from './due-calls.ts';
import { FileResults } from './file-results.ts';
import type { Quotable } from '../text/identifiers/identifiers.ts';
import { isWrapped, looksFailed, outcomeOf, refusalIn } from './outputs/outputs.ts';
import type { ToolOutcome } from './outputs/outputs.ts';
import { beginningOf } from './phrases.ts';
import type { CallView } from '../protocol/item.ts';
import { redact } from '../text/redact.ts';
import { SILENT_REFUSAL } from './talk/requests.ts';
import { isWork } from './ledgers/runs.ts';
import { clip, clippedLine, detached, oneLine } from '../text/sentences.ts';
import { gitCommandOf } from '../shell/git-commands.ts';
import { scriptRows } from '../shell/script-rows.ts';
import type { SimpleCommand } from '../shell/scripts.ts';
import { onlyReads } from './outputs/shown-files.ts';
import type { Talk } from './talk/talk.ts';
import type { Action } from './trail.ts';
import type { LineRange } from '../shell/file-actions.ts';

/** Shown for a call that is still running and has printed nothing so far. */
const RUNNING = '(still running)';
/** Characters of an edit's changes shown with the newest calls. */
const CHANGED_LENGTH = 1_200;
const MAX_ABOUT_LENGTH = 240;
const STARTED_LENGTH = 160;
/** Characters of a call shown with its result. */
export const CALL_LENGTH = 160;
/** Characters of it that are read before its paths are shortened. */
const READ_CALL = 2_000;

/** Records what calls do. */
export class Results {
  readonly due = new DueCalls();
  readonly #state: TrailState;
  readonly #talk: Talk;
  readonly #files: FileResults;
  readonly #commands: CommandResults;

  constructor(state: TrailState, talk: Talk) {
    this.#state = state;
    this.#talk = talk;
    this.#files = new FileResults(state);
    this.#commands = new CommandResults(state, this.due);
  }

  /** @param quoted the text that describes the call, if it may be quoted */
  start(
    { name, callId }: Pick<CallView, 'name' | 'callId'>,
    meaning: CallMeaning,
    quoted: string | undefined,
  ): void {
    const moment = this.#state.moment;
    this.#state.hasPast = true;
    this.#talk.noteCall();
    this.#state.steps.noteCall();
    this.#state.place.noteCall(meaning, this.#state.cwd);
    const quotable = quoted === undefined ? undefined : this.#state.quotable('call', quoted);
    this.#noteCall(meaning, quotable);
    if (meaning.plan !== undefined) this.#state.plan.add(meaning.plan, moment);
    if (meaning.plan?.type === 'add') this.#state.items.noteTasks();
    if (callId === undefined) {
      for (const file of meaning.files) this.#files.add(file, moment);
      return;
    }
    const about = isDescribedByText(meaning)
      ? detached(clippedLine(meaning.text.slice(0, MAX_ABOUT_LENGTH), MAX_ABOUT_LENGTH / 2))
      : '';
    this.due.add(callId, { meaning: withoutText(meaning), name, about, quotable, moment });
  }

  /** The commands of a script may be quoted, but not the texts passed to them. */
  #noteCall({ command, text }: CallMeaning, quotable: Quotable | undefined): void {
    const { commands, texts } =
      command?.includes('\n') === true ? scriptRows(text) : { commands: text, texts: '' };
    this.#state.note(excerpt(commands), 'call', quotable);
    if (texts !== '') this.#state.note(excerpt(texts), 'call');
  }

  /** @param logged the outcome of the call according to the log */
  finish(callId: string, result: string, logged: { success?: boolean; exit_code?: number }): void {
    const due = this.due.take(callId);
    const outcome = outcomeOf(result);
    this.#state.note(isWrapped(result) ? outcome.text : excerpt(result), 'result');
    if (due === undefined) return;
    if (due.meaning.questions !== undefined) {
      this.#state.requests.answer(due.meaning.questions.join(' '), outcome.text);
      this.#state.requests.addConstraints(outcome.text);
      return;
    }
    const refusal = refusalIn(result);
    if (refusal !== undefined) {
      this.#noteRejection(due, refusal);
      return;
    }
    const exitCode = logged.exit_code ?? outcome.exitCode;
    const failed = hasFailed(due.meaning, { text: outcome.text, exitCode }, logged.success);
    const { processId } = outcome;
    const text = processId !== undefined && outcome.text.trim() === '' ? RUNNING : outcome.text;
    const finished = { text, exitCode, processId, isKnownWell: logged.success === true };
    this.#openStep(due, { text, failed, processId });
    this.#quoteOutcome(due, text);
    this.#state.place.noteOutput(due.meaning, outcome.text, { root: this.#state.cwd, failed });
    if (!failed) for (const file of due.meaning.files) this.#state.plan.addFile(file, due.moment);
    this.#files.finishEdit(due, outcome.text, failed);
    this.#files.finishFiles(due, outcome.text, failed);
    this.#commands.finish(due, finished, failed);
    this.#state.steps.close();
  }

  /** If the call, or the one whose process it polls, is quoted, so is its outcome. */
  #quoteOutcome({ meaning, quotable }: DueCall, text: string): void {
    const started = this.due.running(meaning.processId);
    if (started?.quotable !== undefined && text !== RUNNING) started.quotable.outcome = beginningOf(text);
    if (quotable === undefined) return;
    quotable.outcome = beginningOf(text, onlyReads(meaning));
    if (isReport(meaning)) this.#state.steps.quoteReport(quotable);
  }

  /** A call that the user rejects has not failed; the user's comment on it counts as a user message. */
  #noteRejection({ meaning, name }: DueCall, comment: string): void {
    const what = meaning.command ?? meaning.files.map(({ path }) => this.#state.relative(path)).join(', ');
    const words = redact(comment);
    this.#state.requests.answer(
      `May I ${name}: ${what}?`,
      words === '' ? SILENT_REFUSAL : `no: ${words}`,
      meaning.files.length > 0 ? this.#talk.messagePosition : undefined,
    );
    this.#state.requests.addConstraints(words);
  }

  #openStep(
    { meaning, name, about, moment }: DueCall,
    {
      text,
      failed,
      processId,
    }: { readonly text: string; readonly failed: boolean } & Pick<ToolOutcome, 'processId'>,
  ): void {
    this.#state.steps.noteResult();
    if (meaning.plan !== undefined) return;
    const file = meaning.files[0];
    const script = this.#scriptOf(meaning);
    const object = file === undefined ? about : `${this.#state.relative(file.path)}${rangeText(file.range)}`;
    const shownCall = script === undefined ? `${name} ${object}`.trimEnd() : this.#withoutWay(script);
    const made = clippedLine(this.#withoutRoot(shownCall.slice(0, READ_CALL)), CALL_LENGTH);
    // Its output so far would otherwise read as complete.
    const call = detached(
      processId === undefined || text === RUNNING ? made : `${made} (still running, session ${processId})`,
    );
    // A failed edit tool changed nothing; a failed script may have written before it failed.
    const isMade = !failed || meaning.command !== undefined;
    const rows = isMade ? changedRows(meaning.files, CHANGED_LENGTH) : undefined;
    const changed = rows === undefined ? undefined : detached(rows);
    const isRead = onlyReads(meaning);
    const report = !isReport(meaning) ? 'none' : showsLines(meaning) ? 'lines' : 'files';
    const readPaths = isRead ? meaning.files.map(({ path }) => detached(this.#state.relative(path))) : [];
    this.#state.steps.open({ moment, call, changed, isRead, readPaths, report }, text);
  }

  /** Drops the leading `cd` into the working directory from a script. */
  #withoutWay(script: string): string {
    const way = /^cd (\S{1,300}) *(?:&&|;)\s*/.exec(script);
    return way !== null && this.#state.relative(way[1] ?? '') === '.' ? script.slice(way[0].length) : script;
  }

  /** Makes the paths in a call relative to the working directory. */
  #withoutRoot(call: string): string {
    return this.#state.root === '' ? call : call.replaceAll(`${this.#state.root}/`, '');
  }

  /** The script of a call, including that of the process it writes to. */
  #scriptOf({ command, processId }: CallMeaning): string | undefined {
    return processId === undefined ? command : this.due.running(processId)?.meaning.command;
  }

  /** Calls in the agent's newest step without a result. A message after a call means that the call was interrupted. */
  started(): Action[] {
    return this.due
      .all()
      .filter(
        ({ moment, meaning }) => moment.position > this.#talk.messagePosition && meaning.plan === undefined,
      )
      .map(({ meaning, name, about, moment }) => {
        const object = meaning.command ?? meaning.files[0]?.path ?? about;
        const call = meaning.command === undefined ? `${name} ${object}` : object;
        const text = clip(oneLine(redact(call)), STARTED_LENGTH);
        return { ...moment, call: moment.position, text, times: 1 };
      });
  }
}

/** Whether a call failed, according to the log, its status or, without either, its output. */
function hasFailed(
  meaning: CallMeaning,
  { text, exitCode }: Pick<ToolOutcome, 'text' | 'exitCode'>,
  success: boolean | undefined,
): boolean {
  if (success === false) return true;
  if (exitCode !== undefined) return exitCode !== 0;
  return looksFailed(text) || (isEdit(meaning) && isRejectedEdit(text));
}

/** Whether a call only inspects differences in the work tree. */
function isReport({ simple = [] }: CallMeaning): boolean {
  return !isWork(simple) && simple.some((command) => /^(?:status|diff)$/.test(verbOf(command)));
}

/** Whether it prints the differing lines, which stay informative after further changes; a list of files would mislead. */
function showsLines({ simple = [] }: CallMeaning): boolean {
  return simple.some((command) => verbOf(command) === 'diff' && !command.words.some(isOfNames));
}

function isOfNames(word: string): boolean {
  return /^--(?:stat|shortstat|numstat|name-only|name-status|check|quiet)/.test(word);
}

function verbOf(command: SimpleCommand): string {
  return gitCommandOf(command)?.verb ?? '';
}

/** Whether neither a script nor a file describes the call. */
function isDescribedByText({ command, files }: CallMeaning): boolean {
  return command === undefined && files.length === 0;
}

/** Drops the text of a call that awaits its result; the result needs only its meaning. */
function withoutText(meaning: CallMeaning): CallMeaning {
  return { ...meaning, text: '' };
}

/** Formats a line range as `:10–20` for use after a path. */
function rangeText(range: LineRange | undefined): string {
  return range === undefined ? '' : `:${range.from}–${range.to ?? 'end'}`;
}
