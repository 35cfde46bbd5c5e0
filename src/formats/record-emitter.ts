// Shared by the readers of whole messages: each value of a file yields records with its place and time.

import type { Item, JsonObject } from '../protocol/item.ts';
import type { LogRecord, SessionMetaRecord, SettingsRecord, SideItemRecord } from '../protocol/record.ts';
import type { UsageSample } from '../protocol/usage.ts';
import { timeOf } from './fields.ts';
import type { DamageNote, Emit, LineAt, Report } from './reader.ts';

type Meta = Omit<SessionMetaRecord, 'type'>;
type Settings = Omit<SettingsRecord, 'type'>;

/** Emits records with the place and time of the value being read. Does not repeat known facts. */
export class RecordEmitter {
  readonly #emit: Emit;
  readonly #report: Report;
  #line = 1;
  #at: string | undefined;
  #meta: Meta = {};
  #settings: Settings = {};
  #hasEmitted = false;

  constructor(emit: Emit, report: Report) {
    this.#emit = emit;
    this.#report = report;
  }

  /** Whether anything was emitted for the value of the last `begin`. */
  get hasEmitted(): boolean {
    return this.#hasEmitted;
  }

  /** Sets the origin of the following records. */
  begin({ line }: LineAt): void {
    this.#line = line;
    this.#at = undefined;
    this.#hasEmitted = false;
  }

  /** Sets the time of the following records: see `timeOf`. */
  date(timestamp: unknown): void {
    this.#at = timeOf(timestamp);
  }

  record(record: LogRecord): void {
    this.#hasEmitted = true;
    this.#emit({ ...record, line: this.#line, ...(this.#at === undefined ? {} : { at: this.#at }) });
  }

  /** @param ref the producer's id of the message, if a compaction may refer to it */
  items(items: readonly Item[], ref?: string): void {
    for (const item of items)
      this.record({ type: 'item', item, ...(ref === undefined || ref === '' ? {} : { ref }) });
  }

  side(items: readonly Item[], why: SideItemRecord['why']): void {
    for (const item of items) this.record({ type: 'side_item', item, why });
  }

  opaque(kind: string): void {
    this.record({ type: 'opaque', kind });
  }

  usage(usage: UsageSample | 'impossible' | undefined): void {
    if (usage === 'impossible') this.damage('impossible_usage', 'A usage that no request can have; ignored');
    else if (usage !== undefined) this.record({ type: 'usage', usage });
  }

  meta(facts: { readonly [K in keyof Meta]: Meta[K] | undefined }): void {
    const fresh = news(facts, this.#meta);
    if (fresh === undefined) return;
    this.#meta = { ...this.#meta, ...fresh };
    this.record({ type: 'session_meta', ...fresh });
  }

  settings(facts: { readonly [K in keyof Settings]: Settings[K] | undefined }): void {
    const fresh = news(facts, this.#settings);
    if (fresh === undefined) return;
    this.#settings = { ...this.#settings, ...fresh };
    this.record({ type: 'settings', ...fresh });
  }

  /** Reports damage, by default without loss to the conversation. */
  damage(kind: DamageNote['kind'], message: string, lost = false): void {
    this.#report({ line: this.#line, kind, message, lost });
  }

  /** Reports a value of a known kind with an unexpected shape, and counts it. */
  wrongShape(what: string, kind: string): void {
    this.damage('wrong_shape', `${what}; skipped`);
    this.opaque(kind);
  }
}

/** Fields that are defined and differ from the known ones; undefined if nothing is new. */
function news<T extends object>(
  facts: { readonly [K in keyof T]: T[K] | undefined },
  known: T,
): T | undefined {
  const fresh = Object.entries(facts).filter(
    ([key, value]) => value !== undefined && value !== (known as JsonObject)[key],
  );
  return fresh.length === 0 ? undefined : (Object.fromEntries(fresh) as T);
}
