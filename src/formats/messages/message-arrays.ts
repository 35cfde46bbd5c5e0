// A history as an array of messages that an API accepts unchanged.

import { MISSING_RESULT, normalizeItems } from '../../history/pairs.ts';
import { inWords, shadowMessage } from '../../history/shadow.ts';
import type {
  CompactionItem,
  Item,
  JsonObject,
  Part,
  ReasoningItem,
  ToolOutputItem,
} from '../../protocol/item.ts';
import { textOfParts } from '../../protocol/item.ts';
import type { Format, MessageFormat } from '../../vocabulary.ts';
import { isAnsweredCall, turnsOf } from './answers.ts';
import type { AnsweredCall } from './answers.ts';
import {
  callBlock,
  messageBlocks,
  missingResultBlock,
  reasoningBlock,
  resultBlock,
  serverResult,
} from '../claude-code/blocks.ts';
import { toWire } from '../codex/wire.ts';
import { arrayAt, isJsonObject, stringAt } from '../fields.ts';

/**
 * The messages of a history.
 * @param source the format of the items: only its own provider accepts encrypted or signed reasoning back
 */
export function writeMessages(
  format: MessageFormat,
  items: readonly Item[],
  source: Format,
): readonly JsonObject[] {
  const readable = format === 'responses' ? items : inWords(items);
  // A call that cannot be written must not be answered, so unsupported kinds are removed first.
  const writable = readable.filter((item) =>
    item.type === 'unknown'
      ? format === 'responses' && source === 'responses'
      : item.type !== 'message' || item.isApiErrorMessage !== true,
  );
  const sent = normalizeItems(writable).items;
  switch (format) {
    case 'responses':
      return sent.flatMap((item) => responsesItem(item, source));
    case 'chat':
      return chatMessages(sent);
    case 'anthropic':
      return anthropicMessages(sent, source);
  }
}

/** The API would reject the keys that only Codex writes, so items are rewritten from what Baton knows of them. */
function responsesItem(item: Item, source: Format): readonly JsonObject[] {
  const isOwn = source === 'responses' || source === 'codex';
  if (item.type === 'reasoning') return isOwn ? encryptedReasoning(item) : [];
  if (item.type === 'compaction') return compactionItem(item, isOwn, source);
  if (item.type === 'unknown') return [item.raw];
  if (item.type === 'message' && item.content.length === 0) return [];
  const wire = toWire(item, 'claude-code');
  if (wire.place !== 'payload') return [];
  const { name } = wire.payload;
  return [typeof name === 'string' ? { ...wire.payload, name: toolName(name) } : wire.payload];
}

/** The origin of a compaction is known only if Baton requested it: only the Responses API makes any. */
function compactionItem(item: CompactionItem, isOwn: boolean, source: Format): readonly JsonObject[] {
  const { encrypted_content: content, provider } = item;
  if ((isOwn || provider !== undefined) && content !== undefined) {
    return [{ type: 'compaction', encrypted_content: content }];
  }
  const shadow = shadowMessage(item);
  return shadow === undefined ? [] : responsesItem(shadow, source);
}

/** Omits the id by which the provider would look up an item that it may not have stored. */
function encryptedReasoning({ summary, encrypted_content: content }: ReasoningItem): readonly JsonObject[] {
  if (typeof content !== 'string' || content === '') return [];
  return [
    {
      type: 'reasoning',
      summary: summary.map(({ type, text }) => ({ type, text })),
      encrypted_content: content,
    },
  ];
}

/** @source OpenAI: `^[a-zA-Z0-9_-]{1,64}$` */
function toolName(name: string): string {
  const clean = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64);
  return clean === '' ? 'tool' : clean;
}

function chatMessages(items: readonly Item[]): readonly JsonObject[] {
  const messages: JsonObject[] = [];
  /** The content of the last message if it has several items: grows in place, however many follow. */
  let merged: JsonObject[] | undefined;
  for (const turn of turnsOf(items)) {
    if (turn.type === 'answer') {
      for (const message of chatAnswer(turn.parts)) messages.push(message);
      continue;
    }
    const message = chatMessage(turn.item);
    const last = messages.at(-1);
    // Templates of many models require alternating roles.
    if (message?.['role'] === 'user' && last?.['role'] === 'user') {
      if (merged === undefined || merged !== last['content']) merged = [...chatParts(last['content'])];
      for (const part of chatParts(message['content'])) merged.push(part);
      messages[messages.length - 1] = { role: 'user', content: merged };
    } else if (message !== undefined) messages.push(message);
  }
  return messages;
}

function chatParts(content: JsonObject[string]): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return arrayAt({ content }, 'content').filter(isJsonObject);
}

function chatMessage(item: Item): JsonObject | undefined {
  if (item.type === 'attachment') return item.text === '' ? undefined : { role: 'user', content: item.text };
  if (item.type !== 'message') return undefined;
  if (item.role !== 'user') {
    const text = readableText(item.content);
    return text === '' ? undefined : { role: 'system', content: text };
  }
  if (!item.content.some((part) => part.type === 'input_image' && part.image_url !== undefined)) {
    const text = readableText(item.content);
    return text === '' ? undefined : { role: 'user', content: text };
  }
  const content = item.content.map((part) =>
    part.type === 'input_image' && part.image_url !== undefined
      ? { type: 'image_url', image_url: { url: part.image_url } }
      : { type: 'text', text: readableText([part]) },
  );
  return { role: 'user', content };
}

