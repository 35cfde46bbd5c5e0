// Reads Codex rollouts of every generation since 2025: bare items, wrapped lines, paginated ones with ordinals, and Baton's
// own, which are Codex rollouts. One pass; memory does not grow with the file.

import type { Item, Json, JsonObject } from '../../protocol/item.ts';
import type { CompactedRecord, LogRecord } from '../../protocol/record.ts';
import type { Receipt } from '../../protocol/receipt.ts';
import type { Emit, FormatReader, LineAt, LineReader, Report } from '../reader.ts';
import { isSummaryText } from './authorship.ts';
import { PendingCompaction } from './pending-compaction.ts';
import { isItemPayload, isItemType, readItem } from './items.ts';
import type { ItemPayload } from './items.ts';
import { KeptMessages } from './kept-messages.ts';
import { readOwnRecord } from './own-records.ts';
import type { OwnRecord } from './own-records.ts';
import { CODEX_SUMMARY_PREFIX } from '../../history/filter.ts';
import { isJsonObject, objectAt, stringAt, timeOf } from '../fields.ts';
import { listAt, numberAt } from './shapes.ts';
import { TailFollower } from './tail.ts';
import type { CodexTail } from './tail.ts';
import { isRepeated, readTokenCount, usableWindowOf } from './usage.ts';
import type { TokenCount } from './usage.ts';
import { readWhole } from './verbatim-items.ts';

/** A reader that also provides what a writer needs to continue the file. */
export interface CodexLineReader extends LineReader {
  /** The state after the lines accepted so far. */
  tail(): CodexTail;
}

/** Reads rollouts. Every line yields at least one record, at the latest at the end. */
export const codexReader: FormatReader & { read(emit: Emit, report: Report): CodexLineReader } = {
  read: (emit, report) => new RolloutReader(emit, report),
};

/** Lines that only Baton writes and that contain nothing but a record. */
const OWN_LINES: ReadonlySet<string> = new Set(['baton_record', 'baton_note']);

type LinePosition = Pick<LogRecord, 'line' | 'at'> & { readonly line: number };

class RolloutReader implements CodexLineReader {
  readonly #out: PendingCompaction;
  readonly #report: Report;
  readonly #tail = new TailFollower();
  readonly #kept = new KeptMessages();
  readonly #compactionIds = new Set<string>();
  #compactions = 0;
  /** A `compacted` line was read, but not its announcement yet. */
  #awaitsAnnouncement = false;
  #isBare = false;
  #sessionId: string | undefined;
  #producerVersion: string | undefined;
  #model: string | undefined;
  #cwd: string | undefined;
  #usableWindow: number | undefined;
  #countsUsableWindow = false;
  #lastCount: TokenCount | undefined;
  #lastUsageTotal: number | undefined;
  /** The model answered a compaction prompt: until the compaction, usage is that of the request, not of the context. */
  #isCompacting = false;

  constructor(emit: Emit, report: Report) {
    this.#out = new PendingCompaction(emit);
    this.#report = report;
  }

  accept(value: JsonObject, { line }: LineAt): void {
    const time = timeOf(value['timestamp']);
    const at: LinePosition = time === undefined ? { line } : { line, at: time };
    const type = value['type'];
    const payload = value['payload'];
    if (isJsonObject(payload) && typeof type === 'string') {
      this.#tail.ordinal(value['ordinal']);
      this.#wrapped(type, payload, value, at);
    } else this.#unwrapped(value, at);
  }

  end(): void {
    this.#out.end();
  }

  tail(): CodexTail {
    return this.#tail.state();
  }

