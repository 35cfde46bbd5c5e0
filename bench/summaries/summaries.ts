// The summaries that are measured: today's embedded summarizer on each story, at each size.

import type { JsonObject } from '../../src/protocol/item.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { approximateTokens } from '../../src/tokens/estimate.ts';
import { writeSummary } from '../../src/summary/write.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import type { Trail } from '../../src/trail/trail.ts';
import { asLines, readSessionText } from '../../test/support/read-format.ts';

/** Budgets in tokens. @source docs/decisions/summary-yardstick.md */
export const SIZES = [2_000, 4_000, 8_000] as const;

/** Reads the lines of a session as `baton` reads a file. */
export async function recordsOf(lines: readonly JsonObject[]): Promise<readonly LogRecord[]> {
  return (await readSessionText(asLines(lines))).records;
}

/** What a session's records say. */
export function trailOf(records: readonly LogRecord[]): Trail {
  const collector = new TrailCollector();
  for (const record of records) collector.add(record);
  return collector.trail();
}

/** The summary of a session. Tokens are estimated, so that it does not depend on an optional package. */
export function summaryOf(records: readonly LogRecord[], budgetTokens: number): string {
  return writeSummary(trailOf(records), { budgetTokens, count: approximateTokens }).text;
}
