// Events of OpenHands up to version 0: actions and their observations.

import type { Item, Json, JsonObject } from '../../protocol/item.ts';
import { chatUsage } from '../messages/chat.ts';
import { arrayAt, objectAt, objectsAt, stringAt } from '../fields.ts';
import { compactionItems, functionCall, functionResult, HARNESS, textMessage } from '../items.ts';
import { KeptRefs } from '../agents/kept-refs.ts';
import type { RecordEmitter } from '../record-emitter.ts';

/** Actions that no model requested, and their observations. */
const BOOKKEEPING: ReadonlySet<unknown> = new Set([
  'null',
  'recall',
  'change_agent_state',
  'agent_state_changed',
  'pause',
  'resume',
  'condensation_request',
]);

/** Fields of an action about how it was carried out, not what was requested. */
const NO_ARGUMENTS: ReadonlySet<string> = new Set([
  'action',
  'thought',
  'is_confirmed',
  'confirmation_state',
  'action_risk',
  'security_risk',
  'keep_prompt',
  'kernel_init_code',
  'hidden',
  'id',
  'timestamp',
  'source',
  'message',
  'tool_call_metadata',
  'llm_metrics',
]);

/** Reads the events of one run in order. */
export class EventReader {
  readonly #emitter: RecordEmitter;
  /** The call that an action became, by the id of its event. */
  readonly #callOf = new Map<string, string>();
  /** Calls in order; answered ones are removed when they are last. */
  readonly #called: string[] = [];
  /** Number of open calls per id. */
  readonly #open = new Map<string, number>();
  readonly #billed = new Set<string>();
  /** Refs of everything in the context, for condensations, which list what they drop. */
  #refs: string[] = [];
  readonly #kept = new KeptRefs<JsonObject>((message) => this.#emitter.damage('wrong_shape', message));
  #count = 0;
  #hasPrompt = false;

  constructor(emitter: RecordEmitter) {
    this.#emitter = emitter;
  }

  accept(event: JsonObject): void {
    this.#count++;
    const ref = eventId(event) ?? `event-${this.#count}`;
    this.#emitter.date(event['timestamp']);
    const { action } = event;
    if (action === 'condensation') this.#condensation(event, ref);
    else if (typeof action === 'string') this.#action(event, action, ref);
    else if (typeof event['observation'] === 'string') this.#observation(event, event['observation'], ref);
    else this.#emitter.opaque('event');
  }

