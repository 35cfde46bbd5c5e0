// OpenAI Responses: encrypted reasoning, and the provider's own compaction.

import { isItemPayload, readItem } from '../../formats/codex/items.ts';
import { arrayAt, countAt, isJsonObject, objectAt, objectsAt, stringAt } from '../../formats/fields.ts';
import { callOf } from '../../protocol/item.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import type {
  ModelEvent,
  ModelRequest,
  ModelUsage,
  RemoteCompaction,
  RestartedEvent,
  ToolSpec,
} from '../../protocol/model.ts';
import type { Model } from '../../ports.ts';
import type { StopReason } from '../../vocabulary.ts';
import { endpoint, retrying, streamAnswer } from './adapter.ts';
import type { AnswerFold, ProviderSettings } from './adapter.ts';
import { wireHistory } from './history.ts';
import { modelInfo } from '../models.ts';
import { broken, complaintInStream, requestJson, WHOLE_ANSWER } from './transport.io.ts';
import type { Call, StreamPart } from './transport.io.ts';
import { possibleUsage } from './usage.ts';

/** What a provider of the Responses API supports besides answering; OpenAI itself supports all of it. */
export interface ResponsesAbilities {
  /**
   * How it compacts: `trigger`: a last item `compaction_trigger` in a normal request; `endpoint`: `POST
   * /responses/compact`; undefined: not. @source codex-behaviour §4.3
   */
  readonly compaction?: 'trigger' | 'endpoint';
  /** `POST /responses/input_tokens`. */
  readonly countsTokens?: boolean;
}

/** A model that speaks the Responses API. */
export function responsesModel(settings: ProviderSettings, abilities: ResponsesAbilities = {}): Model {
  const callOfRequest = (path: string, body: JsonObject, signal: Call['signal']): Call => ({
    provider: settings.provider,
    url: endpoint(settings, path),
    headers: settings.apiKey === '' ? {} : { authorization: `Bearer ${settings.apiKey}` },
    key: settings.apiKey,
    idleTimeoutMs: settings.idleTimeoutMs,
    answerTimeoutMs: settings.answerTimeoutMs,
    body,
    signal,
  });
  const { compaction } = abilities;
  return {
    provider: settings.provider,
    stream: (request, signal) =>
      streamAnswer(
        callOfRequest('responses', responsesBody(request, settings.provider), signal),
        settings,
        () => new ResponsesFold(settings),
        request.items,
      ),
    ...(compaction === undefined
      ? {}
      : {
          compactRemote: (request, signal, onRestart = ignore) => {
            const body = responsesBody(request, settings.provider);
            return compaction === 'trigger'
              ? compactByTrigger(callOfRequest('responses', withTrigger(body), signal), settings, onRestart)
              : compactByEndpoint(
                  callOfRequest('responses/compact', compactBody(body), signal),
                  settings,
                  onRestart,
                );
          },
        }),
    ...(abilities.countsTokens === true
      ? {
          countTokens: async (request, signal) => {
            const { model, instructions, tools, input } = responsesBody(request, settings.provider);
            const body = defined({ model, instructions, tools, input });
            const answer = await retrying(
              callOfRequest('responses/input_tokens', body, signal),
              settings,
              requestJson,
            );
            const count = countAt(answer, 'input_tokens');
            if (count === undefined) throw broken(whose(settings), 'no count of tokens');
            return count;
          },
        }
      : {}),
  };
}

/** The body of a request; the growing part comes last. @param provider whose reasoning is sent back */
export function responsesBody(request: ModelRequest, provider: string): JsonObject {
  const { instructions, messages } = wireHistory(request, 'responses', provider);
  const { reasoning } = modelInfo(request.model);
  const canReason = reasoning === 'effort' || (reasoning === undefined && request.effort !== undefined);
  return defined({
    model: request.model,
    stream: true,
    // Baton keeps the history; the provider stores nothing, so it includes its reasoning in encrypted form.
    store: false,
    include: canReason ? ['reasoning.encrypted_content'] : undefined,
    reasoning: canReason ? defined({ effort: request.effort, summary: 'auto' }) : undefined,
    text: textOptions(request),
    max_output_tokens: request.maxOutputTokens,
    prompt_cache_key: request.cacheKey,
    instructions: instructions === '' ? undefined : instructions,
    ...(request.tools.length === 0
      ? {}
      : { tools: request.tools.map(responsesTool), tool_choice: 'auto', parallel_tool_calls: true }),
    input: messages,
  });
}

/** An object without undefined values. */
export function defined(value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
}

function textOptions({ schema, verbosity }: ModelRequest): JsonObject | undefined {
  if (schema === undefined && verbosity === undefined) return undefined;
  const format = schema && { type: 'json_schema', name: schema.name, schema: schema.schema, strict: true };
  return defined({ verbosity, format });
}

function responsesTool({ name, description, parameters }: ToolSpec): JsonObject {
  return { type: 'function', name, description, parameters, strict: false };
}

function withTrigger(body: JsonObject): JsonObject {
  return { ...body, input: [...arrayAt(body, 'input'), { type: 'compaction_trigger' }] };
}

function compactBody({ model, instructions, tools, input }: JsonObject): JsonObject {
  return defined({ model, instructions, tools, input });
}

type OnRestart = (event: RestartedEvent) => void;

const ignore: OnRestart = () => undefined;

