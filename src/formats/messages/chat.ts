// OpenAI chat messages: arrays, logs of requests, and benchmark trajectories made of them.

import type { Item, Json, JsonObject } from '../../protocol/item.ts';
import { usableWindow } from '../../tokens/pressure.ts';
import { Conversations } from './conversations.ts';
import type { FormatReader } from '../reader.ts';
import { arrayAt, countAt, isJsonObject, objectAt, objectsAt, stringAt } from '../fields.ts';
import {
  functionCall,
  functionResult,
  partsMessage,
  partSummaries,
  partsOf,
  reasoning,
  requestUsage,
} from '../items.ts';
import { RecordEmitter } from '../record-emitter.ts';

const MESSAGE_ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system', 'developer']);

/**
 * How much a value looks like a chat message, or like an object with a list of them: 1 for properties that only chat has, 0.6
 * for a message with nothing but a role and a text, as in all message formats.
 */
export function looksLikeChat(value: JsonObject): number {
  const lists = messageLists(value);
  if (lists.length > 0) return averageLikeness(lists.flat());
  const { role, content } = value;
  if (role === 'tool') return 'tool_call_id' in value ? 1 : 0.6;
  if (role === 'function') return typeof value['name'] === 'string' ? 1 : 0;
  if (!MESSAGE_ROLES.has(role) || 'type' in value || 'message' in value) return 0;
  if (Array.isArray(value['tool_calls']) || isJsonObject(value['function_call'])) return 1;
  if (role === 'system' || role === 'developer') return 0.9;
  if (typeof content === 'string' || content === null) return 0.6;
  if (!Array.isArray(content)) return 0;
  const types = objectsAt(value, 'content').map((block) => block['type']);
  if (types.some((type) => type === 'image_url' || type === 'input_audio')) return 1;
  return types.every((type) => type === 'text') ? 0.6 : 0;
}

function averageLikeness(messages: readonly Json[]): number {
  const looked = messages.slice(0, 64).filter(isJsonObject);
  if (looked.length === 0) return 0;
  return (
    looked.reduce((sum, message) => sum + (isMessage(message) ? looksLikeChat(message) : 0), 0) /
    looked.length
  );
}

function isMessage(value: JsonObject): boolean {
  return typeof value['role'] === 'string';
}

/**
 * The conversations in a value: `messages` of a request, `raw_messages` of an OpenHands log where native calls were rewritten
 * into text, `traj` of tau-bench, `simulations` of tau2. Empty for a value that is itself a message.
 */
function messageLists(value: JsonObject): readonly (readonly Json[])[] {
  if (isMessage(value) || !isPlainHolder(value)) return [];
  const simulations = objectsAt(value, 'simulations').map((each) => arrayAt(each, 'messages'));
  if (simulations.length > 0) return simulations;
  for (const key of ['raw_messages', 'messages', 'traj']) {
    const list = arrayAt(value, key);
    if (list.length > 0) return [list];
  }
  return [];
}

/** Other formats have `messages`, too, but each also has a key of its own. */
function isPlainHolder(value: JsonObject): boolean {
  return !(
    'trajectory_format' in value ||
    'sessionId' in value ||
    'trajectory' in value ||
    'mini_version' in (objectAt(value, 'info') ?? {})
  );
}

/** Reads chat messages. In a file with several conversations, the last one is the context. */
export const chatReader: FormatReader = {
  read: (emit, report) => {
    const conversations = new Conversations(emit);
    const emitter = new RecordEmitter(conversations.add, report);
    return {
      accept(value, at) {
        emitter.begin(at);
        const lists = messageLists(value);
        if (lists.length === 0) emitMessage(value, emitter);
        for (const list of lists) {
          conversations.open();
          for (const message of list) emitMessage(message, emitter);
        }
        if (lists.length > 0) emitRequest(value, emitter);
      },
      end: () => conversations.end(),
    };
  },
};

