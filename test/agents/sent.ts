// What a request says, in one shape for both wire formats, without what the tools add to every request themselves.

import type { JsonObject } from '../../src/protocol/item.ts';
import { isObject, objectsOf } from './shape.ts';

/**
 * One thing that the model was sent, in order. Text of a call is its name, a space and its arguments; `other` is for
 * kinds that the tool itself does not know, with the kind as text.
 */
export interface SentItem {
  readonly role: 'user' | 'assistant' | 'developer' | 'reasoning' | 'tool_call' | 'tool_result' | 'other';
  readonly text: string;
}

/** A request taken apart. */
export interface Sent {
  /** The history: everything between what the tool puts first and the prompt of this run. */
  readonly items: readonly SentItem[];
  /** Instructions, reminders and attachments around the history, in one text. */
  readonly context: string;
  /** The last thing that the user said; the prompt of the run. */
  readonly prompt: string;
}

/**
 * The history in a request of Codex. Its first item is the base instructions, and right before the prompt it may put a
 * developer message with its instructions and a user message with the environment. Everything else is history.
 *
 * @throws TypeError when the request does not have that shape.
 * @source codex 0.169.0, measured; see docs/real-tools.md.
 */
export function sentByCodex(body: JsonObject): Sent {
  const input = objectsOf(body['input']);
  const base = input[0];
  const prompt = input.at(-1);
  if (base?.['role'] !== 'developer' || prompt?.['role'] !== 'user') {
    throw new TypeError('a request of Codex begins with a developer message and ends with the prompt');
  }
  const history = input.slice(1, -1);
  const added: JsonObject[] = [base];
  const environment = history.at(-1);
  if (environment !== undefined && codexText(environment).startsWith('<environment_context>')) {
    added.push(environment);
    history.pop();
  }
  const instructions = history.at(-1);
  if (instructions?.['role'] === 'developer') {
    added.push(instructions);
    history.pop();
  }
  return {
    items: history.map(codexItem),
    context: added.map(codexText).join('\n'),
    prompt: codexText(prompt),
  };
}

function codexItem(item: JsonObject): SentItem {
  switch (item['type']) {
    case 'message': {
      const role = item['role'];
      const known = role === 'user' || role === 'assistant' || role === 'developer';
      return { role: known ? role : 'other', text: codexText(item) };
    }
    case 'function_call':
      return { role: 'tool_call', text: `${stringOf(item['name'])} ${stringOf(item['arguments'])}` };
    case 'custom_tool_call':
      return { role: 'tool_call', text: `${stringOf(item['name'])} ${stringOf(item['input'])}` };
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { role: 'tool_result', text: textOf(item['output']) };
    case 'reasoning':
      return { role: 'reasoning', text: textOf(item['summary']) };
    default:
      return { role: 'other', text: stringOf(item['type']) };
  }
}

function codexText(item: JsonObject): string {
  return textOf(item['content']);
}

/** The text that Claude Code puts in the assistant's name where two user messages would meet. @source 2.1.329 */
const FILLER = 'No response requested.';

/**
 * The history in a request of Claude Code. `system` messages and `<system-reminder>` texts are context: the tool makes
 * them from its own state and from attachments of the session. So is the filler right before the prompt.
 *
 * @throws TypeError when the request does not end with a prompt.
 * @source claude-code 2.1.329, measured; see docs/real-tools.md.
 */
export function sentByClaude(body: JsonObject): Sent {
  const items: SentItem[] = [];
  const context: string[] = [textOf(body['system'])];
  for (const message of objectsOf(body['messages'])) {
    for (const item of claudeItems(message)) {
      if (item === undefined) context.push(textOf(message['content']));
      else if (item.text.startsWith('<system-reminder>')) context.push(item.text);
      else items.push(item);
    }
  }
  const prompt = items.pop();
  if (prompt?.role !== 'user') throw new TypeError('a request of Claude Code ends with the prompt');
  const last = items.at(-1);
  if (last?.role === 'assistant' && last.text === FILLER) items.pop();
  return { items, context: context.join('\n'), prompt: prompt.text };
}

/** The blocks of a message; `undefined` stands for a whole message that is context. */
function claudeItems(message: JsonObject): readonly (SentItem | undefined)[] {
  const role = message['role'];
  if (role !== 'user' && role !== 'assistant') return [undefined];
  const content = message['content'];
  if (typeof content === 'string') return [{ role, text: content.trimEnd() }];
  return objectsOf(content).map((block) => claudeItem(role, block));
}

function claudeItem(role: 'user' | 'assistant', block: JsonObject): SentItem {
  switch (block['type']) {
    case 'text':
      return { role, text: textOf([block]) };
    case 'tool_use':
      return { role: 'tool_call', text: `${stringOf(block['name'])} ${JSON.stringify(block['input'])}` };
    case 'tool_result':
      return { role: 'tool_result', text: textOf(block['content']) };
    case 'thinking':
      return { role: 'reasoning', text: stringOf(block['thinking']) };
    default:
      return { role: 'other', text: stringOf(block['type']) };
  }
}

// Claude Code ends a text with a line feed when it joins it to another one, so trailing space says nothing.
function textOf(content: unknown): string {
  if (typeof content === 'string') return content.trimEnd();
  return objectsOf(content)
    .map((part) => (typeof part['text'] === 'string' ? part['text'] : stringOf(part['type'])))
    .join('\n')
    .trimEnd();
}

function stringOf(value: unknown): string {
  if (typeof value === 'string') return value;
  return isObject(value) || Array.isArray(value) ? JSON.stringify(value) : '';
}
