import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { Newest } from './newest.ts';

test('what is found is what the newest text tells that tells anything, whenever somebody asks', () => {
  const action = fc.constantFrom('tells', 'says nothing', 'ask', 'clear');
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const newest = new Newest((at: number) => (actions[at] === 'tells' ? at : undefined));
      let expected: number | undefined;
      for (const [at, what] of actions.entries()) {
        if (what === 'ask') assert.equal(newest.found, expected);
        else if (what === 'clear') newest.clear();
        else newest.add(at);
        if (what === 'tells') expected = at;
        if (what === 'clear') expected = undefined;
      }
      assert.equal(newest.found, expected);
    }),
    { seed: 3, numRuns: 500 },
  );
});

test('older texts are not read where a newer one tells', () => {
  const read: number[] = [];
  const newest = new Newest((at: number) => {
    read.push(at);
    return at % 2 === 0 ? at : undefined;
  });
  for (let at = 0; at < 6; at++) newest.add(at);
  assert.equal(newest.found, 4);
  assert.deepEqual(read, [5, 4]);
  assert.equal(newest.found, 4);
  assert.deepEqual(read, [5, 4]);
});
