// Items as the blocks of Anthropic messages: the reverse of reading.

import type {
  Item,
  JsonObject,
  MessageItem,
  Part,
  ReasoningItem,
  ToolOutputItem,
} from '../../protocol/item.ts';
import type { Format } from '../../vocabulary.ts';
import { isJsonObject, stringAt } from '../fields.ts';

/** The blocks of a message's parts; omits empty texts, which the API rejects. */
export function messageBlocks(parts: readonly Part[]): JsonObject[] {
  return parts.flatMap((part): JsonObject[] => {
    switch (part.type) {
      case 'input_image':
        return [imageBlock(part.image_url)];
      case 'other':
        return [part.value];
      case 'refusal':
        return textBlocks(part.refusal);
      default:
        return textBlocks(part.text);
    }
  });
}

function textBlocks(text: string): JsonObject[] {
  return text.trim() === '' ? [] : [{ type: 'text', text }];
}

const DATA_URL = /^data:([^;,]+);base64,(.*)$/s;

function imageBlock(url: string | undefined): JsonObject {
  if (url === undefined) return { type: 'text', text: '[image]' };
  const match = DATA_URL.exec(url);
  if (match === null) return { type: 'image', source: { type: 'url', url } };
  const [, mediaType = '', data = ''] = match;
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
}

/** The content of a message line: a bare string if that is enough, as Claude Code itself writes. */
export function userContent(item: MessageItem): string | JsonObject[] {
  const [only, ...more] = item.content;
  if (more.length === 0 && only?.type === 'input_text') return only.text;
  return messageBlocks(item.content);
}

/**
 * The block of a reasoning item; undefined if the API would reject it: it accepts back only its own thinking, signed or
 * encrypted.
 */
export function reasoningBlock(item: ReasoningItem, from: Format): JsonObject | undefined {
  if (from !== 'claude-code' && from !== 'anthropic') return undefined;
  if (item.signature !== undefined) {
    return { type: 'thinking', thinking: item.text ?? '', signature: item.signature };
  }
  const data = item.encrypted_content;
  return typeof data === 'string' && data !== '' ? { type: 'redacted_thinking', data } : undefined;
}

/** A call as a block: `input` must be an object there, so other arguments are wrapped in one. */
export function callBlock(item: Item, id: string): JsonObject | undefined {
  switch (item.type) {
    case 'function_call':
      return { type: 'tool_use', id, name: toolName(item.name), input: parsedInput(item.arguments) };
    case 'custom_tool_call':
      return { type: 'tool_use', id, name: toolName(item.name), input: { input: item.input } };
    case 'local_shell_call':
      return { type: 'tool_use', id, name: 'local_shell', input: item.action };
    default:
      return undefined;
  }
}

function parsedInput(text: string): JsonObject {
  try {
    const value: unknown = JSON.parse(text);
    if (isJsonObject(value)) return value;
  } catch {
    // Arguments that the model never finished stay as text.
  }
  return { input: text };
}

/** @source Anthropic Messages API: ^[a-zA-Z0-9_-]{1,128}$ */
function toolName(name: string): string {
  const clean = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 128);
  return clean === '' ? 'tool' : clean;
}

/** An id that the API accepts. @source Anthropic Messages API: ^[a-zA-Z0-9_-]+$ */
export function toolId(callId: string): string {
  const clean = callId.replaceAll(/[^a-zA-Z0-9_-]/g, '_');
  return clean === '' ? 'call' : clean;
}

/** The result of a call as a block. */
export function resultBlock(item: ToolOutputItem, id: string): JsonObject {
  const content = typeof item.output === 'string' ? item.output : messageBlocks(item.output);
  return { type: 'tool_result', tool_use_id: id, content, is_error: item.success === false };
}

/** The result for a call without one: otherwise the API rejects the whole conversation. */
export function missingResultBlock(id: string): JsonObject {
  return {
    type: 'tool_result',
    tool_use_id: id,
    content: 'No result was recorded for this call.',
    is_error: true,
  };
}

/** The block, e.g. of a web search, if this result is one that a server put into the answer itself. */
export function serverResult(item: ToolOutputItem): JsonObject | undefined {
  if (typeof item.output === 'string' || item.output.length !== 1) return undefined;
  const [part] = item.output;
  if (part?.type !== 'other') return undefined;
  return (stringAt(part.value, 'type') ?? '').endsWith('_tool_result') ? part.value : undefined;
}
