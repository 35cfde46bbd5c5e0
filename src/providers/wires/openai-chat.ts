// OpenAI Chat Completions, as spoken with small differences by Ollama, vLLM, llama.cpp, OpenRouter and many others.

import { countAt, isJsonObject, objectAt, objectsAt, stringAt } from '../../formats/fields.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import type { ModelEvent, ModelRequest, ModelUsage, ToolSpec } from '../../protocol/model.ts';
import type { Model } from '../../ports.ts';
import type { StopReason } from '../../vocabulary.ts';
import { endpoint, streamAnswer } from './adapter.ts';
import type { AnswerFold, ProviderSettings } from './adapter.ts';
import { wireHistory } from './history.ts';
import { defined } from './openai-responses.ts';
import { broken, complaintInStream, WHOLE_ANSWER } from './transport.io.ts';
import type { StreamPart } from './transport.io.ts';
import { possibleUsage } from './usage.ts';

/** The settings of a chat server besides those of all providers. */
export interface ChatSettings extends ProviderSettings {
  /** The key for the limit of the answer: OpenAI itself requires the long one, most others know only the short one. */
  readonly outputLimitKey: 'max_completion_tokens' | 'max_tokens';
  /** An unused call id, for servers that send none. */
  readonly newId: () => string;
}

/** A model that speaks Chat Completions. */
export function chatModel(settings: ChatSettings): Model {
  const { provider, apiKey, idleTimeoutMs, answerTimeoutMs } = settings;
  return {
    provider,
    stream: (request, signal) =>
      streamAnswer(
        {
          provider,
          url: endpoint(settings, 'chat/completions'),
          headers: apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` },
          key: apiKey,
          idleTimeoutMs,
          answerTimeoutMs,
          body: chatBody(request, settings),
          signal,
        },
        settings,
        () => new ChatFold(settings),
        request.items,
      ),
  };
}

/** The body of a request; the growing part comes last. */
export function chatBody(
  request: ModelRequest,
  { provider, outputLimitKey }: Pick<ChatSettings, 'provider' | 'outputLimitKey'>,
): JsonObject {
  const { instructions, messages } = wireHistory(request, 'chat', provider);
  const { schema } = request;
  return defined({
    model: request.model,
    stream: true,
    stream_options: { include_usage: true },
    reasoning_effort: request.effort,
    verbosity: request.verbosity,
    [outputLimitKey]: request.maxOutputTokens,
    prompt_cache_key: request.cacheKey,
    response_format: schema && {
      type: 'json_schema',
      json_schema: { name: schema.name, schema: schema.schema, strict: true },
    },
    ...(request.tools.length === 0 ? {} : { tools: request.tools.map(chatTool) }),
    messages: [...(instructions === '' ? [] : [{ role: 'system', content: instructions }]), ...messages],
  });
}

function chatTool({ name, description, parameters }: ToolSpec): JsonObject {
  return { type: 'function', function: { name, description, parameters } };
}

interface PartialCall {
  readonly key: string;
  id: string;
  name: string;
  arguments: string;
}

class ChatFold implements AnswerFold {
  readonly #settings: ChatSettings;
  readonly #calls: PartialCall[] = [];
  #text = '';
  #refusal = '';
  #reasoning = '';
  #finishReason: string | undefined;
  #usage: ModelUsage | undefined;
  isFinished = false;

  constructor(settings: ChatSettings) {
    this.#settings = settings;
  }

  accept(part: StreamPart): readonly ModelEvent[] {
    if (part === 'done') {
      this.isFinished = true;
      return [];
    }
    const { data } = part;
    if (data['error'] !== undefined && data['error'] !== null) throw this.#complaint(data['error']);
    if (part.name === 'error') throw this.#complaint(data);
    // Usage comes with the last chunk, or in a separate one without choices.
    this.#usage = chatUsage(objectAt(data, 'usage')) ?? this.#usage;
    const [choice] = objectsAt(data, 'choices');
    if (choice === undefined) return [];
    const events = this.#takeDelta(objectAt(choice, 'delta') ?? objectAt(choice, 'message') ?? {});
    this.#finishReason = stringAt(choice, 'finish_reason') ?? this.#finishReason;
    if (part.name === WHOLE_ANSWER) this.#finishReason ??= 'stop';
    return events;
  }

  /** The finish reason makes an answer complete: many servers omit the final `[DONE]`. */
  end(): readonly ModelEvent[] | undefined {
    const reason = this.#finishReason;
    if (reason === undefined) return undefined;
    if (reason === 'error') throw this.#complaint({ message: 'The answer ended with an error.' });
    const isCut = reason === 'length';
    const calls = this.#calls.filter((call) => !isCut || isJson(call.arguments));
    return [
      ...this.#items(calls).map((item) => ({ type: 'item_done', item }) as const),
      ...(this.#usage === undefined ? [] : [{ type: 'usage', usage: this.#usage } as const]),
      { type: 'completed', stopReason: this.#stopReason(reason, calls.length > 0) },
    ];
  }

  #takeDelta(delta: JsonObject): readonly ModelEvent[] {
    const events: ModelEvent[] = [];
    // @source DeepSeek, llama.cpp and older vLLM: `reasoning_content`; OpenRouter, Ollama and newer vLLM: `reasoning`
    const reasoning = stringAt(delta, 'reasoning_content') ?? stringAt(delta, 'reasoning') ?? '';
    const refusal = stringAt(delta, 'refusal') ?? '';
    const text = stringAt(delta, 'content') ?? '';
    this.#reasoning += reasoning;
    this.#refusal += refusal;
    this.#text += text;
    if (reasoning !== '') events.push({ type: 'reasoning_delta', text: reasoning });
    if (text + refusal !== '') events.push({ type: 'text_delta', text: text + refusal });
    for (const call of objectsAt(delta, 'tool_calls')) this.#takeCall(call);
    return events;
  }

  #takeCall(value: JsonObject): void {
    const index = countAt(value, 'index');
    const id = stringAt(value, 'id') ?? '';
    const last = this.#calls.at(-1);
    // Some servers omit the index: then an id begins a call, and a piece without one belongs to the last.
    const key = index === undefined ? (id === '' ? last?.key : `id ${id}`) : `index ${index}`;
    if (key === undefined) throw broken(this.#whose(), 'a piece of a tool call that never began');
    const of = objectAt(value, 'function') ?? {};
    let call = this.#calls.findLast((each) => each.key === key);
    if (call === undefined || isNext(call, { index, id, name: stringAt(of, 'name') ?? '' })) {
      call = { key, id: '', name: '', arguments: '' };
      this.#calls.push(call);
    }
    const args = of['arguments'];
    call.id ||= id;
    call.name ||= stringAt(of, 'name') ?? '';
    call.arguments +=
      typeof args === 'string' ? args : args === undefined || args === null ? '' : JSON.stringify(args);
  }

  #items(calls: readonly PartialCall[]): readonly Item[] {
    const items: Item[] = [];
    if (this.#reasoning !== '') {
      items.push({
        type: 'reasoning',
        summary: [],
        text: this.#reasoning,
        provider: this.#settings.provider,
      });
    }
    const content = [
      ...(this.#text === '' ? [] : [{ type: 'output_text', text: this.#text } as const]),
      ...(this.#refusal === '' ? [] : [{ type: 'refusal', refusal: this.#refusal } as const]),
    ];
    if (content.length > 0) items.push({ type: 'message', role: 'assistant', content });
    for (const call of calls) {
      if (call.name === '') throw broken(this.#whose(), 'a tool call without a name');
      items.push({
        type: 'function_call',
        name: call.name,
        arguments: call.arguments === '' ? '{}' : call.arguments,
        call_id: call.id === '' ? this.#settings.newId() : call.id,
      });
    }
    return items;
  }

  #stopReason(reason: string, hasCalls: boolean): StopReason {
    if (reason === 'length') return 'output_limit';
    if (reason === 'content_filter' || this.#refusal !== '') return 'refused';
    // Some servers report `stop` after calls.
    return hasCalls ? 'tool_calls' : 'end_turn';
  }

  #whose(): { readonly provider: string; readonly key: string } {
    return { provider: this.#settings.provider, key: this.#settings.apiKey };
  }

  #complaint(error: JsonObject[string]): Error {
    return complaintInStream(this.#whose(), isJsonObject(error) ? error : { message: String(error) });
  }
}

/** Some servers number every call 0, and some give every call the same id: then a name shows that another call begins. */
function isNext(
  call: PartialCall,
  { index, id, name }: { readonly index: number | undefined; readonly id: string; readonly name: string },
): boolean {
  if (name === '') return false;
  const isOtherId = id !== '' && call.id !== '' && id !== call.id;
  return isOtherId || (index === undefined && call.name !== '' && isJson(call.arguments));
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function chatUsage(usage: JsonObject | undefined): ModelUsage | undefined {
  if (usage === undefined) return undefined;
  const input = countAt(usage, 'prompt_tokens') ?? 0;
  const output = countAt(usage, 'completion_tokens') ?? 0;
  return possibleUsage({
    source: 'reported',
    covers: 'response',
    total: input + output,
    input,
    // DeepSeek has a different name for it.
    cachedInput:
      countAt(objectAt(usage, 'prompt_tokens_details') ?? {}, 'cached_tokens') ??
      countAt(usage, 'prompt_cache_hit_tokens') ??
      0,
    cacheWrite: 0,
    output,
    reasoningOutput: countAt(objectAt(usage, 'completion_tokens_details') ?? {}, 'reasoning_tokens') ?? 0,
  });
}
