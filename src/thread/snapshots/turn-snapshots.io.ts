// Saves the work tree before the first call of a turn that may change it and at the turn's end, and restores it.

import { BatonError } from '../../errors.ts';
import type { CancelSignal, Clock } from '../../ports.ts';
import type { LogRecord, NoteRecord } from '../../protocol/record.ts';
import { openSnapshots } from '../../snapshots/snapshots.io.ts';
import type { Snapshots } from '../../snapshots/snapshots.io.ts';
import type { RestoreOutcome, SnapshotDescription, UndoRequest } from '../../snapshots/undo.ts';
import { settledNote, SnapshotFold, snapshotNote, undoNote } from '../../snapshots/note.ts';
import type { Snapshot } from '../../snapshots/snapshot.ts';
import type { LaterEdits } from '../../vocabulary.ts';
import { partialUndo, undoConflict } from './incomplete.ts';
import { claimWorkshop } from './workshop.io.ts';
import type { WorkshopPlace } from './workshop.io.ts';

/** What a thread's snapshots need. */
export interface TurnSnapshotsTerms {
  readonly directory: string;
  /** Baton's home. */
  readonly home: string;
  readonly threadId: string;
  /** The environment for git. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
  /** Writes a note to the thread's log; `add` receives it like all others. */
  readonly note: (record: NoteRecord) => Promise<void>;
}

/** The outcome of an undo of files. */
export type FilesRestored = Extract<RestoreOutcome, { readonly type: 'restored' }> & {
  /** The files as this turn's first undo found them: everything ever reverted can be recovered from there. */
  readonly first: Snapshot;
  /** The files before the turn. */
  readonly before: Snapshot;
};

/** Time to save the end of a turn when the process is about to end, in milliseconds. @source docs/decisions/snapshots.md */
const HURRY_MS = 500;

/** The snapshots of one thread. Git does not run before the first of them. */
export class TurnSnapshots {
  readonly #terms: TurnSnapshotsTerms;
  readonly #fold = new SnapshotFold();
  readonly #warned = new Set<string>();
  readonly #ending = new AbortController();
  #opened: Promise<Opened> | undefined;
  #takenFor: string | undefined;
  /** The turn whose end must be saved. */
  #unsettled: string | undefined;
  /** Snapshots do one thing at a time, and a turn may be stopped meanwhile. */
  #busy: Promise<unknown> = Promise.resolve();

  constructor(terms: TurnSnapshotsTerms) {
    this.#terms = terms;
  }

  /** The workspace, as given. */
  get directory(): string {
    return this.#terms.directory;
  }

  /** Adds each record of the thread, starting with those of earlier processes. */
  add(record: LogRecord): void {
    this.#fold.add(record);
  }

  /**
   * Saves the work tree, once for each turn. If that fails, the user is warned and the turn continues.
   * @throws BatonError `interrupted`; the failure of writing the log
   */
  async take(turnId: string, signal: CancelSignal): Promise<void> {
    if (this.#takenFor === turnId) return;
    this.#takenFor = turnId;
    const { snapshots, why } = await this.#open(signal);
    if (snapshots === undefined) {
      this.#warnOnce(`File changes cannot be undone here: ${why}`);
      return;
    }
    const outcome = await this.#alone(() => snapshots.take(signal));
    if (outcome.type === 'skipped') {
      const what = "No snapshot was taken, so this turn's file changes cannot be undone";
      this.#warnOnce(`${what}: ${outcome.why}.`);
      return;
    }
    for (const warning of outcome.warnings) this.#warnOnce(warning);
    await this.#terms.note(snapshotNote({ turnId, ...outcome.snapshot }));
    this.#unsettled = turnId;
  }

  /**
   * Saves the work tree at the end of a turn, if it was saved before: the difference shows an undo what the turn
   * changed.
   * @returns what to record before the turn's end
   */
  async settle(turnId: string): Promise<readonly NoteRecord[]> {
    if (this.#unsettled !== turnId) return [];
    this.#unsettled = undefined;
    const { signal } = this.#ending;
    try {
      const { snapshots } = await this.#open(signal);
      const outcome = await this.#alone(async () => snapshots?.take(signal));
      if (outcome?.type === 'taken') return [settledNote({ turnId, ...outcome.snapshot })];
      if (outcome !== undefined) this.#warnUnsettled(outcome.why);
    } catch (error) {
      if (!(error instanceof BatonError)) throw error;
      this.#warnUnsettled('there was no time left');
    }
    return [];
  }

  /** The process is about to end: a running save has little time left. */
  hurry(): void {
    setTimeout(() => this.#ending.abort(), HURRY_MS).unref();
  }

  /** What restoring the files from before a turn would do; undefined if nothing was saved since. */
  async describe(
    turnId: string,
    laterEdits: LaterEdits | undefined,
    signal: CancelSignal,
  ): Promise<SnapshotDescription | undefined> {
    return this.#with(turnId, { laterEdits, signal }, (snapshots, request) =>
      snapshots.describe(request, signal),
    );
  }

  /**
   * Restores the files to their state before a turn; undefined if nothing was saved since. The outcome names what was done, and so does
   * the error.
   * @throws UndoIncomplete if the turn and someone later changed the same file and `laterEdits` is undefined, or if files
   *   were not restored @throws BatonError `nothing_to_undo` if none could be; `interrupted`
   */
  async restore(
    turnId: string,
    laterEdits: LaterEdits | undefined,
    signal: CancelSignal,
  ): Promise<FilesRestored | undefined> {
    const outcome = await this.#with(turnId, { laterEdits, signal }, async (snapshots, request) => {
      const begin = (undo: Snapshot): Promise<void> => this.#terms.note(undoNote({ turnId, ...undo }));
      const restored = await snapshots.restore(request, begin, signal);
      if (restored.type !== 'restored') return restored;
      const [first = restored.undo] = request.found;
      return { ...restored, first, before: request.states[0].before };
    });
    if (outcome?.type === 'refused') refuseRestore(outcome.why);
    if (outcome?.type === 'conflicting') throw undoConflict(outcome.laterEdits);
    if (outcome !== undefined && outcome.failed.length > 0) throw partialUndo(outcome);
    return outcome;
  }

