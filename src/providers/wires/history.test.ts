// Any history, whoever made it, becomes a request that a strict provider takes; and what was sent stays as it was.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { checkAnthropic } from '../../../test/support/provider-server/anthropic-rules.ts';
import { checkChat } from '../../../test/support/provider-server/chat-rules.ts';
import { MODEL, request } from '../../../test/support/provider-server/client.ts';
import { promptOf } from '../../../test/support/provider-server/prompt-cache.ts';
import { checkResponses } from '../../../test/support/provider-server/responses-rules.ts';
import { seal, signThinking } from '../../../test/support/provider-server/seals.ts';
import { agentSays, harnessSays, toolCall, userSays } from '../../../test/support/records.ts';
import { anyBrokenThread, anyText, anyThread, thread } from '../../../test/support/thread.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import type { ModelRequest } from '../../protocol/model.ts';
import { EFFORTS, WIRE_APIS } from '../../vocabulary.ts';
import type { WireApi } from '../../vocabulary.ts';
import { anthropicBody } from './anthropic.ts';
import { chatBody } from './openai-chat.ts';
import { responsesBody } from './openai-responses.ts';
import { serialize } from './transport.io.ts';

const OWN = 'loopback';

const BODY: Readonly<Record<WireApi, (request: ModelRequest) => JsonObject>> = {
  responses: (each) => responsesBody(each, OWN),
  chat: (each) => chatBody(each, { provider: OWN, outputLimitKey: 'max_tokens' }),
  anthropic: (each) => anthropicBody(each, OWN),
};

const CHECK: Readonly<Record<WireApi, (body: JsonObject) => void>> = {
  responses: checkResponses,
  chat: checkChat,
  anthropic: checkAnthropic,
};

/** The request as the provider sees it, checked. */
function sent(wire: WireApi, items: readonly Item[], changed: Partial<ModelRequest> = {}): JsonObject {
  const body = BODY[wire](request(wire, { items, ...changed }));
  // The bytes count: what is undefined or half a character is something else after them.
  CHECK[wire](JSON.parse(serialize(body)) as JsonObject);
  return body;
}

/** Reasoning of this provider as its own wire gives it, by wire. */
function ownReasoning(wire: WireApi, text: string): Item {
  const base = { type: 'reasoning', summary: [], provider: OWN } as const;
  switch (wire) {
    case 'responses':
      return { ...base, summary: [{ type: 'summary_text', text }], encrypted_content: seal(text) };
    case 'anthropic':
      return { ...base, text, signature: signThinking(text) };
    case 'chat':
      return { ...base, text };
  }
}

const FOREIGN: readonly Item[] = [
  { type: 'reasoning', summary: [], text: 'Signed elsewhere.', signature: 'theirs', provider: 'other' },
  {
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'x' }],
    encrypted_content: 'theirs',
    provider: 'other',
  },
  { type: 'compaction', encrypted_content: 'theirs', provider: 'other' },
  { type: 'unknown', raw: { type: 'image_generation_call', id: 'ig_1', result: 'AAAA' } },
  { type: 'unknown', raw: { type: 'mcp_call', call_id: 'm1', name: 'x', arguments: '{}' } },
  {
    type: 'message',
    role: 'user',
    content: [{ type: 'other', value: { type: 'input_file', file_id: 'f1' } }],
  },
  { type: 'message', role: 'assistant', content: [{ type: 'refusal', refusal: 'I would rather not.' }] },
  {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'input_image', image_url: 'https://example.org/a.png' }],
  },
  { type: 'message', role: 'assistant', content: [] },
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: ' \n' }] },
  {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_image', image_url: 'data:image/svg+xml;base64,AAAA' }],
  },
  { type: 'message', role: 'user', content: [{ type: 'input_image', image_url: 'file:///tmp/a.png' }] },
  { type: 'message', role: 'user', content: [{ type: 'input_image' }] },
  {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }],
  },
  { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Mind the rocks.' }] },
  {
    type: 'message',
    role: 'assistant',
    content: [{ type: 'output_text', text: 'An error.' }],
    isApiErrorMessage: true,
  },
  { type: 'custom_tool_call', name: 'apply patch!', input: '*** Begin', call_id: 'c1' },
  { type: 'custom_tool_call_output', call_id: 'c1', output: '' },
  { type: 'local_shell_call', call_id: 's1', action: { type: 'exec', command: ['ls'] } },
  { type: 'function_call_output', call_id: 's1', output: [], success: false },
  { type: 'function_call', name: 'read', arguments: '{"a":', call_id: 'k'.repeat(90) },
  { type: 'function_call_output', call_id: 'k'.repeat(90), output: ' ', success: false },
  {
    type: 'function_call_output',
    call_id: 'c1',
    output: [{ type: 'other', value: { type: 'web_search_tool_result', tool_use_id: 'x', content: [] } }],
  },
];

