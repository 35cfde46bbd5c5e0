// Folds the records of a log, one at a time, into the structured trail. Memory does not grow with the log: every part
// keeps a bounded extract of its own, and only calls whose results are due are remembered.

import { authorOf, callOf, resultCallId, textOfOutput, textOfParts } from '../protocol/item.ts';
import type { CallView, Item, MessageItem, Origin } from '../protocol/item.ts';
import { withoutMarker } from '../protocol/marker.ts';
import type { CompactedRecord, LogRecord } from '../protocol/record.ts';
import {
  actionCallOf,
  isRejectedEdit,
  observationOf,
  rejectionReason,
  templatedTask,
  textActionOf,
} from './actions.ts';
import type { ActionStyle, EditorPlace } from './actions.ts';
import { askedBy, putsOff } from './answered.ts';
import { ChecklistLedger } from './boxes.ts';
import { meaningOf } from './calls.ts';
import type { CallMeaning, FileAction } from './calls.ts';
import { changedRows } from './changes.ts';
import { DeliveryLedger } from './deliveries.ts';
import { FileLedger } from './files.ts';
import { ItemLedger } from './items.ts';
import { GitLedger } from './git/ledger.ts';
import type { GitRun } from './git/step.ts';
import type { Moment } from './files.ts';
import { IdentifierIndex } from './identifiers.ts';
import type { Mention, Quotable } from './identifiers.ts';
import { isWrapped, looksFailed, outcomeOf, refusalIn, saysFailed } from './outputs.ts';
import type { Outcome } from './outputs.ts';
import { withoutCitations } from './excerpts.ts';
import { Newest } from './newest.ts';
import { beginningOf, otherEnd, phraseOf, quotableOf, quotableScript, resultPhrase } from './phrases.ts';
import { pinsAfter } from './pins.ts';
import type { Pin } from './pins.ts';
import { placeOf, PlaceLedger } from './place.ts';
import { PlanLedger } from './plan.ts';
import { ownWords, RequestLedger, SILENT_REFUSAL } from './requests.ts';
import { redact, redactPrivateKeys } from './redact.ts';
import { backgroundReportOf } from './background.ts';
import { isUndoneByUser } from './reported.ts';
import { finishedRun, isWork, RunLedger, workPlace } from './runs.ts';
import { inDirectory } from './git/words.ts';
import { gitCommandOf, joinPath, scriptRows } from './shell.ts';
import type { GitCommand, SimpleCommand } from './shell.ts';
import {
  clip,
  clipMiddle,
  clippedLine,
  detached,
  endsOf,
  headLines,
  keptOf,
  oneLine,
  proseLines,
} from './sentences.ts';
import { onlyLooks, shownFiles } from './shown.ts';
import { StepLedger } from './steps.ts';
import { announcedStep, closingQuestion, namedList, statementsOf, StatementPool } from './statements.ts';
import type { Action, LineRange, Reply, Statement, Trail } from './trail.ts';

/** What a call shows that runs on and has printed nothing yet. */
const RUNNING = '(still running)';
const MAX_DUE_CALLS = 200;
/** Newest messages of the agent that are kept, in this many characters. */
const MAX_SAID = 24;
const SAID_LENGTH = 2_400;
/** Characters of what an edit changed, when it is told as part of the newest calls. */
const CHANGED_LENGTH = 1_200;
const MAX_ABOUT_LENGTH = 240;
/** Characters of what a harness found wrong with an edit. */
const REASON_LENGTH = 400;
const STARTED_LENGTH = 160;
/** Characters of a call that is told with what came of it. */
const CALL_LENGTH = 160;
/** Characters of it that are read: paths get shorter. */
const READ_CALL = 2_000;
const MAX_CARRIED_LENGTH = 24_000;
/** A command that moves files or has git put them back, which are told as what it did. */
const ONE_FILE_ACT = /^(?:mv|git (?:checkout|restore)) /;

/** Characters of one text that are searched for identifiers, at its head and again at its tail. */
const INDEXED_LENGTH = 24_000;
const TOP_IDENTIFIERS = 3_000;
/** Those of them, the heaviest, that may be told with the line in which they stand. */
const QUOTED_IDENTIFIERS = 1_500;
const CURRENT_STATEMENTS = 14;

