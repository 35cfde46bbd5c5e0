// The durable log of one of Baton's own threads: one writer, append-only, with the history in memory.
//
// A record is acknowledged when the call that wrote it has returned; the end of a turn and a compaction only once they are on
// disk. After a crash, an unacknowledged record is either absent or complete in the file: reopening the rollout and reading it
// shows which. A failed write is rolled back.

import { basename, dirname, join } from 'node:path';
import { BatonError } from '../errors.ts';
import type { DamageNote, Emit } from '../formats/reader.ts';
import { TailFollower } from '../formats/codex/tail.ts';
import { objectAt } from '../formats/fields.ts';
import { whyUnreadable } from '../formats/lines.ts';
import { clearResult } from '../history/clear.ts';
import type { CompactionInForce, Entry, HistoryFold } from '../history/project.ts';
import type { Clock, Ids } from '../ports.ts';
import type { Item } from '../protocol/item.ts';
import { resultCallId } from '../protocol/item.ts';
import type { LogRecord, SessionMetaRecord } from '../protocol/record.ts';
import {
  createFile,
  explainWrite,
  NODE_FILES,
  openToAppend,
  repair,
  requireUnchanged,
  syncFolders,
  writeWhole,
} from './disk.io.ts';
import type { RolloutFile, RolloutFiles } from './files.ts';
import { headLine, isRewriting, isSyncPoint, recordLines } from './lines.ts';
import type { ForkBase, RewritingRecord, RolloutLine } from './lines.ts';
import { locateRollout, openRolloutSource } from './read.io.ts';
import { sweepAbandoned, takeLock } from './lock.io.ts';
import type { Lock } from './lock.io.ts';
import { hasPast, newFold, readThread, refold } from './past.io.ts';
import { placeOfRollout } from './paths.ts';

/** What writing rollouts requires. */
export interface RolloutWorld {
  readonly clock: Clock;
  readonly ids: Ids;
  /** The file system; absent: that of the machine. */
  readonly files?: RolloutFiles;
  /** Stops reading. */
  readonly signal?: AbortSignal;
}

/** The first record of a thread. */
export type RolloutHead = Omit<SessionMetaRecord, 'type' | 'sessionId'>;

/** What was found when a rollout was opened. */
export interface OpenedRollout {
  readonly rollout: Rollout;
  /** Damage that was skipped, and what a crash had left at the end. */
  readonly damage: readonly DamageNote[];
}

/**
 * Begins a thread. Its file is created with the first record; a thread without records leaves none.
 * @param home Baton's home
 * @throws BatonError `output_failed`
 */
export async function createRollout(home: string, head: RolloutHead, world: RolloutWorld): Promise<Rollout> {
  return begin({ home, head, world, fold: newFold(), tail: new TailFollower(), lines: 0 });
}

/**
 * Opens a thread to resume it, and repairs what a crash left.
 * @param which a thread id, a path, or `last`
 * @param emit receives every record of the thread, in order, including inherited ones
 * @throws BatonError `file_not_found`, `file_empty`, `format_unknown`, `parent_missing`, `session_live`, `output_failed`,
 * `interrupted`
 */
export async function openRollout(
  home: string,
  which: string,
  world: RolloutWorld,
  emit: Emit = ignore,
): Promise<OpenedRollout> {
  const path = await locateRollout(home, which);
  const files = world.files ?? NODE_FILES;
  // A file that cannot be resumed gets neither a lock nor a repair.
  await (await openRolloutSource(home, path)).close();
  const lock = await takeLock(path, { files, clock: world.clock });
  let file: RolloutFile | undefined;
  try {
    file = await openToAppend(path, files);
    const torn = await repair(path, file);
    const damage: DamageNote[] = [];
    const replayed = await readThread({ home, path, signal: world.signal }, emit, (note) =>
      damage.push(note),
    );
    if (torn !== undefined) damage.push({ ...torn, line: replayed.lines });
    const { size } = await file.stat();
    const rollout = new Rollout({ home, path, world, lock, file, size, head: undefined, ...replayed });
    return { rollout, damage };
  } catch (error) {
    await file?.close();
    await lock.release();
    throw error;
  }
}

