import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Item } from '../protocol/item.ts';
import { anyBrokenThread, anyThread, notationOf, thread } from '../../test/support/thread.ts';
import { MISSING_RESULT, findBrokenPairs, normalizeItems, pairView } from './pairs.ts';

const SEED = { seed: 20_260_101 };

const repairs: readonly (readonly [name: string, before: string, after: string, what: string])[] = [
  ['a sound history', 'u shell:40 a', 'u shell:40 a', ''],
  ['a call that was never answered', 'u shell#x> a', 'u shell:10! a', '1 answered_orphan_call'],
  ['a result of nothing', 'u shell#x< a', 'u a', '1 dropped_orphan_result'],
  [
    'a result before its call',
    'shell#x< shell#x> a',
    'shell:10! a',
    '0 dropped_orphan_result, 1 answered_orphan_call',
  ],
  ['a second result', 'shell#x> shell#x<:40 shell#x<:40 a', 'shell:40 a', '2 dropped_duplicate_result'],
  [
    'a call id used again before its answer',
    'shell#x> read#x> read#x<:40 a',
    'shell:40 read:40 a',
    '0 answered_orphan_call',
  ],
  ['reasoning at the end', 'u a r r', 'u a', '2 dropped_dangling_reasoning, 3 dropped_dangling_reasoning'],
  ['reasoning before the user', 'u r u', 'u u', '1 dropped_dangling_reasoning'],
  ['reasoning before a saved state', 'u r ghost a', 'u r ghost a', ''],
  [
    'reasoning before a result that goes',
    'u r shell#x< u',
    'u u',
    '1 dropped_dangling_reasoning, 2 dropped_orphan_result',
  ],
  ['a call that never has a result', 'u web a', 'u web a', ''],
];

for (const [name, before, after, what] of repairs) {
  test(`normalizeItems: ${name}`, () => {
    const { items, repairs: done } = normalizeItems(thread(before));
    assert.equal(notationOf(items), after);
    assert.equal(done.map((repair) => `${repair.index} ${repair.what}`).join(', '), what);
  });
}

test('an answer made up for a call says so, fails, and has the type of the call', () => {
  const calls: Item[] = [
    { type: 'custom_tool_call', name: 'apply_patch', input: 'x', call_id: 'c' },
    { type: 'local_shell_call', action: { command: ['ls'] }, call_id: 'l' },
  ];
  const { items } = normalizeItems(calls);
  assert.deepEqual(
    items.filter((item) => !calls.includes(item)).map((item) => ({ ...item })),
    [
      { type: 'custom_tool_call_output', call_id: 'c' },
      { type: 'function_call_output', call_id: 'l' },
    ].map((answer) => ({ ...answer, output: MISSING_RESULT, success: false, origin: { author: 'harness' } })),
  );
});

test('after normalizing no pair is broken, and normalizing again changes nothing', () => {
  let repaired = 0;
  fc.assert(
    fc.property(anyBrokenThread, (notation) => {
      const { items, repairs: done } = normalizeItems(thread(notation));
      repaired += done.length;
      assert.deepEqual(findBrokenPairs(items.map(pairView)), {
        orphanCalls: [],
        orphanResults: [],
        duplicateResults: [],
      });
      assert.equal(normalizeItems(items).items, items);
    }),
    SEED,
  );
  assert.ok(repaired > 100, `only ${repaired} repairs were drawn`);
});

test('normalizing drops nothing but results and reasoning, and keeps the order', () => {
  fc.assert(
    fc.property(anyBrokenThread, (notation) => {
      const before = thread(notation);
      const { items, repairs: done } = normalizeItems(before);
      const dropped = new Set(
        done.filter(({ what }) => what !== 'answered_orphan_call').map(({ index }) => index),
      );
      const isOld = new Set(before);
      assert.deepEqual(
        items.filter((item) => isOld.has(item)),
        before.filter((_, index) => !dropped.has(index)),
      );
      for (const index of dropped) assert.match(before[index]?.type ?? '', /_output$|^reasoning$/);
    }),
    SEED,
  );
});

test('a history with whole pairs and no dangling reasoning comes back as the same array', () => {
  fc.assert(
    fc.property(anyThread, (notation) => {
      const items = thread(`${notation} a`.replaceAll(/(?:^| )r(?= |$)/g, ''));
      assert.equal(normalizeItems(items).items, items);
    }),
    SEED,
  );
});

test('the work grows with the items: each is asked for its kind a fixed number of times', () => {
  const readsFor = (count: number) => {
    let reads = 0;
    const watched = Array.from({ length: count }, (_, index): Item => {
      const item: Item = { type: 'function_call', name: 'shell', arguments: '{}', call_id: `c${index}` };
      return new Proxy(item, {
        get(target, key, receiver): unknown {
          if (key === 'type') reads++;
          return Reflect.get(target, key, receiver);
        },
      });
    });
    assert.equal(normalizeItems(watched).items.length, 2 * count);
    return reads;
  };
  assert.equal(readsFor(20_000), 100 * readsFor(200));
});

test('a log of 200,000 unanswered calls is repaired without exhausting the stack', () => {
  const calls = Array.from({ length: 200_000 }, (_, index): Item => ({
    type: 'function_call',
    name: 'shell',
    arguments: '{}',
    call_id: `c${index}`,
  }));
  assert.equal(normalizeItems(calls).items.length, 400_000);
});
