// Which undo of a compaction can be taken back, and what its history was. Pure.

import { BatonError } from '../errors.ts';
import type { CompactedRecord, LogRecord } from '../protocol/record.ts';
import { WHOLE_ITEMS } from './clear.ts';
import { HistoryFold } from './project.ts';

/** What changes the history: behind any of it an undo stays. */
const CHANGES: ReadonlySet<LogRecord['type']> = new Set([
  'item',
  'compacted',
  'micro_compacted',
  'undo_compaction',
  'undo_turn',
]);

/**
 * The compaction that the newest undo took back, with the history as it was just before that undo.
 * @throws BatonError `nothing_to_redo`
 */
export function undoneCompaction(records: readonly LogRecord[]): CompactedRecord {
  const at = records.findLastIndex(({ type }) => CHANGES.has(type));
  const undo = records[at];
  if (undo?.type !== 'undo_compaction') {
    throw new BatonError('nothing_to_redo', 'No undo of a compaction is the last thing that happened here', {
      cure: 'A redo comes right behind the undo; compact again instead.',
    });
  }
  const before = records.slice(0, at);
  const compacted = before.findLast(
    (record) => record.type === 'compacted' && record.id === undo.compactionId,
  );
  if (compacted?.type !== 'compacted') {
    throw new BatonError('nothing_to_redo', 'The log does not hold the compaction that was undone', {
      cure: 'Compact again instead.',
    });
  }
  const fold = new HistoryFold(WHOLE_ITEMS);
  for (const record of before) fold.add(record);
  const { line: _, at: __, ...record } = compacted as CompactedRecord & LogRecord;
  return { ...record, replacement: fold.entries.map(({ value }) => value) };
}
