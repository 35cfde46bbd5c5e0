// A scripted reply as the events of each wire. @source the providers' streaming references, and the shapes that the real
// tools accept (docs/real-tools.md)

import type { JsonObject } from '../../../src/protocol/item.ts';
import type { WireApi } from '../../../src/vocabulary.ts';
import { seal, signThinking, stateOf } from './seals.ts';
import type { Reply, ScriptedCall } from './script.ts';

/** One event as it goes over the wire. */
export interface WireEvent {
  /** What follows `event:`; undefined: the wire names none. */
  readonly name: string | undefined;
  readonly data: string;
}

/** What a reply is put together from. Tokens are the server's own count unless the script says otherwise. */
export interface Answer {
  readonly reply: Reply;
  readonly model: string;
  /** Of this request, counted from 1: it makes ids that come once only. */
  readonly number: number;
  readonly input: number;
  readonly cached: number;
  readonly output: number;
  /** Tokens of hidden reasoning that come before everything else. */
  readonly hidden?: number;
}

/** Characters of one delta. */
const DELTA = 12;

/** The events of an answer, the terminal one last. */
export function eventsOf(wire: WireApi, answer: Answer): readonly WireEvent[] {
  switch (wire) {
    case 'responses':
      return responsesEvents(answer).map((data) => ({
        name: String(data['type']),
        data: JSON.stringify(data),
      }));
    case 'anthropic':
      return anthropicEvents(answer).map((data) => ({
        name: String(data['type']),
        data: JSON.stringify(data),
      }));
    case 'chat':
      return [
        ...chatEvents(answer).map((data) => ({ name: undefined, data: JSON.stringify(data) })),
        { name: undefined, data: '[DONE]' },
      ];
  }
}

/** The event with which a provider reports an error inside of a stream. */
export function errorEvent(wire: WireApi, code: string, message: string): WireEvent {
  switch (wire) {
    case 'responses':
      return event('response.failed', {
        type: 'response.failed',
        response: { status: 'failed', error: { code, message } },
      });
    case 'anthropic':
      return event('error', { type: 'error', error: { type: code, message } });
    case 'chat':
      return event(undefined, { error: { code, message } });
  }
}

function event(name: string | undefined, data: JsonObject): WireEvent {
  return { name, data: JSON.stringify(data) };
}

function pieces(text: string): readonly string[] {
  return text.match(new RegExp(`.{1,${DELTA}}`, 'gsu')) ?? [];
}

/** @source Codex counts encrypted reasoning as its bytes without 650, by 4 (src/tokens/estimate.ts) */
function thought(tokens: number): string {
  return 'thought '.repeat(Math.ceil((tokens * 4 + 650) / 8));
}

function argumentsOf(call: ScriptedCall): string {
  return typeof call.arguments === 'string' ? call.arguments : JSON.stringify(call.arguments);
}

function responsesEvents(answer: Answer): readonly JsonObject[] {
  const { reply, number, input, cached, output, hidden = 0, model } = answer;
  const events: JsonObject[] = [];
  const items: JsonObject[] = [];
  const done = (item: JsonObject): void => {
    events.push({ type: 'response.output_item.done', output_index: items.length, item });
    items.push(item);
  };
  const isCut = reply.stop === 'max_output_tokens';
  if (reply.reasoning !== undefined) {
    for (const delta of pieces(reply.reasoning))
      events.push({ type: 'response.reasoning_summary_text.delta', delta });
    done({
      type: 'reasoning',
      id: `rs_${number}`,
      summary: [{ type: 'summary_text', text: reply.reasoning }],
      encrypted_content: seal(reply.reasoning),
    });
  }
  if (hidden > 0) {
    done({
      type: 'reasoning',
      id: `rs_${number}_hidden`,
      summary: [],
      encrypted_content: seal(thought(hidden)),
    });
  }
  if (reply.compacts === true) {
    done({
      type: 'compaction',
      id: `cmp_${number}`,
      encrypted_content: stateOf(reply, `compaction ${number}`),
    });
  }
  if (reply.text !== undefined) {
    events.push({
      type: 'response.output_item.added',
      item: { type: 'message', id: `msg_${number}`, content: [] },
    });
    for (const delta of pieces(reply.text)) events.push({ type: 'response.output_text.delta', delta });
    done({
      type: 'message',
      id: `msg_${number}`,
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: reply.text, annotations: [] }],
    });
  }
  (reply.calls ?? []).forEach((call, index, all) => {
    const args = argumentsOf(call);
    for (const delta of pieces(args)) events.push({ type: 'response.function_call_arguments.delta', delta });
    done({
      type: 'function_call',
      id: `fc_${number}_${index}`,
      call_id: call.id ?? `call_${number}_${index}`,
      name: call.name,
      arguments: args,
      status: isCut && index === all.length - 1 ? 'incomplete' : 'completed',
    });
  });
  const id = `resp_${number}`;
  const isIncomplete = reply.stop !== undefined && reply.stop !== 'completed';
  return [
    { type: 'response.created', response: { id, status: 'in_progress' } },
    ...events,
    {
      type: isIncomplete ? 'response.incomplete' : 'response.completed',
      response: {
        id,
        object: 'response',
        model,
        status: isIncomplete ? 'incomplete' : 'completed',
        incomplete_details: isIncomplete ? { reason: reply.stop } : null,
        output: items,
        usage: {
          input_tokens: input,
          input_tokens_details: { cached_tokens: cached },
          output_tokens: output,
          output_tokens_details: { reasoning_tokens: reply.reasoning === undefined ? 0 : 1 },
          total_tokens: input + output,
        },
      },
    },
  ];
}

