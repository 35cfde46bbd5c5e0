// What each policy leaves of a context. The embedded summarizer replaces summaries by models, at their typical size, so
// that policies differ only in where they compact and in what they keep beside the summary.

import type { Config } from '../../config/schema.ts';
import { measureOnce } from '../../compaction/measure.ts';
import { compactFully } from '../../compaction/full/full.ts';
import { microCompact } from '../../compaction/micro/micro.ts';
import type { KeptItems, MicroResult } from '../../compaction/micro/micro.ts';
import { preserveUserMessages } from '../../compaction/full/preserve.ts';
import { restoreState } from '../../compaction/full/restore.ts';
import { embeddedSummarizer, summaryMessage } from '../../compaction/full/summary.ts';
import { CODEX_SUMMARY_PREFIX, initialContextRange, SUMMARY_PREFIX } from '../../history/filter.ts';
import type { Entry } from '../../history/project.ts';
import { authorOf, callOf, resultCallId } from '../../protocol/item.ts';
import type { Item, MessageItem } from '../../protocol/item.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import type { Reason } from '../../vocabulary.ts';
import type { Trail } from '../../trail/trail.ts';

/** The parts of the configuration that a compaction reads. */
export type CompactionConfig = Pick<Config, 'compact' | 'features'>;

/**
 * Tokens of a summary by a large model.
 * @source the median of 13 summaries that Claude Code wrote in real sessions: 11,316 characters
 */
export const MODEL_SUMMARY_TOKENS = 2_800;

/** @source Codex, `COMPACT_USER_MESSAGE_MAX_TOKENS` (codex-behaviour §4.2) */
const CODEX_USER_TOKENS = 20_000;

/** A context to compact at one moment. */
export interface Compactable {
  readonly entries: readonly Entry<Item>[];
  /** Raw window of the model. */
  readonly window: number;
  readonly atMs: number;
  readonly trail: Trail;
  readonly reason: Reason;
}

/** This engine, with its embedded summarizer; undefined if it finds nothing worth compacting. */
export function compactAsBaton(
  { entries, window, atMs, trail, reason }: Compactable,
  { compact }: CompactionConfig,
): readonly Item[] | undefined {
  const count = (text: string) => approximateTokens(text, compact);
  const result = compactFully(
    {
      id: 'replay',
      at: new Date(atMs).toISOString(),
      trigger: 'auto',
      reason,
      phase: 'standalone_turn',
      strategy: 'auto',
      why: 'replayed',
      entries,
      window,
      leavesInitialContext: false,
      userMessageLimit: compact.userMessageMaxTokens,
      files: [],
      summaryPrefix: SUMMARY_PREFIX,
      state: restoreState(trail, compact),
      measure: measureOnce(count, compact),
      count,
      counter: 'approximate',
      // No one reads the receipt.
      hash: () => '',
    },
    embeddedSummarizer(trail, count),
  );
  return result.outcome === 'compacted' ? result.record.replacement : undefined;
}

/** What a micro-compaction would clear. */
export function clearable(
  { items, kept }: { readonly items: readonly Item[]; readonly kept: KeptItems },
  { compact }: CompactionConfig,
): MicroResult {
  return microCompact(items, {
    minTokensToSave: compact.microCompactMinTokensToSave,
    keepLastTools: compact.microCompactKeepLastNTools,
    tokensPerImage: compact.tokensPerImage,
    approxBytesPerToken: compact.approxBytesPerToken,
    kept,
  });
}

/**
 * Codex's local compaction: user messages up to 20,000 tokens, the initial context before the last of them, the summary.
 * @source codex-behaviour §4.2
 */
export function compactAsCodex({ entries, trail }: Compactable): readonly Item[] {
  const items = entries.map(({ value }) => value);
  const range = initialContextRange(items);
  const kept = preserveUserMessages(entries, CODEX_USER_TOKENS, (text) => approximateTokens(text)).items;
  return [
    ...kept.slice(0, -1),
    ...items.slice(range.from, range.to),
    ...kept.slice(-1),
    standIn(trail, kept, CODEX_SUMMARY_PREFIX),
  ];
}

/**
 * Claude Code's: the summary, then the agent's last round of calls with their results. It also rereads files, which are
 * omitted here for all policies because the workspace is absent.
 * @source claude-code-behaviour §3a, §4
 */
export function compactAsClaude({ entries, trail }: Compactable): readonly Item[] {
  const items = entries.map(({ value }) => value);
  return [standIn(trail, [], SUMMARY_PREFIX), ...lastRound(items)];
}

/** The agent's newest unbroken run with the results of its calls, if no user message followed. */
function lastRound(items: readonly Item[]): readonly Item[] {
  let from = items.length;
  let hasAgent = false;
  while (from > 0) {
    const item = items[from - 1];
    if (item === undefined) break;
    const isAgent = authorOf(item) === 'agent';
    if (isAgent) hasAgent = true;
    else if (hasAgent || resultCallId(item) === undefined) break;
    from--;
  }
  const round = items.slice(from);
  const called = new Set(round.map((item) => callOf(item)?.callId));
  const answered = new Set(round.map(resultCallId));
  return round.filter((item) => {
    const callId = callOf(item)?.callId;
    const answers = resultCallId(item);
    if (answers !== undefined) return called.has(answers);
    return callId === undefined || answered.has(callId);
  });
}

function standIn(trail: Trail, kept: readonly MessageItem[], prefix: string): MessageItem {
  const { text } = embeddedSummarizer(trail, approximateTokens)(MODEL_SUMMARY_TOKENS, kept);
  return summaryMessage(text, { prefix, continuesWithoutAsking: true });
}
