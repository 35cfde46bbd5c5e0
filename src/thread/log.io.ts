// The log of a thread: its rollout, as the sampling loop writes it and `recall` reads it.

import { loadRollout } from '../formats/session-file.io.ts';
import type { LogRecord, SettingsRecord } from '../protocol/record.ts';
import { createRollout, forkRollout, openRollout } from '../rollout/rollout.io.ts';
import type { Rollout } from '../rollout/rollout.io.ts';
import { openRolloutSource } from '../rollout/read.io.ts';
import type { SessionLog } from '../session/terms.ts';
import { recordedDirectory } from './context.ts';
import type { ThreadRequest, ThreadWorld } from './terms.ts';

/** Appends to a rollout. */
export class ThreadLog implements SessionLog {
  readonly #rollout: Rollout;
  #settings: SettingsRecord | undefined;
  readonly #observe: (record: LogRecord) => void;
  #isBegun: boolean;

  /**
   * @param settings written before the first record, so that a thread without messages leaves no file
   * @param isBegun whether the log already has records
   * @param observe receives each record once it is written
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

  /** Records settings that apply from here on: at once, or with the first record if there is none yet. */
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

  /** The rollout itself syncs after the records for which a session requests it: ends of turns and compactions. */
  sync(): Promise<void> {
    return Promise.resolve();
  }
}

/** All records of a thread in its present file; none if it has no file. */
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

/** All records, in memory. */
export async function collect(records: AsyncIterable<LogRecord>): Promise<readonly LogRecord[]> {
  const all: LogRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}

/** A log and its content. */
export interface OpenLog {
  readonly rollout: Rollout;
  /** Where the thread works from here on. Absolute, with links resolved. */
  readonly root: string;
  readonly past: readonly LogRecord[];
  /** Sentences for the user. */
  readonly warnings: readonly string[];
}

/**
 * Opens the log of a thread: a new one, the one to resume, or a fork.
 * @throws BatonError as `openRollout`
 */
export async function openLog(
  { resume, fork, instructions }: ThreadRequest,
  root: string,
  { home, clock, ids, signal, version, files }: ThreadWorld,
): Promise<OpenLog> {
  const world = { clock, ids, signal, ...(files === undefined ? {} : { files }) };
  if (resume === undefined && fork === undefined) {
    const head = { cwd: root, producerVersion: version, instructions };
    const rollout = await createRollout(home, head, world);
    const meta: LogRecord = { type: 'session_meta', sessionId: rollout.threadId, ...head };
    return { rollout, root, past: [meta], warnings: [] };
  }
  const past: LogRecord[] = [];
  const emit = (record: LogRecord): void => void past.push(record);
  const { rollout, damage } =
    fork === undefined
      ? await openRollout(home, resume ?? '', world, emit)
      : await forkRollout(home, fork, { emit, head: { cwd: root, producerVersion: version } }, world);
  const moved = recordedDirectory(past) ?? root;
  const warnings = damage.map(({ line, message }) => `Line ${line} of the session is damaged: ${message}`);
  if (moved !== root) warnings.push(`The session worked in ${moved} and goes on in ${root}.`);
  return { rollout, root, past, warnings };
}
