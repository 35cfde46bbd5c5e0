// A server that means harm, on all three wires: answers without an end, ids that do not pair, JSON that overflows a stack.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { RequestListener, ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { after, describe, test } from 'node:test';
import { client, collect, KEY, request } from '../../test/support/provider-server/client.ts';
import { eventsOf } from '../../test/support/provider-server/events.ts';
import { signThinking } from '../../test/support/provider-server/seals.ts';
import { startProviderServer } from '../../test/support/provider-server/server.ts';
import type { Reply } from '../../test/support/provider-server/script.ts';
import { userSays } from '../../test/support/records.ts';
import { callOf } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { ModelEvent } from '../protocol/model.ts';
import { WIRE_APIS } from '../vocabulary.ts';
import type { WireApi } from '../vocabulary.ts';
import type { ProviderSettings } from './wires/adapter.ts';
import { MOST_NESTED } from './wires/depth.ts';
import { failureOf } from './errors.ts';
import { DEFAULT_RETRY_POLICY } from './retry.ts';

let answer: RequestListener = () => undefined;
let asked = 0;
const server = createServer((incoming, response) => {
  asked++;
  incoming.resume();
  response.on('error', () => undefined);
  answer(incoming, response);
});
await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
const address = server.address();
const baseUrl = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/v1`;
after(() => {
  server.closeAllConnections();
  server.close();
});

const signal = new AbortController().signal;
const STREAM = { 'content-type': 'text/event-stream' };

async function ask(wire: WireApi, changed: Partial<ProviderSettings> = {}, items?: readonly Item[]) {
  asked = 0;
  const begun = performance.now();
  const asking = items === undefined ? request(wire) : request(wire, { items });
  const { events, error } = await collect(client(wire, baseUrl, changed).stream(asking, signal));
  assert.doesNotMatch(`${String(error)}${JSON.stringify(error)}`, new RegExp(KEY));
  return { events, error, failure: failureOf(error), ms: performance.now() - begun };
}

/** Something again and again, until nobody listens any more. */
function forever(response: ServerResponse, bytes: string | Buffer, everyMs = 20): void {
  const timer = setInterval(() => response.write(bytes), everyMs);
  response.once('close', () => clearInterval(timer));
}

function stream(wire: WireApi, reply: Reply): string {
  const whole = { reply, model: 'm', number: 1, input: 100, cached: 0, output: 10 };
  return eventsOf(wire, whole)
    .map(({ name, data }) => `${name === undefined ? '' : `event: ${name}\n`}data: ${data}\n\n`)
    .join('');
}

function says(wire: WireApi, reply: Reply, change: (text: string) => string = (text) => text): void {
  const text = change(stream(wire, reply));
  answer = (_, response) => response.writeHead(200, STREAM).end(text);
}

function callsIn(
  events: readonly ModelEvent[],
): readonly (readonly [id: string | undefined, input: string])[] {
  return events.flatMap((event) => {
    const call = event.type === 'item_done' ? callOf(event.item) : undefined;
    return call === undefined ? [] : [[call.callId, call.input] as const];
  });
}

function nested(levels: number): string {
  return `{"deep":${'['.repeat(levels)}${']'.repeat(levels)}}`;
}

function reads(...calls: readonly (readonly [id: string, meter: string])[]): Reply {
  return { calls: calls.map(([id, meter]) => ({ id, name: 'read_meter', arguments: { meter } })) };
}

for (const wire of WIRE_APIS) {
  describe(wire, () => {
    const drips: Readonly<Record<string, RequestListener>> = {
      'comments that keep the connection open': (_, response) =>
        forever(response.writeHead(200, STREAM), ': keep-alive\n\n'),
      'one event, byte by byte': (_, response) => {
        response.writeHead(200, STREAM).write('data: {"a":"');
        forever(response, 'a');
      },
      'headers, byte by byte': (_, response) => {
        response.socket?.write('HTTP/1.1 200 OK\r\nx-slow: ');
        const timer = setInterval(() => response.socket?.write('a'), 20);
        response.socket?.once('close', () => clearInterval(timer));
      },
      'a page of an error without an end': (_, response) =>
        forever(response.writeHead(500, { 'content-type': 'text/html' }), '<p>'),
      'one JSON without an end': (_, response) =>
        forever(response.writeHead(200, { 'content-type': 'application/json' }), ' '),
    };
    for (const [name, listener] of Object.entries(drips)) {
      test(`${name}: no sign of life, so the patience of a silent server ends it`, async () => {
        answer = listener;
        const { failure, error, ms } = await ask(wire, { idleTimeoutMs: 200 });
        assert.match(String(error), /silent for 200 ms/);
        assert.equal(failure?.isRetryable, true);
        assert.ok(ms < 5_000, `${ms} ms`);
      });
    }

    test('events without an end: the answer has a time in which it must be whole, retries included', async () => {
      const ping = wire === 'anthropic' ? 'event: ping\ndata: {"type":"ping"}\n\n' : 'data: {}\n\n';
      answer = (_, response) => forever(response.writeHead(200, STREAM), ping);
      const { failure, error, ms } = await ask(wire, { answerTimeoutMs: 300, retry: DEFAULT_RETRY_POLICY });
      assert.equal(failure?.code, 'model_cut_off');
      assert.match(`${String(error)} ${(error as { cure: string }).cure}`, /300 ms, .*answer_timeout_ms/);
      assert.ok(ms < 5_000 && asked === 1, `${ms} ms, ${asked} requests`);
    });

    test('retries are under the same clock', async () => {
      answer = (_, response) => response.writeHead(503).end();
      const retry = { ...DEFAULT_RETRY_POLICY, requestMaxRetries: 100, baseMs: 50 };
      const { error, ms } = await ask(wire, { answerTimeoutMs: 400, retry });
      assert.match(String(error), /400 ms/);
      assert.ok(ms < 5_000 && asked > 1, `${ms} ms, ${asked} requests`);
    });

    test('a wait of a day is reported at once', async () => {
      answer = (_, response) => response.writeHead(429, { 'retry-after': '86400' }).end();
      const { failure, error, ms } = await ask(wire, { retry: DEFAULT_RETRY_POLICY });
      assert.equal(failure?.code, 'model_rate_limit');
      assert.match(String(error), /86400 seconds/);
      assert.ok(ms < 5_000 && asked === 1, `${ms} ms, ${asked} requests`);
    });

    test('a compressed answer is refused and not unpacked, whatever its status', async () => {
      const bomb = gzipSync(Buffer.alloc(16 * 1024 * 1024, 'a'));
      for (const status of [200, 400]) {
        answer = (_, response) =>
          response.writeHead(status, { ...STREAM, 'content-encoding': 'gzip' }).end(bomb);
        const { error } = await ask(wire, { retry: DEFAULT_RETRY_POLICY });
        assert.match(String(error), status === 200 ? /encoding gzip/ : /a compressed page/);
        assert.equal(asked, 1);
      }
    });

    test('a length that is a lie ends in a failure', async () => {
      const text = stream(wire, { text: 'The lamp is lit.' });
      for (const bytes of [20, Buffer.byteLength(text) + 1_000]) {
        answer = (_, response) => {
          response.socket?.end(
            `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${bytes}\r\n\r\n${text}`,
          );
        };
        const { events, failure } = await ask(wire, { idleTimeoutMs: 1_000 });
        // What was whole before the connection broke is an answer.
        const isWhole = events.at(-1)?.type === 'completed';
        assert.equal(isWhole ? undefined : failure?.code, isWhole ? undefined : 'model_cut_off');
        assert.equal(isWhole, bytes > 20);
      }
    });

    test('headers, extensions of chunks and trailers without an end are cut off', async () => {
      for (const begin of ['x-long: ', 'transfer-encoding: chunked\r\n\r\n5;', '\r\n\r\n0\r\nx-long: ']) {
        answer = (_, response) => {
          response.socket?.write(`HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n${begin}`);
          response.socket?.write('a'.repeat(4 * 1024 * 1024));
        };
        const { failure, ms } = await ask(wire, { idleTimeoutMs: 2_000 });
        assert.ok(failure !== undefined && ms < 10_000, `${begin}: ${ms} ms`);
      }
    });

    test('many thousand tiny events are read in time', async () => {
      const text = stream(wire, { text: 'The lamp is lit.' });
      answer = (_, response) =>
        response.writeHead(200, STREAM).end('data: {"a":1}\n\n'.repeat(50_000) + text);
      const { events, ms } = await ask(wire);
      if (wire !== 'anthropic') assert.equal(events.at(-1)?.type, 'completed');
      assert.ok(ms < 20_000, `${ms} ms`);
    });

    test('a complaint of megabytes is quoted in part, and the key in none of its parts', async () => {
      const long = `${KEY} ${'x'.repeat(1_000_000)}`;
      const body = { type: 'error', error: { type: long, code: long, message: long } };
      const inside = wire === 'responses' ? { type: 'response.failed', response: body } : body;
      for (const status of [200, 400]) {
        answer = (_, response) => {
          response.writeHead(status, { ...STREAM, 'x-request-id': `${KEY}${'y'.repeat(4_000)}` });
          response.end(status === 200 ? `data: ${JSON.stringify(inside)}\n\n` : JSON.stringify(body));
        };
        const { error, failure } = await ask(wire);
        assert.ok(failure?.providerCode?.startsWith('[key] x'), JSON.stringify(failure).slice(0, 200));
        assert.ok(`${String(error)}${JSON.stringify(failure)}`.length < 5_000, 'it is short');
      }
    });

    test('a complaint named after a property of every object is a complaint', async () => {
      for (const code of ['__proto__', 'constructor', 'toString']) {
        answer = (_, response) =>
          response.writeHead(400, STREAM).end(`{"error":{"code":"${code}","message":"No."}}`);
        const { failure } = await ask(wire);
        assert.deepEqual([failure?.code, failure?.providerCode], ['model_invalid_request', code]);
      }
    });

    test('a redirection is not followed', async () => {
      answer = (_, response) => response.writeHead(307, { location: `${baseUrl}/elsewhere` }).end();
      const { failure } = await ask(wire, { retry: DEFAULT_RETRY_POLICY });
      assert.deepEqual([failure?.status, asked], [307, 1]);
    });

    test('two calls with one id get two', async () => {
      says(wire, reads(['same', 'oil'], ['same', 'fog'], ['same', 'wind']));
      const calls = callsIn((await ask(wire)).events);
      assert.deepEqual(
        calls.map(([, input]) => input),
        ['{"meter":"oil"}', '{"meter":"fog"}', '{"meter":"wind"}'],
      );
      assert.equal(calls[0]?.[0], 'same');
      assert.equal(new Set(calls.map(([id]) => id)).size, 3);
    });

    test('an id of an earlier answer is taken', async () => {
      says(wire, reads(['same', 'fog']));
      const past: readonly Item[] = [
        userSays('Look.'),
        { type: 'function_call', call_id: 'same', name: 'read_meter', arguments: '{}' },
        { type: 'function_call_output', call_id: 'same', output: 'ok' },
      ];
      const [[id] = []] = callsIn((await ask(wire, {}, past)).events);
      assert.ok(id !== undefined && id !== 'same', id);
    });

    test('ids that no provider takes back are replaced', async () => {
      for (const id of ['', 'a b', 'tab\t', '\u001b[2J', 'ü', 'x'.repeat(1_000_000)]) {
        says(wire, reads([id, 'oil'], [id, 'fog']));
        const ids = callsIn((await ask(wire)).events).map(([each]) => each);
        assert.equal(new Set(ids).size, 2, JSON.stringify(id.slice(0, 9)));
        for (const each of ids) assert.match(each ?? '', /^[\w-]{1,40}$/);
      }
    });

    test('an id that is no text makes a broken answer, or gets one', async () => {
      says(wire, reads(['same', 'oil']), (text) => text.replaceAll('"same"', '{"a":[7]}'));
      const { events, failure } = await ask(wire);
      if (failure !== undefined) assert.equal(failure.code, 'model_cut_off');
      else assert.match(callsIn(events)[0]?.[0] ?? '', /^[\w-]{1,40}$/);
    });

    test('a name of a megabyte is cut', async () => {
      says(wire, { calls: [{ name: 'x'.repeat(1_000_000), arguments: {} }] });
      const { events } = await ask(wire);
      const done = events.find((event) => event.type === 'item_done');
      assert.equal(done?.type === 'item_done' && callOf(done.item)?.name.length, 128);
    });

    for (const levels of [1_000, 100_000]) {
      test(`arguments and events of ${levels} levels make a broken answer, which is asked for again`, async () => {
        const retry = { ...DEFAULT_RETRY_POLICY, streamMaxRetries: 1, baseMs: 1 };
        says(wire, { calls: [{ name: 'read_meter', arguments: nested(levels) }] });
        const deepCall = await ask(wire, { retry });
        assert.equal(deepCall.failure?.code, 'model_cut_off');
        assert.equal(asked, 2);
        assert.deepEqual(callsIn(deepCall.events), []);
        answer = (_, response) => response.writeHead(200, STREAM).end(`data: ${nested(levels)}\n\n`);
        assert.match(String((await ask(wire)).error), new RegExp(`more than ${MOST_NESTED} levels`));
        answer = (_, response) => response.writeHead(400).end(nested(levels));
        assert.equal((await ask(wire)).failure?.code, 'model_invalid_request');
      });
    }

    test('arguments of ordinary depth, with brackets in their texts, are delivered', async () => {
      const text = JSON.stringify({
        meter: `${'['.repeat(500)}\\"{`,
        deep: JSON.parse(nested(50)) as unknown,
      });
      says(wire, { calls: [{ name: 'read_meter', arguments: text }] });
      assert.deepEqual(callsIn((await ask(wire)).events)[0]?.[1], text);
    });

    test('counts that cannot be are no usage', async () => {
      for (const count of ['-5', '1e308', '1.5', '"many"', '1e9', 'null']) {
        says(wire, { text: 'Lit.' }, (text) =>
          text.replaceAll(
            /"(input_tokens|prompt_tokens|output_tokens|completion_tokens)":\d+/g,
            `"$1":${count}`,
          ),
        );
        const { events, error } = await ask(wire);
        assert.equal(error, undefined, count);
        for (const event of events) {
          if (event.type !== 'usage') continue;
          for (const value of [event.usage.total, event.usage.input, event.usage.output]) {
            assert.ok(Number.isInteger(value) && value >= 0 && value < 1e9, `${count} became ${value}`);
          }
        }
      }
    });
  });
}

