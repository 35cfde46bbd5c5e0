// The one door to compaction of a live thread: it puts every request, from any caller, to the arbiter, carries it out
// under the one lease, and has the loop guard remember it. Decides nothing itself.

import { BatonError } from '../errors.ts';
import type { Config } from '../config/schema.ts';
import type { CancelSignal } from '../ports.ts';
import type { JsonObject } from '../protocol/item.ts';
import type { CompactionEvent } from '../protocol/wire/event.ts';
import type { CompactionPlan, RefusalReason } from '../protocol/plan.ts';
import type { LogRecord, NoteRecord } from '../protocol/record.ts';
import type { Phase, Reason, Strategy } from '../vocabulary.ts';
import { COMPACTED_NOTICE } from './completed.ts';
import { dispatch, dispatchSettings, isBuiltInDue } from './dispatch.ts';
import type { CompactionPressure, CompactionRequest, DispatchSettings } from './dispatch.ts';
import { carryThrough } from './compact.io.ts';
import { clearSubject } from './micro/clear.ts';
import { remoteObstacle } from './rewrite.io.ts';
import type { Compaction, CompactionWorld, Occasion, Subject } from './subject.ts';
import type { Summarizers } from './summarise/summarizers.ts';
import { GUARD_NOTE, guardIn, guardNote } from './guard-note.ts';
import { largestParts, measureWith } from './measure.ts';
import {
  beginCompaction,
  endCompaction,
  NEW_GUARD,
  noteModelChange,
  noteProgress,
  noteReport,
  noteUserTurn,
  noteVeto,
} from './loop-guard.ts';
import type { LoopGuard, Requester } from './loop-guard.ts';
import { NoveltyDetector } from './novelty.ts';

/** The thread to compact. Its owner keeps the log. */
export interface CompactableThread {
  /** The history as it is now, with the log behind it. */
  subject(): Subject;
  /** Used tokens of the context now, by the one estimator of the thread; and the raw window, undefined while unknown. */
  usage(): { readonly used: number; readonly rawWindow: number | undefined };
  /** Appends the record; fulfilled once it is durable. */
  commit(compaction: Compaction): Promise<void>;
  /** Appends what is remembered beside the history; without it the process alone remembers. */
  remember?(note: NoteRecord): Promise<void>;
}

/** A request by the user. */
export interface ManualAsk {
  readonly from: 'manual';
  readonly strategy: Strategy;
  readonly targetTokens?: number;
  /** What the summary shall keep above all. */
  readonly instructions?: string;
  /** Stored with the receipt. */
  readonly audit?: JsonObject;
}

/** A request by the watcher, at the end of a turn or inside of one. */
export interface WatcherAsk {
  readonly from: 'watcher' | 'mid_turn';
  /** Why, one sentence with the numbers. */
  readonly why: string;
  readonly isEmergency: boolean;
  /** Used tokens with which it would be content; undefined: clearing alone does not do. */
  readonly target?: number;
  /** A packet of the agent's own is the summary of a model already: none is asked for another one. */
  readonly isEmbedded?: boolean;
  /** A handoff follows. */
  readonly isHandedOver?: boolean;
  /** Stored with the receipt. */
  readonly audit?: JsonObject;
}

/** A request by the engine itself. */
export interface EngineAsk {
  readonly from: 'pre_turn' | 'built_in' | 'overflow';
}

export type CompactionAsk = ManualAsk | WatcherAsk | EngineAsk;

/** What compactions of a living thread are carried out in. */
export interface CompactorWorld extends Omit<CompactionWorld, 'signal' | 'commit'> {
  /** Who writes the summaries that the watcher asks for; absent: the same as for all others. */
  readonly watcherSummarizers?: Summarizers;
}

/** The outcome of a request. */
export type CompactionOutcome =
  | { readonly type: 'compacted'; readonly compaction: Compaction }
  | { readonly type: 'refused'; readonly reason: RefusalReason; readonly why: string }
  /** The history is what it was. */
  | { readonly type: 'failed'; readonly error: BatonError }
  /** Nothing that may still be done makes it fit: the turn ends, and the user is told what fills the window. */
  | { readonly type: 'context_exhausted'; readonly why: string; readonly parts: string };

