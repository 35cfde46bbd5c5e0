// Recall of a session's summaries with and without the lines that only list names: what of the names that the agent used later
// a summary holds. The measure is that of `baton eval`; the candidate alone differs.

import { chooseCuts } from '../../src/lab/eval/cuts.ts';
import { readLog } from '../../src/lab/eval/log.ts';
import type { SessionLog } from '../../src/lab/eval/log.ts';
import { Past } from '../../src/lab/eval/past.ts';
import { linesOf } from '../../src/lab/eval/text.ts';
import { recallOf } from '../../src/lab/eval/uses.ts';
import type { FutureUse } from '../../src/lab/eval/uses.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { writeSummary } from '../../src/summary/write.ts';
import { approximateTokens } from '../../src/tokens/estimate.ts';
import type { Trail } from '../../src/trail/trail.ts';
import { trailOf } from './summaries.ts';
import { isNameList } from './summary-text.ts';

/** Fewer later uses make one name a tenth of the recall. @source `LEAST_USES` of src/lab/eval/measure.ts */
const LEAST_USES = 10;
/** @source the seed of the figures in docs/decisions/evaluation.md */
const SEED = 1;

/** A place where a session is cut, with what the agent used later. */
export interface Place {
  readonly log: SessionLog;
  /** What the past says. */
  readonly trail: Trail;
  readonly uses: readonly FutureUse[];
}

/** Shares from 0 to 1. */
export interface NameRecall {
  readonly all: number;
  readonly withoutLists: number;
}

/** The cuts of a session: its compactions, and `regular` places spread evenly. Empty for one below 8,000 tokens. */
export function placesOf(records: readonly LogRecord[], regular: number): readonly Place[] {
  const log = readLog(records, approximateTokens);
  const past = new Past(log);
  return chooseCuts(log, regular, SEED).flatMap(({ step, record }) => {
    const { uses } = past.advance(step);
    return uses.length < LEAST_USES ? [] : [{ log, trail: trailOf(records.slice(0, record)), uses }];
  });
}

/** A summary at a place. Lines are counted as the evaluation counts them. */
export function summaryAt({ log, trail }: Place, budgetTokens: number): string {
  return writeSummary(trail, { budgetTokens, count: log.table.tokensOfText }).text;
}

/** What a summary holds of the names used later. */
export function recallAt({ log, uses }: Place, summary: string): NameRecall {
  const lines = linesOf(summary);
  const prose = lines.filter((line) => !isNameList(line));
  return {
    all: recallOf(lines, uses, log.table).all,
    withoutLists: recallOf(prose, uses, log.table).all,
  };
}
