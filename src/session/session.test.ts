// Whole turns over a real provider on the loopback.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { compactionWorld, summarizersOf } from '../../test/support/compactable.ts';
import { client, MODEL } from '../../test/support/provider-server/client.ts';
import type { Reply } from '../../test/support/provider-server/script.ts';
import { startProviderServer } from '../../test/support/provider-server/server.ts';
import { recordingEmitter } from '../../test/support/recording-emitter.ts';
import { agentSays, recordsOf, userSays } from '../../test/support/records.ts';
import { textOfSize } from '../../test/support/thread.ts';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import { BatonError } from '../errors.ts';
import { findBrokenPairs, pairView } from '../history/pairs.ts';
import { callOf } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { SessionEvent } from '../protocol/wire/event.ts';
import type { LogRecord } from '../protocol/record.ts';
import { DEFAULT_RETRY_POLICY } from '../providers/retry.ts';
import { SUMMARY_SECTIONS } from '../vocabulary.ts';
import type { WireApi } from '../vocabulary.ts';
import { Session } from './session.io.ts';
import type { ToolRunner } from './terms.ts';
import { ABORTED_RESULT } from './loop.ts';

const server = await startProviderServer({ replies: [{}] });
after(() => server.close());

const SUMMARY = SUMMARY_SECTIONS.map(
  (section) => `## ${section}\n\nThe lamp is lit, and the horn is sounding.`,
).join('\n\n');

/** Readings that were stopped. */
let stopped = 0;

/** A meter that can be read, and one that never answers. */
const METERS: ToolRunner = {
  specs: [
    {
      name: 'read_meter',
      description: 'Reads a meter.',
      parameters: { type: 'object', properties: { meter: { type: 'string' } } },
    },
  ],
  run: async (call, signal) => {
    const { callId = '', input } = callOf(call) ?? { callId: '', input: '' };
    if (input.includes('stuck')) {
      await new Promise<void>((_, reject) => {
        signal.addEventListener('abort', () => {
          stopped++;
          reject(new BatonError('interrupted', 'Stopped'));
        });
      });
    }
    const output = input.includes('large') ? textOfSize('reading', 3_000) : `Read: ${input}`;
    return { type: 'function_call_output', call_id: callId, output };
  },
};

/** Enough to be worth compacting. */
const PAST = recordsOf(userSays('Tend the light.'), agentSays(textOfSize('report', 3_000)));

interface Surroundings {
  readonly window?: number;
  readonly hasSummarizer?: boolean;
  readonly retries?: number;
  readonly past?: readonly LogRecord[];
}

function sessionOf(
  wire: WireApi,
  { window = 100_000, hasSummarizer = true, retries = 0, past = [] }: Surroundings = {},
) {
  const records: LogRecord[] = [];
  const { events, emit } = recordingEmitter();
  let synced = 0;
  const retry = { ...DEFAULT_RETRY_POLICY, requestMaxRetries: retries, streamMaxRetries: retries, baseMs: 1 };
  const model = client(wire, server.baseUrl, { retry });
  const session = new Session(
    {
      config: { ...DEFAULT_CONFIG, modelContextWindow: window },
      model,
      modelName: MODEL[wire],
      instructions: 'You tend a lighthouse.',
      threadId: 'thread-1',
      log: {
        append: async (added) => {
          await new Promise((resolve) => void setImmediate(resolve));
          records.push(...added);
        },
        sync: () => {
          synced = records.length;
          return Promise.resolve();
        },
      },
      tools: METERS,
      compaction: compactionWorld(hasSummarizer ? { summarizers: summarizersOf([{ model, window }]) } : {}),
      emit: (event) => {
        emit(event);
        if (event.type === 'user_message' || event.type === 'agent_message') {
          const told = JSON.stringify(event.message).slice(1, -1);
          assert.ok(
            records.some((record) => JSON.stringify(record).includes(told)),
            'told before it was written',
          );
        }
      },
    },
    past,
  );
  return { session, records, events, synced: () => synced };
}

function names(events: readonly SessionEvent[]): readonly string[] {
  return events.map(({ type }) => type).filter((type) => !type.endsWith('_delta'));
}

function reads(...meters: readonly string[]): Reply {
  return { calls: meters.map((meter) => ({ name: 'read_meter', arguments: { meter } })) };
}

function assertSound(items: readonly Item[]): void {
  assert.deepEqual(Object.values(findBrokenPairs(items.map(pairView))).flat(), []);
}