/** Compactions that one request may lead to: clearing that turns out to be too little, then a summary. */
const MOST_STEPS = 3;

/** Compacts one thread, one compaction at a time. */
export class Compactor {
  readonly #thread: CompactableThread;
  readonly #world: CompactorWorld;
  readonly #novelty = new NoveltyDetector();
  /** Notes of this process, which say nothing new to it. */
  readonly #ownNotes = new WeakSet<NoteRecord>();
  readonly #config: Config;
  #guard: LoopGuard = NEW_GUARD;
  #model: string | undefined;
  #inFlight: Promise<CompactionOutcome> | undefined;
  /** Used tokens before an automatic compaction whose effect the provider has not reported yet. */
  #before: number | undefined;

  /** What people are shown beside it. @source spec 3-watcher §6, seed 003 §2 */
  #emit(event: CompactionEvent): void {
    const { emit } = this.#world;
    const type = 'background_event';
    if (event.type === 'item_started')
      emit({ type, message: 'Compacting thread context', surface: 'status' });
    emit(event);
    if (event.type === 'context_compacted') emit({ type, message: COMPACTED_NOTICE, surface: 'info' });
  }

  constructor(thread: CompactableThread, config: Config, world: CompactorWorld) {
    this.#thread = thread;
    this.#config = config;
    this.#world = world;
  }

  /** What keeps this thread from being compacted in circles. */
  get guard(): LoopGuard {
    return this.#guard;
  }

  /** Each record of the log, those of earlier processes first: the guard then stands where it stood. */
  noteRecord(record: LogRecord): void {
    if (record.type === 'note') return this.#recall(record);
    if (record.type === 'settings') this.#noteModel(record.model);
    if (record.type === 'turn_started' && record.kind === 'regular' && record.origin?.type === 'user') {
      this.#noteUserTurn();
    }
    if (this.#novelty.add(record)) this.#guard = noteProgress(this.#guard);
    if (record.type === 'usage' && record.usage.source === 'reported' && this.#before !== undefined) {
      this.#guard = noteReport(this.#guard, this.#before, this.#thread.usage().used);
      this.#before = undefined;
    }
    if (record.type === 'undo_compaction') this.#guard = noteVeto(this.#guard, this.#thread.usage().used);
  }

  #recall(note: NoteRecord): void {
    if (note.kind !== GUARD_NOTE || this.#ownNotes.has(note)) return;
    const memory = guardIn(note.value);
    if (memory === undefined) return;
    this.#guard = memory.guard;
    this.#before = memory.before;
  }

  #note(): NoteRecord {
    const note = guardNote({ guard: this.#guard, before: this.#before });
    this.#ownNotes.add(note);
    return note;
  }

  #noteModel(model: string | undefined): void {
    if (model === undefined || model === this.#model) return;
    if (this.#model !== undefined) this.#guard = noteModelChange(this.#guard);
    this.#model = model;
  }

  #noteUserTurn(): void {
    const isDue = isBuiltInDue(this.#pressure(), dispatchSettings(this.#config));
    this.#guard = noteUserTurn(this.#guard, { hasHeadroom: !isDue });
  }

  /** A judge vetoed: growth is counted from here. @returns what the log has to keep of it */
  noteVeto(): NoteRecord {
    this.#guard = noteVeto(this.#guard, this.#thread.usage().used);
    return this.#note();
  }

  /** What the arbiter would do about a request of the watcher's now. Takes no lease and changes nothing. */
  plan(ask: WatcherAsk): CompactionPlan {
    return dispatch(this.#requestOf(ask), this.#guard, this.#settings());
  }

  /**
   * Puts a request to the arbiter and carries out what it says. One that finds a compaction in flight waits for it, if it
   * only needs room; the watcher and the user are told instead.
   */
  async request(ask: CompactionAsk, signal: CancelSignal): Promise<CompactionOutcome> {
    const { from } = ask;
    if (this.#inFlight !== undefined && from !== 'manual' && from !== 'watcher' && from !== 'mid_turn') {
      return this.#inFlight;
    }
    const plan = dispatch(this.#requestOf(ask), this.#guard, this.#settings());
    if (plan.type === 'none') return this.#refusal(ask, plan);
    const running = this.#carryOut(ask, plan, signal);
    this.#inFlight = running;
    try {
      return await running;
    } finally {
      this.#inFlight = undefined;
    }
  }

  async #carryOut(
    ask: CompactionAsk,
    first: Parameters<typeof carryThrough>[0],
    signal: CancelSignal,
  ): Promise<CompactionOutcome> {
    let outcome = await this.#once(ask, first, signal);
    // Clearing was planned on an estimate; where it was not enough after all, the summary follows at once.
    for (let step = 1; step < MOST_STEPS; step++) {
      if (ask.from === 'manual' || outcome.type !== 'compacted' || outcome.compaction.type !== 'micro') break;
      const plan = dispatch(this.#requestOf(ask), this.#guard, this.#settings());
      if (plan.type === 'none' || !this.#isStillDue(ask)) break;
      outcome = await this.#once(ask, plan, signal);
    }
    await this.#thread.remember?.(this.#note());
    return outcome;
  }

  #isStillDue(ask: CompactionAsk): boolean {
    const { used } = this.#thread.usage();
    if (ask.from === 'watcher' || ask.from === 'mid_turn') {
      return ask.target !== undefined && used > ask.target;
    }
    return isBuiltInDue(this.#pressure(), dispatchSettings(this.#config));
  }

  async #once(
    ask: CompactionAsk,
    plan: Parameters<typeof carryThrough>[0],
    signal: CancelSignal,
  ): Promise<CompactionOutcome> {
    const { used } = this.#thread.usage();
    this.#guard = beginCompaction(this.#guard, ask.from, plan.type);
    const epoch = this.#guard.nextEpoch - 1;
    try {
      const compaction = await carryThrough(
        plan,
        { subject: this.#thread.subject(), occasion: occasionOf(ask, plan.why) },
        this.#config,
        {
          ...this.#world,
          ...this.#summarizersFor(ask),
          signal,
          emit: (event) => this.#emit(event),
          commit: (result) => this.#thread.commit(result),
        },
      );
      const sizes = itemSizes(compaction);
      const { used: left } = this.#thread.usage();
      this.#guard = endCompaction(this.#guard, epoch, { type: 'compacted', ...sizes, used: left });
      if (compaction.type === 'full' && ask.from !== 'manual') this.#before = used;
      return plan.type === 'newest_turns' && this.#isStillDue(ask)
        ? this.#exhausted(`Nothing else can be removed, and  ${plan.why}.`)
        : { type: 'compacted', compaction };
    } catch (error) {
      const isCancelled = error instanceof BatonError && CANCELLED.has(error.code);
      this.#guard = endCompaction(this.#guard, epoch, { type: isCancelled ? 'cancelled' : 'failed', used });
      if (!(error instanceof BatonError)) throw error;
      return plan.type === 'newest_turns' && !isCancelled
        ? this.#exhausted(error.message)
        : { type: 'failed', error };
    }
  }

  #summarizersFor({ from }: CompactionAsk): Pick<CompactionWorld, 'summarizers'> {
    const { watcherSummarizers } = this.#world;
    const isWatcher = from === 'watcher' || from === 'mid_turn';
    return isWatcher && watcherSummarizers !== undefined ? { summarizers: watcherSummarizers } : {};
  }

  #refusal(
    ask: CompactionAsk,
    { reason, why }: { readonly reason: RefusalReason; readonly why: string },
  ): CompactionOutcome {
    const isEngine = ask.from !== 'manual' && ask.from !== 'watcher' && ask.from !== 'mid_turn';
    return isEngine && reason === 'breaker_open' ? this.#exhausted(why) : { type: 'refused', reason, why };
  }

  #exhausted(why: string): CompactionOutcome {
    const { entries, gauge } = this.#thread.subject();
    const items = entries.map(({ value }) => value);
    const measure = measureWith(this.#world.count, this.#config.compact);
    const parts = largestParts(items, measure, gauge?.fixed);
    return { type: 'context_exhausted', why, parts };
  }

  #requestOf(ask: CompactionAsk): CompactionRequest {
    if (ask.from === 'manual') return ask;
    const pressure = this.#pressure();
    return ask.from === 'watcher' || ask.from === 'mid_turn'
      ? { from: ask.from, pressure, isEmergency: ask.isEmergency, target: ask.target }
      : { from: ask.from, pressure };
  }

  /** What the arbiter goes by, the provider's abilities included. */
  #settings(): DispatchSettings {
    const obstacle = remoteObstacle(this.#thread.subject(), this.#config, this.#world.summarizers);
    return dispatchSettings(this.#config, { obstacle });
  }

  #pressure(): CompactionPressure {
    const { used, rawWindow } = this.#thread.usage();
    const usedAfterMicro = (): number | undefined => {
      const subject = this.#thread.subject();
      const { wasEffective, tokensSaved } = clearSubject(subject, this.#config, this.#world);
      if (!wasEffective) return undefined;
      return subject.gauge?.usedWithout(tokensSaved) ?? Math.max(0, used - tokensSaved);
    };
    return {
      used,
      rawWindow,
      // Looks at the whole history: not before every sampling, most of which are far from any limit.
      get usedAfterMicro() {
        return usedAfterMicro();
      },
    };
  }
}

/** What the items of a history took before and afterwards. */
function itemSizes(compaction: Compaction): { readonly preTokens: number; readonly postTokens: number } {
  if (compaction.type === 'micro') {
    const { preTokens, postTokens } = compaction;
    return { preTokens, postTokens };
  }
  const { preTokens, postTokens, beside = { before: 0, after: 0 } } = compaction.record.receipt;
  return { preTokens: preTokens - beside.before, postTokens: postTokens - beside.after };
}

/** Ends that are somebody's will and no failure of a compaction. */
const CANCELLED: ReadonlySet<string> = new Set(['interrupted', 'compaction_vetoed']);

const REASONS: Readonly<Record<Requester, Reason>> = {
  manual: 'user_requested',
  watcher: 'boundary',
  mid_turn: 'boundary',
  pre_turn: 'context_limit',
  built_in: 'context_limit',
  overflow: 'overflow',
};

const PHASES: Readonly<Record<Requester, Phase>> = {
  manual: 'standalone_turn',
  watcher: 'post_turn',
  mid_turn: 'mid_turn',
  pre_turn: 'pre_turn',
  built_in: 'mid_turn',
  overflow: 'mid_turn',
};

function occasionOf(ask: CompactionAsk, why: string): Occasion {
  const isEmergency = 'isEmergency' in ask && ask.isEmergency;
  return {
    trigger: ask.from === 'manual' ? 'manual' : 'auto',
    reason: isEmergency ? 'context_limit' : REASONS[ask.from],
    phase: PHASES[ask.from],
    strategy: ask.from === 'manual' ? ask.strategy : 'auto',
    why: 'why' in ask ? ask.why : `${why.charAt(0).toUpperCase()}${why.slice(1)}.`,
    ...(isEmergency || ask.from === 'overflow' ? { isEmergency: true } : {}),
    ...(ask.from === 'manual' && ask.targetTokens !== undefined ? { targetTokens: ask.targetTokens } : {}),
    ...(ask.from === 'manual' && ask.instructions !== undefined ? { instructions: ask.instructions } : {}),
    ...('isEmbedded' in ask && ask.isEmbedded === true ? { isEmbedded: true } : {}),
    ...('isHandedOver' in ask && ask.isHandedOver === true ? { isHandedOver: true } : {}),
    ...('audit' in ask && ask.audit !== undefined ? { audit: ask.audit } : {}),
  };
}
