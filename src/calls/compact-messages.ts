// One call that compacts an array of messages.

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

/** How to compact an array of messages. */
export interface CompactMessagesOptions {
  /** Maximum size of the result in tokens, as `count` counts; a positive whole number. */
  readonly targetTokens: number;
  /** Counts the tokens of a text. Absent: an estimate of 4 bytes per token (`approxBytesPerToken`). */
  readonly count?: (text: string) => number;
  /** Absent: the defaults. `[compact]` decides what stays. */
  readonly config?: Config;
  /** Ends the call with `interrupted`. */
  readonly signal?: CancelSignal;
}

/** The result of a compaction. */
export interface CompactedMessages<Message extends object> {
  /** In the format of the input; the input array itself if nothing had to be done. */
  readonly messages: readonly Message[];
  readonly isCompacted: boolean;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** What was kept, summarised and dropped; absent if nothing had to be done. */
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
    throw new RangeError(`targetTokens is ${targetTokens}; it must be a positive whole number`);
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
      why: `The target is ${targetTokens} of ${tokensBefore} tokens.`,
      targetTokens,
      targetName: TARGET_NAME,
    },
    config,
    callWorld(count, signal),
  );
  return {
    // The caller knows the type of the format that was read.
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
