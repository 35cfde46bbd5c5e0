// A session with its watcher: the one door for every client. The user's messages wait in the watcher's queue, which is
// in the log; the watcher's requests run in the session.

import { failedResult, findBrokenPairs, pairView } from '../../history/pairs.ts';
import type { CancelSignal } from '../../ports.ts';
import type { Situation } from '../../protocol/decision.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import { authorOf, callOf } from '../../protocol/item.ts';
import type { CompactionPlan } from '../../protocol/plan.ts';
import type { Judgment, JudgmentRequest } from '../../protocol/judgment.ts';
import type { LogRecord, NoteRecord } from '../../protocol/record.ts';
import { shownMessage } from '../../protocol/queued.ts';
import type { TurnOrigin } from '../../protocol/turn.ts';
import type { Plan, Trail } from '../../trail/trail.ts';
import type { Compaction } from '../../compaction/subject.ts';
import type { NewestTurn } from '../../history/project.ts';
import type { CompactionOutcome, ManualAsk, WatcherAsk } from '../../compaction/compactor.io.ts';
import type {
  CompactionEnd,
  CompactionOrder,
  CompactionWish,
  TimeLeft,
  WatchedAgent,
  WatcherSettings,
  WatcherWorld,
} from '../../watcher/live/agent.ts';
import { LiveWatcher } from '../../watcher/live/live-watcher.io.ts';
import type { QueueRevision } from '../../watcher/live/queue.ts';
import { decisionEvent } from '../../watcher/view.ts';
import type { SessionEvent } from '../../protocol/wire/event.ts';
import { PHASE_NOTE } from '../../watcher/signals/signals.ts';
import { hasOpenRequest, retractionMessage } from '../../watcher/packet/messages.ts';
import { callNote } from '../calls.ts';
import { Session } from '../session.io.ts';
import type { SessionWorld } from '../session.io.ts';
import type { RunningTurn, ToolRunner, TurnObserver, TurnView } from '../terms.ts';
import type { ReachedLimit } from '../limits.ts';
import type { Charge } from '../spending.ts';
import type { TurnEnding } from '../loop.ts';
import { Projection } from './projection.ts';
import { SteerFold, STEERED_NOTE } from './pending-steers.ts';
import { UsedIds } from './used-ids.ts';

/** What a session with its watcher needs. */
export interface WatchedWorld {
  readonly session: Omit<SessionWorld, 'observer'>;
  readonly watcher: WatcherWorld;
  readonly isSubagent?: boolean;
  /** A new message id, unique within the thread. */
  readonly newId: () => string;
  /** The input of a submitted message's turn, if it is more than its text; undefined: its text. */
  readonly itemsOf?: (messageId: string) => readonly Item[] | undefined;
}

/** The result of a call whose process died before it finished. */
export const LOST_RESULT =
  '[The session ended before this call was done; whether it had an effect is not known]';

/** Maximum number of calls for one request of the watcher, including parallel ones. @source docs/decisions/live-watcher.md */
const MOST_CALLS = 8;

/** The result of a call beyond that limit. */
const REFUSED_RESULT = `[Not run: at most ${MOST_CALLS} calls are run for the request above. Answer it now.]`;

/** How the user's newest turn ended. */
export interface LastTurn {
  readonly ending: TurnEnding;
  /** The agent's last message in it. */
  readonly said: string | undefined;
}

/** A live thread. */
export class WatchedSession {
  readonly #world: WatchedWorld;
  readonly #session: Session;
  readonly #watcher: LiveWatcher;
  readonly #projection: Projection;
  readonly #steered = new SteerFold();
  readonly #usedIds = new UsedIds();
  #lastTurn: LastTurn | undefined;
  #isFinal = false;
  #running: RunningTurn | undefined;
  /** The held turn would have ended if the watcher had not asked for something in it. */
  #hasAnswered = false;
  /** Calls that may still run before the answer to a request of the watcher. */
  #callsLeft = Infinity;
  #closing: Promise<void> | undefined;
  /** Charges that are being written. */
  #charges = 0;

