// The provider on the loopback is only worth its strictness: each documented rule, once kept and once broken.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { JsonObject } from '../../../src/protocol/item.ts';
import { checkAnthropic, checkAnthropicCount } from './anthropic-rules.ts';
import { checkChat } from './chat-rules.ts';
import { PromptCache } from './prompt-cache.ts';
import { checkResponses } from './responses-rules.ts';
import { parseScript } from './script.ts';
import { isSealed, seal, signThinking } from './seals.ts';

const user = { role: 'user', content: [{ type: 'text', text: 'Hello.' }] };
const toolUse = { type: 'tool_use', id: 'toolu_1', name: 'read', input: {} };
const toolResult = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok' };
const thinking = { type: 'thinking', thinking: 'Hm.', signature: signThinking('Hm.') };
const says = (...content: readonly JsonObject[]): JsonObject => ({ role: 'assistant', content });
const told = (...content: readonly JsonObject[]): JsonObject => ({ role: 'user', content });
const anthropic = (changed: JsonObject): JsonObject => ({
  model: 'claude-sonnet-4-5',
  max_tokens: 2000,
  messages: [user],
  ...(/"tool_(?:use|result)"/.test(JSON.stringify(changed)) ? { tools } : {}),
  ...changed,
});
const budget = { type: 'enabled', budget_tokens: 1024 };
const tools = [{ name: 'read', input_schema: { type: 'object' } }];
const mark = { type: 'ephemeral' };
const marked = (text: string): JsonObject => ({ type: 'text', text, cache_control: mark });

const call = { type: 'function_call', call_id: 'c1', name: 'read', arguments: '{}' };
const result = { type: 'function_call_output', call_id: 'c1', output: 'ok' };
const asks = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hello.' }] };
const answers = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] };
const reasons = { type: 'reasoning', summary: [], encrypted_content: seal('x') };
const responses = (changed: JsonObject): JsonObject => ({ model: 'gpt-5.1', input: [asks], ...changed });

const chatUser = { role: 'user', content: 'Hello.' };
const chatCall = { id: 'c1', type: 'function', function: { name: 'read', arguments: '{}' } };
const chatCalls = { role: 'assistant', content: null, tool_calls: [chatCall] };
const chatResult = { role: 'tool', tool_call_id: 'c1', content: 'ok' };
const chat = (...messages: readonly JsonObject[]): JsonObject => ({ model: 'm', messages });

type Row = readonly [
  rule: string,
  check: (body: JsonObject) => void,
  kept: JsonObject,
  broken: JsonObject,
  says: RegExp,
];

