// Every wire against every fault, over real HTTP: a broken answer is found out, told as what it is, and tried again only
// where that can help.

import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { after, describe, test } from 'node:test';
import { client, collect, KEY, request } from '../../test/support/provider-server/client.ts';
import type { Fault, Reply } from '../../test/support/provider-server/script.ts';
import { startProviderServer } from '../../test/support/provider-server/server.ts';
import type { ModelEvent } from '../protocol/model.ts';
import { WIRE_APIS } from '../vocabulary.ts';
import { failureOf } from './errors.ts';
import { DEFAULT_RETRY_POLICY } from './retry.ts';

const server = await startProviderServer({ replies: [{}] });
after(() => server.close());
const signal = new AbortController().signal;

/** Long enough for every fault to hit the middle of it on every wire. */
const GOOD: Reply = { text: 'Fog over the western reef, the horn is sounding every minute — 霧 🌫.' };
const RETRIES = { ...DEFAULT_RETRY_POLICY, requestMaxRetries: 2, streamMaxRetries: 2, baseMs: 1 };

const FAULTS: readonly (readonly [name: string, fault: Fault, code: string, isRetryable: boolean])[] = [
  ['429', { type: 'status', status: 429 }, 'model_rate_limit', true],
  [
    '429 with Retry-After',
    { type: 'status', status: 429, headers: { 'retry-after': '0' } },
    'model_rate_limit',
    true,
  ],
  [
    '429 without credit',
    { type: 'status', status: 429, code: 'insufficient_quota' },
    'model_rate_limit',
    false,
  ],
  ['500', { type: 'status', status: 500 }, 'model_overloaded', true],
  ['529', { type: 'status', status: 529, code: 'overloaded_error' }, 'model_overloaded', true],
  ['413', { type: 'status', status: 413 }, 'model_overflow', false],
  [
    'a redirect',
    { type: 'status', status: 307, headers: { location: 'http://127.0.0.1:1/' } },
    'model_invalid_request',
    false,
  ],
  ['silence', { type: 'silence' }, 'model_network', true],
  ['a stall after the headers', { type: 'stall', afterEvents: 0 }, 'model_cut_off', true],
  ['a stall in the middle', { type: 'stall', afterEvents: 4 }, 'model_cut_off', true],
  ['a cut before the first event', { type: 'cut', afterEvents: 0 }, 'model_cut_off', true],
  ['a cut in the middle of an event', { type: 'cut', afterEvents: 4 }, 'model_cut_off', true],
  ['a clean end before the first event', { type: 'early_end', afterEvents: 0 }, 'model_cut_off', true],
  ['a clean end in the middle', { type: 'early_end', afterEvents: 4 }, 'model_cut_off', true],
  ['a malformed event', { type: 'malformed', afterEvents: 4 }, 'model_cut_off', true],
  [
    'an overload inside of the stream',
    { type: 'error_event', afterEvents: 4, code: 'overloaded_error', message: 'Overloaded' },
    'model_overloaded',
    true,
  ],
  [
    'an overflow inside of the stream',
    { type: 'error_event', afterEvents: 2, code: 'context_length_exceeded', message: 'too long' },
    'model_overflow',
    false,
  ],
  ['a page in place of the stream', { type: 'content_type', value: 'text/html' }, 'model_network', false],
];

function itemsOf(events: readonly ModelEvent[]): number {
  return events.filter(({ type }) => type === 'item_done').length;
}

