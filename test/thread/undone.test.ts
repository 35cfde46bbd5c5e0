// A session whose compactions were undone one after the other, and which then continues: what the model is sent is what the
// log says.

import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Model } from '../../src/ports.ts';
import type { Item } from '../../src/protocol/item.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { createRollout } from '../../src/rollout/rollout.io.ts';
import { openThreadIn } from '../support/opened-thread.ts';
import { agentSays, userSays } from '../support/records.ts';

/** How many are taken back in a row: more than a living thread keeps at hand. */
const UNDOS = 5;

test('the model of a resumed thread is sent the history that undos restored', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-undone-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const world = { clock: { now: () => Date.now() }, ids: { uuid: () => randomUUID() } };
  const rollout = await createRollout(folder, { cwd: folder, instructions: 'You tend a lighthouse.' }, world);
  const said = [userSays('Light the lamp.'), agentSays('It is lit.')];
  await rollout.append([{ type: 'turn_started', turnId: 'turn-1' }, ...said.map(itemRecord)]);
  for (let number = 0; number < UNDOS; number++) {
    const replacement = [userSays(`Summary ${number}`)];
    await rollout.append([{ type: 'compacted', id: randomUUID(), trigger: 'manual', replacement }]);
  }
  for (let number = 0; number < UNDOS; number++) await rollout.undo();
  await rollout.close();
  let sent: readonly Item[] = [];
  const model: Model = {
    provider: 'tower',
    async *stream({ items }) {
      sent = items;
      yield { type: 'item_done', item: agentSays('Going on.') };
      yield { type: 'completed', stopReason: 'end_turn' };
    },
  };
  const thread = await openThreadIn({
    home: folder,
    work: folder,
    model,
    modelName: 'keeper',
    resume: 'last',
  });
  await thread.turn('And now?');
  await thread.close();
  const texts = JSON.stringify(sent);
  for (const text of ['Light the lamp.', 'It is lit.', 'And now?'])
    assert.ok(texts.includes(text), `lost: ${text}`);
  assert.ok(!texts.includes('Summary'), 'a summary that was taken back is sent');
});

function itemRecord(item: Item): LogRecord {
  return { type: 'item', item };
}
