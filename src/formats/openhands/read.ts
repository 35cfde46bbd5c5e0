// Reads OpenHands: lists of events, and evaluation output with one list per line.

import type { Json, JsonObject } from '../../protocol/item.ts';
import { Conversations } from '../messages/conversations.ts';
import { arrayAt, isJsonObject, stringAt } from '../fields.ts';
import type { FormatReader } from '../reader.ts';
import { RecordEmitter } from '../record-emitter.ts';
import { EventReader } from './events.ts';
import { isSdkEvent, SdkEventReader } from './sdk.ts';

/** How much a value looks like an event of OpenHands, or a run of events. */
export function looksLikeOpenHands(value: JsonObject): number {
  if (isSdkEvent(value)) return 1;
  if (isEvent(value)) return 1;
  const history = eventsOf(value);
  if (history.length === 0 || 'trajectory' in value) return 0;
  const looked = history.slice(0, 16);
  return looked.filter((event) => isEvent(event) || isSdkEvent(event)).length / looked.length;
}

/** An event names its action or observation in one word. */
function isEvent(value: JsonObject): boolean {
  const isNamed = typeof value['action'] === 'string' || typeof value['observation'] === 'string';
  const isDetailed =
    isJsonObject(value['args']) ||
    typeof value['content'] === 'string' ||
    typeof value['thought'] === 'string';
  return isNamed && isDetailed && !('role' in value) && !('type' in value);
}

/** The events of a run; the oldest runs contain pairs of an action and its observation. */
function eventsOf(value: JsonObject): readonly JsonObject[] {
  const flat = arrayAt(value, 'history').flatMap((each: Json) =>
    Array.isArray(each) ? (each as readonly Json[]) : [each],
  );
  return flat.filter(isJsonObject);
}

/** Reads events of OpenHands up to version 0 and of its SDK. In an output with several runs, the last one is the context. */
export const openHandsReader: FormatReader = {
  read: (emit, report) => {
    const conversations = new Conversations(emit);
    const emitter = new RecordEmitter(conversations.add, report);
    let events = new EventReader(emitter);
    let sdkEvents = new SdkEventReader(emitter);
    const take = (value: JsonObject): void => {
      if (isSdkEvent(value)) sdkEvents.accept(value);
      else events.accept(value);
    };
    return {
      accept(value, at) {
        emitter.begin(at);
        if (!Array.isArray(value['history'])) {
          take(value);
          return;
        }
        conversations.open();
        events = new EventReader(emitter);
        sdkEvents = new SdkEventReader(emitter);
        emitter.meta({ sessionId: stringAt(value, 'instance_id') });
        for (const event of eventsOf(value)) take(event);
        for (const key of Object.keys(value)) {
          if (key !== 'history' && key !== 'instance_id') emitter.opaque(`run/${key}`);
        }
      },
      end: () => conversations.end(),
    };
  },
};