  #wrapped(type: string, payload: JsonObject, value: JsonObject, at: LinePosition): void {
    if (OWN_LINES.has(type) || value['baton'] !== undefined || payload['baton'] !== undefined) {
      const own = readOwnRecord(type, payload, value);
      if (own !== undefined) return this.#own(own, payload, at);
      if (objectAt(value, 'baton')?.['echo'] === true) return this.#opaque(`${type}/echo`, at);
    }
    switch (type) {
      case 'response_item':
        return this.#responseItem(payload, value, at);
      case 'event_msg':
        return this.#event(payload, at);
      case 'compacted':
        return this.#compacted(payload, at);
      case 'session_meta':
        return this.#sessionMeta(payload, at);
      case 'turn_context':
        this.#tail.turnContext(payload);
        return this.#settings(payload, type, at);
      case 'world_state':
        this.#tail.worldState(payload);
        return this.#opaque(type, at);
      case 'baton_item':
        return this.#batonItem(payload, at);
      default:
        return this.#opaque(type, at);
    }
  }

  /** A record that Baton wrote: passed on unchanged, whatever else its line contains. */
  #own(own: OwnRecord, payload: JsonObject, at: LinePosition): void {
    switch (own.type) {
      case 'session_meta':
        this.#tail.meta(payload);
        // The header of a fork's parent, after the fork's own.
        if (this.#sessionId !== undefined && own.sessionId !== this.#sessionId)
          return this.#opaque('session_meta', at);
        if (this.#sessionId === undefined && objectAt(payload, 'history_base') !== undefined)
          this.#noteBase(at);
        this.#sessionId = own.sessionId;
        return this.#out.pass({ ...own, producer: 'baton', ...at });
      case 'compacted':
      case 'micro_compacted':
      case 'undo_compaction':
      case 'undo_turn':
        return this.#ownCompaction(own, payload, at);
      case 'usage':
        this.#tail.tokenInfo(objectAt(payload, 'info') ?? {});
        this.#lastUsageTotal = own.usage.total;
        break;
      case 'settings':
        this.#tail.turnContext(payload);
        if (own.usableWindow !== undefined) this.#tail.modelContextWindow(own.usableWindow);
        break;
      case 'turn_started':
      case 'turn_complete':
      case 'turn_aborted':
        this.#isCompacting = false;
        return this.#out.task({ ...own, type: own.type, ...at });
      default:
        break;
    }
    this.#out.pass({ ...own, ...at });
  }

  #ownCompaction(
    own: Extract<OwnRecord, { type: 'compacted' | 'micro_compacted' | 'undo_compaction' | 'undo_turn' }>,
    payload: JsonObject,
    at: LinePosition,
  ): void {
    const replacement = this.#replacementOf(payload, objectAt(payload, 'baton') ?? {}, at);
    this.#tail.compacted(payload);
    this.#kept.replace(replacement);
    this.#awaitsAnnouncement = true;
    this.#isCompacting = false;
    this.#expectNewEstimate();
    if ('id' in own) this.#compactionIds.add(own.id);
    // This one does not depend on the lines after it.
    this.#out.end();
    this.#out.pass(own.type === 'compacted' ? { ...own, replacement, ...at } : { ...own, ...at });
  }

  /** A line of the oldest layout: an item or a header without a wrapper. */
  #unwrapped(value: JsonObject, at: LinePosition): void {
    if (isItemPayload(value) && (this.#isBare || isItemType(value.type))) {
      this.#isBare = true;
      this.#item(value, at, undefined);
    } else if (typeof value['record_type'] === 'string') {
      this.#opaque(`record_type/${value['record_type']}`, at);
    } else if (isBareHead(value)) {
      this.#isBare = true;
      this.#tail.bare(value);
      this.#sessionMeta(value, at);
    } else {
      const type = stringAt(value, 'type');
      if (type !== undefined)
        this.#wrongShape(at, `A line of type ${quote(type)} has no payload object; skipped`);
      this.#opaque(type ?? 'unknown', at);
    }
  }

  #responseItem(payload: JsonObject, value: JsonObject, at: LinePosition): void {
    if (!isItemPayload(payload)) {
      this.#wrongShape(at, 'A response_item without a type; skipped');
      this.#opaque('response_item', at);
      return;
    }
    const metadata = value['metadata'];
    const isSummaryAnswer = isJsonObject(metadata) && metadata['compaction_output'] === true;
    if (isSummaryAnswer) this.#isCompacting = true;
    this.#item(payload, at, value['baton'], isSummaryAnswer);
  }

  // oxlint-disable-next-line max-params -- the common path of every item, called from two places
  #item(payload: ItemPayload, at: LinePosition, marks: Json | undefined, isSummaryAnswer = false): void {
    const item = readItem(payload, (what) => this.#wrongShape(at, `The ${what}`), { marks });
    this.#kept.add(item);
    this.#out.item({ type: 'item', item, ...at }, isSummaryAnswer);
  }

  /** An item that Baton wrote where Codex ignores it. */
  #batonItem(payload: JsonObject, at: LinePosition): void {
    const item = readWhole(payload);
    if (item === undefined) return this.#opaque('baton_item', at);
    this.#kept.add(item);
    this.#out.item({ type: 'item', item, ...at }, false);
  }

  #sessionMeta(payload: JsonObject, at: LinePosition): void {
    this.#tail.meta(payload);
    const sessionId = stringAt(payload, 'id');
    // A fork begins with its own header and then repeats its parent's file, including the header.
    if (this.#sessionId !== undefined && sessionId !== this.#sessionId)
      return this.#opaque('session_meta', at);
    if (this.#sessionId === undefined && objectAt(payload, 'history_base') !== undefined) this.#noteBase(at);
    this.#sessionId = sessionId;
    this.#producerVersion = stringAt(payload, 'cli_version') ?? this.#producerVersion;
    const base = objectAt(payload, 'base_instructions');
    const git = objectAt(payload, 'git');
    // `instructions` of older headers repeats the user's instructions, which are items as well: they must not count twice.
    const fields = {
      sessionId,
      cwd: stringAt(payload, 'cwd'),
      producerVersion: this.#producerVersion,
      gitBranch: git && stringAt(git, 'branch'),
      instructions: base && stringAt(base, 'text'),
    };
    this.#out.pass({ type: 'session_meta', ...onlyStrings(fields), ...at });
  }

  /** Passes on settings that contain something new; other lines are opaque. */
  #settings(payload: JsonObject, kind: string, at: LinePosition): void {
    const model = stringAt(payload, 'model');
    const cwd = stringAt(payload, 'cwd');
    if ((model ?? this.#model) === this.#model && (cwd ?? this.#cwd) === this.#cwd)
      return this.#opaque(kind, at);
    this.#model = model ?? this.#model;
    this.#cwd = cwd ?? this.#cwd;
    this.#out.pass({ type: 'settings', ...onlyStrings({ model, cwd }), ...at });
  }

  #window(source: JsonObject, at: LinePosition): void {
    const window = numberAt(source, 'model_context_window');
    if (window === undefined || window <= 0) return;
    this.#tail.modelContextWindow(window);
    const usable = this.#countsUsableWindow ? window : usableWindowOf(window, this.#producerVersion);
    if (usable === this.#usableWindow) return;
    this.#usableWindow = usable;
    this.#out.pass({ type: 'settings', usableWindow: usable, ...at });
  }

  #event(payload: JsonObject, at: LinePosition): void {
    const kind = stringAt(payload, 'type') ?? 'unknown';
    switch (kind) {
      case 'token_count':
        return this.#tokenCount(payload, at);
      case 'task_started':
      case 'turn_started':
        this.#turn('turn_started', payload, at);
        // Versions old enough to count in raw windows wrote no such line: a newer one has resumed the session.
        this.#countsUsableWindow = true;
        return this.#window(payload, at);
      case 'task_complete':
      case 'turn_complete':
        return this.#turn('turn_complete', payload, at);
      case 'turn_aborted':
        return this.#turn('turn_aborted', payload, at);
      case 'context_compacted':
        return this.#announcement(`event_msg/${kind}`, at);
      case 'item_completed':
        if (objectAt(payload, 'item')?.['type'] === 'ContextCompaction') {
          return this.#announcement(`event_msg/${kind}`, at);
        }
        return this.#opaque(`event_msg/${kind}`, at);
      default:
        return this.#opaque(`event_msg/${kind}`, at);
    }
  }

  #turn(
    type: 'turn_started' | 'turn_complete' | 'turn_aborted',
    payload: JsonObject,
    at: LinePosition,
  ): void {
    const turnId = stringAt(payload, 'turn_id');
    this.#isCompacting = false;
    this.#out.task(turnId === undefined ? { type, ...at } : { type, turnId, ...at });
  }

  #tokenCount(payload: JsonObject, at: LinePosition): void {
    const { info } = payload;
    if (!isJsonObject(info)) {
      if (info !== undefined && info !== null)
        this.#wrongShape(at, 'A token_count has an info that is not an object');
      return this.#opaque('event_msg/token_count', at);
    }
    this.#tail.tokenInfo(info);
    this.#window(info, at);
    const read = readTokenCount(info);
    if (read === undefined) {
      this.#wrongShape(at, 'A token_count without last_token_usage; skipped');
      return this.#opaque('event_msg/token_count', at);
    }
    if (isRepeated(read, this.#lastCount)) return this.#opaque('event_msg/token_count', at);
    const { sample } = read;
    this.#lastCount = read;
    if (sample.source === 'estimated') this.#out.estimate(sample.total);
    if (!this.#isCompacting) this.#lastUsageTotal = sample.total;
    this.#out.pass({ type: 'usage', usage: sample, ...at });
  }

  #compacted(payload: JsonObject, at: LinePosition): void {
    this.#tail.compacted(payload);
    const baton = objectAt(payload, 'baton') ?? {};
    const replacement = this.#replacementOf(payload, baton, at);
    this.#kept.replace(replacement);
    this.#awaitsAnnouncement = true;
    this.#isCompacting = false;
    this.#expectNewEstimate();
    const undone = stringAt(baton, 'undo');
    if (undone !== undefined) {
      this.#out.pass({ type: 'undo_compaction', compactionId: undone, ...at });
      return;
    }
    this.#out.compaction({ ...this.#compactionRecord(payload, baton, replacement), ...at });
  }

  #compactionRecord(payload: JsonObject, baton: JsonObject, replacement: readonly Item[]): CompactedRecord {
    const summary = summaryOf(stringAt(payload, 'message') ?? '', replacement);
    const receipt = receiptOf(baton['receipt']);
    const preTokens = receipt?.preTokens ?? this.#lastUsageTotal;
    const gauged = numberAt(baton, 'used');
    return {
      type: 'compacted',
      id: this.#compactionId(stringAt(payload, 'window_id')),
      replacement,
      ...(preTokens !== undefined && { preTokens }),
      ...(summary !== undefined && { summary }),
      ...(gauged !== undefined && { gaugedTokens: gauged }),
      ...(receipt !== undefined && {
        receipt,
        trigger: receipt.trigger,
        phase: receipt.phase,
        postTokens: receipt.postTokens,
      }),
    };
  }

  #replacementOf(payload: JsonObject, baton: JsonObject, at: LinePosition): readonly Item[] {
    const message = stringAt(payload, 'message') ?? '';
    const history = payload['replacement_history'];
    if (history === undefined || history === null) return this.#kept.historyWith(message);
    const values = listAt(payload, 'replacement_history');
    if (values === undefined) {
      this.#wrongShape(
        at,
        'A compaction has a replacement_history that is not a list; rebuilt from its message',
      );
      return this.#kept.historyWith(message);
    }
    const marks = objectAt(baton, 'marks') ?? {};
    const items: Item[] = [];
    for (const [index, value] of values.entries()) {
      if (isJsonObject(value) && isItemPayload(value)) {
        const around = { summaryText: message, marks: marks[String(index)] };
        items.push(
          readItem(value, (what) => this.#wrongShape(at, `In a replacement history, the ${what}`), around),
        );
      } else this.#wrongShape(at, `Entry ${index} of a replacement history is not an item; skipped`);
    }
    for (const entry of listAt(baton, 'beside') ?? []) {
      const [position, value] = Array.isArray(entry) ? (entry as readonly Json[]) : [];
      const item = readWhole(value);
      if (typeof position === 'number' && item !== undefined) items.splice(position, 0, item);
    }
    return items;
  }

  /**
   * A notice that the context was compacted. Without a preceding `compacted` line the result was never stored, and Codex
   * resumes the session with the whole history.
   */
  #announcement(kind: string, at: LinePosition): void {
    if (!this.#awaitsAnnouncement) {
      this.#wrongShape(
        at,
        'A compaction whose result was not stored; the whole history is read, as Codex does',
      );
    }
    this.#awaitsAnnouncement = false;
    this.#opaque(kind, at);
  }

  /** Two compactions may be followed by equal estimates, but a repeated report would be one from before. */
  #expectNewEstimate(): void {
    if (this.#lastCount?.sample.source === 'estimated') this.#lastCount = undefined;
  }

  #compactionId(windowId: string | undefined): string {
    this.#compactions += 1;
    const id =
      windowId === undefined || this.#compactionIds.has(windowId)
        ? `compaction-${this.#compactions}`
        : windowId;
    this.#compactionIds.add(id);
    return id;
  }

  #opaque(kind: string, at: LinePosition): void {
    this.#out.pass({ type: 'opaque', kind, ...at });
  }

  /** Since about 0.160, a fork of a numbered file does not repeat its parent but points into it. */
  #noteBase({ line }: LinePosition): void {
    const message =
      'This session continues another one, whose file contains the earlier history; only what follows is read';
    this.#report({ line, kind: 'dangling_parent', message, lost: false });
  }

  #wrongShape({ line }: LinePosition, message: string): void {
    this.#report({ line, kind: 'wrong_shape', message, lost: false });
  }
}

