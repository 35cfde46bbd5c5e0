// The models that may write a summary.

import type { Model } from '../../ports.ts';
import type { ModelUsage } from '../../protocol/model.ts';
import type { Effort, Verbosity } from '../../vocabulary.ts';
import type { SummaryPrompts } from './prompt.ts';
import type { ModelLimits } from './room.ts';

/** A model that may write summaries. */
export interface SummaryModel extends ModelLimits {
  readonly model: Model;
  /** As its provider knows it. */
  readonly name: string;
  readonly effort?: Effort;
  readonly verbosity?: Verbosity;
  /** US dollars; undefined without a list price. */
  readonly costOf: (usage: ModelUsage) => number | undefined;
}

/** The models that may write the summary, in the order in which they are asked. */
export interface Summarizers {
  readonly models: readonly SummaryModel[];
  readonly prompts: SummaryPrompts;
  /** Milliseconds for all their requests together; after them the compaction goes on without a model. */
  readonly deadlineMs: number;
}
