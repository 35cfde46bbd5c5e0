// The clock of the machine goes backwards, within a turn, between turns and between processes.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { openRollout } from '../../src/rollout/rollout.io.ts';
import { openThreadIn } from '../support/opened-thread.ts';
import { client, MODEL } from '../support/provider-server/client.ts';
import { startProviderServer } from '../support/provider-server/server.ts';
import { REPLIES, says, Script, MESSAGES, userTexts } from './script.ts';

const server = await startProviderServer({ replies: REPLIES });
after(() => server.close());

const HOUR_MS = 3_600_000;

test('both handovers happen, and the thread continues, with a clock that only goes backwards', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-clock-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const [home, work] = [join(folder, 'home'), join(folder, 'work')];
  mkdirSync(home);
  execFileSync('git', ['init', '-q', '-b', 'main', work]);
  for (const [key, value] of [
    ['name', 'Keeper'],
    ['email', 'keeper@tower.example'],
  ]) {
    execFileSync('git', ['-C', work, 'config', `user.${key ?? ''}`, value ?? '']);
  }
  let nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  const clock = { now: () => (nowMs -= HOUR_MS) };
  const terms = { home, work, clock, model: client('responses', server.baseUrl), modelName: MODEL.responses };
  const script = new Script({ acknowledged: () => undefined });
  const first = await openThreadIn({ ...terms, emit: script.hear });
  await script.play(first);
  await first.close();
  server.play({ replies: [says('Going on.', 9_000)] });
  const second = await openThreadIn({ ...terms, resume: 'last' });
  const { lastMessage } = await second.turn('And now?');
  await second.close();
  assert.equal(lastMessage, 'Going on.');
  const records: LogRecord[] = [];
  const world = { clock, ids: { uuid: () => 'none' } };
  const { rollout, damage } = await openRollout(home, first.id, world, (each) => records.push(each));
  await rollout.close();
  assert.deepEqual(damage, []);
  const items = records.flatMap((record) => (record.type === 'item' ? [record.item] : []));
  assert.deepEqual(userTexts(items), [...MESSAGES, 'And now?'], 'each message once, in its order');
  assert.equal(records.filter(({ type }) => type === 'compacted').length, 2);
  assert.equal(items.filter(({ origin }) => origin?.step === 'handoff').length, 2);
  const history = rollout.history.map(({ value }) => pairView(value));
  assert.deepEqual(Object.values(findBrokenPairs(history)).flat(), []);
});
