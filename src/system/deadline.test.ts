import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogRecord } from '../protocol/record.ts';
import { LazyTrail } from '../trail/lazy-trail.ts';
import { deadlineOf } from './deadline.io.ts';

const within = deadlineOf(50);

test('work that ends in time gives its value, and what it throws passes', () => {
  assert.deepEqual(
    within(() => 7),
    { value: 7 },
  );
  assert.throws(() => within(() => assert.fail('thrown')), /thrown/);
});

test('work that does not end is ended: a loop, one that catches everything, a regular expression', () => {
  const endless: readonly (() => unknown)[] = [
    () => {
      for (;;);
    },
    () => {
      for (;;) {
        try {
          for (;;);
        } catch {
          // It goes on.
        }
      }
    },
    () => /^(?:a+)+$/.test(`${'a'.repeat(40)}b`),
  ];
  for (const work of endless) assert.equal(within(work), undefined);
  assert.deepEqual(
    within(() => 'alive'),
    { value: 'alive' },
  );
});

test('work inside of work keeps its own deadline', () => {
  const outer = deadlineOf(10_000)(() => [
    within(() => {
      for (;;);
    }),
    within(() => 'next'),
  ]);
  assert.deepEqual(outer, { value: [undefined, { value: 'next' }] });
});

function ask(text: string): LogRecord {
  return {
    type: 'item',
    item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  };
}

test('a trail whose reading is ended is lost, but for its pins', () => {
  let isSlow = false;
  const trail = new LazyTrail((work) => (isSlow ? undefined : { value: work() }));
  trail.add(ask('Paint the boat.'));
  assert.deepEqual([trail.trail().isLost, trail.trail().requests.length], [false, 1]);
  isSlow = true;
  trail.add(ask('Paint it red.'));
  const lost = new Set([trail.trail().isLost]);
  isSlow = false;
  trail.add(ask('Paint it blue.'));
  lost.add(trail.trail().isLost);
  assert.deepEqual([...lost], [true]);
  assert.deepEqual(trail.trail().requests, []);
});
