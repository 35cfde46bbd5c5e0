// Sessions of GitHub Copilot CLI: one event per line, of which few belong to the conversation.

import type { Item, Json, JsonObject, ToolOutputItem } from '../../protocol/item.ts';
import { countAt, objectAt, objectsAt, stringAt } from '../fields.ts';
import {
  compactionItems,
  functionCall,
  functionResult,
  HARNESS,
  reasoning,
  requestUsage,
  textMessage,
} from '../items.ts';
import { usableWindow } from '../../tokens/pressure.ts';
import type { FormatReader, LineAt, LineReader } from '../reader.ts';
import { RecordEmitter } from '../record-emitter.ts';

const EVENT =
  /^(?:session|user|assistant|tool|hook|system|permission|skill|subagent|external_tool|command|elicitation|pending_messages|exit_plan_mode|user_input)\.[a-z_.]+$/;

/** How much a line looks like an event of Copilot CLI: 1 for the kinds of events that it writes. */
export function looksLikeCopilot(value: JsonObject): number {
  const { type, id } = value;
  if (typeof type !== 'string' || typeof id !== 'string') return 0;
  if (objectAt(value, 'data') === undefined || typeof value['timestamp'] !== 'string') return 0;
  return EVENT.test(type) || type === 'abort' ? 1 : 0.6;
}

/** Reads sessions of Copilot CLI. */
export const copilotReader: FormatReader = {
  read: (emit, report) => new CopilotReader(new RecordEmitter(emit, report)),
};

class CopilotReader implements LineReader {
  readonly #emitter: RecordEmitter;
  /** Calls that an answer made; `tool.execution_start` repeats them. */
  readonly #called = new Set<string>();
  /** The system prompt outlives a compaction. */
  #systemRefs: readonly string[] = [];

  constructor(emitter: RecordEmitter) {
    this.#emitter = emitter;
  }

  accept(value: JsonObject, at: LineAt): void {
    const emitter = this.#emitter;
    const type = stringAt(value, 'type') ?? 'untyped';
    const data = objectAt(value, 'data');
    emitter.begin(at);
    emitter.date(value['timestamp']);
    if (data === undefined) {
      emitter.wrongShape('An event without data', type);
      return;
    }
    const isSubagent = typeof data['parentToolCallId'] === 'string' || typeof value['agentId'] === 'string';
    this.#facts(type, data);
    const items = this.#itemsOf(type, data);
    const ref = stringAt(value, 'id');
    if (isSubagent) emitter.side(items, 'subagent');
    else if (type === 'session.compaction_complete') this.#compaction(data, value);
    else {
      emitter.items(items, ref);
      if (type === 'system.message' && ref !== undefined) this.#systemRefs = [ref];
    }
    if (!emitter.hasEmitted) emitter.opaque(type);
  }

  end(): void {
    // Every event was emitted on arrival.
  }