/** Where a fork leaves its parent thread, and its own head. */
export interface ForkRequest {
  /** The last inherited line, counted from 1 over all that is read of the thread; absent: the last one. */
  readonly behindLine?: number;
  /** What differs from the head of the parent. */
  readonly head?: RolloutHead;
  /** Receives every record that the new thread inherits. */
  readonly emit?: Emit;
}

/**
 * Begins a thread that continues another one, which may be open elsewhere and stays unchanged. Copies nothing.
 * @param which a thread id, a path, or `last`
 * @throws BatonError as `openRollout`, but never `session_live`
 * @throws RangeError when the line does not exist
 */
export async function forkRollout(
  home: string,
  which: string,
  request: ForkRequest,
  world: RolloutWorld,
): Promise<OpenedRollout> {
  const parent = await openRolloutSource(home, await locateRollout(home, which));
  try {
    const base =
      request.behindLine === undefined
        ? { threadId: parent.threadId, endByte: parent.endByte }
        : await parent.placeBehind(request.behindLine);
    return await beginFork(home, base, request, world);
  } finally {
    await parent.close();
  }
}

async function beginFork(
  home: string,
  base: ForkBase,
  { emit = ignore, head = {} }: ForkRequest,
  world: RolloutWorld,
): Promise<OpenedRollout> {
  const path = await locateRollout(home, base.threadId);
  const damage: DamageNote[] = [];
  let inheritedHead: RolloutHead = {};
  const replayed = await readThread(
    // The head of the fork precedes everything that it inherits.
    { home, path, signal: world.signal, endByte: base.endByte, linesBefore: 1 },
    (record) => {
      if (record.type === 'session_meta') inheritedHead = { ...inheritedHead, ...headFields(record) };
      emit(record);
    },
    (note) => damage.push(note),
  );
  const rollout = await begin({ home, head: { ...inheritedHead, ...head }, world, base, ...replayed });
  return { rollout, damage };
}

function headFields({ cwd, producerVersion, gitBranch, instructions }: SessionMetaRecord): RolloutHead {
  return {
    ...(cwd === undefined ? {} : { cwd }),
    ...(producerVersion === undefined ? {} : { producerVersion }),
    ...(gitBranch === undefined ? {} : { gitBranch }),
    ...(instructions === undefined ? {} : { instructions }),
  };
}

interface Beginning {
  readonly home: string;
  readonly head: RolloutHead;
  readonly world: RolloutWorld;
  readonly base?: ForkBase;
  /** The inherited history. */
  readonly fold: HistoryFold<Item>;
  readonly tail: TailFollower;
  readonly lines: number;
}

async function begin({ home, head, world, base, fold, tail, lines }: Beginning): Promise<Rollout> {
  const files = world.files ?? NODE_FILES;
  const at = new Date(world.clock.now()).toISOString();
  const threadId = world.ids.uuid();
  const path = join(home, ...placeOfRollout(at, threadId));
  await files.mkdir(dirname(path), { recursive: true, mode: 0o700 }).catch((error: unknown) => {
    throw explainWrite(path, error, false);
  });
  const lock = await takeLock(path, { files, clock: world.clock });
  await sweepAbandoned(dirname(path), { files, clock: world.clock });
  const line = headLine({ type: 'session_meta', ...head, sessionId: threadId, at }, base);
  return new Rollout({
    home,
    path,
    world,
    lock,
    fold,
    tail: new TailFollower({ ...tail.state(), meta: line.payload }),
    file: undefined,
    size: 0,
    lines,
    head: line,
  });
}

/** Records waiting to be written. */
interface Waiting {
  /** Called when they are written: an undo concerns the newest compaction at that time. */
  readonly records: () => readonly Stamped[];
  readonly isUndo: boolean;
  readonly resolve: (line: number) => void;
  readonly reject: (error: unknown) => void;
}