for (const wire of ['responses', 'chat', 'anthropic'] as const) {
  describe(wire, () => {
    test('calls, their results, an answer: the strict server takes every request, the log holds all of it', async () => {
      server.play({ replies: [reads('oil', 'fog'), reads('wind'), { text: 'All is well.' }] });
      const { session, records, events, synced } = sessionOf(wire);
      assert.deepEqual(await session.turn([userSays('Read the meters.')]), { type: 'complete' });
      assertSound(session.items);
      assert.equal(session.items.filter((item) => item.type === 'function_call_output').length, 3);
      assert.deepEqual(
        records.map(({ type }) => type).filter((type) => type !== 'item'),
        ['turn_started', 'usage', 'usage', 'usage', 'turn_complete'],
      );
      assert.deepEqual(names(events), [
        'turn_started',
        'user_message',
        'tool_call_begin',
        'tool_call_begin',
        'spending',
        'token_count',
        'tool_call_end',
        'tool_call_end',
        'tool_call_begin',
        'spending',
        'token_count',
        'tool_call_end',
        'agent_message',
        'spending',
        'turn_complete',
        'token_count',
      ]);
      assert.equal(synced(), records.length, 'a finished turn survives a crash of the machine');
    });

    test('what comes while a compaction has the thread to itself waits for its end', async () => {
      const { session, records } = sessionOf(wire, { past: PAST });
      server.play({ replies: [{ text: SUMMARY }, { text: 'I go on.' }] });
      const compaction = session.compact({ from: 'manual', strategy: 'full' }, new AbortController().signal);
      await new Promise((resolve) => void setImmediate(resolve));
      const turn = session.turn([userSays('And now the horn.')]);
      const put = session.put([userSays('The wind has turned.')]);
      assert.equal((await compaction).type, 'compacted');
      assert.deepEqual(await turn, { type: 'complete' });
      await put;
      assert.equal(records[0]?.type, 'compacted', 'nothing was written into what was being summed up');
      assertSound(session.items);
    });

    test('a window that fills in the middle of a turn is compacted, and the turn goes on', async () => {
      server.play({
        replies: [reads('large'), reads('large'), reads('large'), { text: SUMMARY }, { text: 'Done.' }],
      });
      const { session, records, events } = sessionOf(wire, { window: 12_000, hasSummarizer: false });
      // The embedded summarizer answers no request, so the fourth reply goes to the agent.
      const ending = await session.turn([userSays('Read the large meter three times.')]);
      assert.deepEqual(ending, { type: 'complete' });
      assertSound(session.items);
      assert.ok(
        records.some(({ type }) => type === 'compacted'),
        'it was compacted',
      );
      const order = names(events);
      assert.ok(order.indexOf('compact_completed') < order.indexOf('turn_complete'), order.join());
    });

    test('a broken stream leaves nothing half recorded', async () => {
      server.play({
        replies: [
          {
            text: 'The lamp is lit and the horn is sounding every minute, as it has since dusk.',
            fault: { type: 'cut', afterEvents: 4 },
          },
        ],
      });
      const { session, events } = sessionOf(wire);
      const ending = await session.turn([userSays('Is the lamp lit?')]);
      assert.equal(ending.type, 'failed');
      assert.equal(session.items.length, 1, 'the message of the user alone');
      assert.ok(names(events).includes('error'), 'the user is told');
    });
  });
}

test('what a broken answer said is forgotten when it is asked for again', async () => {
  const calls = reads('oil');
  server.play({
    replies: [{ ...calls, text: 'First.', fault: { type: 'cut', afterEvents: 5 } }, { text: 'Second.' }],
  });
  const { session, events } = sessionOf('responses', { retries: 1 });
  assert.deepEqual(await session.turn([userSays('Read the oil.')]), { type: 'complete' });
  assert.ok(names(events).includes('stream_error'), 'the user is told');
  assert.deepEqual(
    session.items.map((item) => item.type),
    ['message', 'message'],
  );
});

test('a thread whose process died in the middle of a call goes on', async () => {
  server.play({ replies: [{ text: 'Where was I?' }] });
  const call: Item = { type: 'function_call', call_id: 'c1', name: 'read_meter', arguments: '{}' };
  const past = recordsOf(userSays('Read the oil.'), call);
  const { session } = sessionOf('responses', { past });
  assert.deepEqual(await session.turn([userSays('Go on.')]), { type: 'complete' });
});

test('an overflow is compacted for and the request is sent once more', async () => {
  const overflow: Reply = { fault: { type: 'status', status: 400, code: 'context_length_exceeded' } };
  server.play({ replies: [overflow, { text: SUMMARY }, { text: 'Done.' }] });
  const { session, records } = sessionOf('responses');
  const long = Array.from({ length: 5 }, (_, index) => userSays(textOfSize(`message ${index}`, 6_000)));
  assert.deepEqual(await session.turn(long), { type: 'complete' });
  assert.equal(records.filter(({ type }) => type === 'compacted').length, 1);
});

