// The user's word counts at once, in every phase, and so does a consumer who goes away: the provider sees the close.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { client, collect, request } from '../../test/support/provider-server/client.ts';
import type { Reply } from '../../test/support/provider-server/script.ts';
import { startProviderServer } from '../../test/support/provider-server/server.ts';
import { BatonError } from '../errors.ts';
import type { ModelEvent } from '../protocol/model.ts';
import { WIRE_APIS } from '../vocabulary.ts';
import type { WireApi } from '../vocabulary.ts';
import { DEFAULT_RETRY_POLICY } from './retry.ts';

const server = await startProviderServer({ replies: [{}] });
after(() => server.close());

const ANSWER: Reply = {
  reasoning: 'The horn first.',
  text: 'Sounding the horn.',
  calls: [{ name: 'read_meter', arguments: { meter: 'oil' } }],
};

function isInterruption(error: unknown): boolean {
  return error instanceof BatonError && error.code === 'interrupted';
}

/** Iterates and stops after `limit` events in the given way. */
async function stopAfter(
  wire: WireApi,
  limit: number,
  stop: (controller: AbortController) => void,
): Promise<{ readonly seen: number; readonly error: unknown }> {
  const controller = new AbortController();
  let seen = 0;
  try {
    for await (const event of client(wire, server.baseUrl).stream(request(wire), controller.signal)) {
      assert.ok(!controller.signal.aborted, `${event.type} came after the stop`);
      seen++;
      if (seen === limit) stop(controller);
    }
  } catch (error) {
    return { seen, error };
  }
  return { seen, error: undefined };
}

for (const wire of WIRE_APIS) {
  describe(wire, () => {
    test('a stop at every event ends the iteration there, with the failure that says so', async () => {
      server.play({ replies: [ANSWER] });
      const all = await collect(
        client(wire, server.baseUrl).stream(request(wire), new AbortController().signal),
      );
      assert.equal(all.error, undefined);
      assert.ok(all.events.length > 6, 'an answer of too few events');
      for (let limit = 1; limit < all.events.length; limit++) {
        const { seen, error } = await stopAfter(wire, limit, (controller) => controller.abort());
        assert.equal(seen, limit);
        assert.ok(isInterruption(error), `at ${limit}: ${String(error)}`);
      }
    });

    for (const [phase, reply] of [
      ['before the headers', { fault: { type: 'silence' } }],
      ['after the headers', { ...ANSWER, fault: { type: 'stall', afterEvents: 0 } }],
      ['in the middle of the stream', { ...ANSWER, fault: { type: 'stall', afterEvents: 5 } }],
    ] as const satisfies readonly (readonly [string, Reply])[]) {
      test(`a stop ${phase} closes the connection`, async () => {
        server.play({ replies: [reply] });
        const controller = new AbortController();
        const index = server.requests.length;
        const answer = collect(client(wire, server.baseUrl).stream(request(wire), controller.signal));
        const arrived = await server.request(index);
        controller.abort();
        const { error } = await answer;
        assert.ok(isInterruption(error), String(error));
        assert.equal(await arrived.ended, 'client');
      });
    }

    test('a stop while waiting for the next attempt sends none', async () => {
      server.play({ replies: [{ fault: { type: 'status', status: 503 } }] });
      const before = server.requests.length;
      const controller = new AbortController();
      const retry = { ...DEFAULT_RETRY_POLICY, baseMs: 60_000, maxBackoffMs: 60_000 };
      const seen: ModelEvent[] = [];
      const model = client(wire, server.baseUrl, { retry });
      await assert.rejects(async () => {
        for await (const event of model.stream(request(wire), controller.signal)) {
          seen.push(event);
          setImmediate(() => controller.abort());
        }
      }, isInterruption);
      assert.deepEqual(
        seen.map(({ type }) => type),
        ['restarted'],
      );
      assert.equal(server.requests.length - before, 1);
    });

    test('a stop in the very moment in which the wait begins ends it', async () => {
      server.play({ replies: [{ fault: { type: 'status', status: 503 } }] });
      const controller = new AbortController();
      const retry = { ...DEFAULT_RETRY_POLICY, baseMs: 60_000, maxBackoffMs: 60_000 };
      await assert.rejects(async () => {
        for await (const event of client(wire, server.baseUrl, { retry }).stream(
          request(wire),
          controller.signal,
        )) {
          assert.equal(event.type, 'restarted');
          controller.abort();
        }
      }, isInterruption);
    });

    test('a stop counts before an error that has arrived already', async () => {
      const fault = {
        type: 'error_event',
        afterEvents: 4,
        code: 'context_length_exceeded',
        message: 'x',
      } as const;
      server.play({ replies: [{ text: 'Sounding the horn.', fault }] });
      const { seen, error } = await stopAfter(wire, 1, (controller) => controller.abort());
      assert.equal(seen, 1);
      assert.ok(isInterruption(error), String(error));
    });

    test('a stop before the start sends nothing', async () => {
      const before = server.requests.length;
      const { error } = await collect(
        client(wire, server.baseUrl).stream(request(wire), AbortSignal.abort()),
      );
      assert.ok(isInterruption(error), String(error));
      assert.equal(server.requests.length, before);
    });

    test('a consumer who stops iterating closes the connection', async () => {
      server.play({ replies: [{ ...ANSWER, fault: { type: 'stall', afterEvents: 5 } }] });
      const index = server.requests.length;
      for await (const event of client(wire, server.baseUrl).stream(
        request(wire),
        new AbortController().signal,
      )) {
        if (event.type !== 'usage') break;
      }
      assert.equal(await (await server.request(index)).ended, 'client');
    });
  });
}

test('listeners do not pile up on a signal that lives longer than its requests', async () => {
  server.play({ replies: [ANSWER] });
  const controller = new AbortController();
  let listeners = 0;
  const counted = {
    get aborted() {
      return controller.signal.aborted;
    },
    addEventListener: () => void listeners++,
    removeEventListener: () => void listeners--,
  };
  for (const wire of WIRE_APIS) {
    await collect(client(wire, server.baseUrl).stream(request(wire), counted));
    assert.equal(listeners, 0, wire);
  }
});
