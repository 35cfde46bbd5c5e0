// Stops a host from compacting in circles. The arbiter's own guard counts what a compaction frees; this one counts those between
// which the agent did nothing, which is what a host that continues by itself makes endless.

import { isUserMessage } from '../history/filter.ts';
import { authorOf } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';

/** Compactions between which nothing happened. */
export interface Streak {
  /** Since the last message of the user or finished tool call. */
  readonly compactions: number;
}

export const NO_STREAK: Streak = { compactions: 0 };

/** What a rider may do with a compaction. */
export type StreakVerdict =
  | 'go'
  /** Compact, and do not let the agent continue by itself. */
  | 'go_and_pause'
  /** Compact no more. */
  | 'stop';

/** Compactions in a row before the agent pauses, and before Baton stops. @source spec 6-riding-along, "One engine, five adapters" */
const PAUSES_FROM = 2;
const STOPS_FROM = 3;

/** What the next compaction may do. */
export function verdictOf({ compactions }: Streak): StreakVerdict {
  const next = compactions + 1;
  if (next >= STOPS_FROM) return 'stop';
  return next >= PAUSES_FROM ? 'go_and_pause' : 'go';
}

/** The streak after these records: a message of the user and a finished tool call end it. */
export function noteRecords(streak: Streak, records: readonly LogRecord[]): Streak {
  return records.some(isWork) ? NO_STREAK : streak;
}

/** The streak after a compaction. */
export function noteCompaction({ compactions }: Streak): Streak {
  return { compactions: compactions + 1 };
}

function isWork(record: LogRecord): boolean {
  if (record.type !== 'item') return false;
  const { item } = record;
  if (isUserMessage(item)) return authorOf(item) === 'user';
  return item.type.endsWith('_output');
}
