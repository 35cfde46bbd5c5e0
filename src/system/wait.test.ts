import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { wait } from './wait.io.ts';

const stopped = (): Error => new Error('stopped');

function listeners(signal: AbortSignal): number {
  return getEventListeners(signal, 'abort').length;
}

test('it is over after its time, and listens no more', async () => {
  const { signal } = new AbortController();
  const waiting = wait(1, signal, stopped);
  assert.equal(listeners(signal), 1);
  await waiting;
  assert.equal(listeners(signal), 0);
});

test('it is over at once when it is stopped, or was stopped before, and listens no more', async () => {
  const controller = new AbortController();
  const waiting = wait(3_600_000, controller.signal, stopped);
  controller.abort();
  await assert.rejects(waiting, /stopped/);
  assert.equal(listeners(controller.signal), 0);
  await assert.rejects(wait(3_600_000, controller.signal, stopped), /stopped/);
  assert.equal(listeners(controller.signal), 0);
});
