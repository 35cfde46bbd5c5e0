// What Chat Completions takes, in the reading of its strictest servers: templates that want one system message at the
// beginning, roles that alternate, arguments that are JSON. @source OpenAI's API reference and errors; the chat templates
// of vLLM and llama.cpp

import type { JsonObject } from '../../../src/protocol/item.ts';
import {
  anyText,
  asArray,
  asObject,
  boolean,
  byType,
  count,
  fields,
  Invalid,
  listOf,
  object,
  oneOf,
  text,
  textOr,
} from './check.ts';
import type { Check } from './check.ts';

const NAME = text(/^[a-zA-Z0-9_-]{1,64}$/);
const CALL_ID = text(/^.{1,40}$/s);
const IMAGE_URL = text(/^(?:https?:\/\/\S+|data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*)$/);

const textPart = fields({ type: anyText, text: anyText });
const userPart = byType({
  text: textPart,
  image_url: fields({ type: anyText, image_url: fields({ url: IMAGE_URL, 'detail?': anyText }) }),
});

const jsonText: Check = (value, path) => {
  text()(value, path);
  try {
    asObject(JSON.parse(String(value)), path);
  } catch {
    throw new Invalid(path, `${path}: arguments must be a JSON object`);
  }
};

const call = byType({
  function: fields({ type: anyText, id: CALL_ID, function: fields({ name: NAME, arguments: jsonText }) }),
});

const ROLES: Readonly<Record<string, Check>> = {
  system: fields({ role: anyText, content: textOr(listOf(textPart, 1)) }),
  user: fields({ role: anyText, content: textOr(listOf(userPart, 1)) }),
  tool: fields({ role: anyText, content: textOr(listOf(textPart, 1)), tool_call_id: CALL_ID }),
};

const assistant: Check = (value, path) => {
  const { content, tool_calls: calls } = asObject(value, path);
  const nullable: Check = (each, at) => {
    if (each !== null) textOr(listOf(textPart, 1))(each, at);
  };
  fields({ role: anyText, content: nullable, 'tool_calls?': listOf(call, 1) })(value, path);
  if (content === null && calls === undefined) {
    throw new Invalid(path, `Invalid value for 'content': expected a string, got null.`);
  }
};

const message: Check = (value, path) => {
  const role = String(asObject(value, path)['role']);
  const check = role === 'assistant' ? assistant : ROLES[role];
  if (check === undefined) throw new Invalid(`${path}.role`, `Invalid value: '${role}'.`);
  check(value, path);
};

const body = fields({
  model: text(/./),
  messages: listOf(message, 1),
  'stream?': boolean,
  'stream_options?': fields({ include_usage: boolean }),
  'reasoning_effort?': oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
  'verbosity?': oneOf('low', 'medium', 'high'),
  'max_tokens?': count(1),
  'max_completion_tokens?': count(1),
  'prompt_cache_key?': anyText,
  'response_format?': byType({
    json_schema: fields({
      type: anyText,
      json_schema: fields({ name: NAME, schema: object, 'strict?': boolean }),
    }),
  }),
  'tools?': listOf(
    byType({
      function: fields({
        type: anyText,
        function: fields({ name: NAME, 'description?': anyText, parameters: object }),
      }),
    }),
    1,
  ),
});

/** @throws Invalid */
export function checkChat(value: JsonObject): void {
  body(value, '');
  const messages = asArray(value['messages'], 'messages').map((each) => asObject(each, 'messages'));
  let open = new Set<string>();
  let last = '';
  messages.forEach((each, index) => {
    const path = `messages.${index}`;
    const role = String(each['role']);
    if (role === 'tool') {
      if (!open.delete(String(each['tool_call_id']))) {
        throw new Invalid(
          path,
          `messages with role 'tool' must be a response to a preceding message with 'tool_calls'.`,
        );
      }
    } else if (open.size > 0) throw unanswered(path, open);
    if (role === 'system' && index > 0) throw new Invalid(path, 'System message must be at the beginning.');
    if (role === 'user' && last === 'user') throw new Invalid(path, 'Conversation roles must alternate.');
    if (role === 'assistant') {
      const calls = each['tool_calls'] === undefined ? [] : asArray(each['tool_calls'], path);
      open = new Set(calls.map((one) => String(asObject(one, path)['id'])));
      if (open.size < calls.length) throw new Invalid(path, `Duplicate value for 'tool_call_id'.`);
    }
    last = role;
  });
  if (open.size > 0) throw unanswered('messages', open);
}

function unanswered(path: string, open: ReadonlySet<string>): Invalid {
  return new Invalid(
    path,
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${[...open].join(', ')}`,
  );
}
