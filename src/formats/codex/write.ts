// Writes rollouts that Codex resumes: a compaction or its undo appended to the bytes of a file, or a file of its own.
// Every function returns lines of JSON without line feeds. Clock and ids are parameters.
//
// What is known of how Codex 0.169 resumes a file, measured with the binary, is in `layout` and `windowLines` alone:
// the first line names the thread, and heads further down are ignored; `message` is required, unknown keys are not;
// the last complete token_count of the file is taken for the present usage, so without one behind the compaction Codex
// compacts again at once; and every line of a numbered file must go on with the numbers.

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

/** The version whose shapes are written into files that come from no version of Codex. */
export const WRITTEN_AS_VERSION = '0.169.0';

/** Lines to put around the bytes of a file, which stay as they are. */
export interface CodexAppend {
  /** Before the first byte. */
  readonly head: readonly string[];
  /** After the last byte; the caller ends a last line that has no line feed. */
  readonly tail: readonly string[];
  /** Items that Codex has no place for, such as reasoning of another provider. */
  readonly leftOut: readonly Item[];
}

interface AppendTo {
  /** The file as its reader left it. */
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
  /** The compaction that is taken back. */
  readonly compactionId: string;
  /** The history before it and what came since. */
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
  /** What follows the compaction, or the whole history where there is none. */
  readonly items: readonly Item[];
  /** The format that the items were read from. */
  readonly source: Format;
  /** The rollout that the history comes from, where it comes from one: its head is kept. */
  readonly tail?: CodexTail;
  readonly at: string;
  /** UUID. */
  readonly newSessionId: string;
}

/**
 * A compaction as Codex records its own.
 * @throws RangeError when lines of this layout cannot be appended to (`tail.layout` is `bare`), or when the record refers
 * to lines of another format (`keptRefs`).
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
 * @throws RangeError when lines of this layout cannot be appended to
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

/** A rollout that holds the present context only. */
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

/** A history that replaces another, in Codex's form and with Baton's notes to it. */
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
  /** Tokens of the whole context, instructions and tools included. */
  readonly totalTokens: number;
  /** Of the compaction itself, for Baton alone. */
  readonly notes: JsonObject;
}

/** Where each line goes. */
function layout(to: AppendTo, replacement: ReplacementHistory, next: NextWindow): CodexAppend {
  const { tail, at, newSessionId } = to;
  if (tail.layout === 'bare') {
    throw new RangeError('Nothing can be appended to a rollout without wrapped lines; write a new one');
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

/** The compaction, then what Codex takes for the usage after it. */
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

/** Tokens by what they were used for. */
export type TokenUsage = Readonly<Partial<Record<(typeof USAGE_KEYS)[number], number>>>;

/**
 * A `token_count` with every key: Codex ignores a usage that lacks one.
 * @param spent of all requests so far
 * @param last of the last one
 */
export function usageEvent(tail: CodexTail, spent: JsonObject, last: TokenUsage): JsonObject {
  const info = withoutUndefined({
    total_token_usage: usageOf((key) => numberAt(spent, key) ?? 0),
    last_token_usage: usageOf((key) => last[key] ?? 0),
    model_context_window: tail.modelContextWindow,
  });
  return { type: 'token_count', info };
}

/** Codex's estimate counts its base instructions with the items. @source codex-behaviour §4.5. */
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

/** Without a receipt the size alone is noted, so that the gauge of who reads the file goes on from it. */
function receiptNote({ receipt, postTokens }: CompactedRecord): JsonObject {
  if (receipt !== undefined) return { receipt: receipt as unknown as JsonObject };
  return postTokens === undefined ? {} : { used: postTokens };
}

/** The text of the summary among items that replace a history; empty where there is none. */
export function summaryOf(items: readonly Item[]): string {
  const summary = items.findLast((item) => item.type === 'message' && item.isCompactSummary === true);
  return summary?.type === 'message' ? textOfParts(summary.content) : '';
}

/** The head of a copy: the copied file's own head, under its new name, says where it came from. */
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

/** The head of a file of its own: not numbered, and with windows that start anew. */
function sessionMeta({ meta, settings, tail, at, newSessionId }: SessionToWrite): JsonObject {
  if (tail?.meta !== undefined && tail.layout === 'wrapped') {
    const forked = forkedMeta(tail.meta, newSessionId, at);
    const { history_mode: _mode, context_window: _window, ...kept } = forked;
    const { forked_from_ordinal_exclusive: _ordinal, ...own } = kept;
    return own;
  }
  // Without a provider or base instructions Codex takes those that it is configured with.
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
