// What a thread remembers of its snapshots. Pure.

import type { LogRecord, NoteRecord } from '../protocol/record.ts';
import type { Snapshot } from './snapshot.ts';

const TAKEN = 'snapshot';
const RESTORED = 'snapshot_restored';

/** The snapshot that was taken before a turn. */
export interface TurnSnapshot extends Snapshot {
  readonly turnId: string;
}

/** To be recorded before the turn runs its first call that may change a file. */
export function snapshotNote({ turnId, commit, ref }: TurnSnapshot): NoteRecord {
  return { type: 'note', kind: TAKEN, value: { turn_id: turnId, commit, ref } };
}

/** To be recorded when the files are back at the snapshot of a turn: `undo` is the state that was left, to return to. */
export function restoredNote(turnId: string, undo: Snapshot): NoteRecord {
  return { type: 'note', kind: RESTORED, value: { turn_id: turnId, commit: undo.commit, ref: undo.ref } };
}

/**
 * The snapshot of the newest turn whose files were not put back yet: what the next undo returns to. An undo of a turn takes the
 * turns after it along.
 */
export function newestSnapshot(records: Iterable<LogRecord>): TurnSnapshot | undefined {
  const taken: TurnSnapshot[] = [];
  for (const record of records) {
    if (record.type !== 'note') continue;
    const snapshot = snapshotOf(record);
    if (snapshot === undefined) continue;
    if (record.kind === TAKEN) taken.push(snapshot);
    else if (record.kind === RESTORED) {
      const index = taken.findLastIndex(({ turnId }) => turnId === snapshot.turnId);
      if (index !== -1) taken.splice(index);
    }
  }
  return taken.at(-1);
}

function snapshotOf({ value }: NoteRecord): TurnSnapshot | undefined {
  const { turn_id: turnId, commit, ref } = value;
  return typeof turnId === 'string' && typeof commit === 'string' && typeof ref === 'string'
    ? { turnId, commit, ref }
    : undefined;
}
