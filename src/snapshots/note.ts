// What a thread records about its snapshots. Pure.

import type { LogRecord, NoteRecord } from '../protocol/record.ts';
import type { Snapshot, TurnStates } from './snapshot.ts';

const BEFORE = 'snapshot';
const AFTER = 'snapshot_after';
const UNDO = 'snapshot_undo';

/** Earlier versions wrote this once files had been restored. It does not say whether all of them were. */
const RESTORED = 'snapshot_restored';

/** A snapshot of a turn. */
export interface TurnSnapshot extends Snapshot {
  readonly turnId: string;
}

/** Record it before the turn runs its first call that may change a file. */
export function snapshotNote(snapshot: TurnSnapshot): NoteRecord {
  return noteOf(BEFORE, snapshot);
}

/** The files at the end of a turn; record it before that end. */
export function settledNote(snapshot: TurnSnapshot): NoteRecord {
  return noteOf(AFTER, snapshot);
}

/**
 * The files before an undo of a turn, to return to. Record it before the undo changes the first file, so that a killed undo is
 * known to have begun; `undo_turn` marks it as done.
 */
export function undoNote(snapshot: TurnSnapshot): NoteRecord {
  return noteOf(UNDO, snapshot);
}

function noteOf(kind: string, { turnId, commit, ref }: TurnSnapshot): NoteRecord {
  return { type: 'note', kind, value: { turn_id: turnId, commit, ref } };
}

interface TurnEntry {
  readonly turnId: string;
  /** Undefined for the start of the turn itself. */
  states: TurnStates | undefined;
}

/** Tracks the turns of a thread and their snapshots. */
export class SnapshotFold {
  /** Turns and snapshots in the order of the log, without those of undone turns. */
  #places: TurnEntry[] = [];
  /** The states before undos that began but did not finish. */
  #found: readonly TurnSnapshot[] = [];
  readonly #named: Snapshot[] = [];

  add(record: LogRecord): void {
    if (record.type === 'turn_started' && record.turnId !== undefined) {
      this.#places.push({ turnId: record.turnId, states: undefined });
    }
    if (record.type === 'undo_turn') this.#forgetFrom(record.turnId);
    if (record.type === 'note') this.#addNote(record);
  }

  /** Every snapshot that the log names, oldest first, including those of undone turns. */
  get named(): readonly Snapshot[] {
    return this.#named;
  }

  /** The saved states of a turn and of those after it, in order; empty where nothing was saved. */
  statesSince(turnId: string): readonly TurnStates[] {
    const from = this.#places.findIndex((place) => place.turnId === turnId);
    if (from === -1) return [];
    return this.#places.slice(from).flatMap(({ states }) => states ?? []);
  }

  /** The states before unfinished undos of a turn, oldest first. */
  foundBy(turnId: string): readonly Snapshot[] {
    return this.#found.filter((found) => found.turnId === turnId);
  }

  #addNote(record: NoteRecord): void {
    const { kind } = record;
    if (kind !== BEFORE && kind !== AFTER && kind !== UNDO && kind !== RESTORED) return;
    const snapshot = snapshotOf(record);
    if (snapshot === undefined) return;
    const { turnId, commit, ref } = snapshot;
    this.#named.push({ commit, ref });
    if (kind === BEFORE) this.#places.push({ turnId, states: { before: { commit, ref }, after: undefined } });
    else if (kind === AFTER) this.#settle(turnId, { commit, ref });
    else this.#found = [...this.#found, snapshot];
  }

  #settle(turnId: string, after: Snapshot): void {
    const place = this.#places.findLast(({ states }) => states !== undefined);
    if (place?.states === undefined || place.turnId !== turnId) return;
    place.states = { before: place.states.before, after };
  }

  #forgetFrom(turnId: string): void {
    const from = this.#places.findIndex((place) => place.turnId === turnId);
    if (from !== -1) this.#places.splice(from);
    this.#found = this.#found.filter((found) => found.turnId !== turnId);
  }
}

function snapshotOf({ value }: NoteRecord): TurnSnapshot | undefined {
  const { turn_id: turnId, commit, ref } = value;
  return typeof turnId === 'string' && typeof commit === 'string' && typeof ref === 'string'
    ? { turnId, commit, ref }
    : undefined;
}
