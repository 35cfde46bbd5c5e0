// What Anthropic's Messages API takes. @source its API reference, the pages on tool use, extended thinking and prompt
// caching, and the errors that it answers with

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
import { isSealed, signThinking } from './seals.ts';

const NAME = text(/^[a-zA-Z0-9_-]{1,128}$/);
const ID = text(/^[a-zA-Z0-9_-]+$/);
const MARK = { 'cache_control?': fields({ type: oneOf('ephemeral'), 'ttl?': oneOf('5m', '1h') }) };

const words: Check = (value, path) => {
  text()(value, path);
  if (String(value).trim() === '') {
    throw new Invalid(path, 'messages: text content blocks must contain non-whitespace text');
  }
};

const textBlock = fields({ type: anyText, text: words, ...MARK });
const image = fields({
  type: anyText,
  source: byType({
    base64: fields({
      type: anyText,
      media_type: oneOf('image/jpeg', 'image/png', 'image/gif', 'image/webp'),
      data: text(/^[A-Za-z0-9+/]+=*$/),
    }),
    url: fields({ type: anyText, url: text(/^https?:\/\//) }),
  }),
  ...MARK,
});
const document = fields({ type: anyText, source: object, 'title?': anyText, 'context?': anyText, ...MARK });

const toolResult: Check = (value, path) => {
  const { content, is_error: isError } = asObject(value, path);
  fields({
    type: anyText,
    tool_use_id: ID,
    'content?': textOr(listOf(byType({ text: textBlock, image, document }))),
    'is_error?': boolean,
    ...MARK,
  })(value, path);
  const isEmpty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0);
  if (isError === true && isEmpty) {
    throw new Invalid(path, `${path}: content cannot be empty if \`is_error\` is true`);
  }
};

const userBlock = byType({ text: textBlock, image, document, tool_result: toolResult });

const thinking: Check = (value, path) => {
  fields({ type: anyText, thinking: anyText, signature: anyText })(value, path);
  const block = asObject(value, path);
  if (block['signature'] !== signThinking(String(block['thinking']))) {
    throw new Invalid(path, `${path}: Invalid \`signature\` in \`thinking\` block`);
  }
};

const redacted: Check = (value, path) => {
  fields({ type: anyText, data: anyText })(value, path);
  if (!isSealed(String(asObject(value, path)['data']))) {
    throw new Invalid(path, `${path}: Invalid \`data\` in \`redacted_thinking\` block`);
  }
};

const assistantBlock = byType({
  text: textBlock,
  thinking,
  redacted_thinking: redacted,
  tool_use: fields({ type: anyText, id: ID, name: NAME, input: object, ...MARK }),
});

const message: Check = (value, path) => {
  const isAnswer = asObject(value, path)['role'] === 'assistant';
  fields({
    role: oneOf('user', 'assistant'),
    content: textOr(listOf(isAnswer ? assistantBlock : userBlock, 1)),
  })(value, path);
};

const body = fields({
  model: text(/./),
  max_tokens: count(1),
  messages: listOf(message, 1),
  'system?': textOr(listOf(textBlock)),
  'stream?': boolean,
  'tools?': listOf(
    fields({
      name: NAME,
      'description?': anyText,
      input_schema: (value, path) => {
        if (asObject(value, path)['type'] !== 'object')
          throw new Invalid(path, `${path}.type: Input should be 'object'`);
      },
      ...MARK,
    }),
  ),
  'tool_choice?': byType({
    auto: fields({ type: anyText }),
    any: fields({ type: anyText }),
    none: fields({ type: anyText }),
  }),
  'thinking?': byType({
    enabled: fields({ type: anyText, budget_tokens: count(1024) }),
    adaptive: fields({ type: anyText }),
    disabled: fields({ type: anyText }),
  }),
  'output_config?': fields({
    'effort?': oneOf('low', 'medium', 'high', 'max'),
    'format?': byType({ json_schema: fields({ type: anyText, schema: object }) }),
  }),
});

/** @throws Invalid */
export function checkAnthropic(value: JsonObject): void {
  body(value, '');
  const messages = asArray(value['messages'], 'messages').map((each) => asObject(each, 'messages'));
  if (messages[0]?.['role'] !== 'user')
    throw new Invalid('messages.0', 'messages: first message must use the "user" role');
  if (messages.at(-1)?.['role'] !== 'user') {
    throw new Invalid('messages', 'This model does not support assistant message prefill.');
  }
  if (value['tool_choice'] !== undefined && asArray(value['tools'] ?? [], 'tools').length === 0) {
    throw new Invalid('tool_choice', 'tool_choice may only be specified while providing tools');
  }
  const hasCalls = messages.some((each) =>
    blocksOf(each).some(({ type }) => type === 'tool_use' || type === 'tool_result'),
  );
  if (hasCalls && asArray(value['tools'] ?? [], 'tools').length === 0) {
    throw new Invalid('', 'Requests which include `tool_use` or `tool_result` blocks must define tools');
  }
  checkPairs(messages);
  checkThinking(value, messages);
  const marks = JSON.stringify(value).match(/"cache_control":/g)?.length ?? 0;
  if (marks > 4)
    throw new Invalid('', `A maximum of 4 blocks with cache_control may be provided. Found ${marks}.`);
}

/** The body of a request that only counts. */
export function checkAnthropicCount(value: JsonObject): void {
  for (const key of ['max_tokens', 'stream']) {
    if (value[key] !== undefined) throw new Invalid(key, `${key}: Extra inputs are not permitted`);
  }
  checkAnthropic({ ...value, max_tokens: 1_000_000 });
}

function blocksOf(each: JsonObject | undefined): readonly JsonObject[] {
  const content = each?.['content'];
  return Array.isArray(content) ? (content as readonly JsonObject[]) : [];
}

function checkPairs(messages: readonly JsonObject[]): void {
  const seen = new Set<string>();
  messages.forEach((each, index) => {
    const path = `messages.${index}`;
    const calls = ids(messages[index - 1], 'tool_use', 'id');
    const results = ids(each, 'tool_result', 'tool_use_id');
    for (const id of results) {
      if (!calls.includes(id))
        throw new Invalid(path, `${path}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}`);
    }
    if (new Set(results).size < results.length)
      throw new Invalid(path, 'each tool_use must have a single result');
    const missing = calls.filter((id) => !results.includes(id));
    if (missing.length > 0) {
      throw new Invalid(
        path,
        `${path}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing.join(', ')}`,
      );
    }
    const types = blocksOf(each).map(({ type }) => type);
    if (results.length > 0 && types.slice(0, results.length).some((type) => type !== 'tool_result')) {
      throw new Invalid(path, `${path}: \`tool_result\` blocks must come first`);
    }
    for (const id of ids(each, 'tool_use', 'id')) {
      if (seen.has(id)) throw new Invalid(path, 'messages: `tool_use` ids must be unique');
      seen.add(id);
    }
  });
}

function ids(each: JsonObject | undefined, type: string, key: string): readonly string[] {
  return blocksOf(each)
    .filter((block) => block['type'] === type)
    .map((block) => String(block[key]));
}

function isThinking(block: JsonObject | undefined): boolean {
  return block?.['type'] === 'thinking' || block?.['type'] === 'redacted_thinking';
}

/** Models of before the adaptive kind. */
const WITH_BUDGET = /^claude-(?:3-7|(?:opus|sonnet|haiku)-4(?:-[015])?(?:-\d{8})?$)/;

function checkThinking(value: JsonObject, messages: readonly JsonObject[]): void {
  messages.forEach((each, index) => {
    if (each['role'] === 'assistant' && isThinking(blocksOf(each).at(-1))) {
      throw new Invalid(`messages.${index}`, 'The final block in an assistant message cannot be `thinking`.');
    }
  });
  const mode = value['thinking'] === undefined ? undefined : asObject(value['thinking'], 'thinking');
  const hasBudget = WITH_BUDGET.test(String(value['model']));
  if (mode?.['type'] === 'adaptive' && hasBudget) {
    throw new Invalid('thinking', 'adaptive thinking is not supported on this model');
  }
  if (mode?.['type'] !== 'enabled') return;
  if (!hasBudget) throw new Invalid('thinking', '"thinking.type.enabled" is not supported for this model.');
  if (Number(mode['budget_tokens']) >= Number(value['max_tokens'])) {
    throw new Invalid('max_tokens', '`max_tokens` must be greater than `thinking.budget_tokens`.');
  }
  if (
    ids(messages.at(-1), 'tool_result', 'tool_use_id').length > 0 &&
    !isThinking(blocksOf(messages.at(-2))[0])
  ) {
    throw new Invalid('messages', 'Expected `thinking` or `redacted_thinking`, but found `tool_use`.');
  }
}
