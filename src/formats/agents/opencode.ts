// Sessions written by `opencode export`: one JSON document, in which a tool's call and result are one part.

import { CLEARED_RESULT } from '../../protocol/record.ts';
import type { Item, Json, JsonObject, Part, ToolOutputItem } from '../../protocol/item.ts';
import { arrayAt, countAt, isJsonObject, objectAt, objectsAt, stringAt } from '../fields.ts';
import {
  compactionItems,
  functionCall,
  functionResult,
  HARNESS,
  partsMessage,
  reasoning,
  requestUsage,
  textMessage,
  textPart,
} from '../items.ts';
import { Conversations } from '../messages/conversations.ts';
import { KeptRefs } from './kept-refs.ts';
import type { FormatReader } from '../reader.ts';
import { RecordEmitter } from '../record-emitter.ts';

/** How much a value looks like an exported session, or a message of one. */
export function looksLikeOpencode(value: JsonObject): number {
  const info = objectAt(value, 'info');
  if (info === undefined) return 0;
  if (Array.isArray(value['parts'])) return typeof info['role'] === 'string' ? 1 : 0;
  const messages = arrayAt(value, 'messages');
  if (!Array.isArray(value['messages']) || typeof info['id'] !== 'string') return 0;
  return messages.every((message) => isJsonObject(message) && objectAt(message, 'info') !== undefined)
    ? 1
    : 0;
}

/** Reads exported sessions of opencode. */
export const opencodeReader: FormatReader = {
  read: (emit, report) => {
    const conversations = new Conversations(emit);
    const emitter = new RecordEmitter(conversations.add, report);
    const loose: JsonObject[] = [];
    return {
      accept(value, at) {
        emitter.begin(at);
        if (Array.isArray(value['parts'])) {
          loose.push(value);
          return;
        }
        conversations.open();
        new SessionReader(emitter, objectAt(value, 'info') ?? {}).read(messagesOf(value, emitter));
      },
      end() {
        if (loose.length > 0) new SessionReader(emitter, {}).read(loose);
        conversations.end();
      },
    };
  },
};

function messagesOf(value: JsonObject, emitter: RecordEmitter): readonly JsonObject[] {
  const messages = arrayAt(value, 'messages');
  const sound = messages.filter(isJsonObject);
  if (sound.length < messages.length) {
    emitter.damage(
      'not_an_object',
      `${messages.length - sound.length} messages that are not objects were skipped`,
      true,
    );
  }
  return sound;
}

/** A result that was cleared in all requests after a certain moment. */
interface Pruned {
  readonly atMs: number;
  readonly callId: string;
}

class SessionReader {
  readonly #emitter: RecordEmitter;
  readonly #info: JsonObject;
  /** Ids in use, with the number for the next duplicate. */
  readonly #callIds = new Map<string, number>();
  readonly #kept = new KeptRefs<JsonObject>((message) => this.#emitter.damage('wrong_shape', message));
  /** The first position of each id among the messages. */
  #positionOf: ReadonlyMap<string | undefined, number> = new Map();
  /** Latest first. */
  readonly #pruned: Pruned[] = [];
  /** A compaction was requested, and its summary has not arrived yet. */
  #pending: { readonly part: JsonObject; readonly position: number } | undefined;

  constructor(emitter: RecordEmitter, info: JsonObject) {
    this.#emitter = emitter;
    this.#info = info;
  }

