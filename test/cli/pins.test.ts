// `baton compact` on a session of Baton's own in which something is pinned.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { createRollout } from '../../src/rollout/rollout.io.ts';
import { pinRecords } from '../../src/trail/pins.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { agentSays, userSays } from '../support/records.ts';
import { rolloutWorld } from '../support/rollouts.ts';

const folder = temporaryDirectory();
const TEXT = 'Berths 7 and 8 are reserved:\n\tnobody moors there.';

test('a pin is kept, mentioned in the preview, and still a pin in the written file', async () => {
  const rollout = await createRollout(join(folder, '.baton'), { cwd: '/home/dev/port' }, rolloutWorld());
  const turns = Array.from({ length: 60 }, (_, turn) => [
    { type: 'item', item: userSays(`Plan the berths of week ${turn}.`) } as const,
    { type: 'item', item: agentSays(`Week ${turn}: ${'a ship moors at noon. '.repeat(40)}`) } as const,
  ]).flat();
  await rollout.append([...pinRecords([], { id: 'p', text: TEXT }), ...turns]);
  await rollout.close();

  const preview = await baton(folder, ['compact', rollout.path, '--preview']);
  assert.equal(preview.status, 0, preview.stderr);
  assert.match(preview.stdout, /1 pinned text kept word for word \(about \d+ tokens\)\./);

  const written = async (from: string, to: string): Promise<string> => {
    const out = join(folder, to);
    const ran = await baton(folder, ['compact', from, '--out', out]);
    assert.equal(ran.status, 0, ran.stderr);
    assert.match(ran.stdout + ran.stderr, /1 pinned text kept word for word/);
    return readFileSync(out, 'utf8');
  };
  const once = await written(rollout.path, 'once.jsonl');
  const compacted = once.split('\n').find((line) => line.includes('"type":"compacted"'));
  assert.ok(compacted?.includes(JSON.stringify(TEXT).slice(1, -1)), 'the pin is not in what was written');
});
