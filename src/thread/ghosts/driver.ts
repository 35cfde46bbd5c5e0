// The work tree saved before the first call of a turn that may change it, and the way back.

import { BatonError } from '../../errors.ts';
import type { CancelSignal, Clock } from '../../ports.ts';
import type { LogRecord, NoteRecord } from '../../protocol/record.ts';
import { openSnapshots } from '../../snapshots/driver.ts';
import type { RestoreOutcome, SnapshotDescription, Snapshots } from '../../snapshots/driver.ts';
import { restoredNote, SnapshotFold, snapshotNote } from '../../snapshots/note.ts';
import type { Snapshot } from '../../snapshots/snapshot.ts';

/** What the snapshots of a thread are taken with. */
export interface GhostTerms {
  readonly directory: string;
  readonly threadId: string;
  /** What git sees of the environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly warn: (message: string) => void;
  /** Writes a note into the log of the thread, of which `add` is told like of all others. */
  readonly note: (record: NoteRecord) => Promise<void>;
}

/** The snapshots of one thread. Git is not asked for anything before the first of them. */
export class Ghosts {
  readonly #terms: GhostTerms;
  readonly #fold = new SnapshotFold();
  readonly #told = new Set<string>();
  #snapshots: ReturnType<typeof openSnapshots> | undefined;
  #takenFor: string | undefined;

  constructor(terms: GhostTerms) {
    this.#terms = terms;
  }

  /** The workspace, as it was given. */
  get directory(): string {
    return this.#terms.directory;
  }

  /** Each record of the thread, those of earlier processes first. */
  add(record: LogRecord): void {
    this.#fold.add(record);
  }

  /**
   * Saves the work tree, once for each turn. Where that cannot be, the user is told, and the turn goes on.
   * @throws BatonError `interrupted`; what writing the log fails with
   */
  async take(turnId: string, signal: CancelSignal): Promise<void> {
    if (this.#takenFor === turnId) return;
    this.#takenFor = turnId;
    const snapshots = await this.#open(signal);
    if (!('take' in snapshots)) {
      this.#warnOnce(`Changes of files cannot be undone here: ${snapshots.why}`);
      return;
    }
    const outcome = await snapshots.take(signal);
    if (outcome.type === 'skipped') {
      this.#warnOnce(outcome.why);
      return;
    }
    for (const warning of outcome.warnings) this.#warnOnce(warning);
    await this.#terms.note(snapshotNote({ turnId, ...outcome.snapshot }));
  }

  /** What putting the files back to before a turn would do; undefined where nothing was saved since. */
  async describe(turnId: string, signal: CancelSignal): Promise<SnapshotDescription | undefined> {
    return this.#with(turnId, signal, (snapshots, snapshot) => snapshots.describe(snapshot, signal));
  }

  /** Puts the files back to before a turn, and remembers how they were; undefined where nothing was saved since. */
  async restore(turnId: string, signal: CancelSignal): Promise<RestoreOutcome | undefined> {
    const outcome = await this.#with(turnId, signal, (snapshots, snapshot) =>
      snapshots.restore(snapshot, signal),
    );
    if (outcome?.type === 'restored') await this.#terms.note(restoredNote(turnId, outcome.undo));
    return outcome;
  }

  /** Leaves nothing behind but the snapshots. */
  async close(): Promise<void> {
    const snapshots = await this.#snapshots?.catch(() => undefined);
    if (snapshots !== undefined && 'close' in snapshots) await snapshots.close();
  }

  async #with<Outcome>(
    turnId: string,
    signal: CancelSignal,
    work: (snapshots: Snapshots, snapshot: Snapshot) => Promise<Outcome>,
  ): Promise<Outcome | { readonly type: 'refused'; readonly why: string } | undefined> {
    const snapshot = this.#fold.firstSince(turnId);
    if (snapshot === undefined) return undefined;
    const snapshots = await this.#open(signal);
    if (!('take' in snapshots)) return { type: 'refused', why: snapshots.why };
    return work(snapshots, snapshot);
  }

  #open(signal: CancelSignal): ReturnType<typeof openSnapshots> {
    this.#snapshots ??= this.#openAndPrune(signal).catch((error: unknown) => {
      // Stopped by the user, it is tried again in the next turn.
      this.#snapshots = undefined;
      this.#takenFor = undefined;
      throw error;
    });
    return this.#snapshots;
  }

  async #openAndPrune(signal: CancelSignal): ReturnType<typeof openSnapshots> {
    const { directory, threadId, env, clock } = this.#terms;
    const snapshots = await openSnapshots({ directory, threadId, env, clock }, signal);
    if ('prune' in snapshots) await snapshots.prune({}, signal);
    return snapshots;
  }

  #warnOnce(message: string): void {
    if (this.#told.has(message)) return;
    this.#told.add(message);
    this.#terms.warn(message);
  }
}

/** Files that could not be put back. @throws BatonError always */
export function refuseRestore(why: string): never {
  throw new BatonError('nothing_to_undo', why, { cure: 'The conversation was left as it is, too.' });
}
