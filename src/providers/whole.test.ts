// Servers that answer in one piece although a stream was asked for: stubs, gateways, older versions of local servers.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { client, collect, request } from '../../test/support/provider-server/client.ts';
import type { JsonObject } from '../protocol/item.ts';
import type { WireApi } from '../vocabulary.ts';
import { failureOf } from './errors.ts';

let answer: JsonObject = {};
const server = createServer((incoming, response) => {
  incoming.resume().on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8' });
    response.end(JSON.stringify(answer));
  });
});
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
after(() => server.close());
const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
const signal = new AbortController().signal;

const ANSWERS: Readonly<Record<WireApi, JsonObject>> = {
  chat: {
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'The lamp is lit.',
          tool_calls: [
            { id: 'c1', type: 'function', function: { name: 'read_meter', arguments: '{"meter":"oil"}' } },
          ],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 90, completion_tokens: 7 },
  },
  responses: {
    object: 'response',
    status: 'completed',
    output: [
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'The lamp is lit.' }] },
      { type: 'function_call', call_id: 'c1', name: 'read_meter', arguments: '{"meter":"oil"}' },
    ],
    usage: { input_tokens: 90, output_tokens: 7 },
  },
  anthropic: {
    type: 'message',
    role: 'assistant',
    content: [
      { type: 'text', text: 'The lamp is lit.' },
      { type: 'tool_use', id: 'c1', name: 'read_meter', input: { meter: 'oil' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 90, output_tokens: 7 },
  },
};

for (const wire of ['chat', 'responses', 'anthropic'] as const) {
  test(`${wire}: an answer in one piece is as good as a stream`, async () => {
    answer = ANSWERS[wire];
    const { events, error } = await collect(client(wire, baseUrl).stream(request(wire), signal));
    assert.equal(error, undefined);
    const items = events.flatMap((event) => (event.type === 'item_done' ? [event.item] : []));
    assert.deepEqual(
      items.map((item) =>
        item.type === 'message'
          ? item.content
          : item.type === 'function_call'
            ? [item.name, item.arguments]
            : item.type,
      ),
      [[{ type: 'output_text', text: 'The lamp is lit.' }], ['read_meter', '{"meter":"oil"}']],
    );
    const usage = events.find((event) => event.type === 'usage');
    assert.deepEqual(usage?.type === 'usage' && [usage.usage.input, usage.usage.output], [90, 7]);
    assert.deepEqual(events.at(-1), { type: 'completed', stopReason: 'tool_calls' });
  });

  test(`${wire}: an error in one piece, whatever the status, is told as what it is`, async () => {
    answer = { error: { type: 'overloaded_error', message: 'Too many ships' } };
    const { error } = await collect(client(wire, baseUrl).stream(request(wire), signal));
    assert.equal(failureOf(error)?.code, 'model_overloaded');
  });

  test(`${wire}: any other object is no answer`, async () => {
    answer = { hello: 'sailor' };
    const { events, error } = await collect(client(wire, baseUrl).stream(request(wire), signal));
    assert.ok(error !== undefined || events.every(({ type }) => type !== 'item_done'), 'nothing is made up');
    assert.equal(failureOf(error)?.code, 'model_cut_off');
  });
}
