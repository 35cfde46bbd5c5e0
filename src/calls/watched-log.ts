// A conversation that some other program holds, as the log that the watcher and the compactor need. Its owner adds what is new
// and takes what they changed.

import { randomUUID } from 'node:crypto';
import { Compactor } from '../compaction/compactor.io.ts';
import type { CompactableThread, CompactionAsk, CompactionOutcome } from '../compaction/compactor.io.ts';
import { gaugeOf } from '../compaction/subject.ts';
import type { Compaction } from '../compaction/subject.ts';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import { isUserMessage, SUMMARY_PREFIX } from '../history/filter.ts';
import type { Entry } from '../history/project.ts';
import { parsePrompt } from '../prompts/frontmatter.ts';
import { SHIPPED_PROMPTS } from '../prompts/shipped.ts';
import { callOf, textOfParts } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import type { TurnOrigin } from '../protocol/turn.ts';
import { ThreadState } from '../session/thread-state.ts';
import { askOf } from '../session/watched/watched-session.io.ts';
import { Projection } from '../session/watched/projection.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import { formatNumber } from '../tokens/words.ts';
import { withinDeadline } from '../system/deadline.io.ts';
import type { WatchedAgent } from '../watcher/live/agent.ts';
import { LiveWatcher } from '../watcher/live/live-watcher.io.ts';
import { resolvePolicy } from '../watcher/policy.ts';
import { callWorld } from './compact-messages.ts';

/** What the log needs to know about its conversation. */
export interface WatchedLogOptions {
  /** Raw context window of the model, in tokens. */
  readonly contextWindow: number;
  /** Estimated size of what each request holds besides the history, in tokens. */
  readonly fixedTokens: number;
  /** The watcher always writes the packet itself, because it sends no requests to the model. */
  readonly config: Config;
  /** Receives each of the watcher's lines for people. */
  readonly onLine: (line: string) => void;
}

/** What the watcher or the compactor did to the history, in order. */
export type LogChange =
  /** One record replaces the history. */
  | { readonly type: 'rewritten'; readonly compaction: Compaction }
  /** Items joined the end of the history. */
  | { readonly type: 'added'; readonly items: readonly Item[] }
  /** Something to keep beside the history, for the next process. */
  | { readonly type: 'noted'; readonly note: Extract<LogRecord, { readonly type: 'note' }> };

/** Why the holder of the conversation compacts. */
export interface HostCompaction {
  readonly from: 'manual' | 'threshold' | 'overflow';
  /** What the user wants a model's summary to keep. */
  readonly instructions?: string;
}

/** Why, for the receipt. */
const HOST_LIMITS = {
  threshold: "The agent's own limit for the context is reached.",
  overflow: 'The provider refused the request as too long.',
} as const;

/** How the turn stands once the records are added. */
export type TurnStand =
  /** Another request follows. */
  | 'under_way'
  /** The agent has nothing more to do, unless the watcher hands over to it. */
  | 'over';

/** One conversation under the watcher. One call at a time. */
export class WatchedLog {
  readonly #config: Config;
  readonly #state: ThreadState;
  readonly #projection: Projection;
  readonly #compactor: Compactor;
  readonly #watcher: LiveWatcher;
  readonly #onLine: (line: string) => void;
  readonly #threadId = randomUUID();
  #turn: { readonly turnId: string; readonly origin: TurnOrigin; hadAction: boolean } | undefined;
  #turns = 0;
  #changes: LogChange[] = [];
  /** The user message that starts the next turn, complete. */
  #input: readonly LogRecord[] = [];
  #resume: () => void = () => undefined;
  #started: () => void = () => undefined;

