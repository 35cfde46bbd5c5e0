// Reads a thread from its file and from those that it continues: its history, and the past that an undo needs.

import { TailFollower } from '../formats/codex/tail.ts';
import { loadRollout } from '../formats/session-file.io.ts';
import type { DamageNote, Emit } from '../formats/reader.ts';
import { WHOLE_ITEMS } from '../history/clear.ts';
import { HistoryFold } from '../history/project.ts';
import type { Item } from '../protocol/item.ts';
import { openRolloutSource } from './read.io.ts';

/** Pasts to keep in memory for an undo, besides the history. Earlier ones are read again when needed. */
const KEPT_PASTS = 1;

/** The history of an empty thread. */
export function newFold(keptPasts = KEPT_PASTS): HistoryFold<Item> {
  return new HistoryFold(WHOLE_ITEMS, keptPasts);
}

/** Whether the newest compaction can be undone from memory, and no earlier undo lacked its past. */
export function hasPast(fold: HistoryFold<Item>): boolean {
  return !fold.hasLostPast && (fold.compactions.length === 0 || fold.beforeNewestCompaction() !== undefined);
}

/** A thread to read. */
export interface PastSource {
  /** Baton's home. */
  readonly home: string;
  readonly path: string;
  /** Stops reading. */
  readonly signal: AbortSignal | undefined;
  /** Where to stop, in bytes of the session's own file. */
  readonly endByte?: number;
  /** Number of lines before the first one to read. */
  readonly linesBefore?: number;
}

/** A thread's content, and the follower of its lines. */
export interface ReadThread {
  readonly fold: HistoryFold<Item>;
  readonly tail: TailFollower;
  readonly lines: number;
}

/**
 * Reads a thread once to emit its records, and as often as necessary for its history.
 * @throws BatonError as `openRolloutSource`; `interrupted`
 */
export async function readThread(
  reading: PastSource,
  emit: Emit,
  report: (note: DamageNote) => void,
): Promise<ReadThread> {
  const fold = newFold();
  const { lines, tail } = await readThrough(
    reading,
    (record) => {
      fold.add(record);
      emit(record);
    },
    report,
  );
  const whole = hasPast(fold) ? fold : await refold(reading);
  for (const { line, message } of whole.problems) {
    report({ line: line ?? lines, kind: 'wrong_shape', message, lost: false });
  }
  return { fold: whole, lines, tail: new TailFollower(tail) };
}

/**
 * The history of a thread with the past that its newest compaction replaced. Several undos in a row need the pasts of several
 * compactions: that is rare, so it first tries with few.
 */
export async function refold(reading: PastSource): Promise<HistoryFold<Item>> {
  for (let keptPasts = KEPT_PASTS * 4; ; keptPasts *= 4) {
    const fold = newFold(keptPasts);
    await readThrough(
      reading,
      (record) => fold.add(record),
      () => undefined,
    );
    if (hasPast(fold)) return fold;
  }
}

async function readThrough(
  { home, path, signal, endByte, linesBefore = 0 }: PastSource,
  emit: Emit,
  report: (note: DamageNote) => void,
) {
  const source = await openRolloutSource(home, path, endByte);
  try {
    return await loadRollout(source, {
      emit: (record) =>
        emit(record.line === undefined ? record : { ...record, line: record.line + linesBefore }),
      report: (note) => report({ ...note, line: note.line + linesBefore }),
      signal,
    });
  } finally {
    await source.close();
  }
}