  #emitItems(items: readonly Item[], ref: string, kind: string): void {
    if (items.length === 0) {
      this.#emitter.opaque(kind);
      return;
    }
    this.#refs.push(ref);
    this.#emitter.items(items, ref);
  }

  #action(event: JsonObject, action: string, ref: string): void {
    const kind = `action/${action}`;
    if (BOOKKEEPING.has(action)) {
      this.#emitter.opaque(kind);
      return;
    }
    const args = objectAt(event, 'args') ?? event;
    const text = stringAt(args, 'content') ?? '';
    if (action === 'system') this.#emitItems(textMessage('system', text), ref, kind);
    else if (action === 'message') this.#emitItems(textMessage(this.#speakerOf(event), text), ref, kind);
    else this.#emitItems(this.#callItems(event, action, args), ref, kind);
  }

  /** Early events do not name the speaker: the first message is the task, and others are the agent's. */
  #speakerOf(event: JsonObject): 'user' | 'assistant' {
    const source = stringAt(event, 'source') ?? (this.#hasPrompt ? 'agent' : 'user');
    if (source !== 'user') return 'assistant';
    this.#hasPrompt = true;
    return 'user';
  }

  #callItems(event: JsonObject, action: string, args: JsonObject): readonly Item[] {
    const metadata = objectAt(event, 'tool_call_metadata') ?? {};
    const callId = stringAt(metadata, 'tool_call_id') ?? `action-${this.#count}`;
    this.#bill(metadata);
    const id = eventId(event);
    if (id !== undefined) this.#callOf.set(id, callId);
    this.#called.push(callId);
    this.#open.set(callId, (this.#open.get(callId) ?? 0) + 1);
    const name = stringAt(metadata, 'function_name') ?? action;
    return [
      ...textMessage('assistant', stringAt(args, 'thought') ?? ''),
      functionCall(callId, name, recordedArguments(metadata, callId) ?? ownArguments(args)),
    ];
  }

  /** Each call and result repeats the API's answer. */
  #bill(metadata: JsonObject): void {
    const response = objectAt(metadata, 'model_response') ?? {};
    this.#emitter.settings({ model: stringAt(response, 'model') });
    const id = stringAt(response, 'id');
    if (id === undefined || this.#billed.has(id)) return;
    this.#billed.add(id);
    this.#emitter.usage(chatUsage(objectAt(response, 'usage')));
  }

  #observation(event: JsonObject, observation: string, ref: string): void {
    const kind = `observation/${observation}`;
    const content = event['content'];
    const text = typeof content === 'string' ? content : '';
    if (observation === 'recall') {
      this.#emitItems(textMessage('user', text, { origin: HARNESS }), ref, kind);
      return;
    }
    if (BOOKKEEPING.has(observation)) {
      this.#emitter.opaque(kind);
      return;
    }
    const callId = this.#answeredCall(event);
    // An observation without a call, e.g. an error of the runtime, is sent to the model as it is.
    this.#emitItems(
      callId === undefined
        ? textMessage('user', text, { origin: HARNESS })
        : [functionResult(callId, text, outcomeOf(event, observation))],
      ref,
      kind,
    );
  }

  #answeredCall(event: JsonObject): string | undefined {
    const named = stringAt(objectAt(event, 'tool_call_metadata') ?? {}, 'tool_call_id');
    const { cause } = event;
    const caused =
      typeof cause === 'number' || typeof cause === 'string' ? this.#callOf.get(String(cause)) : undefined;
    const callId = named ?? caused ?? (eventId(event) === undefined ? this.#lastOpen() : undefined);
    const open = callId === undefined ? 0 : (this.#open.get(callId) ?? 0);
    if (callId === undefined || open === 0) return undefined;
    this.#open.set(callId, open - 1);
    return callId;
  }

  #lastOpen(): string | undefined {
    while ((this.#open.get(this.#called.at(-1) ?? '') ?? 0) === 0) {
      if (this.#called.pop() === undefined) return undefined;
    }
    return this.#called.at(-1);
  }

  /** The listed events leave the context; a summary may replace them. */
  #condensation(event: JsonObject, ref: string): void {
    const args = objectAt(event, 'args') ?? event;
    const forgotten = forgottenIds(args);
    const summary = stringAt(args, 'summary');
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

/** The id of an event as text: versions write numbers or texts. */
export function eventId(event: JsonObject): string | undefined {
  const { id } = event;
  return typeof id === 'number' || typeof id === 'string' ? String(id) : undefined;
}

/** Whether a condensation drops an event: it is listed, or between a first and a last one. */
export function forgottenIds(args: JsonObject): (ref: string) => boolean {
  const listed = arrayAt(args, 'forgotten_event_ids');
  const ids = new Set(
    listed.map((id) => (typeof id === 'number' || typeof id === 'string' ? String(id) : '')),
  );
  const from = args['forgotten_events_start_id'];
  const to = args['forgotten_events_end_id'];
  return (ref) => {
    if (ids.has(ref)) return true;
    return typeof from === 'number' && typeof to === 'number' && Number(ref) >= from && Number(ref) <= to;
  };
}

/** The arguments as the model wrote them, if the API's answer was recorded. */
function recordedArguments(metadata: JsonObject, callId: string): Json | undefined {
  const choices = objectsAt(objectAt(metadata, 'model_response') ?? {}, 'choices');
  const calls = choices.flatMap((choice) => objectsAt(objectAt(choice, 'message') ?? {}, 'tool_calls'));
  return objectAt(calls.find(({ id }) => id === callId) ?? {}, 'function')?.['arguments'];
}

function ownArguments(args: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(args).filter(([key]) => !NO_ARGUMENTS.has(key)));
}

function outcomeOf(event: JsonObject, observation: string): { success?: boolean; exitCode?: number } {
  const extras = objectAt(event, 'extras') ?? event;
  const exit = extras['exit_code'] ?? objectAt(extras, 'metadata')?.['exit_code'];
  if (typeof exit === 'number' && Number.isInteger(exit) && exit >= 0)
    return { success: exit === 0, exitCode: exit };
  return observation === 'error' ? { success: false } : {};
}