for (const wire of WIRE_APIS) {
  describe(wire, () => {
    for (const [name, fault, code, isRetryable] of FAULTS) {
      // Only faults of patience need to wait; the others must not be taken for one, nor the good answer after them.
      const needsPatience = fault.type === 'silence' || fault.type === 'stall';

      test(`${name}: told as ${code}, with nothing delivered as done`, async () => {
        server.play({ replies: [{ ...GOOD, fault }] });
        const { events, error } = await collect(
          client(wire, server.baseUrl, { idleTimeoutMs: needsPatience ? 250 : 10_000 }).stream(
            request(wire),
            signal,
          ),
        );
        const failure = failureOf(error);
        assert.equal(failure?.code, code, String(error));
        assert.equal(failure?.isRetryable, isRetryable);
        assert.equal(itemsOf(events), 0);
        assert.equal(
          events.some(({ type }) => type === 'completed' || type === 'usage'),
          false,
        );
        assert.doesNotMatch(`${String(error)}${JSON.stringify(error)}`, new RegExp(KEY));
      });

      test(`${name}: ${isRetryable ? 'over at the second attempt' : 'asked once'}`, async () => {
        const before = server.requests.length;
        server.play({ replies: [{ ...GOOD, fault }, GOOD] });
        const { events, error } = await collect(
          client(wire, server.baseUrl, {
            idleTimeoutMs: needsPatience ? 1_000 : 10_000,
            retry: RETRIES,
          }).stream(request(wire), signal),
        );
        assert.equal(server.requests.length - before, isRetryable ? 2 : 1);
        assert.equal(error === undefined, isRetryable, String(error));
        assert.equal(
          events.some(({ type }) => type === 'restarted'),
          isRetryable,
        );
        if (!isRetryable) return;
        const again = events.slice(events.findIndex(({ type }) => type === 'restarted') + 1);
        assert.equal(itemsOf(again), 1);
        assert.deepEqual(again.at(-1), { type: 'completed', stopReason: 'end_turn' });
      });
    }

    test('a fault that stays is told after the last retry', async () => {
      const before = server.requests.length;
      server.play({ replies: [{ fault: { type: 'status', status: 503 } }] });
      const { events, error } = await collect(
        client(wire, server.baseUrl, { retry: RETRIES }).stream(request(wire), signal),
      );
      assert.equal(server.requests.length - before, 3);
      assert.deepEqual(
        events.map((event) => event.type === 'restarted' && [event.retry, event.maxRetries]),
        [
          [1, 2],
          [2, 2],
        ],
      );
      assert.equal(failureOf(error)?.status, 503);
      assert.equal(failureOf(error)?.requestId, 'req_loopback');
    });

    test('a slow drip of single bytes is no fault', async () => {
      server.play({ replies: [{ text: '霧 🌫', fault: { type: 'drip', bytes: 1, everyMs: 0 } }] });
      const { events, error } = await collect(client(wire, server.baseUrl).stream(request(wire), signal));
      assert.equal(error, undefined);
      const text = events.map((event) => (event.type === 'text_delta' ? event.text : '')).join('');
      assert.equal(text, '霧 🌫');
    });

    test('a provider that is not there is a network failure', async () => {
      const free = createServer();
      await new Promise<void>((resolve) => void free.listen(0, '127.0.0.1', resolve));
      const address = free.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      await new Promise<void>((resolve) => void free.close(() => resolve()));
      const { error } = await collect(
        client(wire, `http://127.0.0.1:${port}/v1`).stream(request(wire), signal),
      );
      assert.equal(failureOf(error)?.code, 'model_network');
      assert.match(String(error), /ECONNREFUSED/);
    });
  });
}

test('a chat server that leaves out the last word, or stalls after it, has answered', async () => {
  const { afterEvents } = await chatEnd();
  for (const type of ['early_end', 'stall', 'cut'] as const) {
    server.play({ replies: [{ ...GOOD, fault: { type, afterEvents } }] });
    const { events, error } = await collect(
      client('chat', server.baseUrl, { idleTimeoutMs: 2_000 }).stream(request('chat'), signal),
    );
    assert.equal(error, undefined, type);
    assert.deepEqual(events.at(-1), { type: 'completed', stopReason: 'end_turn' }, type);
  }
});

test('a chat answer that says [DONE] without a reason for its end is broken', async () => {
  const { afterEvents } = await chatEnd();
  server.play({ replies: [{ ...GOOD, fault: { type: 'early_end', afterEvents: afterEvents - 2 } }] });
  const { error } = await collect(client('chat', server.baseUrl).stream(request('chat'), signal));
  assert.equal(failureOf(error)?.code, 'model_cut_off');
});

/** The number of events of the good answer but for the last word. */
async function chatEnd(): Promise<{ readonly afterEvents: number }> {
  server.play({ replies: [GOOD] });
  const response = await fetch(`${server.baseUrl}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'hello' }] }),
  });
  return { afterEvents: (await response.text()).split('\n\n').filter((each) => each !== '').length - 1 };
}
