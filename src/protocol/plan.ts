// What the engine's arbiter answers. The watcher, which is no part of the engine, knows it from here.

/** Why a request for a compaction is turned down. */
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
 * How a request for a compaction is carried out. `full` has a model, or none, write a summary, `remote` has the provider
 * compact, `legacy` is what takes the place of both while `features.compact_v2` is off. `newest_turns` keeps the newest
 * turns and asks no model: all that an open breaker still allows, and never the answer to the watcher. `why` is one
 * sentence for people with the numbers, without a capital and a full stop, so that others can put words around it.
 */
export type CompactionPlan =
  | { readonly type: 'none'; readonly reason: RefusalReason; readonly why: string }
  | {
      readonly type: 'full' | 'legacy';
      readonly why: string;
      /** What was asked for and is not done, one sentence for the receipt. */
      readonly note?: string;
    }
  | { readonly type: 'micro' | 'remote' | 'newest_turns'; readonly why: string };

/** Whether a plan replaces the history by a summary, whoever writes it. */
export function isSummarising({ type }: CompactionPlan): boolean {
  return type === 'full' || type === 'remote' || type === 'legacy';
}