  read(messages: readonly JsonObject[]): void {
    const emitter = this.#emitter;
    emitter.date(objectAt(this.#info, 'time')?.['created']);
    emitter.meta({
      sessionId: stringAt(this.#info, 'id'),
      cwd: stringAt(this.#info, 'directory'),
      producerVersion: stringAt(this.#info, 'version'),
    });
    const revertedFrom = stringAt(objectAt(this.#info, 'revert') ?? {}, 'messageID');
    let isReverted = false;
    this.#positionOf = new Map(
      messages
        .map((message, at) => [stringAt(objectAt(message, 'info') ?? {}, 'id'), at] as const)
        .toReversed(),
    );
    for (const [position, message] of messages.entries()) {
      const info = objectAt(message, 'info') ?? {};
      isReverted ||= revertedFrom !== undefined && stringAt(info, 'id') === revertedFrom;
      emitter.date(objectAt(info, 'time')?.['created']);
      if (isReverted) emitter.side(this.#allItems(info, message), 'abandoned_branch');
      else this.#message(info, message, position);
    }
    this.#emitPruned(Infinity);
  }

  #message(info: JsonObject, message: JsonObject, place: number): void {
    const createdMs = countAt(objectAt(info, 'time') ?? {}, 'created');
    if (createdMs !== undefined) this.#emitPruned(createdMs);
    const pending = this.#pending;
    if (info['role'] === 'assistant' && info['summary'] === true && pending !== undefined) {
      this.#compaction(info, message, { ...pending, place });
      return;
    }
    const ref = refOf(place);
    if (info['role'] === 'assistant') this.#answer(info, message, ref);
    else this.#prompt(info, message, ref, place);
  }

  #prompt(info: JsonObject, message: JsonObject, ref: string, position: number): void {
    const parts = objectsAt(message, 'parts');
    const compaction = parts.find(({ type }) => type === 'compaction');
    if (compaction !== undefined) this.#pending = { part: compaction, position };
    this.#emitter.settings({ model: modelOf(objectAt(info, 'model') ?? {}) });
    this.#emitter.items(promptItems(parts), ref);
    this.#countOpaque(parts);
  }

  #answer(info: JsonObject, message: JsonObject, ref: string): void {
    this.#emitter.settings({ model: modelOf(info), cwd: stringAt(objectAt(info, 'path') ?? {}, 'cwd') });
    const steps = stepsOf(objectsAt(message, 'parts'));
    for (const step of steps) {
      const finish = step.find(({ type }) => type === 'step-finish');
      const tokens =
        objectAt(finish ?? {}, 'tokens') ?? (steps.length === 1 ? objectAt(info, 'tokens') : undefined);
      this.#emitter.usage(stepUsage(tokens));
      this.#emitter.items(this.#stepItems(step), ref);
      this.#countOpaque(step);
    }
    if (steps.length === 0) this.#emitter.opaque('message/assistant');
  }

  #allItems(info: JsonObject, message: JsonObject): readonly Item[] {
    const parts = objectsAt(message, 'parts');
    return info['role'] === 'assistant' ? this.#stepItems(parts) : promptItems(parts);
  }

  /** Reasoning, texts and calls of one request in order, then the results: they went to the model together. */
  #stepItems(parts: readonly JsonObject[]): readonly Item[] {
    const answer: Item[] = [];
    const results: Item[] = [];
    for (const part of parts) {
      const text = stringAt(part, 'text') ?? '';
      if (part['type'] === 'text') answer.push(...textMessage('assistant', text));
      else if (part['type'] === 'reasoning') answer.push(...reasoning(text));
      else if (part['type'] === 'tool') {
        const { call, result } = this.#tool(part);
        answer.push(call);
        if (result !== undefined) results.push(result);
      }
    }
    return [...answer, ...results];
  }

  #tool(part: JsonObject): { readonly call: Item; readonly result: ToolOutputItem | undefined } {
    const state = objectAt(part, 'state') ?? {};
    const callId = this.#freshCallId(stringAt(part, 'callID') ?? 'call');
    const call = functionCall(callId, stringAt(part, 'tool') ?? 'unknown', state['input']);
    const status = stringAt(state, 'status');
    if (status !== 'completed' && status !== 'error') return { call, result: undefined };
    const exit = objectAt(state, 'metadata')?.['exit'];
    const result = functionResult(callId, toolOutput(state), {
      success: status === 'completed',
      exitCode: typeof exit === 'number' && Number.isInteger(exit) ? exit : undefined,
    });
    const prunedAtMs = countAt(objectAt(state, 'time') ?? {}, 'compacted');
    if (prunedAtMs !== undefined) this.#prune({ atMs: prunedAtMs, callId });
    return { call, result };
  }

  /** Redaction of an export may have made ids collide; call and result are still one part. */
  #freshCallId(callId: string): string {
    let count = this.#callIds.get(callId) ?? 1;
    let fresh = count === 1 ? callId : `${callId}-${count}`;
    while (this.#callIds.has(fresh)) fresh = `${callId}-${++count}`;
    this.#callIds.set(callId, count + 1);
    if (fresh !== callId) this.#callIds.set(fresh, 2);
    return fresh;
  }

  #prune(pruned: Pruned): void {
    let low = 0;
    let high = this.#pruned.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#pruned[middle]?.atMs ?? 0) > pruned.atMs) low = middle + 1;
      else high = middle;
    }
    this.#pruned.splice(low, 0, pruned);
  }

  #emitPruned(untilMs: number): void {
    const due: Pruned[] = [];
    for (let next = this.#pruned.at(-1); next !== undefined && next.atMs <= untilMs;) {
      due.push(next);
      this.#pruned.pop();
      next = this.#pruned.at(-1);
    }
    if (due.length === 0) return;
    this.#emitter.record({
      type: 'micro_compacted',
      id: `pruned-${due[0]?.atMs ?? 0}`,
      trigger: 'auto',
      callIds: due.map(({ callId }) => callId),
    });
  }

  #compaction(
    info: JsonObject,
    message: JsonObject,
    { part, position, place }: { part: JsonObject; position: number; place: number },
  ): void {
    this.#pending = undefined;
    const parts = objectsAt(message, 'parts');
    const texts = parts.filter(({ type }) => type === 'text').map((each) => stringAt(each, 'text') ?? '');
    const summary = texts.join('\n');
    this.#countOpaque(parts);
    if (summary === '') {
      this.#emitter.damage('wrong_shape', 'A compaction without a summary; ignored');
      return;
    }
    const id = stringAt(info, 'id') ?? refOf(place);
    const trigger = part['auto'] === true ? 'auto' : 'manual';
    const tail = stringAt(part, 'tail_start_id');
    const from = tail === undefined ? position : (this.#positionOf.get(tail) ?? position);
    const kept = this.#kept.of(message, () =>
      Array.from({ length: Math.max(0, position - from) }, (_, offset) => refOf(from + offset)),
    );
    const usage = stepUsage(objectAt(info, 'tokens'));
    this.#emitter.record({
      type: 'compacted',
      id,
      trigger,
      replacement: compactionItems(id, summary, { trigger }),
      summary,
      ...(kept.length === 0 ? {} : { keptRefs: kept }),
      ...(usage === undefined || usage === 'impossible' ? {} : { preTokens: usage.total }),
    });
  }

  #countOpaque(parts: readonly JsonObject[]): void {
    for (const { type } of parts) {
      if (!READ_PARTS.has(type)) this.#emitter.opaque(`part/${typeof type === 'string' ? type : 'untyped'}`);
    }
  }
}

