// Trajectories of SWE-agent (.traj): `history` is what the model received, `trajectory` repeats it step by step.

import type { Item, Json, JsonObject } from '../../protocol/item.ts';
import { chatItems } from '../messages/chat.ts';
import { arrayAt, isJsonObject, objectAt, objectsAt, stringAt, stringsAt } from '../fields.ts';
import { functionResult, HARNESS, partsOf, textMessage } from '../items.ts';
import type { FormatReader } from '../reader.ts';
import { RecordEmitter } from '../record-emitter.ts';

/** How much a value looks like a trajectory of SWE-agent. */
export function looksLikeSweAgent(value: JsonObject): number {
  if (!Array.isArray(value['trajectory']) || 'trajectory_format' in value) return 0;
  if (Array.isArray(value['history'])) return 1;
  return objectsAt(value, 'trajectory').some((step) => 'action' in step && 'observation' in step) ? 0.9 : 0;
}

/** Reads trajectories of SWE-agent from 2024 (actions as text) and later (tool calls). */
export const sweAgentReader: FormatReader = {
  read: (emit, report) => {
    const emitter = new RecordEmitter(emit, report);
    return {
      accept(value, at) {
        emitter.begin(at);
        emitHead(value, emitter);
        const history = arrayAt(value, 'history');
        if (history.length > 0) emitHistory(history, emitter);
        else emitSteps(objectsAt(value, 'trajectory'), emitter);
      },
      end() {
        // A trajectory is one value.
      },
    };
  },
};

function emitHead(value: JsonObject, emitter: RecordEmitter): void {
  const [first] = objectsAt(value, 'trajectory');
  const state = parsedObject(first?.['state']);
  const config = parsedObject(value['replay_config']);
  const version = stringAt(objectAt(value, 'info') ?? {}, 'swe_agent_version');
  emitter.meta({
    sessionId: stringAt(objectAt(objectAt(config, 'problem_statement') ?? {}, 'instance') ?? config, 'id'),
    producerVersion: version,
    cwd: stringAt(state, 'working_dir'),
    textActions: callsTools(value) ? undefined : 'editor',
  });
  emitter.settings({ model: stringAt(objectAt(objectAt(config, 'agent') ?? {}, 'model') ?? {}, 'name') });
  const hasHistory = arrayAt(value, 'history').length > 0;
  if (hasHistory) for (const _ of arrayAt(value, 'trajectory')) emitter.opaque('trajectory_step');
  for (const key of Object.keys(value)) if (!READ_KEYS.has(key)) emitter.opaque(`trajectory/${key}`);
}

/** Whether the agent calls tools, as since 1.0; earlier versions write commands as text. */
function callsTools(value: JsonObject): boolean {
  return objectsAt(value, 'history').some(
    (message) => message['role'] === 'tool' || arrayAt(message, 'tool_calls').length > 0,
  );
}

const READ_KEYS: ReadonlySet<string> = new Set(['trajectory', 'history', 'info', 'replay_config']);

/** An object, or JSON text of one: versions differ. */
function parsedObject(value: Json | undefined): JsonObject {
  if (isJsonObject(value)) return value;
  if (typeof value !== 'string') return {};
  try {
    const parsed: unknown = JSON.parse(value);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function emitHistory(history: readonly Json[], emitter: RecordEmitter): void {
  let isTaskGiven = false;
  for (const message of history) {
    if (!isJsonObject(message)) {
      emitter.damage('not_an_object', 'A message that is not an object was skipped', true);
      continue;
    }
    const items = messageItems(message, (what) => emitter.damage('wrong_shape', what));
    const isPrompt = message['role'] === 'user' && message['is_demo'] !== true;
    const isTask: boolean = isPrompt && !isTaskGiven && message['message_type'] !== 'observation';
    isTaskGiven ||= isTask;
    // Command output is in the user role, and so is the demonstration.
    const isHarness = message['role'] === 'user' && !isTask;
    const isOutput = isHarness && message['is_demo'] !== true;
    emitter.items(
      isHarness
        ? items.map((item) => ({ ...item, origin: HARNESS, ...(isOutput ? { isToolOutput: true } : {}) }))
        : items,
    );
    if (items.length === 0) emitter.opaque(`message/${stringAt(message, 'role') ?? 'untyped'}`);
  }
}

function messageItems(message: JsonObject, onOdd: (what: string) => void): readonly Item[] {
  if (message['role'] !== 'tool') return chatItems(message, onOdd);
  const { content } = message;
  const [callId] = stringsAt(message, 'tool_call_ids');
  const output =
    typeof content === 'string'
      ? content
      : partsOf('user', content, () => onOdd('A result of unknown shape'));
  return [functionResult(callId ?? stringAt(message, 'tool_call_id') ?? '', output)];
}

/** A trajectory without history, as shortened in some collections. */
function emitSteps(steps: readonly JsonObject[], emitter: RecordEmitter): void {
  for (const step of steps) {
    emitter.items(textMessage('assistant', stringAt(step, 'response') ?? stringAt(step, 'action') ?? ''));
    emitter.items(
      textMessage('user', stringAt(step, 'observation') ?? '', { origin: HARNESS, isToolOutput: true }),
    );
  }
}