const ROWS: readonly Row[] = [
  ['unknown fields', checkAnthropic, anthropic({}), anthropic({ temprature: 1 }), /Extra inputs/],
  [
    'max_tokens is required',
    checkAnthropic,
    anthropic({}),
    { model: 'm', messages: [user] },
    /Field required/,
  ],
  [
    'the user begins',
    checkAnthropic,
    anthropic({}),
    anthropic({ messages: [says({ type: 'text', text: 'Hi.' }), user] }),
    /first message/,
  ],
  [
    'the user ends',
    checkAnthropic,
    anthropic({}),
    anthropic({ messages: [user, says({ type: 'text', text: 'Hi.' })] }),
    /prefill/,
  ],
  [
    'no other roles',
    checkAnthropic,
    anthropic({}),
    anthropic({ messages: [{ ...user, role: 'system' }] }),
    /one of user/,
  ],
  [
    'texts say something',
    checkAnthropic,
    anthropic({}),
    anthropic({ messages: [told({ type: 'text', text: ' ' })] }),
    /non-whitespace/,
  ],
  [
    'calls are answered next',
    checkAnthropic,
    anthropic({ messages: [user, says(toolUse), told(toolResult)] }),
    anthropic({ messages: [user, says(toolUse), user] }),
    /without `tool_result`/,
  ],
  [
    'results answer a call',
    checkAnthropic,
    anthropic({ messages: [user, says(toolUse), told(toolResult)] }),
    anthropic({ messages: [told(toolResult)] }),
    /unexpected `tool_use_id`/,
  ],
  [
    'results come first',
    checkAnthropic,
    anthropic({ messages: [user, says(toolUse), told(toolResult, { type: 'text', text: 'x' })] }),
    anthropic({ messages: [user, says(toolUse), told({ type: 'text', text: 'x' }, toolResult)] }),
    /come first/,
  ],
  [
    'one result for a call',
    checkAnthropic,
    anthropic({ messages: [user, says(toolUse), told(toolResult)] }),
    anthropic({ messages: [user, says(toolUse), told(toolResult, toolResult)] }),
    /single result/,
  ],
  [
    'ids are unique',
    checkAnthropic,
    anthropic({
      messages: [
        user,
        says(toolUse),
        told(toolResult),
        says({ ...toolUse, id: 'toolu_2' }),
        told({ ...toolResult, tool_use_id: 'toolu_2' }),
      ],
    }),
    anthropic({ messages: [user, says(toolUse), told(toolResult), says(toolUse), told(toolResult)] }),
    /unique/,
  ],
  [
    'ids have a pattern',
    checkAnthropic,
    anthropic({ messages: [user, says(toolUse), told(toolResult)] }),
    anthropic({
      messages: [user, says({ ...toolUse, id: 'a|b' }), told({ ...toolResult, tool_use_id: 'a|b' })],
    }),
    /pattern/,
  ],
  [
    'errors say something',
    checkAnthropic,
    anthropic({ messages: [user, says(toolUse), told({ ...toolResult, is_error: true })] }),
    anthropic({ messages: [user, says(toolUse), told({ ...toolResult, content: '', is_error: true })] }),
    /is_error/,
  ],
  [
    'thinking is signed',
    checkAnthropic,
    anthropic({ messages: [user, says(thinking, toolUse), told(toolResult)] }),
    anthropic({ messages: [user, says({ ...thinking, thinking: 'Hm!' }, toolUse), told(toolResult)] }),
    /Invalid `signature`/,
  ],
  [
    'redacted thinking is the own',
    checkAnthropic,
    anthropic({
      messages: [user, says({ type: 'redacted_thinking', data: seal('a') }, toolUse), told(toolResult)],
    }),
    anthropic({
      messages: [user, says({ type: 'redacted_thinking', data: 'a.b' }, toolUse), told(toolResult)],
    }),
    /Invalid `data`/,
  ],
  [
    'thinking is not last',
    checkAnthropic,
    anthropic({ messages: [user, says(thinking, { type: 'text', text: 'x' }), user] }),
    anthropic({ messages: [user, says(thinking), user] }),
    /final block/,
  ],
  [
    'a tool loop begins with its thinking',
    checkAnthropic,
    anthropic({ thinking: budget, messages: [user, says(thinking, toolUse), told(toolResult)] }),
    anthropic({ thinking: budget, messages: [user, says(toolUse), told(toolResult)] }),
    /Expected `thinking`/,
  ],
  [
    'the budget is below the limit',
    checkAnthropic,
    anthropic({ thinking: budget }),
    anthropic({ thinking: budget, max_tokens: 1024 }),
    /greater than/,
  ],
  [
    'the budget has a least',
    checkAnthropic,
    anthropic({ thinking: budget }),
    anthropic({ thinking: { ...budget, budget_tokens: 1023 } }),
    /at least 1024/,
  ],
  [
    'new models adapt',
    checkAnthropic,
    anthropic({ thinking: { type: 'adaptive' }, model: 'claude-opus-4-8' }),
    anthropic({ thinking: budget, model: 'claude-opus-4-8' }),
    /not supported/,
  ],
  [
    'old models have budgets',
    checkAnthropic,
    anthropic({ thinking: budget }),
    anthropic({ thinking: { type: 'adaptive' } }),
    /not supported/,
  ],
  [
    'four breakpoints',
    checkAnthropic,
    anthropic({ messages: [told(...'abcd'.split('').map(marked))] }),
    anthropic({ messages: [told(...'abcde'.split('').map(marked))] }),
    /maximum of 4/,
  ],
  [
    'no breakpoint on thinking',
    checkAnthropic,
    anthropic({ messages: [user, says(thinking, toolUse), told(toolResult)] }),
    anthropic({ messages: [user, says({ ...thinking, cache_control: mark }, toolUse), told(toolResult)] }),
    /Extra inputs/,
  ],
  [
    'known kinds of pictures',
    checkAnthropic,
    anthropic({
      messages: [told({ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } })],
    }),
    anthropic({
      messages: [
        told({ type: 'image', source: { type: 'base64', media_type: 'image/svg+xml', data: 'AAAA' } }),
      ],
    }),
    /one of image/,
  ],
  [
    'schemas are objects',
    checkAnthropic,
    anthropic({ tools }),
    anthropic({ tools: [{ name: 'read', input_schema: { type: 'string' } }] }),
    /'object'/,
  ],
  [
    'calls in the history need tools',
    checkAnthropic,
    anthropic({ messages: [user, says(toolUse), told(toolResult)] }),
    anthropic({ messages: [user, says(toolUse), told(toolResult)], tools: [] }),
    /must define tools/,
  ],
  [
    'tool_choice needs tools',
    checkAnthropic,
    anthropic({ tools, tool_choice: { type: 'auto' } }),
    anthropic({ tool_choice: { type: 'auto' } }),
    /while providing tools/,
  ],
  [
    'counting has no limit',
    checkAnthropicCount,
    { model: 'm', messages: [user] },
    anthropic({}),
    /Extra inputs/,
  ],
  ['unknown fields', checkResponses, responses({}), responses({ messages: [] }), /Extra inputs/],
  [
    'unknown fields of items',
    checkResponses,
    responses({}),
    responses({ input: [{ ...asks, origin: {} }] }),
    /Extra inputs/,
  ],
  [
    'unknown kinds of items',
    checkResponses,
    responses({}),
    responses({ input: [{ type: 'ghost_snapshot' }] }),
    /none of/,
  ],
  ['an input', checkResponses, responses({}), responses({ input: [] }), /at least 1/],
  [
    'the user does not speak as the model',
    checkResponses,
    responses({}),
    responses({ input: [{ ...answers, role: 'user' }] }),
    /none of input_text/,
  ],
  [
    'results answer a call',
    checkResponses,
    responses({ input: [asks, call, result] }),
    responses({ input: [asks, result] }),
    /No tool call found/,
  ],
  [
    'results come after the call',
    checkResponses,
    responses({ input: [asks, call, result] }),
    responses({ input: [asks, result, call] }),
    /No tool call found/,
  ],
  [
    'calls are answered',
    checkResponses,
    responses({ input: [asks, call, result] }),
    responses({ input: [asks, call] }),
    /No tool output found/,
  ],
  [
    'reasoning is followed',
    checkResponses,
    responses({ input: [asks, reasons, answers] }),
    responses({ input: [asks, reasons, asks] }),
    /required following item/,
  ],
  [
    'reasoning is encrypted',
    checkResponses,
    responses({ input: [asks, reasons, answers] }),
    responses({ input: [asks, { type: 'reasoning', summary: [] }, answers] }),
    /Field required/,
  ],
  [
    'reasoning is the own',
    checkResponses,
    responses({ input: [asks, reasons, answers] }),
    responses({ input: [asks, { ...reasons, encrypted_content: 'x.y' }, answers] }),
    /could not be verified/,
  ],
  [
    'the trigger is last',
    checkResponses,
    responses({ input: [asks, { type: 'compaction_trigger' }] }),
    responses({ input: [{ type: 'compaction_trigger' }, asks] }),
    /must be the last/,
  ],
  [
    'ids are short',
    checkResponses,
    responses({ input: [call, result] }),
    responses({ input: [{ ...call, call_id: 'x'.repeat(65) }, result] }),
    /pattern/,
  ],
  [
    'names have a pattern',
    checkResponses,
    responses({ input: [call, result] }),
    responses({ input: [{ ...call, name: 'a b' }, result] }),
    /pattern/,
  ],
  [
    'only models that reason are asked to',
    checkResponses,
    responses({ reasoning: { effort: 'low' } }),
    responses({ reasoning: { effort: 'low' }, model: 'gpt-4.1' }),
    /not supported/,
  ],
  ['unknown fields', checkChat, chat(chatUser), { ...chat(chatUser), thinking: {} }, /Extra inputs/],
  [
    'unknown fields of messages',
    checkChat,
    chat(chatUser),
    chat({ ...chatUser, reasoning_content: 'x' }),
    /Extra inputs/,
  ],
  ['known roles', checkChat, chat(chatUser), chat({ role: 'model', content: 'x' }), /Invalid value/],
  [
    'calls are answered',
    checkChat,
    chat(chatUser, chatCalls, chatResult),
    chat(chatUser, chatCalls, chatUser),
    /must be followed by tool messages/,
  ],
  [
    'calls are answered at the end',
    checkChat,
    chat(chatUser, chatCalls, chatResult),
    chat(chatUser, chatCalls),
    /must be followed by tool messages/,
  ],
  [
    'results answer a call',
    checkChat,
    chat(chatUser, chatCalls, chatResult),
    chat(chatUser, chatResult),
    /must be a response/,
  ],
  [
    'one result for a call',
    checkChat,
    chat(chatUser, chatCalls, chatResult),
    chat(chatUser, chatCalls, chatResult, chatResult),
    /must be a response/,
  ],
  [
    'an answer says or calls',
    checkChat,
    chat(chatUser, chatCalls, chatResult),
    chat(chatUser, { role: 'assistant', content: null }),
    /got null/,
  ],
  [
    'the system speaks first',
    checkChat,
    chat({ role: 'system', content: 'x' }, chatUser),
    chat(chatUser, { role: 'system', content: 'x' }),
    /at the beginning/,
  ],
  [
    'roles alternate',
    checkChat,
    chat(chatUser, { role: 'assistant', content: 'x' }, chatUser),
    chat(chatUser, chatUser),
    /alternate/,
  ],
  [
    'arguments are JSON',
    checkChat,
    chat(chatUser, chatCalls, chatResult),
    chat(
      chatUser,
      { ...chatCalls, tool_calls: [{ ...chatCall, function: { name: 'read', arguments: '{' } }] },
      chatResult,
    ),
    /JSON object/,
  ],
  [
    'ids are short',
    checkChat,
    chat(chatUser, chatCalls, chatResult),
    chat(chatUser, { ...chatCalls, tool_calls: [{ ...chatCall, id: 'x'.repeat(41) }] }, chatResult),
    /pattern/,
  ],
];