function anyHistory(wire: WireApi): fc.Arbitrary<readonly Item[]> {
  const extra = fc.oneof(
    fc.constantFrom(...FOREIGN),
    fc.constantFrom(ownReasoning(wire, 'One.'), ownReasoning(wire, 'Two.')),
    anyText.map((text) => userSays(text)),
    anyText.map((text) => agentSays(text)),
  );
  return fc
    .tuple(anyBrokenThread, fc.array(fc.tuple(fc.nat(60), extra), { maxLength: 12 }))
    .map(([notation, extras]) => {
      const items = [...thread(notation)];
      for (const [at, item] of extras) items.splice(Math.min(at, items.length), 0, item);
      return [userSays('Begin the watch.'), ...items];
    });
}

for (const wire of WIRE_APIS) {
  describe(wire, () => {
    test('any history becomes a request that the provider takes', () => {
      fc.assert(
        fc.property(
          anyHistory(wire),
          fc.constantFrom(undefined, ...EFFORTS),
          fc.constantFrom(MODEL[wire], 'claude-opus-4-8', 'gpt-4.1', 'somebody/new-1'),
          (items, effort, model) => {
            sent(wire, items, { model, ...(effort === undefined ? {} : { effort }) });
          },
        ),
        { seed: 20_261_121, numRuns: 400 },
      );
    });

    test('what was sent stays: a longer history begins with the bytes of the shorter one', () => {
      fc.assert(
        fc.property(anyThread, anyThread, (before, more) => {
          // A request ends where the model has to speak: after the user, or after the results of its calls.
          const shorter = [userSays('Begin the watch.'), ...thread(before), userSays('And?')];
          const longer = [...shorter, agentSays('Aye.'), ...renamed(thread(more)), userSays('Well?')];
          assert.ok(prefixOf(wire, longer).startsWith(prefixOf(wire, shorter)), 'the prefix changed');
        }),
        { seed: 5, numRuns: 300 },
      );
    });

    test('also where a user message follows another', () => {
      const shorter = [userSays('One.')];
      assert.ok(
        prefixOf(wire, [...shorter, userSays('Two.')]).startsWith(prefixOf(wire, shorter)),
        'the prefix changed',
      );
    });

    test('the same request is the same bytes', () => {
      const items = thread('u shell:40 r a u');
      assert.equal(serialize(sent(wire, items)), serialize(sent(wire, items)));
    });

    test('what another provider encrypted or signed is left out, its own goes back', () => {
      const items = [
        userSays('Go.'),
        ownReasoning(wire, 'Mine.'),
        ...FOREIGN.slice(0, 3),
        agentSays('Done.'),
        userSays('Next.'),
      ];
      const text = serialize(sent(wire, items));
      assert.doesNotMatch(text, /theirs/);
      const own = { responses: seal('Mine.'), anthropic: signThinking('Mine.'), chat: undefined }[wire];
      assert.equal(text.includes(own ?? 'Mine.'), own !== undefined);
    });

    test('reasoning without a maker is taken for its own by its form', () => {
      const unmade = (item: Item): Item => {
        const { provider: _, ...rest } = item;
        return rest as Item;
      };
      const of = (item: Item): string =>
        serialize(
          BODY[wire](
            request(wire, { items: [userSays('Go.'), unmade(item), agentSays('Done.'), userSays('Next.')] }),
          ),
        );
      assert.equal(of(ownReasoning('anthropic', 'A.')).includes(signThinking('A.')), wire === 'anthropic');
      assert.equal(of(ownReasoning('responses', 'R.')).includes(seal('R.')), wire === 'responses');
    });

    test('a request without anything to send is a broken promise', () => {
      for (const items of [[], thread('ghost progress boundary')]) {
        assert.throws(() => BODY[wire](request(wire, { items })), RangeError);
      }
    });
  });
}

