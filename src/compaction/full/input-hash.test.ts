import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Item } from '../../protocol/item.ts';
import { InputHash } from './input-hash.ts';

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

function entriesOf(sizes: readonly number[]): readonly { readonly value: Item }[] {
  return sizes.map((size) => ({
    value: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'x'.repeat(size) }] },
  }));
}

/** As `Receipt.inputSha256` says it. */
function reference(entries: readonly { readonly value: Item }[]): string {
  const hashes: string[] = [];
  let piece = '';
  for (const { value } of entries) {
    piece += `${JSON.stringify(value)}\n`;
    if (piece.length < 65_536) continue;
    hashes.push(hash(piece));
    piece = '';
  }
  return hash([...hashes, piece].join('\n'));
}

test('the hash is the same however far it was begun', () => {
  const sizes = fc.array(fc.oneof(fc.nat(200), fc.integer({ min: 60_000, max: 70_000 })), { maxLength: 12 });
  fc.assert(
    fc.property(sizes, fc.nat(12), (lengths, steps) => {
      const entries = entriesOf(lengths);
      const input = new InputHash(entries, hash);
      for (let step = 0; step < steps; step++) input.step();
      assert.equal(input.digest(), reference(entries));
      assert.equal(input.digest(), reference(entries));
      assert.equal(input.step(), false);
    }),
    { seed: 7, numRuns: 60 },
  );
});

test('no step hashes more than one piece', () => {
  const hashed: string[] = [];
  const input = new InputHash(entriesOf([70_000, 70_000, 10]), (text) => {
    hashed.push(text);
    return hash(text);
  });
  assert.deepEqual([input.step(), hashed.length], [true, 1]);
  assert.deepEqual([input.step(), hashed.length], [true, 2]);
  assert.deepEqual([input.step(), hashed.length], [false, 2]);
});