for (const [rule, check, kept, broken, complaint] of ROWS) {
  test(`${check.name}: ${rule}`, () => {
    check(kept);
    assert.throws(() => check(broken), { name: 'Invalid', message: complaint });
  });
}

test('seals are the own only when nothing was changed', () => {
  assert.equal(isSealed(seal('reasoning — 理由')), true);
  assert.equal(isSealed(seal('a').replace('.', 'A.')), false);
  assert.equal(isSealed('anything'), false);
});

test('the cache of Anthropic finds what a breakpoint wrote, within its lookback, and nothing else', () => {
  const cache = new PromptCache();
  const request = (count: number, ...marks: readonly number[]): JsonObject =>
    anthropic({
      messages: [
        told(
          ...Array.from({ length: count }, (_, index) =>
            marks.includes(index) ? marked(`block ${index}`) : { type: 'text', text: `block ${index}` },
          ),
        ),
      ],
    });
  assert.equal(cache.read('anthropic', request(3, 2)), 0);
  assert.notEqual(cache.read('anthropic', request(5, 4)), 0);
  assert.equal(cache.read('anthropic', request(60, 59)), 0, 'an entry was found beyond the lookback');
  assert.equal(new PromptCache().read('anthropic', request(3)), 0);
});

test('a script with a misspelt key is refused', () => {
  assert.throws(() => parseScript('{"replies":[{"txt":"a"}]}'), /a reply has no txt/);
  assert.throws(() => parseScript('{"replies":[]}'), /needs replies/);
});

test('the provider runs as a process of its own', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'baton-provider-'));
  const script = join(directory, 'script.json');
  writeFileSync(script, JSON.stringify({ replies: [{ text: 'Ahoy.' }] }));
  const main = new URL('main.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, ['--import', 'tsx', main, '--script', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const response = await fetch(`${line.toString().trim()}/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(chat(chatUser)),
    });
    assert.match(await response.text(), /Ahoy\./);
  } finally {
    child.kill();
    await once(child, 'exit');
    rmSync(directory, { recursive: true });
  }
});
