// One call in an agent loop: before each request, the watcher inspects the messages and compacts them at the right
// moment.

import { randomUUID } from 'node:crypto';
import { Compactor } from '../compaction/compactor.io.ts';
import type { CompactableThread } from '../compaction/compactor.io.ts';
import { gaugeOf } from '../compaction/subject.ts';
import type { Compaction } from '../compaction/subject.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { BatonError } from '../errors.ts';
import { writeMessages } from '../formats/messages/message-arrays.ts';
import { isUserMessage, SUMMARY_PREFIX } from '../history/filter.ts';
import { parsePrompt } from '../prompts/frontmatter.ts';
import { SHIPPED_PROMPTS } from '../prompts/shipped.ts';
import { authorOf, callOf, textOfParts } from '../protocol/item.ts';
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
import { MessageReader } from './messages.ts';

/** What the watcher needs to know about an agent loop. */
export interface WatchOptions {
  /** Raw context window of the model, in tokens. */
  readonly contextWindow: number;
  /** Estimated size of what each request holds besides the messages, in tokens: instructions and tools. Absent: 0. */
  readonly fixedTokens?: number;
  /**
   * Absent: the defaults. `[rawr_auto_compaction]` says when to compact and `[compact]` what stays; the watcher always
   * writes the packet itself, because it sends no requests to the model.
   */
  readonly config?: Config;
  /** Receives each of the watcher's lines for people: decisions, compactions, warnings. */
  readonly onLine?: (line: string) => void;
}

/** What you know when the next request is about to be sent. */
export interface NextRequest {
  /** Tokens of the previous request and its answer, as the provider counted them. Absent: Baton estimates them. */
  readonly usedTokens?: number;
}

/** The watcher of one conversation. */
export interface ContextWatch {
  /**
   * Call it before each request to the model, with all messages, and send what it returns; append to that. A message of the
   * user begins a turn: before it, and between the calls of tools, the watcher may compact. An array that does not continue
   * what was returned before is another conversation, which is read from its beginning.
   *
   * @returns the very same array where nothing was done
   * @throws BatonError `format_unknown` where a message cannot be read, `cannot_fit` where the window is full of what has to
   *   stay
   */
  next<Message extends object>(messages: Message[], request?: NextRequest): Promise<Message[]>;
}

/**
 * Watches the messages of an agent loop, and compacts them after a commit, a finished step of the plan or the end of a turn
 * rather than in the middle of something; when the window is nearly full, at once. No model is asked.
 *
 * @example
 * ```ts
 * import { watch } from 'baton-agent';
 *
 * const context = watch({ contextWindow: 200_000 });
 * let messages = [{ role: 'system', content: 'You write an almanac.' }];
 * for (const content of ['Write about the tides.', 'Write about the lights.']) {
 *   messages.push({ role: 'user', content });
 *   messages = await context.next(messages);
 *   // Send `messages` to your model here, and append its answer.
 *   messages.push({ role: 'assistant', content: 'It is written.' });
 * }
 * ```
 *
 * @throws RangeError where `contextWindow` is not a positive whole number
 */
export function watch(options: WatchOptions): ContextWatch {
  const { contextWindow } = options;
  if (!Number.isSafeInteger(contextWindow) || contextWindow < 1) {
    throw new RangeError(`contextWindow is ${contextWindow}; it must be a positive whole number`);
  }
  let conversation: Conversation | undefined;
  return {
    async next(messages, request = {}) {
      if (conversation?.isContinuedBy(messages) !== true) conversation = new Conversation(options, messages);
      return conversation.next(messages, request);
    },
  };
}

/** One conversation, as the log that the watcher and the compactor need. */
class Conversation {
  readonly #config: Config;
  readonly #state: ThreadState;
  readonly #projection: Projection;
  readonly #reader: MessageReader;
  readonly #compactor: Compactor;
  readonly #watcher: LiveWatcher;
  readonly #onLine: (line: string) => void;
  readonly #threadId = randomUUID();
  /** Length of the array that was returned last. */
  #length = 0;
  #last: object | undefined;
  #isBusy = false;
  #read: LogRecord[] = [];
  #turn: { readonly turnId: string; readonly origin: TurnOrigin; hadAction: boolean } | undefined;
  #turns = 0;
  #isChanged = false;
  /** The user message that starts the next turn, complete. */
  #input: readonly LogRecord[] = [];
  #resume: () => void = () => undefined;
  #started: () => void = () => undefined;