/** An answer and the results of its calls. Omits reasoning, which the API does not accept back. */
function chatAnswer(parts: readonly (Item | AnsweredCall)[]): readonly JsonObject[] {
  const texts: string[] = [];
  const calls: JsonObject[] = [];
  const results: JsonObject[] = [];
  for (const part of parts) {
    if (!isAnsweredCall(part)) {
      if (part.type === 'message') texts.push(readableText(part.content));
      continue;
    }
    const call = chatCall(part);
    if (call === undefined) continue;
    calls.push(call);
    const content = part.result === undefined ? MISSING_RESULT : readableOutput(part.result.output);
    results.push({ role: 'tool', tool_call_id: part.id, content });
  }
  const text = texts.filter((each) => each !== '').join('\n\n');
  if (text === '' && calls.length === 0) return [];
  return [
    {
      role: 'assistant',
      content: text === '' ? null : text,
      ...(calls.length > 0 ? { tool_calls: calls } : {}),
    },
    ...results,
  ];
}

function chatCall({ item, id }: AnsweredCall): JsonObject | undefined {
  const block = callBlock(item, id);
  if (block === undefined) return undefined;
  const name = toolName(stringAt(block, 'name') ?? '');
  return { id, type: 'function', function: { name, arguments: JSON.stringify(block['input']) } };
}

/** Text of all parts; non-text parts have no place there and are described in words. */
function readableText(parts: readonly Part[]): string {
  return parts
    .map((part) => {
      if (part.type === 'input_image') return '[image]';
      return part.type === 'other' ? JSON.stringify(part.value) : textOfParts([part]);
    })
    .filter((text) => text !== '')
    .join('\n');
}

function readableOutput(output: ToolOutputItem['output']): string {
  return typeof output === 'string' ? output : readableText(output);
}

/** Precedes a conversation whose first message would be an answer, which the API rejects. */
const OPENING: JsonObject = { type: 'text', text: 'The conversation up to here is not included.' };

function anthropicMessages(items: readonly Item[], source: Format): readonly JsonObject[] {
  const isOwn = source === 'claude-code' || source === 'anthropic';
  const messages: { role: 'user' | 'assistant'; content: JsonObject[] }[] = [];
  const add = (role: 'user' | 'assistant', blocks: readonly JsonObject[]): void => {
    if (blocks.length === 0) return;
    const last = messages.at(-1);
    if (last === undefined && role === 'assistant') messages.push({ role: 'user', content: [OPENING] });
    if (last?.role === role) for (const block of blocks) last.content.push(block);
    else messages.push({ role, content: [...blocks] });
  };
  for (const turn of turnsOf(isOwn ? items : items.map(withoutForeignParts))) {
    if (turn.type === 'other') add('user', userBlocks(turn.item));
    else {
      const { blocks, results } = answerBlocks(turn.parts, source);
      add('assistant', blocks);
      add('user', results);
    }
  }
  return messages;
}

function userBlocks(item: Item): readonly JsonObject[] {
  if (item.type === 'attachment') return messageBlocks([{ type: 'input_text', text: item.text }]);
  if (item.type !== 'message') return [];
  if (item.role === 'user') return messageBlocks(item.content);
  // The array has no role for it; this is how Claude Code marks a text in the user role that no user wrote.
  const text = `<system-reminder>\n${readableText(item.content)}\n</system-reminder>`;
  return item.content.length === 0 ? [] : [{ type: 'text', text }];
}

function answerBlocks(
  parts: readonly (Item | AnsweredCall)[],
  source: Format,
): { readonly blocks: readonly JsonObject[]; readonly results: readonly JsonObject[] } {
  const blocks: JsonObject[] = [];
  const results: JsonObject[] = [];
  for (const part of parts) {
    if (!isAnsweredCall(part)) {
      for (const block of itemBlocks(part, source)) blocks.push(block);
      continue;
    }
    const { item, id, result } = part;
    const call = callBlock(item, id);
    if (call === undefined) continue;
    const answered = result === undefined ? undefined : serverResult(result);
    if (answered !== undefined) {
      blocks.push({ ...call, type: 'server_tool_use' }, answered);
      continue;
    }
    blocks.push(call);
    results.push(result === undefined ? missingResultBlock(id) : resultBlock(result, id));
  }
  return { blocks, results };
}

function itemBlocks(item: Item, source: Format): readonly JsonObject[] {
  if (item.type === 'message') return messageBlocks(item.content);
  if (item.type !== 'reasoning') return [];
  const block = reasoningBlock(item, source);
  return block === undefined ? [] : [block];
}

/** Converts another product's parts to text: the API rejects unknown blocks. */
function withoutForeignParts(item: Item): Item {
  if (item.type === 'message') return { ...item, content: item.content.map(asKnownPart) };
  const isResult = item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
  return isResult && typeof item.output !== 'string'
    ? { ...item, output: item.output.map(asKnownPart) }
    : item;
}

function asKnownPart(part: Part): Part {
  return part.type === 'other' ? { type: 'input_text', text: JSON.stringify(part.value) } : part;
}
