import type { HookRun } from './hook.ts';
import type { JsonObject } from './item.ts';
import type { Category, Implementation, Phase, Reason, Rung, Strategy, Trigger } from '../vocabulary.ts';

/** Tokens by category; a missing category holds none. */
export type TokensByCategory = Readonly<Partial<Record<Category, number>>>;

/** What happened to one group of items. `items` are positions in the log, counted from 0, as closed ranges. */
export interface ReceiptEntry {
  readonly items: readonly (readonly [from: number, to: number])[];
  readonly count: number;
  readonly tokens: number;
  readonly byCategory: TokensByCategory;
}

/**
 * The parts of a compacted context: kept items, the summary, restored files, the plan with todos and pins, and text
 * from hooks.
 */
export type ContextPart = 'kept' | 'summary' | 'files' | 'state' | 'hooks';

/** A file that Baton returned to the model after a compaction. */
export interface RestoredFile {
  readonly path: string;
  readonly tokens: number;
  /** SHA-256 of the returned content, in hex. */
  readonly sha256: string;
  readonly note?: string;
}

/** One request to a model for a summary, or for the provider's own compaction. */
export interface SummaryAttempt {
  /** `PROVIDER/MODEL`. */
  readonly model: string;
  readonly rung: Rung;
  /** Which piece of the history it summarised, counted from 1. */
  readonly piece?: number;
  /** `defect`: the answer was not a usable summary. */
  readonly outcome: 'accepted' | 'defect' | 'too_large' | 'refused' | 'failed';
  /** What went wrong: one sentence, or the provider's own words. */
  readonly why?: string;
  /** How often the request was retried after a transient failure. */
  readonly retries: number;
  /** As the provider counted them, in tokens; absent if it did not report them. */
  readonly inputTokens?: number;
  readonly cachedInputTokens?: number;
  readonly outputTokens?: number;
  /** US dollars by list price; absent for a model without a list price. */
  readonly costUsd?: number;
  readonly durationMs: number;
}

/** The difference between the gauge and the items, in tokens. Negative if the estimate of the items is too high. */
export interface BesideReceipt {
  readonly before: number;
  readonly after: number;
  /** The known part of both: instructions and tools. The rest is the margin of an estimate, or unexplained. */
  readonly fixed: number;
  /**
   * True if `before` is anchored to a provider's report: its rest is unexplained. Otherwise the rest is the margin of
   * an estimate.
   */
  readonly isReported: boolean;
}

/**
 * Why a compaction ran and what it did. Stored with the compaction so that you can review and undo it later. All counts
 * are tokens, by `counter`.
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
  /** The rung of the ladder that produced the result; from `embedded` on, no model is needed. */
  readonly rung: Rung;
  /** The model that wrote the summary, `PROVIDER/MODEL`. */
  readonly model?: string;
  /** Every request to a model, in order, including failed ones; absent if no model was asked. */
  readonly attempts?: readonly SummaryAttempt[];
  /** `precise`: o200k tokens. `approximate`: UTF-8 bytes / 4. */
  readonly counter: 'precise' | 'approximate';
  /** The numbers behind the decision, in one sentence. */
  readonly why: string;
  readonly window: number;
  readonly targetTokens?: number;
  readonly preTokens: number;
  readonly postTokens: number;
  /** SHA-256 of the input items as lines of JSON, in hex; for a long history, of the hashes of its pieces. */
  readonly inputSha256: string;
  readonly summaryTokens: number;
  /** Items that stay, and their size afterwards. With `cut`, `summarised` and `dropped` they add up to `preTokens`. */
  readonly kept: ReceiptEntry;
  /** What kept messages lost: images, and the middle of overlong messages. Absent in receipts of older versions. */
  readonly cut?: Omit<ReceiptEntry, 'items'>;
  readonly summarised: ReceiptEntry;
  readonly dropped: ReceiptEntry;
  /** What the context holds afterwards, in tokens; the parts add up to `postTokens`. Absent in receipts of older versions. */
  readonly after?: Readonly<Record<ContextPart, number>>;
  /**
   * What the gauge counts but no item holds. With it the items add up to `preTokens` and `postTokens`. Absent where
   * only items are counted.
   */
  readonly beside?: BesideReceipt;
  readonly restoredFiles: readonly RestoredFile[];
  /** How many known secrets were replaced in the summary, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
  /** Checks that the result passed, e.g. `no_orphan_pairs`. */
  readonly guards: readonly string[];
  readonly notes: readonly string[];
  /** Hooks that ran before the result was committed; absent if none ran. */
  readonly hooks?: readonly HookRun[];
  /** Who requested the compaction and why, if it was the watcher. */
  readonly audit?: JsonObject;
  /** From request to result, if it was timed. */
  readonly durationMs?: number;
}
