// A thread of hundreds of turns and many handovers: what it holds in memory must not grow with its turns.

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { LongThread } from '../support/long-thread.ts';

const TURNS = 600;
/** Bytes of the heap that a turn may add: names and words are remembered up to limits that so short a thread does not reach. */
const MOST_PER_TURN = 4_000;

// The heap also holds compiled code, which grows for as long as V8 optimises: leave only what the thread keeps.
for (const flag of ['--expose-gc', '--no-opt', '--no-sparkplug']) setFlagsFromString(flag);
const collectGarbage = runInNewContext('gc') as () => void;

/** The least of a few looks: on a busy machine sockets and timers of the last turn are let go of a moment later. */
async function heapBytes(): Promise<number> {
  let least = Infinity;
  for (let look = 0; look < 5; look++) {
    await sleep(50);
    collectGarbage();
    collectGarbage();
    least = Math.min(least, process.memoryUsage().heapUsed);
  }
  return least;
}

test(`${TURNS} turns with a handover every 25: the heap does not grow with them`, async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-long-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const thread = await LongThread.open(folder);
  const heaps: number[] = [];
  for (let third = 1; third <= 3; third++) {
    await thread.playUntil((third * TURNS) / 3);
    heaps.push(await heapBytes());
  }
  await thread.close();
  const { compactions, handoffs } = thread.counts;
  assert.deepEqual([compactions, handoffs], [TURNS / 25, TURNS / 25], 'every handover happened');
  const [, second = 0, last = 0] = heaps;
  const perTurn = (last - second) / (TURNS / 3);
  t.diagnostic(
    `${heaps.map((heap) => (heap / 1e6).toFixed(1)).join(', ')} MB; ${Math.round(perTurn)} bytes per turn`,
  );
  assert.ok(perTurn < MOST_PER_TURN, `${Math.round(perTurn)} bytes per turn`);
});
