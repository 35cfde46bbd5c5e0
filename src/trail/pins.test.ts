import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { BatonError } from '../errors.ts';
import type { NoteRecord } from '../protocol/record.ts';
import { MAX_PINNED_TOKENS, pinnedTokens, pinRecords, pinsAfter, unpinRecord } from './pins.ts';
import type { Pin } from './pins.ts';

function isFull(error: unknown): boolean {
  return error instanceof BatonError && error.code === 'pins_full';
}

test('notes fold to what is pinned: the newest text of an id, until it is unpinned', () => {
  const notes: readonly NoteRecord[] = [
    pinRecords([], { id: 'a', text: 'one' })[0],
    pinRecords([], { id: 'b', text: 'two' })[0],
    pinRecords([], { id: 'a', text: 'three' })[0],
    { type: 'note', kind: 'pin', value: { id: 'c' } },
    { type: 'note', kind: 'watcher_state', value: { id: 'b' } },
    unpinRecord('nobody'),
  ];
  const pins = notes.reduce(pinsAfter, [] as readonly Pin[]);
  assert.deepEqual(pins, [
    { id: 'b', text: 'two' },
    { id: 'a', text: 'three' },
  ]);
  assert.deepEqual(pinsAfter(pins, unpinRecord('b')), [{ id: 'a', text: 'three' }]);
});

test('what is accepted one by one never exceeds the room for all', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ minLength: 1, maxLength: 3000 }), { maxLength: 12 }), (texts) => {
      let pins: readonly Pin[] = [];
      for (const [index, text] of texts.entries()) {
        try {
          pins = pinsAfter(pins, pinRecords(pins, { id: String(index), text })[0]);
        } catch (error) {
          assert.ok(error instanceof BatonError, 'another failure');
          assert.notEqual(error.cure, '');
        }
      }
      assert.ok(pinnedTokens(pins) <= MAX_PINNED_TOKENS, `${pinnedTokens(pins)} tokens`);
    }),
    { seed: 3, numRuns: 60 },
  );
});

test('a pin that is too large, or one too many, is refused with what to do', () => {
  const large = { id: 'a', text: 'x'.repeat(MAX_PINNED_TOKENS * 4) };
  assert.throws(() => pinRecords([], large), isFull);
  const half = { id: 'a', text: 'x'.repeat(MAX_PINNED_TOKENS * 2) };
  const pins = pinsAfter([], pinRecords([], half)[0]);
  assert.throws(() => pinRecords(pins, { ...half, id: 'b' }), isFull);
  // The same pin again is no second one.
  assert.equal(pinRecords(pins, half).length, 2);
  assert.throws(() => pinRecords([], { id: 'a', text: ' \n' }), /nothing to pin/);
});
