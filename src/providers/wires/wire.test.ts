// Every wire against the provider on the loopback: what a model says arrives whole, and goes back as it came.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { client, collect, KEY, MODEL, request } from '../../../test/support/provider-server/client.ts';
import { startProviderServer } from '../../../test/support/provider-server/server.ts';
import { userSays } from '../../../test/support/records.ts';
import type { Item } from '../../protocol/item.ts';
import type { ModelEvent } from '../../protocol/model.ts';
import { WIRE_APIS } from '../../vocabulary.ts';
import { failureOf } from '../errors.ts';

const server = await startProviderServer({ replies: [{}] });
after(() => server.close());
const signal = new AbortController().signal;

function textOf(events: readonly ModelEvent[], type: 'text_delta' | 'reasoning_delta'): string {
  return events.map((event) => (event.type === type ? event.text : '')).join('');
}

function itemsOf(events: readonly ModelEvent[]): readonly Item[] {
  return events.flatMap((event) => (event.type === 'item_done' ? [event.item] : []));
}

for (const wire of WIRE_APIS) {
  describe(wire, () => {
    test('a text arrives in deltas, as an item, with usage and the end', async () => {
      server.play({
        key: KEY,
        replies: [
          { text: 'The lamp is lit — 灯台 🗼 since dusk.', usage: { input: 90, output: 7, cached: 64 } },
        ],
      });
      const { events, error } = await collect(client(wire, server.baseUrl).stream(request(wire), signal));
      assert.equal(error, undefined);
      assert.equal(textOf(events, 'text_delta'), 'The lamp is lit — 灯台 🗼 since dusk.');
      const [item] = itemsOf(events);
      assert.equal(
        item?.type === 'message' && item.content[0]?.type === 'output_text' && item.content[0].text,
        'The lamp is lit — 灯台 🗼 since dusk.',
      );
      const usage = events.find((event) => event.type === 'usage');
      assert.deepEqual(usage?.type === 'usage' && usage.usage, {
        source: 'reported',
        covers: 'response',
        total: 97,
        input: 90,
        cachedInput: 64,
        cacheWrite: 0,
        output: 7,
        reasoningOutput: 0,
      });
      assert.deepEqual(events.at(-1), { type: 'completed', stopReason: 'end_turn' });
    });

    test('reasoning and calls go back to the provider that made them, in a loop of three requests', async () => {
      server.play({
        replies: [
          {
            reasoning: 'Look at both meters.',
            text: 'Reading them.',
            calls: [
              { name: 'read_meter', arguments: { meter: 'oil' } },
              { name: 'read_meter', arguments: { meter: 'wind' } },
            ],
          },
          { reasoning: 'One more.', calls: [{ name: 'read_meter', arguments: { meter: 'lamp' } }] },
          { text: 'All is well.' },
        ],
      });
      const model = client(wire, server.baseUrl);
      const items: Item[] = [userSays('Check the meters.')];
      const stops: string[] = [];
      for (let round = 0; round < 3; round++) {
        const { events, error } = await collect(
          model.stream(request(wire, { items, effort: 'low' }), signal),
        );
        assert.equal(error, undefined, `round ${round}: ${String(error)}`);
        for (const item of itemsOf(events)) items.push(item);
        for (const item of itemsOf(events)) {
          if (item.type === 'function_call')
            items.push({
              type: 'function_call_output',
              call_id: item.call_id,
              output: `42 of ${item.arguments}`,
            });
        }
        const last = events.at(-1);
        stops.push(last?.type === 'completed' ? last.stopReason : 'none');
      }
      assert.deepEqual(stops, ['tool_calls', 'tool_calls', 'end_turn']);
      const sent = server.requests.at(-1)?.text ?? '';
      if (wire === 'chat') assert.doesNotMatch(sent, /Look at both/);
      else
        assert.match(
          sent,
          wire === 'anthropic' ? /"thinking":"Look at both meters\."/ : /encrypted_content":"/,
        );
      assert.match(sent, /read_meter/);
    });

    test('the second request finds the first in the prompt cache', async () => {
      server.play({ replies: [{ text: 'Yes. '.repeat(50) }] });
      const model = client(wire, server.baseUrl);
      const items: Item[] = [userSays(`The log of today: ${'calm '.repeat(200)}`)];
      const first = await collect(model.stream(request(wire, { items }), signal));
      items.push(...itemsOf(first.events), userSays('And tomorrow?'));
      const second = await collect(model.stream(request(wire, { items }), signal));
      const usage = second.events.find((event) => event.type === 'usage');
      assert.ok(usage?.type === 'usage' && usage.usage.cachedInput > 250, 'the first request was not found');
    });

    test('a window that overflows by the count of the server is told as that', async () => {
      server.play({ window: 300, replies: [{ text: 'never' }] });
      const items = [userSays('fog '.repeat(2000))];
      const { error } = await collect(client(wire, server.baseUrl).stream(request(wire, { items }), signal));
      const failure = failureOf(error);
      assert.equal(failure?.code, 'model_overflow');
      assert.equal(failure?.isRetryable, false);
      if (wire !== 'responses') assert.equal(failure?.limitTokens, 300);
    });

    test('a wrong key is told without the key', async () => {
      server.play({ key: 'another', replies: [{ text: 'never' }] });
      const { error } = await collect(client(wire, server.baseUrl).stream(request(wire), signal));
      assert.equal(failureOf(error)?.code, 'model_auth');
      assert.match(String(error), /Incorrect API key provided: \[key\]/);
    });

    test('a key that no header takes is told without the key', async () => {
      const apiKey = `${KEY}\nx`;
      const { error } = await collect(client(wire, server.baseUrl, { apiKey }).stream(request(wire), signal));
      assert.equal(failureOf(error)?.code, 'model_auth');
      assert.doesNotMatch(
        `${String(error)}${String((error as Error).stack)}${JSON.stringify(error)}`,
        /0123456789abcdef/,
      );
    });

    test('a call that the limit of the output cuts through is not delivered', async () => {
      const stop = { responses: 'max_output_tokens', chat: 'length', anthropic: 'max_tokens' }[wire];
      server.play({
        replies: [{ text: 'Now', calls: [{ name: 'read_meter', arguments: '{"meter": "o' }], stop }],
      });
      const { events, error } = await collect(client(wire, server.baseUrl).stream(request(wire), signal));
      assert.equal(error, undefined);
      assert.deepEqual(
        itemsOf(events).map(({ type }) => type),
        ['message'],
      );
      assert.deepEqual(events.at(-1), { type: 'completed', stopReason: 'output_limit' });
    });

    test('arguments that the model itself wrote wrongly are delivered as it wrote them', async () => {
      server.play({ replies: [{ calls: [{ name: 'read_meter', arguments: 'oil, please' }] }] });
      const { events } = await collect(client(wire, server.baseUrl).stream(request(wire), signal));
      const [item] = itemsOf(events);
      assert.equal(item?.type === 'function_call' && item.arguments, 'oil, please');
    });

    test('schema, effort, verbosity and the limit of the answer reach the provider', async () => {
      server.play({ replies: [{ text: '{}' }] });
      const schema = {
        name: 'report',
        schema: { type: 'object', properties: {}, additionalProperties: false },
      };
      const { error } = await collect(
        client(wire, server.baseUrl).stream(
          request(wire, {
            schema,
            effort: 'high',
            verbosity: 'low',
            maxOutputTokens: 5000,
            cacheKey: 'thread-1',
          }),
          signal,
        ),
      );
      assert.equal(error, undefined);
      const { body } = server.requests.at(-1) ?? assert.fail('nothing was sent');
      const {
        model: _,
        stream: __,
        input: ___,
        messages: ____,
        tools: _____,
        system: ______,
        instructions: _______,
        ...settings
      } = body;
      assert.deepEqual(settings, EXPECTED[wire]);
    });

    test('lone halves of surrogate pairs do not make the request invalid', async () => {
      server.play({ replies: [{ text: 'ok' }] });
      const items = [userSays('cut \ud83d and \\ud83d and \\\\\ud83d and 🗼')];
      const { error } = await collect(client(wire, server.baseUrl).stream(request(wire, { items }), signal));
      assert.equal(error, undefined);
      assert.match(server.requests.at(-1)?.text ?? '', /cut \uFFFD and \\\\ud83d and \\\\\\\\\uFFFD and 🗼/);
    });
  });
}

