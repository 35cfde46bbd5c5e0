// Records that Baton itself wrote. Their lines have Codex's shapes, so that Codex and existing viewers can read them; the rest
// is under the key `baton`, so that Baton reads exactly the record that it wrote.

import * as z from 'zod';
import type { JsonObject } from '../../protocol/item.ts';
import type { CompactedRecord, LogRecord } from '../../protocol/record.ts';
import { TURN_STOP_REASONS, TASK_KINDS } from '../../vocabulary.ts';
import { isJsonObject, objectAt } from '../fields.ts';
import { readWhole } from './verbatim-items.ts';

/** The version of headers that this reader understands. A later version may give the same keys other meanings. */
export const OWN_VERSION = 1;

/** The value of `baton` on a line that repeats another one for Codex. */
export const ECHO: JsonObject = { echo: true };

/** A record without the parts that its line holds in Codex's shape. */
export type OwnRecord =
  | Exclude<LogRecord, { type: 'item' | 'compacted' }>
  /** Codex's shape holds its replacement. */
  | Omit<CompactedRecord, 'replacement'>;

/** The shapes of records in a file. Unknown keys are kept. */
function recordSchema() {
  const count = z.number();
  const refs = z.array(z.tuple([z.string(), z.string()])).optional();
  const turn = {
    turnId: z.string().optional(),
    kind: z.enum(TASK_KINDS).optional(),
    origin: z
      .union([
        z.looseObject({ type: z.literal('user'), messageId: z.string().optional() }),
        z.looseObject({ type: z.literal('watcher'), number: count }),
      ])
      .optional(),
    reason: z.enum(['interrupted', 'replaced', 'failed']).optional(),
    errorCode: z.string().optional(),
    stopReason: z.enum(TURN_STOP_REASONS).optional(),
    lastAgentMessage: z.string().optional(),
  };
  const compaction = {
    id: z.string(),
    trigger: z.enum(['manual', 'auto']).optional(),
    preTokens: count.optional(),
    receipt: z.looseObject({ version: z.literal(1), id: z.string() }).optional(),
  };

  return z.discriminatedUnion('type', [
    z.looseObject({
      type: z.literal('session_meta'),
      sessionId: z.string().optional(),
      cwd: z.string().optional(),
      producerVersion: z.string().optional(),
      gitBranch: z.string().optional(),
      instructions: z.string().optional(),
    }),
    z.looseObject({
      type: z.literal('settings'),
      model: z.string().optional(),
      modelProvider: z.string().optional(),
      cwd: z.string().optional(),
      usableWindow: count.optional(),
    }),
    z.looseObject({
      type: z.literal('usage'),
      usage: z.looseObject({
        source: z.enum(['reported', 'estimated']),
        covers: z.enum(['response', 'request', 'history']),
        total: count,
        cachedInput: count.optional(),
        output: count.optional(),
        reasoningOutput: count.optional(),
      }),
    }),
    z.looseObject({ type: z.literal('turn_started'), ...turn }),
    z.looseObject({ type: z.literal('turn_complete'), ...turn }),
    z.looseObject({ type: z.literal('turn_aborted'), ...turn }),
    z.looseObject({
      type: z.literal('compacted'),
      ...compaction,
      phase: z.enum(['standalone_turn', 'pre_turn', 'mid_turn', 'post_turn']).optional(),
      postTokens: count.optional(),
      summary: z.string().optional(),
    }),
    z.looseObject({
      type: z.literal('micro_compacted'),
      ...compaction,
      callIds: z.array(z.string()),
      tokensSaved: count.optional(),
      newRefs: refs,
    }),
    z.looseObject({ type: z.literal('undo_compaction'), compactionId: z.string(), newRefs: refs }),
    z.looseObject({ type: z.literal('undo_turn'), turnId: z.string() }),
    z.looseObject({ type: z.literal('event'), event: z.looseObject({ type: z.string() }) }),
    z.looseObject({ type: z.literal('note'), kind: z.string(), value: z.looseObject({}) }),
    z.looseObject({ type: z.literal('opaque'), kind: z.string() }),
    z.looseObject({
      type: z.literal('side_item'),
      item: z.custom((value) => isJsonObject(value) && readWhole(value) !== undefined),
      why: z.enum(['subagent', 'abandoned_branch', 'other_conversation']),
    }),
  ]);
}

/** Created at the first line that is read: a mere writer needs none. */
let ownRecordSchema: ReturnType<typeof recordSchema> | undefined;

/** The record on a line of Baton's own; undefined for any other line, and for an invalid record. */
export function readOwnRecord(type: string, payload: JsonObject, line: JsonObject): OwnRecord | undefined {
  const value = ownValue(type, payload, line);
  if (value === undefined) return undefined;
  ownRecordSchema ??= recordSchema();
  // The schema only validates: the value keeps its own keys.
  return ownRecordSchema.safeParse(value).success ? (value as unknown as OwnRecord) : undefined;
}

function ownValue(type: string, payload: JsonObject, line: JsonObject): JsonObject | undefined {
  switch (type) {
    case 'baton_record':
      return payload;
    case 'baton_note':
      return { ...payload, type: 'note' };
    case 'compacted':
      return objectAt(objectAt(payload, 'baton') ?? {}, 'record');
    case 'session_meta':
      return ownMeta(payload, line);
    case 'event_msg':
      return ownEvent(payload, line);
    default:
      return recordAt(line);
  }
}

function recordAt(line: JsonObject): JsonObject | undefined {
  return objectAt(objectAt(line, 'baton') ?? {}, 'record');
}

/** Instructions may be long, and are only in the payload. */
function ownMeta(payload: JsonObject, line: JsonObject): JsonObject | undefined {
  const record = recordAt(line);
  const base = objectAt(payload, 'base_instructions');
  return record === undefined || base === undefined ? record : { ...record, instructions: base['text'] };
}

function ownEvent(payload: JsonObject, line: JsonObject): JsonObject | undefined {
  const record = recordAt(line);
  return record?.['type'] === 'event' ? { type: 'event', event: payload } : record;
}
