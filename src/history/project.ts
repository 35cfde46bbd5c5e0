// A history is a projection of the log. This fold updates the projection one record at a time, in any representation of an
// item: `compact` folds whole items, `inspect` folds only their sizes, so that memory grows with the live history and not with
// the file.

import { BatonError } from '../errors.ts';
import type { Item } from '../protocol/item.ts';
import type {
  CompactedRecord,
  LogRecord,
  MicroCompactedRecord,
  NewRefs,
  TurnRecord,
  UndoCompactionRecord,
} from '../protocol/record.ts';

/** One place of the projection. */
export interface Entry<T> {
  /**
   * Position in the log, counted from 0 over everything that ever entered a history. Unique; increasing, except for entries
   * that a compaction kept, which follow its replacement.
   */
  readonly seq: number;
  readonly value: T;
  /** 1-based line of the file; absent for items that a compaction inserted. */
  readonly line?: number;
  /** The producer's id of the line, if it has one. */
  readonly ref?: string;
  /** A compaction inserted the item. */
  readonly isReplacement: boolean;
}

/** How a fold represents an item. */
export interface Representation<T> {
  make(item: Item): T;
  /** The id of the call that the item answers, for clearing; undefined for all others. */
  resultCallId(value: T): string | undefined;
  /** The same result with its content cleared; must be idempotent. */
  clear(value: T): T;
}

/** Something in the log that could not be followed; the projection continues without it. */
export interface ProjectionProblem {
  readonly line: number | undefined;
  readonly message: string;
}

/** What a fold remembers of a compaction: its content is in the log, and a thread must not grow with its compactions. */
export type CompactionInForce = Pick<CompactedRecord | MicroCompactedRecord, 'type' | 'id'>;

interface CompactionFrame<T> {
  readonly compaction: CompactionInForce;
  /** The projection just before; undefined once dropped to bound memory. */
  readonly before: readonly Entry<T>[] | undefined;
  /** Entries with a smaller seq came before or with the compaction. */
  readonly firstSeqAfter: number;
  /** Calls whose results were cleared since: they stay cleared when the compaction is undone. */
  readonly clearedSince: Set<string>;
}

/** The start of a user's turn in the log. */
interface TurnMark {
  readonly turnId: string;
  readonly firstSeq: number;
}

/** The user's newest turn that was not undone. */
export interface NewestTurn<T> {
  readonly turnId: string;
  /** The history when it began. */
  readonly before: readonly Entry<T>[];
  /** What followed: its own items, and those of later turns. */
  readonly since: readonly Entry<T>[];
  /** A compaction in force came after its beginning: this turn can only be undone after that compaction is. */
  readonly isCompacted: boolean;
}

/** The kind of change that a record made to the history. */
export type HistoryChange = 'appended' | 'compacted' | 'cleared' | 'undone' | 'none';

