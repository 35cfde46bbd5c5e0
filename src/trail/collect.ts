// Folds the records of a log, one at a time, into the structured trail. Memory does not grow with the log: each part keeps a
// bounded extract, and calls are remembered only until their results arrive.

import { authorOf, callOf, resultCallId, textOfOutput, textOfParts } from '../protocol/item.ts';
import type { Item, MessageItem, Origin } from '../protocol/item.ts';
import { withoutIntroduction, withoutMarker } from '../protocol/marker.ts';
import type { CompactedRecord, LogRecord } from '../protocol/record.ts';
import type { Author } from '../vocabulary.ts';
import { templatedTask } from './calls/actions.ts';
import { backgroundReportOf } from './talk/background.ts';
import { TrailState, excerpt } from './trail-state.ts';
import { meaningOf } from './calls/calls.ts';
import { WatcherRequests } from './watcher-request.ts';
import { quotableOf } from './phrases.ts';
import { pinsAfter } from './pins.ts';
import type { Pin } from './pins.ts';
import { redact } from '../text/redact.ts';
import { ownWords } from './talk/requests.ts';
import { CALL_LENGTH, Results } from './results.ts';
import { clip, clipMiddle, detached } from '../text/sentences.ts';
import { Talk } from './talk/talk.ts';
import { TextCalls } from './text-calls.ts';
import type { Trail } from './trail.ts';

const MAX_CARRIED_LENGTH = 24_000;
const TOP_IDENTIFIERS = 3_000;
/** The heaviest of them, which may be quoted with the line that contains them. */
const QUOTED_IDENTIFIERS = 1_500;
const CURRENT_STATEMENTS = 14;

/** Authors whose items show that the work continued. */
const PARTIES: ReadonlySet<Author> = new Set(['user', 'agent']);

/** The model name under which Claude Code stores its own placeholders. @source Claude Code session files. */
const SYNTHETIC_MODEL = '<synthetic>';

/**
 * Collects the structured trail of a session over its whole log, all epochs included. Skips summaries, because they are not
 * evidence of what they summarize; except one at the start of a file, whose past is recorded nowhere else.
 */
export class TrailCollector {
  readonly #state = new TrailState();
  readonly #talk = new Talk(this.#state);
  readonly #results = new Results(this.#state, this.#talk);
  readonly #textCalls = new TextCalls(this.#state, this.#talk, this.#results);
  readonly #watcherRequests = new WatcherRequests();
  /** Whether the agent had finished when the watcher asked it for something; undefined once it has worked again. */
  #wasDone: boolean | undefined;
  #compactions = 0;
  #carriedOver: string | undefined;
  #pins: readonly Pin[] = [];
  #isLost = false;

  /** Replaces a trail whose reading was cut short: holds the pins, and reads only their notes. */
  lost(): TrailCollector {
    const next = new TrailCollector();
    next.#pins = this.#pins;
    next.#isLost = true;
    return next;
  }

  /** Takes in the next record of the log. */
  add(record: LogRecord): void {
    if (this.#isLost && record.type !== 'note') return;
    const wasAnswering = this.#watcherRequests.isAnswering;
    this.#followWatcher(record);
    switch (record.type) {
      case 'session_meta':
      case 'settings':
        this.#state.cwd = record.cwd?.replace(/\/$/, '') ?? this.#state.cwd;
        // During a rebase a file names no branch but HEAD.
        if (
          record.type === 'session_meta' &&
          (record.gitBranch ?? 'HEAD') !== 'HEAD' &&
          this.#state.cwd !== undefined
        )
          this.#state.place.noteBranch(this.#state.cwd, record.gitBranch ?? '');
        if (record.type === 'session_meta') this.#textCalls.noteStyle(record.textActions);
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
      case 'turn_complete':
        // An answer that ended the user's turn was addressed to the user, even if the watcher had asked as well.
        if (wasAnswering && record.origin?.type === 'user') this.#addAnswer(record.lastAgentMessage ?? '');
        return;
      default:
    }
  }

  /** The trail so far; the collector can continue afterwards. */
  trail(): Trail {
    const { cwd, root, requests, files, runs, git, steps, place } = this.#state;
    const { turn } = requests;
    const workedIn = place.directory === cwd ? undefined : place.directory;
    const statements = this.#state.statements.statements();
    const isAgentDone = this.#wasDone ?? this.#isAgentDone;
    const now = statements.filter((statement) => statement.turn === turn);
    return {
      cwd,
      gitBranch: cwd === undefined ? undefined : place.branchOf(cwd),
      workedIn,
      workedInBranch: workedIn === undefined ? undefined : place.branchOf(workedIn),
      turns: turn,
      compactions: this.#compactions,
      requests: requests.requests(),
      requestsDropped: requests.dropped,
      constraints: requests.constraints(),
      pins: this.#pins,
      answers: requests.answers(),
      plan: this.#state.plan.plan(),
      plans: this.#state.plan.plans(),
      presentedPlan: this.#state.plan.presented(),
      items: this.#state.items.list(turn),
      checklist: this.#state.checklists.newest(turn),
      files: files.files(),
      removed: files.removed(),
      missing: files.missing(),
      commands: runs.runs(),
      failures: runs.failures(),
      commits: git.commits(),
      tree: git.state(workedIn === undefined ? undefined : this.#state.relative(workedIn)),
      landmarks: this.#state.deliveries.landmarks(),
      statements,
      openQuestions: this.#talk.openQuestions(now),
      current: {
        statements: statements.filter((statement) => statement.turn >= turn - 1).slice(-CURRENT_STATEMENTS),
        actions: steps.actions(),
        tail: steps.tail(root),
        unread: steps.unread(root),
        started: this.#results.started(),
        ...this.#talk.current(),
        isAgentDone,
      },
      nextStep: this.#talk.nextStep(isAgentDone),
      identifiers: this.#state.index.top(TOP_IDENTIFIERS, QUOTED_IDENTIFIERS),
      carriedOver: this.#carriedOver,
      isLost: this.#isLost,
    };
  }

  /** Answering the watcher neither completes the agent's work nor resumes it. */
  #followWatcher(record: LogRecord): void {
    const wasAnswering = this.#watcherRequests.isAnswering;
    const wasDone = this.#wasDone ?? this.#isAgentDone;
    this.#watcherRequests.add(record);
    if (this.#watcherRequests.isAnswering) {
      if (!wasAnswering) this.#wasDone = wasDone;
    } else if (record.type === 'item' && PARTIES.has(authorOf(record.item))) this.#wasDone = undefined;
  }

  get #isAgentDone(): boolean {
    return this.#talk.isAgentLast && !this.#state.steps.hasUnread;
  }

