// A thread that a compactor works on: a log in memory, its projection, its trail, and the estimate of its usage.

import { createHash } from 'node:crypto';
import type { CompactableThread } from '../../src/compaction/compactor.io.ts';
import type { Compaction, CompactionWorld, Subject } from '../../src/compaction/subject.ts';
import { itemsTokens, measureWith } from '../../src/compaction/measure.ts';
import type { Summarizers, SummaryModel } from '../../src/compaction/summarise/summarizers.ts';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import { SUMMARY_PREFIX } from '../../src/history/filter.ts';
import { HistoryFold } from '../../src/history/project.ts';
import type { Model } from '../../src/ports.ts';
import type { CompactionEvent } from '../../src/protocol/wire/event.ts';
import type { Item } from '../../src/protocol/item.ts';
import type { LogRecord, NoteRecord } from '../../src/protocol/record.ts';
import { SHIPPED_PROMPTS } from '../../src/prompts/shipped.ts';
import { approximateTokens, DEFAULT_ESTIMATE } from '../../src/tokens/estimate.ts';
import { TrailCollector } from '../../src/trail/collect.ts';
import { recordingEmitter } from './recording-emitter.ts';

/** A log in memory. */
export class MemoryThread implements CompactableThread {
  readonly records: LogRecord[] = [];
  readonly notes: NoteRecord[] = [];
  readonly #history = new HistoryFold(WHOLE_ITEMS, Infinity);
  readonly #trail = new TrailCollector();
  readonly #window: number;
  /** Called with each record that is appended. */
  onRecord: (record: LogRecord) => void = () => undefined;
  /** What committing does before it appends. */
  beforeCommit: () => Promise<void> = () => Promise.resolve();

  constructor(window: number, items: readonly Item[] = []) {
    this.#window = window;
    for (const item of items) this.append({ type: 'item', item });
  }

  append(record: LogRecord): void {
    this.records.push(record);
    this.#history.add(record);
    this.#trail.add(record);
    this.onRecord(record);
  }

  get items(): readonly Item[] {
    return this.#history.entries.map(({ value }) => value);
  }

  subject(): Subject {
    return {
      entries: this.#history.entries,
      window: this.#window,
      leavesInitialContext: false,
      summaryPrefix: SUMMARY_PREFIX,
      holdsProviderState: true,
      session: { sessionId: 'memory', transcriptPath: undefined, cwd: undefined, model: undefined },
      trail: this.#trail.trail(),
    };
  }

  usage(): { readonly used: number; readonly rawWindow: number } {
    return {
      used: itemsTokens(this.items, measureWith(approximateTokens, DEFAULT_ESTIMATE)),
      rawWindow: this.#window,
    };
  }

  /** Kept apart: tests look at what was appended to the history. */
  remember(note: NoteRecord): Promise<void> {
    this.notes.push(note);
    return Promise.resolve();
  }

  async commit({ record }: Compaction): Promise<void> {
    await this.beforeCommit();
    this.append(record);
  }
}

/** The surroundings of a compaction, with everything it tells. Ids and time are counted. */
export function compactionWorld(
  changed: Partial<CompactionWorld> = {},
): CompactionWorld & { readonly events: readonly CompactionEvent[] } {
  const { events, emit } = recordingEmitter<CompactionEvent>();
  let ids = 0;
  return {
    clock: { now: () => Date.UTC(2026, 0, 1) },
    ids: { uuid: () => `00000000-0000-4000-8000-${String(++ids).padStart(12, '0')}` },
    hash: (text) => createHash('sha256').update(text).digest('hex'),
    count: approximateTokens,
    counter: 'approximate',
    signal: new AbortController().signal,
    emit,
    ...changed,
    events,
  };
}

/** Models as summarizers, with the shipped prompts. */
export function summarizersOf(
  models: readonly (Partial<SummaryModel> & { readonly model: Model; readonly window: number })[],
  changed: Partial<Summarizers> = {},
): Summarizers {
  return {
    models: models.map((each) => ({ name: 'scribe', thinks: false, costOf: () => undefined, ...each })),
    prompts: {
      system: SHIPPED_PROMPTS['compact-system.md'],
      request: SHIPPED_PROMPTS['compact.md'],
      hasSections: true,
    },
    deadlineMs: 10_000,
    ...changed,
  };
}
