// Calls from their start to their result, and what is written down of each.

import { isRejectedEdit } from './calls/actions.ts';
import { excerpt } from './book.ts';
import type { Book } from './book.ts';
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
import { gitCommandOf, scriptRows } from '../shell/scripts.ts';
import type { SimpleCommand } from '../shell/scripts.ts';
import { onlyLooks } from './outputs/shown.ts';
import type { Talk } from './talk/talk.ts';
import type { Action } from './trail.ts';
import type { LineRange } from '../shell/scripts.ts';

/** What a call shows that runs on and has printed nothing yet. */
const RUNNING = '(still running)';
/** Characters of what an edit changed, when it is told as part of the newest calls. */
const CHANGED_LENGTH = 1_200;
const MAX_ABOUT_LENGTH = 240;
const STARTED_LENGTH = 160;
/** Characters of a call that is told with what came of it. */
export const CALL_LENGTH = 160;
/** Characters of it that are read: paths get shorter. */
const READ_CALL = 2_000;

/** Writes down what calls do. */
export class Results {
  readonly due = new DueCalls();
  readonly #book: Book;
  readonly #talk: Talk;
  readonly #files: FileResults;
  readonly #commands: CommandResults;

  constructor(book: Book, talk: Talk) {
    this.#book = book;
    this.#talk = talk;
    this.#files = new FileResults(book);
    this.#commands = new CommandResults(book, this.due);
  }

  /** @param quoted what tells of the call, where it may be quoted */
  start(
    { name, callId }: Pick<CallView, 'name' | 'callId'>,
    meaning: CallMeaning,
    quoted: string | undefined,
  ): void {
    const moment = this.#book.moment;
    this.#book.hasPast = true;
    this.#talk.noteCall();
    this.#book.steps.noteCall();
    this.#book.place.noteCall(meaning, this.#book.cwd);
    const quotable = quoted === undefined ? undefined : this.#book.quotable('call', quoted);
    this.#noteCall(meaning, quotable);
    if (meaning.plan !== undefined) this.#book.plan.add(meaning.plan, moment);
    if (meaning.plan?.type === 'add') this.#book.items.noteTasks();
    if (callId === undefined) {
      for (const file of meaning.files) this.#files.add(file, moment);
      return;
    }
    const about = isToldByText(meaning)
      ? detached(clippedLine(meaning.text.slice(0, MAX_ABOUT_LENGTH), MAX_ABOUT_LENGTH / 2))
      : '';
    this.due.add(callId, { meaning: withoutText(meaning), name, about, quotable, moment });
  }

