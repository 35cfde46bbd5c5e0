// What is reported about a compaction once it is in the log, at once and when its thread is resumed.

import type { CompactionEvent } from '../protocol/wire/event.ts';
import type { Receipt, SummaryAttempt } from '../protocol/receipt.ts';

/** The words of the notice that a compaction is over. @source spec 3-watcher §6, seed 003 §2 */
export const COMPACTED_NOTICE = 'Context compacted.';

/** What models were sent and what they answered, all requests together, in tokens by the providers' counts. */
export function tokensSpent(attempts: readonly SummaryAttempt[]): {
  readonly inputTokens: number;
  readonly outputTokens: number;
} {
  return {
    inputTokens: attempts.reduce((sum, { inputTokens = 0 }) => sum + inputTokens, 0),
    outputTokens: attempts.reduce((sum, { outputTokens = 0 }) => sum + outputTokens, 0),
  };
}

/** The report about a compaction that is in the log. */
export function completedEvent(receipt: Receipt): Extract<CompactionEvent, { type: 'compact_completed' }> {
  const { attempts = [], implementation } = receipt;
  const spent = tokensSpent(attempts);
  return {
    type: 'compact_completed',
    id: receipt.id,
    pre_compact_tokens: receipt.preTokens,
    post_compact_tokens: receipt.postTokens,
    compaction_input_tokens: spent.inputTokens,
    compaction_output_tokens: spent.outputTokens,
    files_restored: receipt.restoredFiles.length,
    duration_ms: receipt.durationMs ?? 0,
    strategy: implementation === 'micro' ? 'embedded' : implementation,
  };
}
