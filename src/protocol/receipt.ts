import type { Category, Implementation, Phase, Reason, Strategy, Trigger } from '../vocabulary.ts';

/** Tokens by category; absent categories hold none. */
export type TokensByCategory = Readonly<Partial<Record<Category, number>>>;

/** What became of one group of items. `items` are positions in the log, counted from 0, as closed ranges. */
export interface ReceiptEntry {
  readonly items: readonly (readonly [from: number, to: number])[];
  readonly count: number;
  readonly tokens: number;
  readonly byCategory: TokensByCategory;
}

/** A file given back to the model after a compaction. */
export interface RestoredFile {
  readonly path: string;
  readonly tokens: number;
  /** SHA-256 of the content given, in hex. */
  readonly sha256: string;
  readonly note?: string;
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
  /** The rung of the ladder that gave the result; `embedded` needs no model. */
  readonly rung: 'embedded' | 'newest_turns' | 'none';
  readonly model?: string;
  /** `precise`: o200k tokens. `approximate`: UTF-8 bytes / 4. */
  readonly counter: 'precise' | 'approximate';
  /** The numbers behind the decision and the formula that used them, as one sentence. */
  readonly why: string;
  readonly window: number;
  readonly targetTokens?: number;
  readonly preTokens: number;
  readonly postTokens: number;
  /** SHA-256 over the items that went in, in hex. */
  readonly inputSha256: string;
  readonly summaryTokens: number;
  readonly kept: ReceiptEntry;
  readonly summarised: ReceiptEntry;
  readonly dropped: ReceiptEntry;
  readonly restoredFiles: readonly RestoredFile[];
  /** Known secrets that were replaced in the summary, by kind. */
  readonly redactions: Readonly<Record<string, number>>;
  /** Checks that the result passed, e.g. `no_orphan_pairs`. */
  readonly guards: readonly string[];
  readonly notes: readonly string[];
  /** From request to result, where it was timed. */
  readonly durationMs?: number;
}
