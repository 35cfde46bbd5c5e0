// One call: an array of messages in, a shorter one out.

import { createHash, randomUUID } from 'node:crypto';
import type { CompactionWorld } from '../compaction/subject.ts';
import { compactHistory } from '../compaction/compact.io.ts';
import { itemsTokens, measureWith } from '../compaction/measure.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { Config } from '../config/schema.ts';
import { writeMessages } from '../formats/messages/message-arrays.ts';
import { WHOLE_ITEMS } from '../history/clear.ts';
import { SUMMARY_PREFIX } from '../history/filter.ts';
import { HistoryFold } from '../history/project.ts';
import type { CancelSignal } from '../ports.ts';
import type { Receipt } from '../protocol/receipt.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { UNKNOWN_MODEL_WINDOW } from '../tokens/models.ts';
import { withinDeadline } from '../system/deadline.io.ts';
import { TrailCollector } from '../trail/collect.ts';
import { MessageReader } from './messages.ts';

/** How an array of messages is to be compacted. */
export interface CompactMessagesOptions {
  /** Largest size of the result in tokens, as `count` counts; a positive whole number. */
  readonly targetTokens: number;
  /** Tokens of a text. Absent: an estimate of 4 bytes a token (`approxBytesPerToken`). */
  readonly count?: (text: string) => number;
  /** Absent: the defaults. `[compact]` holds for what is kept. */
  readonly config?: Config;
  /** Ends the call with `interrupted`. */
  readonly signal?: CancelSignal;
}

/** What came of it. */
export interface CompactedMessages<Message extends object> {
  /** In the form of the messages that were given; the very same where nothing had to be done. */
  readonly messages: readonly Message[];
  readonly isCompacted: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** What was kept, summarised and dropped; absent where nothing had to be done. */
  readonly receipt?: Receipt;
}

/**
 * Compacts an array of messages as the Chat Completions, Responses or Messages API takes them: the user's requests and rules
 * stay word for word, the work becomes a summary that is written without a model, and no call loses its result.
 *
 * @example
 * ```ts
 * import { compactMessages } from 'baton-agent';
 *
 * const history = Array.from({ length: 40 }, (_, at) => ({
 *   role: at % 2 === 0 ? 'user' : 'assistant',
 *   content: `Message ${at}. ${'The tide comes in. '.repeat(50)}`,
 * }));
 * const { messages, tokensBefore, tokensAfter } = await compactMessages(history, { targetTokens: 2_000 });
 * ```
 *
 * @throws BatonError `format_unknown` where a message cannot be read; `cannot_fit` with the smallest size that is possible;
 *   `interrupted`
 * @throws RangeError where `targetTokens` is not a positive whole number
 */
export async function compactMessages<Message extends object>(
  messages: readonly Message[],
  options: CompactMessagesOptions,
): Promise<CompactedMessages<Message>> {
  const { targetTokens, count = approximateTokens, config = DEFAULT_CONFIG, signal } = options;
  if (!Number.isSafeInteger(targetTokens) || targetTokens < 1) {
    throw new RangeError(`targetTokens is ${targetTokens}, and has to be a positive whole number`);
  }
  const history = new HistoryFold(WHOLE_ITEMS);
  const trail = new TrailCollector();
  const reader = new MessageReader(messages, (record) => {
    history.add(record);
    trail.add(record);
  });
  reader.read(messages);
  const items = history.entries.map(({ value }) => value);
  const measure = measureWith(count, config.compact);
  const tokensBefore = itemsTokens(items, measure);
  if (tokensBefore <= targetTokens) {
    return { messages, isCompacted: false, tokensBefore, tokensAfter: tokensBefore };
  }
  const compaction = await compactHistory(
    {
      entries: history.entries,
      window: Math.max(UNKNOWN_MODEL_WINDOW, tokensBefore),
      leavesInitialContext: false,
      summaryPrefix: SUMMARY_PREFIX,
      session: { sessionId: undefined, transcriptPath: undefined, cwd: undefined, model: undefined },
      trail: trail.trail(),
    },
    {
      trigger: 'manual',
      reason: 'user_requested',
      phase: 'standalone_turn',
      strategy: 'full',
      why: `${tokensBefore} tokens have to become ${targetTokens}.`,
      targetTokens,
      targetName: TARGET_NAME,
    },
    config,
    callWorld(count, signal),
  );
  return {
    // In the form that was read, whose type the caller knows.
    messages: writeMessages(reader.format, compaction.items, reader.format) as unknown as Message[],
    isCompacted: true,
    tokensBefore,
    tokensAfter: itemsTokens(compaction.items, measure),
    ...(compaction.type === 'full' ? { receipt: compaction.record.receipt } : {}),
  };
}

/** The option of the calls that names a target. */
export const TARGET_NAME = 'targetTokens';

/** What a compaction needs of the world where nobody watches it. */
export function callWorld(
  count: (text: string) => number,
  signal: CancelSignal = new AbortController().signal,
): Omit<CompactionWorld, 'commit'> {
  return {
    clock: Date,
    ids: { uuid: randomUUID },
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    count,
    counter: count === approximateTokens ? 'approximate' : 'precise',
    within: withinDeadline,
    signal,
    emit: () => undefined,
  };
}
