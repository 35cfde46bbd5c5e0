// The answers of the engine's arbiter. The watcher is not part of the engine and knows them from here.

/** Why the arbiter refuses a compaction. */
export type RefusalReason =
  | 'disabled'
  | 'auto_disabled'
  | 'micro_disabled'
  | 'remote_unavailable'
  | 'legacy_only'
  | 'not_needed'
  | 'rearm'
  | 'breaker_open'
  | 'lease_taken';

/**
 * How a compaction is performed. `full` has a model, or the embedded summarizer, write a summary; `remote` has the
 * provider compact; `legacy` replaces both while `features.compact_v2` is off. `newest_turns` keeps the newest turns
 * and asks no model: an open breaker allows nothing else, and the watcher never receives it. `why` is one sentence for
 * people with the numbers, without a capital and a full stop, so that callers can embed it.
 */
export type CompactionPlan =
  | { readonly type: 'none'; readonly reason: RefusalReason; readonly why: string }
  | {
      readonly type: 'full' | 'legacy';
      readonly why: string;
      /** What was requested but not done, in one sentence for the receipt. */
      readonly note?: string;
    }
  | { readonly type: 'micro' | 'remote' | 'newest_turns'; readonly why: string };

/** Whether a plan replaces the history with a summary, no matter who writes it. */
export function isSummarising({ type }: CompactionPlan): boolean {
  return type === 'full' || type === 'remote' || type === 'legacy';
}