/** The model name under which Claude Code files its own placeholders. @source Claude Code session files. */
const SYNTHETIC_MODEL = '<synthetic>';

/** Stands for the id of a call that is written as text: there is one at a time, and the next answer is its result. */
const TEXT_CALL = 'text';

interface DueCall {
  readonly meaning: CallMeaning;
  readonly name: string;
  /** What the call was about, where neither a command nor a file tells: a pattern, a question, an address. */
  readonly about: string;
  /** Where the call is quoted its outcome is told with it. */
  readonly quotable: Quotable | undefined;
  readonly moment: Moment;
}

/**
 * Collects the structured trail of a session over its whole log, every epoch included. Summaries are no evidence of
 * what they sum up and are skipped, but for the one a file starts with: its past is nowhere else.
 */
export class TrailCollector {
  readonly #requests = new RequestLedger();
  readonly #runs = new RunLedger();
  readonly #plan = new PlanLedger();
  readonly #items = new ItemLedger();
  readonly #checklists = new ChecklistLedger();
  readonly #statements = new StatementPool();
  readonly #index = new IdentifierIndex();
  readonly #files = new FileLedger(this.#index);
  readonly #due = new Map<string, DueCall>();
  /** Commands that run on, by the id that later writes name them with. */
  readonly #running = new Map<string, DueCall>();
  readonly #deliveries = new DeliveryLedger();
  readonly #git = new GitLedger(this.#files);
  readonly #steps = new StepLedger();
  readonly #place = new PlaceLedger();
  readonly #said: Reply[] = [];
  readonly #list = new Newest(listIn);
  #calls = 0;
  #position = 0;
  #compactions = 0;
  #cwd: string | undefined;
  #carriedOver: string | undefined;
  #pins: readonly Pin[] = [];
  #lastMessage = '';
  #repliesTo: Reply | undefined;
  /** What the agent asked and the user left open to ask something else first. */
  #putOff: Statement | undefined;
  #newestReply: Reply | undefined;
  readonly #step = new Newest(announcedStep);
  #hasCalledSinceMessage = false;
  /** Where user or agent spoke last. */
  #messagePosition = 0;
  #textActions: ActionStyle | undefined;
  /** Where the editor stands of an agent that writes its commands as text. */
  #editor: EditorPlace = {};
  #hasSubmitted = false;
  /** Whether the log itself tells of anything before now. */
  #hasPast = false;

  /** Takes the next record of the log in. */
  add(record: LogRecord): void {
    switch (record.type) {
      case 'session_meta':
      case 'settings':
        this.#cwd = record.cwd?.replace(/\/$/, '') ?? this.#cwd;
        // Amid a rebase a file names no branch but HEAD.
        if (
          record.type === 'session_meta' &&
          (record.gitBranch ?? 'HEAD') !== 'HEAD' &&
          this.#cwd !== undefined
        )
          this.#place.noteBranch(this.#cwd, record.gitBranch ?? '');
        if (record.type === 'session_meta') this.#textActions = record.textActions ?? this.#textActions;
        return;
      case 'item':
        this.#addItem(record.item);
        return;
      case 'compacted':
        this.#addCompaction(record);
        return;
      case 'note':
        this.#pins = pinsAfter(this.#pins, record);
        return;
      default:
    }
  }

