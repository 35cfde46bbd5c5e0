// Writes rollouts that Codex resumes: a compaction or its undo appended to the bytes of a file, or a separate file. Every
// function returns lines of JSON without line feeds. Clock and ids are parameters.
//
// How Codex 0.169 resumes a file was measured with the binary and is used in `layout` and `windowLines` alone: the first line
// names the thread, and later headers are ignored; `message` is required, unknown keys are allowed; the last complete
// token_count of the file counts as the present usage, so without one after the compaction Codex compacts again at once; and
// every line of a numbered file must continue the numbering.

import type { Item, JsonObject } from '../../protocol/item.ts';
import { textOfParts } from '../../protocol/item.ts';
import type { CompactedRecord, SessionMetaRecord, SettingsRecord } from '../../protocol/record.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import type { Format } from '../../vocabulary.ts';
import { objectAt, stringAt } from '../fields.ts';
import { BATON_ORIGINATOR, numberAt, withoutUndefined } from './shapes.ts';
import type { CodexTail } from './tail.ts';
import { toWire } from './wire.ts';
import type { Wire } from './wire.ts';

/** The version whose shapes Baton writes if the source is not a Codex file. */
export const WRITTEN_AS_VERSION = '0.169.0';

/** Lines to put around the unchanged bytes of a file. */
export interface CodexAppend {
  /** Before the first byte. */
  readonly head: readonly string[];
  /** After the last byte; the caller terminates a last line without a line feed. */
  readonly tail: readonly string[];
  /** Items that Codex cannot represent, such as reasoning of another provider. */
  readonly leftOut: readonly Item[];
}

interface AppendTo {
  /** The state of the file when it was read. */
  readonly tail: CodexTail;
  /** ISO 8601, UTC. */
  readonly at: string;
  /** UUID of the copy. Without it the lines continue the session itself. */
  readonly newSessionId?: string;
}

export interface CompactionToAppend extends AppendTo {
  /** Its `id` becomes the id of the new context window: a UUID. */
  readonly record: CompactedRecord;
}

export interface UndoToAppend extends AppendTo {
  /** The compaction to undo. */
  readonly compactionId: string;
  /** The history before it and what followed. */
  readonly restored: readonly Item[];
  /** UUID of the new context window. */
  readonly windowId: string;
  /** Tokens of the restored context; absent: estimated from the items. */
  readonly totalTokens?: number;
}

export interface SessionToWrite {
  readonly meta: Omit<SessionMetaRecord, 'type'>;
  readonly settings: Omit<SettingsRecord, 'type'>;
  /** A compaction that the file begins with. */
  readonly compaction?: CompactedRecord;
  /** What follows the compaction, or the whole history without one. */
  readonly items: readonly Item[];
  /** The format that the items were read from. */
  readonly source: Format;
  /** The rollout that the history comes from, if any: its header is kept. */
  readonly tail?: CodexTail;
  readonly at: string;
  /** UUID. */
  readonly newSessionId: string;
}

/**
 * A compaction in the form that Codex itself records.
 * @throws RangeError if lines of this layout cannot be appended to (`tail.layout` is `bare`), or if the record refers to lines
 * of another format (`keptRefs`).
 */
export function appendCodexCompaction({ record, ...to }: CompactionToAppend): CodexAppend {
  const replacement = replacementPayload(record.replacement, 'codex', summaryOf(record.replacement));
  requireNoRefs(record);
  return layout(to, replacement, {
    windowId: record.id,
    totalTokens: record.postTokens ?? estimateContext(record.replacement, to.tail),
    notes: receiptNote(record),
  });
}

/**
 * The undo of a compaction: for Codex a compaction to the restored history, for Baton an undo.
 * @throws RangeError if lines of this layout cannot be appended to
 */
export function appendCodexUndo(undo: UndoToAppend): CodexAppend {
  const { compactionId, restored, windowId, totalTokens = estimateContext(restored, undo.tail) } = undo;
  const replacement = replacementPayload(restored, 'codex', '');
  return layout(undo, replacement, {
    windowId,
    totalTokens,
    notes: { undo: compactionId },
  });
}

