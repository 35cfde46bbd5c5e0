// The commands read Baton's own sessions, forks with all that they continue.

import assert from 'node:assert/strict';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { createRollout, forkRollout } from '../../src/rollout/rollout.io.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { agentSays, userSays } from '../support/records.ts';
import { rolloutWorld } from '../support/rollouts.ts';

const folder = temporaryDirectory();

interface Inspected {
  readonly session_id: string;
  readonly file: { readonly damage: readonly { readonly kind: string }[] };
  readonly recorded: { readonly user_messages: number; readonly assistant_messages: number };
}

test('a fork is inspected with what it continues, and without where that is gone', async () => {
  const home = join(folder, '.baton');
  const world = rolloutWorld();
  const parent = await createRollout(home, { cwd: '/home/dev/gate' }, world);
  await parent.append([
    { type: 'item', item: userSays('Mend the gate.') },
    { type: 'item', item: agentSays('Mended.') },
  ]);
  await parent.close();
  const { rollout } = await forkRollout(home, parent.threadId, {}, world);
  await rollout.append([{ type: 'item', item: userSays('And the fence?') }]);
  await rollout.close();

  const inspect = async () => {
    const ran = await baton(folder, ['inspect', rollout.path, '--json']);
    assert.equal(ran.status, 0, ran.stderr);
    const { session_id: id, file, recorded } = JSON.parse(ran.stdout) as Inspected;
    const { user_messages: users, assistant_messages: agents } = recorded;
    return { id, users, agents, damage: file.damage.map(({ kind }) => kind) };
  };
  const id = rollout.threadId;
  assert.deepEqual(await inspect(), { id, users: 2, agents: 1, damage: [] });
  await rm(parent.path);
  assert.deepEqual(await inspect(), { id, users: 1, agents: 0, damage: ['dangling_parent'] });
});