async function compactByTrigger(
  call: Call,
  settings: ProviderSettings,
  onRestart: OnRestart,
): Promise<RemoteCompaction> {
  let items: Item[] = [];
  let usage: ModelUsage | undefined;
  for await (const event of streamAnswer(call, settings, () => new ResponsesFold(settings), [])) {
    if (event.type === 'item_done') items.push(event.item);
    else if (event.type === 'usage') usage = event.usage;
    else if (event.type === 'restarted') {
      [items, usage] = [[], undefined];
      onRestart(event);
    }
  }
  return { items: oneCompaction(items, settings), usage };
}

async function compactByEndpoint(
  call: Call,
  settings: ProviderSettings,
  onRestart: OnRestart,
): Promise<RemoteCompaction> {
  const answer = await retrying(call, settings, requestJson, onRestart);
  const items = objectsAt(answer, 'output').flatMap((each) => outputItem(each, settings.provider));
  oneCompaction(items, settings);
  return { items, usage: responsesUsage(objectAt(answer, 'usage')) };
}

/** The compaction in an answer that must contain exactly one. */
function oneCompaction(items: readonly Item[], settings: ProviderSettings): readonly Item[] {
  const compactions = items.filter(
    (item) =>
      item.type === 'compaction' && item.encrypted_content !== undefined && item.encrypted_content !== '',
  );
  if (compactions.length === 1) return compactions;
  throw broken(
    whose(settings),
    `${compactions.length} compactions among ${items.length} items instead of one`,
  );
}

function whose({ provider, apiKey }: ProviderSettings): Pick<Call, 'provider' | 'key'> {
  return { provider, key: apiKey };
}

class ResponsesFold implements AnswerFold {
  readonly #settings: ProviderSettings;
  readonly #items: Item[] = [];
  #last: readonly ModelEvent[] | undefined;

  constructor(settings: ProviderSettings) {
    this.#settings = settings;
  }

  get isFinished(): boolean {
    return this.#last !== undefined;
  }

  end(): readonly ModelEvent[] | undefined {
    return this.#last;
  }

  accept(part: StreamPart): readonly ModelEvent[] {
    if (part === 'done') return [];
    const { data } = part;
    switch (stringAt(data, 'type') ?? part.name) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return [{ type: 'text_delta', text: stringAt(data, 'delta') ?? '' }];
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return [{ type: 'reasoning_delta', text: stringAt(data, 'delta') ?? '' }];
      case 'response.output_item.done':
        return this.#itemDone(data['item']);
      case 'response.completed':
      case 'response.incomplete':
        return this.#finish(objectAt(data, 'response') ?? {});
      case WHOLE_ANSWER:
        return Array.isArray(data['output']) ? this.#finish(data) : [];
      case 'response.failed':
        throw complaintInStream(
          whose(this.#settings),
          objectAt(objectAt(data, 'response') ?? {}, 'error') ?? {},
        );
      case 'error':
        throw complaintInStream(whose(this.#settings), objectAt(data, 'error') ?? data);
      default:
        return [];
    }
  }

  #itemDone(value: JsonObject[string]): readonly ModelEvent[] {
    if (!isJsonObject(value) || !isItemPayload(value))
      throw broken(whose(this.#settings), 'an item without a type');
    const items = outputItem(value, this.#settings.provider);
    this.#items.push(...items);
    return items.map((item) => ({ type: 'item_done', item }));
  }

  #finish(response: JsonObject): readonly ModelEvent[] {
    // Some servers of this format send the items only here.
    const late: readonly ModelEvent[] =
      this.#items.length === 0 ? arrayAt(response, 'output').flatMap((item) => this.#itemDone(item)) : [];
    const usage = responsesUsage(objectAt(response, 'usage'));
    this.#last = [
      ...(usage === undefined ? [] : [{ type: 'usage', usage } as const]),
      { type: 'completed', stopReason: stopReasonOf(response, this.#items) },
    ];
    return late;
  }
}

/** The item of an output; none for a call that the output limit cut off. */
function outputItem(value: JsonObject, provider: string): readonly Item[] {
  if (!isItemPayload(value)) return [];
  const item = readItem(value, () => undefined);
  if (callOf(item) !== undefined && value['status'] === 'incomplete') return [];
  return [item.type === 'reasoning' || item.type === 'compaction' ? { ...item, provider } : item];
}

function stopReasonOf(response: JsonObject, items: readonly Item[]): StopReason {
  const reason = stringAt(objectAt(response, 'incomplete_details') ?? {}, 'reason');
  if (reason === 'content_filter') return 'refused';
  if (reason !== undefined || response['status'] === 'incomplete') return 'output_limit';
  if (
    items.some(
      (item) =>
        item.type === 'function_call' || item.type === 'custom_tool_call' || item.type === 'local_shell_call',
    )
  ) {
    return 'tool_calls';
  }
  const isRefusal = items.some(
    (item) => item.type === 'message' && item.content.some((part) => part.type === 'refusal'),
  );
  return isRefusal ? 'refused' : 'end_turn';
}

function responsesUsage(usage: JsonObject | undefined): ModelUsage | undefined {
  if (usage === undefined) return undefined;
  const input = countAt(usage, 'input_tokens') ?? 0;
  const output = countAt(usage, 'output_tokens') ?? 0;
  return possibleUsage({
    source: 'reported',
    covers: 'response',
    total: input + output,
    input,
    cachedInput: countAt(objectAt(usage, 'input_tokens_details') ?? {}, 'cached_tokens') ?? 0,
    cacheWrite: 0,
    output,
    reasoningOutput: countAt(objectAt(usage, 'output_tokens_details') ?? {}, 'reasoning_tokens') ?? 0,
  });
}
