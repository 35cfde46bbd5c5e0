import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { asLines, readSessionText } from '../../../test/support/read-format.ts';
import { isUserMessage, STEPS_LEGEND, SUMMARY_PREFIX } from '../../history/filter.ts';
import { callOf, resultCallId, textOfParts } from '../../protocol/item.ts';
import type { Item, JsonObject, Part } from '../../protocol/item.ts';
import { FORMATS, MESSAGE_FORMATS } from '../../vocabulary.ts';
import type { MessageFormat } from '../../vocabulary.ts';
import { writeMarkdown } from './markdown.ts';
import { writeMessages } from './message-arrays.ts';

function user(text: string): Item {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

function says(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

function call(callId: string, args = '{"path":"a"}'): Item {
  return { type: 'function_call', name: 'read', arguments: args, call_id: callId };
}

function result(callId: string, output = 'b'): Item {
  return { type: 'function_call_output', call_id: callId, output };
}

const boundary: Item = { type: 'compact_boundary', uuid: 'u', timestamp: '', trigger: 'manual' };
const summary: Item = { ...(user('The past.') as Item & { type: 'message' }), isCompactSummary: true };
const thinking: Item = { type: 'reasoning', summary: [], text: 'Hm.', signature: 'c2ln' };
const image: Part = { type: 'input_image', image_url: 'data:image/png;base64,AAAA' };

const history: readonly Item[] = [
  boundary,
  summary,
  { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Look.' }, image] },
  thinking,
  says('I read both.'),
  call('a'),
  call('b'),
  result('a', 'one'),
  { type: 'attachment', kind: 'file', path: 'x', text: 'Text of x.' },
  result('b', 'two'),
  says('Done.'),
  { type: 'progress', text: 'never sent' },
];

test('the same history for each API', () => {
  assert.deepEqual(writeMessages('chat', history, 'claude-code'), [
    { role: 'user', content: 'The past.' },
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'Look.' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
      ],
    },
    {
      role: 'assistant',
      content: 'I read both.',
      tool_calls: ['a', 'b'].map((id) => ({
        id,
        type: 'function',
        function: { name: 'read', arguments: '{"path":"a"}' },
      })),
    },
    { role: 'tool', tool_call_id: 'a', content: 'one' },
    { role: 'tool', tool_call_id: 'b', content: 'two' },
    { role: 'user', content: 'Text of x.' },
    { role: 'assistant', content: 'Done.' },
  ]);
  assert.deepEqual(writeMessages('anthropic', history, 'claude-code'), [
    {
      role: 'user',
      content: [
        { type: 'text', text: 'The past.' },
        { type: 'text', text: '<system-reminder>\nBe brief.\n</system-reminder>' },
        { type: 'text', text: 'Look.' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
        { type: 'text', text: 'I read both.' },
        { type: 'tool_use', id: 'a', name: 'read', input: { path: 'a' } },
        { type: 'tool_use', id: 'b', name: 'read', input: { path: 'a' } },
      ],
    },
    {
      role: 'user',
      content: [
        { type: 'tool_result', tool_use_id: 'a', content: 'one', is_error: false },
        { type: 'tool_result', tool_use_id: 'b', content: 'two', is_error: false },
        { type: 'text', text: 'Text of x.' },
      ],
    },
    { role: 'assistant', content: [{ type: 'text', text: 'Done.' }] },
  ]);
  assert.deepEqual(
    writeMessages('responses', history, 'claude-code').map(({ type, role }) => role ?? type),
    [
      'user',
      'developer',
      'user',
      'assistant',
      'function_call',
      'function_call',
      'function_call_output',
      'user',
      'function_call_output',
      'assistant',
    ],
  );
});

test('thinking goes back to its own provider only, and signed', () => {
  const items = [user('x'), thinking, says('y')];
  const kinds = (from: 'claude-code' | 'anthropic' | 'pi'): unknown =>
    blocksOf(writeMessages('anthropic', items, from)[1] ?? {}).map(({ type }) => type);
  assert.deepEqual(kinds('claude-code'), ['thinking', 'text']);
  assert.deepEqual(kinds('anthropic'), ['thinking', 'text']);
  assert.deepEqual(kinds('pi'), ['text']);
  const unsigned: Item = { type: 'reasoning', summary: [], text: 'Hm.' };
  const [, withoutThinking] = writeMessages('anthropic', [user('x'), unsigned, says('y')], 'anthropic');
  assert.deepEqual(withoutThinking?.['content'], [{ type: 'text', text: 'y' }]);
  const encrypted: Item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' };
  const written = writeMessages('responses', [user('x'), encrypted, says('y')], 'codex');
  assert.deepEqual(written[1], { type: 'reasoning', summary: [], encrypted_content: 'gAAA' });
  assert.equal(writeMessages('responses', [user('x'), encrypted, says('y')], 'chat').length, 2);
});

test('a second result of a call, an orphan and a client\u2019s placeholder are left out', () => {
  const failure: Item = { ...(says('API error') as Item & { type: 'message' }), isApiErrorMessage: true };
  const items = [user('x'), result('none'), call('a'), result('a'), result('a', 'again'), failure];
  for (const format of MESSAGE_FORMATS) {
    const text = JSON.stringify(writeMessages(format, items, 'chat'));
    assert.ok(!text.includes('none') && !text.includes('again') && !text.includes('API error'), format);
  }
});

test('what is said after a result stays after it', () => {
  const items = [user('x'), call('a'), result('a'), says('So it is b.')];
  const roles = (format: MessageFormat): unknown[] =>
    writeMessages(format, items, 'chat').map(({ role }) => role);
  assert.deepEqual(roles('chat'), ['user', 'assistant', 'tool', 'assistant']);
  assert.deepEqual(roles('anthropic'), ['user', 'assistant', 'user', 'assistant']);
});

// What the APIs refuse, written down anew: none of it shares code with the writer.

type Wire = readonly JsonObject[];

function blocksOf({ content }: JsonObject): JsonObject[] {
  return content as unknown as JsonObject[];
}

const ACCEPTS: Readonly<Record<MessageFormat, (messages: Wire) => void>> = {
  anthropic(messages) {
    let open: unknown[] = [];
    const used = new Set<unknown>();
    for (const [index, message] of messages.entries()) {
      assert.equal(
        message['role'],
        index % 2 === 0 ? 'user' : 'assistant',
        'roles alternate, the user first',
      );
      const blocks = blocksOf(message);
      assert.ok(blocks.length > 0, 'no empty message');
      const results = blocks.filter(({ type }) => type === 'tool_result');
      assert.deepEqual(
        results.map((block) => block['tool_use_id']),
        open,
        'results right after their calls',
      );
      assert.deepEqual(blocks.slice(0, results.length), results, 'results first');
      open = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
      for (const id of open) {
        assert.ok(!used.has(id), 'ids are unique');
        assert.match(String(id), /^[a-zA-Z0-9_-]+$/);
        used.add(id);
      }
      for (const block of blocks) {
        if (block['type'] === 'text') assert.notEqual(String(block['text']).trim(), '');
        if (block['type'] === 'thinking') assert.equal(typeof block['signature'], 'string');
      }
      assert.notEqual(blocks.at(-1)?.['type'], 'thinking', 'no answer ends in thinking');
    }
    assert.deepEqual(open, [], 'every call is answered');
  },
  chat(messages) {
    let open: unknown[] = [];
    for (const message of messages) {
      const { role } = message;
      if (role === 'tool') {
        assert.equal(message['tool_call_id'], open.shift(), 'results in the order of the calls');
        assert.equal(typeof message['content'], 'string');
        continue;
      }
      assert.deepEqual(open, [], 'every call is answered at once');
      assert.ok(role === 'system' || role === 'user' || role === 'assistant');
      const calls = (message['tool_calls'] ?? []) as unknown as JsonObject[];
      assert.ok(message['content'] !== null || calls.length > 0, 'an answer says or calls something');
      open = calls.map(({ id }) => id);
      for (const { function: body } of calls) {
        const { name, arguments: args } = body as JsonObject;
        assert.match(String(name), /^[a-zA-Z0-9_-]{1,64}$/);
        assert.doesNotThrow(() => JSON.parse(String(args)) as unknown);
      }
    }
    assert.deepEqual(open, []);
  },
  responses(messages) {
    const open = new Set<unknown>();
    for (const item of messages) {
      const { type, call_id: callId } = item;
      assert.equal(typeof type, 'string');
      if (type === 'function_call' || type === 'custom_tool_call') {
        assert.match(String(item['name']), /^[a-zA-Z0-9_-]{1,64}$/);
        open.add(callId);
      } else if (type === 'function_call_output' || type === 'custom_tool_call_output') {
        assert.ok(open.delete(callId), 'a result has a call before it');
      } else if (type === 'message') {
        const own = item['role'] === 'assistant' ? 'output_text' : 'input_text';
        for (const part of blocksOf(item)) {
          assert.ok(part['type'] === own || (part['type'] === 'input_image' && own === 'input_text'));
        }
      }
    }
    assert.equal(open.size, 0, 'every call is answered');
  },
};

const anyId = fc.constantFrom('a', 'b', 'c', 'd.1');
const anyText = fc.constantFrom('word', '', ' ', '```', '<b>', '\ud800');
const anyPart = fc.oneof(
  anyText.map((text): Part => ({ type: 'input_text', text })),
  fc.constant(image),
  fc.constant<Part>({ type: 'other', value: { type: 'strange', n: 1 } }),
);
const anyItem: fc.Arbitrary<Item> = fc.oneof(
  anyText.map(user),
  anyText.map(says),
  fc
    .tuple(
      fc.constantFrom('user' as const, 'system' as const, 'assistant' as const),
      fc.array(anyPart, { maxLength: 3 }),
    )
    .map(([role, content]): Item => ({ type: 'message', role, content })),
  fc.tuple(anyId, fc.constantFrom('{}', '{"a":1}', 'torn {', '[1]')).map(([id, args]) => call(id, args)),
  anyId.map((id): Item => ({ type: 'custom_tool_call', name: 'apply.patch', input: 'x', call_id: id })),
  fc.tuple(anyId, anyText).map(([id, text]) => result(id, text)),
  fc
    .tuple(anyId, fc.array(anyPart, { maxLength: 2 }))
    .map(([id, output]): Item => ({ type: 'function_call_output', call_id: id, output })),
  fc.constantFrom<Item>(
    thinking,
    boundary,
    { type: 'reasoning', summary: [], text: 'unsigned' },
    { type: 'reasoning', summary: [], encrypted_content: 'gAAA' },
    { type: 'attachment', kind: 'todo', text: '' },
    { type: 'attachment', kind: 'file', path: 'p', text: 't' },
    { type: 'unknown', raw: { type: 'other_call', call_id: 'z' } },
    { type: 'web_search_call', action: { type: 'search', query: 'q' } },
    { type: 'ghost_snapshot', ghost_commit: {} },
    { type: 'compaction', encrypted_content: 'x' },
  ),
);

for (const format of MESSAGE_FORMATS) {
  test(`whatever a history holds, ${format} would take it, and all that is readable is in it`, () => {
    fc.assert(
      fc.property(fc.array(anyItem, { maxLength: 14 }), fc.constantFrom(...FORMATS), (items, source) => {
        // Kinds that this reader does not know are passed on as they are, to the API that they came from.
        const foreign = format === 'responses' && source === 'responses';
        const taken = foreign ? items.filter(({ type }) => type !== 'unknown') : items;
        const messages = writeMessages(format, taken, source);
        ACCEPTS[format](messages);
        const text = JSON.stringify(messages);
        if (taken.some((item) => item.type === 'message' && JSON.stringify(item).includes('word'))) {
          assert.ok(text.includes('word'));
        }
      }),
      { seed: 20261121, numRuns: 400 },
    );
  });
}

test('what was written is read again as the same conversation', async () => {
  for (const format of MESSAGE_FORMATS) {
    const messages = writeMessages(format, history, format);
    for (const text of [JSON.stringify(messages, null, 2), asLines(messages)]) {
      const { records, report } = await readSessionText(text);
      assert.equal(report.format, format);
      const items = records.flatMap((record) => (record.type === 'item' ? [record.item] : []));
      assert.equal(items.filter((item) => callOf(item) !== undefined).length, 2, format);
      assert.equal(items.filter((item) => resultCallId(item) !== undefined).length, 2, format);
      assert.deepEqual(writeMessages(format, items, format), messages, format);
    }
  }
});

test('a summary that was written is known for one again, apart from the words that it was merged with', async () => {
  const past: Item = {
    ...(user(`${SUMMARY_PREFIX}\nAll of it.`) as Item & { type: 'message' }),
    isCompactSummary: true,
  };
  for (const format of MESSAGE_FORMATS) {
    const messages = writeMessages(
      format,
      [past, user('Go on.'), says('Yes.'), call('a'), result('a')],
      'chat',
    );
    const { records } = await readSessionText(JSON.stringify(messages));
    const items = records.flatMap((record) => (record.type === 'item' ? [record.item] : []));
    const [first, second] = items;
    assert.ok(first?.type === 'message' && first.isCompactSummary === true, format);
    assert.ok(second?.type === 'message' && textOfParts(second.content) === 'Go on.', format);
    assert.equal(second.isCompactSummary, undefined, format);
  }
});

test('messages that were merged behind a summary are parted again, and the plan is the harness speaking', async () => {
  const past: Item = {
    ...(user(`${SUMMARY_PREFIX}\nAll of it.`) as Item & { type: 'message' }),
    isCompactSummary: true,
  };
  const plan: Item = { type: 'attachment', kind: 'plan', text: `The plan${STEPS_LEGEND}\n[ ] Ring the bell` };
  for (const format of ['chat', 'anthropic'] as const) {
    const messages = writeMessages(format, [past, user('Go on.'), plan, user('Stop.')], 'chat');
    assert.equal(messages.length, 1, format);
    const { records } = await readSessionText(JSON.stringify(messages));
    const items = records.flatMap((record) => (record.type === 'item' ? [record.item] : []));
    assert.deepEqual(
      items.map((item) => [item.type === 'message' && textOfParts(item.content), isUserMessage(item)]),
      [
        [`${SUMMARY_PREFIX}\nAll of it.`, false],
        ['Go on.', true],
        [plan.text, false],
        ['Stop.', true],
      ],
      format,
    );
  }
});

test('Markdown shows all of it, and no text breaks out of its fence', () => {
  const items = [...history, call('c'), result('c', 'before\n```\ninside\n````\nafter')];
  const page = writeMarkdown(items, { title: 'A\nsession', facts: ['Model: m'] });
  assert.ok(page.startsWith('# A session\n\n- Model: m\n\n## Summary\n\nThe past.\n\n'));
  for (const part of [
    '## System',
    '## User',
    '## Assistant',
    '## Attached: file x',
    '> Hm.',
    '*[image]*',
    '**read**',
  ]) {
    assert.ok(page.includes(part), part);
  }
  assert.ok(page.includes('`````\nbefore\n```\ninside\n````\nafter\n`````\n'));
  assert.ok(!page.includes('never sent'));
});