/** A rollout with only the present context. */
export function writeCodexSession(session: SessionToWrite): {
  readonly lines: readonly string[];
  readonly leftOut: readonly Item[];
} {
  const { at, compaction, items, source } = session;
  const lines = [line(at, 'session_meta', sessionMeta(session))];
  const leftOut: Item[] = [];
  const tail = session.tail ?? WITHOUT_PAST;
  const used =
    (compaction?.postTokens ?? estimateContext(compaction?.replacement ?? [], tail)) +
    items.reduce((sum, item) => sum + sumTokens(itemTokens(item)), 0);
  if (compaction !== undefined) {
    requireNoRefs(compaction);
    const replacement = replacementPayload(compaction.replacement, source, summaryOf(compaction.replacement));
    const [compacted] = windowLines(WITHOUT_PAST, replacement, {
      windowId: compaction.id,
      totalTokens: used,
      notes: receiptNote(compaction),
    });
    lines.push(line(at, ...compacted));
    for (const item of replacement.leftOut) leftOut.push(item);
  }
  for (const item of items) {
    const wire = toWire(item, source);
    if (wire.place === 'nowhere') leftOut.push(item);
    else if (wire.place === 'beside') lines.push(line(at, 'baton_item', wire.item));
    else lines.push(line(at, 'response_item', wire.payload, wire.marks && { baton: wire.marks }));
  }
  lines.push(line(at, 'event_msg', tokenCount(tail, used)));
  return { lines, leftOut };
}

const WITHOUT_PAST: CodexTail = { layout: 'wrapped' };

/** A replacement history, in Codex's form and with Baton's notes. */
export interface ReplacementHistory {
  readonly message: string;
  readonly history: readonly JsonObject[];
  /** `marks` by index of the history; `beside` with the position of each in the whole. */
  readonly baton: JsonObject;
  readonly leftOut: readonly Item[];
}

/** The context window that a compaction begins. */
export interface NextWindow {
  /** UUID. */
  readonly windowId: string;
  /** Tokens of the whole context, including instructions and tools. */
  readonly totalTokens: number;
  /** Notes about the compaction itself, for Baton alone. */
  readonly notes: JsonObject;
}

/** Determines where each line goes. */
function layout(to: AppendTo, replacement: ReplacementHistory, next: NextWindow): CodexAppend {
  const { tail, at, newSessionId } = to;
  if (tail.layout === 'bare') {
    throw new RangeError('A rollout without wrapped lines cannot be appended to; write a new one');
  }
  const numbered = ordinals(tail);
  return {
    head:
      newSessionId === undefined ? [] : [line(at, 'session_meta', forkedMeta(tail.meta, newSessionId, at))],
    tail: windowLines(tail, replacement, next).map(([type, payload]) => line(at, type, payload, numbered())),
    leftOut: replacement.leftOut,
  };
}

/** The `type` and `payload` of a line. */
export type TypedPayload = readonly [type: string, payload: JsonObject];

/** The compaction, then what Codex takes as the usage after it. */
export function windowLines(
  tail: CodexTail,
  { message, history, baton }: ReplacementHistory,
  { windowId, totalTokens, notes }: NextWindow,
): [compacted: TypedPayload, usage: TypedPayload] {
  const compacted = withoutUndefined({
    message,
    replacement_history: history,
    window_number: (tail.windowNumber ?? 0) + 1,
    first_window_id: tail.firstWindowId ?? tail.windowId,
    previous_window_id: tail.windowId,
    window_id: windowId,
    baton: { ...notes, ...baton },
  });
  return [
    ['compacted', compacted],
    ['event_msg', tokenCount(tail, totalTokens)],
  ];
}

/** Codex's form of an estimate: a total without parts. */
function tokenCount(tail: CodexTail, totalTokens: number): JsonObject {
  return usageEvent(tail, tail.totalTokenUsage ?? {}, { total_tokens: totalTokens });
}

/** Tokens by category of use. */
export type TokenUsage = Readonly<Partial<Record<(typeof USAGE_KEYS)[number], number>>>;

/**
 * A `token_count` with every key: Codex ignores an incomplete usage.
 * @param spent usage of all requests so far
 * @param last usage of the last one
 */
export function usageEvent(tail: CodexTail, spent: JsonObject, last: TokenUsage): JsonObject {
  const info = withoutUndefined({
    total_token_usage: usageOf((key) => numberAt(spent, key) ?? 0),
    last_token_usage: usageOf((key) => last[key] ?? 0),
    model_context_window: tail.modelContextWindow,
  });
  return { type: 'token_count', info };
}

/** Codex's estimate includes its base instructions with the items. @source codex-behaviour §4.5. */
function instructionTokens(meta: JsonObject | undefined): number {
  const base = meta && objectAt(meta, 'base_instructions');
  return approximateTokens((base && stringAt(base, 'text')) ?? '');
}

const USAGE_KEYS = [
  'input_tokens',
  'cached_input_tokens',
  'output_tokens',
  'reasoning_output_tokens',
  'total_tokens',
] as const;