/** Emits the facts that a request log records around its messages. The answer is not part of what was sent. */
function emitRequest(value: JsonObject, emitter: RecordEmitter): void {
  const response = objectAt(value, 'response') ?? {};
  const window = countAt(value, 'context_window') ?? 0;
  emitter.settings({
    model: stringAt(response, 'model') ?? stringAt(value, 'model'),
    usableWindow: window > 0 ? usableWindow(window) : undefined,
  });
  emitter.usage(chatUsage(objectAt(response, 'usage') ?? objectAt(value, 'usage')));
  for (const key of Object.keys(value)) if (!READ_KEYS.has(key)) emitter.opaque(`request/${key}`);
}

/** The keys read from a holder: its messages, and those that `emitRequest` uses. */
const READ_KEYS: ReadonlySet<string> = new Set([
  'messages',
  'raw_messages',
  'traj',
  'simulations',
  'context_window',
  'model',
  'usage',
]);

/** The provider's count for a request in chat form. */
export function chatUsage(usage: JsonObject | undefined): ReturnType<typeof requestUsage> {
  if (usage === undefined) return undefined;
  return requestUsage({
    input: [usage['prompt_tokens']],
    cachedInput: objectAt(usage, 'prompt_tokens_details')?.['cached_tokens'],
    output: usage['completion_tokens'],
  });
}

function emitMessage(message: Json, emitter: RecordEmitter): void {
  if (!isJsonObject(message)) {
    emitter.damage('not_an_object', 'A message that is not an object was skipped', true);
    return;
  }
  const items = chatItems(message, (what) => emitter.damage('wrong_shape', what));
  if (items.length === 0) emitter.opaque(`message/${stringAt(message, 'role') ?? 'untyped'}`);
  emitter.items(partSummaries(items));
}

/**
 * The items of one chat message, in the order in which a model receives them: reasoning, text, calls.
 * @param onOdd called for content in a form that chat does not have
 */
export function chatItems(message: JsonObject, onOdd: (what: string) => void): Item[] {
  const { role } = message;
  const odd = (): void => onOdd(`A part of a ${String(role)} message has an unknown shape; skipped`);
  switch (role) {
    case 'assistant':
      return [
        ...reasoning(stringAt(message, 'reasoning_content') ?? stringAt(message, 'reasoning') ?? ''),
        ...partsMessage('assistant', assistantParts(message, odd)),
        ...calls(message, odd),
      ];
    case 'tool':
    case 'function':
      return [toolResult(message, odd)];
    case 'user':
      return partsMessage('user', partsOf('user', message['content'], odd));
    case 'system':
    case 'developer':
      return partsMessage(role, partsOf(role, message['content'], odd));
    default:
      return [];
  }
}

function assistantParts(message: JsonObject, onOdd: () => void): ReturnType<typeof partsOf> {
  const parts = partsOf('assistant', message['content'], onOdd);
  const refusal = stringAt(message, 'refusal') ?? '';
  return refusal === '' ? parts : [...parts, { type: 'refusal', refusal }];
}

/** Calls in both spellings; the older one has no id, so the name pairs it with the result that follows. */
function calls(message: JsonObject, onOdd: () => void): Item[] {
  const items: Item[] = [];
  for (const call of arrayAt(message, 'tool_calls')) {
    const item = isJsonObject(call) ? toolCall(call) : undefined;
    if (item === undefined) onOdd();
    else items.push(item);
  }
  const legacy = objectAt(message, 'function_call');
  const name = stringAt(legacy ?? {}, 'name');
  if (legacy !== undefined && name !== undefined) items.push(functionCall(name, name, legacy['arguments']));
  return items;
}

function toolCall(call: JsonObject): Item | undefined {
  const id = stringAt(call, 'id');
  const body = objectAt(call, 'function') ?? objectAt(call, 'custom');
  const name = stringAt(body ?? {}, 'name');
  if (id === undefined || body === undefined || name === undefined) return undefined;
  const input = stringAt(body, 'input');
  return call['type'] === 'custom' && input !== undefined
    ? { type: 'custom_tool_call', name, input, call_id: id }
    : functionCall(id, name, body['arguments']);
}

function toolResult(message: JsonObject, onOdd: () => void): Item {
  const callId = stringAt(message, 'tool_call_id') ?? stringAt(message, 'name') ?? '';
  const { content } = message;
  return functionResult(callId, typeof content === 'string' ? content : partsOf('user', content, onOdd));
}