export class HistoryFold<T> {
  readonly #as: Representation<T>;
  #keepFrames: number;
  #entries: Entry<T>[] = [];
  #frames: CompactionFrame<T>[] = [];
  #turns: TurnMark[] = [];
  #nextSeq = 0;
  #lostPast = false;
  /** The positions of each call's results among the first entries. */
  #results: { of: readonly Entry<T>[]; count: number; readonly positions: Map<string, number[]> } = {
    of: [],
    count: 0,
    positions: new Map(),
  };
  readonly problems: ProjectionProblem[] = [];

  /**
   * @param keepFrames how many past projections are kept for later undo records. When an undo needs one that was dropped,
   * `hasLostPast` turns true and the caller folds again with `Infinity`.
   */
  constructor(as: Representation<T>, keepFrames = Infinity) {
    this.#as = as;
    this.#keepFrames = keepFrames;
  }

  /** From here on keeps only this many past projections: earlier records may have needed more of them than later ones will. */
  keepFrames(frames: number): void {
    this.#keepFrames = frames;
    this.#frames = this.#frames.map((frame, index) =>
      index < this.#frames.length - frames ? { ...frame, before: undefined } : frame,
    );
  }

  /** The present projection, oldest first. */
  get entries(): readonly Entry<T>[] {
    return this.#entries;
  }

  /** Compactions in force that can be undone, oldest first. */
  get compactions(): readonly CompactionInForce[] {
    return this.#frames.map(({ compaction }) => compaction);
  }

  /** An undo referred to a projection that was dropped: do not trust the result. */
  get hasLostPast(): boolean {
    return this.#lostPast;
  }

  /**
   * The result of undoing the newest compaction in force: the history just before it, including later clearings, and what
   * followed it. Undefined without one.
   */
  beforeNewestCompaction(): { before: readonly Entry<T>[]; since: readonly Entry<T>[] } | undefined {
    const frame = this.#frames.at(-1);
    if (frame?.before === undefined) return undefined;
    return { before: this.#cleared(frame.before, frame.clearedSince), since: this.#since(frame) };
  }

  /** The turn that an undo would remove; undefined if the log holds none. */
  newestTurn(): NewestTurn<T> | undefined {
    const mark = this.#turns.at(-1);
    if (mark === undefined) return undefined;
    const { turnId, firstSeq } = mark;
    return {
      turnId,
      before: this.#entries.filter(({ seq }) => seq < firstSeq),
      since: this.#entries.filter(({ seq }) => seq >= firstSeq),
      isCompacted: this.#isCompactedSince(firstSeq),
    };
  }

  add(record: LogRecord): HistoryChange {
    switch (record.type) {
      case 'item':
        this.#push(this.#as.make(record.item), record);
        return 'appended';
      case 'compacted':
        this.#compact(record, record.line);
        return 'compacted';
      case 'micro_compacted':
        this.#clear(record);
        return 'cleared';
      case 'undo_compaction':
        return this.#undo(record, record.line) ? 'undone' : 'none';
      case 'turn_started':
        if (isUserTurn(record)) this.#turns.push({ turnId: record.turnId, firstSeq: this.#nextSeq });
        return 'none';
      case 'undo_turn':
        return this.#undoTurn(record.turnId, record.line) ? 'undone' : 'none';
      default:
        return 'none';
    }
  }

  #undoTurn(turnId: string, line: number | undefined): boolean {
    const newest = this.#turns.at(-1);
    const isNewest = newest?.turnId === turnId;
    if (!isNewest || this.#isCompactedSince(newest.firstSeq)) {
      const why = isNewest ? 'was compacted since' : 'is not the newest one';
      this.problems.push({ line, message: `undo of turn ${turnId}, which ${why}` });
      return false;
    }
    // Items since the last compaction are at the end, so that a thousand undos need not scan all entries each.
    while ((this.#entries.at(-1)?.seq ?? -1) >= newest.firstSeq) this.#entries.pop();
    this.#results = { of: [], count: 0, positions: new Map() };
    this.#turns.pop();
    return true;
  }

  #isCompactedSince(seq: number): boolean {
    return (this.#frames.at(-1)?.firstSeqAfter ?? 0) > seq;
  }

  #push(value: T, at: { readonly line?: number; readonly ref?: string }, isReplacement = false): void {
    this.#entries.push({
      seq: this.#nextSeq++,
      value,
      isReplacement,
      ...(at.line === undefined ? {} : { line: at.line }),
      ...(at.ref === undefined ? {} : { ref: at.ref }),
    });
  }

  #compact(record: CompactedRecord, line: number | undefined): void {
    const before = this.#entries;
    this.#entries = [];
    const at = line === undefined ? {} : { line };
    const { replacement, keptRefs = [], keptAt = replacement.length } = record;
    for (const [index, item] of replacement.entries()) {
      if (index === keptAt) this.#keepRefs(keptRefs, before);
      const ref = record.replacementRefs?.[index] ?? undefined;
      this.#push(this.#as.make(item), ref === undefined ? at : { ...at, ref }, true);
    }
    if (keptAt >= replacement.length) this.#keepRefs(keptRefs, before);
    this.#pushFrame(record, before);
  }

  #pushFrame({ type, id }: CompactionInForce, before: readonly Entry<T>[]): void {
    this.#frames.push({
      compaction: { type, id },
      before,
      firstSeqAfter: this.#nextSeq,
      clearedSince: new Set(),
    });
    const dropped = this.#frames.length - 1 - this.#keepFrames;
    const frame = dropped >= 0 ? this.#frames[dropped] : undefined;
    if (frame !== undefined) this.#frames[dropped] = { ...frame, before: undefined };
  }

  #keepRefs(refs: readonly string[], before: readonly Entry<T>[]): void {
    if (refs.length === 0) return;
    const byRef = new Map<string, Entry<T>[]>();
    for (const entry of before) {
      if (entry.ref === undefined) continue;
      const group = byRef.get(entry.ref);
      if (group === undefined) byRef.set(entry.ref, [entry]);
      else group.push(entry);
    }
    for (const ref of new Set(refs)) for (const entry of byRef.get(ref) ?? []) this.#entries.push(entry);
  }

  #clear(record: MicroCompactedRecord): void {
    if (record.newRefs === undefined) {
      this.#clearInPlace(record.callIds);
      this.#rememberCleared(record.callIds);
      return;
    }
    const before = this.#entries;
    this.#entries = renamed(this.#cleared(before, new Set(record.callIds)), record.newRefs);
    this.#pushFrame(record, before);
  }

  /** Scans the results of these calls only: a log may clear one result after another. */
  #clearInPlace(callIds: readonly string[]): void {
    if (this.#results.of !== this.#entries || this.#results.count > this.#entries.length)
      this.#results = { of: this.#entries, count: 0, positions: new Map() };
    const { positions } = this.#results;
    for (; this.#results.count < this.#entries.length; this.#results.count++) {
      const entry = this.#entries[this.#results.count];
      const callId = entry === undefined ? undefined : this.#as.resultCallId(entry.value);
      if (callId === undefined) continue;
      const group = positions.get(callId);
      if (group === undefined) positions.set(callId, [this.#results.count]);
      else group.push(this.#results.count);
    }
    for (const callId of new Set(callIds)) {
      for (const position of positions.get(callId) ?? []) {
        const entry = this.#entries[position];
        if (entry !== undefined) this.#entries[position] = { ...entry, value: this.#as.clear(entry.value) };
      }
    }
  }

  #cleared(entries: readonly Entry<T>[], callIds: ReadonlySet<string>): Entry<T>[] {
    return entries.map((entry) => {
      const callId = this.#as.resultCallId(entry.value);
      return callId !== undefined && callIds.has(callId)
        ? { ...entry, value: this.#as.clear(entry.value) }
        : entry;
    });
  }

  #rememberCleared(callIds: Iterable<string>): void {
    const clearedSince = this.#frames.at(-1)?.clearedSince;
    for (const callId of callIds) clearedSince?.add(callId);
  }

  #undo({ compactionId, newRefs = [] }: UndoCompactionRecord, line: number | undefined): boolean {
    const frame = this.#frames.at(-1);
    if (frame?.compaction.id !== compactionId) {
      this.problems.push({
        line,
        message: `undo of compaction ${compactionId}, which is not the newest one`,
      });
      return false;
    }
    if (frame.before === undefined) this.#lostPast = true;
    const restored = [...this.#cleared(frame.before ?? [], frame.clearedSince), ...this.#since(frame)];
    this.#entries = renamed(restored, newRefs);
    this.#frames.pop();
    this.#rememberCleared(frame.clearedSince);
    return true;
  }

  #since(frame: CompactionFrame<T>): Entry<T>[] {
    return this.#entries.filter((entry) => entry.seq >= frame.firstSeqAfter);
  }
}