function usageOf(tokens: (key: (typeof USAGE_KEYS)[number]) => number): JsonObject {
  return Object.fromEntries(USAGE_KEYS.map((key) => [key, tokens(key)]));
}

function ordinals({ lastOrdinal }: CodexTail): () => JsonObject | undefined {
  if (lastOrdinal === undefined) return () => undefined;
  let ordinal = lastOrdinal;
  return () => ({ ordinal: (ordinal += 1) });
}

function replacementPayload(items: readonly Item[], source: Format, message: string): ReplacementHistory {
  return replacementOf(items, (item) => toWire(item, source, message), message);
}

/**
 * A history as the replacement of another.
 * @param wireOf how an item is written
 * @param message the text of the summary among the items
 */
export function replacementOf(
  items: readonly Item[],
  wireOf: (item: Item) => Wire,
  message: string,
): ReplacementHistory {
  const history: JsonObject[] = [];
  const marks: Record<string, JsonObject> = {};
  const beside: [position: number, item: JsonObject][] = [];
  const leftOut: Item[] = [];
  for (const item of items) {
    const wire = wireOf(item);
    if (wire.place === 'nowhere') leftOut.push(item);
    else if (wire.place === 'beside') beside.push([history.length + beside.length, wire.item]);
    else {
      if (wire.marks !== undefined) marks[String(history.length)] = wire.marks;
      history.push(wire.payload);
    }
  }
  const baton = {
    ...(Object.keys(marks).length > 0 && { marks }),
    ...(beside.length > 0 && { beside }),
  };
  return { message, history, baton, leftOut };
}

/** Without a receipt only the size is noted, so that the next reader's gauge continues from it. */
function receiptNote({ receipt, postTokens }: CompactedRecord): JsonObject {
  if (receipt !== undefined) return { receipt: receipt as unknown as JsonObject };
  return postTokens === undefined ? {} : { used: postTokens };
}

/** The text of the summary among items that replace a history; empty without one. */
export function summaryOf(items: readonly Item[]): string {
  const summary = items.findLast((item) => item.type === 'message' && item.isCompactSummary === true);
  return summary?.type === 'message' ? textOfParts(summary.content) : '';
}

/** The header of a copy: the copied file's own header, under its new name, with its origin. */
function forkedMeta(meta: JsonObject | undefined, newSessionId: string, at: string): JsonObject {
  const { history_base: _, ...kept } = meta ?? {};
  return withoutUndefined({
    ...kept,
    id: newSessionId,
    session_id: newSessionId,
    forked_from_id: meta && stringAt(meta, 'id'),
    timestamp: at,
    originator: BATON_ORIGINATOR,
    cwd: (meta && stringAt(meta, 'cwd')) ?? '/',
    cli_version: (meta && stringAt(meta, 'cli_version')) ?? WRITTEN_AS_VERSION,
  });
}

/** The header of a separate file: not numbered, with a new count of windows. */
function sessionMeta({ meta, settings, tail, at, newSessionId }: SessionToWrite): JsonObject {
  if (tail?.meta !== undefined && tail.layout === 'wrapped') {
    const forked = forkedMeta(tail.meta, newSessionId, at);
    const { history_mode: _mode, context_window: _window, ...kept } = forked;
    const { forked_from_ordinal_exclusive: _ordinal, ...own } = kept;
    return own;
  }
  // Without a provider or base instructions, Codex uses its configured ones.
  return withoutUndefined({
    id: newSessionId,
    session_id: newSessionId,
    timestamp: at,
    cwd: settings.cwd ?? meta.cwd ?? '/',
    originator: BATON_ORIGINATOR,
    cli_version: WRITTEN_AS_VERSION,
    source: 'cli',
    git: meta.gitBranch === undefined ? undefined : { branch: meta.gitBranch },
  });
}

function requireNoRefs({ keptRefs }: CompactedRecord): void {
  if (keptRefs !== undefined && keptRefs.length > 0) {
    throw new RangeError('A rollout has no references to lines: put the kept items into the replacement');
  }
}

/** What Codex itself would estimate: items and base instructions. */
export function estimateContext(items: readonly Item[], { meta }: CodexTail): number {
  return items.reduce((sum, item) => sum + sumTokens(itemTokens(item)), instructionTokens(meta));
}

// oxlint-disable-next-line max-params -- the four parts of every line
function line(timestamp: string, type: string, payload: JsonObject, more?: JsonObject): string {
  const { ordinal, ...rest } = more ?? {};
  return JSON.stringify({ timestamp, ...(ordinal !== undefined && { ordinal }), type, payload, ...rest });
}