  /** Leaves nothing behind but the snapshots. */
  async close(): Promise<void> {
    const opened = await this.#opened?.catch(() => undefined);
    await opened?.close();
  }

  async #with<Outcome>(
    turnId: string,
    { laterEdits, signal }: { readonly laterEdits: LaterEdits | undefined; readonly signal: CancelSignal },
    work: (snapshots: Snapshots, request: UndoRequest) => Promise<Outcome>,
  ): Promise<Outcome | { readonly type: 'refused'; readonly why: string } | undefined> {
    const [first, ...more] = this.#fold.statesSince(turnId);
    if (first === undefined) return undefined;
    const found = this.#fold.foundBy(turnId);
    const { snapshots, why } = await this.#open(signal);
    if (snapshots === undefined) return { type: 'refused', why };
    return this.#alone(() => work(snapshots, { states: [first, ...more], laterEdits, found }));
  }

  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const done = this.#busy.then(work);
    this.#busy = done.catch(() => undefined);
    return done;
  }

  #open(signal: CancelSignal): Promise<Opened> {
    this.#opened ??= this.#openAndPrune(signal).catch((error: unknown) => {
      // If the user stopped it, the next turn tries again.
      this.#opened = undefined;
      this.#takenFor = undefined;
      throw error;
    });
    return this.#opened;
  }

  async #openAndPrune(signal: CancelSignal): Promise<Opened> {
    const { directory, home, threadId, env, clock } = this.#terms;
    const place = await claimWorkshop(home, clock).catch((error: unknown) => {
      if (error instanceof BatonError || (error as NodeJS.ErrnoException).code !== undefined)
        return error as Error;
      throw error;
    });
    if (place instanceof Error) {
      const why = `The folder for it below ${home} could not be created: ${place.message}.`;
      return { snapshots: undefined, why, close: () => Promise.resolve() };
    }
    try {
      const named = (): readonly Snapshot[] => this.#fold.named;
      const workshop = place.directory;
      const terms = { directory, home, workshop, threadId, named, env, clock };
      const snapshots = await openSnapshots(terms, signal);
      if ('why' in snapshots)
        return { snapshots: undefined, why: snapshots.why, close: () => place.release() };
      await snapshots.prune({}, signal);
      return { snapshots, why: '', close: () => closeAll(snapshots, place) };
    } catch (error) {
      await place.release();
      throw error;
    }
  }

  #warnUnsettled(why: string): void {
    this.#warnOnce(
      `The files as this turn left them were not saved (${why}), so an undo asks before it restores any of them.`,
    );
  }

  #warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.#terms.warn(message);
  }
}

/** Opened snapshots, or one sentence on why there are none. */
interface Opened {
  readonly snapshots: Snapshots | undefined;
  readonly why: string;
  readonly close: () => Promise<void>;
}

async function closeAll(snapshots: Snapshots, place: WorkshopPlace): Promise<void> {
  await snapshots.close().catch(() => undefined);
  await place.release();
}

/** Reports files that could not be restored. @throws BatonError always */
export function refuseRestore(why: string): never {
  throw new BatonError('nothing_to_undo', why, { cure: 'The conversation is unchanged, too.' });
}