/**
 * Returns the turn if it can be undone.
 * @throws BatonError `nothing_to_undo`
 */
export function requireUndoable<T>(turn: NewestTurn<T> | undefined, isBusy: boolean): NewestTurn<T> {
  const refusal = (why: string, cure: string): BatonError => new BatonError('nothing_to_undo', why, { cure });
  if (isBusy) throw refusal('A turn cannot be undone while the thread is working', 'Interrupt it first.');
  if (turn === undefined) throw refusal('There is no turn to undo', '');
  if (!turn.isCompacted) return turn;
  throw refusal(
    `The history was compacted after ${turn.turnId} began, so that turn cannot be undone`,
    'Undo the compaction first.',
  );
}

/** Work that the user requested; a turn started by the watcher belongs to the one before it. */
export function isUserTurn(record: LogRecord): record is TurnRecord & { readonly turnId: string } {
  return (
    record.type === 'turn_started' &&
    record.turnId !== undefined &&
    (record.kind ?? 'regular') === 'regular' &&
    record.origin?.type !== 'watcher'
  );
}

/** A line with several items was rewritten as several lines: each item in turn takes the next one. */
function renamed<T>(entries: Entry<T>[], newRefs: NewRefs): Entry<T>[] {
  if (newRefs.length === 0) return entries;
  const next = new Map<string, string[]>();
  for (const [from, to] of newRefs) {
    const names = next.get(from);
    if (names === undefined) next.set(from, [to]);
    else names.push(to);
  }
  for (const names of next.values()) names.reverse();
  return entries.map((entry) => {
    const ref = entry.ref === undefined ? undefined : next.get(entry.ref)?.pop();
    return ref === undefined ? entry : { ...entry, ref };
  });
}