type Stamped = LogRecord & { readonly at: string };

/** A record in its written form. */
interface SerializedRecord {
  readonly record: Stamped;
  readonly texts: readonly string[];
}

/** Records written together. */
interface Batch {
  readonly appends: readonly { readonly waiting: Waiting; readonly written: readonly SerializedRecord[] }[];
  /** The state after all of them. */
  readonly tail: TailFollower;
}

interface Begun {
  readonly home: string;
  readonly path: string;
  readonly world: RolloutWorld;
  readonly lock: Lock;
  readonly fold: HistoryFold<Item>;
  readonly tail: TailFollower;
  /** Undefined until the first record is written. */
  readonly file: RolloutFile | undefined;
  /** Acknowledged bytes of the file. */
  readonly size: number;
  /** Lines so far, including inherited ones. */
  readonly lines: number;
  /** The head line, which is written with the first record. */
  readonly head: RolloutLine | undefined;
}

/** How many appends to write together at most, which limits the memory of one write. */
const MOST_APPENDS = 256;

/** A thread's log, open for writing by this process alone. */
export class Rollout {
  /** The file; it may not exist before the first record. */
  readonly path: string;
  readonly threadId: string;
  readonly #home: string;
  readonly #world: RolloutWorld;
  readonly #files: RolloutFiles;
  readonly #lock: Lock;
  #fold: HistoryFold<Item>;
  #tail: TailFollower;
  #file: RolloutFile | undefined;
  #head: RolloutLine | undefined;
  #size: number;
  #lines: number;
  #hasSyncedName: boolean;
  #queue: Waiting[] = [];
  #writing: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  /** Why nothing more can be written. */
  #broken: BatonError | undefined;

  /** Use `createRollout`, `openRollout` or `forkRollout`. */
  constructor(begun: Begun) {
    this.path = begun.path;
    this.threadId = String(begun.tail.state().meta?.['id']);
    this.#home = begun.home;
    this.#world = begun.world;
    this.#files = begun.world.files ?? NODE_FILES;
    this.#lock = begun.lock;
    this.#fold = begun.fold;
    this.#tail = begun.tail;
    this.#file = begun.file;
    this.#head = begun.head;
    this.#size = begun.size;
    this.#lines = begun.lines;
    this.#hasSyncedName = begun.file !== undefined;
  }

  /** The history after all acknowledged records, oldest first. */
  get history(): readonly Entry<Item>[] {
    return this.#fold.entries;
  }

  /** Effective compactions, oldest first. */
  get compactions(): readonly CompactionInForce[] {
    return this.#fold.compactions;
  }

  /**
   * Appends records, in order and after those appended before. Resolves once all are acknowledged, with the number of the newest
   * line, counted from 1 over all own and inherited lines. A record without a time gets the present one. A `micro_compacted`, an
   * `undo_compaction` and an `undo_turn` must be appended alone.
   * @throws BatonError `output_failed`: none of them is in the log, and they may be appended again, unless `data.isBroken`: then
   * the thread must be reopened, which shows what was written. `file_changed`: something else wrote to the file or removed it.
   * @throws BatonError `record_too_large`: the record could not be read back; the thread goes on without it.
   * @throws RangeError for a record that rollouts cannot hold, and after `close`
   */
  async append(records: readonly LogRecord[]): Promise<number> {
    const at = this.#now();
    const stamped = records.map((record): Stamped => ({ ...record, at: record.at ?? at }));
    if (stamped.length > 1 && stamped.some(isRewriting)) {
      throw new RangeError('A record that rewrites the history must be appended alone');
    }
    return this.#enqueue(() => stamped, stamped[0]?.type === 'undo_compaction');
  }