const FORMAT = {
  type: 'json_schema',
  schema: { type: 'object', properties: {}, additionalProperties: false },
};
const EXPECTED = {
  responses: {
    store: false,
    include: ['reasoning.encrypted_content'],
    reasoning: { effort: 'high', summary: 'auto' },
    text: { verbosity: 'low', format: { ...FORMAT, name: 'report', strict: true } },
    max_output_tokens: 5000,
    prompt_cache_key: 'thread-1',
    tool_choice: 'auto',
    parallel_tool_calls: true,
  },
  chat: {
    stream_options: { include_usage: true },
    reasoning_effort: 'high',
    verbosity: 'low',
    max_tokens: 5000,
    prompt_cache_key: 'thread-1',
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'report', schema: FORMAT.schema, strict: true },
    },
  },
  anthropic: {
    max_tokens: 5000,
    thinking: { type: 'enabled', budget_tokens: 4999 },
    output_config: { format: FORMAT },
    tool_choice: { type: 'auto' },
  },
};

test('the Messages and the Responses API count tokens', async () => {
  server.play({ replies: [{}] });
  for (const wire of ['anthropic', 'responses'] as const) {
    const count = await client(wire, server.baseUrl).countTokens?.(request(wire), signal);
    assert.ok(count !== undefined && count > 20, `${wire}: ${count}`);
  }
});

test('a remote compaction gives exactly one compaction, or fails', async () => {
  const model = client('responses', server.baseUrl);
  server.play({ replies: [{ compacts: true }] });
  const compaction = await model.compactRemote?.(request('responses'), signal);
  assert.deepEqual(
    compaction?.items.map(({ type, provider }) => [type, provider]),
    [['compaction', 'loopback']],
  );
  assert.equal(
    JSON.stringify(server.requests.at(-1)?.body['input']).endsWith('{"type":"compaction_trigger"}]'),
    true,
  );
  // It goes back as it came, and the provider knows it again.
  const items = [...(compaction?.items ?? []), userSays('Go on.')];
  assert.equal((await collect(model.stream(request('responses', { items }), signal))).error, undefined);
  for (const reply of [{ text: 'A summary in words.' }, {}]) {
    server.play({ replies: [reply] });
    await assert.rejects(
      async () => model.compactRemote?.(request('responses'), signal),
      (error) => failureOf(error)?.code === 'model_cut_off',
    );
  }
});

test('an unknown model is not asked to reason unless the request says so', async () => {
  server.play({ replies: [{ text: 'ok' }] });
  const model = client('responses', server.baseUrl);
  await collect(model.stream(request('responses', { model: 'somebody/new-1' }), signal));
  assert.equal(server.requests.at(-1)?.body['include'], undefined);
  await collect(model.stream(request('responses', { model: 'gpt-4.1', effort: 'high' }), signal));
  assert.equal(server.requests.at(-1)?.body['reasoning'], undefined);
  await collect(model.stream(request('responses', { model: MODEL.responses }), signal));
  assert.notEqual(server.requests.at(-1)?.body['include'], undefined);
});
