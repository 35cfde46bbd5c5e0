// The next context is true and single: what the model reads after each way through a handover, as the provider received it.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { DEFAULT_CONFIG } from '../../config/defaults.ts';
import type { Config } from '../../config/schema.ts';
import { liveThread } from '../../../test/support/live-thread.ts';
import { PACKET } from '../../../test/support/packet.ts';
import { goodSummary } from '../../../test/support/summaries.ts';
import type { Reply } from '../../../test/support/provider-server/script.ts';
import { startProviderServer } from '../../../test/support/provider-server/server.ts';

const server = await startProviderServer({ replies: [{}] });
after(() => server.close());

const TASK = 'Light the lamp and fill the oil.';
const PLACEHOLDER = /RAWR_VERBATIM_CONTINUATION_SNIPPET/;

function commits(input: number, text?: string): Reply {
  const call = { name: 'shell', arguments: { command: 'git commit -m "Light the lamp"' } };
  return { calls: [call], fills: input, ...(text === undefined ? {} : { text }) };
}

function says(text: string, input: number): Reply {
  return { text, fills: input };
}

function withWatcher(changed: Partial<Config['rawrAutoCompaction']>): Config {
  return { ...DEFAULT_CONFIG, rawrAutoCompaction: { ...DEFAULT_CONFIG.rawrAutoCompaction, ...changed } };
}

/** The messages of a request, as the model reads them. */
function textOf(request: { readonly text: string } | undefined): string {
  return request?.text ?? '';
}

function times(text: string, words: string): number {
  return text.split(words).length - 1;
}

describe('a packet', () => {
  for (const place of ['inside of a turn', 'between turns'] as const) {
    test(`stands once in the next context, with the work before it: ${place}`, async () => {
      const before =
        place === 'inside of a turn'
          ? [commits(62_000, 'The wick is trimmed.')]
          : [
              commits(40_000, 'The wick is trimmed.'),
              says('The wick is committed. The oil comes next.', 62_000),
            ];
      server.play({ replies: [...before, says(PACKET, 62_500), says('The oil is filled.', 9_000)] });
      const { thread } = await liveThread({ baseUrl: server.baseUrl });
      await thread.submit(TASK);
      await thread.rest();
      const next = textOf(server.requests.at(-1));
      assert.equal(times(next, 'Here is your packet back'), 1);
      assert.equal(times(next, 'Never touch the glass'), 1, next);
      assert.equal(times(next, 'The oil is low, the door is open'), 1);
      assert.doesNotMatch(next, PLACEHOLDER);
      assert.match(next, /The wick is trimmed/, 'the tail is what was before the packet');
      assert.doesNotMatch(next, /Write a continuation packet/);
      if (place === 'inside of a turn') assert.doesNotMatch(next, /had answered the current request/);
    });
  }

  test('that a newer one replaces does not come back', async () => {
    const second = PACKET.replaceAll('Never touch the glass', 'Mind the stairs').replaceAll(
      'oil',
      'fog horn',
    );
    const config = withWatcher({ cooldownTurns: 0, cooldownSeconds: 0 });
    const { thread } = await liveThread({ baseUrl: server.baseUrl, config });
    server.play({ replies: [commits(62_000), says(PACKET, 62_500), says('The lamp is lit.', 9_000)] });
    await thread.submit(TASK);
    await thread.rest();
    server.play({ replies: [commits(63_000), says(second, 63_500), says('The horn sounds.', 9_000)] });
    await thread.submit('Now the fog horn.');
    await thread.rest();
    const next = textOf(server.requests.at(-1));
    assert.equal(times(next, 'Mind the stairs'), 1);
    assert.equal(times(next, 'Never touch the glass'), 0, next);
    assert.doesNotMatch(next, PLACEHOLDER);
  });

  test('of the watcher sends an agent on that wrote its notes and has work left', async () => {
    const config = withWatcher({ packetAuthor: 'watcher' });
    const notes: Reply = {
      calls: [
        {
          name: 'shell',
          arguments: { command: 'mkdir -p .scratch && echo notes >> .scratch/agent-x.scratch.md' },
        },
      ],
      fills: 62_200,
    };
    server.play({
      replies: [
        commits(62_000),
        notes,
        says('Notes written to `.scratch/agent-x.scratch.md`.', 62_500),
        says('The oil is filled.', 9_000),
      ],
    });
    const { thread } = await liveThread({ baseUrl: server.baseUrl, config });
    await thread.submit(TASK);
    await thread.rest();
    const next = textOf(server.requests.at(-1));
    assert.match(next, /Here is your packet back/);
    assert.doesNotMatch(next, /Nothing is left open/);
    assert.doesNotMatch(next, /had answered the current request|has been answered/);
    assert.doesNotMatch(next, /Notes written to/);
    assert.equal(thread.lastAgentMessage, 'The oil is filled.');
  });
});