  /** Of a script the commands may be quoted, not the texts that they are given. */
  #noteCall({ command, text }: CallMeaning, quotable: Quotable | undefined): void {
    const { commands, texts } =
      command?.includes('\n') === true ? scriptRows(text) : { commands: text, texts: '' };
    this.#book.note(excerpt(commands), 'call', quotable);
    if (texts !== '') this.#book.note(excerpt(texts), 'call');
  }

  /** @param said what the log says of how the call went */
  finish(callId: string, result: string, said: { success?: boolean; exit_code?: number }): void {
    const due = this.due.take(callId);
    const outcome = outcomeOf(result);
    this.#book.note(isWrapped(result) ? outcome.text : excerpt(result), 'result');
    if (due === undefined) return;
    if (due.meaning.questions !== undefined) {
      this.#book.requests.answer(due.meaning.questions.join(' '), outcome.text);
      this.#book.requests.addConstraints(outcome.text);
      return;
    }
    const refusal = refusalIn(result);
    if (refusal !== undefined) {
      this.#noteRefusal(due, refusal);
      return;
    }
    const exitCode = said.exit_code ?? outcome.exitCode;
    const failed = hasFailed(due.meaning, { text: outcome.text, exitCode }, said.success);
    const { processId } = outcome;
    const text = processId !== undefined && outcome.text.trim() === '' ? RUNNING : outcome.text;
    const finished = { text, exitCode, processId, isKnownWell: said.success === true };
    this.#openStep(due, { text, failed, processId });
    this.#quoteOutcome(due, text);
    this.#book.place.noteOutput(due.meaning, outcome.text, { root: this.#book.cwd, failed });
    if (!failed) for (const file of due.meaning.files) this.#book.plan.addFile(file, due.moment);
    this.#files.finishEdit(due, outcome.text, failed);
    this.#files.finishFiles(due, outcome.text, failed);
    this.#commands.finish(due, finished, failed);
    this.#book.steps.close();
  }

  /** Where the call is quoted, or the one whose process it asks for, what came of it is quoted too. */
  #quoteOutcome({ meaning, quotable }: DueCall, text: string): void {
    const started = this.due.running(meaning.processId);
    if (started?.quotable !== undefined && text !== RUNNING) started.quotable.outcome = beginningOf(text);
    if (quotable === undefined) return;
    quotable.outcome = beginningOf(text, onlyLooks(meaning));
    if (isReport(meaning)) this.#book.steps.quoteReport(quotable);
  }

  /** A call that the user refused is no failure of the call; what the user said about it is the user's word. */
  #noteRefusal({ meaning, name }: DueCall, said: string): void {
    const what = meaning.command ?? meaning.files.map(({ path }) => this.#book.relative(path)).join(', ');
    const words = redact(said);
    this.#book.requests.answer(
      `May I ${name}: ${what}?`,
      words === '' ? SILENT_REFUSAL : `no: ${words}`,
      meaning.files.length > 0 ? this.#talk.messagePosition : undefined,
    );
    this.#book.requests.addConstraints(words);
  }

  #openStep(
    { meaning, name, about, moment }: DueCall,
    {
      text,
      failed,
      processId,
    }: { readonly text: string; readonly failed: boolean } & Pick<ToolOutcome, 'processId'>,
  ): void {
    this.#book.steps.noteResult();
    if (meaning.plan !== undefined) return;
    const file = meaning.files[0];
    const script = this.#scriptOf(meaning);
    const object = file === undefined ? about : `${this.#book.relative(file.path)}${rangeText(file.range)}`;
    const told = script === undefined ? `${name} ${object}`.trimEnd() : this.#withoutWay(script);
    const made = clippedLine(this.#withoutRoot(told.slice(0, READ_CALL)), CALL_LENGTH);
    // What it printed so far may read as all there is.
    const call = detached(
      processId === undefined || text === RUNNING ? made : `${made} (still running, session ${processId})`,
    );
    // An edit tool that failed changed nothing; a script may fail late and have written before.
    const isMade = !failed || meaning.command !== undefined;
    const rows = isMade ? changedRows(meaning.files, CHANGED_LENGTH) : undefined;
    const changed = rows === undefined ? undefined : detached(rows);
    const isRead = onlyLooks(meaning);
    const report = !isReport(meaning) ? 'none' : showsLines(meaning) ? 'lines' : 'files';
    const looks = isRead ? meaning.files.map(({ path }) => detached(this.#book.relative(path))) : [];
    this.#book.steps.open({ moment, call, changed, isRead, looks, report }, text);
  }

  /** A script without the way to the working directory, where it would run anyway. */
  #withoutWay(script: string): string {
    const way = /^cd (\S{1,300}) *(?:&&|;)\s*/.exec(script);
    return way !== null && this.#book.relative(way[1] ?? '') === '.' ? script.slice(way[0].length) : script;
  }

  /** A call with its paths told from the working directory. */
  #withoutRoot(call: string): string {
    return this.#book.root === '' ? call : call.replaceAll(`${this.#book.root}/`, '');
  }

  /** The script of a call, that of the process it writes to included. */
  #scriptOf({ command, processId }: CallMeaning): string | undefined {
    return processId === undefined ? command : this.due.running(processId)?.meaning.command;
  }

  /** Calls of the agent's newest step without a result. What a message came after was broken off. */
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

/** Whether a call failed, by what the log says of it, by its status, else by its words. */
function hasFailed(
  meaning: CallMeaning,
  { text, exitCode }: Pick<ToolOutcome, 'text' | 'exitCode'>,
  success: boolean | undefined,
): boolean {
  if (success === false) return true;
  if (exitCode !== undefined) return exitCode !== 0;
  return looksFailed(text) || (isEdit(meaning) && isRejectedEdit(text));
}

/** Whether a call only looks at what differs in the work tree. */
function isReport({ simple = [] }: CallMeaning): boolean {
  return !isWork(simple) && simple.some((command) => /^(?:status|diff)$/.test(verbOf(command)));
}

/** Whether it shows the differing lines, which tell of the work also once more was changed; a list of files misleads. */
function showsLines({ simple = [] }: CallMeaning): boolean {
  return simple.some((command) => verbOf(command) === 'diff' && !command.words.some(isOfNames));
}

function isOfNames(word: string): boolean {
  return /^--(?:stat|shortstat|numstat|name-only|name-status|check|quiet)/.test(word);
}

function verbOf(command: SimpleCommand): string {
  return gitCommandOf(command)?.verb ?? '';
}

/** Whether neither a script nor a file tells what a call was about. */
function isToldByText({ command, files }: CallMeaning): boolean {
  return command === undefined && files.length === 0;
}

/** A call that waits for its result keeps what it means, not what it said. */
function withoutText(meaning: CallMeaning): CallMeaning {
  return { ...meaning, text: '' };
}

/** `:10–20` behind a path. */
function rangeText(range: LineRange | undefined): string {
  return range === undefined ? '' : `:${range.from}–${range.to ?? 'end'}`;
}
