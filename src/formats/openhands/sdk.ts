// Events of the OpenHands SDK (version 1), each with its kind.

import type { Item, Json, JsonObject } from '../../protocol/item.ts';
import { arrayAt, countAt, objectAt, objectsAt, stringAt } from '../fields.ts';
import {
  compactionItems,
  functionCall,
  functionResult,
  HARNESS,
  partsMessage,
  partsOf,
  reasoning,
  textMessage,
} from '../items.ts';
import { KeptRefs } from '../agents/kept-refs.ts';
import type { RecordEmitter } from '../record-emitter.ts';
import { eventId, forgottenIds } from './events.ts';

const KINDS: ReadonlySet<unknown> = new Set([
  'SystemPromptEvent',
  'MessageEvent',
  'ActionEvent',
  'ObservationEvent',
  'AgentErrorEvent',
  'UserRejectObservation',
  'Condensation',
  'CondensationRequest',
  'CondensationSummaryEvent',
  'ConversationStateUpdateEvent',
  'ConversationErrorEvent',
  'PauseEvent',
  'TokenEvent',
]);

/** Whether a value is an event of the SDK. */
export function isSdkEvent(value: JsonObject): boolean {
  return KINDS.has(value['kind']);
}

/** Reads the events of one conversation in order. */
export class SdkEventReader {
  readonly #emitter: RecordEmitter;
  #refs: string[] = [];
  readonly #kept = new KeptRefs<JsonObject>((message) => this.#emitter.damage('wrong_shape', message));
  #count = 0;

  constructor(emitter: RecordEmitter) {
    this.#emitter = emitter;
  }

  accept(event: JsonObject): void {
    this.#count++;
    const kind = stringAt(event, 'kind') ?? 'event';
    const ref = eventId(event) ?? `event-${this.#count}`;
    this.#emitter.date(event['timestamp']);
    if (kind === 'Condensation') {
      this.#condensation(event, ref);
      return;
    }
    const items = sdkItems(kind, event, () =>
      this.#emitter.damage('wrong_shape', 'A content of unknown shape'),
    );
    this.#emitter.items(items, ref);
    if (items.length > 0) this.#refs.push(ref);
    else this.#emitter.opaque(kind);
  }

  #condensation(event: JsonObject, ref: string): void {
    const forgotten = forgottenIds(event);
    const summary = stringAt(event, 'summary');
    const kept = this.#kept.of(event, () => this.#refs.filter((each) => !forgotten(each)));
    this.#refs = [...kept];
    this.#emitter.record({
      type: 'compacted',
      id: ref,
      replacement:
        summary === undefined ? [] : compactionItems(ref, summary, { at: stringAt(event, 'timestamp') }),
      keptRefs: kept,
      ...(summary === undefined ? {} : { summary }),
    });
  }
}

function sdkItems(kind: string, event: JsonObject, onOdd: () => void): readonly Item[] {
  switch (kind) {
    case 'SystemPromptEvent':
      return textMessage('system', textOf(event['system_prompt']));
    case 'MessageEvent':
      return messageItems(event, onOdd);
    case 'ActionEvent':
      return actionItems(event, onOdd);
    case 'ObservationEvent':
    case 'AgentErrorEvent':
    case 'UserRejectObservation':
      return [resultItem(kind, event, onOdd)];
    default:
      return [];
  }
}

function messageItems(event: JsonObject, onOdd: () => void): readonly Item[] {
  const message = objectAt(event, 'llm_message') ?? {};
  const isAgent = (stringAt(message, 'role') ?? stringAt(event, 'source')) !== 'user';
  const role = isAgent ? 'assistant' : 'user';
  const spoken = partsMessage(role, partsOf(role, message['content'], onOdd));
  // Knowledge that the client adds to the user's message.
  const added = partsMessage('user', partsOf('user', event['extended_content'], onOdd), { origin: HARNESS });
  return [...reasoning(stringAt(message, 'reasoning_content') ?? ''), ...spoken, ...added];
}

function actionItems(event: JsonObject, onOdd: () => void): readonly Item[] {
  const call = objectAt(event, 'tool_call') ?? {};
  const body = objectAt(call, 'function') ?? call;
  const callId = stringAt(event, 'tool_call_id') ?? stringAt(call, 'id') ?? eventId(event) ?? '';
  const name = stringAt(event, 'tool_name') ?? stringAt(body, 'name') ?? 'unknown';
  return [
    ...reasoning(stringAt(event, 'reasoning_content') ?? ''),
    ...partsMessage('assistant', partsOf('assistant', event['thought'], onOdd)),
    functionCall(callId, name, body['arguments'] ?? event['action']),
  ];
}

function resultItem(kind: string, event: JsonObject, onOdd: () => void): Item {
  const callId = stringAt(event, 'tool_call_id') ?? '';
  const observation = objectAt(event, 'observation') ?? {};
  const failure = stringAt(event, 'error') ?? stringAt(event, 'rejection_reason');
  const text = failure ?? stringAt(observation, 'output') ?? stringAt(observation, 'content');
  const exitCode = countAt(observation, 'exit_code');
  const isFailed = kind !== 'ObservationEvent' || observation['is_error'] === true;
  const parts =
    arrayAt(observation, 'content').length > 0 ? partsOf('user', observation['content'], onOdd) : [];
  return functionResult(callId, text ?? (parts.length > 0 ? parts : textOf(observation)), {
    success: isFailed ? false : exitCode === undefined ? undefined : exitCode === 0,
    exitCode,
  });
}

/** A text, the text of a text block or of a list of them, or else the JSON. */
function textOf(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'object' && !Array.isArray(value)) {
    const text = (value as JsonObject)['text'];
    if (typeof text === 'string') return text;
  }
  if (Array.isArray(value)) {
    return objectsAt({ value }, 'value')
      .map((block) => stringAt(block, 'text') ?? '')
      .join('\n');
  }
  return JSON.stringify(value);
}