describe('a request that nothing came of', () => {
  const RETRACTED = /no longer holds/;

  test('is taken back before the next message, after Esc', async () => {
    server.play({
      replies: [
        commits(40_000),
        says('The wick is committed. The oil comes next.', 62_000),
        { fault: { type: 'silence' } },
      ],
    });
    const index = server.requests.length + 2;
    const { thread } = await liveThread({ baseUrl: server.baseUrl });
    await thread.submit(TASK);
    await server.request(index);
    thread.interrupt();
    await thread.rest();
    server.play({ replies: [says('It is Sunday.', 9_000), says('Yes.', 9_000)] });
    await thread.submit('Which day is it?');
    await thread.rest();
    const next = textOf(server.requests.at(-1));
    assert.match(next, /Start nothing new until[\s\S]*no longer holds[\s\S]*Which day is it/);
    await thread.submit('Sure?');
    await thread.rest();
    assert.equal(times(textOf(server.requests.at(-1)), 'no longer holds'), 1, 'once');
  });

  test('is taken back in the session that takes a killed one up', async () => {
    server.play({
      replies: [
        commits(40_000),
        says('The wick is committed. The oil comes next.', 62_000),
        says(PACKET, 62_500),
      ],
    });
    const { thread, records } = await liveThread({ baseUrl: server.baseUrl });
    await thread.submit(TASK);
    await thread.rest();
    const asked = records.findIndex(
      (record) => record.type === 'item' && record.item.origin?.step === 'packet_request',
    );
    server.play({ replies: [says('It is Sunday.', 9_000)] });
    const resumed = await liveThread({ baseUrl: server.baseUrl, past: records.slice(0, asked + 1) });
    await resumed.thread.rest();
    await resumed.thread.submit('Which day is it?');
    await resumed.thread.rest();
    assert.match(textOf(server.requests.at(-1)), RETRACTED);
  });

  test('is not followed by a false word after a built-in compaction, and the answer to the user ends the turn', async () => {
    const overflow: Reply = { fault: { type: 'status', status: 400, code: 'context_length_exceeded' } };
    server.play({
      replies: [
        commits(62_000),
        overflow,
        { text: goodSummary() },
        says('The oil is filled.', 9_000),
        says('Extra.', 9_000),
      ],
    });
    const from = server.requests.length;
    const { thread, records } = await liveThread({ baseUrl: server.baseUrl });
    await thread.submit(TASK);
    await thread.rest();
    assert.ok(records.some(({ type }) => type === 'compacted'));
    for (const request of server.requests.slice(from))
      assert.doesNotMatch(request.text, /not compacted|no longer holds/);
    assert.doesNotMatch(textOf(server.requests.at(-1)), /Write a continuation packet/);
    assert.equal(server.requests.length - from, 4, 'nothing is asked after the answer');
    assert.deepEqual(thread.lastTurn, { ending: { type: 'complete' }, said: 'The oil is filled.' });
  });

  test('does not make its packet the answer to the user, where the next request fails', async () => {
    server.play({
      replies: [commits(62_000), says(PACKET, 62_500), { fault: { type: 'status', status: 500 } }],
    });
    const { thread } = await liveThread({ baseUrl: server.baseUrl });
    await thread.submit(TASK);
    await thread.rest();
    assert.equal(thread.lastTurn?.ending.type, 'failed');
    assert.equal(thread.lastTurn?.said, undefined);
  });
});

describe('the heads-up', () => {
  test('names what was completed', async () => {
    const completed = [
      { step: 'Trim the wick', status: 'completed' },
      { step: 'Fill the oil', status: 'pending' },
    ];
    const call = { name: 'update_plan', arguments: { plan: completed } };
    server.play({
      replies: [{ calls: [call], fills: 62_000 }, says(PACKET, 62_500), says('The oil is filled.', 9_000)],
    });
    const from = server.requests.length;
    const { thread } = await liveThread({ baseUrl: server.baseUrl });
    await thread.submit(TASK);
    await thread.rest();
    const asked = textOf(server.requests[from + 1]);
    assert.match(asked, /Why now: you completed ..Trim the wick/);
    assert.doesNotMatch(asked, /plan_checkpoint|plan_update/);
  });

  test('does not call an emergency a good place to pause', async () => {
    server.play({ replies: [commits(88_000), says('The oil is filled.', 9_000)] });
    const { thread, records } = await liveThread({ baseUrl: server.baseUrl });
    await thread.submit(TASK);
    await thread.rest();
    const headsUp = JSON.stringify(
      records.filter((record) => record.type === 'item' && record.item.origin?.step === 'heads_up'),
    );
    assert.match(headsUp, /no room left to wait/);
    assert.doesNotMatch(headsUp, /is a good place to pause/);
  });
});