  constructor(options: WatchOptions, messages: readonly object[]) {
    const {
      config: given = DEFAULT_CONFIG,
      contextWindow,
      fixedTokens = 0,
      onLine = () => undefined,
    } = options;
    const { rawrAutoCompaction } = given;
    this.#config = {
      ...given,
      modelContextWindow: contextWindow,
      rawrAutoCompaction: { ...rawrAutoCompaction, packetAuthor: 'watcher', scratchWriteEnabled: false },
    };
    this.#onLine = onLine;
    this.#state = new ThreadState(this.#config, approximateTokens, withinDeadline, fixedTokens);
    this.#projection = new Projection(this.#config);
    this.#reader = new MessageReader(messages, (record) => this.#read.push(record));
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

  isContinuedBy(messages: readonly object[]): boolean {
    return (
      messages.length >= this.#length && (this.#length === 0 || messages[this.#length - 1] === this.#last)
    );
  }

  async next<Message extends object>(messages: Message[], { usedTokens }: NextRequest): Promise<Message[]> {
    if (this.#isBusy) throw new RangeError('next() was called while another call of it was running');
    this.#isBusy = true;
    try {
      await this.#follow(this.#newRecords(messages, usedTokens));
    } finally {
      this.#isBusy = false;
    }
    const { format } = this.#reader;
    const result = this.#isChanged
      ? // The caller knows the type of the form that was read.
        (writeMessages(format, this.#state.items, format) as unknown as Message[])
      : messages;
    this.#isChanged = false;
    // A copy, because the caller may append to the array.
    this.#length = result.length;
    this.#last = result.at(-1);
    return result;
  }

  #newRecords(messages: readonly object[], usedTokens: number | undefined): readonly LogRecord[] {
    this.#read = [];
    this.#reader.read(messages.slice(this.#length));
    if (usedTokens === undefined) return this.#read;
    const usage = { source: 'reported', covers: 'response', total: usedTokens } as const;
    const answered = this.#read.findLastIndex(isAgents) + 1;
    return this.#read.toSpliced(answered, 0, { type: 'usage', usage });
  }

  /** Adds what arrived since the last request: the newest user message ends the turn before it. */
  async #follow(records: readonly LogRecord[]): Promise<void> {
    const at = records.findLastIndex((record) => record.type === 'item' && isUserMessage(record.item));
    const batchFrom = this.#state.position;
    this.#write(at === -1 ? records : records.slice(0, at));
    if (at !== -1) {
      await this.#takeUserMessage(records.slice(at, at + 1));
      this.#write(records.slice(at + 1));
    }
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

  /** @throws the watcher's failure */
  async #unlessBroken(done: Promise<void>): Promise<void> {
    await Promise.race([done, this.#watcher.rest().then(() => done)]);
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
    if (items.length > 0) this.#isChanged = true;
  }

  #startTurn(origin: TurnOrigin, items: readonly Item[]): void {
    const turn = { turnId: `turn-${++this.#turns}`, origin, hadAction: false } as const;
    this.#write([{ type: 'turn_started', ...turn, kind: 'regular' }]);
    // The watcher knows only the text of the user message; the items before it are its own.
    this.#insert(items.filter((item) => !isUserMessage(item)));
    this.#write(this.#input);
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
        this.#isChanged = true;
        const after = this.#state.account.gauge().used;
        this.#onLine(`Context compacted: ${formatNumber(before)} → ${formatNumber(after)} tokens.`);
        return Promise.resolve();
      },
    };
  }
}

function isAgents(record: LogRecord): boolean {
  return record.type === 'item' && authorOf(record.item) === 'agent';
}

function userText(item: Item): string {
  return item.type === 'message' ? textOfParts(item.content) : '';
}
