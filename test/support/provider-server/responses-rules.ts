// What OpenAI's Responses API takes. @source its API reference and the errors that it answers with

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
import { isSealed } from './seals.ts';

const NAME = text(/^[a-zA-Z0-9_-]{1,64}$/);
const CALL_ID = text(/^.{1,64}$/s);
const IMAGE_URL = text(/^(?:https?:\/\/\S+|data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+=*)$/);

const inputPart = byType({
  input_text: fields({ type: anyText, text: anyText }),
  input_image: fields({ type: anyText, image_url: IMAGE_URL, 'detail?': oneOf('auto', 'low', 'high') }),
});
const outputPart = byType({
  output_text: fields({ type: anyText, text: anyText, 'annotations?': listOf(object) }),
  refusal: fields({ type: anyText, refusal: anyText }),
});

const message: Check = (value, path) => {
  const isAnswer = asObject(value, path)['role'] === 'assistant';
  fields({
    type: anyText,
    role: oneOf('user', 'assistant', 'system', 'developer'),
    content: textOr(listOf(isAnswer ? outputPart : inputPart)),
    'id?': text(/^msg_/),
    'status?': anyText,
  })(value, path);
};

const sealed: Check = (value, path) => {
  text()(value, path);
  if (!isSealed(String(value)))
    throw new Invalid(path, `The encrypted content at ${path} could not be verified.`);
};

const output = fields({ type: anyText, call_id: CALL_ID, output: textOr(listOf(inputPart)), 'id?': anyText });

const item = byType({
  message,
  // Without its ciphertext it would have to be stored, which `store: false` forbids.
  reasoning: fields({
    type: anyText,
    summary: listOf(fields({ type: oneOf('summary_text'), text: anyText })),
    encrypted_content: sealed,
    'id?': text(/^rs_/),
    'content?': listOf(object),
  }),
  function_call: fields({
    type: anyText,
    call_id: CALL_ID,
    name: NAME,
    arguments: anyText,
    'id?': text(/^fc_/),
    'status?': anyText,
  }),
  function_call_output: output,
  custom_tool_call: fields({
    type: anyText,
    call_id: CALL_ID,
    name: NAME,
    input: anyText,
    'id?': anyText,
    'status?': anyText,
  }),
  custom_tool_call_output: output,
  local_shell_call: fields({
    type: anyText,
    call_id: CALL_ID,
    action: object,
    status: anyText,
    'id?': anyText,
  }),
  web_search_call: fields({ type: anyText, status: anyText, action: object, 'id?': anyText }),
  compaction: fields({ type: anyText, encrypted_content: sealed, 'id?': anyText }),
  compaction_trigger: fields({ type: anyText }),
});

const tool = byType({
  function: fields({
    type: anyText,
    name: NAME,
    'description?': anyText,
    parameters: object,
    'strict?': boolean,
  }),
});

const body = fields({
  model: text(/./),
  input: listOf(item, 1),
  'instructions?': anyText,
  'tools?': listOf(tool),
  'tool_choice?': oneOf('auto', 'none', 'required'),
  'parallel_tool_calls?': boolean,
  'stream?': boolean,
  'store?': boolean,
  'include?': listOf(oneOf('reasoning.encrypted_content')),
  'reasoning?': fields({
    'effort?': oneOf('none', 'minimal', 'low', 'medium', 'high', 'xhigh'),
    'summary?': oneOf('auto', 'concise', 'detailed'),
  }),
  'text?': fields({
    'verbosity?': oneOf('low', 'medium', 'high'),
    'format?': byType({
      text: fields({ type: anyText }),
      json_schema: fields({ type: anyText, name: NAME, schema: object, 'strict?': boolean }),
    }),
  }),
  'max_output_tokens?': count(16),
  'prompt_cache_key?': text(/^.{1,64}$/s),
});

/** @throws Invalid */
export function checkResponses(value: JsonObject): void {
  body(value, '');
  const items = asArray(value['input'], 'input').map((each) => asObject(each, 'input'));
  checkPairs(items);
  items.forEach((each, index) => {
    if (each['type'] === 'reasoning' && !FOLLOWS_REASONING.has(followerType(items[index + 1]))) {
      throw new Invalid(
        `input.${index}`,
        `Item of type 'reasoning' was provided without its required following item.`,
      );
    }
    if (each['type'] === 'compaction_trigger' && index !== items.length - 1) {
      throw new Invalid(`input.${index}`, 'compaction_trigger must be the last item.');
    }
  });
  const canReason = !/^(?:gpt-4|gpt-3)/.test(String(value['model']));
  if (!canReason && (value['reasoning'] !== undefined || value['include'] !== undefined)) {
    throw new Invalid('reasoning', 'Encrypted content is not supported with this model.');
  }
}

const FOLLOWS_REASONING: ReadonlySet<string> = new Set([
  'assistant',
  'reasoning',
  'function_call',
  'custom_tool_call',
  'local_shell_call',
  'web_search_call',
]);

function followerType(next: JsonObject | undefined): string {
  return String(next?.['type'] === 'message' ? next['role'] : next?.['type']);
}

const CALLS = new Set<unknown>(['function_call', 'custom_tool_call', 'local_shell_call']);
const OUTPUTS = new Set<unknown>(['function_call_output', 'custom_tool_call_output']);

function checkPairs(items: readonly JsonObject[]): void {
  const open = new Map<string, number>();
  items.forEach((each, index) => {
    const id = String(each['call_id']);
    if (CALLS.has(each['type'])) open.set(id, index);
    if (OUTPUTS.has(each['type']) && !open.delete(id)) {
      throw new Invalid(`input.${index}`, `No tool call found for function call output with call_id ${id}.`);
    }
  });
  for (const [id, index] of open) {
    throw new Invalid(`input.${index}`, `No tool output found for function call ${id}.`);
  }
}
