// Rides along with one conversation of a host agent: hands its records to the engine, one call at a time, and its changes back. An
// engine that throws or hangs never stops the host: the answer is then `leave`, and the host does what it does without Baton.

import { orderOf } from './order.ts';
import type { HostNews, HostWindow, RiderAnswer, RiderEngine } from './port.ts';
import { NO_STREAK, noteCompaction, noteRecords, verdictOf } from './streak.ts';
import type { HostCompaction, TurnStand } from '../calls/watched-log.ts';

/** What a rider needs. */
export interface RiderWorld {
  /** An engine for a conversation that is read from its beginning. */
  open(window: HostWindow): RiderEngine;
  /** Milliseconds for one answer. Absent: `ANSWER_DEADLINE_MS`. */
  readonly deadlineMs?: number;
}

/** Milliseconds that a host waits for an answer. @source docs/decisions/riding-along.md */
export const ANSWER_DEADLINE_MS = 10_000;

/** Faults after which Baton stands aside for the rest of the process. @source docs/decisions/riding-along.md */
const MOST_FAULTS = 3;

const LEAVE: RiderAnswer = { type: 'leave' };

/** One conversation of a host. */
export class Rider {
  readonly #world: RiderWorld;
  #engine: { readonly is: RiderEngine; readonly window: HostWindow } | undefined;
  #streak = NO_STREAK;
  #isBusy = false;
  #faults = 0;

  constructor(world: RiderWorld) {
    this.#world = world;
  }

  /** Baton has failed too often in this process to be asked again. */
  get standsAside(): boolean {
    return this.#faults >= MOST_FAULTS;
  }

  /** Tokens in use by the engine's count, and the window; undefined before the first answer. */
  get usage(): { readonly used: number; readonly rawWindow: number | undefined } | undefined {
    return this.#engine?.is.usage();
  }

  /** Whether the rider knows the conversation by this window, so that only what is new needs to be read. */
  isFollowing({ contextWindow }: HostWindow): boolean {
    return this.#engine?.window.contextWindow === contextWindow;
  }

  /** A step of the agent has ended, tools included. Never rejects. */
  async stepEnded(news: HostNews, stand: TurnStand): Promise<RiderAnswer> {
    return this.#answer(news, async (engine) => {
      if (verdictOf(this.#streak) === 'stop') {
        engine.add(news.records);
        return { type: 'leave', why: STOPPED };
      }
      await engine.follow(news.records, stand);
      return undefined;
    });
  }

  /** The host compacts by itself, now. Never rejects. */
  async hostCompacts(news: HostNews, compaction: HostCompaction): Promise<RiderAnswer> {
    const controller = new AbortController();
    return this.#answer(
      news,
      async (engine) => {
        engine.add(news.records);
        const { from } = compaction;
        if (from === 'threshold' && verdictOf(this.#streak) === 'stop') {
          return { type: 'refuse', why: STOPPED };
        }
        const outcome = await engine.compact(compaction, controller.signal);
        if (outcome.type === 'compacted') return undefined;
        const why = outcome.type === 'failed' ? outcome.error.message : outcome.why;
        const isTooEarly = outcome.type === 'refused' && outcome.reason === 'rearm';
        return { type: from === 'threshold' && isTooEarly ? 'refuse' : 'leave', why };
      },
      controller,
    );
  }

  /** The host carried out nothing, or holds another conversation now: the next news are the whole of it. */
  async forget(): Promise<void> {
    const engine = this.#engine;
    this.#engine = undefined;
    await engine?.is.close().catch(() => undefined);
  }

  async #answer(
    news: HostNews,
    ask: (engine: RiderEngine) => Promise<RiderAnswer | undefined>,
    controller = new AbortController(),
  ): Promise<RiderAnswer> {
    // A second question, as of a host whose own trigger fires meanwhile, finds the first in flight.
    if (this.#isBusy || this.standsAside) return LEAVE;
    this.#isBusy = true;
    const deadlineMs = this.#world.deadlineMs ?? ANSWER_DEADLINE_MS;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        controller.abort();
        reject(new Error(`no answer within ${deadlineMs / 1000} s`));
      }, deadlineMs);
    });
    try {
      return await Promise.race([this.#ask(news, ask), late]);
    } catch (error) {
      this.#faults++;
      const why = error instanceof Error ? error.message : String(error);
      const end = this.standsAside ? ' Baton stands aside until the agent starts again.' : '';
      // What the engine did by then is unknown.
      void this.forget();
      return { type: 'leave', why: `Baton failed, and the agent continues without it: ${why}.${end}` };
    } finally {
      clearTimeout(timer);
      this.#isBusy = false;
    }
  }

  async #ask(
    news: HostNews,
    ask: (engine: RiderEngine) => Promise<RiderAnswer | undefined>,
  ): Promise<RiderAnswer> {
    const engine = await this.#engineFor(news);
    this.#streak = noteRecords(this.#streak, news.records);
    const refusal = await ask(engine);
    const order = orderOf({
      changes: engine.takeChanges(),
      entries: engine.entries,
      continues: engine.isHandedOver,
    });
    if (order === undefined) return refusal ?? LEAVE;
    if (typeof order === 'string') {
      await this.forget();
      return { type: 'leave', why: order };
    }
    if (order.replacement === undefined) return order;
    const isLast = verdictOf(this.#streak) === 'go_and_pause';
    this.#streak = noteCompaction(this.#streak);
    return { ...order, continues: order.continues && !isLast };
  }

  async #engineFor({ isContinued, window }: HostNews): Promise<RiderEngine> {
    if (isContinued && this.#engine !== undefined) return this.#engine.is;
    if (isContinued) throw new RangeError('The host continued a conversation that the rider does not know');
    await this.forget();
    const is = this.#world.open(window);
    this.#engine = { is, window };
    return is;
  }
}

const STOPPED =
  'The context was compacted twice without a message of yours or a finished tool call in between; Baton compacts no more until one comes.';