  /**
   * Undoes the newest compaction: restores the history before it, followed by everything since. Resolves with its id.
   * @throws BatonError `nothing_to_undo`, and as `append`
   */
  async undo(): Promise<string> {
    const at = this.#now();
    let compactionId = '';
    await this.#enqueue(() => {
      const newest = this.#fold.compactions.at(-1);
      if (newest === undefined) throw nothingToUndo(this.path);
      compactionId = newest.id;
      return [{ type: 'undo_compaction', compactionId, at }];
    }, true);
    return compactionId;
  }

  /** Writes what waits and releases the lock. Does nothing the second time. */
  async close(): Promise<void> {
    this.#closing ??= this.#end();
    await this.#closing;
  }

  async #end(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
    await this.#file?.close();
    // The first write failed, so the file has no usable content.
    if (this.#file !== undefined && this.#head !== undefined) await this.#files.unlink(this.path);
    await this.#lock.release();
  }

  #now(): string {
    return new Date(this.#world.clock.now()).toISOString();
  }

  #enqueue(records: Waiting['records'], isUndo: boolean): Promise<number> {
    if (this.#closing !== undefined) return Promise.reject(new RangeError('The rollout is closed'));
    return new Promise((resolve, reject) => {
      this.#queue.push({ records, isUndo, resolve, reject });
      this.#writing ??= this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    // Records appended in the same tick are written together.
    await Promise.resolve();
    while (this.#queue.length > 0) await this.#writeNext();
    this.#writing = undefined;
  }

  async #writeNext(): Promise<void> {
    try {
      await this.#recallPast();
    } catch (error) {
      this.#queue.shift()?.reject(error);
      return;
    }
    const batch = this.#takeBatch();
    if (batch.appends.length === 0) return;
    try {
      if (this.#broken !== undefined) throw this.#broken;
      await this.#write(batch);
    } catch (error) {
      for (const { waiting } of batch.appends) waiting.reject(error);
      return;
    }
    this.#acknowledge(batch);
  }

  /** As many waiting appends as can be written together. Rejects and drops one that cannot be written. */
  #takeBatch(): Batch {
    const appends: { readonly waiting: Waiting; readonly written: readonly SerializedRecord[] }[] = [];
    let tail = this.#tail;
    for (let waiting = this.#queue[0]; waiting !== undefined; waiting = this.#queue[0]) {
      try {
        // The newest compaction and the history are unknown until earlier records are acknowledged.
        if (appends.length > 0 && waiting.isUndo) break;
        const records = waiting.records();
        if (appends.length > 0 && records.some(isRewriting)) break;
        const after = new TailFollower(tail.state());
        const written = records.map((record) => this.#render(record, after));
        appends.push({ waiting, written });
        tail = after;
      } catch (error) {
        waiting.reject(error);
      }
      this.#queue.shift();
      if (appends.length >= MOST_APPENDS) break;
    }
    return { appends, tail };
  }

  /** @param tail follows the lines */
  #render(record: Stamped, tail: TailFollower): SerializedRecord {
    if (record.type === 'undo_compaction' && this.#fold.compactions.at(-1)?.id !== record.compactionId) {
      throw new RangeError('Only the newest compaction in effect can be undone');
    }
    const turn = record.type === 'undo_turn' ? this.#fold.newestTurn() : undefined;
    if (record.type === 'undo_turn' && (turn?.turnId !== record.turnId || turn.isCompacted)) {
      throw new RangeError('Only the newest turn can be undone, and only if no compaction followed it');
    }
    const lines = recordLines(record, {
      tail: tail.state(),
      historyAfter: (rewriting) => historyAfter(this.#fold, rewriting),
      windowId: () => this.#world.ids.uuid(),
    });
    const texts = lines.map(textOf);
    for (const line of lines) follow(tail, line);
    if (record.type === 'settings' && record.usableWindow !== undefined) {
      tail.modelContextWindow(record.usableWindow);
    }
    return { record, texts };
  }

  async #write({ appends }: Batch): Promise<void> {
    const written = appends.flatMap((append) => append.written);
    const texts = written.flatMap(({ texts: each }) => each);
    const head = this.#head === undefined ? [] : [textOf(this.#head)];
    const bytes = Buffer.from([...head, ...texts, ''].join('\n'));
    if (written.length === 0) return;
    try {
      this.#file ??= await createFile(this.path, this.#files);
      await requireUnchanged(this.#file, this.#size, this.path);
      await writeWhole(this.#file, bytes);
      if (written.some(({ record }) => isSyncPoint(record))) await this.#sync(this.#file);
    } catch (error) {
      throw await this.#takeBack(error);
    }
    this.#size += bytes.length;
    if (this.#head !== undefined) this.#lines++;
    this.#head = undefined;
  }

  /** Syncs the file to disk, and the first time its name as well. */
  async #sync(file: RolloutFile): Promise<void> {
    try {
      await Promise.all([
        file.datasync(),
        this.#hasSyncedName ? undefined : syncFolders(this.path, this.#home, this.#files),
      ]);
      this.#hasSyncedName = true;
    } catch (error) {
      // The system may have dropped unwritten data from its memory: the content of the disk is unknown.
      this.#broken = explainWrite(this.path, error, true);
      throw this.#broken;
    }
  }

  /** Cuts off a failed batch: all of it is in the log, or nothing. */
  async #takeBack(error: unknown): Promise<unknown> {
    // If something else has written, a cut might remove its data.
    if (error instanceof BatonError && error.code === 'file_changed') this.#broken = error;
    else {
      await this.#file?.truncate(this.#size).catch(() => {
        this.#broken ??= explainWrite(this.path, error, true);
      });
    }
    return this.#broken ?? explainWrite(this.path, error, false);
  }

  #acknowledge({ appends, tail }: Batch): void {
    this.#tail = tail;
    for (const { waiting, written } of appends) {
      for (const { record, texts } of written) {
        this.#fold.add({ ...record, line: this.#lines + 1 });
        this.#lines += texts.length;
      }
      waiting.resolve(this.#lines);
    }
  }

  /** Reads the past for an undo again if it is no longer in memory. */
  async #recallPast(): Promise<void> {
    if (this.#queue[0]?.isUndo !== true || hasPast(this.#fold)) return;
    const { path } = this;
    this.#fold = await refold({ home: this.#home, path, signal: this.#world.signal });
  }
}

