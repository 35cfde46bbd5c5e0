// Anthropic Messages: thinking with signatures, and a prompt cache with explicit breakpoints.

import { countAt, isJsonObject, objectAt, objectsAt, stringAt } from '../../formats/fields.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import type { ModelEvent, ModelRequest, ModelUsage, ToolSpec } from '../../protocol/model.ts';
import type { Model } from '../../ports.ts';
import { UNKNOWN_OUTPUT_LIMIT } from '../../tokens/models.ts';
import type { Effort, StopReason } from '../../vocabulary.ts';
import { endpoint, retrying, streamAnswer } from './adapter.ts';
import type { AnswerFold, ProviderSettings } from './adapter.ts';
import { withBreakpoints } from './breakpoints.ts';
import { wireHistory } from './history.ts';
import { failureOf } from '../errors.ts';
import { modelInfo, THINKING_BUDGETS } from '../models.ts';
import { defined } from './openai-responses.ts';
import { broken, complaintInStream, requestJson, WHOLE_ANSWER } from './transport.io.ts';
import type { Call, StreamPart } from './transport.io.ts';
import { possibleUsage } from './usage.ts';

/** @source Anthropic Messages API, versioning */
const API_VERSION = '2023-06-01';

/** A model that speaks the Messages API. */
export function anthropicModel(settings: ProviderSettings): Model {
  const callOf = (path: string, body: JsonObject, signal: Call['signal']): Call => ({
    provider: settings.provider,
    url: endpoint(settings, path),
    headers: {
      'anthropic-version': API_VERSION,
      ...(settings.apiKey === '' ? {} : { 'x-api-key': settings.apiKey }),
    },
    key: settings.apiKey,
    idleTimeoutMs: settings.idleTimeoutMs,
    answerTimeoutMs: settings.answerTimeoutMs,
    body,
    signal,
  });
  const ask = (request: ModelRequest, signal: Call['signal']) =>
    streamAnswer(
      callOf('messages', anthropicBody(request, settings.provider), signal),
      settings,
      () => new AnthropicFold(settings),
      request.items,
    );
  const refused = new Set<string>();
  return {
    provider: settings.provider,
    async *stream(request, signal) {
      try {
        yield* ask(withoutSeals(request, refused), signal);
      } catch (error) {
        const seals = isSealRefused(error) ? sealsIn(request).filter((seal) => !refused.has(seal)) : [];
        if (seals.length === 0) throw error;
        for (const seal of seals) refused.add(seal);
        yield { type: 'restarted', retry: 1, maxRetries: 1, delayMs: 0, why: (error as Error).message };
        yield* ask(withoutSeals(request, refused), signal);
      }
    },
    countTokens: async (request, signal) => {
      const { model, system, tools, tool_choice, thinking, messages } = anthropicBody(
        withoutSeals(request, refused),
        settings.provider,
      );
      const body = defined({ model, system, tools, tool_choice, thinking, messages });
      const answer = await retrying(callOf('messages/count_tokens', body, signal), settings, requestJson);
      const count = countAt(answer, 'input_tokens');
      if (count !== undefined) return count;
      throw broken({ provider: settings.provider, key: settings.apiKey }, 'no count of tokens');
    },
  };
}

/** Whether a provider does not know a signature for its own: a former server made it up, or another account's key made it. */
function isSealRefused(error: unknown): boolean {
  const failure = failureOf(error);
  return failure?.status === 400 && /`signature` in `thinking`/.test((error as Error).message);
}

/** What seals each thinking of a request. */
function sealsIn({ items }: ModelRequest): readonly string[] {
  return items.flatMap((item) => sealOf(item) ?? []);
}

function sealOf(item: Item): string | undefined {
  return item.type === 'reasoning' ? (item.signature ?? item.encrypted_content ?? undefined) : undefined;
}

/** A request without thinking that was refused: the complaint names a block by its place, which Baton does not read. */
function withoutSeals(request: ModelRequest, refused: ReadonlySet<string>): ModelRequest {
  if (refused.size === 0) return request;
  return { ...request, items: request.items.filter((item) => !refused.has(sealOf(item) ?? '')) };
}

