// A history with a provider's own compaction instead of a summary. Pure.

import type { CompactionItem } from '../../protocol/item.ts';
import type { FullPlan } from '../full/request.ts';

/** The plan with the provider's state where the summary stands; the summary in words is its shadow. */
export function withProviderState(plan: FullPlan, item: CompactionItem): FullPlan {
  return { ...plan, layout: { ...plan.layout, carry: (shadow) => ({ ...item, shadow }) } };
}
