// Runs the turns of one thread: sends the effects of `loop.ts` to the log, the model, the tools and the compactor, and
// reports their answers to it. Handles one event at a time; each effect completes before the next one begins. An
// observer decides who starts turns and what else enters the thread.

import { setMaxListeners } from 'node:events';
import { BatonError } from '../errors.ts';
import { Compactor } from '../compaction/compactor.io.ts';
import type {
  CompactableThread,
  CompactionAsk,
  CompactionOutcome,
  CompactorWorld,
  ManualAsk,
  WatcherAsk,
} from '../compaction/compactor.io.ts';
import { clearSubject } from '../compaction/micro/clear.ts';
import { compactHistory } from '../compaction/compact.io.ts';
import { gaugeOf } from '../compaction/subject.ts';
import type { Compaction, Subject } from '../compaction/subject.ts';
import type { Config } from '../config/schema.ts';
import type { AccountFold } from '../history/account.ts';
import { limitNote } from '../history/learnt-limit.ts';
import { toolsNote } from '../history/tool-tokens.ts';
import { initialContextRange, SUMMARY_PREFIX } from '../history/filter.ts';
import { undoneCompaction } from '../history/redo.ts';
import { requireUndoable } from '../history/project.ts';
import type { NewestTurn } from '../history/project.ts';
import type { CancelSignal, Model } from '../ports.ts';
import type { SessionEvent, TranscriptEntry } from '../protocol/wire/event.ts';
import { authorOf, callOf, resultCallId, textOfParts } from '../protocol/item.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';
import type { ModelRequest } from '../protocol/model.ts';
import type { CompactionPlan } from '../protocol/plan.ts';
import type { LogRecord, NoteRecord } from '../protocol/record.ts';
import type { TurnOrigin } from '../protocol/turn.ts';
import { UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { formatNumber } from '../tokens/words.ts';
import type { Trail } from '../trail/trail.ts';
import { AnswerSoFar, shownOf } from './answer.ts';
import { callNote } from './calls.ts';
import type { CallDetails } from './calls.ts';
import { IDLE_LOOP, loopStep } from './loop.ts';
import { reachedLimit } from './limits.ts';
import type { ReachedLimit } from './limits.ts';
import type { LoopEffect, LoopEvent, TurnEnding } from './loop.ts';
import type { RunningTurn, SessionLog, ToolRunner, TurnObserver, TurnStart, TurnView } from './terms.ts';
import { spendingEvent, spentNote } from './spending.ts';
import type { Charge } from './spending.ts';
import { ThreadState } from './thread-state.ts';
import { alarmSentence } from './alarm.ts';
import type { Alarm } from './alarm.ts';
import { failureOf, outcomeOf, turnEnd, withItem } from './turn-end.ts';
import type { TurnOutcomeWord } from './turn-end.ts';
import { TranscriptFold, TranscriptTail } from './transcript.ts';
import type { Transcript } from './transcript.ts';
import { ThreadMutex } from './thread-mutex.io.ts';
import { TURN_STOP_REASONS } from '../vocabulary.ts';
import type { TurnStopReason } from '../vocabulary.ts';

/** What a session needs. */
export interface SessionWorld {
  readonly config: Config;
  readonly model: Model;
  /** The provider's name for the model. */
  readonly modelName: string;
  /** The system prompt. */
  readonly instructions: string;
  /** Shared by the requests of one thread. */
  readonly threadId: string;
  readonly log: SessionLog;
  /** Absolute path of the file behind the log, for hooks. */
  readonly transcriptPath?: string;
  readonly tools: ToolRunner;
  /** What the agent must know about its place and rules beyond these items; absent: nothing. */
  readonly missing?: (items: readonly Item[]) => readonly Item[];
  readonly compaction: Omit<CompactorWorld, 'emit'>;
  readonly emit: (event: SessionEvent) => void;
  /** Without an observer, no turn is held. */
  readonly observer?: TurnObserver;
  /** Receives a turn that is about to end; returns what to record before its end. */
  readonly settle?: (turnId: string) => Promise<readonly NoteRecord[]>;
}

/** Full compactions after which the user is warned that the thread is long. @source the recorded sessions have at most 3 */
const LONG_THREAD = 3;

/** A live thread. */
export class Session {
  readonly #world: SessionWorld;
  readonly #thread: ThreadState;
  readonly #compactor: Compactor;
  readonly #running = new Map<number, AbortController>();
  #state = IDLE_LOOP;
  readonly #mutex = new ThreadMutex(() => this.#state.stage.at === 'held' || this.#turn === undefined);
  readonly #shown = new TranscriptFold();
  /** What a resumed thread displays; undefined once it was taken. */
  #past: TranscriptTail | undefined = new TranscriptTail();
  /** Calls that the tools have received: their reported details, and whether they have ended. */
  readonly #calls = new Map<string, { hasEnded: boolean; details: CallDetails }>();
  /** Number of requests in the running turn. */
  #samplings = 0;
  #stopReason: TurnStopReason | undefined;
  #ended: ((ending: TurnEnding) => void) | undefined;
  #failed: ((error: unknown) => void) | undefined;
  #turn: TurnView | undefined;
  /** Where the newest sampling and its results start in the log. */
  #batchFrom = 0;
  /** The agent owes the observer an answer. */
  #isAnswerOwed = false;
  /** The agent's last message to the observer since its request. */
  #toObserver: string | undefined;
  #lastEnding: TurnEnding | undefined;
  /** The last reported alarm; an earlier process reported its own. */
  #alarm: Alarm | undefined;
  /** Warned that usage reports are ignored. */
  #hasToldIgnored = false;
  /** Estimate of the tools' schemas. */
  readonly #toolTokens: number;

  /** @param past the records of the thread so far, none for a new one */
  constructor(world: SessionWorld, past: Iterable<LogRecord> = []) {
    this.#world = world;
    const { config, compaction, emit } = world;
    this.#toolTokens = approximateTokens(JSON.stringify(world.tools.specs), config.compact);
    this.#thread = new ThreadState(config, compaction.count, compaction.within, this.#toolTokens);
    this.#compactor = new Compactor(this.#asThread(), config, { ...compaction, emit });
    this.#thread.restore([...past], (record) => this.#past?.add(record, this.#fold(record)));
    this.#alarm = this.#thread.alarm();
    this.#state = { ...IDLE_LOOP, limits: config.limits, spending: this.#thread.spending };
  }

  /** The history as a model sees it. */
  get items(): readonly Item[] {
    return this.#thread.items;
  }

  /** Tokens of the present context, and the raw window. */
  get usage(): ReturnType<AccountFold['gauge']> {
    return this.#thread.account.gauge();
  }

  /** The thread according to its log. */
  get state(): Pick<ThreadState, 'account' | 'thresholds' | 'compactions' | 'spending'> {
    return this.#thread;
  }

  /** Old tool results that can be cleared now. */
  clearable(): { readonly results: number; readonly tokens: number; readonly isWorthIt: boolean } {
    const { config, compaction } = this.#world;
    const { microCompactMinTokensToSave: least } = config.compact;
    const eager = { ...config, compact: { ...config.compact, microCompactMinTokensToSave: 1 } };
    const micro = clearSubject(this.#subject(), eager, compaction);
    if (!micro.wasEffective) return { results: 0, tokens: 0, isWorthIt: false };
    const isWorthIt = config.features.microCompact && micro.tokensSaved >= least;
    return { results: micro.toolsCompacted, tokens: micro.tokensSaved, isWorthIt };
  }

  /** What an earlier process showed of the thread. Call it once, before anything is written. */
  takePast(): Transcript {
    const transcript = this.#past?.transcript() ?? { entries: [], leftOut: 0 };
    this.#past = undefined;
    return transcript;
  }

  /** The reached limit that forbids further requests; undefined: none. */
  reachedLimit(): ReachedLimit | undefined {
    return reachedLimit(this.#thread.spending, this.#world.config.limits);
  }

  /** Charges a request whose usage is not recorded. Resolves once the charge is in the log. */
  spend(charge: Charge): Promise<void> {
    return this.note([spentNote(charge)]);
  }

  /** How the newest turn other than a compaction ended; undefined before the first end. */
  get lastEnding(): TurnEnding | undefined {
    return this.#lastEnding;
  }

  /** The agent's last message. */
  get lastAgentMessage(): string | undefined {
    return this.#thread.lastMessage;
  }

  /** The running turn has a message that the agent has not seen. */
  get hasSteered(): boolean {
    const { stage } = this.#state;
    return stage.at !== 'idle' && stage.turn.steered.length > 0;
  }

  /** The agent is answering the observer's request in its turn. */
  get isAnswerOwed(): boolean {
    return this.#isAnswerOwed;
  }

  /** What the log shows of the work so far. */
  trail(): Trail {
    return this.#thread.trail();
  }

  /**
   * Runs a turn to its end.
   * @returns how it ended
   * @throws the failure of writing the log, after which nothing is guaranteed
   */
  async turn(input: readonly Item[], origin: TurnOrigin = { type: 'user' }): Promise<TurnEnding> {
    const ended = new Promise<TurnEnding>((resolve, reject) => {
      this.#ended = resolve;
      this.#failed = reject;
    });
    await this.start({ kind: 'regular', origin, input });
    return ended;
  }

  /**
   * Starts a turn. Resolves once its start and its input are written.
   * @throws RangeError while a turn runs; the failure of writing the log
   */
  async start({ kind, origin, input }: TurnStart): Promise<void> {
    while (!(await this.#tryStart({ kind, origin, input }))) await this.#mutex.nextQuiet();
  }

  /** @returns false while a compaction or an undo holds the thread */
  #tryStart({ kind, origin, input }: TurnStart): Promise<boolean> {
    return this.#mutex.pass(async () => {
      if (this.#mutex.isTaken) return false;
      if (this.#turn !== undefined) throw new RangeError('A turn is running: steer it, or wait for its end');
      const turnId = await this.#begin({ kind, origin });
      await this.#step({ type: 'start', turnId, input });
      return true;
    });
  }

  async #begin({ kind, origin }: Omit<RunningTurn, 'turnId'>): Promise<string> {
    const turnId = `turn-${this.#thread.turns + 1}`;
    const shown = await this.#write([{ type: 'turn_started', turnId, kind, origin }]);
    this.#turn = { turnId, kind, origin, hadAction: false, said: undefined };
    this.#batchFrom = this.#thread.position;
    this.#isAnswerOwed = false;
    this.#toObserver = undefined;
    this.#samplings = 0;
    this.#stopReason = undefined;
    for (const entry of shown) this.#world.emit(entry);
    this.#world.observer?.started({ turnId, kind, origin });
    return turnId;
  }

  /**
   * Gives the running turn a message; the agent sees it before its next sampling.
   * @returns whether a running turn took it; otherwise the caller still owns the message
   */
  async steer(item: Item): Promise<boolean> {
    return this.#mutex.pass(async () => {
      const turnId = this.#state.stage.at === 'idle' ? undefined : this.#turn?.turnId;
      if (turnId !== undefined) this.#emitSteered(item, turnId);
      await this.#step({ type: 'steer', item });
      return turnId !== undefined;
    });
  }

  /** Displayed at once: the agent may work for minutes before it receives the message. */
  #emitSteered(item: Item, turnId: string): void {
    if (item.type !== 'message' || item.id === undefined || authorOf(item) !== 'user') return;
    const message = textOfParts(item.content);
    this.#world.emit({ type: 'message_steered', id: item.id, turn_id: turnId, message });
  }

  /** Ends the running turn at once, whatever it is doing. */
  interrupt(): void {
    this.#send({ type: 'interrupt' });
  }

  /**
   * Writes items where they split nothing: between turns, or in a held turn. Waits until then.
   * @param isAsking they ask the agent for an answer, which the observer sees before the turn ends by itself
   */
  async put(items: readonly Item[], isAsking = false): Promise<void> {
    await this.#mutex.whenQuiet(async () => {
      await this.#write(items.map((item) => ({ type: 'item', item }) as const));
      this.#isAnswerOwed = isAsking;
      this.#toObserver = undefined;
    });
  }

  /** Writes records where their items split nothing. Calls `recordsOf` at that moment, with the trail of that moment. */
  async record(recordsOf: (trail: Trail) => readonly LogRecord[]): Promise<void> {
    await this.#mutex.whenQuiet(() => this.#write(recordsOf(this.trail())));
  }

  /** Writes notes, which are not part of the history. */
  async note(records: readonly NoteRecord[]): Promise<void> {
    await this.#mutex.pass(() => this.#write(records));
  }

  /** Notes the size of the tools, unless the log has it: its readers then count as this thread does. */
  async noteTools(): Promise<void> {
    if (this.#thread.account.notedTools !== this.#toolTokens) await this.note([toolsNote(this.#toolTokens)]);
  }

  /** The observer no longer waits for an answer: the agent's words and actions belong to the turn's initiator again. */
  withdraw(): void {
    this.#isAnswerOwed = false;
    this.#toObserver = undefined;
  }

  /** Ends whatever runs in a turn, and holds it. Resolves when everything before that is written. */
  async cut(turnId: string): Promise<void> {
    await this.#mutex.pass(async () => {
      if (this.#turn?.turnId === turnId) await this.#step({ type: 'cut' });
    });
  }

  /** Resumes a held turn. With `isOver` it ends, unless the user has sent something meanwhile. */
  resume(turnId: string, { isOver = false }: { readonly isOver?: boolean } = {}): void {
    this.#background(async () => {
      const { stage } = this.#state;
      if (stage.at !== 'held' || this.#turn?.turnId !== turnId) return;
      // The turn's last message addressed the user.
      if (isOver && stage.turn.steered.length === 0) {
        this.#turn = { ...this.#turn, said: this.#toObserver ?? this.#turn.said };
      }
      await this.#step({ type: 'resumed', number: stage.number, isAnswerOwed: this.#isAnswerOwed, isOver });
    });
  }

  /** The arbiter's plan for a request of the watcher. */
  plan(ask: WatcherAsk): CompactionPlan {
    return this.#compactor.plan(ask);
  }

  /**
   * Compacts, between turns or in a held turn. With an origin it is a separate turn of the kind `compact`.
   * @throws the failure of writing the log
   */
  async compact(ask: CompactionAsk, signal: CancelSignal, origin?: TurnOrigin): Promise<CompactionOutcome> {
    const isTurn = await this.#mutex.whenQuiet(async () => {
      const isOwn = origin !== undefined && this.#turn === undefined;
      if (isOwn) await this.#begin({ kind: 'compact', origin });
      this.#mutex.take();
      return isOwn;
    });
    try {
      const outcome = await this.#compact(ask, signal);
      const isDone = outcome.type === 'compacted';
      const how = isDone ? 'complete' : signal.aborted ? 'interrupted' : 'failed';
      if (isTurn) await this.#mutex.pass(() => this.#finish(how, { why: whyNot(outcome) }));
      else if (isDone) this.emitTokens();
      return outcome;
    } finally {
      this.#mutex.free();
    }
  }

  /**
   * Runs the user's work as a turn of the kind `shell`, between turns: no model sees any of it.
   * @param work returns the note to remember it by; undefined: it did not run
   * @throws BatonError `interrupted` if the user stopped it before it began; the failure of writing the log
   */
  async shell(work: () => Promise<NoteRecord | undefined>, signal: CancelSignal): Promise<void> {
    await this.#mutex.whenQuiet(
      async () => {
        if (signal.aborted)
          throw new BatonError('interrupted', 'The command was not run: it was stopped first');
        await this.#begin({ kind: 'shell', origin: { type: 'user' } });
        this.#mutex.take();
      },
      () => this.#turn === undefined,
    );
    try {
      const note = await work();
      await this.#mutex.pass(async () => {
        if (note !== undefined) await this.#write([note]);
        await this.#finish(signal.aborted ? 'interrupted' : note === undefined ? 'failed' : 'complete');
      });
    } finally {
      this.#mutex.free();
    }
  }

  /**
   * Previews a compaction on the user's request. Asks no model, runs no hook and changes nothing.
   * @throws BatonError as `compactHistory`
   */
  preview({ strategy, targetTokens }: ManualAsk, signal: CancelSignal): Promise<Compaction> {
    const { config, compaction } = this.#world;
    const { hooks: _, ...world } = compaction;
    const occasion = {
      trigger: 'manual',
      reason: 'user_requested',
      phase: 'standalone_turn',
      // The size of a provider's own compaction is unknown before it runs.
      strategy: strategy === 'remote' ? 'full' : strategy,
      why: 'The user asked for a preview.',
      isEmbedded: true,
      ...(targetTokens === undefined ? {} : { targetTokens }),
    } as const;
    return compactHistory(this.#subject(), occasion, config, { ...world, signal, emit: () => undefined });
  }

  /** Reports how full the context is, with a warning if it crossed a threshold since the last report. */
  emitTokens(): void {
    const before = this.#alarm;
    this.#alarm = this.#thread.alarm();
    this.#world.emit(this.#thread.tokenCount(this.#world.observer?.tier()));
    const message = alarmSentence(this.#alarm, before);
    if (message !== undefined) this.#world.emit({ type: 'warning', message });
  }

  /**
   * Warns, once, that a report of usage is not used.
   * @param why what was reported, and why it cannot be true
   */
  ignore(why: string): void {
    if (this.#hasToldIgnored) return;
    this.#hasToldIgnored = true;
    const message = `The provider reported ${why}. Baton ignores such reports, and estimates how full the context is.`;
    this.#world.emit({ type: 'warning', message });
  }

  async #compact(ask: CompactionAsk, signal: CancelSignal): Promise<CompactionOutcome> {
    const outcome = await this.#compactor.request(ask, signal);
    const isFull = outcome.type === 'compacted' && outcome.compaction.type === 'full';
    if (isFull && this.#thread.compactions >= LONG_THREAD) {
      const message = `This thread was compacted ${this.#thread.compactions} times. Each summary covers the whole log, so each request gets less room. Consider a new thread for new work.`;
      this.#world.emit({ type: 'warning', message });
    }
    return outcome;
  }

  /** A judge has vetoed a compaction: growth is counted from here. */
  noteVeto(): void {
    const note = this.#compactor.noteVeto();
    this.#background(async () => void (await this.#write([note])));
  }

  /** Resolves once all requests so far are done. */
  async settled(): Promise<void> {
    await this.#mutex.pass(() => Promise.resolve());
  }

  /**
   * Undoes the newest compaction, between turns or in a held turn.
   * @returns its id
   * @throws BatonError `nothing_to_undo`, also if more consecutive compactions were undone than are kept in memory
   */
  async undoCompaction(): Promise<string> {
    return this.#mutex.whenQuiet(async () => {
      const compactionId = this.undoableCompaction();
      await this.#write([{ type: 'undo_compaction', compactionId }]);
      return compactionId;
    });
  }

  /** The id of the compaction that an undo would revert. @throws BatonError `nothing_to_undo` */
  undoableCompaction(): string {
    const compactionId = this.#thread.undoableCompaction();
    if (compactionId !== undefined) return compactionId;
    throw new BatonError('nothing_to_undo', 'There is no compaction to undo here', {
      cure: 'To undo an earlier one, close the session and run `baton undo` on its file.',
    });
  }

  /**
   * Restores the compaction that the newest undo reverted, between turns or in a held turn.
   * @param past the present log
   * @returns its id
   * @throws BatonError `nothing_to_redo`
   */
  async redoCompaction(past: () => AsyncIterable<LogRecord>): Promise<string> {
    return this.#mutex.whenQuiet(async () => {
      const records: LogRecord[] = [];
      for await (const record of past()) records.push(record);
      const compacted = undoneCompaction(records);
      await this.#write([compacted]);
      await this.#world.log.sync();
      return compacted.id;
    });
  }

  /**
   * Undoes the user's newest turn, with everything since.
   * @param work the rest of the undo, which runs first: the thread does not change meanwhile
   * @param past the present log
   * @returns the result of `work`
   * @throws BatonError `nothing_to_undo`, also while a turn runs and after a compaction; the failure of `work`
   */
  async undoTurn<Result>(
    work: (turn: NewestTurn<Item>) => Promise<Result>,
    past: () => AsyncIterable<LogRecord>,
  ): Promise<Result> {
    return this.#withNewestTurn(async (turn) => {
      const result = await work(turn);
      await this.#mutex.pass(() => this.#write([{ type: 'undo_turn', turnId: turn.turnId }]));
      const records: LogRecord[] = [];
      for await (const record of past()) records.push(record);
      this.#thread.forgetUndone(records);
      return result;
    });
  }

  /**
   * Describes the undo of the user's newest turn. Changes nothing.
   * @param work describes the rest: the thread does not change meanwhile
   * @throws BatonError as `undoTurn`
   */
  async previewUndo<Result>(work: (turn: NewestTurn<Item>) => Promise<Result>): Promise<Result> {
    return this.#withNewestTurn(work);
  }

  /** Holds the thread between turns. @throws BatonError `nothing_to_undo` */
  async #withNewestTurn<Result>(work: (turn: NewestTurn<Item>) => Promise<Result>): Promise<Result> {
    const turn = await this.#mutex.pass(() => {
      const isBusy = this.#turn !== undefined || this.#mutex.isTaken;
      const newest = requireUndoable(this.#thread.newestTurn(), isBusy);
      this.#mutex.take();
      return Promise.resolve(newest);
    });
    try {
      return await work(turn);
    } finally {
      this.#mutex.free();
    }
  }

  #send(event: LoopEvent): void {
    this.#background(() => this.#step(event));
  }

  #background(work: () => Promise<void>): void {
    this.#mutex.pass(work).catch((error: unknown) => this.#breakTurn(error));
  }

  #breakTurn(error: unknown): void {
    // Work that still runs could no longer report its end.
    for (const controller of this.#running.values()) controller.abort();
    this.#failed?.(error);
    this.#world.observer?.broken(error);
    this.#ended = undefined;
    this.#turn = undefined;
    this.#state = { ...this.#state, stage: { at: 'idle' } };
    this.#mutex.wake();
  }

  async #step(event: LoopEvent): Promise<void> {
    const { state, effects } = loopStep(this.#state, event);
    this.#state = state;
    for (const effect of effects) await this.#perform(effect);
  }

  async #perform(effect: LoopEffect): Promise<void> {
    switch (effect.type) {
      case 'append':
        return this.#append(effect);
      case 'check':
        return this.#start(effect.number, (signal) => this.#check(effect, signal));
      case 'sample':
        return this.#start(effect.number, (signal) => this.#sample(effect.number, signal));
      case 'run':
        return this.#start(effect.number, (signal) => this.#run(effect, signal));
      case 'hold':
        return this.#hold(effect);
      case 'warn':
        return this.#world.emit({ type: 'warning', message: effect.message });
      case 'stop':
        return this.#running.get(effect.number)?.abort();
      case 'end':
        return this.#end(effect.ending);
    }
  }

  async #append({ items, usage }: Extract<LoopEffect, { type: 'append' }>): Promise<void> {
    const { account } = this.#thread;
    const { rejectedCount } = account;
    await this.#write([
      ...items.map((item) => ({ type: 'item', item }) as const),
      ...(usage === undefined ? [] : [{ type: 'usage', usage } as const]),
    ]);
    if (account.rejectedCount > rejectedCount) this.ignore(account.newestRejected ?? '');
    // The end of the turn follows its last answer and reports the same.
    if (usage !== undefined && this.#state.stage.at !== 'idle') this.emitTokens();
  }

  #hold({ number, isFollowUpOwed }: Extract<LoopEffect, { type: 'hold' }>): void {
    const { observer } = this.#world;
    if (observer === undefined || this.#turn === undefined) {
      return this.#send({ type: 'resumed', number, isAnswerOwed: false });
    }
    if (!isFollowUpOwed) this.#isAnswerOwed = false;
    observer.held(this.#turn, { isFollowUpOwed, batchFrom: this.#batchFrom });
    this.#mutex.wake();
  }

  /** Starts long work beside the queue of events. */
  #start(number: number, work: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController();
    // Every parallel call listens to it, as many as the model makes.
    setMaxListeners(0, controller.signal);
    this.#running.set(number, controller);
    work(controller.signal)
      .catch((error: unknown) => {
        if (!controller.signal.aborted) this.#breakTurn(error);
      })
      .finally(() => {
        if (this.#running.get(number) === controller) this.#running.delete(number);
      });
  }

  async #check({ number, from }: Extract<LoopEffect, { type: 'check' }>, signal: AbortSignal): Promise<void> {
    const outcome = await this.#compact({ from }, signal);
    if (outcome.type === 'compacted') {
      this.#world.observer?.compacted(outcome.compaction.type);
      this.emitTokens();
    }
    // A failed compaction left the history unchanged; the provider decides whether it fits.
    const settlement =
      outcome.type === 'context_exhausted'
        ? ({ type: 'exhausted', why: this.#whatFills(outcome) } as const)
        : ({ type: 'fits' } as const);
    this.#send({ type: 'settled', number, settlement });
  }

  #whatFills({ why, parts }: Extract<CompactionOutcome, { type: 'context_exhausted' }>): string {
    return `${why.replace(/\.?$/, '.')} Largest parts of the window: ${parts}.`;
  }

  async #sample(number: number, signal: AbortSignal): Promise<void> {
    this.#batchFrom = this.#thread.position;
    const turnId = this.#turn?.turnId ?? '';
    const reasoningId = `${turnId}-reasoning-${++this.#samplings}`;
    try {
      const answer = new AnswerSoFar();
      for await (const event of this.#world.model.stream(this.#request(), signal)) {
        answer.accept(event);
        const messageId = this.#shown.nextMessageId(answer.messages);
        const shown = shownOf(event, { turnId, messageId, reasoningId });
        if (shown !== undefined) this.#world.emit(shown);
        this.#world.observer?.active();
      }
      const { items, usage, stopReason } = answer;
      const counted = usage === undefined ? {} : { usage };
      this.#stopReason = TURN_STOP_REASONS.find((each) => each === stopReason) ?? 'end_turn';
      this.#send({ type: 'sampled', number, items, stopReason, ...counted });
    } catch (error) {
      if (!(error instanceof BatonError)) throw error;
      if (error.code === 'interrupted') return;
      const isOverflow = error.code === 'model_overflow';
      if (isOverflow) await this.#mutex.pass(() => this.#learnLimit(error));
      this.#send({ type: 'sampling_failed', number, isOverflow, why: error.message });
    }
  }

  /** A window that the provider names applies to this thread from here on, if it is plausible. */
  async #learnLimit({ data }: BatonError): Promise<void> {
    const { rawWindow = Infinity } = this.#thread.account.gauge();
    const note = limitNote(data['limitTokens'], this.#world.modelName);
    if (note === undefined) return;
    await this.#write([note]);
    const { rawWindow: learnt = Infinity } = this.#thread.account.gauge();
    if (learnt >= rawWindow) return;
    const message = `The provider allows ${formatNumber(learnt)} tokens, not ${formatNumber(rawWindow)}: from here on this thread uses that limit. Set model_context_window to use it from the start.`;
    this.#world.emit({ type: 'warning', message });
  }

  #request(): ModelRequest {
    const { modelName, instructions, tools, threadId } = this.#world;
    return {
      model: modelName,
      instructions,
      items: this.items,
      tools: tools.specs,
      cacheKey: threadId,
    };
  }

  async #run({ number, calls }: Extract<LoopEffect, { type: 'run' }>, signal: AbortSignal): Promise<void> {
    await Promise.all(
      calls.map(async (call) => {
        const result = await this.#runCall(call, signal);
        if (!signal.aborted) this.#send({ type: 'tool_finished', number, result });
      }),
    );
  }

  async #runCall(call: Item, signal: AbortSignal): Promise<ToolOutputItem> {
    const state = { hasEnded: false, details: {} };
    this.#calls.set(callOf(call)?.callId ?? '', state);
    const result = await this.#world.tools.run(call, signal, (details) => (state.details = details));
    state.hasEnded = true;
    return result;
  }

  async #end(ending: TurnEnding): Promise<void> {
    this.#lastEnding = ending;
    const failure = failureOf(ending);
    if (failure !== undefined) this.#world.emit({ type: 'error', ...failure });
    await this.#finish(outcomeOf(ending), failure === undefined ? {} : { errorCode: failure.code });
    const resolve = this.#ended;
    this.#ended = undefined;
    resolve?.(ending);
  }

  async #finish(
    how: TurnOutcomeWord,
    { errorCode, why }: { readonly errorCode?: string; readonly why?: string | undefined } = {},
  ): Promise<void> {
    const turn = this.#turn;
    if (turn === undefined) return;
    const { emit, log, observer, settle } = this.#world;
    const settled = (await settle?.(turn.turnId)) ?? [];
    const ended = turnEnd(turn, { how, stopReason: this.#stopReason, errorCode });
    const shown = await this.#write([...settled, ended]);
    await log.sync();
    this.#turn = undefined;
    this.#calls.clear();
    for (const entry of shown) emit(entry);
    this.emitTokens();
    if (how === 'complete') observer?.complete(turn);
    else observer?.aborted(turn, how, why);
    this.#mutex.wake();
  }

  /** @returns the entries of starts and ends of turns; a caller that knows that they are complete displays them */
  async #write(records: readonly LogRecord[]): Promise<readonly TranscriptEntry[]> {
    const written = records.flatMap((record) => [...this.#detailsBefore(record), record]);
    await this.#world.log.append(written);
    const before = this.#thread.spending;
    const ofTurns: TranscriptEntry[] = [];
    for (const record of written) {
      const entry = this.#fold(record);
      if (record.type === 'item' && entry !== undefined) this.#world.emit(entry);
      if (entry !== undefined && record.type.startsWith('turn_')) ofTurns.push(entry);
    }
    const { spending } = this.#thread;
    if (spending === this.#state.spending) return ofTurns;
    const charge = spending.last === before.last ? undefined : spendingEvent(spending);
    if (charge !== undefined) this.#world.emit(charge);
    await this.#step({ type: 'spent', spending });
    return ofTurns;
  }

  /** What the result of a call does not contain, for a resumed thread. */
  #detailsBefore(record: LogRecord): readonly NoteRecord[] {
    const callId = record.type === 'item' ? resultCallId(record.item) : undefined;
    const call = callId === undefined ? undefined : this.#calls.get(callId);
    if (callId === undefined || call === undefined) return [];
    this.#calls.delete(callId);
    const details = call.hasEnded ? call.details : ({ status: 'interrupted' } as const);
    return Object.keys(details).length === 0 ? [] : [callNote(callId, details)];
  }

  #fold(record: LogRecord): TranscriptEntry | undefined {
    this.#thread.add(record);
    if (record.type === 'item') this.#noteInTurn(record.item);
    this.#compactor.noteRecord(record);
    this.#world.observer?.record(record);
    return this.#shown.add(record);
  }

  #noteInTurn(item: Item): void {
    if (this.#turn === undefined) return;
    const { turn, toObserver } = withItem(this.#turn, item, this.#isAnswerOwed);
    this.#turn = turn;
    if (toObserver !== undefined) this.#toObserver = toObserver;
  }

  #asThread(): CompactableThread {
    return {
      subject: () => this.#subject(),
      usage: () => this.#thread.account.gauge(),
      commit: async ({ record }) => {
        await this.#write([record]);
        await this.#world.log.sync();
      },
      remember: async (note) => void (await this.#write([note])),
    };
  }

  #missingContext(): readonly Item[] {
    const { items } = this;
    const { from, to } = initialContextRange(items);
    return this.#world.missing?.(items.slice(from, to)) ?? [];
  }

  #subject(): Subject {
    const { threadId, transcriptPath, modelName } = this.#world;
    const { account } = this.#thread;
    const { rawWindow } = account.gauge();
    const trailOf = () => this.#thread.trail();
    const surroundingsOf = () => this.#missingContext();
    return {
      entries: this.#thread.entries,
      kept: account,
      gauge: gaugeOf(account),
      window: rawWindow ?? UNKNOWN_MODEL_WINDOW,
      leavesInitialContext: false,
      summaryPrefix: SUMMARY_PREFIX,
      holdsProviderState: true,
      get surroundings() {
        return surroundingsOf();
      },
      session: { sessionId: threadId, transcriptPath, cwd: this.#thread.cwd, model: modelName },
      // Built on demand: the arbiter requests the subject before every sampling.
      get trail() {
        return trailOf();
      },
    };
  }
}

/** Why nothing was compacted; undefined: it was. */
function whyNot(outcome: CompactionOutcome): string | undefined {
  if (outcome.type === 'compacted') return undefined;
  return outcome.type === 'failed' ? outcome.error.message : outcome.why;
}
