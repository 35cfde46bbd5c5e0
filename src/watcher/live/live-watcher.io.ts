// Watches one live thread: reports events to the state machine and performs its effects. Makes no decisions.
//
// Its mailbox takes one event after another. A new state is in the log before its effects are performed, and each
// effect completes before the next one begins; long work (a compaction, a judge) is started, and its end is an event.

import type { DecisionRecord } from '../../protocol/decision.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import type { TurnOrigin } from '../../protocol/turn.ts';
import { tierOf } from '../decide.ts';
import { explain } from '../decision-points.ts';
import type { Policy } from '../policy.ts';
import { packetItem } from '../packet/messages.ts';
import { SignalDetector, signalSettings } from '../signals/signals.ts';
import type { Signal } from '../../protocol/signal.ts';
import { isRequesting } from '../sequence.ts';
import { awaitedNumber, beginWatching, decisionOf, isAtRest, sequenceOf } from '../state.ts';
import type {
  ArmDeadline,
  AskJudgment,
  AssemblePacket,
  Compact,
  HandOff,
  Inject,
  WatcherEffect,
} from '../effects.ts';
import type { WatcherEvent } from '../events.ts';
import type { UserMessage, WatcherState } from '../state.ts';
import { transition } from '../transition.ts';
import { watcherView } from '../view.ts';
import type { Tier } from '../../vocabulary.ts';
import type { WatchedAgent, WatcherSettings, WatcherVoice, WatcherWorld } from './agent.ts';
import { Deadlines } from './deadlines.io.ts';
import { DECISION_NOTE, PastFold, QUEUED_NOTE, STATE_NOTE } from './past.ts';
import { Judges } from './judges.io.ts';
import type { JudgedThread } from './judges.io.ts';
import { compactionOrder, compactionWish } from './orders.ts';
import { isSameQueue, isWorthANote, longMessages, requireRoom, revisedQueue, stateNote } from './queue.ts';
import type { QueueRevision } from './queue.ts';
import { HandoverWriter } from './packet-writer.io.ts';

/** An event without its time and without what the driver itself knows. */
type UntimedEvent = {
  [Name in WatcherEvent['type']]: Omit<Extract<WatcherEvent, { readonly type: Name }>, 'atMs'>;
}[WatcherEvent['type']];

/** The state of a turn, for events that are decision points. */
export interface TurnPoint {
  readonly turnId: string;
  readonly origin: TurnOrigin;
  readonly kind: 'regular' | 'shell' | 'compact' | 'review';
  readonly hadAction: boolean;
}

/** What a watcher starts with. */
export interface WatcherBeginning {
  readonly settings: WatcherSettings;
  readonly isSubagent?: boolean;
}

/** Maximum number of tool-call steps for one request to the agent. @source docs/decisions/live-watcher.md */
const MOST_STEPS = 8;

/** The watcher of one thread. */
export class LiveWatcher {
  readonly #agent: WatchedAgent;
  readonly #world: WatcherWorld;
  readonly #voice: WatcherVoice;
  readonly #deadlines: Deadlines;
  readonly #compactions = new Map<number, AbortController>();
  readonly #judges: Judges;
  readonly #writer: HandoverWriter;
  readonly #detector: SignalDetector;
  /** Signals that no event has carried yet. */
  #signals: Signal[] = [];
  #past: PastFold | undefined = new PastFold();
  #state: WatcherState;
  /** The agent's tool-call steps for a request, by its number. */
  #steps = { number: -1, count: 0 };
  #settings: WatcherSettings;
  /** The last reported view; a thread starts idle. */
  #reportedView: string;
  #isResting = true;
  /** The sequence whose handoff is in the history: a repeated request is only confirmed. */
  #handedOff: string | undefined;
  /** Messages that the state does not know yet. */
  readonly #submitted = new Set<UserMessage>();
  /** Texts of waiting messages with separate notes, by message id. */
  #noted: ReadonlyMap<string, string> = new Map();
  #mailbox: Promise<void> = Promise.resolve();
  #waiting = 0;
  #broken: unknown;
  #resting: { readonly resolve: () => void; readonly reject: (error: unknown) => void }[] = [];