  #addItem(item: Item): void {
    this.#state.position = Math.floor(this.#state.position) + 1;
    if (item.type === 'message') {
      this.#addMessage(item);
      return;
    }
    if (item.type === 'attachment') {
      this.#addReport(item.text);
      return;
    }
    const call = callOf(item);
    if (call !== undefined) {
      if (this.#watcherRequests.isForNotes(call.input)) return;
      const meaning = meaningOf(call);
      this.#results.start(call, meaning, quotableOf(call, meaning));
    } else if (item.type === 'function_call_output' || item.type === 'custom_tool_call_output') {
      this.#results.finish(item.call_id, textOfOutput(item.output), item);
    } else {
      const callId = resultCallId(item);
      if (callId !== undefined) this.#results.due.take(callId);
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
    else if (message.role === 'assistant') {
      if (!this.#watcherRequests.isAnswering) this.#addAnswer(text);
    } else if (message.role === 'user' && authorOf(message) === 'user') this.#addUserText(message);
    else if (message.role === 'user' && this.#textCalls.isUsed) this.#textCalls.addObservation(text);
    else if (message.role === 'user' && !this.#addReport(text))
      this.#state.requests.noteInstructions(text, this.#state.position);
  }

  /** A background task ended: new to the agent, although it called nothing. Returns false for any other text. */
  #addReport(text: string): boolean {
    const report = backgroundReportOf(text);
    if (report === undefined) return false;
    const { summary, result } = report;
    this.#state.note(excerpt(result), 'result');
    const call = detached(redact(clip(summary, CALL_LENGTH)));
    const step = { moment: this.#state.moment, call, changed: undefined, isRead: false, readPaths: [] };
    this.#state.steps.open({ ...step, report: 'none' }, result);
    this.#state.steps.noteResult();
    this.#state.steps.close();
    return true;
  }

  /** Baton's own messages are not evidence of the work, except a packet whose past is not in the log. */
  #addSynthetic({ step }: Origin, text: string): void {
    if (step === 'packet' || step === 'handoff') this.#carryOver(withoutMarker(text));
  }

  #addAnswer(text: string): void {
    if (text.trim() === '') return;
    if (this.#textCalls.isUsed) this.#textCalls.addAnswer(text);
    else this.#talk.addAgentText(text);
  }

  #addUserText({ content, origin }: MessageItem): void {
    const text = textOfParts(content);
    // Where the author is on record, no wording makes a message the client's.
    const words = redact(origin?.author === 'user' ? text.trim() : (ownWords(text) ?? ''));
    if (words === '') return;
    const { requests } = this.#state;
    const isTemplated = this.#textCalls.isUsed && requests.turn === 0;
    const { task, template } = isTemplated ? templatedTask(words) : { task: words, template: '' };
    this.#talk.addUserText(task);
    if (template !== '') requests.addTemplateRules(template);
  }

  #addCompaction(record: CompactedRecord): void {
    this.#compactions++;
    if (this.#state.hasPast) return;
    // The file starts with a compaction: its summary is all that remains of the past.
    if (record.summary !== undefined) this.#carryOver(record.summary);
    for (const item of record.replacement) {
      if (item.type === 'message' && item.role === 'user') this.#addItem(item);
    }
  }

  #carryOver(summary: string): void {
    if (this.#carriedOver !== undefined || this.#state.hasPast) return;
    this.#carriedOver = detached(redact(clipMiddle(withoutIntroduction(summary), MAX_CARRIED_LENGTH)));
  }
}
