import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { placesOf } from './sequence.ts';

describe('the places of a text', () => {
  it('are those that indexOf finds, whatever repeats itself', () => {
    const anyText = (minLength: number, maxLength: number) =>
      fc.array(fc.constantFrom('a', 'b'), { minLength, maxLength }).map((letters) => letters.join(''));
    fc.assert(
      fc.property(anyText(0, 300), anyText(0, 3), fc.integer({ min: 1, max: 40 }), (text, unit, times) => {
        const wanted = `a${unit.repeat(times)}`;
        const expected: number[] = [];
        for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length))
          expected.push(at);
        assert.deepEqual(placesOf(text, wanted), expected);
      }),
      { seed: 3, numRuns: 500 },
    );
    const long = 'ab'.repeat(50);
    assert.deepEqual(placesOf(`${long}${long}x${long}`, long), [0, 100, 201]);
  });
});
