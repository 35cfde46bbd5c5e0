// What the real Codex makes of the sessions that Baton itself records: it sends exactly the history that Baton would.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { LogRecord } from '../../src/protocol/record.ts';
import { createRollout, forkRollout } from '../../src/rollout/rollout.io.ts';
import type { Rollout, RolloutWorld } from '../../src/rollout/rollout.io.ts';
import { openRolloutSource } from '../../src/rollout/read.io.ts';
import { agentSays, toolCall, userSays } from '../support/records.ts';
import { resumeInCodex } from './contract.ts';
import { projectionOf } from './projection.ts';
import { skipReason } from './tools.ts';

const skip = await skipReason();

const world: RolloutWorld = { clock: { now: () => Date.now() }, ids: { uuid: () => randomUUID() } };

/** A nearly full window: without a good account of a compaction Codex would compact once more. */
const USED_TOKENS = 250_000;

function item(each: ReturnType<typeof userSays>): LogRecord {
  return { type: 'item', item: each };
}

function turn(number: number): readonly LogRecord[] {
  const turnId = randomUUID();
  return [
    { type: 'turn_started', turnId, kind: 'regular', origin: { type: 'user', messageId: `m${number}` } },
    item(userSays(`Print the tides of day ${number}.`)),
    ...toolCall(`call_${number}`, 'exec_command', { cmd: `tides ${number}` }, `high water ${number}`).map(
      item,
    ),
    item(agentSays(`Day ${number} is printed.`)),
    { type: 'note', kind: 'watcher_state', value: { stage: { at: 'idle' } } },
    { type: 'event', event: { type: 'background_event', message: 'The watcher decided: not yet.' } },
    { type: 'turn_complete', turnId, kind: 'regular', lastAgentMessage: `Day ${number} is printed.` },
    { type: 'usage', usage: { source: 'reported', covers: 'response', total: USED_TOKENS, output: 20 } },
  ];
}

function compaction(): LogRecord {
  const summary = 'The tides of some days were printed.';
  return {
    type: 'compacted',
    id: randomUUID(),
    trigger: 'auto',
    postTokens: 60,
    summary,
    replacement: [
      {
        type: 'compact_boundary',
        uuid: randomUUID(),
        timestamp: '2026-01-02T03:04:05.000Z',
        trigger: 'auto',
      },
      { ...userSays(summary), isCompactSummary: true, origin: { author: 'harness' } } as never,
      userSays('Print the tides of day 1.'),
    ],
  };
}

describe('codex resumes a session that Baton recorded', { skip, concurrency: 2 }, () => {
  let home: string;
  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'baton-own-'));
  });
  after(() => rm(home, { recursive: true, force: true }));

  async function record(play: (rollout: Rollout) => Promise<void>): Promise<Rollout> {
    const head = { cwd: '/home/dev/tides', producerVersion: '0.1.0', instructions: 'You print tides.' };
    const rollout = await createRollout(home, head, world);
    await rollout.append([
      { type: 'settings', model: 'model-a', cwd: '/home/dev/tides', usableWindow: 258_400 },
    ]);
    await rollout.append(turn(1));
    await play(rollout);
    await rollout.close();
    return rollout;
  }

  const sessions: Readonly<Record<string, (rollout: Rollout) => Promise<void>>> = {
    'compacted and gone on with': async (rollout) => {
      await rollout.append([compaction()]);
      await rollout.append(turn(2).slice(0, -1));
    },
    'with old results cleared': async (rollout) => {
      await rollout.append([{ type: 'micro_compacted', id: randomUUID(), callIds: ['call_1'] }]);
      await rollout.append([item(userSays('And tomorrow?')), item(agentSays('Tomorrow as well.'))]);
    },
    'compacted, gone on with, and the compaction taken back': async (rollout) => {
      await rollout.append([compaction()]);
      await rollout.append([item(userSays('And tomorrow?')), item(agentSays('Tomorrow as well.'))]);
      await rollout.undo();
    },
    'with reasoning of another provider and a packet in it': async (rollout) => {
      await rollout.append([
        {
          type: 'item',
          item: { type: 'reasoning', summary: [], text: 'Hm.', signature: 's', provider: 'x' },
        },
        { type: 'item', item: { type: 'ghost_snapshot', ghost_commit: { id: 'abc' } } },
        item(userSays('[baton:handoff sequence=7f3c]\nHere is your packet back.')),
        { type: 'turn_aborted', turnId: randomUUID(), reason: 'interrupted' },
      ]);
      await rollout.append([{ type: 'usage', usage: { source: 'reported', covers: 'response', total: 90 } }]);
    },
  };
  for (const [name, play] of Object.entries(sessions)) {
    it(name, async () => {
      const { path, history } = await record(play);
      const { items } = await projectionOf(path);
      const known = items.filter(({ role }) => role !== 'reasoning' && role !== 'other');
      assert.ok(known.length >= 3 && known.length <= history.length, 'there is no history to speak of');
      assert.deepEqual((await resumeInCodex(path)).items, known);
    });
  }

  it('as a fork, once its file contains what it continues', async () => {
    const { threadId } = await record(async (rollout) => {
      await rollout.append([compaction()]);
    });
    const { rollout } = await forkRollout(home, threadId, {}, world);
    await rollout.append(turn(3).slice(0, -1));
    await rollout.close();
    const source = await openRolloutSource(home, rollout.path);
    const parts: Buffer[] = [];
    for await (const chunk of source.chunks()) parts.push(Buffer.from(chunk));
    await source.close();
    const path = join(home, 'whole.jsonl');
    await writeFile(path, Buffer.concat(parts));
    const { items } = await projectionOf(path);
    const resumed = await resumeInCodex(path);
    assert.deepEqual(resumed.items, items);
    assert.equal(resumed.sessionId, rollout.threadId);
    assert.equal(items.at(-1)?.text, 'Day 3 is printed.');
  });

  it('but not a fork alone: it fails instead of continuing without its past', async () => {
    const { threadId } = await record(async () => undefined);
    const { rollout } = await forkRollout(home, threadId, {}, world);
    await rollout.append(turn(3).slice(0, -1));
    await rollout.close();
    await assert.rejects(resumeInCodex(rollout.path, 1), /the tool failed/);
  });
});
