// The second pass over a Claude Code session: lines in, log records out. The order is that of the file, unless the links show
// another order of the conversation.

import type { Item, JsonObject } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { authorOf, textOfParts } from '../../protocol/item.ts';
import type { Emit, FormatReader, LineAt, LineReader, Report } from '../reader.ts';
import { attachmentItem } from './attachment.ts';
import type { SurveyedList } from './tree/boundaries.ts';
import { compactedRecord, listRecord, microCompactedRecord } from './tree/compactions.ts';
import type { PlacedLine, ReadCompaction } from './tree/compactions.ts';
import { objectAt, stringAt, timeOf } from '../fields.ts';
import { assistantItems, INTERRUPTED_OPENING, SYNTHETIC_MODEL, userItems } from './items.ts';
import { skimLine } from './skim.ts';
import { keyOf } from './tree/node.ts';
import type { LineKey } from './tree/node.ts';
import { ClaudeSurveyor } from './tree/survey.ts';
import type { ClaudeSurvey } from './tree/survey.ts';
import { usageSample } from './usage.ts';

/**
 * Reads Claude Code sessions. For the survey, `skimLine` may replace the parse of a line.
 * @source claude-code-behaviour §3
 */
export const claudeCodeReader = {
  skim: skimLine,
  survey: (report) => new ClaudeSurveyor(report),
  read: (emit, report, survey) => new ClaudeReader(emit, report, survey),
} satisfies FormatReader<ClaudeSurvey>;

/** A compaction whose lines have not all been read. */
interface Pending extends ReadCompaction {
  readonly replacement: Item[];
  readonly refs: (string | null)[];
  /** Records that follow it. */
  readonly after: LogRecord[];
  summary: string | undefined;
}

class ClaudeReader implements LineReader {
  readonly #sink: Emit;
  readonly #report: Report;
  readonly #survey: ClaudeSurvey;
  readonly #heldBy = new Map<LineKey, PlacedLine[]>();
  readonly #billed = new Set<string>();
  #pending: Pending | undefined;
  /** A list whose lines have not all been read. */
  #list: { readonly boundary: PlacedLine; readonly plan: SurveyedList } | undefined;
  #meta: readonly (string | undefined)[] = [];
  #model: string | undefined;
  #openTurn: string | undefined;

  constructor(emit: Emit, report: Report, survey: ClaudeSurvey) {
    this.#sink = emit;
    this.#report = report;
    this.#survey = survey;
  }

  accept(value: JsonObject, at: LineAt): void {
    const key = keyOf(at);
    const parent = this.#survey.early.get(key);
    if (parent === undefined) {
      this.#take(value, at);
      return;
    }
    const held = this.#heldBy.get(parent);
    if (held === undefined) this.#heldBy.set(parent, [{ value, at }]);
    else held.push({ value, at });
  }

  end(): void {
    // Only left over if a parent was skimmed and then could not be parsed.
    for (const held of this.#heldBy.values()) {
      for (const { value, at } of held) this.#take(value, at);
    }
    this.#abandonPending();
    this.#finishList();
  }

