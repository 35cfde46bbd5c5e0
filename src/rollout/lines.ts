// Converts records of Baton's own sessions to the lines of a rollout. Every line has one of Codex's shapes; what that shape
// cannot express is added beside it, so that Baton's reader restores the same record. Pure: the context holds what depends on the
// file so far.

import { ECHO, OWN_VERSION } from '../formats/codex/own-records.ts';
import { BATON_ORIGINATOR, numberAt, withoutUndefined } from '../formats/codex/shapes.ts';
import type { CodexTail } from '../formats/codex/tail.ts';
import { toOwnWire } from '../formats/codex/wire.ts';
import {
  replacementOf,
  summaryOf,
  usageEvent,
  estimateContext,
  windowLines,
  WRITTEN_AS_VERSION,
} from '../formats/codex/write.ts';
import type { TokenUsage, TypedPayload } from '../formats/codex/write.ts';
import type { Item, JsonObject } from '../protocol/item.ts';
import type {
  CompactedRecord,
  EventRecord,
  ItemRecord,
  LogRecord,
  SessionMetaRecord,
  SettingsRecord,
  TurnRecord,
  UsageRecord,
} from '../protocol/record.ts';

/** One line of a rollout, as a value. */
export type RolloutLine = JsonObject & {
  readonly timestamp: string;
  readonly type: string;
  readonly payload: JsonObject;
};

/** The position in another session from which a fork continues. */
export interface ForkBase {
  readonly threadId: string;
  /** Offset in that session's own file of the first byte that is not part of the fork. */
  readonly endByte: number;
}

/** What a line depends on besides its record. */
export interface LineContext {
  /** The file so far. */
  readonly tail: CodexTail;
  /** The history after the record; used where Codex needs the complete history. */
  readonly historyAfter: (record: RewritingRecord) => readonly Item[];
  /** A UUID for the context window that an undo begins. */
  readonly windowId: () => string;
}

/** Records that change more than the end of the history without containing the result. */
export type RewritingRecord = Extract<
  LogRecord,
  { type: 'micro_compacted' | 'undo_compaction' | 'undo_turn' }
>;

/** Whether a record changes more than the end of the history. */
export function isRewriting(record: LogRecord): record is RewritingRecord {
  return REWRITING.has(record.type);
}

const REWRITING: ReadonlySet<LogRecord['type']> = new Set([
  'micro_compacted',
  'undo_compaction',
  'undo_turn',
]);

/** Whether a record must survive a crash of the machine and not only of the process. @source spec 4-session §3 */
export function isSyncPoint({ type }: LogRecord): boolean {
  return SYNC_POINTS.has(type);
}

const SYNC_POINTS: ReadonlySet<LogRecord['type']> = new Set([
  'turn_complete',
  'turn_aborted',
  'compacted',
  'micro_compacted',
  'undo_compaction',
  'undo_turn',
]);

/** The first line of a rollout, which names the thread. */
export function headLine(
  record: SessionMetaRecord & { readonly sessionId: string; readonly at: string },
  base?: ForkBase,
): RolloutLine {
  const { at, ...meta } = record;
  return {
    ...metaLine(at, meta),
    payload: withoutUndefined({
      ...metaPayload(at, meta),
      forked_from_id: base?.threadId,
      history_base: base && { thread_id: base.threadId, end_byte_offset: base.endByte },
    }),
  };
}

/**
 * The lines of a record, in order: at most two.
 * @throws RangeError for a record that Baton's rollouts cannot hold: one that refers to lines of another format, or an event
 * whose type means something else to Codex
 */
export function recordLines(
  record: LogRecord & { readonly at: string },
  context: LineContext,
): readonly RolloutLine[] {
  const { line: _, at, ...rest } = record;
  switch (rest.type) {
    case 'item':
      return [itemLine(at, rest)];
    case 'session_meta':
      return [metaLine(at, rest)];
    case 'settings':
      return [withRecord(lineOf(at, ['turn_context', settingsPayload(rest)]), rest)];
    case 'usage':
      return [withRecord(lineOf(at, ['event_msg', usagePayload(rest, context.tail)]), rest)];
    case 'turn_started':
    case 'turn_complete':
    case 'turn_aborted':
      return [withRecord(lineOf(at, ['event_msg', turnPayload(rest, context.tail)]), rest)];
    case 'compacted':
      return compactedLines(at, rest, context);
    case 'micro_compacted':
    case 'undo_compaction':
    case 'undo_turn':
      return rewritingLines(at, rest, context);
    case 'event':
      return [eventLine(at, rest)];
    case 'note':
      return [lineOf(at, ['baton_note', { kind: rest.kind, value: rest.value }])];
    case 'opaque':
    case 'side_item':
      return [lineOf(at, ['baton_record', asJson(rest)])];
  }
}

function lineOf(timestamp: string, [type, payload]: TypedPayload): RolloutLine {
  return { timestamp, type, payload };
}

/** Types of Baton have no index signature, but all of them are JSON. */
function asJson(value: object): JsonObject {
  return value as JsonObject;
}

function withRecord(line: RolloutLine, record: object): RolloutLine {
  return { ...line, baton: { record: asJson(record) } };
}