  /** @param settings the watcher's at the start @param past the records of the thread so far, including its head */
  constructor(world: WatchedWorld, settings: WatcherSettings, past: Iterable<LogRecord>) {
    this.#world = world;
    const { emit, config, tools } = world.session;
    this.#projection = new Projection(config);
    this.#watcher = new LiveWatcher(
      this.#asAgent(),
      world.watcher,
      {
        show: ({ surface, text }) =>
          emit(
            surface === 'warning'
              ? { type: 'warning', message: text }
              : { type: 'background_event', message: text, surface },
          ),
        judged: (request, judgment) => this.#emitJudgment(request, judgment),
        queueChanged: (messages) => emit({ type: 'queue_changed', messages: messages.map(shownMessage) }),
        decided: (decision) => emit(decisionEvent(decision)),
        moved: (view, left) => emit({ type: 'watcher_state', ...view, deadline: deadlineOf(left) }),
        rested: () => this.#tellRest(),
      },
      { settings, isSubagent: world.isSubagent ?? false },
    );
    const session = { ...world.session, tools: this.#limited(tools), observer: this.#observer() };
    this.#session = new Session(session, past);
  }

  /** What was asked before is charged first; a turn that begins meanwhile ends with a rest of its own. */
  #tellRest(): void {
    const { emit } = this.#world.session;
    if (this.#charges === 0) return emit({ type: 'thread_idle' });
    void this.#session.settled().then(() => {
      if (this.#watcher.isAtRest) emit({ type: 'thread_idle' });
    });
  }

  /** A limit on steps is not enough: an agent may make any number of calls in one step. */
  #limited(tools: ToolRunner): ToolRunner {
    return {
      get specs() {
        return tools.specs;
      },
      run: (call, signal, report) => {
        this.#callsLeft -= 1;
        return this.#callsLeft < 0
          ? Promise.resolve(failedResult(call, REFUSED_RESULT))
          : tools.run(call, signal, report);
      },
    };
  }

  get threadId(): string {
    return this.#world.session.threadId;
  }

  /** The history as a model sees it. */
  get items(): readonly Item[] {
    return this.#session.items;
  }

  get lastAgentMessage(): string | undefined {
    return this.#session.lastAgentMessage;
  }

  /** As `Session.state`. */
  get state(): Session['state'] {
    return this.#session.state;
  }

  /** As `Session.clearable`. */
  clearable(): ReturnType<Session['clearable']> {
    return this.#session.clearable();
  }

  /** What the watcher would decide now. */
  explain(): ReturnType<LiveWatcher['explain']> {
    return this.#watcher.explain();
  }

  /** The handoff for a new thread that continues this one's work. Asks no model. */
  handOver(): Promise<Item> {
    return this.#watcher.handOver();
  }

  /** Number of the user's waiting messages. */
  get queueLength(): number {
    return this.#watcher.queue.length;
  }

  /** As `Session.reachedLimit`. */
  reachedLimit(): ReachedLimit | undefined {
    return this.#session.reachedLimit();
  }

  /** As `Session.ignore`. */
  ignore(why: string): void {
    this.#session.ignore(why);
  }

  /** As `Session.spend`. */
  async spend(charge: Charge): Promise<void> {
    this.#charges++;
    try {
      await this.#session.spend(charge);
    } finally {
      this.#charges--;
    }
  }

  /** How the user's newest turn ended in this process. Turns that the watcher starts do not change it. */
  get lastTurn(): LastTurn | undefined {
    return this.#lastTurn;
  }

  /** Repairs what a crash left and resumes the watcher's work. Call it once, before anything else. */
  async begin(): Promise<void> {
    const hasPast = this.#emitPast();
    await this.#closeLostCalls();
    await this.#watcher.begin();
    for (const { id, text } of this.#steered.open) await this.#watcher.resubmit({ id, text });
    // The transcript's turns have begun and ended; a client cannot know that nothing follows them.
    if (hasPast) this.#watcher.reportRest();
  }

  /** Sends the transcript of the past. @returns whether there was anything to send */
  #emitPast(): boolean {
    const { entries, leftOut } = this.#session.takePast();
    if (entries.length === 0) return false;
    const { emit } = this.#world.session;
    emit({ type: 'transcript', entries, left_out: leftOut });
    for (const plan of this.#session.trail().plans) emit(planEvent(plan));
    this.#session.emitTokens();
    return true;
  }

  async #closeLostCalls(): Promise<void> {
    const { items } = this.#session;
    const { orphanCalls } = findBrokenPairs(items.map(pairView));
    if (orphanCalls.length === 0) return;
    const lost = orphanCalls.flatMap((index) => items[index] ?? []);
    await this.#session.record(() =>
      lost.flatMap((call) => [
        callNote(callOf(call)?.callId ?? '', { status: 'interrupted' }),
        { type: 'item', item: failedResult(call, LOST_RESULT) } as const,
      ]),
    );
  }

  /** Whether the process ends with the user's next turn: the watcher then starts nothing after it. */
  setFinal(isFinal: boolean): void {
    this.#isFinal = isFinal;
  }

  /**
   * Submits a user message. Resolves once it can no longer be lost; it becomes a turn later.
   * @param id unique within the thread; a new one unless given
   * @returns its id
   * @throws BatonError `op_invalid` if the thread already has a message with this id; `queue_full`; the failure of writing the log
   */
  async submit(text: string, id = this.#world.newId()): Promise<string> {
    this.#usedIds.requireNew(id, this.#watcher.waiting);
    await this.#watcher.submit({ id, text });
    return id;
  }

  /** Changes the queue. Resolves once the change can no longer be lost. @throws BatonError as `revisedQueue` */
  async reviseQueue(revision: QueueRevision): Promise<void> {
    await this.#watcher.reviseQueue(revision);
  }

  /**
   * A message for the running turn; if no user turn runs, it gets its own. Resolves once it can no longer be lost.
   * @throws BatonError as `submit`
   */
  async steer(text: string, id = this.#world.newId()): Promise<void> {
    this.#usedIds.requireNew(id, this.#watcher.waiting);
    const { kind, origin } = this.#running ?? {};
    if (origin?.type !== 'user' || kind !== 'regular') return this.#watcher.submit({ id, text });
    await this.#session.note([{ type: 'note', kind: STEERED_NOTE, value: { id, text } }]);
    const isTaken = await this.#session.steer(userMessage(text, id));
    if (!isTaken) await this.#watcher.resubmit({ id, text });
  }

  /**
   * Offers the running turn, started by the user or by the watcher, an item that survives a refusal.
   * @returns whether the turn took it
   */
  async steerItem(item: Item): Promise<boolean> {
    return this.#session.steer(item);
  }

  /** The user declares a phase of the work complete: a boundary and, between turns, a decision point. */
  async phaseCompleted(summary: string): Promise<void> {
    await this.#session.note([{ type: 'note', kind: PHASE_NOTE, value: { summary } }]);
    this.#watcher.phaseCompleted();
  }

  /** In review mode the watcher decides nothing. */
  setReviewMode(isOn: boolean): void {
    this.#watcher.reviewModeChanged(isOn);
  }

  /** Rereads configuration and prompts after a change. */
  settingsChanged(): void {
    this.#watcher.settingsChanged();
  }

  /** Ends everything that runs, at once. */
  interrupt(): void {
    this.#session.interrupt();
    this.#watcher.interrupt();
  }

  /** As `Session.shell`. */
  shell(...line: Parameters<Session['shell']>): Promise<void> {
    return this.#session.shell(...line);
  }

  /** Compacts on the user's request, as soon as that does not split a turn; between turns it is a separate turn. */
  async compact(ask: Omit<ManualAsk, 'from'>, signal: CancelSignal): Promise<CompactionOutcome> {
    const outcome = await this.#session.compact({ from: 'manual', ...ask }, signal, { type: 'user' });
    if (outcome.type === 'compacted') this.#watcher.contextCompacted(outcome.compaction.type);
    return outcome;
  }

  /** Previews such a compaction. @throws BatonError as `compactHistory` */
  preview(ask: Omit<ManualAsk, 'from'>, signal: CancelSignal): Promise<Compaction> {
    return this.#session.preview({ from: 'manual', ...ask }, signal);
  }

  /**
   * Undoes the newest compaction.
   * @returns its id
   * @throws BatonError `nothing_to_undo`
   */
  async undoCompaction(): Promise<string> {
    const id = await this.#session.undoCompaction();
    this.#session.emitTokens();
    return id;
  }

  /** As `Session.redoCompaction`. */
  async redoCompaction(past: () => AsyncIterable<LogRecord>): Promise<string> {
    const id = await this.#session.redoCompaction(past);
    this.#watcher.contextCompacted('full');
    this.#session.emitTokens();
    return id;
  }

  /** As `Session.undoTurn`. */
  async undoTurn<Result>(
    work: (turn: NewestTurn<Item>) => Promise<Result>,
    past: () => AsyncIterable<LogRecord>,
  ): Promise<Result> {
    const result = await this.#session.undoTurn(work, past);
    this.#session.emitTokens();
    return result;
  }

  /** As `Session.previewUndo`. */
  previewUndo<Result>(work: (turn: NewestTurn<Item>) => Promise<Result>): Promise<Result> {
    return this.#session.previewUndo(work);
  }

  /** As `Session.undoableCompaction`. */
  undoableCompaction(): string {
    return this.#session.undoableCompaction();
  }

  /** The running turn, including a compaction; undefined between turns. */
  get runningTurn(): RunningTurn | undefined {
    return this.#running;
  }

  /** What the log shows of the work so far. */
  trail(): Trail {
    return this.#session.trail();
  }

  /** Writes records as soon as their items do not split anything. */
  record(recordsOf: (trail: Trail) => readonly LogRecord[]): Promise<void> {
    return this.#session.record(recordsOf);
  }

  /** Stores a note beside the history. */
  note(record: NoteRecord): Promise<void> {
    return this.#session.note([record]);
  }

  /** Asks the judge as the watcher would, and reports its answer. A judge without an answer is a warning. */
  judge(request: JudgmentRequest, signal: AbortSignal): Promise<void> {
    return this.#watcher.judge(request, signal);
  }

  /**
   * Resolves when nothing runs and nothing waits.
   * @throws the failure of writing the log
   */
  async rest(): Promise<void> {
    await this.#watcher.rest();
  }

  /** As `Session.settled`. */
  settled(): Promise<void> {
    return this.#session.settled();
  }

  /** As `Session.emitTokens`. */
  emitTokens(): void {
    this.#session.emitTokens();
  }

  /** Ends everything that runs, and with it the thread in this process; the log can be resumed. */
  async shutdown(): Promise<void> {
    this.#closing ??= this.#shutDown();
    await this.#closing;
  }

  async #shutDown(): Promise<void> {
    await this.#watcher.shutdown();
    this.#session.interrupt();
    await this.#session.settled();
  }

  /** Who is responsible for the present actions: the user only in a user turn, except for the watcher's requests in it. */
  get author(): 'user' | 'synthetic' {
    return this.#running?.origin.type === 'user' && !this.#session.isAnswerOwed ? 'user' : 'synthetic';
  }

  /** Inserts the harness's text before the user's next message. */
  async insert(items: readonly Item[]): Promise<void> {
    // Recorded, not put: an answer that the watcher waits for is still awaited.
    if (items.length > 0) await this.#session.record(() => items.map((item) => ({ type: 'item', item })));
  }

  /** Notes the size of the tools, for readers of the log. */
  async noteTools(): Promise<void> {
    await this.#session.noteTools();
  }

  #observer(): TurnObserver {
    return {
      record: (record) => {
        this.#watcher.record(record);
        this.#steered.add(record);
        this.#usedIds.add(record);
      },
      started: (turn) => {
        this.#running = turn;
        if (turn.origin.type === 'user' && turn.kind === 'regular') this.#lastTurn = undefined;
        this.#watcher.turnStarted(turn);
      },
      held: (turn, moment) => {
        this.#hasAnswered = !moment.isFollowUpOwed;
        this.#watcher.samplingComplete(turn, moment);
      },
      complete: (turn) => {
        this.#running = undefined;
        this.#noteEnd(turn);
        this.#watcher.turnComplete(turn, this.#isFinal && this.#watcher.queue.length === 0);
      },
      aborted: (turn, reason, why) => {
        this.#running = undefined;
        this.#noteEnd(turn);
        this.#watcher.turnAborted(turn, reason, why);
      },
      compacted: (strategy) => {
        // No request is in the history any more.
        if (strategy === 'full') {
          this.#session.withdraw();
          this.#callsLeft = Infinity;
        }
        this.#watcher.contextCompacted(strategy);
      },
      broken: (error) => this.#watcher.break(error),
      active: () => this.#watcher.active(),
      tier: () => this.#watcher.tier(),
    };
  }

  #noteEnd({ kind, origin, said }: TurnView): void {
    const ending = this.#session.lastEnding;
    if (kind !== 'regular' || origin.type !== 'user' || ending === undefined) return;
    this.#lastTurn = { ending, said };
  }

  #startTurn(origin: TurnOrigin, input: readonly Item[]): Promise<void> {
    const isRequest = origin.type === 'watcher' && !input.some((item) => item.origin?.step === 'handoff');
    this.#callsLeft = isRequest ? MOST_CALLS : Infinity;
    const { messageId } = origin.type === 'user' ? origin : { messageId: undefined };
    if (messageId === undefined) return this.#session.start({ kind: 'regular', origin, input });
    // The user's message keeps its submission id.
    const items = this.#world.itemsOf?.(messageId) ?? input.map((item) => ({ ...item, id: messageId }));
    return this.#session.start({ kind: 'regular', origin, input: [...this.#retraction(), ...items] });
  }

  #asAgent(): WatchedAgent {
    return {
      threadId: this.#world.session.threadId,
      items: () => this.#session.items,
      trail: (): Trail => this.#session.trail(),
      situation: () => this.#situation(),
      lastAgentMessage: () => this.#session.lastAgentMessage,
      note: (kind: string, value: JsonObject) => this.#session.note([{ type: 'note', kind, value }]),
      put: async (items, isAsking) => {
        await this.#session.put(items, isAsking);
        this.#callsLeft = isAsking ? MOST_CALLS : Infinity;
      },
      startTurn: (origin, input) => this.#startTurn(origin, input),
      resumeTurn: (turnId, isOver = false) => void this.#resume(turnId, isOver),
      interruptTurn: async (number) => {
        const origin = this.#running?.origin;
        if (origin?.type !== 'watcher' || origin.number !== number) return;
        this.#session.interrupt();
        await this.#session.settled();
      },
      cutTurn: (turnId) => this.#session.cut(turnId),
      plan: (wish): CompactionPlan => this.#session.plan(askOf(wish)),
      compact: (order, signal) => this.#compact(order, signal),
      noteVeto: () => this.#session.noteVeto(),
    };
  }

  /** Withdraws an unanswered request, whose late answer ends nothing; an unrequested answer ends the turn. */
  async #resume(turnId: string, isOver: boolean): Promise<void> {
    // The request is withdrawn when the agent is next asked for something.
    if (isOver && !this.#session.hasSteered) return this.#session.resume(turnId, { isOver });
    const last = this.#session.items.at(-1);
    const hasAnswered = this.#hasAnswered && last !== undefined && authorOf(last) === 'agent';
    this.#hasAnswered = false;
    if (!this.#watcher.isIdle) return this.#session.resume(turnId);
    const retraction = this.#retraction();
    this.#session.withdraw();
    this.#callsLeft = Infinity;
    await this.#session.put(retraction);
    this.#session.resume(turnId, { isOver: hasAnswered && retraction.length === 0 });
  }

  /** Withdraws an unanswered request that the agent can still read. */
  #retraction(): readonly Item[] {
    return hasOpenRequest(this.#session.items) ? [retractionMessage()] : [];
  }

  async #compact(order: CompactionOrder, signal: CancelSignal): Promise<CompactionEnd> {
    const isTurn = order.place === 'between_turns' && order.strategy === 'full';
    const origin = isTurn ? ({ type: 'watcher', number: order.number } as const) : undefined;
    const { isEmbedded, isHandedOver, audit } = order;
    const ask = { ...askOf(order), isEmbedded, isHandedOver, audit };
    const outcome = await this.#session.compact(ask, signal, origin);
    switch (outcome.type) {
      case 'compacted':
        return { type: 'compacted', strategy: outcome.compaction.type };
      case 'failed':
        return { type: 'failed', why: outcome.error.message };
      case 'refused':
      case 'context_exhausted':
        return { type: 'failed', why: outcome.why };
    }
  }

  #situation(): Situation {
    const { state, items } = this.#session;
    return this.#projection.situation(state.account, items);
  }

  #emitJudgment(request: JudgmentRequest, judgment: Judgment): void {
    this.#world.session.emit({
      type: 'rawr_auto_compaction_judgment_result',
      request_id: request.request_id,
      tier: request.tier,
      ...(judgment.type === 'answer'
        ? { should_compact: judgment.shouldCompact, reason: judgment.reason }
        : { should_compact: null, reason: judgment.why }),
    });
  }
}

/** A request of the watcher, as the compactor takes it. */
export function askOf({ place, why, isEmergency, target }: CompactionWish): WatcherAsk {
  return {
    from: place === 'inside_turn' ? 'mid_turn' : 'watcher',
    why,
    isEmergency,
    ...(target === undefined ? {} : { target }),
  };
}

/** A repeated plan event. */
function planEvent({ kind, steps }: Plan): SessionEvent {
  return {
    type: 'plan_update',
    call_id: null,
    kind,
    steps: steps.map(({ text, status }) => ({ step: text, status })),
  };
}

function deadlineOf(
  left: TimeLeft | undefined,
): Extract<SessionEvent, { type: 'watcher_state' }>['deadline'] {
  return left === undefined ? null : { quiet_ms: left.quietMs, at_most_ms: left.atMostMs };
}

function userMessage(text: string, id: string): Item {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
    origin: { author: 'user' },
    id,
  };
}
