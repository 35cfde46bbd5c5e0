// Runs the turns of one thread: sends what `loop.ts` asks for to the log, the model, the tools and the compactor, and tells it
// what came back. One event at a time; each effect has happened before the next one begins.

import { BatonError } from '../errors.ts';
import { Compactor } from '../compaction/compactor/driver.ts';
import type { CompactableThread } from '../compaction/compactor/driver.ts';
import type { CompactionWorld, Subject } from '../compaction/driver.ts';
import type { Config } from '../config/schema.ts';
import { AccountFold } from '../history/account.ts';
import { WHOLE_ITEMS } from '../history/clear.ts';
import { SUMMARY_PREFIX } from '../history/filter.ts';
import { HistoryFold } from '../history/project.ts';
import type { CancelSignal, Model } from '../ports.ts';
import type { Item, ToolOutputItem } from '../protocol/item.ts';
import type { ModelEvent, ModelRequest, ToolSpec } from '../protocol/model.ts';
import type { LogRecord } from '../protocol/record.ts';
import { authorOf, textOfParts } from '../protocol/item.ts';
import { UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import { TrailCollector } from '../trail/collect.ts';
import type { StopReason } from '../vocabulary.ts';
import type { SessionEvent } from '../protocol/event.ts';
import { IDLE_LOOP, loopStep } from './loop.ts';
import type { LoopEffect, LoopEvent, TurnEnding } from './loop.ts';

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
}

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
  }

  /** The history as a model sees it. */
  get items(): readonly Item[] {
    return this.#history.entries.map(({ value }) => value);
  }

  /**
   * Runs a turn on a message of the user.
   * @returns how it ended
   * @throws what writing the log fails with: nothing can be promised then
   */
  async turn(input: readonly Item[]): Promise<TurnEnding> {
    if (this.#ended !== undefined) throw new RangeError('A turn is running: steer it, or wait for its end');
    const turnId = `turn-${this.#turns + 1}`;
    const ended = new Promise<TurnEnding>((resolve, reject) => {
      this.#ended = resolve;
      this.#failed = reject;
    });
    this.#compactor.noteUserTurn();
    this.#world.emit({ type: 'turn_started', turn_id: turnId });
    this.#enqueue(async () => {
      await this.#write([{ type: 'turn_started', turnId }]);
      await this.#step({ type: 'start', turnId, input });
    });
    return ended;
  }

  /**
   * Gives the running turn a message; the agent sees it before it samples again.
   * @returns whether a turn was running that took it; the message is the caller's still where none was
   */
  async steer(item: Item): Promise<boolean> {
    return new Promise((resolve) => {
      this.#enqueue(async () => {
        const isTaken = this.#state.stage.at !== 'idle';
        await this.#step({ type: 'steer', item });
        resolve(isTaken);
      });
    });
  }

  /** Ends the running turn at once, whatever it is doing. */
  interrupt(): void {
    this.#send({ type: 'interrupt' });
  }

  #send(event: LoopEvent): void {
    this.#enqueue(() => this.#step(event));
  }

  #enqueue(work: () => Promise<void>): void {
    this.#queue = this.#queue.then(work).catch((error: unknown) => this.#breakTurn(error));
  }

  #breakTurn(error: unknown): void {
    // What still runs could tell nobody of its end.
    for (const controller of this.#running.values()) controller.abort();
    this.#failed?.(error);
    this.#ended = undefined;
    this.#state = { ...this.#state, stage: { at: 'idle' } };
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
        return this.#send({ type: 'resumed', number: effect.number, items: [] });
      case 'stop':
        return this.#running.get(effect.number)?.abort();
      case 'end':
        return this.#end(effect.turnId, effect.ending);
    }
  }

  /** Begins something that takes long, beside the queue of events. */
  #start(number: number, work: (signal: AbortSignal) => Promise<void>): void {
    const controller = new AbortController();
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
    // A compaction that failed left the history as it was; whether it fits, the provider says.
    const settlement =
      outcome.type === 'context_exhausted'
        ? ({ type: 'exhausted', why: `${outcome.why} The window is filled by ${outcome.parts}.` } as const)
        : ({ type: 'fits' } as const);
    this.#send({ type: 'settled', number, settlement });
  }

  async #sample(number: number, signal: AbortSignal): Promise<void> {
    try {
      const answer = new AnswerSoFar();
      for await (const event of this.#world.model.stream(this.#request(), signal)) {
        answer.accept(event);
        this.#tell(event);
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

  async #end(turnId: string, ending: TurnEnding): Promise<void> {
    const { emit, log } = this.#world;
    await this.#write([{ type: ending.type === 'aborted' ? 'turn_aborted' : 'turn_complete', turnId }]);
    await log.sync();
    if (ending.type === 'failed' || ending.type === 'context_exhausted') {
      emit({ type: 'error', code: ending.type, message: ending.why });
    }
    emit(
      ending.type === 'aborted'
        ? { type: 'turn_aborted', turn_id: turnId }
        : { type: 'turn_complete', turn_id: turnId, last_agent_message: this.#lastMessage ?? null },
    );
    const { used, rawWindow } = this.#account.gauge();
    emit({ type: 'token_count', used, model_context_window: rawWindow ?? null });
    const resolve = this.#ended;
    this.#ended = undefined;
    resolve?.(ending);
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
    this.#history.add(record);
    this.#trail.add(record);
    this.#account.add(record);
    this.#compactor.noteRecord(record);
  }

  #show(item: Item): void {
    if (item.type !== 'message') return;
    const text = textOfParts(item.content);
    if (item.role === 'assistant') {
      this.#lastMessage = text;
      this.#world.emit({ type: 'agent_message', message: text });
    } else if (authorOf(item) === 'user') this.#world.emit({ type: 'user_message', message: text });
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
    const trail = this.#trail.trail();
    const { rawWindow } = this.#account.gauge();
    return {
      entries: this.#history.entries,
      window: rawWindow ?? UNKNOWN_MODEL_WINDOW,
      leavesInitialContext: false,
      summaryPrefix: SUMMARY_PREFIX,
      session: { sessionId: threadId, transcriptPath: undefined, cwd: trail.cwd, model: modelName },
      trail,
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
