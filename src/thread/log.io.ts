// The log of a thread: its rollout, as the sampling loop writes it and as `recall` reads it.

import { loadRollout } from '../formats/session-file.io.ts';
import type { LogRecord, SettingsRecord } from '../protocol/record.ts';
import type { Rollout } from '../rollout/rollout.io.ts';
import { openRolloutSource } from '../rollout/read.io.ts';
import type { SessionLog } from '../session/terms.ts';

/** Appends to a rollout. */
export class ThreadLog implements SessionLog {
  readonly #rollout: Rollout;
  #settings: SettingsRecord | undefined;
  readonly #observe: (record: LogRecord) => void;
  #isBegun: boolean;

  /**
   * @param settings written before the first record, so that a thread in which nothing is said leaves no file
   * @param isBegun something is recorded already
   * @param observe told of each record once it is written
   */
  constructor(
    rollout: Rollout,
    settings: SettingsRecord | undefined,
    isBegun: boolean,
    observe: (record: LogRecord) => void,
  ) {
    this.#rollout = rollout;
    this.#observe = observe;
    this.#settings = settings;
    this.#isBegun = isBegun;
  }

  /** Whether the thread can be resumed. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** What holds from here on: written at once, or with the first record where there is none yet. */
  async settle(settings: SettingsRecord | undefined): Promise<void> {
    this.#settings = settings;
    if (!this.#isBegun || settings === undefined) return;
    await this.#rollout.append([settings]);
    this.#settings = undefined;
  }

  async append(records: readonly LogRecord[]): Promise<void> {
    if (records.length === 0) return;
    const settings = this.#settings === undefined ? [] : [this.#settings];
    await this.#rollout.append([...settings, ...records]);
    this.#settings = undefined;
    this.#isBegun = true;
    for (const record of records) this.#observe(record);
  }

  /** The rollout syncs by itself at the records after which a session asks for it: ends of turns and compactions. */
  sync(): Promise<void> {
    return Promise.resolve();
  }
}

/** All records of a thread as its file has them now; none while it has no file. */
export async function* recordsOf(home: string, path: string): AsyncGenerator<LogRecord> {
  const records: LogRecord[] = [];
  const source = await openRolloutSource(home, path);
  try {
    await loadRollout(source, { emit: (record) => void records.push(record), report: () => undefined });
  } finally {
    await source.close();
  }
  yield* records;
}