function delta(call: unknown): string {
  return `data: ${JSON.stringify({ choices: [{ delta: { tool_calls: [call] } }] })}\n\n`;
}

test('chat: another id and name under the same number are another call', async () => {
  const end = 'data: {"choices":[{"delta":{},"finish_reason":"tool_calls"}]}\n\n';
  const call = (id: string | undefined, args: string, index?: number) =>
    delta({ index, id, function: { name: id === undefined ? undefined : 'read_meter', arguments: args } });
  const ways: Readonly<Record<string, string>> = {
    'one number':
      call('a', '{"n":', 0) + call(undefined, '1}', 0) + call('b', '{"n":', 0) + call(undefined, '2}', 0),
    'one id, no number': call('a', '{"n":1}') + call('a', '{"n":2}'),
    'an id in every piece': call('a', '{"n":', 0) + call('a', '1}', 0) + call('b', '{"n":2}', 1),
  };
  for (const [name, text] of Object.entries(ways)) {
    answer = (_, response) => response.writeHead(200, STREAM).end(text + end);
    const calls = callsIn((await ask('chat')).events);
    assert.deepEqual(
      calls.map(([, input]) => input),
      ['{"n":1}', '{"n":2}'],
      name,
    );
    assert.equal(new Set(calls.map(([id]) => id)).size, 2, name);
  }
});

test('thinking that a former server signed falsely is left out, once for all requests', async () => {
  const strict = await startProviderServer({ key: KEY, replies: [{ text: 'Lit.' }] });
  after(() => strict.close());
  const model = client('anthropic', strict.baseUrl);
  const thinking = { type: 'reasoning', summary: [], text: 'Hm.', provider: model.provider } as const;
  const history: readonly Item[] = [
    userSays('Light it.'),
    { ...thinking, signature: 'forged' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Lit.' }] },
    userSays('Again.'),
  ];
  for (const restarts of [1, 0]) {
    const { events, error } = await collect(model.stream(request('anthropic', { items: history }), signal));
    assert.equal(error, undefined);
    assert.equal(events.filter(({ type }) => type === 'restarted').length, restarts);
    assert.equal(events.at(-1)?.type, 'completed');
  }
  assert.equal(strict.requests.length, 3);
  const signed = { ...thinking, signature: signThinking('Hm.') };
  const items = [...history.slice(0, 3), signed, ...history.slice(2)];
  const { error } = await collect(model.stream(request('anthropic', { items }), signal));
  assert.equal(error, undefined);
  assert.match(strict.requests.at(-1)?.text ?? '', new RegExp(signed.signature));
});