function itemLine(at: string, { item, ref }: ItemRecord): RolloutLine {
  if (ref !== undefined) throw new RangeError('Items of a rollout have no names that others refer to');
  const wire = toOwnWire(item);
  if (wire.place === 'beside') return lineOf(at, ['baton_item', wire.item]);
  const line = lineOf(at, ['response_item', wire.payload]);
  return wire.marks === undefined ? line : { ...line, baton: wire.marks };
}

function metaLine(at: string, meta: SessionMetaRecord): RolloutLine {
  const { instructions: _, ...record } = meta;
  const line = lineOf(at, ['session_meta', metaPayload(at, meta)]);
  return { ...line, baton: { version: OWN_VERSION, record: asJson(record) } };
}

function metaPayload(at: string, meta: SessionMetaRecord): JsonObject {
  // Without a provider, Codex uses its configured one; it ignores later heads.
  return withoutUndefined({
    id: meta.sessionId,
    session_id: meta.sessionId,
    timestamp: at,
    cwd: meta.cwd ?? '/',
    originator: BATON_ORIGINATOR,
    // Readers use the Codex version whose shapes these are; Baton's own version is in the record.
    cli_version: WRITTEN_AS_VERSION,
    source: 'cli',
    base_instructions: meta.instructions === undefined ? undefined : { text: meta.instructions },
    git: meta.gitBranch === undefined ? undefined : { branch: meta.gitBranch },
  });
}

function settingsPayload({ model, cwd }: SettingsRecord): JsonObject {
  return withoutUndefined({ cwd, model });
}

function usagePayload({ usage }: UsageRecord, tail: CodexTail): JsonObject {
  const spent = tail.totalTokenUsage ?? {};
  if (usage.source === 'estimated') return usageEvent(tail, spent, { total_tokens: usage.total });
  const output = usage.output ?? 0;
  const last: TokenUsage = {
    // A request without an answer is not an estimate, but Codex treats a total without parts as one.
    input_tokens: usage.covers === 'request' ? usage.total : Math.max(0, usage.total - output),
    cached_input_tokens: usage.cachedInput ?? 0,
    output_tokens: output,
    reasoning_output_tokens: usage.reasoningOutput ?? 0,
    total_tokens: usage.total,
  };
  const sums = Object.entries(last).map(([key, tokens]) => [key, (numberAt(spent, key) ?? 0) + tokens]);
  return usageEvent(tail, Object.fromEntries(sums) as JsonObject, last);
}

const TURN_EVENTS = {
  turn_started: 'task_started',
  turn_complete: 'task_complete',
  turn_aborted: 'turn_aborted',
} as const;

function turnPayload({ type, turnId, reason, lastAgentMessage }: TurnRecord, tail: CodexTail): JsonObject {
  return withoutUndefined({
    type: TURN_EVENTS[type],
    turn_id: turnId,
    model_context_window: type === 'turn_started' ? tail.modelContextWindow : undefined,
    last_agent_message: type === 'turn_complete' ? lastAgentMessage : undefined,
    reason: type === 'turn_aborted' ? (reason ?? 'interrupted') : undefined,
  });
}

/** Events that have their own records: written as displayed events they would be misread. */
const RECORDED_EVENTS: ReadonlySet<string> = new Set([
  'token_count',
  'task_started',
  'turn_started',
  'task_complete',
  'turn_complete',
  'turn_aborted',
]);

function eventLine(at: string, { event }: EventRecord): RolloutLine {
  if (RECORDED_EVENTS.has(event.type)) {
    throw new RangeError(`${event.type} has its own record and is not recorded as an event`);
  }
  return withRecord(lineOf(at, ['event_msg', event]), { type: 'event' });
}

function compactedLines(at: string, record: CompactedRecord, { tail }: LineContext): readonly RolloutLine[] {
  const { replacement, ...rest } = record;
  if ((record.keptRefs ?? record.replacementRefs) !== undefined) {
    throw new RangeError('A rollout has no references to lines: put the kept items into the replacement');
  }
  const message = summaryOf(replacement);
  const written = replacementOf(replacement, (item) => toOwnWire(item, message), message);
  const next = {
    windowId: record.id,
    totalTokens: record.postTokens ?? estimateContext(replacement, tail),
    notes: { record: asJson(rest) },
  };
  return newWindow(at, windowLines(tail, written, next));
}

/** Codex does not know such records; for it, a new history replaces the old one. */
function rewritingLines(at: string, record: RewritingRecord, context: LineContext): readonly RolloutLine[] {
  if ('newRefs' in record && record.newRefs !== undefined)
    throw new RangeError('A rollout has no names of lines to change');
  const items = context.historyAfter(record);
  const written = replacementOf(items, (item) => toOwnWire(item), '');
  const next = {
    windowId: record.type === 'micro_compacted' ? record.id : context.windowId(),
    totalTokens: estimateContext(items, context.tail),
    notes: {
      ...(record.type === 'undo_compaction' && { undo: record.compactionId }),
      record: asJson(record),
    },
  };
  return newWindow(at, windowLines(context.tail, written, next));
}

function newWindow(at: string, [compacted, usage]: ReturnType<typeof windowLines>): readonly RolloutLine[] {
  return [lineOf(at, compacted), { ...lineOf(at, usage), baton: ECHO }];
}
