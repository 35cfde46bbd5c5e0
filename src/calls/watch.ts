// One call in an agent loop: before each request, the watcher inspects the messages and compacts them at the right
// moment.

import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { writeMessages } from '../formats/messages/message-arrays.ts';
import { authorOf } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import { MessageReader } from './messages.ts';
import { WatchedLog } from './watched-log.ts';

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

/** One conversation as an array of messages. */
class Conversation {
  readonly #log: WatchedLog;
  readonly #reader: MessageReader;
  /** Length of the array that was returned last. */
  #length = 0;
  #last: object | undefined;
  #isBusy = false;
  #read: LogRecord[] = [];

  constructor(
    { config = DEFAULT_CONFIG, contextWindow, fixedTokens = 0, onLine = () => undefined }: WatchOptions,
    messages: readonly object[],
  ) {
    this.#log = new WatchedLog({ config, contextWindow, fixedTokens, onLine });
    this.#reader = new MessageReader(messages, (record) => this.#read.push(record));
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
      await this.#log.follow(this.#newRecords(messages, usedTokens));
    } finally {
      this.#isBusy = false;
    }
    const { format } = this.#reader;
    const isChanged = this.#log.takeChanges().some(({ type }) => type !== 'noted');
    const items = this.#log.entries.map(({ value }) => value);
    const result = isChanged
      ? // The caller knows the type of the form that was read.
        (writeMessages(format, items, format) as unknown as Message[])
      : messages;
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
}

function isAgents(record: LogRecord): boolean {
  return record.type === 'item' && authorOf(record.item) === 'agent';
}
