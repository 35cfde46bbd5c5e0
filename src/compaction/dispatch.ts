// The one arbiter: nothing else in Baton decides that, or how, a history is compacted.

import type { Strategy } from '../vocabulary.ts';

/** A request that a user made: `/compact` or `baton compact`. */
export interface ManualRequest {
  readonly from: 'manual';
  readonly strategy: Strategy;
}

export interface DispatchSettings {
  /** `compact.enabled`: off refuses every request. */
  readonly isEnabled: boolean;
  /** `features.micro_compact`. */
  readonly hasMicro: boolean;
}

export type Plan =
  | { readonly type: 'none'; readonly reason: 'disabled' | 'micro_disabled'; readonly why: string }
  | { readonly type: 'micro' | 'full'; readonly why: string };

/**
 * What to do about a request.
 *
 * Micro-compaction never satisfies a manual request by itself: a user who asks for a compaction asks for a summary. It
 * runs when it is what was asked for.
 */
export function dispatch(request: ManualRequest, settings: DispatchSettings): Plan {
  if (!settings.isEnabled) {
    return {
      type: 'none',
      reason: 'disabled',
      why: 'compact.enabled is false, which refuses every compaction',
    };
  }
  if (request.strategy !== 'micro') return { type: 'full', why: 'the user asked for a compaction' };
  return settings.hasMicro
    ? { type: 'micro', why: 'the user asked for micro-compaction' }
    : { type: 'none', reason: 'micro_disabled', why: 'features.micro_compact is false' };
}