  /** Takes in a line and all that wait for it, depth first. A loop, because a chain of a million lines may wait. */
  #take(value: JsonObject, at: LineAt): void {
    const ready: PlacedLine[] = [{ value, at }];
    for (let next = ready.pop(); next !== undefined; next = ready.pop()) {
      const key = keyOf(next.at);
      this.#takeOne(next.value, next.at, key);
      const held = this.#heldBy.get(key);
      if (held === undefined) continue;
      this.#heldBy.delete(key);
      for (const each of held.toReversed()) ready.push(each);
    }
  }

  #takeOne(value: JsonObject, at: LineAt, key: LineKey): void {
    // The anchor was skimmed and then could not be parsed.
    if (this.#pending?.summary !== undefined && key > this.#pending.plan.anchor) this.#finishPending();
    const compaction = this.#survey.compactions.get(key);
    if (compaction !== undefined) {
      this.#abandonPending();
      this.#pending = {
        boundary: { value, at },
        plan: compaction,
        replacement: [],
        refs: [],
        after: [],
        summary: undefined,
      };
      return;
    }
    const list = this.#survey.lists.get(key);
    if (list !== undefined) {
      this.#abandonPending();
      this.#list = { boundary: { value, at }, plan: list };
    } else if (this.#survey.copies.has(key))
      this.#emit({ type: 'opaque', kind: kindOf(value) }, { value, at });
    else if (this.#survey.subagent.has(key)) this.#takeSide(value, at, 'subagent');
    else if (this.#survey.abandoned.has(key)) this.#takeSide(value, at, 'abandoned_branch');
    else this.#takeConversation(value, at, key);
    if (this.#pending !== undefined && key === this.#pending.plan.anchor) this.#finishPending();
    if (this.#list !== undefined && key >= this.#list.plan.until) this.#finishList();
  }

  #emit(record: LogRecord, { value, at }: PlacedLine): void {
    const time = timeOf(value['timestamp']);
    const full = { ...record, line: at.line, ...(time === undefined ? {} : { at: time }) };
    if (this.#pending === undefined) this.#sink(full);
    else this.#pending.after.push(full);
  }

  #takeSide(value: JsonObject, at: LineAt, why: 'subagent' | 'abandoned_branch'): void {
    const items = itemsOf(value);
    if (items.length === 0) this.#emit({ type: 'opaque', kind: kindOf(value) }, { value, at });
    for (const item of items) this.#emit({ type: 'side_item', item, why }, { value, at });
  }

  #takeConversation(value: JsonObject, at: LineAt, key: LineKey): void {
    const source = { value, at };
    const items = itemsOf(value);
    if (items.length === 0) {
      this.#takeBookkeeping(source);
      return;
    }
    this.#emitMeta(source);
    if (value['type'] === 'assistant') this.#emitAnswer(source);
    const ref = stringAt(value, 'uuid');
    if (this.#pending !== undefined && this.#takeReplacement(this.#pending, { items, ref }, key)) return;
    this.#emitTurns(items, source);
    for (const item of items) {
      this.#emit({ type: 'item', item, ...(ref === undefined ? {} : { ref }) }, source);
    }
  }

  /** Whether the items became part of the compaction being read: its summary, or the items before its anchor. */
  #takeReplacement(
    pending: Pending,
    { items, ref = null }: { readonly items: readonly Item[]; readonly ref: string | undefined | null },
    key: LineKey,
  ): boolean {
    if (key === pending.plan.summary) {
      // An unmarked message may follow a minimal boundary and still replace the past.
      const marked = items.map((item) =>
        item.type === 'message' ? { ...item, isCompactSummary: true } : item,
      );
      pending.summary = marked
        .map((item) => (item.type === 'message' ? textOfParts(item.content) : ''))
        .join('\n');
      keep(pending, marked, ref);
      return true;
    }
    if (pending.summary === undefined) return false;
    keep(pending, items, ref);
    return true;
  }

  #finishPending(): void {
    const pending = this.#pending;
    if (pending?.summary === undefined) {
      this.#abandonPending();
      return;
    }
    this.#pending = undefined;
    this.#emit(compactedRecord(pending), pending.boundary);
    for (const record of pending.after) this.#sink(record);
  }

  /** Only if the summary was skimmed and then could not be parsed: the past stays in the context. */
  #abandonPending(): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    const { at } = pending.boundary;
    const message = 'A compaction whose summary cannot be read; ignored';
    this.#report({ line: at.line, kind: 'wrong_shape', message, lost: false });
    for (const record of pending.after) this.#sink(record);
  }

  #finishList(): void {
    const list = this.#list;
    if (list === undefined) return;
    this.#list = undefined;
    this.#emit(listRecord(list.boundary, list.plan), list.boundary);
  }

  #takeBookkeeping(source: PlacedLine): void {
    const { value } = source;
    const type = value['type'];
    if ((type === 'user' || type === 'assistant') && !hasEmptyContent(value)) {
      const message = `A ${type} line without a message in it`;
      this.#report({ line: source.at.line, kind: 'wrong_shape', message, lost: false });
    }
    if (type === 'system') {
      const subtype = value['subtype'];
      if (subtype === 'microcompact_boundary') {
        const metadata = objectAt(value, 'microcompactMetadata') ?? {};
        this.#emit(microCompactedRecord(metadata, stringAt(value, 'uuid') ?? '', 'compactedToolIds'), source);
        return;
      }
      if (subtype === 'turn_duration' || subtype === 'stop_hook_summary')
        this.#closeTurn('turn_complete', source);
    }
    this.#emit({ type: 'opaque', kind: kindOf(value) }, source);
  }

  #emitMeta(source: PlacedLine): void {
    const { value } = source;
    const sessionId = stringAt(value, 'sessionId') ?? this.#meta[0];
    const cwd = stringAt(value, 'cwd') ?? this.#meta[1];
    const producerVersion = stringAt(value, 'version') ?? this.#meta[2];
    const gitBranch = stringAt(value, 'gitBranch') ?? this.#meta[3];
    const meta = [sessionId, cwd, producerVersion, gitBranch];
    if (meta.every((fact, index) => fact === this.#meta[index])) return;
    this.#meta = meta;
    this.#emit(
      {
        type: 'session_meta',
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(cwd === undefined ? {} : { cwd }),
        ...(producerVersion === undefined ? {} : { producerVersion }),
        ...(gitBranch === undefined ? {} : { gitBranch }),
      },
      source,
    );
  }

  #emitAnswer(source: PlacedLine): void {
    const message = objectAt(source.value, 'message') ?? {};
    const model = stringAt(message, 'model');
    if (model === SYNTHETIC_MODEL) return;
    if (model !== undefined && model !== this.#model) {
      this.#model = model;
      this.#emit({ type: 'settings', model }, source);
    }
    const id = stringAt(message, 'id');
    if (id === undefined || this.#billed.has(id)) return;
    this.#billed.add(id);
    const usage = usageSample(message['usage']);
    if (usage === 'impossible') {
      const text = 'A usage that no request can have; ignored';
      this.#report({ line: source.at.line, kind: 'impossible_usage', message: text, lost: false });
    } else if (usage !== undefined) this.#emit({ type: 'usage', usage }, source);
  }

  #emitTurns(items: readonly Item[], source: PlacedLine): void {
    if (source.value['type'] !== 'user') return;
    for (const item of items) {
      if (item.type !== 'message') continue;
      const isPrompt = authorOf(item) === 'user';
      const wasStopped = !isPrompt && textOfParts(item.content).startsWith(INTERRUPTED_OPENING);
      if (wasStopped) this.#closeTurn('turn_aborted', source);
      if (!isPrompt) continue;
      this.#closeTurn('turn_complete', source);
      this.#openTurn = stringAt(source.value, 'promptId') ?? stringAt(source.value, 'uuid') ?? '';
      this.#emit({ type: 'turn_started', ...turnId(this.#openTurn) }, source);
    }
  }

  #closeTurn(type: 'turn_complete' | 'turn_aborted', source: PlacedLine): void {
    if (this.#openTurn === undefined) return;
    this.#emit({ type, ...turnId(this.#openTurn) }, source);
    this.#openTurn = undefined;
  }
}