function chatEvents({
  reply,
  number,
  input,
  cached,
  output,
  hidden = 0,
  model,
}: Answer): readonly JsonObject[] {
  const deltas: JsonObject[] = [{ role: 'assistant', content: '' }];
  // This wire hides no reasoning.
  if (hidden > 0) deltas.push({ reasoning_content: thought(hidden) });
  for (const reasoning_content of pieces(reply.reasoning ?? '')) deltas.push({ reasoning_content });
  for (const content of pieces(reply.text ?? '')) deltas.push({ content });
  (reply.calls ?? []).forEach((call, index) => {
    const id = call.id ?? `call_${number}_${index}`;
    deltas.push({
      tool_calls: [{ index, id, type: 'function', function: { name: call.name, arguments: '' } }],
    });
    for (const piece of pieces(argumentsOf(call))) {
      deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
    }
  });
  const chunk = (delta: JsonObject, finish: string | null): JsonObject => ({
    id: `chatcmpl_${number}`,
    object: 'chat.completion.chunk',
    model,
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const finish = reply.stop ?? ((reply.calls ?? []).length > 0 ? 'tool_calls' : 'stop');
  return [
    ...deltas.map((delta) => chunk(delta, null)),
    chunk({}, finish),
    {
      id: `chatcmpl_${number}`,
      object: 'chat.completion.chunk',
      model,
      choices: [],
      usage: {
        prompt_tokens: input,
        prompt_tokens_details: { cached_tokens: cached },
        completion_tokens: output,
        total_tokens: input + output,
      },
    },
  ];
}

function anthropicEvents(answer: Answer): readonly JsonObject[] {
  const { reply, number, input, cached, output, hidden = 0, model } = answer;
  const blocks: JsonObject[] = [];
  let index = 0;
  const block = (start: JsonObject, deltas: readonly JsonObject[]): void => {
    blocks.push({ type: 'content_block_start', index, content_block: start });
    for (const delta of deltas) blocks.push({ type: 'content_block_delta', index, delta });
    blocks.push({ type: 'content_block_stop', index });
    index++;
  };
  if (reply.reasoning !== undefined) {
    block({ type: 'thinking', thinking: '', signature: '' }, [
      ...pieces(reply.reasoning).map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: signThinking(reply.reasoning) },
    ]);
    block({ type: 'redacted_thinking', data: seal(reply.reasoning) }, []);
  }
  if (hidden > 0) block({ type: 'redacted_thinking', data: seal(thought(hidden)) }, []);
  if (reply.text !== undefined) {
    block(
      { type: 'text', text: '' },
      pieces(reply.text).map((text) => ({ type: 'text_delta', text })),
    );
  }
  (reply.calls ?? []).forEach((call, at) => {
    block(
      { type: 'tool_use', id: call.id ?? `toolu_${number}_${at}`, name: call.name, input: {} },
      pieces(argumentsOf(call)).map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    );
  });
  const stop = reply.stop ?? ((reply.calls ?? []).length > 0 ? 'tool_use' : 'end_turn');
  return [
    {
      type: 'message_start',
      message: {
        id: `msg_${number}`,
        type: 'message',
        role: 'assistant',
        model,
        content: [],
        stop_reason: null,
        usage: {
          input_tokens: input - cached,
          cache_read_input_tokens: cached,
          cache_creation_input_tokens: 0,
          output_tokens: 1,
        },
      },
    },
    { type: 'ping' },
    ...blocks,
    {
      type: 'message_delta',
      delta: { stop_reason: stop, stop_sequence: null },
      usage: { output_tokens: output },
    },
    { type: 'message_stop' },
  ];
}