  constructor(
    agent: WatchedAgent,
    world: WatcherWorld,
    voice: WatcherVoice,
    { settings, isSubagent = false }: WatcherBeginning,
  ) {
    this.#agent = agent;
    this.#world = world;
    this.#voice = voice;
    this.#writer = new HandoverWriter(agent, world, (text) => voice.show({ surface: 'warning', text }));
    this.#judges = new Judges(world, voice);
    this.#settings = settings;
    this.#detector = new SignalDetector(signalSettings(settings.config));
    this.#state = beginWatching(isSubagent);
    this.#reportedView = JSON.stringify(watcherView(this.#state, undefined));
    this.#deadlines = new Deadlines((which, number) => {
      void this.#report({ type: 'deadline_expired', which, number });
    });
  }

  /** Takes each record of the thread, starting with those of earlier processes. */
  record(record: LogRecord): void {
    this.#past?.add(record);
    this.#signals.push(...this.#detector.add(record));
  }

  /** Continues where an earlier process stopped. Call it once, before reporting anything else. */
  async begin(): Promise<void> {
    const found = this.#past?.found();
    this.#past = undefined;
    // The state already contains the signals of an earlier process.
    this.#signals = [];
    if (found === undefined) return;
    if (found.isStateDamaged) {
      this.#voice.show({
        surface: 'warning',
        text: "[rawr] the watcher's state cannot be read; it starts over.",
      });
    }
    if (found.lostMessages > 0) {
      const lost = found.lostMessages === 1 ? '1 waiting message' : `${found.lostMessages} waiting messages`;
      this.#voice.show({
        surface: 'warning',
        text: `[rawr] ${lost} can no longer be read; please send again.`,
      });
    }
    if (found.state === undefined) return;
    this.#state = found.state;
    if (found.state.memory.queue.length > 0) this.#voice.queueChanged(found.state.memory.queue);
    this.#reportView(undefined, undefined);
    await this.#report({ type: 'resumed', logged: found.logged });
  }

  /**
   * Accepts a user message. Resolves once it can no longer be lost.
   * @throws BatonError `queue_full`
   */
  async submit(message: UserMessage): Promise<void> {
    requireRoom([...this.queue, ...this.#submitted], message);
    this.#submitted.add(message);
    try {
      await this.#report({ type: 'user_submitted', message });
    } finally {
      this.#submitted.delete(message);
    }
  }

  /** Accepts again a user message that was accepted before, however many wait by now. */
  async resubmit(message: UserMessage): Promise<void> {
    await this.#report({ type: 'user_submitted', message });
  }

  /**
   * Changes the queue as it is after all earlier events. Resolves once the change can no longer be lost.
   * @throws BatonError as `revisedQueue`
   */
  async reviseQueue(revision: QueueRevision): Promise<void> {
    let refusal: unknown;
    await this.#post(async () => {
      let queue: readonly UserMessage[];
      try {
        queue = revisedQueue(this.#state.memory.queue, revision);
      } catch (error) {
        refusal = error;
        return;
      }
      await this.#take({ type: 'queue_revised', queue, atMs: this.#world.nowMs() });
    });
    if (refusal !== undefined) throw refusal;
  }

  /** The user stopped whatever runs. */
  interrupt(): void {
    void this.#report({ type: 'interrupted' });
  }

  /** A turn has started. */
  turnStarted({ turnId, kind, origin }: Omit<TurnPoint, 'hadAction'>): void {
    void this.#report({ type: 'turn_started', turnId, kind, origin });
  }

  /** A sampling is complete and its tools have finished; the turn waits for `resumeTurn`. */
  samplingComplete(
    { turnId, hadAction }: TurnPoint,
    { isFollowUpOwed, batchFrom }: { readonly isFollowUpOwed: boolean; readonly batchFrom: number },
  ): void {
    const from = isFollowUpOwed ? batchFrom : undefined;
    const point = { type: 'sampling_complete', turnId, hadAction, isFollowUpOwed, batchFrom: from } as const;
    void this.#report({ ...point, ...this.#moment() });
  }

  /** @param isFinal the process ends with this turn, so the watcher may start nothing after it */
  turnComplete(turn: TurnPoint, isFinal = false): void {
    void this.#report({ type: 'turn_complete', ...turn, ...this.#moment(), isFinal });
  }

  /** The user has declared a phase complete, and the log holds it. */
  phaseCompleted(): void {
    void this.#report({ type: 'phase_completed', ...this.#moment() });
  }

  turnAborted({ turnId, kind, origin }: TurnPoint, reason: 'interrupted' | 'failed', why?: string): void {
    this.#signals = [];
    const cause = why === undefined ? {} : { why };
    void this.#report({ type: 'turn_aborted', turnId, kind, origin, reason, ...cause });
  }

  /** Something else compacted: the user, or the built-in limit. */
  contextCompacted(strategy: 'micro' | 'full'): void {
    void this.#report({ type: 'context_compacted', strategy });
  }

  /** The agent has shown activity. */
  active(): void {
    this.#deadlines.active();
  }

  settingsChanged(): void {
    void this.#report({ type: 'settings_changed' });
  }

  reviewModeChanged(isOn: boolean): void {
    void this.#report({ type: 'review_mode_changed', isOn });
  }

  /** Requests nothing more; orders whatever runs to stop. */
  async shutdown(): Promise<void> {
    // A log that cannot be written was already reported; stop what runs anyway.
    await this.#report({ type: 'shutdown' }).catch((error: unknown) => this.break(error));
    this.#deadlines.clear();
    for (const controller of this.#compactions.values()) controller.abort();
    this.#judges.stop();
  }

  /** Whether no sequence is running. */
  get isIdle(): boolean {
    return this.#state.stage.at === 'idle';
  }

  /** The policy, and what it would decide now. */
  explain(): { readonly decision: Omit<DecisionRecord, 'id'>; readonly policy: Policy } {
    const { policy } = this.#settings;
    const moment = {
      situation: this.#agent.situation(),
      busyWith: [],
      lastAgentMessage: this.#agent.lastAgentMessage(),
    };
    return { decision: explain(this.#state, { moment, atMs: this.#world.nowMs() }, policy), policy };
  }

  /** The packet for a new thread, made only from the trail. */
  async handOver(): Promise<Item> {
    const { decision } = this.explain();
    return this.#writer.handOver({ ...decision, id: '' }, `handoff-${this.#world.nowMs()}`);
  }

  /** How urgently the context needs space; undefined: not at all. */
  tier(): Tier | undefined {
    return tierOf(this.#agent.situation(), this.#settings.policy);
  }

  /** The user's waiting messages, oldest first. */
  get queue(): readonly UserMessage[] {
    return this.#state.memory.queue;
  }

  /** Accepted messages whose turns are not in the log yet: the queue, and those on their way into it or out of it. */
  get waiting(): readonly UserMessage[] {
    const { delivering } = this.#state.memory;
    return [...(delivering === undefined ? [] : [delivering]), ...this.queue, ...this.#submitted];
  }

  /**
   * Resolves when nothing runs and nothing waits.
   * @throws the failure of writing the log
   */
  async rest(): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken;
    if (this.isAtRest) return;
    await new Promise<void>((resolve, reject) => this.#resting.push({ resolve, reject }));
  }

  /** Reports that the thread rests: now, or as soon as it does. */
  reportRest(): void {
    this.#isResting = false;
    this.#wakeResting();
  }

  /** Nothing runs and nothing waits. */
  get isAtRest(): boolean {
    return this.#waiting === 0 && isAtRest(this.#state);
  }

  #moment() {
    const signals = this.#signals;
    this.#signals = [];
    return {
      signals,
      situation: this.#agent.situation(),
      // Nothing of the turn runs at these points, and all approvals are settled.
      busyWith: [],
      lastAgentMessage: this.#agent.lastAgentMessage(),
    };
  }

  #report(occurrence: UntimedEvent): Promise<void> {
    const event = { ...occurrence, atMs: this.#world.nowMs() } as WatcherEvent;
    return this.#post(() => this.#take(event));
  }

  /** Not `async`: handles its failure here, whether or not a caller awaits it. */
  #post(work: () => Promise<void>): Promise<void> {
    this.#waiting++;
    const done = this.#mailbox.then(work);
    this.#mailbox = done
      .catch((error: unknown) => this.break(error))
      .finally(() => {
        this.#waiting--;
        this.#wakeResting();
      });
    return done;
  }

  /** Without a log Baton can promise nothing more: rejects all waiting callers. */
  break(error: unknown): void {
    this.#broken ??= error;
    this.#deadlines.clear();
    this.#wakeResting();
  }

  #wakeResting(): void {
    const isResting = this.isAtRest;
    if (isResting && !this.#isResting && !this.#state.memory.isShutDown) this.#voice.rested();
    this.#isResting = isResting;
    if (this.#broken === undefined && !this.isAtRest) return;
    const waiting = this.#resting;
    this.#resting = [];
    for (const { resolve, reject } of waiting) {
      if (this.#broken === undefined) resolve();
      else reject(this.#broken);
    }
  }

  async #take(event: WatcherEvent): Promise<void> {
    if (this.#broken !== undefined) throw this.#broken;
    if (event.type === 'sampling_complete' && event.isFollowUpOwed) await this.#countSteps(event.atMs);
    const isDecisionPoint = event.type === 'turn_complete' || event.type === 'sampling_complete';
    if (isDecisionPoint || event.type === 'user_submitted' || event.type === 'settings_changed') {
      await this.#readSettings();
    }
    const before = this.#state;
    const { state, effects } = transition(before, event, this.#settings.policy);
    if (state !== before) {
      this.#state = state;
      if (isWorthANote(before, state)) await this.#noteState(state);
      this.#deadlines.keepOnly(awaitedNumber(state));
      this.#judges.dismissExcept(awaitedNumber(state));
      this.#reportQueue(before, state);
      this.#reportView(
        before.stage,
        effects.find((effect) => effect.type === 'arm_deadline'),
      );
    }
    for (const effect of effects) await this.#perform(effect);
  }

  /** An agent that keeps working instead of answering runs out of steps, as it would run out of time. */
  async #countSteps(atMs: number): Promise<void> {
    const { stage } = this.#state;
    if (!isRequesting(stage)) return;
    const { number } = stage;
    const steps = this.#steps.number === number ? this.#steps.count + 1 : 1;
    this.#steps = { number, count: steps };
    if (steps >= MOST_STEPS) await this.#take({ type: 'deadline_expired', which: 'packet', number, atMs });
  }

  async #noteState(state: WatcherState): Promise<void> {
    const long = longMessages(state);
    for (const { id, text } of long) {
      if (this.#noted.get(id) !== text) await this.#agent.note(QUEUED_NOTE, { id, text });
    }
    this.#noted = new Map(long.map(({ id, text }) => [id, text]));
    await this.#agent.note(STATE_NOTE, stateNote(state));
  }

  /** @param armed the new wait; undefined: the previous wait continues, or there is none */
  #reportView(before: WatcherState['stage'] | undefined, armed: ArmDeadline | undefined): void {
    const view = watcherView(this.#state, before);
    const rendered = JSON.stringify(view);
    if (rendered === this.#reportedView) return;
    this.#reportedView = rendered;
    const left =
      armed === undefined
        ? this.#deadlines.left(awaitedNumber(this.#state))
        : { quietMs: armed.ms, atMostMs: armed.capMs };
    this.#voice.moved(view, left);
  }

  #reportQueue({ memory: before }: WatcherState, { memory: after }: WatcherState): void {
    if (!isSameQueue(before.queue, after.queue)) this.#voice.queueChanged(after.queue);
  }

  async #readSettings(): Promise<WatcherSettings> {
    this.#settings = await this.#world.settings();
    return this.#settings;
  }

  async #perform(effect: WatcherEffect): Promise<void> {
    switch (effect.type) {
      case 'record_decision': {
        const { decision } = effect;
        if (decision.reason === 'judgment') this.#agent.noteVeto();
        await this.#agent.note(DECISION_NOTE, decision as unknown as JsonObject);
        return this.#voice.decided(decision);
      }
      case 'plan_compaction': {
        const { number } = effect;
        const plan = this.#agent.plan(compactionWish(effect, this.#settings.policy));
        void this.#report({ type: 'compaction_planned', number, plan });
        return;
      }
      case 'ask_judgment':
        this.#judges.ask(effect, this.#judgedThread(), (judgment) => {
          void this.#report({ type: 'judgment_result', number: effect.number, judgment });
        });
        return;
      case 'inject':
        return this.#inject(effect);
      case 'record_heads_up':
        return this.#put([await this.#writer.headsUp(effect.sequenceId, this.#decision())]);
      case 'record_packet':
        return this.#put([packetItem(effect.packet.text, effect.sequenceId, 'assistant')]);
      case 'assemble_packet':
        this.#assemble(effect).catch((error: unknown) => this.break(error));
        return;
      case 'compact':
        return this.#compact(effect);
      case 'abort_compaction':
        return this.#compactions.get(effect.number)?.abort();
      case 'interrupt_turn':
        return this.#agent.interruptTurn(effect.number);
      case 'cut_turn':
        return this.#agent.cutTurn?.(effect.turnId);
      case 'hand_off':
        return this.#handOff(effect);
      case 'deliver':
        return this.#deliver(effect.message);
      case 'resume_turn':
        return this.#agent.resumeTurn(effect.turnId, effect.isOver);
      case 'show':
        return this.#voice.show(effect);
      case 'arm_deadline':
        return this.#deadlines.arm(effect);
    }
  }

  async #inject(effect: Inject): Promise<void> {
    const hasScratch = sequenceOf(this.#state)?.hasScratch === true;
    const item = await this.#writer.request(effect, { decision: this.#decision(), hasScratch });
    if (effect.as === 'item') return this.#put([item], true);
    await this.#agent.startTurn({ type: 'watcher', number: effect.number }, [item]);
  }

  /** Not awaited: git may be slow, and the user's Esc must not wait for it. */
  async #assemble(effect: AssemblePacket): Promise<void> {
    const { turn, queue } = this.#state.memory;
    const stands = { hasEnded: turn === undefined, hasQueuedInput: queue.length > 0 };
    const result = await this.#writer.packet(effect, stands);
    if (effect.author === 'watcher' && result.type === 'packet' && result.packet.author === 'agent') {
      this.#voice.show({ surface: 'info', text: "[rawr] the agent's packet arrived late and is used." });
    }
    void this.#report({ type: 'packet_assembled', number: effect.number, result });
  }

  async #handOff({ number, handover, startsTurn }: HandOff): Promise<void> {
    if (handover.sequenceId !== this.#handedOff) {
      const item = await this.#writer.handoff(handover);
      if (startsTurn) await this.#agent.startTurn({ type: 'watcher', number }, [item]);
      else await this.#put([item]);
      this.#handedOff = handover.sequenceId;
    }
    void this.#report({ type: 'handoff_delivered', number });
  }

  /** The decision behind the running sequence. */
  #decision(): DecisionRecord {
    const decision = decisionOf(this.#state);
    if (decision === undefined) throw new RangeError('No decision is behind this state');
    return decision;
  }

  async #put(items: readonly Item[], isAsking = false): Promise<void> {
    await this.#agent.put(items, isAsking);
  }

  /** Asks the judge on someone else's behalf: reports its answer, which decides nothing. */
  async judge(request: AskJudgment['request'], signal: AbortSignal): Promise<void> {
    await this.#judges.consult(request, this.#judgedThread(), signal);
  }

  #judgedThread(): JudgedThread {
    const { used, window } = this.#agent.situation();
    const { turn, endedTurnId } = this.#state.memory;
    return {
      threadId: this.#agent.threadId,
      turnId: turn?.turnId ?? endedTurnId ?? '',
      used,
      window,
      items: this.#agent.items(),
    };
  }

  #compact(effect: Compact): void {
    const { number } = effect;
    const controller = new AbortController();
    this.#compactions.set(number, controller);
    const order = compactionOrder(effect, decisionOf(this.#state), this.#settings);
    const carryOut = async (): Promise<void> => {
      const end = await this.#agent.compact(order, controller.signal);
      this.#compactions.delete(number);
      if (end.type === 'compacted') {
        await this.#report({ type: 'context_compacted', number, strategy: end.strategy });
      } else await this.#report({ type: 'compaction_failed', number, why: end.why });
    };
    carryOut().catch((error: unknown) => this.break(error));
  }

  async #deliver({ id, text }: UserMessage): Promise<void> {
    const item: Item = {
      type: 'message',
      role: 'user',
      content: [{ type: 'input_text', text }],
      // Explicit, so that none of the user's text passes for the harness's.
      origin: { author: 'user' },
    };
    await this.#agent.startTurn({ type: 'user', messageId: id }, [item]);
  }
}