function keep({ replacement, refs }: Pending, items: readonly Item[], ref: string | null): void {
  for (const item of items) {
    replacement.push(item);
    refs.push(ref);
  }
}

function turnId(id: string): { turnId?: string } {
  return id === '' ? {} : { turnId: id };
}

function itemsOf(value: JsonObject): Item[] {
  switch (value['type']) {
    case 'assistant':
      return assistantItems(value);
    case 'user':
      return userItems(value);
    case 'attachment': {
      const item = attachmentItem(value);
      return item === undefined ? [] : [item];
    }
    case 'system':
      return localCommandItems(value);
    default:
      return [];
  }
}

/** Output of a command that the user ran in the client; the model receives it in the user role. */
function localCommandItems(value: JsonObject): Item[] {
  const text = value['subtype'] === 'local_command' ? (stringAt(value, 'content') ?? '') : '';
  if (text === '') return [];
  return [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text }], origin: { author: 'harness' } },
  ];
}

function hasEmptyContent(value: JsonObject): boolean {
  const content = objectAt(value, 'message')?.['content'];
  return content === '' || (Array.isArray(content) && content.length === 0);
}

/** The producer's name for a line: its type, and the inner type if there is one. */
function kindOf(value: JsonObject): string {
  const type = stringAt(value, 'type') ?? 'untyped';
  const inner =
    type === 'attachment' || type === 'progress'
      ? stringAt(objectAt(value, type === 'attachment' ? 'attachment' : 'data') ?? {}, 'type')
      : stringAt(value, 'subtype');
  return inner === undefined ? type : `${type}/${inner}`;
}
