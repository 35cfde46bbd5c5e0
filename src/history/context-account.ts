// The account of a session as a value: what fills its context, and how it got there.

import type { Phase, Trigger } from '../vocabulary.ts';
import type { Receipt, TokensByCategory } from '../protocol/receipt.ts';
import type { Prediction, Usage } from '../tokens/anchor.ts';
import type { CountText, EstimateSettings } from '../tokens/estimate.ts';
import type { BrokenPairs } from './pairs.ts';

/** A reading of the gauge: a provider's report, or the estimate at the end of the file. */
export interface GaugePoint {
  /** Counted from 1; 0 before the first user message. */
  readonly turn: number;
  readonly line: number | undefined;
  readonly used: number;
  readonly percentRemaining: number;
}

/** A compaction according to the log. */
export interface CompactionMark {
  readonly id: string;
  readonly kind: 'full' | 'micro';
  readonly line: number | undefined;
  readonly at: string | undefined;
  readonly turn: number;
  /** Index in `points` of the first point after it. */
  readonly pointIndex: number;
  readonly trigger: Trigger | undefined;
  readonly phase: Phase | undefined;
  /** Occupancy just before: by the gauge, or as recorded if nothing anchors the gauge. */
  readonly preTokens: number;
  /** Occupancy just after, by the gauge. */
  readonly postTokens: number;
  readonly window: number;
  readonly summary: 'readable' | 'encrypted' | 'shadowed' | 'none';
  readonly summaryTokens: number;
  /** Number of items in the history before and after. */
  readonly itemsBefore: number;
  readonly itemsAfter: number;
  /** Number of calls whose results were cleared (micro only). */
  readonly clearedResults: number;
  readonly isUndone: boolean;
  readonly receipt: Receipt | undefined;
}

/** Counts over the whole file, whether still in the context or not. */
export interface RecordedCounts {
  items: number;
  sideItems: number;
  userMessages: number;
  harnessMessages: number;
  assistantMessages: number;
  reasoning: number;
  calls: number;
  results: number;
  unknownItems: number;
}

/** Tokens of one tool's results in the present context, without images, which are a separate category. */
export interface ToolShare {
  readonly tool: string;
  readonly results: number;
  readonly tokens: number;
}

/** The difference between the tokens of the items and the tokens used, in parts. */
export interface BesideItems {
  /**
   * In every request, and in no item: the instructions that the log has, by estimate, and the smallest difference that a first
   * report showed beyond them, which is a system prompt or the schemas of tools.
   */
  readonly fixed: number;
  /**
   * The provider's extra count for the same items, due to its different tokenizer, from the growth between its reports.
   * Negative if it counts less.
   */
  readonly counting: number;
  /** What the first report after the last compaction showed beyond that: files and skills that the agent provides again. */
  readonly restored: number;
  /** The safety margin of an estimate that no report anchors. */
  readonly margin: number;
  /** The rest of what was reported. Negative if the other parts exceed the report. */
  readonly unexplained: number;
}

/** The account of a session. */
export interface ContextAccount {
  readonly sessionId: string | undefined;
  readonly model: string | undefined;
  readonly cwd: string | undefined;
  readonly producerVersion: string | undefined;
  /** Set where Baton's own agent wrote the log. */
  readonly producer: 'baton' | undefined;
  readonly startedAt: string | undefined;
  readonly endedAt: string | undefined;
  /** Raw window; `windowFrom` says how it is known. */
  readonly window: number;
  readonly usableWindow: number;
  readonly windowFrom: 'configured' | 'recorded' | 'model' | 'provider' | 'unknown';
  readonly usage: Usage;
  readonly percentRemaining: number;
  readonly categories: TokensByCategory;
  readonly tools: readonly ToolShare[];
  /** Together with `categories`, this adds up to the tokens used. */
  readonly besideItems: BesideItems;
  readonly turns: number;
  readonly points: readonly GaugePoint[];
  readonly compactions: readonly CompactionMark[];
  readonly brokenPairs: BrokenPairs;
  readonly recorded: Readonly<RecordedCounts>;
  readonly predictions: readonly Prediction[];
  /** Impossible samples, with their lines. */
  readonly rejectedSamples: readonly { readonly line: number | undefined; readonly why: string }[];
}

/** How an account counts. */
export interface AccountSettings {
  readonly estimate: EstimateSettings;
  /** `token_safety_multiplier`. */
  readonly safetyMultiplier: number;
  /** Counts for the categories; by default the estimate. The gauge always uses the estimate. */
  readonly count?: CountText;
  /** Estimate of what requests contain besides instructions and items, namely tool schemas, until a report shows it. */
  readonly toolTokens?: number;
  /** `model_context_window`: overrides the file and the table. */
  readonly window?: number;
}
