// Reads sessions of pi: entries that form a tree since version 2, and a plain list before.

import type { Item, JsonObject } from '../../protocol/item.ts';
import { keyOf } from '../claude-code/tree/node.ts';
import { countAt, objectAt, objectsAt, stringAt } from '../fields.ts';
import {
  compactionItems,
  functionCall,
  functionResult,
  HARNESS,
  partsMessage,
  partsOf,
  reasoning,
  requestUsage,
  textMessage,
} from '../items.ts';
import type { FormatReader, LineAt, LineReader } from '../reader.ts';
import { RecordEmitter } from '../record-emitter.ts';
import { PiSurveyor } from './tree.ts';
import { isClearing, noteIn, splitSummary } from './riding.ts';
import type { PiSurvey } from './tree.ts';

const ENTRIES: ReadonlySet<unknown> = new Set([
  'model_change',
  'thinking_level_change',
  'branch_summary',
  'custom',
  'custom_message',
  'context_edit',
  'label',
  'session_info',
]);

/** How much a line looks like an entry of a pi session: 1 for its header, messages and compactions. */
export function looksLikePi(value: JsonObject): number {
  if (typeof value['timestamp'] !== 'string' || 'uuid' in value || 'payload' in value) return 0;
  const { type } = value;
  switch (type) {
    case 'session':
      return typeof value['id'] === 'string' ? 1 : 0;
    case 'message':
      return typeof objectAt(value, 'message')?.['role'] === 'string' ? 1 : 0;
    case 'compaction':
      return typeof value['summary'] === 'string' ? 1 : 0;
    default:
      return ENTRIES.has(type) ? 0.9 : 0;
  }
}

/** Reads pi sessions of all versions. */
export const piReader = {
  survey: (report) => new PiSurveyor(report),
  read: (emit, report, survey) => new PiReader(new RecordEmitter(emit, report), survey),
} satisfies FormatReader<PiSurvey>;

class PiReader implements LineReader {
  readonly #emitter: RecordEmitter;
  readonly #survey: PiSurvey;
  /** The call whose result an entry holds, by the entry's ref. */
  readonly #callIds = new Map<string, string>();

  constructor(emitter: RecordEmitter, survey: PiSurvey) {
    this.#emitter = emitter;
    this.#survey = survey;
  }

  accept(value: JsonObject, at: LineAt): void {
    const emitter = this.#emitter;
    emitter.begin(at);
    emitter.date(value['timestamp']);
    if (value['type'] === 'session') {
      this.#head(value);
      return;
    }
    const key = keyOf(at);
    const ref = this.#survey.refs.get(key);
    if (ref === undefined) this.#leftBehind(value);
    else if (value['type'] === 'compaction') this.#compaction(value, ref, this.#survey.kept.get(key) ?? []);
    else this.#entry(value, ref);
  }

  end(): void {
    // Every entry was emitted on arrival.
  }

  #head(value: JsonObject): void {
    const version = countAt(value, 'version');
    this.#emitter.meta({
      sessionId: stringAt(value, 'id'),
      cwd: stringAt(value, 'cwd'),
      producerVersion: version === undefined ? undefined : `session format ${version}`,
    });
    this.#emitter.settings({ model: stringAt(value, 'modelId') });
    if (!this.#emitter.hasEmitted) this.#emitter.opaque('session');
  }

  #entry(value: JsonObject, ref: string): void {
    const emitter = this.#emitter;
    const message = objectAt(value, 'message');
    if (value['type'] === 'context_edit') return this.#edit(value, ref);
    const note = value['type'] === 'custom' ? noteIn(value) : undefined;
    if (note !== undefined) return emitter.record(note);
    if (message?.['role'] === 'toolResult') {
      const callId = stringAt(message, 'toolCallId');
      if (callId !== undefined) this.#callIds.set(ref, callId);
    }
    if (value['type'] === 'message' && message === undefined) {
      emitter.wrongShape('A message entry without a message in it', 'message');
      return;
    }
    if (message?.['role'] === 'assistant') {
      emitter.settings({ model: stringAt(message, 'model') });
      emitter.usage(piUsage(objectAt(message, 'usage')));
    }
    if (value['type'] === 'model_change') emitter.settings({ model: stringAt(value, 'modelId') });
    const items = entryItems(value, () =>
      emitter.damage('wrong_shape', 'A content of unknown shape; skipped'),
    );
    emitter.items(items, ref);
    // An answer that was stopped before its first word is empty.
    if (items.length === 0 && (message !== undefined || !emitter.hasEmitted)) emitter.opaque(kindOf(value));
  }

  /** An extension's edit of what the model sees of an older entry; only clearing changes the history here. */
  #edit(value: JsonObject, ref: string): void {
    const callId = this.#callIds.get(stringAt(value, 'targetId') ?? '');
    if (callId === undefined || !isClearing(value)) return this.#emitter.opaque('context_edit');
    this.#emitter.record({ type: 'micro_compacted', id: ref, callIds: [callId] });
  }

  #leftBehind(value: JsonObject): void {
    const items = entryItems(value, () => undefined);
    this.#emitter.side(items, 'abandoned_branch');
    if (items.length === 0) this.#emitter.opaque(kindOf(value));
  }

  #compaction(value: JsonObject, ref: string, kept: readonly string[]): void {
    const summary = stringAt(value, 'summary');
    if (summary === undefined) {
      this.#emitter.wrongShape('A compaction without a summary', 'compaction');
      return;
    }
    const preTokens = countAt(value, 'tokensBefore');
    const whole = compactionItems(ref, summary, { at: stringAt(value, 'timestamp') });
    const parts = splitSummary(summary, objectAt(value, 'details'));
    this.#emitter.record({
      type: 'compacted',
      id: ref,
      replacement: parts === undefined ? whole : [...whole.slice(0, 1), ...parts],
      summary,
      ...(kept.length === 0 ? {} : { keptRefs: kept }),
      ...(preTokens === undefined ? {} : { preTokens }),
    });
  }
}