  constructor({ config: given, contextWindow, fixedTokens, onLine }: WatchedLogOptions) {
    const { rawrAutoCompaction } = given;
    this.#config = {
      ...given,
      modelContextWindow: contextWindow,
      rawrAutoCompaction: { ...rawrAutoCompaction, packetAuthor: 'watcher', scratchWriteEnabled: false },
    };
    this.#onLine = onLine;
    this.#state = new ThreadState(this.#config, approximateTokens, withinDeadline, fixedTokens);
    this.#projection = new Projection(this.#config);
    const settings = { config: this.#config, policy: resolvePolicy(this.#config) };
    this.#compactor = new Compactor(this.#thread(), this.#config, callWorld(approximateTokens));
    this.#watcher = new LiveWatcher(
      this.#agent(),
      {
        settings: () => Promise.resolve(settings),
        prompt: (name) => Promise.resolve({ body: parsePrompt(SHIPPED_PROMPTS[name]).body, isOwn: false }),
        judgePrompt: () => Promise.resolve(''),
        // No model is asked, so the policy decides.
        askJudge: () => Promise.resolve(''),
        facts: () => Promise.resolve({}),
        scratch: { size: () => Promise.resolve(undefined), append: () => Promise.resolve() },
        nowMs: Date.now,
      },
      {
        show: ({ surface, text }) => {
          if (surface !== 'status') onLine(text);
        },
        judged: () => undefined,
        queueChanged: () => undefined,
        decided: () => undefined,
        moved: () => undefined,
        rested: () => undefined,
      },
      { settings },
    );
  }

  /** The history as the model is to see it. */
  get entries(): readonly Entry<Item>[] {
    return this.#state.entries;
  }

  /** Tokens in use, and the raw window. */
  usage(): { readonly used: number; readonly rawWindow: number | undefined } {
    return this.#state.account.gauge();
  }

  /** What changed since the last call of this. */
  takeChanges(): readonly LogChange[] {
    const changes = this.#changes;
    this.#changes = [];
    return changes;
  }

  /** Adds records that give no reason to compact. */
  add(records: readonly LogRecord[]): void {
    this.#write(records);
  }

  /**
   * Adds what arrived since the last request, the newest user message of which ends the turn before it; then compacts if it is
   * time to.
   * @throws BatonError `cannot_fit` where the window is full of what has to stay
   */
  async follow(records: readonly LogRecord[], stand: TurnStand = 'under_way'): Promise<void> {
    const at = records.findLastIndex((record) => record.type === 'item' && isUserMessage(record.item));
    const batchFrom = this.#state.position;
    this.#write(at === -1 ? records : records.slice(0, at));
    if (at !== -1) {
      await this.#takeUserMessage(records.slice(at, at + 1));
      this.#write(records.slice(at + 1));
    }
    if (stand === 'over') return this.#endTurn();
    const isMidTurn = at < records.length - 1;
    if (isMidTurn && this.#turn !== undefined) {
      const { turnId, origin, hadAction } = this.#turn;
      const resumed = new Promise<void>((resolve) => (this.#resume = resolve));
      const point = { turnId, origin, kind: 'regular', hadAction } as const;
      this.#watcher.samplingComplete(point, { isFollowUpOwed: true, batchFrom });
      await this.#unlessBroken(resumed);
    }
    await this.#keepBelowLimit(isMidTurn ? 'built_in' : 'pre_turn');
  }

  /** A turn of the watcher's runs: it handed over to the agent, which has to continue. */
  get isHandedOver(): boolean {
    return this.#turn?.origin.type === 'watcher';
  }

  /**
   * Compacts now, where the watcher has no say: the user asked for it, or the holder of the conversation has reached a limit of
   * its own. The loop guard holds for both limits, and growth since the last compaction for the first.
   */
  async compact({ from, instructions }: HostCompaction, signal: AbortSignal): Promise<CompactionOutcome> {
    const ask: CompactionAsk =
      from === 'manual'
        ? { from, strategy: 'full', ...(instructions === undefined ? {} : { instructions }) }
        : { from: 'watcher', why: HOST_LIMITS[from], isEmergency: from === 'overflow' };
    const outcome = await this.#compactor.request(ask, signal);
    if (outcome.type === 'compacted') this.#watcher.contextCompacted(outcome.compaction.type);
    return outcome;
  }

  /** Stops whatever waits. */
  async close(): Promise<void> {
    await this.#watcher.shutdown();
  }

  /** The turn is over: the watcher may compact and start one of its own. */
  async #endTurn(): Promise<void> {
    if (this.#turn === undefined) return;
    const turn = { ...this.#turn, kind: 'regular' } as const;
    this.#write([{ type: 'turn_complete', ...turn }]);
    this.#turn = undefined;
    const started = new Promise<void>((resolve) => (this.#started = resolve));
    this.#watcher.turnComplete(turn);
    await this.#unlessBroken(started, true);
  }

  async #takeUserMessage(input: readonly LogRecord[]): Promise<void> {
    if (this.#turn !== undefined) {
      const turn = { ...this.#turn, kind: 'regular' } as const;
      this.#write([{ type: 'turn_complete', ...turn }]);
      this.#turn = undefined;
      // What the watcher wants to do before the next message.
      this.#watcher.turnComplete(turn, true);
    }
    this.#input = input;
    const started = new Promise<void>((resolve) => (this.#started = resolve));
    const text = input.map((record) => (record.type === 'item' ? userText(record.item) : '')).join('');
    await this.#watcher.submit({ id: randomUUID(), text });
    await this.#unlessBroken(started);
  }

  /**
   * @param mayRest nothing may come of it, and then the watcher rests
   * @throws the watcher's failure
   */
  async #unlessBroken(done: Promise<void>, mayRest = false): Promise<void> {
    const rest = this.#watcher.rest();
    await Promise.race([done, mayRest ? rest : rest.then(() => done)]);
  }

  async #keepBelowLimit(from: 'built_in' | 'pre_turn'): Promise<void> {
    const outcome = await this.#compactor.request({ from }, new AbortController().signal);
    if (outcome.type === 'compacted') this.#watcher.contextCompacted(outcome.compaction.type);
    if (outcome.type === 'failed') this.#onLine(outcome.error.message);
    if (outcome.type === 'context_exhausted') {
      throw new BatonError(
        'cannot_fit',
        `The context window is full: ${outcome.why} Most of it: ${outcome.parts}`,
        {
          cure: 'Remove messages, or use a model with a larger window.',
        },
      );
    }
  }

  #write(records: readonly LogRecord[]): void {
    for (const record of records) {
      this.#state.add(record);
      this.#compactor.noteRecord(record);
      this.#watcher.record(record);
      if (record.type === 'item' && callOf(record.item) !== undefined && this.#turn !== undefined) {
        this.#turn = { ...this.#turn, hadAction: true };
      }
    }
  }

  /** Inserts the watcher's items. */
  #insert(items: readonly Item[]): void {
    this.#write(items.map((item) => ({ type: 'item', item })));
    if (items.length > 0) this.#changes.push({ type: 'added', items });
  }

  #startTurn(origin: TurnOrigin, items: readonly Item[]): void {
    const turn = { turnId: `turn-${++this.#turns}`, origin, hadAction: false } as const;
    this.#write([{ type: 'turn_started', ...turn, kind: 'regular' }]);
    // The watcher knows only the text of the user message; the items before it are its own.
    this.#insert(items.filter((item) => !isUserMessage(item)));
    this.#write(this.#input);
    this.#input = [];
    this.#turn = turn;
    this.#watcher.turnStarted({ ...turn, kind: 'regular' });
    this.#started();
  }

  #agent(): WatchedAgent {
    return {
      threadId: this.#threadId,
      items: () => this.#state.items,
      trail: () => this.#state.trail(),
      situation: () => this.#projection.situation(this.#state.account, this.#state.items),
      lastAgentMessage: () => this.#state.lastMessage,
      note: (kind, value) => Promise.resolve(this.#write([{ type: 'note', kind, value }])),
      put: (items) => Promise.resolve(this.#insert(items)),
      startTurn: (origin, items) => Promise.resolve(this.#startTurn(origin, items)),
      resumeTurn: () => this.#resume(),
      // The watcher runs no turns here: it assembles its packets itself.
      interruptTurn: () => undefined,
      plan: (wish) => this.#compactor.plan(askOf(wish)),
      compact: async (order, signal) => {
        const isTurn = order.place === 'between_turns' && order.strategy === 'full';
        const turn = {
          turnId: `turn-${++this.#turns}`,
          kind: 'compact',
          origin: { type: 'watcher', number: order.number },
        } as const;
        if (isTurn) this.#watcher.turnStarted(turn);
        const outcome = await this.#compactor.request({ ...askOf(order), audit: order.audit }, signal);
        if (isTurn) this.#watcher.turnComplete({ ...turn, hadAction: false });
        if (outcome.type === 'compacted') return { type: 'compacted', strategy: outcome.compaction.type };
        return { type: 'failed', why: outcome.type === 'failed' ? outcome.error.message : outcome.why };
      },
      noteVeto: () => void this.#compactor.noteVeto(),
    };
  }

  #thread(): CompactableThread {
    return {
      usage: () => this.#state.account.gauge(),
      subject: () => {
        const { account } = this.#state;
        const { rawWindow = UNKNOWN_MODEL_WINDOW } = account.gauge();
        return {
          entries: this.#state.entries,
          kept: account,
          gauge: gaugeOf(account),
          window: rawWindow,
          leavesInitialContext: false,
          summaryPrefix: SUMMARY_PREFIX,
          session: { sessionId: this.#threadId, transcriptPath: undefined, cwd: undefined, model: undefined },
          trail: this.#state.trail(),
        };
      },
      commit: (compaction: Compaction) => {
        const before = this.#state.account.gauge().used;
        this.#write([compaction.record]);
        this.#changes.push({ type: 'rewritten', compaction });
        const after = this.#state.account.gauge().used;
        this.#onLine(`Context compacted: ${formatNumber(before)} → ${formatNumber(after)} tokens.`);
        return Promise.resolve();
      },
      remember: (note) => {
        this.#write([note]);
        this.#changes.push({ type: 'noted', note });
        return Promise.resolve();
      },
    };
  }
}

function userText(item: Item): string {
  return item.type === 'message' ? textOfParts(item.content) : '';
}
