// OpenAI Responses: arrays of input items, requests (`input`) and answers (`output`).

import type { Json, JsonObject } from '../../protocol/item.ts';
import type { UsageSample } from '../../protocol/usage.ts';
import { isItemPayload, isItemType, readItem } from '../codex/items.ts';
import { Conversations } from './conversations.ts';
import { arrayAt, countAt, isJsonObject, objectAt, objectsAt, stringAt } from '../fields.ts';
import { partSummaries } from '../items.ts';
import type { FormatReader } from '../reader.ts';
import { RecordEmitter } from '../record-emitter.ts';

const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer']);
const PARTS: ReadonlySet<unknown> = new Set([
  'input_text',
  'output_text',
  'input_image',
  'input_file',
  'refusal',
]);

/**
 * How much a value looks like a Responses item, or a request or an answer of them: 1 for kinds of items that only Responses
 * have, 0.58 for a message with nothing but a role and a text, as in all message formats. The oldest Codex rollouts contain the
 * same items; their headers and fillers distinguish them.
 */
export function looksLikeResponses(value: JsonObject): number {
  const { type, role } = value;
  if (isHolder(value)) {
    const items = [...arrayAt(value, 'input'), ...arrayAt(value, 'output')].slice(0, 64).filter(isJsonObject);
    if (typeof value['input'] === 'string') return items.length > 0 ? 1 : 0.6;
    if (items.length === 0) return 0;
    return Math.max(
      0.9 * Number(value['object'] === 'response'),
      items.reduce((sum, item) => sum + (isHolder(item) ? 0 : looksLikeResponses(item)), 0) / items.length,
    );
  }
  if ('payload' in value || 'timestamp' in value || 'uuid' in value || 'message' in value) return 0;
  if (type === undefined || type === 'message') return likenessOfMessage(value);
  if (typeof type !== 'string' || role !== undefined) return 0;
  if (type === 'reasoning') return Array.isArray(value['summary']) ? 1 : 0;
  return isItemType(type) ? 1 : 0;
}

function likenessOfMessage(value: JsonObject): number {
  const { type, role, content } = value;
  if (!ROLES.has(role) || 'tool_calls' in value || 'stop_reason' in value) return 0;
  if (typeof content === 'string') return type === 'message' ? 1 : 0.58;
  if (!Array.isArray(content)) return 0;
  return objectsAt(value, 'content').every((part) => PARTS.has(part['type'])) ? 1 : 0;
}

/** Whether a value is a request or an answer rather than an item. */
function isHolder(value: JsonObject): boolean {
  if (typeof value['type'] === 'string' || typeof value['role'] === 'string') return false;
  return (
    Array.isArray(value['input']) ||
    isRequest(value) ||
    (value['object'] === 'response' && Array.isArray(value['output']))
  );
}

function isRequest(value: JsonObject): boolean {
  return typeof value['input'] === 'string' && typeof value['model'] === 'string';
}

/** Reads Responses items. In a file with several requests, the last one is the context. */
export const responsesReader: FormatReader = {
  read: (emit, report) => {
    const conversations = new Conversations(emit);
    const emitter = new RecordEmitter(conversations.add, report);
    return {
      accept(value, at) {
        emitter.begin(at);
        if (!isHolder(value)) {
          emitItem(value, emitter);
          return;
        }
        conversations.open();
        emitHolder(value, emitter);
      },
      end: () => conversations.end(),
    };
  },
};

const READ_KEYS: ReadonlySet<string> = new Set(['input', 'output', 'model', 'instructions', 'usage']);

function emitHolder(value: JsonObject, emitter: RecordEmitter): void {
  emitter.settings({ model: stringAt(value, 'model') });
  emitter.meta({ instructions: stringAt(value, 'instructions') });
  const { input } = value;
  if (typeof input === 'string') emitItem({ role: 'user', content: input }, emitter);
  for (const item of arrayAt(value, 'input')) emitItem(item, emitter);
  for (const item of arrayAt(value, 'output')) emitItem(item, emitter);
  emitter.usage(responseUsage(objectAt(value, 'usage')));
  for (const key of Object.keys(value)) if (!READ_KEYS.has(key)) emitter.opaque(`request/${key}`);
}

/** The provider's count for a request and the answer before the count. */
export function responseUsage(usage: JsonObject | undefined): UsageSample | undefined {
  if (usage === undefined) return undefined;
  const input = countAt(usage, 'input_tokens') ?? 0;
  const output = countAt(usage, 'output_tokens') ?? 0;
  if (input === 0) return undefined;
  return { source: 'reported', covers: 'response', total: input + output, output };
}

function emitItem(value: Json, emitter: RecordEmitter): void {
  if (!isJsonObject(value)) {
    emitter.damage('not_an_object', 'An item that is not an object was skipped', true);
    return;
  }
  const payload = asPayload(value);
  if (!isItemPayload(payload)) {
    emitter.wrongShape('An item without a type or role', 'item/untyped');
    return;
  }
  const item = readItem(payload, (what) => emitter.damage('wrong_shape', `The ${what}`));
  emitter.items(partSummaries([item]));
}

/** Converts a short-form message (without a type, text instead of parts) to the long form. */
function asPayload(value: JsonObject): JsonObject {
  const { type, role, content } = value;
  if (type !== 'message' && (type !== undefined || !ROLES.has(role))) return value;
  if (typeof content !== 'string') return type === undefined ? { ...value, type: 'message' } : value;
  const part = role === 'assistant' ? 'output_text' : 'input_text';
  return { ...value, type: 'message', content: content === '' ? [] : [{ type: part, text: content }] };
}