test('an interrupt while a tool hangs ends the turn at once, with a sound history', async () => {
  server.play({ replies: [reads('oil', 'stuck'), { text: 'Never asked for.' }] });
  const { session, events } = sessionOf('chat');
  const ended = session.turn([userSays('Read both.')]);
  const asked = server.requests.length;
  while (session.items.every((item) => item.type !== 'function_call_output')) {
    await new Promise((resolve) => void setImmediate(resolve));
  }
  session.interrupt();
  assert.deepEqual(await ended, { type: 'aborted' });
  assertSound(session.items);
  const last = session.items.at(-1);
  assert.equal(last?.type === 'function_call_output' && last.output, ABORTED_RESULT);
  assert.ok(names(events).includes('turn_aborted'), 'told');
  server.play({ replies: [{ text: 'Ready.' }] });
  assert.deepEqual(await session.turn([userSays('Go on.')]), { type: 'complete' });
  assert.ok(server.requests.length > asked, 'the thread goes on');
});

test('an interrupt while the model is silent closes the connection', async () => {
  server.play({ replies: [{ fault: { type: 'silence' } }] });
  const { session } = sessionOf('anthropic');
  const index = server.requests.length;
  const ended = session.turn([userSays('Hello.')]);
  const request = await server.request(index);
  session.interrupt();
  assert.deepEqual(await ended, { type: 'aborted' });
  assert.equal(await request.ended, 'client');
});

test('a steered message is seen before the next sampling; without a turn it stays with who wrote it', async () => {
  server.play({ replies: [reads('oil'), { text: 'Seen.' }] });
  const { session } = sessionOf('chat');
  assert.equal(await session.steer(userSays('Too early.')), false);
  const ended = session.turn([userSays('Read the oil.')]);
  assert.equal(await session.steer(userSays('Mind the fog.')), true);
  assert.deepEqual(await ended, { type: 'complete' });
  assert.match(server.requests.at(-1)?.text ?? '', /Mind the fog\./);
  assert.equal(session.items.length, 5);
});

test('a turn tells whose it is, what it cost and what was said in it', async () => {
  server.play({
    replies: [reads('oil'), { text: 'All is well.' }, { reasoning: 'Only thoughts.' }],
  });
  const { session, events } = sessionOf('responses', { window: 50_000 });
  await session.turn([
    userSays('Read the oil.'),
    {
      ...userSays('[baton:heads_up+packet_request sequence=s-1]\nWrite your packet.'),
      origin: { author: 'synthetic', step: 'packet_request', sequenceId: 's-1' },
    },
  ]);
  const said = { type: 'user_message', turn_id: 'turn-1' } as const;
  const turn = { turn_id: 'turn-1', task_kind: 'regular', origin: { type: 'user' } } as const;
  assert.deepEqual(events[0], { type: 'turn_started', ...turn });
  assert.deepEqual(
    events.filter(({ type }) => type === 'user_message'),
    [
      { ...said, id: 'item-0', message: 'Read the oil.', author: 'user', steps: [], sequence_id: null },
      {
        ...said,
        id: 'item-1',
        message: 'Write your packet.',
        author: 'synthetic',
        steps: ['heads_up', 'packet_request'],
        sequence_id: 's-1',
      },
    ],
  );
  assert.deepEqual(events.at(-2), {
    type: 'turn_complete',
    ...turn,
    answers: ['item-0'],
    stop_reason: 'end_turn',
    last_agent_message: 'All is well.',
  });
  const count = events.at(-1);
  assert.ok(count?.type === 'token_count' && count.last !== null, 'the provider reported');
  assert.equal(count.used, count.last.total_tokens);
  assert.equal(count.percent_remaining, Math.floor((100 * (47_500 - count.used)) / 47_500));
  assert.ok(count.total.total_tokens > count.last.total_tokens, 'two requests cost more than one');

  await session.turn([userSays('And now?')]);
  const last = events.at(-2);
  assert.ok(last?.type === 'turn_complete', 'it ended');
  assert.equal(last.last_agent_message, null, 'what an earlier turn said is not said again');
});

test('a log that cannot be written ends the turn with its error, and promises nothing', async () => {
  server.play({ replies: [{ text: 'Hello.' }] });
  const { session, records } = sessionOf('chat');
  Object.assign(records, {
    push: () => {
      throw new BatonError('output_failed', 'The disk is full');
    },
  });
  await assert.rejects(session.turn([userSays('Hello.')]), { code: 'output_failed' });
});

test('a log that cannot be written stops what still runs', async () => {
  server.play({ replies: [reads('stuck', 'oil')] });
  const { session, records } = sessionOf('chat');
  const push = records.push.bind(records);
  Object.assign(records, {
    push: (...added: readonly LogRecord[]) => {
      if (added.some((record) => record.type === 'item' && record.item.type === 'function_call_output')) {
        throw new BatonError('output_failed', 'The disk is full');
      }
      return push(...added);
    },
  });
  const before = stopped;
  await assert.rejects(session.turn([userSays('Read both.')]), { code: 'output_failed' });
  assert.equal(stopped, before + 1, 'the meter that never answers was let go');
});