function piUsage(usage: JsonObject | undefined): ReturnType<typeof requestUsage> {
  if (usage === undefined) return undefined;
  const { input, cacheRead, cacheWrite, output } = usage;
  return requestUsage({ input: [input, cacheRead, cacheWrite], cachedInput: cacheRead, output });
}

function kindOf(value: JsonObject): string {
  const type = stringAt(value, 'type') ?? 'untyped';
  const inner = stringAt(objectAt(value, 'message') ?? {}, 'role') ?? stringAt(value, 'customType');
  return inner === undefined ? type : `${type}/${inner}`;
}

function entryItems(value: JsonObject, onOdd: () => void): readonly Item[] {
  switch (value['type']) {
    case 'message':
      return messageItems(objectAt(value, 'message') ?? {}, onOdd);
    case 'custom_message':
      return partsMessage('user', partsOf('user', value['content'], onOdd), { origin: HARNESS });
    case 'branch_summary':
    // A compaction only arrives here if its branch was abandoned.
    case 'compaction':
      return textMessage('user', stringAt(value, 'summary') ?? '', { origin: HARNESS });
    default:
      return [];
  }
}

function messageItems(message: JsonObject, onOdd: () => void): readonly Item[] {
  switch (message['role']) {
    case 'user':
      return partsMessage('user', partsOf('user', message['content'], onOdd));
    case 'assistant':
      return answerItems(message, onOdd);
    case 'toolResult':
      return [resultItem(message, onOdd)];
    case 'bashExecution':
      return bashItems(message);
    // Written by extensions, under both names.
    case 'custom':
    case 'hookMessage':
      return partsMessage('user', partsOf('user', message['content'], onOdd), { origin: HARNESS });
    default:
      return [];
  }
}

function answerItems(message: JsonObject, onOdd: () => void): readonly Item[] {
  if (typeof message['content'] === 'string') return textMessage('assistant', message['content']);
  return objectsAt(message, 'content').flatMap((block): readonly Item[] => {
    switch (block['type']) {
      case 'thinking':
        return reasoning(stringAt(block, 'thinking') ?? '', stringAt(block, 'thinkingSignature'));
      case 'toolCall': {
        const id = stringAt(block, 'id');
        const name = stringAt(block, 'name');
        if (id !== undefined && name !== undefined) return [functionCall(id, name, block['arguments'])];
        onOdd();
        return [];
      }
      default:
        return partsMessage('assistant', partsOf('assistant', [block], onOdd));
    }
  });
}

function resultItem(message: JsonObject, onOdd: () => void): Item {
  const parts = partsOf('user', message['content'], onOdd);
  const [only, ...more] = parts;
  const output = more.length === 0 && only?.type === 'input_text' ? only.text : parts;
  const isError = message['isError'];
  return functionResult(stringAt(message, 'toolCallId') ?? '', output, {
    success: typeof isError === 'boolean' ? !isError : undefined,
  });
}

/** A command that the user ran: the model receives it in the user role, unless the user excluded it. */
function bashItems(message: JsonObject): readonly Item[] {
  const code = message['exitCode'];
  const status = typeof code === 'number' && code !== 0 ? `\nexit status ${code}` : '';
  const text = `$ ${stringAt(message, 'command') ?? ''}\n${stringAt(message, 'output') ?? ''}${status}`;
  if (message['excludeFromContext'] === true) return [{ type: 'progress', text }];
  return textMessage('user', text, { origin: HARNESS });
}
