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
  WatcherAsk,
} from '../compaction/compactor/driver.ts';
import type { CompactionWorld, Subject } from '../compaction/driver.ts';
import type { Config } from '../config/schema.ts';
import { AccountFold } from '../history/account.ts';
import { WHOLE_ITEMS } from '../history/clear.ts';
import { SUMMARY_PREFIX } from '../history/filter.ts';
import { HistoryFold } from '../history/project.ts';
import type { CancelSignal, Model } from '../ports.ts';
import { authorOf, callOf, textOfParts } from '../protocol/item.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';
import type { ModelEvent, ModelRequest, ToolSpec } from '../protocol/model.ts';
import type { CompactionPlan } from '../protocol/plan.ts';
import type { LogRecord, NoteRecord } from '../protocol/record.ts';
import { wireOrigin } from '../protocol/turn.ts';
import type { TaskKind, TurnOrigin } from '../protocol/turn.ts';
import { UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import { percentRemaining, usableWindow } from '../tokens/pressure.ts';
import { TrailCollector } from '../trail/collect.ts';
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
  readonly compaction: Omit<CompactionWorld, 'signal' | 'commit' | 'emit'>;
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

/** A thread that is alive. */
export class Session {
  readonly #world: SessionWorld;
  readonly #history = new HistoryFold(WHOLE_ITEMS);
  readonly #trail = new TrailCollector();
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
  #cwd: string | undefined;
  #lastEnding: TurnEnding | undefined;
  #quiet: (() => void)[] = [];

  /** @param past the records of the thread so far, none for a new one */
  constructor(world: SessionWorld, past: Iterable<LogRecord> = []) {
    this.#world = world;
    const { compact, modelContextWindow: window } = world.config;
    this.#account = new AccountFold({
      estimate: compact,
      safetyMultiplier: compact.tokenSafetyMultiplier,
      ...(window === undefined ? {} : { window }),
    });
    const { config, compaction, emit } = world;
    this.#compactor = new Compactor(this.#asThread(), config, { ...compaction, emit });
    for (const record of past) this.#fold(record);
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
    await this.#enqueue(async () => {
      if (this.#turn !== undefined) throw new RangeError('A turn is running: steer it, or wait for its end');
      const turnId = await this.#begin({ kind, origin });
      await this.#step({ type: 'start', turnId, input });
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
    await this.#untilQuiet();
    await this.#enqueue(async () => {
      await this.#write(items.map((item) => ({ type: 'item', item }) as const));
      this.#isAsked ||= isAsking;
    });
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
    await this.#untilQuiet();
    if (origin === undefined) return this.#compactor.request(ask, signal);
    await this.#enqueue(() => this.#begin({ kind: 'compact', origin }));
    const outcome = await this.#compactor.request(ask, signal);
    const isDone = outcome.type === 'compacted';
    await this.#enqueue(() => this.#finish(isDone ? 'complete' : signal.aborted ? 'interrupted' : 'failed'));
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
    await this.#untilQuiet();
    return this.#enqueue(async () => {
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

  #isQuiet(): boolean {
    return this.#state.stage.at === 'held' || this.#turn === undefined;
  }

  async #untilQuiet(): Promise<void> {
    while (!this.#isQuiet()) await new Promise<void>((resolve) => this.#quiet.push(resolve));
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
        return this.#write([
          ...effect.items.map((item) => ({ type: 'item', item }) as const),
          ...(effect.usage === undefined ? [] : [{ type: 'usage', usage: effect.usage } as const]),
        ]);
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
    const outcome = await this.#compactor.request({ from }, signal);
    if (outcome.type === 'compacted') this.#world.observer?.compacted(outcome.compaction.type);
    // A compaction that failed left the history as it was; whether it fits, the provider says.
    const settlement =
      outcome.type === 'context_exhausted'
        ? ({ type: 'exhausted', why: `${outcome.why} The window is filled by ${outcome.parts}.` } as const)
        : ({ type: 'fits' } as const);
    this.#send({ type: 'settled', number, settlement });
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
