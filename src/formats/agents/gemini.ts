// Sessions of Gemini CLI: one JSON document until 2026, a log of JSON Lines since, and the checkpoints of /chat save.

import type { Item, Json, JsonObject, Part } from '../../protocol/item.ts';
import { arrayAt, isJsonObject, objectAt, objectsAt, stringAt, stringsAt } from '../fields.ts';
import {
  functionCall,
  functionResult,
  HARNESS,
  partsMessage,
  partsOf,
  reasoning,
  requestUsage,
  textMessage,
  textPart,
} from '../items.ts';
import type { FormatReader, LineAt, LineReader } from '../reader.ts';
import { RecordEmitter } from '../record-emitter.ts';

const TYPES: ReadonlySet<unknown> = new Set(['user', 'gemini', 'info', 'error', 'warning']);

/** How much a value looks like a session of Gemini CLI, a line of one, or a message of a checkpoint. */
export function looksLikeGemini(value: JsonObject): number {
  if (typeof value['$rewindTo'] === 'string' || isJsonObject(value['$set'])) return 1;
  if (typeof value['sessionId'] === 'string' && typeof value['projectHash'] === 'string') return 1;
  if (Array.isArray(value['parts']))
    return value['role'] === 'model' ? 1 : Number(value['role'] === 'user') * 0.9;
  if (Array.isArray(value['history']) && arrayAt(value, 'history').some(isContent)) return 1;
  const isMessage = typeof value['id'] === 'string' && typeof value['timestamp'] === 'string';
  if (!isMessage || !TYPES.has(value['type']) || 'message' in value || 'parentId' in value) return 0;
  return 'content' in value || 'toolCalls' in value ? 1 : 0;
}

/** A message in the API's own form, as in checkpoints. */
function isContent(value: Json): value is JsonObject {
  return (
    isJsonObject(value) &&
    Array.isArray(value['parts']) &&
    (value['role'] === 'user' || value['role'] === 'model')
  );
}

/** A message with its place. */
interface Logged {
  value: JsonObject;
  at: LineAt;
}

/**
 * Reads sessions of Gemini CLI. The client may rewrite a message after each change, so messages are emitted at the end, or when
 * another context replaces them.
 */
export const geminiReader: FormatReader = {
  read: (emit, report) => new GeminiReader(new RecordEmitter(emit, report)),
};

class GeminiReader implements LineReader {
  readonly #emitter: RecordEmitter;
  #log: Logged[] = [];
  /** Messages that can still be rewritten, by id. */
  #byId = new Map<string, Logged>();
  #replacements = 0;

  constructor(emitter: RecordEmitter) {
    this.#emitter = emitter;
  }

  accept(value: JsonObject, at: LineAt): void {
    this.#emitter.begin(at);
    const rewindTo = stringAt(value, '$rewindTo');
    const patch = objectAt(value, '$set');
    if (rewindTo !== undefined) this.#rewind(rewindTo);
    else if (patch !== undefined) this.#patch(patch, at);
    else if (isContent(value)) this.#log.push({ value, at });
    else if (TYPES.has(value['type']) && !Array.isArray(value['messages'])) this.#message(value, at);
    else if (typeof value['sessionId'] === 'string' || 'messages' in value || 'history' in value)
      this.#document(value, at);
    else this.#emitter.opaque(`line/${stringAt(value, 'type') ?? 'untyped'}`);
  }

  end(): void {
    for (const { value, at } of this.#log) {
      this.#emitter.begin(at);
      this.#emitMessage(value);
    }
    this.#log = [];
    this.#byId = new Map();
  }

  #document(value: JsonObject, at: LineAt): void {
    this.#emitter.meta({ sessionId: stringAt(value, 'sessionId') });
    const [cwd] = stringsAt(value, 'directories');
    this.#emitter.meta({ cwd });
    for (const message of [...arrayAt(value, 'messages'), ...arrayAt(value, 'history')]) {
      if (isContent(message)) this.#log.push({ value: message, at });
      else if (isJsonObject(message)) this.#message(message, at);
      else this.#emitter.damage('not_an_object', 'A message that is not an object was skipped', true);
    }
    if (!this.#emitter.hasEmitted) this.#emitter.opaque('session');
  }

