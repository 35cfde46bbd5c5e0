// The account of a session as a value: what fills its context, and how it got there.

import type { Phase, Trigger } from '../vocabulary.ts';
import type { Receipt, TokensByCategory } from '../protocol/receipt.ts';
import type { Prediction, Usage } from '../tokens/anchor.ts';
import type { CountText, EstimateSettings } from '../tokens/estimate.ts';
import type { BrokenPairs } from './pairs.ts';

/** A moment of the gauge: what a provider reported, or the estimate at the end of the file. */
export interface GaugePoint {
  /** Counted from 1; 0 before the first user message. */
  readonly turn: number;
  readonly line: number | undefined;
  readonly used: number;
  readonly percentRemaining: number;
}

/** A compaction as the log tells it. */
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
  /** Occupancy just before: what the gauge had, and what was recorded where nothing anchors the gauge. */
  readonly preTokens: number;
  /** Occupancy just after, by the gauge. */
  readonly postTokens: number;
  readonly window: number;
  readonly summary: 'readable' | 'encrypted' | 'shadowed' | 'none';
  readonly summaryTokens: number;
  /** Items of the history before and after. */
  readonly itemsBefore: number;
  readonly itemsAfter: number;
  /** Calls whose results were cleared (micro only). */
  readonly clearedResults: number;
  readonly isUndone: boolean;
  readonly receipt: Receipt | undefined;
}

/** Counts over the whole file, whatever is still in the context. */
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

/** Tokens of the results of one tool in the present context, without images, which are a category of their own. */
export interface ToolShare {
  readonly tool: string;
  readonly results: number;
  readonly tokens: number;
}

/** What makes the difference between the tokens of the items and the tokens used. */
export interface BesideItems {
  /** In every request, and in no item: the smallest difference that a first report showed. System prompt, tool schemas. */
  readonly fixed: number;
  /**
   * What the provider counts for the same items beyond what was counted here, by the growth between its reports: its
   * tokenizer is another one. Negative where it counts less.
   */
  readonly counting: number;
  /** What the first report after the last compaction showed beyond that: files and skills that the agent gives again. */
  readonly restored: number;
  /** The margin of an estimate that no report anchors. */
  readonly margin: number;
  /** The rest of what was reported. Negative where less was reported than the other parts come to. */
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
  /** With `categories` it adds up to the tokens used. */
  readonly besideItems: BesideItems;
  readonly turns: number;
  readonly points: readonly GaugePoint[];
  readonly compactions: readonly CompactionMark[];
  readonly brokenPairs: BrokenPairs;
  readonly recorded: Readonly<RecordedCounts>;
  readonly predictions: readonly Prediction[];
  /** Samples that could not be true, with their lines. */
  readonly rejectedSamples: readonly { readonly line: number | undefined; readonly why: string }[];
}

/** How an account counts. */
export interface AccountSettings {
  readonly estimate: EstimateSettings;
  /** `token_safety_multiplier`. */
  readonly safetyMultiplier: number;
  /** Counts for the categories; the estimate unless given. The gauge always uses the estimate. */
  readonly count?: CountText;
  /** Estimate of what requests hold besides instructions and items, until a report shows it: the schemas of tools. */
  readonly toolTokens?: number;
  /** `model_context_window`: overrides what the file and the table say. */
  readonly window?: number;
}
