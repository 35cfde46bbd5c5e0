// What a replay keeps of a session: what is used later, not the file.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadSession } from '../../src/formats/session-file.io.ts';
import { openSource } from '../../src/formats/source.io.ts';
import { FutureFold, RecallMeter } from '../../src/lab/replay/recall.ts';
import { writeBigSession } from '../support/big-session.ts';
import { temporaryDirectory } from '../support/program.ts';

/** Bytes of the smaller session; the other has twice as many. */
const BYTES = 4e6;

/** Bytes of heap that a byte of the file may add. @source 0.04 measured; 1.0 where records are held */
const MOST_PER_BYTE = 0.15;

// The heap also holds compiled code, which grows for as long as V8 optimises.
for (const flag of ['--expose-gc', '--no-opt', '--no-sparkplug']) setFlagsFromString(flag);
const collectGarbage = runInNewContext('gc') as () => void;

async function heapWith(path: string): Promise<number> {
  const source = await openSource(path, process.stdin);
  try {
    const future = new FutureFold('');
    await loadSession(source, (record) => future.add(record));
    const meter = new RecallMeter(future);
    await loadSession(source, (record) => meter.add(record));
    collectGarbage();
    collectGarbage();
    const { heapUsed } = process.memoryUsage();
    assert.ok(future.size > 0 && typeof meter.measure === 'function', 'both are still held');
    return heapUsed;
  } finally {
    await source.close();
  }
}

test('the recall of a session twice as large holds no more of its text', async (t) => {
  const folder = temporaryDirectory();
  const heaps: number[] = [];
  for (const bytes of [BYTES, BYTES, 2 * BYTES]) {
    const path = join(folder, `${heaps.length}.jsonl`);
    await writeBigSession(path, 'codex', bytes);
    heaps.push(await heapWith(path));
  }
  // The first run compiles.
  const [, small = 0, large = 0] = heaps;
  const perByte = (large - small) / BYTES;
  t.diagnostic(`${perByte.toFixed(3)} bytes of heap per byte of the file`);
  assert.ok(perByte < MOST_PER_BYTE, `${perByte.toFixed(3)} bytes per byte`);
});
