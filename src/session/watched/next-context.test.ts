// The next context is true and single: what the model reads after each way through a handover, as the provider received it.

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { DEFAULT_CONFIG } from '../../config/defaults.ts';
import type { Config } from '../../config/schema.ts';
import { liveThread } from '../../../test/support/live-thread.ts';
import { PACKET } from '../../../test/support/packet.ts';
import type { Reply } from '../../../test/support/provider-server/script.ts';
import { startProviderServer } from '../../../test/support/provider-server/server.ts';

const server = await startProviderServer({ replies: [{}] });
after(() => server.close());

const TASK = 'Light the lamp and fill the oil.';
const PLACEHOLDER = /RAWR_VERBATIM_CONTINUATION_SNIPPET/;

function commits(input: number, text?: string): Reply {
  const call = { name: 'shell', arguments: { command: 'git commit -m "Light the lamp"' } };
  return { calls: [call], usage: { input, output: 60 }, ...(text === undefined ? {} : { text }) };
}

function says(text: string, input: number): Reply {
  return { text, usage: { input, output: 60 } };
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
      usage: { input: 62_200, output: 60 },
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
