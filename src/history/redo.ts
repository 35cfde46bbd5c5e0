// Which undo of a compaction can be redone, and what its history was. Pure.

import { BatonError } from '../errors.ts';
import type { CompactedRecord, LogRecord } from '../protocol/record.ts';
import { WHOLE_ITEMS } from './clear.ts';
import { HistoryFold } from './project.ts';

/** Record types that change the history: after any of them, an undo is final. */
const CHANGES: ReadonlySet<LogRecord['type']> = new Set([
  'item',
  'compacted',
  'micro_compacted',
  'undo_compaction',
  'undo_turn',
]);

/**
 * The compaction that the newest undo removed, with the history just before that undo.
 * @throws BatonError `nothing_to_redo`
 */
export function undoneCompaction(records: readonly LogRecord[]): CompactedRecord {
  const at = records.findLastIndex(({ type }) => CHANGES.has(type));
  const undo = records[at];
  if (undo?.type !== 'undo_compaction') {
    throw new BatonError(
      'nothing_to_redo',
      'The latest change of this session is not an undo of a compaction',
      {
        cure: 'You can redo only directly after an undo; compact again instead.',
      },
    );
  }
  const before = records.slice(0, at);
  const compacted = before.findLast(
    (record) => record.type === 'compacted' && record.id === undo.compactionId,
  );
  if (compacted?.type !== 'compacted') {
    throw new BatonError('nothing_to_redo', 'The log does not contain the compaction that was undone', {
      cure: 'Compact again instead.',
    });
  }
  const fold = new HistoryFold(WHOLE_ITEMS);
  for (const record of before) fold.add(record);
  const { line: _, at: __, ...record } = compacted as CompactedRecord & LogRecord;
  return { ...record, replacement: fold.entries.map(({ value }) => value) };
}