/** What asks for an answer where the history ends with one: newer models refuse to go on in the middle of their own. */
const CONTINUE = 'Please continue.';

/**
 * Default limit of answer tokens: the API requires a number, and reserves it.
 * @source 32,000: Claude Code
 */
const DEFAULT_MAX_TOKENS = 32_000;

/** The body of a request; the growing part comes last. @param provider whose thinking is sent back */
export function anthropicBody(request: ModelRequest, provider: string): JsonObject {
  const { instructions, messages: history } = wireHistory(request, 'anthropic', provider);
  const isAnswerLast = history.at(-1)?.['role'] === 'assistant';
  const messages = isAnswerLast
    ? [...history, { role: 'user', content: [{ type: 'text', text: CONTINUE }] }]
    : history;
  const { schema, tools } = request;
  const { outputLimit = UNKNOWN_OUTPUT_LIMIT } = modelInfo(request.model);
  const maxTokens = request.maxOutputTokens ?? Math.min(outputLimit, DEFAULT_MAX_TOKENS);
  const { thinking, effort } = thinkingOf(request, maxTokens, messages);
  const format = schema && { type: 'json_schema', schema: schema.schema };
  const body = {
    model: request.model,
    max_tokens: maxTokens,
    stream: true,
    thinking,
    output_config: effort === undefined && format === undefined ? undefined : defined({ effort, format }),
    ...toolOptions(tools, messages),
    system: instructions.trim() === '' ? undefined : [{ type: 'text', text: instructions }],
    messages,
  };
  return withBreakpoints(defined(body));
}

/**
 * A history with calls must declare tools, even in a request that must not call any, such as a summary.
 * @source Anthropic: "Requests which include `tool_use` or `tool_result` blocks must define tools"
 */
function toolOptions(tools: readonly ToolSpec[], messages: readonly JsonObject[]): JsonObject {
  if (tools.length > 0) return { tools: tools.map(anthropicTool), tool_choice: { type: 'auto' } };
  const called = messages.flatMap((message) =>
    objectsAt(message, 'content').flatMap((block) =>
      block['type'] === 'tool_use' ? (stringAt(block, 'name') ?? []) : [],
    ),
  );
  if (called.length === 0) return {};
  const declared = [...new Set(called)].map((name) => ({ name, input_schema: { type: 'object' } }));
  return { tools: declared, tool_choice: { type: 'none' } };
}

function anthropicTool({ name, description, parameters }: ToolSpec): JsonObject {
  return { name, description, input_schema: parameters };
}

/** Efforts as the newer models name them; they do not know `minimal`, and not all know `xhigh`. */
const EFFORT_WORDS: Readonly<Record<Effort, string>> = {
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'max',
};

/** @source Anthropic, extended thinking: a budget is at least 1,024 and less than `max_tokens` */
const LEAST_BUDGET = 1024;

function thinkingOf(
  { model, effort }: ModelRequest,
  maxTokens: number,
  messages: readonly JsonObject[],
): { readonly thinking?: JsonObject; readonly effort?: string } {
  const { reasoning } = modelInfo(model);
  if (effort === undefined || reasoning === undefined || reasoning === 'none') return {};
  if (reasoning === 'adaptive') return { thinking: { type: 'adaptive' }, effort: EFFORT_WORDS[effort] };
  const budget = Math.min(THINKING_BUDGETS[effort], maxTokens - 1);
  if (budget < LEAST_BUDGET || !mayThinkNow(messages)) return {};
  return { thinking: { type: 'enabled', budget_tokens: budget } };
}

/**
 * Within a tool loop, the answer with the calls must begin with its thinking. An answer from another provider, or one without
 * thinking, has none: then this request omits thinking as well.
 * @source Anthropic, extended thinking with tool use: "Expected `thinking` …, but found `tool_use`"
 */
function mayThinkNow(messages: readonly JsonObject[]): boolean {
  const last = messages.at(-1);
  if (last === undefined || !objectsAt(last, 'content').some((block) => block['type'] === 'tool_result'))
    return true;
  const [first] = objectsAt(messages.at(-2) ?? {}, 'content');
  return first !== undefined && THINKING.has(first['type']);
}