  #facts(type: string, data: JsonObject): void {
    const emitter = this.#emitter;
    switch (type) {
      case 'session.start':
      case 'session.resume': {
        const context = objectAt(data, 'context') ?? {};
        emitter.meta({
          sessionId: stringAt(data, 'sessionId'),
          cwd: stringAt(context, 'cwd'),
          gitBranch: stringAt(context, 'branch'),
          producerVersion: stringAt(data, 'copilotVersion'),
        });
        emitter.settings({ model: stringAt(data, 'selectedModel') });
        return;
      }
      case 'session.model_change':
        emitter.settings({ model: stringAt(data, 'newModel') });
        return;
      case 'assistant.message':
        if (typeof data['parentToolCallId'] !== 'string')
          emitter.settings({ model: stringAt(data, 'model') });
        return;
      case 'session.usage_info': {
        const limit = countAt(data, 'tokenLimit') ?? 0;
        emitter.settings({ usableWindow: limit > 0 ? usableWindow(limit) : undefined });
        emitter.usage(requestUsage({ input: [data['currentTokens']] }));
        return;
      }
      case 'abort':
        emitter.record({ type: 'turn_aborted' });
        return;
      default:
    }
  }

  #itemsOf(type: string, data: JsonObject): readonly Item[] {
    switch (type) {
      case 'system.message':
        return textMessage(
          data['role'] === 'developer' ? 'developer' : 'system',
          stringAt(data, 'content') ?? '',
        );
      case 'user.message':
        return userItems(data);
      case 'assistant.message':
        return this.#answerItems(data);
      case 'tool.execution_start':
        return this.#startedCall(data);
      case 'tool.execution_complete':
        return [resultItem(data)];
      case 'system.notification':
      case 'skill.invoked':
        return textMessage('user', stringAt(data, 'content') ?? '', { origin: HARNESS });
      default:
        return [];
    }
  }

  #answerItems(data: JsonObject): readonly Item[] {
    const calls = objectsAt(data, 'toolRequests').flatMap((request): readonly Item[] => {
      const id = stringAt(request, 'toolCallId');
      const name = stringAt(request, 'name');
      if (id === undefined || name === undefined) {
        this.#emitter.damage('wrong_shape', 'A tool request without id or name; skipped');
        return [];
      }
      this.#called.add(id);
      return [functionCall(id, name, request['arguments'])];
    });
    const opaque = stringAt(data, 'reasoningOpaque');
    return [
      ...reasoning(stringAt(data, 'reasoningText') ?? '', opaque),
      ...textMessage('assistant', stringAt(data, 'content') ?? ''),
      ...calls,
    ];
  }

  /** A call outside any answer, e.g. of a shell command that the user typed. */
  #startedCall(data: JsonObject): readonly Item[] {
    const id = stringAt(data, 'toolCallId');
    const name = stringAt(data, 'toolName');
    if (id === undefined || name === undefined || this.#called.has(id)) return [];
    this.#called.add(id);
    return [functionCall(id, name, data['arguments'])];
  }

  #compaction(data: JsonObject, value: JsonObject): void {
    if (data['success'] === false) return;
    const id = stringAt(value, 'id') ?? '';
    const summary = stringAt(data, 'summaryContent');
    const preTokens = countAt(data, 'preCompactionTokens');
    const postTokens = countAt(data, 'postCompactionTokens');
    const trigger = data['trigger'] === 'manual' ? 'manual' : 'auto';
    this.#emitter.record({
      type: 'compacted',
      id,
      trigger,
      replacement:
        summary === undefined
          ? []
          : compactionItems(id, summary, { at: stringAt(value, 'timestamp'), trigger }),
      ...(this.#systemRefs.length === 0 ? {} : { keptRefs: this.#systemRefs }),
      ...(summary === undefined ? {} : { summary }),
      ...(preTokens === undefined ? {} : { preTokens }),
      ...(postTokens === undefined ? {} : { postTokens }),
    });
  }
}

/** The user's text; `transformedContent` is the same between reminders of the client. */
function userItems(data: JsonObject): readonly Item[] {
  const text = stringAt(data, 'content') ?? '';
  const files = objectsAt(data, 'attachments').flatMap((attachment): readonly Item[] => {
    const path = stringAt(attachment, 'path') ?? stringAt(attachment, 'filePath');
    const selected = stringAt(attachment, 'text') ?? '';
    return [{ type: 'attachment', kind: 'file', text: selected, ...(path === undefined ? {} : { path }) }];
  });
  return [
    ...textMessage('user', text === '' ? (stringAt(data, 'transformedContent') ?? '') : text),
    ...files,
  ];
}

function resultItem(data: JsonObject): ToolOutputItem {
  const success = data['success'];
  return functionResult(stringAt(data, 'toolCallId') ?? '', outputOf(data['result'] ?? data['error']), {
    success: typeof success === 'boolean' ? success : undefined,
  });
}

function outputOf(result: Json | undefined): string {
  if (typeof result === 'string') return result;
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return '';
  const { content, message } = result as JsonObject;
  if (typeof content === 'string') return content;
  return typeof message === 'string' ? message : JSON.stringify(result);
}
