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

/** Follows the turns of a thread and the snapshots that were taken in them. */
export class SnapshotFold {
  /** Turns and snapshots in the order of the log; what was put back is no longer among them. */
  #places: { readonly turnId: string; readonly snapshot: TurnSnapshot | undefined }[] = [];

  add(record: LogRecord): void {
    if (record.type === 'turn_started' && record.turnId !== undefined) {
      this.#places.push({ turnId: record.turnId, snapshot: undefined });
    }
    if (record.type === 'undo_turn') this.#forgetFrom(record.turnId);
    if (record.type !== 'note') return;
    const snapshot = snapshotOf(record);
    if (snapshot === undefined) return;
    if (record.kind === TAKEN) this.#places.push({ turnId: snapshot.turnId, snapshot });
    else if (record.kind === RESTORED) this.#forgetFrom(snapshot.turnId);
  }

  /** How the files were before a turn: the first snapshot that was taken in it, or in a turn that followed it. */
  firstSince(turnId: string): TurnSnapshot | undefined {
    const from = this.#places.findIndex((place) => place.turnId === turnId);
    if (from === -1) return undefined;
    return this.#places.slice(from).find(({ snapshot }) => snapshot !== undefined)?.snapshot;
  }

  #forgetFrom(turnId: string): void {
    const from = this.#places.findIndex((place) => place.turnId === turnId);
    if (from !== -1) this.#places.splice(from);
  }
}

function snapshotOf({ value }: NoteRecord): TurnSnapshot | undefined {
  const { turn_id: turnId, commit, ref } = value;
  return typeof turnId === 'string' && typeof commit === 'string' && typeof ref === 'string'
    ? { turnId, commit, ref }
    : undefined;
}
