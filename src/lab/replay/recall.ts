// How much of what the agent used later a simulated compaction would have left.

import { readLog } from '../eval/log.ts';
import type { SessionLog } from '../eval/log.ts';
import { linesOfItem } from '../eval/text.ts';
import { recallOf, UseFinder } from '../eval/uses.ts';
import type { FutureUse } from '../eval/uses.ts';
import type { Item } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { approximateTokens } from '../../tokens/estimate.ts';

/** Minimum number of future uses: with fewer, one use would be a tenth of the recall. @source docs/decisions/evaluation.md */
const LEAST_USES = 10;

/** Measures contexts against the rest of their session. Holds the whole session. */
export class RecallMeter {
  readonly #log: SessionLog;
  #finder: UseFinder;
  /** The result for the last step: several contexts are measured at the same step. */
  #newest: { readonly step: number; readonly uses: readonly FutureUse[] } | undefined;

  constructor(records: readonly LogRecord[]) {
    this.#log = readLog(records, approximateTokens);
    this.#finder = new UseFinder(this.#log);
  }

  /**
   * The share, 0 to 1, of the identifiers used after `step` that these items still hold; undefined if there are too
   * few.
   * @param step items of the log before the cut
   */
  measure(step: number, items: readonly Item[]): number | undefined {
    const uses = this.#usesAt(step);
    if (uses.length < LEAST_USES) return undefined;
    return recallOf(items.flatMap(linesOfItem), uses, this.#log.table).all;
  }

  /** Steps come in order, so one pass over the session suffices, and another if they restart. */
  #usesAt(step: number): readonly FutureUse[] {
    if (this.#newest?.step === step) return this.#newest.uses;
    if (this.#newest !== undefined && step < this.#newest.step) this.#finder = new UseFinder(this.#log);
    this.#newest = { step, uses: this.#finder.usesAt(step) };
    return this.#newest.uses;
  }
}