const READ_PARTS: ReadonlySet<unknown> = new Set(['text', 'reasoning', 'tool', 'file']);

/** Messages are referred to by position, because ids are unreliable. */
function refOf(position: number): string {
  return `message-${position}`;
}

function modelOf(info: JsonObject): string | undefined {
  return stringAt(info, 'modelID');
}

/** The parts of an answer by request: a step begins where the previous one ended. */
function stepsOf(parts: readonly JsonObject[]): readonly (readonly JsonObject[])[] {
  const steps: JsonObject[][] = [];
  for (const part of parts) {
    const step = steps.at(-1);
    if (step === undefined || part['type'] === 'step-start') steps.push([part]);
    else step.push(part);
  }
  return steps;
}

function stepUsage(tokens: JsonObject | undefined): ReturnType<typeof requestUsage> {
  if (tokens === undefined) return undefined;
  const cache = objectAt(tokens, 'cache') ?? {};
  return requestUsage({
    input: [tokens['input'], cache['read'], cache['write']],
    cachedInput: cache['read'],
    output: tokens['output'],
  });
}

/** The user's text and, separately, what the client added in the user's name. */
function promptItems(parts: readonly JsonObject[]): readonly Item[] {
  const own: Part[] = [];
  const added: Part[] = [];
  const files: Item[] = [];
  for (const part of parts) {
    const text = stringAt(part, 'text') ?? '';
    if (part['type'] === 'text' && text !== '') {
      (part['synthetic'] === true ? added : own).push(textPart('user', text));
    } else if (part['type'] === 'file') {
      const image = imageOf(part);
      if (image !== undefined) own.push(image);
      else files.push(fileItem(part));
    }
  }
  return [...partsMessage('user', own), ...files, ...partsMessage('user', added, { origin: HARNESS })];
}

function imageOf(part: JsonObject): Part | undefined {
  if (!(stringAt(part, 'mime') ?? '').startsWith('image/')) return undefined;
  const url = stringAt(part, 'url');
  return url === undefined ? { type: 'input_image' } : { type: 'input_image', image_url: url };
}

/** A named file; its text follows in a separate part. */
function fileItem(part: JsonObject): Item {
  const path = stringAt(objectAt(part, 'source') ?? {}, 'path') ?? stringAt(part, 'filename');
  return { type: 'attachment', kind: 'file', text: '', ...(path === undefined ? {} : { path }) };
}

function toolOutput(state: JsonObject): ToolOutputItem['output'] {
  if (state['status'] === 'error') return textOf(state['error']);
  const output = textOf(state['output']);
  const images = objectsAt(state, 'attachments').flatMap((each) => imageOf(each) ?? []);
  return images.length === 0 || output === CLEARED_RESULT ? output : [textPart('user', output), ...images];
}

function textOf(value: Json | undefined): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