  /** The trail so far; the collector can go on afterwards. */
  trail(): Trail {
    const turn = this.#requests.turn;
    const workedIn = this.#place.directory === this.#cwd ? undefined : this.#place.directory;
    const statements = this.#statements.statements();
    const isAgentDone = this.#lastMessage !== '' && !this.#hasCalledSinceMessage && !this.#steps.hasUnread;
    const now = statements.filter((statement) => statement.turn === turn);
    return {
      cwd: this.#cwd,
      gitBranch: this.#cwd === undefined ? undefined : this.#place.branchOf(this.#cwd),
      workedIn,
      workedInBranch: workedIn === undefined ? undefined : this.#place.branchOf(workedIn),
      turns: turn,
      compactions: this.#compactions,
      requests: this.#requests.requests(),
      requestsDropped: this.#requests.dropped,
      constraints: this.#requests.constraints(),
      pins: this.#pins,
      answers: this.#requests.answers(),
      plan: this.#plan.plan(),
      items: this.#items.list(turn),
      checklist: this.#checklists.newest(turn),
      files: this.#files.files(),
      removed: this.#files.removed(),
      missing: this.#files.missing(),
      commands: this.#runs.runs(),
      failures: this.#runs.failures(),
      commits: this.#git.commits(),
      tree: this.#git.state(workedIn === undefined ? undefined : this.#relative(workedIn)),
      landmarks: this.#deliveries.landmarks(),
      statements,
      // Who calls a tool behind a question does not wait for an answer.
      openQuestions: [
        ...(this.#putOff === undefined ? [] : [this.#putOff]),
        ...(this.#hasCalledSinceMessage ? [] : openQuestions(now, this.#lastMessage)),
      ],
      current: {
        statements: statements.filter((statement) => statement.turn >= turn - 1).slice(-CURRENT_STATEMENTS),
        actions: this.#steps.actions(),
        tail: this.#steps.tail(this.#root),
        unread: this.#steps.unread(this.#root),
        started: this.#started(),
        said: this.#said.map(clippedReply),
        newestList: this.#list.found,
        calls: this.#calls,
        repliesTo: this.#repliesTo,
        newestReply: this.#newestReply,
        isAgentDone,
      },
      // What a finished agent had announced before its last message is done.
      nextStep: isAgentDone ? announcedStep(this.#lastMessage) : this.#step.found,
      identifiers: this.#index.top(TOP_IDENTIFIERS, QUOTED_IDENTIFIERS),
      carriedOver: this.#carriedOver,
    };
  }

  /** Calls of the agent's newest step without a result. What a message came after was broken off. */
  #started(): Action[] {
    return [...this.#due.values()]
      .filter(({ moment, meaning }) => moment.position > this.#messagePosition && meaning.plan === undefined)
      .map(({ meaning, name, about, moment }) => {
        const object = meaning.command ?? meaning.files[0]?.path ?? about;
        const call = meaning.command === undefined ? `${name} ${object}` : object;
        const text = clip(oneLine(redact(call)), STARTED_LENGTH);
        return { ...moment, call: moment.position, text, times: 1 };
      });
  }

  get #moment(): Moment {
    return { turn: this.#requests.turn, position: this.#position };
  }

  #addItem(item: Item): void {
    // What an answer holds besides its text stands half a place behind it.
    this.#position = Math.floor(this.#position) + 1;
    if (item.type === 'message') {
      this.#addMessage(item);
      return;
    }
    if (item.type === 'attachment') {
      this.#addReport(item.text);
      return;
    }
    const call = callOf(item);
    if (call !== undefined) this.#addCall(call);
    else if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      this.#addResult(item.call_id, textOfOutput(item.output), item);
    } else {
      const callId = resultCallId(item);
      if (callId !== undefined) this.#due.delete(callId);
    }
  }

  #addMessage(message: MessageItem): void {
    if (message.isApiErrorMessage === true || message.model === SYNTHETIC_MODEL) return;
    const text = textOfParts(message.content);
    if (message.isCompactSummary === true) {
      this.#carryOver(text);
      return;
    }
    if (text.trim() === '') return;
    if (message.origin?.author === 'synthetic') this.#addSynthetic(message.origin, text);
    else if (message.role === 'assistant') this.#addAnswer(text);
    else if (message.role === 'user' && authorOf(message) === 'user') this.#addUserText(text);
    else if (message.role === 'user' && this.#textActions !== undefined) this.#addObservation(text);
    else if (message.role === 'user' && !this.#addReport(text))
      this.#requests.noteInstructions(text, this.#position);
  }

  /** What ran in the background ended: news to the agent, though it called nothing. False for any other text. */
  #addReport(text: string): boolean {
    const report = backgroundReportOf(text);
    if (report === undefined) return false;
    const { summary, result } = report;
    this.#note(excerpt(result), 'result');
    const call = detached(redact(clip(summary, CALL_LENGTH)));
    const step = { moment: this.#moment, call, changed: undefined, isRead: false, looks: [] };
    this.#steps.open({ ...step, report: 'none' }, result);
    this.#steps.noteResult();
    this.#steps.close();
    return true;
  }

  #addAnswer(text: string): void {
    const style = this.#textActions;
    if (style === undefined) {
      this.#addAgentText(text);
      return;
    }
    const { said, script, isSubmission } = textActionOf(text, style);
    if (said !== '') this.#addAgentText(said);
    this.#hasSubmitted = isSubmission;
    if (script === undefined) return;
    this.#position += 0.5;
    const { name, meaning, quotable } = actionCallOf(script, style, this.#editor);
    const quoted = quotable === undefined ? undefined : quotableScript(quotable);
    this.#startCall({ name, callId: TEXT_CALL }, meaning, quoted);
  }

  /** What the harness says to an agent that writes its commands as text. */
  #addObservation(answer: string): void {
    const { text, exitCode, editor } = observationOf(answer);
    if (editor.directory !== undefined) this.#editor = editor;
    const due = this.#due.get(TEXT_CALL);
    if (due === undefined) {
      // An answer without a command that would be run is sent back.
      const isSentBack = this.#lastMessage !== '' && !this.#hasSubmitted;
      this.#hasCalledSinceMessage ||= isSentBack;
      if (isSentBack) this.#noteSentBack();
      return;
    }
    const hasFailed =
      due.meaning.command === undefined
        ? isRejectedEdit(text)
        : exitCode === undefined && (looksFailed(text) || saysFailed(text));
    this.#addResult(
      TEXT_CALL,
      text,
      exitCode === undefined ? { success: !hasFailed } : { exit_code: exitCode },
    );
  }

  /** Nothing of an answer ran that the harness sent back: its code is no change of anything. */
  #noteSentBack(): void {
    const last = this.#said.at(-1);
    if (last?.position !== this.#position - 1) return;
    const prose = proseLines(last.text).join('\n');
    this.#said[this.#said.length - 1] = { ...last, text: prose };
    if (this.#newestReply?.position === last.position) this.#newestReply = { ...last, text: prose };
    this.#steps.act('answered in a way that the harness sent back: nothing of it ran', this.#moment);
  }

  /** What Baton said is no evidence of the work, but for a packet whose past is not in the log. */
  #addSynthetic({ step }: Origin, text: string): void {
    if (step === 'packet' || step === 'handoff') this.#carryOver(withoutMarker(text));
  }

  #addUserText(text: string): void {
    const words = redact(ownWords(text) ?? '');
    if (words === '') return;
    const isTemplated = this.#textActions !== undefined && this.#requests.turn === 0;
    const { task: own, template } = isTemplated ? templatedTask(words) : { task: words, template: '' };
    this.#hasPast = true;
    const asked = this.#hasCalledSinceMessage ? undefined : askedBy(this.#lastMessage, own);
    const question = putsOff(own) ? undefined : asked;
    this.#putOff = undefined;
    if (asked !== undefined && putsOff(own))
      this.#putOff = { kind: 'question', ...this.#moment, text: asked };
    this.#messagePosition = this.#position;
    const isAnswered = this.#lastMessage !== '' && !this.#hasCalledSinceMessage;
    if (isUndoneByUser(own))
      for (const path of this.#requests.edited)
        this.#files.restore(path, this.#moment, { since: -1, isUndone: () => false });
    this.#requests.add(own, { position: this.#position, question, isAnswered });
    if (template !== '') this.#requests.addTemplateRules(template);
    this.#note(excerpt(own), 'user', this.#quotable('user', detached(own)));
    this.#items.addRequest(own, this.#requests.turn, this.#newestReply);
    this.#repliesTo = this.#newestReply ?? this.#repliesTo;
    this.#newestReply = undefined;
    this.#calls = 0;
    this.#lastMessage = '';
    this.#step.clear();
    this.#deliveries.addGivenLinks(own);
  }

  #addAgentText(said: string): void {
    const text = redact(withoutCitations(said));
    this.#hasPast = true;
    this.#messagePosition = this.#position;
    this.#statements.add(statementsOf(text, this.#moment));
    this.#note(excerpt(text), 'agent', this.#quotable('agent', text));
    this.#requests.noteMessage(text);
    this.#items.addAnswer(text, this.#requests.turn);
    this.#lastMessage = keptOf(text, text.slice(-6_000));
    const { turn, position } = this.#moment;
    const reply = { turn, position, text: this.#lastMessage };
    this.#newestReply = reply;
    this.#steps.noteMessage();
    this.#list.add(reply);
    this.#said.push(reply);
    if (this.#said.length > MAX_SAID) this.#said.shift();
    this.#step.add(this.#lastMessage);
    this.#hasCalledSinceMessage = false;
    this.#deliveries.addLinks(text, this.#requests.turn);
  }

  #addCall(call: CallView): void {
    const meaning = meaningOf(call);
    this.#startCall(call, meaning, quotableOf(call, meaning));
  }

  /** @param quoted what tells of the call, where it may be quoted */
  #startCall(
    { name, callId }: Pick<CallView, 'name' | 'callId'>,
    meaning: CallMeaning,
    quoted: string | undefined,
  ): void {
    const moment = this.#moment;
    this.#hasCalledSinceMessage = true;
    this.#hasPast = true;
    this.#calls++;
    this.#steps.noteCall();
    this.#place.noteCall(meaning, this.#cwd);
    const quotable = quoted === undefined ? undefined : this.#quotable('call', quoted);
    this.#noteCall(meaning, quotable);
    if (meaning.plan !== undefined) this.#plan.add(meaning.plan, moment);
    if (meaning.plan?.type === 'add') this.#items.noteTasks();
    if (callId === undefined) {
      for (const file of meaning.files) this.#addFile(file, moment);
      return;
    }
    const about = isToldByText(meaning)
      ? detached(clippedLine(meaning.text.slice(0, MAX_ABOUT_LENGTH), MAX_ABOUT_LENGTH / 2))
      : '';
    this.#due.set(callId, { meaning: withoutText(meaning), name, about, quotable, moment });
    if (this.#due.size > MAX_DUE_CALLS) {
      for (const oldest of this.#due.keys()) {
        this.#due.delete(oldest);
        break;
      }
    }
  }

