// What the engine's arbiter answers. The watcher, which is no part of the engine, knows it from here.

/** Why a request for a compaction is turned down. */
export type RefusalReason =
  'disabled' | 'auto_disabled' | 'micro_disabled' | 'not_needed' | 'rearm' | 'breaker_open' | 'lease_taken';

/**
 * How a request for a compaction is carried out. `newest_turns` keeps the newest turns and asks no model: all that an open
 * breaker still allows, and never the answer to the watcher. `why` is one sentence for people with
 * the numbers, without a capital and a full stop, so that others can put words around it.
 */
export type CompactionPlan =
  | { readonly type: 'none'; readonly reason: RefusalReason; readonly why: string }
  | { readonly type: 'micro' | 'full' | 'newest_turns'; readonly why: string };