  #message(value: JsonObject, at: LineAt): void {
    const id = stringAt(value, 'id');
    const known = id === undefined ? undefined : this.#byId.get(id);
    if (known !== undefined) {
      // The place of its newest text; its position in the conversation stays.
      known.value = value;
      known.at = at;
      this.#emitter.opaque('rewritten');
      return;
    }
    const logged = { value, at };
    this.#log.push(logged);
    if (id !== undefined) this.#byId.set(id, logged);
  }

  /** Removes a message and all after it. An unknown id removes all, as in the client. */
  #rewind(id: string): void {
    const target = this.#byId.get(id);
    const found = target === undefined ? -1 : this.#log.indexOf(target);
    for (const logged of this.#log.splice(Math.max(0, found))) {
      this.#emitter.begin(logged.at);
      this.#emitter.side(messageItems(logged.value), 'abandoned_branch');
      this.#byId.delete(stringAt(logged.value, 'id') ?? '');
    }
    this.#emitter.opaque('$rewindTo');
  }

  /** Facts of the session, or a context that replaces the current one: the same messages and more, or a compaction. */
  #patch(patch: JsonObject, at: LineAt): void {
    if (!Array.isArray(patch['messages'])) {
      this.#emitter.opaque('$set');
      return;
    }
    const messages = objectsAt(patch, 'messages');
    const ids = new Set(messages.map((message) => stringAt(message, 'id')));
    const isSame = [...this.#byId.keys()].every((id) => ids.has(id));
    if (!isSame) {
      this.end();
      this.#emitter.begin(at);
      this.#replaced(messages, `replaced-${++this.#replacements}`);
      return;
    }
    for (const message of messages) this.#message(message, at);
    if (!this.#emitter.hasEmitted) this.#emitter.opaque('$set');
  }

  #replaced(messages: readonly JsonObject[], id: string): void {
    this.#emitter.record({
      type: 'compacted',
      id,
      replacement: messages.flatMap((message) => messageItems(message)),
    });
  }

  #emitMessage(value: JsonObject): void {
    const emitter = this.#emitter;
    emitter.date(value['timestamp']);
    if (value['type'] === 'gemini') {
      emitter.settings({ model: stringAt(value, 'model') });
      emitter.usage(geminiUsage(objectAt(value, 'tokens')));
    }
    emitter.items(messageItems(value));
    if (!emitter.hasEmitted) emitter.opaque(`message/${stringAt(value, 'type') ?? 'untyped'}`);
  }
}

function geminiUsage(tokens: JsonObject | undefined): ReturnType<typeof requestUsage> {
  if (tokens === undefined) return undefined;
  return requestUsage({ input: [tokens['input']], cachedInput: tokens['cached'], output: tokens['output'] });
}

/** The items of a message; none for messages that the client only displayed. */
function messageItems(value: JsonObject): readonly Item[] {
  if (isContent(value)) return contentItems(value);
  switch (value['type']) {
    case 'user':
      return partsMessage('user', geminiParts('user', value['content']));
    case 'gemini':
      return [
        ...thoughts(value),
        ...partsMessage('assistant', geminiParts('assistant', value['content'])),
        ...toolItems(value),
      ];
    default:
      return [];
  }
}

function thoughts(value: JsonObject): readonly Item[] {
  return objectsAt(value, 'thoughts').flatMap((thought) =>
    reasoning(
      [stringAt(thought, 'subject'), stringAt(thought, 'description')]
        .filter((text) => text !== undefined)
        .join('\n'),
    ),
  );
}

/** All calls of an answer first, then their results: they went to the model together. */
function toolItems(value: JsonObject): readonly Item[] {
  const calls: Item[] = [];
  const results: Item[] = [];
  for (const [position, call] of objectsAt(value, 'toolCalls').entries()) {
    const id = stringAt(call, 'id') ?? `${stringAt(value, 'id') ?? 'call'}-${position}`;
    calls.push(functionCall(id, stringAt(call, 'name') ?? 'unknown', call['args']));
    const output = resultText(call['result']);
    const { status } = call;
    if (output !== undefined) {
      results.push(
        functionResult(id, output, {
          success: typeof status === 'string' ? status === 'success' : undefined,
        }),
      );
    }
  }
  return [...calls, ...results];
}

function resultText(result: Json | undefined): string | undefined {
  if (result === undefined || result === null) return undefined;
  if (typeof result === 'string') return result;
  const parts = (Array.isArray(result) ? (result as readonly Json[]) : [result]).filter(isJsonObject);
  return parts.map(responseText).join('\n');
}

function responseText(part: JsonObject): string {
  const response = objectAt(objectAt(part, 'functionResponse') ?? {}, 'response');
  if (response === undefined) return stringAt(part, 'text') ?? JSON.stringify(part);
  return stringAt(response, 'output') ?? stringAt(response, 'error') ?? JSON.stringify(response);
}

/** Parts of the Gemini API have no type; a text part has a text. */
function geminiParts(role: 'user' | 'assistant', content: Json | undefined): Part[] {
  return partsOf(role, isJsonObject(content) ? [content] : content, () => undefined);
}

/** A message of a checkpoint: texts, thoughts, calls and results in one list of parts. */
function contentItems(value: JsonObject): readonly Item[] {
  const role = value['role'] === 'model' ? 'assistant' : 'user';
  return objectsAt(value, 'parts').flatMap((part, position): readonly Item[] => {
    const call = objectAt(part, 'functionCall');
    const response = objectAt(part, 'functionResponse');
    const text = stringAt(part, 'text');
    if (call !== undefined) {
      const name = stringAt(call, 'name') ?? 'unknown';
      return [functionCall(stringAt(call, 'id') ?? name, name, call['args'])];
    }
    if (response !== undefined) {
      const id = stringAt(response, 'id') ?? stringAt(response, 'name') ?? `response-${position}`;
      return [functionResult(id, responseText(part))];
    }
    if (text === undefined) return partsMessage(role, [{ type: 'other', value: part }]);
    if (part['thought'] === true) return reasoning(text);
    return isContextOfClient(text) && role === 'user'
      ? textMessage('user', text, { origin: HARNESS })
      : partsMessage(role, [textPart(role, text)]);
  });
}

/** How the client introduces the work tree to the model. @source Gemini CLI, the first message of its checkpoints */
function isContextOfClient(text: string): boolean {
  return (
    text.startsWith('This is the Gemini CLI. We are setting up the context for our chat.') ||
    text.startsWith('<session_context>')
  );
}
