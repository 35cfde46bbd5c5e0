// Anthropic messages: arrays, and requests with a separate system prompt.

import type { Item, Json, JsonObject } from '../../protocol/item.ts';
import { assistantItems, userItems } from '../claude-code/items.ts';
import { usageSample } from '../claude-code/usage.ts';
import { Conversations } from './conversations.ts';
import { arrayAt, isJsonObject, objectsAt, stringAt } from '../fields.ts';
import { partsMessage, partSummaries, partsOf } from '../items.ts';
import type { FormatReader } from '../reader.ts';
import { RecordEmitter } from '../record-emitter.ts';

const BLOCKS: ReadonlySet<unknown> = new Set([
  'tool_use',
  'tool_result',
  'thinking',
  'redacted_thinking',
  'server_tool_use',
  'mcp_tool_use',
  'document',
]);

/**
 * How much a value looks like an Anthropic message, or a request of them: 1 for blocks that only Anthropic has, 0.59 for a
 * message with nothing but a role and a text (chat has the same, and more often).
 */
export function looksLikeAnthropic(value: JsonObject): number {
  const { role, content } = value;
  if (role === undefined) return likenessOfRequest(value);
  if (role !== 'user' && role !== 'assistant') return 0;
  if ('tool_calls' in value || 'function_call' in value || 'uuid' in value) return 0;
  if (value['type'] === 'message') return typeof value['stop_reason'] === 'string' ? 1 : 0;
  if ('type' in value) return 0;
  if (typeof content === 'string') return 0.59;
  if (!Array.isArray(content)) return 0;
  const blocks = objectsAt(value, 'content');
  if (blocks.some(isOwnBlock)) return 1;
  return blocks.every(({ type }) => type === 'text') ? 0.59 : 0;
}

function isOwnBlock(block: JsonObject): boolean {
  return BLOCKS.has(block['type']) || (block['type'] === 'image' && isJsonObject(block['source']));
}

function likenessOfRequest(value: JsonObject): number {
  const messages = arrayAt(value, 'messages').slice(0, 64).filter(isJsonObject);
  if (messages.length === 0) return 0;
  const average =
    messages.reduce(
      (sum, message) => sum + (message['role'] === undefined ? 0 : looksLikeAnthropic(message)),
      0,
    ) / messages.length;
  // Only Anthropic has a system prompt beside the messages.
  const hasSystem = typeof value['system'] === 'string' || Array.isArray(value['system']);
  return hasSystem && average > 0 ? Math.max(average, 0.95) : average;
}

/** Reads Anthropic messages. In a file with several requests, the last one is the context. */
export const anthropicReader: FormatReader = {
  read: (emit, report) => {
    const conversations = new Conversations(emit);
    const emitter = new RecordEmitter(conversations.add, report);
    return {
      accept(value, at) {
        emitter.begin(at);
        if (typeof value['role'] === 'string' || !Array.isArray(value['messages'])) {
          emitMessage(value, emitter);
          return;
        }
        conversations.open();
        emitter.settings({ model: stringAt(value, 'model') });
        emitter.items(
          partsMessage(
            'system',
            partsOf('system', value['system'], () => undefined),
          ),
        );
        for (const message of arrayAt(value, 'messages')) emitMessage(message, emitter);
        for (const key of Object.keys(value)) if (!READ_KEYS.has(key)) emitter.opaque(`request/${key}`);
      },
      end: () => conversations.end(),
    };
  },
};

const READ_KEYS: ReadonlySet<string> = new Set(['messages', 'system', 'model']);

function emitMessage(message: Json, emitter: RecordEmitter): void {
  if (!isJsonObject(message)) {
    emitter.damage('not_an_object', 'A message that is not an object was skipped', true);
    return;
  }
  const { role } = message;
  // API answers contain their model and cost; arrays for sending contain neither.
  if (role === 'assistant') emitter.settings({ model: stringAt(message, 'model') });
  const items = messageItems(message);
  if (items.length === 0) emitter.opaque(`message/${typeof role === 'string' ? role : 'untyped'}`);
  if (role === 'assistant') emitter.usage(usageSample(message['usage']));
  emitter.items(partSummaries(items));
}

function messageItems(message: JsonObject): Item[] {
  switch (message['role']) {
    case 'assistant':
      return assistantItems({ message });
    case 'user':
      return userItems({ message });
    case 'system':
      return partsMessage(
        'system',
        partsOf('system', message['content'], () => undefined),
      );
    default:
      return [];
  }
}