function isBareHead(value: JsonObject): boolean {
  return (
    value['type'] === undefined && typeof value['id'] === 'string' && typeof value['timestamp'] === 'string'
  );
}

/** Next to a provider's own compaction, whose message is empty, Baton stores a readable summary. */
function summaryOf(message: string, replacement: readonly Item[]): string | undefined {
  if (message !== '') return withoutPrefix(message);
  return replacement.find((item) => item.type === 'compaction')?.shadow;
}

function withoutPrefix(message: string): string {
  return isSummaryText(message) ? message.slice(CODEX_SUMMARY_PREFIX.length + 1) : message;
}

/** Names of kinds are short; anything longer is not one, and may be text of the transcript. */
function quote(name: string): string {
  return JSON.stringify(name.length > 40 ? `${name.slice(0, 40)}…` : name);
}

function receiptOf(value: Json | undefined): Receipt | undefined {
  if (!isJsonObject(value) || value['version'] !== 1) return undefined;
  const hasCore =
    ['id', 'at', 'trigger', 'reason', 'phase'].every((key) => typeof value[key] === 'string') &&
    ['preTokens', 'postTokens'].every((key) => typeof value[key] === 'number');
  return hasCore ? (value as unknown as Receipt) : undefined;
}

function onlyStrings<Key extends string>(
  fields: Readonly<Record<Key, string | undefined>>,
): { [K in Key]?: string } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in Key]?: string;
  };
}
