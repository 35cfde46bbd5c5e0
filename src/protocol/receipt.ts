import type { HookRun } from './hook.ts';
import type { JsonObject } from './item.ts';
import type { Category, Implementation, Phase, Reason, Rung, Strategy, Trigger } from '../vocabulary.ts';

/** Tokens by category; absent categories hold none. */
export type TokensByCategory = Readonly<Partial<Record<Category, number>>>;

/** What became of one group of items. `items` are positions in the log, counted from 0, as closed ranges. */
export interface ReceiptEntry {
  readonly items: readonly (readonly [from: number, to: number])[];
  readonly count: number;
  readonly tokens: number;
  readonly byCategory: TokensByCategory;
}

/** What a compacted context consists of: kept items, the summary, restored files, plan with todos and pins, words of hooks. */
export type ContextPart = 'kept' | 'summary' | 'files' | 'state' | 'hooks';

/** A file given back to the model after a compaction. */
export interface RestoredFile {
  readonly path: string;
  readonly tokens: number;
  /** SHA-256 of the content given, in hex. */
  readonly sha256: string;
  readonly note?: string;
}

/** One request to a model for a summary, or for a compaction of its provider's own. */
export interface SummaryAttempt {
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  readonly rung: Rung;
  /** Which piece of the history was summarised, counted from 1. */
  readonly piece?: number;
  /** `defect`: an answer that is no summary. */
  readonly outcome: 'accepted' | 'defect' | 'too_large' | 'refused' | 'failed';
  /** What was wrong, one sentence or the provider's own words. */
  readonly why?: string;
  /** Requests that were sent again after a failure that passes. */
  readonly retries: number;
  /** By the provider's count, in tokens; absent where it did not say. */
  readonly inputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly outputTokens?: number;
  /** US dollars by list price; absent for a model without one. */
  readonly costUsd?: number;
  readonly durationMs: number;
}

/** The difference between the gauge and the items, in tokens. Negative where the items are estimated too high. */
export interface BesideReceipt {
  readonly before: number;
  readonly after: number;
  /** The part of both that is known: instructions and tools. The rest is the margin of an estimate, or not explained. */
  readonly fixed: number;
  /** A provider's report anchors `before`: its rest is not explained. Otherwise it is the margin of an estimate. */
  readonly isReported: boolean;
}

/**
 * Why a compaction ran and what it did, stored with it so that it can be judged and undone later.
 * Every count in tokens, by `counter`.
 */
export interface Receipt {
  readonly version: 1;
  readonly id: string;
  readonly at: string;
  readonly trigger: Trigger;
  readonly reason: Reason;
  readonly phase: Phase;
  readonly strategy: Strategy;
  readonly implementation: Implementation;
  /** The rung of the ladder that gave the result; from `embedded` on no model is needed. */
  readonly rung: Rung;
  /** The model that wrote the summary, `PROVIDER/MODEL`. */
  readonly model?: string;
  /** Every request to a model, in order, the failed ones too; absent where none was asked. */
  readonly attempts?: readonly SummaryAttempt[];
  /** `precise`: o200k tokens. `approximate`: UTF-8 bytes / 4. */
  readonly counter: 'precise' | 'approximate';
  /** The numbers behind the decision, as one sentence. */
  readonly why: string;
  readonly window: number;
  readonly targetTokens?: number;
  readonly preTokens: number;
  readonly postTokens: number;
  /** SHA-256 over the items that went in, as lines of JSON, in hex; of a long history over the hashes of its pieces. */
  readonly inputSha256: string;
  readonly summaryTokens: number;
  /** Items that stay, and their tokens as they stay. With `cut`, `summarised` and `dropped` they add up to `preTokens`. */
  readonly kept: ReceiptEntry;
  /** What kept messages lost: images, and the middle of a message that was too long. Absent in receipts of older versions. */
  readonly cut?: Omit<ReceiptEntry, 'items'>;
  readonly summarised: ReceiptEntry;
  readonly dropped: ReceiptEntry;
  /** What the context holds afterwards, in tokens; the parts add up to `postTokens`. Absent in receipts of older versions. */
  readonly after?: Readonly<Record<ContextPart, number>>;
  /**
   * What the gauge counts and no item holds. With it the items add up to `preTokens` and `postTokens`. Absent where items
   * alone are counted.
   */
  readonly beside?: BesideReceipt;
  readonly restoredFiles: readonly RestoredFile[];
  /** Known secrets that were replaced in the summary, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
  /** Checks that the result passed, e.g. `no_orphan_pairs`. */
  readonly guards: readonly string[];
  readonly notes: readonly string[];
  /** Hooks that ran before the result was committed; absent where none did. */
  readonly hooks?: readonly HookRun[];
  /** Who asked for it and on what grounds, where the watcher did. */
  readonly audit?: JsonObject;
  /** From request to result, where it was timed. */
  readonly durationMs?: number;
}