  /** Of a script the commands may be quoted, not the texts that they are given. */
  #noteCall({ command, text }: CallMeaning, quotable: Quotable | undefined): void {
    const { commands, texts } =
      command?.includes('\n') === true ? scriptRows(text) : { commands: text, texts: '' };
    this.#note(excerpt(commands), 'call', quotable);
    if (texts !== '') this.#note(excerpt(texts), 'call');
  }

  #addResult(callId: string, result: string, said: { success?: boolean; exit_code?: number }): void {
    const due = this.#due.get(callId);
    const outcome = outcomeOf(result);
    this.#note(isWrapped(result) ? outcome.text : excerpt(result), 'result');
    if (due === undefined) return;
    this.#due.delete(callId);
    const exitCode = said.exit_code ?? outcome.exitCode;
    const failed =
      said.success === false ||
      (exitCode === undefined
        ? looksFailed(outcome.text) || (isEdit(due.meaning) && isRejectedEdit(outcome.text))
        : exitCode !== 0);
    const { processId } = outcome;
    const text = processId !== undefined && outcome.text.trim() === '' ? RUNNING : outcome.text;
    const finished = { text, exitCode, processId, isKnownWell: said.success === true };
    if (due.meaning.questions !== undefined) {
      this.#requests.answer(due.meaning.questions.join(' '), outcome.text);
      this.#requests.addConstraints(outcome.text);
      return;
    }
    const refusal = refusalIn(result);
    if (refusal !== undefined) {
      this.#noteRefusal(due, refusal);
      return;
    }
    this.#openStep(due, { text, failed, processId });
    const started = this.#running.get(due.meaning.processId ?? '');
    if (started?.quotable !== undefined && text !== RUNNING) started.quotable.outcome = beginningOf(text);
    if (due.quotable !== undefined) {
      due.quotable.outcome = beginningOf(text, onlyLooks(due.meaning));
      if (isReport(due.meaning)) this.#steps.quoteReport(due.quotable);
    }
    this.#place.noteOutput(due.meaning, outcome.text, { root: this.#cwd, failed });
    this.#finishEdit(due, outcome.text, failed);
    this.#finishFiles(due, outcome.text, failed);
    this.#finishCommand(due, finished, failed);
    this.#steps.close();
  }

  /** A call that the user refused is no failure of the call; what the user said about it is the user's word. */
  #noteRefusal({ meaning, name }: DueCall, said: string): void {
    const what = meaning.command ?? meaning.files.map(({ path }) => this.#relative(path)).join(', ');
    const words = redact(said);
    this.#requests.answer(
      `May I ${name}: ${what}?`,
      words === '' ? SILENT_REFUSAL : `no: ${words}`,
      meaning.files.length > 0 ? this.#messagePosition : undefined,
    );
    this.#requests.addConstraints(words);
  }

  #openStep(
    { meaning, name, about, moment }: DueCall,
    {
      text,
      failed,
      processId,
    }: { readonly text: string; readonly failed: boolean } & Pick<Outcome, 'processId'>,
  ): void {
    this.#steps.noteResult();
    if (meaning.plan !== undefined) return;
    const file = meaning.files[0];
    const script = this.#scriptOf(meaning);
    const object = file === undefined ? about : `${this.#relative(file.path)}${rangeText(file.range)}`;
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
    const looks = isRead ? meaning.files.map(({ path }) => detached(this.#relative(path))) : [];
    this.#steps.open({ moment, call, changed, isRead, looks, report }, text);
  }

  /** A script without the way to the working directory, where it would run anyway. */
  #withoutWay(script: string): string {
    const way = /^cd (\S{1,300}) *(?:&&|;)\s*/.exec(script);
    return way !== null && this.#relative(way[1] ?? '') === '.' ? script.slice(way[0].length) : script;
  }

  /** A call with its paths told from the working directory. */
  #withoutRoot(call: string): string {
    return this.#root === '' ? call : call.replaceAll(`${this.#root}/`, '');
  }

  /** The script of a call, that of the process it writes to included. */
  #scriptOf({ command, processId }: CallMeaning): string | undefined {
    return processId === undefined ? command : this.#running.get(processId)?.meaning.command;
  }

  /** An edit that the harness rejects changes nothing, and is sent again and again by an agent that does not know of it. */
  #finishEdit({ meaning, moment }: DueCall, text: string, failed: boolean): void {
    const [file] = meaning.files;
    if (file === undefined || !isEdit(meaning) || !failed || !isRejectedEdit(text)) return;
    const command = `edit ${this.#relative(file.path)}`;
    const telling = headLines(rejectionReason(text), REASON_LENGTH).split('\n').map(oneLine);
    this.#runs.addRefusedEdit(command, telling, moment);
    this.#steps.act(`${command}${resultPhrase(failed, telling, false)}`, this.#moment);
  }

  #finishFiles({ meaning, moment }: DueCall, text: string, failed: boolean): void {
    const { actions, texts, missing, isSaidMissing } = shownFiles(meaning, text, failed);
    const isMissing = failed && /No such file|did not match|bad source/.test(text);
    for (const file of actions) {
      if (failed && file.action === 'restore') continue;
      if (isMissing && (file.action === 'delete' || file.action === 'move')) continue;
      this.#addFile(file, moment);
    }
    for (const path of missing) {
      const absent = this.#relative(path);
      if (!isSaidMissing || !/^[/~]/.test(absent)) this.#files.noteMissing(absent);
    }
    for (const { path, text: shown } of texts) {
      this.#files.noteContent(this.#relative(path), shown);
      // What a search found of a checklist is not the list.
      if (actions.some((file) => file.action === 'read' && file.path === path))
        this.#checklists.noteRead(this.#relative(path), shown, moment);
    }
  }

  /** Whether a program put something into a place for temporary files that nobody wrote, or it goes again: no work is in it. */
  #isOutput({ action, to, added, replaced, how }: FileAction, path: string): boolean {
    if (!TEMPORARY.test(path) || action === 'read' || action === 'restore') return false;
    const isWritten = added !== undefined || replaced !== undefined || how !== undefined;
    const isKept = to !== undefined && !TEMPORARY.test(this.#relative(to));
    return !isWritten && !isKept && !this.#files.isChanged(path);
  }

  #addFile(file: FileAction, moment: Moment): void {
    const path = this.#relative(file.path);
    if (isScratch(path) || this.#isOutput(file, path)) return;
    if (file.action === 'restore') {
      this.#restore({ ...file, path }, moment);
      return;
    }
    const to = file.to === undefined ? undefined : this.#relative(file.to);
    this.#files.add({ ...file, path, to }, moment);
    this.#checklists.noteChange({ ...file, path, to }, moment);
    this.#git.noteChange({ action: file.action, path, to }, moment, this.#files.isCreated(path));
    if (file.action === 'read') return;
    this.#steps.forgetReports();
    // Whatever changed it: nobody sends an edit again that was refused before.
    this.#runs.forget(`edit ${path}`);
    this.#requests.noteEdit(to ?? path);
    this.#runs.noteEdit(to ?? path, moment);
    this.#steps.noteChange(to ?? path);
    this.#steps.act(phraseOf(file.action, path, to), this.#moment);
  }

  /** Git put files back: what a commit holds stays, unless another revision is named. */
  #restore(file: FileAction, moment: Moment): void {
    const { path, how: revision } = file;
    const since = revision === undefined ? (this.#git.newestPosition ?? -1) : -1;
    const isUndone = (known: string): boolean => revision !== undefined || this.#git.isDirty(known);
    const undone = this.#files.restore(path, moment, { since, isUndone });
    this.#checklists.noteChange(file, moment);
    this.#git.noteChange(file, moment, false);
    if (undone === undefined) return;
    this.#steps.forgetReports();
    this.#runs.noteEdit(path, moment);
    this.#steps.noteChange(path);
    if (undone.length === 0) return;
    this.#requests.noteRestored(undone, since);
    this.#steps.noteRestored(undone, since);
    this.#steps.act(phraseOf('restore', path, undefined), this.#moment);
  }

  #finishCommand(due: DueCall, outcome: Outcome, failed: boolean): void {
    const { meaning } = due;
    if (meaning.processId !== undefined) {
      const started = this.#running.get(meaning.processId);
      if (started !== undefined) this.#finishCommand(started, outcome, failed);
      return;
    }
    if (meaning.command === undefined || meaning.simple === undefined) return;
    if (outcome.processId !== undefined) {
      this.#running.set(outcome.processId, due);
      if (this.#running.size > 20) this.#running.clear();
      return;
    }
    this.#followGit(due, outcome.text, failed);
    this.#finishWork(due, outcome, failed);
  }

  #followGit({ meaning, moment }: DueCall, output: string, failed: boolean): void {
    const { directory = this.#cwd } = meaning;
    const { simple: own = [], guarded = [] } = meaning;
    const simple = guarded.length > 0 && COMMITTED.test(output) ? [...own, ...guarded] : own;
    const absolute = ({ directory: moved }: GitCommand): string =>
      placeOf(moved, directory) ?? joinPath(directory, moved ?? '.');
    const run: GitRun = {
      simple,
      output,
      failed,
      directoryOf: (git) => inDirectory('.', this.#relative(absolute(git))),
      branchOf: (git) => this.#place.branchOf(absolute(git)),
    };
    if (this.#git.noteRun(run, moment)) this.#steps.forgetReports();
  }

  #finishWork(due: DueCall, outcome: Outcome, failed: boolean): void {
    const { meaning } = due;
    if (meaning.command === undefined || meaning.simple === undefined) return;
    if (!isWork(meaning.simple)) return;
    // The status of a pipe or a list is that of its last program: what was to be done may have failed all the same.
    if (!failed && canHideStatus(meaning) && saysFailed(outcome.text)) {
      this.#finishWork(due, { ...outcome, exitCode: undefined }, true);
      return;
    }
    const { command: script, simple, isEscalated = false } = meaning;
    const place = workPlace(simple, meaning.directory);
    const directory = place === undefined ? undefined : this.#relative(place);
    const { text: output, exitCode } = outcome;
    const run = finishedRun({ command: script, simple, isEscalated, directory, output, exitCode, failed });
    const { command, telling } = run;
    const other = otherEnd(run.parts, output, run);
    if (other !== undefined) {
      this.#steps.act(`ran \`${clip(command, 120)}\`${other}`, this.#moment);
      return;
    }
    this.#runs.add(run, due.moment);
    this.#requests.noteCommand(failed);
    const isKnown = outcome.exitCode !== undefined || outcome.isKnownWell === true;
    // "moved a to b" says all that `mv a b` does, and that git put a file back what `git checkout` of it does.
    const isTold = !failed && this.#steps.hasDeed && ONE_FILE_ACT.test(command) && simple.length === 1;
    if (!isTold) {
      this.#steps.act(`ran \`${clip(command, 120)}\`${resultPhrase(failed, telling, isKnown)}`, this.#moment);
    }
    this.#deliveries.addRun(meaning.simple, { output: outcome.text, failed }, due.moment);
  }

  #addCompaction(record: CompactedRecord): void {
    this.#compactions++;
    if (this.#hasPast) return;
    // The file starts with a compaction: what it kept is all there is of what came before.
    if (record.summary !== undefined) this.#carryOver(record.summary);
    for (const item of record.replacement) {
      if (item.type === 'message' && item.role === 'user') this.#addItem(item);
    }
  }

  #carryOver(summary: string): void {
    if (this.#carriedOver !== undefined || this.#hasPast) return;
    this.#carriedOver = detached(redact(clipMiddle(summary, MAX_CARRIED_LENGTH)));
  }

  #note(text: string, by: Mention, quotable?: Quotable): void {
    this.#index.add(redactPrivateKeys(text), { by, position: this.#position, root: this.#root, quotable });
  }

  #quotable(by: Quotable['by'], text: string): Quotable {
    return { by, position: this.#position, text: excerpt(text), outcome: undefined };
  }

  get #root(): string {
    return this.#cwd ?? '';
  }

  #relative(path: string): string {
    const root = this.#root;
    const bare = path.endsWith('/.') ? path.slice(0, -2) : path;
    if (root !== '' && bare === root) return '.';
    if (root !== '' && bare.startsWith(`${root}/`)) return bare.slice(root.length + 1);
    return bare.startsWith('./') ? bare.slice(2) : bare;
  }
}