const THINKING: ReadonlySet<unknown> = new Set(['thinking', 'redacted_thinking']);

type Block = {
  readonly type: string;
  readonly start: JsonObject;
  text: string;
  signature: string;
};

class AnthropicFold implements AnswerFold {
  readonly #settings: ProviderSettings;
  readonly #open = new Map<number, Block>();
  /** A call with invalid JSON arguments: only the end shows whether the model wrote them or was cut off. */
  #doubtful: Item | undefined;
  #usage: JsonObject = {};
  #stopReason: string | undefined;
  #hasStarted = false;
  #hasCalls = false;
  isFinished = false;

  constructor(settings: ProviderSettings) {
    this.#settings = settings;
  }

  accept(part: StreamPart): readonly ModelEvent[] {
    if (part === 'done') return [];
    const { data } = part;
    const type = stringAt(data, 'type') ?? part.name;
    if (type === 'error') throw complaintInStream(this.#whose(), objectAt(data, 'error') ?? data);
    if (part.name === WHOLE_ANSWER) return this.#takeWhole(data);
    if (type === 'message_start') return this.#start(objectAt(data, 'message') ?? {});
    if (!TYPES.has(type)) return [];
    if (!this.#hasStarted) throw this.#broken(`${type} before the message began`);
    switch (type) {
      case 'content_block_start':
        return this.#openBlock(countAt(data, 'index'), objectAt(data, 'content_block'));
      case 'content_block_delta':
        return this.#grow(this.#blockAt(data), objectAt(data, 'delta') ?? {});
      case 'content_block_stop': {
        const block = this.#blockAt(data);
        this.#open.delete(countAt(data, 'index') ?? -1);
        return this.#closeBlock(block);
      }
      case 'message_delta':
        this.#stopReason = stringAt(objectAt(data, 'delta') ?? {}, 'stop_reason') ?? this.#stopReason;
        this.#usage = { ...this.#usage, ...withoutNulls(objectAt(data, 'usage') ?? {}) };
        return [];
      default:
        return this.#finish();
    }
  }

  end(): readonly ModelEvent[] | undefined {
    if (!this.isFinished) return undefined;
    const usage = anthropicUsage(this.#usage);
    return [
      ...(usage === undefined ? [] : [{ type: 'usage', usage } as const]),
      { type: 'completed', stopReason: stopReasonOf(this.#stopReason, this.#hasCalls) },
    ];
  }

  #start(message: JsonObject): readonly ModelEvent[] {
    if (this.#hasStarted) throw this.#broken('two messages');
    this.#hasStarted = true;
    this.#usage = withoutNulls(objectAt(message, 'usage') ?? {});
    return [];
  }

  #takeWhole(message: JsonObject): readonly ModelEvent[] {
    if (!Array.isArray(message['content'])) return [];
    const events = objectsAt(message, 'content').flatMap((start, index) => {
      const opened = this.#openBlock(index, start);
      const block = this.#blockAt({ index });
      this.#open.delete(index);
      return [...opened, ...this.#closeBlock(block)];
    });
    this.#usage = withoutNulls(objectAt(message, 'usage') ?? {});
    this.#stopReason = stringAt(message, 'stop_reason') ?? 'end_turn';
    return [...events, ...this.#finish()];
  }

  #openBlock(index: number | undefined, start: JsonObject | undefined): readonly ModelEvent[] {
    const type = start && stringAt(start, 'type');
    if (index === undefined || start === undefined || type === undefined || this.#open.has(index)) {
      throw this.#broken('a block that begins wrongly');
    }
    const block: Block = { type, start, text: '', signature: '' };
    this.#open.set(index, block);
    // Only the last block can be cut off, so the model wrote everything before it as it is.
    return [...this.#believe(), ...this.#grow(block, start)];
  }

  #believe(): readonly ModelEvent[] {
    const item = this.#doubtful;
    if (item === undefined) return [];
    this.#doubtful = undefined;
    this.#hasCalls = true;
    return [{ type: 'item_done', item }];
  }

  #blockAt(data: JsonObject): Block {
    const block = this.#open.get(countAt(data, 'index') ?? -1);
    if (block === undefined) throw this.#broken('a piece of a block that never began');
    return block;
  }

  #grow(block: Block, delta: JsonObject): readonly ModelEvent[] {
    block.signature += stringAt(delta, 'signature') ?? '';
    const text = stringAt(delta, 'text') ?? stringAt(delta, 'thinking') ?? '';
    block.text += text + (stringAt(delta, 'partial_json') ?? '');
    if (text === '') return [];
    if (block.type === 'text') return [{ type: 'text_delta', text }];
    return block.type === 'thinking' ? [{ type: 'reasoning_delta', text }] : [];
  }

  #closeBlock(block: Block): readonly ModelEvent[] {
    const item = this.#itemOf(block);
    if (item === undefined) return [];
    if (item.type === 'function_call' && !isObjectText(item.arguments)) {
      this.#doubtful = item;
      return [];
    }
    this.#hasCalls ||= item.type === 'function_call';
    return [{ type: 'item_done', item }];
  }

  #itemOf({ type, start, text, signature }: Block): Item | undefined {
    const { provider } = this.#settings;
    switch (type) {
      case 'text':
        return text === ''
          ? undefined
          : { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
      case 'thinking':
        return { type: 'reasoning', summary: [], text, ...(signature === '' ? {} : { signature }), provider };
      case 'redacted_thinking':
        return { type: 'reasoning', summary: [], encrypted_content: stringAt(start, 'data') ?? '', provider };
      case 'tool_use':
        return this.#callOf(start, text);
      default:
        // Blocks of tools that run at the provider, which Baton does not request.
        return undefined;
    }
  }

  #callOf(start: JsonObject, text: string): Item {
    const [id, name] = [stringAt(start, 'id'), stringAt(start, 'name')];
    if (id === undefined || name === undefined) throw this.#broken('a tool call without id or name');
    // Compatible servers send all arguments at the beginning.
    const whole = JSON.stringify(objectAt(start, 'input') ?? {});
    return { type: 'function_call', call_id: id, name, arguments: text === '' ? whole : text };
  }

  #finish(): readonly ModelEvent[] {
    if (this.#open.size > 0) throw this.#broken('a block without its end');
    if (this.#stopReason === undefined) throw this.#broken('no reason for its end');
    this.isFinished = true;
    return CUT_OFF.has(this.#stopReason) ? [] : this.#believe();
  }

  #whose(): { readonly provider: string; readonly key: string } {
    return { provider: this.#settings.provider, key: this.#settings.apiKey };
  }

  #broken(what: string): Error {
    return broken(this.#whose(), what);
  }
}

const TYPES: ReadonlySet<string> = new Set([
  'content_block_start',
  'content_block_delta',
  'content_block_stop',
  'message_delta',
  'message_stop',
]);

/** Stop reasons after which the last block may be incomplete. */
const CUT_OFF: ReadonlySet<string> = new Set(['max_tokens', 'model_context_window_exceeded', 'refusal']);

function stopReasonOf(reason: string | undefined, hasCalls: boolean): StopReason {
  switch (reason) {
    case 'max_tokens':
      return 'output_limit';
    case 'model_context_window_exceeded':
      return 'window_full';
    case 'refusal':
      return 'refused';
    case 'pause_turn':
      return 'paused';
    default:
      return hasCalls ? 'tool_calls' : 'end_turn';
  }
}

function isObjectText(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text));
  } catch {
    return false;
  }
}

function withoutNulls(usage: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
}

/** The sum of the parts that are billed separately is the input. @source Anthropic, prompt caching: tracking performance */
function anthropicUsage(usage: JsonObject): ModelUsage | undefined {
  const plain = countAt(usage, 'input_tokens');
  const output = countAt(usage, 'output_tokens') ?? 0;
  if (plain === undefined) return undefined;
  const cachedInput = countAt(usage, 'cache_read_input_tokens') ?? 0;
  const cacheWrite = countAt(usage, 'cache_creation_input_tokens') ?? 0;
  const input = plain + cachedInput + cacheWrite;
  return possibleUsage({
    source: 'reported',
    covers: 'response',
    total: input + output,
    input,
    cachedInput,
    cacheWrite,
    output,
    reasoningOutput: 0,
  });
}
