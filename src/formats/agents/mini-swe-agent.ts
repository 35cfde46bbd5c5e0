// Trajectories of mini-swe-agent: the messages as sent, each answer with the complete API response.

import type { Item, Json, JsonObject } from '../../protocol/item.ts';
import { chatItems, chatUsage } from '../messages/chat.ts';
import { arrayAt, isJsonObject, objectAt, stringAt } from '../fields.ts';
import { HARNESS } from '../items.ts';
import { isItemPayload, readItem } from '../codex/items.ts';
import type { FormatReader } from '../reader.ts';
import { responseUsage } from '../messages/responses.ts';
import { RecordEmitter } from '../record-emitter.ts';

/** How much a value looks like a trajectory of mini-swe-agent. */
export function looksLikeMiniSweAgent(value: JsonObject): number {
  if (!Array.isArray(value['messages'])) return 0;
  if ((stringAt(value, 'trajectory_format') ?? '').startsWith('mini-swe-agent')) return 1;
  return 'mini_version' in (objectAt(value, 'info') ?? {}) ? 1 : 0;
}

/** Reads trajectories of mini-swe-agent. */
export const miniSweAgentReader: FormatReader = {
  read: (emit, report) => {
    const emitter = new RecordEmitter(emit, report);
    return {
      accept(value, at) {
        emitter.begin(at);
        emitHead(value, emitter);
        let isTaskGiven = false;
        for (const message of arrayAt(value, 'messages')) {
          emitMessage(message, emitter, isTaskGiven);
          isTaskGiven ||= isJsonObject(message) && message['role'] === 'user';
        }
      },
      end() {
        // A trajectory is one value.
      },
    };
  },
};

function emitHead(value: JsonObject, emitter: RecordEmitter): void {
  const info = objectAt(value, 'info') ?? {};
  const config = objectAt(info, 'config') ?? {};
  emitter.meta({
    sessionId: stringAt(value, 'instance_id'),
    producerVersion: stringAt(info, 'mini_version'),
    cwd: stringAt(objectAt(config, 'environment') ?? {}, 'cwd'),
    textActions: callsTools(arrayAt(value, 'messages')) ? undefined : 'shell',
  });
  emitter.settings({ model: stringAt(objectAt(config, 'model') ?? {}, 'model_name') });
  for (const key of Object.keys(value)) if (!READ_KEYS.has(key)) emitter.opaque(`trajectory/${key}`);
}

const READ_KEYS: ReadonlySet<string> = new Set(['info', 'messages', 'trajectory_format', 'instance_id']);

/** Whether the agent calls tools, as since version 2; earlier versions write commands as text. */
function callsTools(messages: readonly Json[]): boolean {
  return messages.some(
    (message) =>
      isJsonObject(message) &&
      (message['role'] === 'tool' ||
        message['object'] === 'response' ||
        arrayAt(message, 'tool_calls').length > 0),
  );
}

/** @param isTaskGiven the first message in the user role is the task; the others are command output */
function emitMessage(message: Json, emitter: RecordEmitter, isTaskGiven: boolean): void {
  if (!isJsonObject(message)) {
    emitter.damage('not_an_object', 'A message that is not an object was skipped', true);
    return;
  }
  const extra = objectAt(message, 'extra') ?? {};
  const response = objectAt(extra, 'response') ?? message;
  emitter.date(timestampOf(extra, response));
  emitter.usage(chatUsage(objectAt(response, 'usage')));
  const items = messageItems(message, emitter);
  const isOutput = isTaskGiven && message['role'] === 'user';
  emitter.items(isOutput ? items.map((item) => ({ ...item, origin: HARNESS, isToolOutput: true })) : items);
  if (message['object'] === 'response') emitter.usage(responseUsage(objectAt(message, 'usage')));
  if (items.length === 0) emitter.opaque(`message/${stringAt(message, 'role') ?? 'untyped'}`);
}

/** Seconds since the epoch, of the message or of the answer. */
function timestampOf(extra: JsonObject, response: JsonObject): number | undefined {
  const seconds = extra['timestamp'] ?? response['created'];
  return typeof seconds === 'number' ? seconds * 1000 : undefined;
}

function messageItems(message: JsonObject, emitter: RecordEmitter): readonly Item[] {
  const onOdd = (what: string): void => emitter.damage('wrong_shape', what);
  // Since version 2 an answer may come from the Responses API, and a result may be one of its items.
  const items = message['object'] === 'response' ? arrayAt(message, 'output') : [message];
  return items.flatMap((item): readonly Item[] => {
    if (!isJsonObject(item)) return [];
    return isItemPayload(item) && item['role'] === undefined
      ? [readItem(item, onOdd)]
      : chatOrItem(item, onOdd);
  });
}

function chatOrItem(item: JsonObject, onOdd: (what: string) => void): readonly Item[] {
  return item['type'] === 'message' && isItemPayload(item) && Array.isArray(item['content'])
    ? [readItem(item, onOdd)]
    : chatItems(item, onOdd);
}