/** How git says that it committed, so that a commit behind `||` was made. */
const COMMITTED = /^\[\S{1,200}(?: \S{1,40})? [0-9a-f]{7,40}\] /m;

/** Programs whose output is about other people's failures: logs of builds, texts of issues, commits. */
const REPORTING = new Set(['git', 'gh', 'curl', 'glab', 'bd', 'docker', 'kubectl']);

/** Whether a script may succeed though its work failed: it pipes or goes on, and its work is no report. */
function canHideStatus({ command = '', simple = [] }: CallMeaning): boolean {
  return /[|;\n]/.test(command) && simple.some((one) => isWork([one]) && !REPORTING.has(one.words[0] ?? ''));
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

/** Whether a tool that edits was called, rather than a command. */
function isEdit({ command, files }: CallMeaning): boolean {
  return command === undefined && files[0]?.action === 'edit';
}

/** Whether neither a script nor a file tells what a call was about. */
function isToldByText({ command, files }: CallMeaning): boolean {
  return command === undefined && files.length === 0;
}

/** The list of a message by whose items the user may refer to them. */
function listIn({ turn, position, text }: Reply): Reply | undefined {
  const list = namedList(text);
  return list === undefined ? undefined : { turn, position, text: detached(list) };
}

function clippedReply({ turn, position, text }: Reply): Reply {
  return { turn, position, text: clipMiddle(text, SAID_LENGTH) };
}

/** A call that waits for its result keeps what it means, not what it said. */
function withoutText(meaning: CallMeaning): CallMeaning {
  return { ...meaning, text: '' };
}

function excerpt(text: string): string {
  return endsOf(text, INDEXED_LENGTH);
}

/** Places for temporary files. @source hier(7), file-hierarchy(7); on macOS they are links to those below /private */
const TEMPORARY = /^(?:\/private)?\/(?:tmp|var\/tmp|dev\/shm)\//;

function isScratch(path: string): boolean {
  return path.startsWith('/dev/') || path.startsWith('/proc/');
}

/** `:10–20` behind a path. */
function rangeText(range: LineRange | undefined): string {
  return range === undefined ? '' : `:${range.from}–${range.to ?? 'end'}`;
}

function openQuestions(now: readonly Statement[], lastMessage: string): Statement[] {
  const closing = closingQuestion(lastMessage);
  return closing === undefined
    ? []
    : now.filter(({ kind, text }) => kind === 'question' && closing.startsWith(text.slice(0, 60))).slice(-1);
}