/** Calls of the second half must not answer to the ids of the first. */
function renamed(items: readonly Item[]): readonly Item[] {
  return items.map((item) => ('call_id' in item ? { ...item, call_id: `later_${item.call_id}` } : item));
}

/** The prompt as text, without what closes it: quotes and brackets, and without the marks of the cache. */
function prefixOf(wire: WireApi, items: readonly Item[]): string {
  const parts = promptOf(wire, sent(wire, items)).map(({ cache_control: _, ...part }) => part);
  return JSON.stringify(parts).replace(/["\]}]+$/, '');
}

test('the prefix of the bytes is that of the prompt: what grows stands last in every body', () => {
  for (const [wire, last] of [
    ['responses', 'input'],
    ['chat', 'messages'],
    ['anthropic', 'messages'],
  ] as const) {
    assert.equal(Object.keys(sent(wire, thread('u'))).at(-1), last);
  }
});

test('Anthropic: at most four breakpoints, on what never changes and on the ends of three requests', () => {
  const items = thread('u shell:40 read:40 shell:40 grep:40 a u');
  const body = sent('anthropic', items);
  const marked = promptOf('anthropic', body).flatMap((part, index) =>
    part['cache_control'] === undefined ? [] : [index],
  );
  const parts = promptOf('anthropic', body);
  assert.equal(marked.length, 4);
  assert.equal(marked.at(-1), parts.length - 1);
  assert.equal(parts[marked[0] ?? 0]?.['text'], 'You tend a lighthouse.');
  const bare = sent('anthropic', thread('u'), { instructions: '' });
  assert.notEqual(JSON.stringify(bare['tools']).indexOf('cache_control'), -1);
});

test('Anthropic: a tool that failed in silence is given a word', () => {
  for (const output of ['', ' \n', []] as const) {
    const [call] = toolCall('c1', 'read_meter', { meter: 'oil' });
    assert.ok(call, 'no call');
    const result: Item = { type: 'function_call_output', call_id: 'c1', output, success: false };
    assert.match(serialize(sent('anthropic', [userSays('Go.'), call, result])), /failed without a message/);
  }
});

test('Anthropic: thinking is left out where the answer under way has none, and only there', () => {
  const open = toolCall('c1', 'read_meter', { meter: 'oil' }, '42');
  const own = ownReasoning('anthropic', 'Mine.');
  const of = (items: readonly Item[]): boolean =>
    sent('anthropic', [userSays('Go.'), ...items], { effort: 'low' })['thinking'] !== undefined;
  assert.equal(of(open), false);
  assert.equal(of([own, ...open]), true);
  assert.equal(of([...open, userSays('Next.')]), false);
  assert.equal(of([...open, agentSays('Done.'), userSays('Next.')]), true);
});

test('chat: what is said to the model first joins the instructions, what comes later goes to the user role', () => {
  const body = sent('chat', [
    harnessSays('Be brief.'),
    userSays('Hello.'),
    agentSays('Hi.'),
    harnessSays('Now be long.'),
    userSays('More.'),
  ]);
  assert.deepEqual(body['messages'], [
    { role: 'system', content: 'You tend a lighthouse.\n\nBe brief.' },
    { role: 'user', content: 'Hello.' },
    { role: 'assistant', content: 'Hi.' },
    { role: 'user', content: '<system-reminder>\nNow be long.\n</system-reminder>\n\nMore.' },
  ]);
});
