// Runs the turns of one thread: sends what `loop.ts` asks for to the log, the model, the tools and the compactor, and tells it
// what came back. One event at a time; each effect has happened before the next one begins. Who starts turns, and what is put
// into the thread besides them, is for an observer to decide.

import { setMaxListeners } from 'node:events';
import { BatonError } from '../errors.ts';
import { Compactor } from '../compaction/compactor/driver.ts';
import type {
  CompactableThread,
  CompactionAsk,
  CompactionOutcome,
  CompactorWorld,
  ManualAsk,
  WatcherAsk,
} from '../compaction/compactor/driver.ts';
import { compactHistory } from '../compaction/driver.ts';
import type { Compaction, Subject } from '../compaction/driver.ts';
import type { Config } from '../config/schema.ts';
import { AccountFold } from '../history/account.ts';
import { WHOLE_ITEMS } from '../history/clear.ts';
import { SUMMARY_PREFIX } from '../history/filter.ts';
import { HistoryFold, requireUndoable, withoutUndoneTurns } from '../history/project.ts';
import type { NewestTurn } from '../history/project.ts';
import type { CancelSignal, Model } from '../ports.ts';
import { authorOf, callOf, textOfParts } from '../protocol/item.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';
import type { ModelEvent, ModelRequest, ToolSpec } from '../protocol/model.ts';
import type { CompactionPlan } from '../protocol/plan.ts';
import type { LogRecord, NoteRecord } from '../protocol/record.ts';
import { wireOrigin } from '../protocol/turn.ts';
import type { TaskKind, TurnOrigin } from '../protocol/turn.ts';
import { UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { percentRemaining, usableWindow } from '../tokens/pressure.ts';
import { LaterTrail } from '../trail/later.ts';
import type { Trail } from '../trail/trail.ts';
import type { StopReason } from '../vocabulary.ts';
import type { SessionEvent } from '../protocol/event.ts';
import { IDLE_LOOP, loopStep } from './loop.ts';
import type { LoopEffect, LoopEvent, TurnEnding } from './loop.ts';
import { addUsage, NOTHING_SPENT } from './usage.ts';

/** Where records go. */
export interface SessionLog {
  /** Fulfilled once the records are written, in order. */
  append(records: readonly LogRecord[]): Promise<void>;
  /** Fulfilled once everything appended would survive a crash of the machine. */
  sync(): Promise<void>;
}

/** What runs the calls of the model. */
export interface ToolRunner {
  readonly specs: readonly ToolSpec[];
  /** A failure is a result without success; nothing but `interrupted` is thrown. */
  run(call: Item, signal: CancelSignal): Promise<ToolOutputItem>;
}

/** What a session needs. */
export interface SessionWorld {
  readonly config: Config;
  readonly model: Model;
  /** As its provider knows it. */
  readonly modelName: string;
  /** The system prompt. */
  readonly instructions: string;
  /** Requests of one thread share it. */
  readonly threadId: string;
  readonly log: SessionLog;
  readonly tools: ToolRunner;
  readonly compaction: Omit<CompactorWorld, 'emit'>;
  readonly emit: (event: SessionEvent) => void;
  /** Without one a turn is never held. */
  readonly observer?: TurnObserver;
}

/** A turn of the thread, whoever started it. */
export interface RunningTurn {
  readonly turnId: string;
  readonly kind: TaskKind;
  readonly origin: TurnOrigin;
}

/** How a turn stands when a sampling is complete, or at its end. */
export interface TurnView extends RunningTurn {
  /** It has called a tool since its start. */
  readonly hadAction: boolean;
  /** What the agent said last in it. */
  readonly said: string | undefined;
}

/** Told of what happens in a thread, in order, each time after it was written. Must neither throw nor wait. */
export interface TurnObserver {
  record(record: LogRecord): void;
  started(turn: RunningTurn): void;
  /** A sampling is complete and its tools have finished: the turn waits for `resume`. */
  held(turn: TurnView, moment: { readonly isFollowUpOwed: boolean; readonly batchFrom: number }): void;
  complete(turn: TurnView): void;
  aborted(turn: TurnView, reason: 'interrupted' | 'failed'): void;
  /** The engine, or the user, has compacted. */
  compacted(strategy: 'micro' | 'full'): void;
  /** Nothing can be written any more, and so nothing promised. */
  broken(error: unknown): void;
  /** The model, a tool or a compaction has shown a sign of life. */
  active(): void;
}

/** A turn that is to be started. */
export interface TurnStart {
  readonly kind: TaskKind;
  readonly origin: TurnOrigin;
  readonly input: readonly Item[];
}

/** Compactions whose history before them is kept at hand to be undone. A thread of many of them must not grow with them. */
const KEPT_PASTS = 2;
/** Marks of its course that the account of a living thread keeps: only its gauge is read. */
const KEPT_MARKS = 100;

/** Full compactions from which the user is told that the thread is long. @source the recorded sessions have at most 3 */
const LONG_THREAD = 3;

/** A thread that is alive. */
export class Session {
  readonly #world: SessionWorld;
  readonly #history = new HistoryFold(WHOLE_ITEMS);
  #trail = new LaterTrail();
  readonly #account: AccountFold;
  readonly #compactor: Compactor;
  readonly #running = new Map<number, AbortController>();
  #state = IDLE_LOOP;
  #queue: Promise<void> = Promise.resolve();
  #lastMessage: string | undefined;
  #ended: ((ending: TurnEnding) => void) | undefined;
  #failed: ((error: unknown) => void) | undefined;
  #turns = 0;
  #spent = NOTHING_SPENT;
  #turn: TurnView | undefined;
  /** What the agent said last in this turn. */
  /** Position in the log of the next item, counted from 0. */
  #position = 0;
  #batchFrom = 0;
  /** The agent owes the observer an answer. */
  #isAsked = false;
  #compactions = 0;
  #cwd: string | undefined;
  #lastEnding: TurnEnding | undefined;
  #quiet: (() => void)[] = [];
  /** Something that is no sampling has the thread to itself: a compaction, an undo. */
  #isTaken = false;

  /** @param past the records of the thread so far, none for a new one */
  constructor(world: SessionWorld, past: Iterable<LogRecord> = []) {
    this.#world = world;
    const { compact, modelContextWindow: window } = world.config;
    this.#account = new AccountFold({
      estimate: compact,
      safetyMultiplier: compact.tokenSafetyMultiplier,
      // Only its sizes of single items are read, by compactions.
      count: world.compaction.count,
      ...(window === undefined ? {} : { window }),
    });
    const { config, compaction, emit } = world;
    this.#compactor = new Compactor(this.#asThread(), config, { ...compaction, emit });
    const records = [...past];
    for (const record of records) this.#fold(record);
    if (records.some(({ type }) => type === 'undo_turn')) {
      this.#collectTrail(records);
      this.#lastMessage = lastMessageOf(this.items);
    }
    // Not before: what is recorded may have taken back more compactions in a row than are kept at hand from here on.
    this.#history.keepFrames(KEPT_PASTS);
    this.#account.keepNewest({ pasts: KEPT_PASTS, marks: KEPT_MARKS });
  }

  /** The history as a model sees it. */
  get items(): readonly Item[] {
    return this.#history.entries.map(({ value }) => value);
  }

  /** Tokens of the context as it is, and the raw window. */
  get usage(): ReturnType<AccountFold['gauge']> {
    return this.#account.gauge();
  }

  /** How the newest turn but compactions ended; undefined before any has. */
  get lastEnding(): TurnEnding | undefined {
    return this.#lastEnding;
  }

  /** What the agent said last. */
  get lastAgentMessage(): string | undefined {
    return this.#lastMessage;
  }

  /** The agent is answering what the observer has put into its turn. */
  get isAsked(): boolean {
    return this.#isAsked;
  }

  /** What the log tells of the work so far. */
  trail(): Trail {
    return this.#trail.trail();
  }

  /**
   * Runs a turn to its end.
   * @returns how it ended
   * @throws what writing the log fails with: nothing can be promised then
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
   * Starts a turn. Fulfilled once its start and its input are written.
   * @throws RangeError while a turn runs; what writing the log fails with
   */
  async start({ kind, origin, input }: TurnStart): Promise<void> {
    if (origin.type === 'user') this.#compactor.noteUserTurn();
    while (!(await this.#tryStart({ kind, origin, input }))) await this.#nextQuiet();
  }

  /** @returns false while a compaction, or an undo, has the thread to itself */
  #tryStart({ kind, origin, input }: TurnStart): Promise<boolean> {
    return this.#enqueue(async () => {
      if (this.#isTaken) return false;
      if (this.#turn !== undefined) throw new RangeError('A turn is running: steer it, or wait for its end');
      const turnId = await this.#begin({ kind, origin });
      await this.#step({ type: 'start', turnId, input });
      return true;
    });
  }

  async #begin({ kind, origin }: Omit<RunningTurn, 'turnId'>): Promise<string> {
    const turnId = `turn-${this.#turns + 1}`;
    await this.#write([{ type: 'turn_started', turnId, kind, origin }]);
    this.#turn = { turnId, kind, origin, hadAction: false, said: undefined };
    this.#batchFrom = this.#position;
    this.#isAsked = false;
    this.#world.emit({ type: 'turn_started', turn_id: turnId, task_kind: kind, origin: wireOrigin(origin) });
    this.#world.observer?.started({ turnId, kind, origin });
    return turnId;
  }

  /**
   * Gives the running turn a message; the agent sees it before it samples again.
   * @returns whether a turn was running that took it; the message is the caller's still where none was
   */
  async steer(item: Item): Promise<boolean> {
    return this.#enqueue(async () => {
      const isTaken = this.#state.stage.at !== 'idle';
      await this.#step({ type: 'steer', item });
      return isTaken;
    });
  }

  /** Ends the running turn at once, whatever it is doing. */
  interrupt(): void {
    this.#send({ type: 'interrupt' });
  }

  /**
   * Writes items where they tear nothing apart: between turns, or in a turn that is held. Until then it waits.
   * @param isAsking they ask the agent for an answer, which the observer is shown before the turn ends by itself
   */
  async put(items: readonly Item[], isAsking = false): Promise<void> {
    await this.#whenQuiet(async () => {
      await this.#write(items.map((item) => ({ type: 'item', item }) as const));
      this.#isAsked ||= isAsking;
    });
  }

  /** Writes records where their items tear nothing apart. What they are is asked for then, by the trail as it is then. */
  async record(recordsOf: (trail: Trail) => readonly LogRecord[]): Promise<void> {
    await this.#whenQuiet(() => this.#write(recordsOf(this.trail())));
  }

  /** Writes what is no part of the history. */
  async note(records: readonly NoteRecord[]): Promise<void> {
    await this.#enqueue(() => this.#write(records));
  }

  /** Lets a held turn go on. */
  resume(turnId: string): void {
    this.#background(async () => {
      const { stage } = this.#state;
      if (stage.at !== 'held' || this.#turn?.turnId !== turnId) return;
      await this.#step({ type: 'resumed', number: stage.number, isAsked: this.#isAsked });
    });
  }

  /** What the arbiter would do about a request of the watcher's. */
  plan(ask: WatcherAsk): CompactionPlan {
    return this.#compactor.plan(ask);
  }

  /**
   * Compacts, between turns or in a turn that is held. With an origin it is a turn of its own, of the kind `compact`.
   * @throws what writing the log fails with
   */
  async compact(ask: CompactionAsk, signal: CancelSignal, origin?: TurnOrigin): Promise<CompactionOutcome> {
    const isTurn = await this.#whenQuiet(async () => {
      const isOwn = origin !== undefined && this.#turn === undefined;
      if (isOwn) await this.#begin({ kind: 'compact', origin });
      this.#isTaken = true;
      return isOwn;
    });
    try {
      const outcome = await this.#compact(ask, signal);
      const isDone = outcome.type === 'compacted';
      const how = isDone ? 'complete' : signal.aborted ? 'interrupted' : 'failed';
      if (isTurn) await this.#enqueue(() => this.#finish(how));
      return outcome;
    } finally {
      this.#free();
    }
  }

  /**
   * What a compaction on the user's request would come to now. Asks no model and no hook, and changes nothing.
   * @throws BatonError as `compactHistory`
   */
  preview({ strategy, targetTokens }: ManualAsk, signal: CancelSignal): Promise<Compaction> {
    const { config, compaction } = this.#world;
    const { hooks: _, ...world } = compaction;
    const occasion = {
      trigger: 'manual',
      reason: 'user_requested',
      phase: 'standalone_turn',
      // What a provider would leave cannot be known before it is asked.
      strategy: strategy === 'remote' ? 'full' : strategy,
      why: 'The user asked for a preview.',
      isEmbedded: true,
      ...(targetTokens === undefined ? {} : { targetTokens }),
    } as const;
    return compactHistory(this.#subject(), occasion, config, { ...world, signal, emit: () => undefined });
  }

  /** Tells how full the context is, where that changed between turns. */
  tellTokens(): void {
    this.#world.emit(this.#tokenCount());
  }

  async #compact(ask: CompactionAsk, signal: CancelSignal): Promise<CompactionOutcome> {
    const outcome = await this.#compactor.request(ask, signal);
    const isFull = outcome.type === 'compacted' && outcome.compaction.type === 'full';
    if (isFull && this.#compactions >= LONG_THREAD) {
      const message = `This thread was compacted ${this.#compactions} times, and each summary loses a little. A new thread may do better for new work.`;
      this.#world.emit({ type: 'warning', message });
    }
    return outcome;
  }

  /** A judge has vetoed a compaction: growth is counted from here. */
  noteVeto(): void {
    this.#compactor.noteVeto();
  }

  /** Fulfilled once everything that was asked for so far is done. */
  async settled(): Promise<void> {
    await this.#enqueue(() => Promise.resolve());
  }

  /**
   * Takes the newest compaction back, between turns or in a turn that is held.
   * @returns its id
   * @throws BatonError `nothing_to_undo`, also where more were undone in a row than are kept at hand
   */
  async undoCompaction(): Promise<string> {
    return this.#whenQuiet(async () => {
      const newest = this.#history.compactions.at(-1);
      if (newest === undefined || this.#history.beforeNewestCompaction() === undefined) {
        throw new BatonError('nothing_to_undo', 'There is no compaction here that can be taken back', {
          cure: 'Earlier ones can be taken back with `baton undo` on the session file, once it is closed.',
        });
      }
      await this.#write([{ type: 'undo_compaction', compactionId: newest.id }]);
      return newest.id;
    });
  }

  /**
   * Takes the newest turn of the user back, with everything since.
   * @param work what else belongs to it, first: nothing of the thread changes meanwhile
   * @param past the log as it is now
   * @returns what `work` did
   * @throws BatonError `nothing_to_undo`, also while a turn runs and behind a compaction; what `work` fails with
   */
  async undoTurn<Result>(
    work: (turn: NewestTurn<Item>) => Promise<Result>,
    past: () => AsyncIterable<LogRecord>,
  ): Promise<Result> {
    const turn = await this.#enqueue(() => {
      const isBusy = this.#turn !== undefined || this.#isTaken;
      const newest = requireUndoable(this.#history.newestTurn(), isBusy);
      this.#isTaken = true;
      return Promise.resolve(newest);
    });
    try {
      const result = await work(turn);
      await this.#enqueue(() => this.#write([{ type: 'undo_turn', turnId: turn.turnId }]));
      const records: LogRecord[] = [];
      for await (const record of past()) records.push(record);
      this.#collectTrail(records);
      this.#lastMessage = lastMessageOf(this.items);
      return result;
    } finally {
      this.#free();
    }
  }

  /** What turns were taken back did is no part of the work any more. */
  #collectTrail(records: readonly LogRecord[]): void {
    this.#trail = new LaterTrail();
    for (const record of withoutUndoneTurns(records)) this.#trail.add(record);
  }

  #isQuiet(): boolean {
    return !this.#isTaken && (this.#state.stage.at === 'held' || this.#turn === undefined);
  }

  /** Does something where it tears nothing apart: nothing else happens to the thread meanwhile. */
  async #whenQuiet<Result>(work: () => Promise<Result>): Promise<Result> {
    for (;;) {
      const done = await this.#enqueue(async () => (this.#isQuiet() ? { result: await work() } : undefined));
      if (done !== undefined) return done.result;
      if (!this.#isQuiet()) await this.#nextQuiet();
    }
  }

  #nextQuiet(): Promise<void> {
    if (this.#isQuiet()) return Promise.resolve();
    return new Promise((resolve) => this.#quiet.push(resolve));
  }

  #free(): void {
    this.#isTaken = false;
    this.#wakeQuiet();
  }

  #wakeQuiet(): void {
    const waiting = this.#quiet;
    this.#quiet = [];
    for (const wake of waiting) wake();
  }

  #send(event: LoopEvent): void {
    this.#background(() => this.#step(event));
  }

  #background(work: () => Promise<void>): void {
    this.#enqueue(work).catch((error: unknown) => this.#breakTurn(error));
  }

  /** One thing after the other; what fails keeps nothing from going on. */
  async #enqueue<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#queue.then(work);
    this.#queue = done.then(
      () => undefined,
      () => undefined,
    );
    return done;
  }

  #breakTurn(error: unknown): void {
    // What still runs could tell nobody of its end.
    for (const controller of this.#running.values()) controller.abort();
    this.#failed?.(error);
    this.#world.observer?.broken(error);
    this.#ended = undefined;
    this.#turn = undefined;
    this.#state = { ...this.#state, stage: { at: 'idle' } };
    this.#wakeQuiet();
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
      case 'stop':
        return this.#running.get(effect.number)?.abort();
      case 'end':
        return this.#end(effect.ending);
    }
  }

  async #append({ items, usage }: Extract<LoopEffect, { type: 'append' }>): Promise<void> {
    await this.#write([
      ...items.map((item) => ({ type: 'item', item }) as const),
      ...(usage === undefined ? [] : [{ type: 'usage', usage } as const]),
    ]);
    // The last answer of a turn is followed by the end of the turn, which tells the same.
    if (usage !== undefined && this.#state.stage.at !== 'idle') this.#world.emit(this.#tokenCount());
  }

  #hold({ number, isFollowUpOwed }: Extract<LoopEffect, { type: 'hold' }>): void {
    const { observer } = this.#world;
    if (observer === undefined || this.#turn === undefined) {
      return this.#send({ type: 'resumed', number, isAsked: false });
    }
    if (!isFollowUpOwed) this.#isAsked = false;
    observer.held(this.#turn, { isFollowUpOwed, batchFrom: this.#batchFrom });
    this.#wakeQuiet();
  }

  /** Begins something that takes long, beside the queue of events. */
  #start(number: number, work: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController();
    // Each of the calls that run side by side listens to it, as many as the model asks for.
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
    if (outcome.type === 'compacted') this.#world.observer?.compacted(outcome.compaction.type);
    // A compaction that failed left the history as it was; whether it fits, the provider says.
    const settlement =
      outcome.type === 'context_exhausted'
        ? ({ type: 'exhausted', why: this.#whatFills(outcome) } as const)
        : ({ type: 'fits' } as const);
    this.#send({ type: 'settled', number, settlement });
  }

  #whatFills({ why, parts }: Extract<CompactionOutcome, { type: 'context_exhausted' }>): string {
    const { instructions, tools, config } = this.#world;
    const fixed = approximateTokens(instructions + JSON.stringify(tools.specs), config.compact);
    return (
      `${why.replace(/\.?$/, '.')} The window is filled by ${parts}, ` +
      `and by instructions and tools (about ${fixed} tokens), which are in every request.`
    );
  }

  async #sample(number: number, signal: AbortSignal): Promise<void> {
    this.#batchFrom = this.#position;
    try {
      const answer = new AnswerSoFar();
      for await (const event of this.#world.model.stream(this.#request(), signal)) {
        answer.accept(event);
        this.#tell(event);
        this.#world.observer?.active();
      }
      const { items, usage, stopReason } = answer;
      const counted = usage === undefined ? {} : { usage };
      this.#send({ type: 'sampled', number, items, stopReason, ...counted });
    } catch (error) {
      if (!(error instanceof BatonError)) throw error;
      if (error.code === 'interrupted') return;
      const isOverflow = error.code === 'model_overflow';
      this.#send({ type: 'sampling_failed', number, isOverflow, why: error.message });
    }
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

  #tell(event: ModelEvent): void {
    const { emit } = this.#world;
    switch (event.type) {
      case 'text_delta':
        return emit({ type: 'agent_message_delta', delta: event.text });
      case 'reasoning_delta':
        return emit({ type: 'agent_reasoning_delta', delta: event.text });
      case 'restarted': {
        const message = `Reconnecting… ${event.retry}/${event.maxRetries} (${event.why})`;
        return emit({ type: 'stream_error', message });
      }
      default:
    }
  }

  async #run({ number, calls }: Extract<LoopEffect, { type: 'run' }>, signal: AbortSignal): Promise<void> {
    await Promise.all(
      calls.map(async (call) => {
        const result = await this.#world.tools.run(call, signal);
        if (!signal.aborted) this.#send({ type: 'tool_finished', number, result });
      }),
    );
  }

  async #end(ending: TurnEnding): Promise<void> {
    this.#lastEnding = ending;
    if (ending.type === 'failed' || ending.type === 'context_exhausted') {
      this.#world.emit({ type: 'error', code: ending.type, message: ending.why });
    }
    const ways = { complete: 'complete', aborted: 'interrupted' } as const;
    await this.#finish(
      ending.type === 'complete' || ending.type === 'aborted' ? ways[ending.type] : 'failed',
    );
    const resolve = this.#ended;
    this.#ended = undefined;
    resolve?.(ending);
  }

  #tokenCount(): Extract<SessionEvent, { type: 'token_count' }> {
    const { used, rawWindow } = this.#account.gauge();
    return {
      type: 'token_count',
      used,
      model_context_window: rawWindow ?? null,
      percent_remaining: rawWindow === undefined ? null : percentRemaining(used, usableWindow(rawWindow)),
      total: this.#spent.total,
      last: this.#spent.last ?? null,
    };
  }

  async #finish(how: 'complete' | 'interrupted' | 'failed'): Promise<void> {
    const turn = this.#turn;
    if (turn === undefined) return;
    const { emit, log, observer } = this.#world;
    const { turnId, kind, origin, said } = turn;
    const ended = { turnId, kind, origin };
    const lastAgentMessage = said === undefined ? {} : { lastAgentMessage: said };
    await this.#write([
      how === 'complete'
        ? { type: 'turn_complete', ...ended, ...lastAgentMessage }
        : { type: 'turn_aborted', ...ended, reason: how },
    ]);
    await log.sync();
    this.#turn = undefined;
    const told = { turn_id: turnId, task_kind: kind, origin: wireOrigin(origin) };
    emit(
      how === 'complete'
        ? { type: 'turn_complete', ...told, last_agent_message: said ?? null }
        : { type: 'turn_aborted', ...told, reason: how },
    );
    emit(this.#tokenCount());
    if (how === 'complete') observer?.complete(turn);
    else observer?.aborted(turn, how);
    this.#wakeQuiet();
  }

  async #write(records: readonly LogRecord[]): Promise<void> {
    await this.#world.log.append(records);
    for (const record of records) {
      this.#fold(record);
      if (record.type === 'item') this.#show(record.item);
    }
  }

  #fold(record: LogRecord): void {
    if (record.type === 'turn_started') this.#turns++;
    if (record.type === 'compacted') this.#compactions++;
    if (record.type === 'session_meta' || record.type === 'settings') this.#cwd = record.cwd ?? this.#cwd;
    if (record.type === 'item') this.#noteItem(record.item);
    this.#history.add(record);
    this.#trail.add(record);
    this.#account.add(record);
    if (record.type === 'usage') this.#spent = addUsage(this.#spent, record.usage);
    this.#compactor.noteRecord(record);
    this.#world.observer?.record(record);
  }

  #noteItem(item: Item): void {
    this.#position++;
    if (this.#turn !== undefined && callOf(item) !== undefined)
      this.#turn = { ...this.#turn, hadAction: true };
    if (item.type === 'message' && item.role === 'assistant' && authorOf(item) === 'agent') {
      this.#lastMessage = textOfParts(item.content);
      if (this.#turn !== undefined) this.#turn = { ...this.#turn, said: this.#lastMessage };
    }
  }

  #show(item: Item): void {
    if (item.type !== 'message') return;
    const text = textOfParts(item.content);
    if (item.role === 'assistant') {
      this.#world.emit({ type: 'agent_message', message: text });
    } else if (item.role === 'user') {
      const step = item.origin?.step ?? null;
      this.#world.emit({ type: 'user_message', message: text, author: authorOf(item), step });
    }
  }

  #asThread(): CompactableThread {
    return {
      subject: () => this.#subject(),
      usage: () => this.#account.gauge(),
      commit: async ({ record }) => {
        await this.#write([record]);
        await this.#world.log.sync();
      },
    };
  }

  #subject(): Subject {
    const { threadId, modelName } = this.#world;
    const { rawWindow } = this.#account.gauge();
    const trailOf = () => this.#trail.trail();
    return {
      entries: this.#history.entries,
      kept: this.#account,
      window: rawWindow ?? UNKNOWN_MODEL_WINDOW,
      leavesInitialContext: false,
      summaryPrefix: SUMMARY_PREFIX,
      session: { sessionId: threadId, transcriptPath: undefined, cwd: this.#cwd, model: modelName },
      // Put together where it is needed: the arbiter asks for the subject before every sampling.
      get trail() {
        return trailOf();
      },
    };
  }
}

function lastMessageOf(items: readonly Item[]): string | undefined {
  const last = items.findLast(
    (item) => item.type === 'message' && item.role === 'assistant' && authorOf(item) === 'agent',
  );
  return last?.type === 'message' ? textOfParts(last.content) : undefined;
}

/** Puts an answer together; only a whole one is ever recorded. */
class AnswerSoFar {
  #items: Item[] = [];
  #usage: Extract<ModelEvent, { type: 'usage' }>['usage'] | undefined;
  stopReason: StopReason = 'end_turn';

  accept(event: ModelEvent): void {
    if (event.type === 'item_done') this.#items.push(event.item);
    else if (event.type === 'usage') this.#usage = event.usage;
    else if (event.type === 'completed') this.stopReason = event.stopReason;
    else if (event.type === 'restarted') [this.#items, this.#usage] = [[], undefined];
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  get usage(): Extract<ModelEvent, { type: 'usage' }>['usage'] | undefined {
    return this.#usage;
  }
}
