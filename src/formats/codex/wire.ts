// Items as Codex writes them. What Codex cannot represent goes beside the payload, for Baton alone, or is left out.

import type { Item, JsonObject, MessageItem, Part, ReasoningItem } from '../../protocol/item.ts';
import type { Format } from '../../vocabulary.ts';
import { isInterpretedType, isItemPayload, readItem } from './items.ts';
import { BATON_FIELDS, marksFor } from './marks.ts';
import { isJsonObject } from '../fields.ts';

/** An item on its way into a rollout. */
export type Wire =
  | {
      readonly place: 'payload';
      readonly payload: JsonObject;
      /** What a reader could not derive from the payload. */
      readonly marks: JsonObject | undefined;
    }
  /** Never sent to a model, but part of the history: stored where only Baton reads it. */
  | { readonly place: 'beside'; readonly item: JsonObject }
  | { readonly place: 'nowhere' };

/**
 * Where an item goes and in which form.
 * @param source the format that the item was read from: foreign items are converted to shapes that Codex knows, because a
 * single unknown part makes Codex skip the whole line
 * @param summaryText the text of the summary among the items, if they replace a history
 */
export function toWire(item: Item, source: Format, summaryText = ''): Wire {
  if (isForBatonAlone(item)) return { place: 'beside', item: item as unknown as JsonObject };
  const payload = source === 'codex' || item.type === 'attachment' ? ownPayload(item) : foreignPayload(item);
  if (payload === undefined || !isItemPayload(payload)) return { place: 'nowhere' };
  const derived = readItem(payload, ignore, { summaryText });
  return { place: 'payload', payload, marks: marksFor(item, derived) };
}

/**
 * Like `toWire`, for a log of Baton's own: nothing of the item is lost. What Codex would not keep goes beside its payload, and
 * items that it cannot represent are stored where only Baton reads them.
 */
export function toOwnWire(item: Item, summaryText = ''): Exclude<Wire, { place: 'nowhere' }> {
  const wire = toWire(item, 'codex', summaryText);
  if (wire.place !== 'payload') return { place: 'beside', item: item as unknown as JsonObject };
  const { payload, marks } = wire;
  if (!isItemPayload(payload)) return { place: 'beside', item: item as unknown as JsonObject };
  const read = readItem(payload, ignore, { summaryText, marks });
  if (isSame(read, item)) return wire;
  return { ...wire, marks: { ...marks, whole: item as unknown as JsonObject } };
}

/** Whether two values are the same JSON, ignoring the order of keys. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((value, index) => isSame(value, b[index]));
  }
  if (!isJsonObject(a) || !isJsonObject(b)) return false;
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => isSame(a[key], b[key]));
}

const ignore = (): void => undefined;

/**
 * A snapshot would reach the model as an item of type "other", and an item of a wrong shape would make Codex skip its line.
 * @source measured with 0.169.
 */
function isForBatonAlone(item: Item): boolean {
  if (item.type === 'unknown') return isInterpretedType(item.raw.type);
  return item.type === 'ghost_snapshot' || item.type === 'compact_boundary';
}

/** The payload of an item that came from a rollout, with all its original keys. */
function ownPayload(item: Item): JsonObject | undefined {
  switch (item.type) {
    case 'attachment':
      return { type: 'message', role: 'user', content: [{ type: 'input_text', text: item.text }] };
    case 'unknown':
      return item.raw;
    case 'reasoning':
      return hasEncryptedContent(item) ? stripped(item, ['text', 'signature']) : undefined;
    case 'message':
      return stripped(item, [], { content: item.content.map(ownPart) });
    case 'function_call_output':
    case 'custom_tool_call_output':
      return typeof item.output === 'string'
        ? stripped(item)
        : stripped(item, [], { output: item.output.map(ownPart) });
    case 'progress':
      return undefined;
    default:
      return stripped(item);
  }
}

function hasEncryptedContent({ encrypted_content: content }: ReasoningItem): boolean {
  return typeof content === 'string' && content !== '';
}

function stripped(item: Item, more: readonly string[] = [], changed: JsonObject = {}): JsonObject {
  const payload: Record<string, JsonObject[string]> = { ...(item as unknown as JsonObject), ...changed };
  for (const field of [...BATON_FIELDS, ...more]) delete payload[field];
  return payload;
}

function ownPart(part: Part): JsonObject {
  return part.type === 'other' ? part.value : (part as unknown as JsonObject);
}

/** The payload of an item that another product recorded: only what Codex knows, without ids of another provider. */
function foreignPayload(item: Item): JsonObject | undefined {
  switch (item.type) {
    case 'message':
      return foreignMessage(item);
    case 'function_call':
      return { type: item.type, name: item.name, arguments: item.arguments, call_id: item.call_id };
    case 'custom_tool_call':
      return {
        type: item.type,
        status: 'completed',
        name: item.name,
        input: item.input,
        call_id: item.call_id,
      };
    case 'local_shell_call':
      return { type: item.type, status: 'completed', call_id: item.call_id, action: item.action };
    case 'function_call_output':
    case 'custom_tool_call_output': {
      const output =
        typeof item.output === 'string'
          ? item.output
          : item.output.map((part) => foreignPart(part, 'input_text'));
      return { type: item.type, call_id: item.call_id, output };
    }
    case 'web_search_call':
      return typeof item.action?.['type'] === 'string'
        ? { type: item.type, status: 'completed', action: item.action }
        : undefined;
    case 'compaction':
      // A compaction that Baton requested from a provider is for whichever agent continues with that provider.
      return item.provider === undefined || item.encrypted_content === undefined
        ? undefined
        : { type: item.type, encrypted_content: item.encrypted_content };
    default:
      // Another provider's reasoning is unreadable, and another product's kinds mean nothing here.
      return undefined;
  }
}

function foreignMessage(item: MessageItem): JsonObject | undefined {
  if (item.isApiErrorMessage === true) return undefined;
  const role = item.role === 'system' ? 'developer' : item.role;
  const textType = role === 'assistant' ? 'output_text' : 'input_text';
  return { type: 'message', role, content: item.content.map((part) => foreignPart(part, textType)) };
}

function foreignPart(part: Part, textType: 'input_text' | 'output_text'): JsonObject {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { type: textType, text: part.text };
    case 'refusal':
      return { type: textType, text: part.refusal };
    case 'input_image':
      return part.image_url === undefined || textType === 'output_text'
        ? { type: textType, text: '[image]' }
        : { type: 'input_image', image_url: part.image_url };
    case 'other':
      return { type: textType, text: JSON.stringify(part.value) };
  }
}