function nothingToUndo(path: string): BatonError {
  return new BatonError('nothing_to_undo', `${basename(path)} contains no compaction in effect`, {
    cure: '`baton inspect` lists the compactions of a session.',
  });
}

/** The history after a record. */
function historyAfter(fold: HistoryFold<Item>, record: RewritingRecord): readonly Item[] {
  if (record.type === 'micro_compacted') {
    const callIds = new Set(record.callIds);
    return fold.entries.map(({ value }) => {
      const callId = resultCallId(value);
      return callId !== undefined && callIds.has(callId) ? clearResult(value) : value;
    });
  }
  if (record.type === 'undo_turn') return (fold.newestTurn()?.before ?? []).map(({ value }) => value);
  const { before, since } = fold.beforeNewestCompaction() ?? { before: [], since: [] };
  return [...before, ...since].map(({ value }) => value);
}

/** @throws BatonError `record_too_large` */
function textOf(line: RolloutLine): string {
  const text = JSON.stringify(line);
  const why = whyUnreadable(text, line);
  if (why === undefined) return text;
  throw new BatonError('record_too_large', `A line of the session ${why}, and was not written`, {
    cure: 'Put a large text into a file of the workspace, and name the file in your message.',
  });
}

function follow(tail: TailFollower, { type, payload }: RolloutLine): void {
  if (type === 'compacted') tail.compacted(payload);
  else if (type === 'turn_context') tail.turnContext(payload);
  else if (type === 'event_msg') tail.tokenInfo(objectAt(payload, 'info') ?? {});
}

function ignore(): void {
  // The result is unused.
}
