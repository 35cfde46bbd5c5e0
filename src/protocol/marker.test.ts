import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { STEPS } from '../vocabulary.ts';
import type { Step } from '../vocabulary.ts';
import { markedOrigin, markerLine, markerOf, withoutMarker } from './marker.ts';

test('a marker that was written is read back, whatever follows it', () => {
  const steps = fc.subarray([...STEPS], { minLength: 1 }).map((list) => list as [Step, ...Step[]]);
  const id = fc.stringMatching(/^[\w-]{1,64}$/);
  fc.assert(
    fc.property(steps, id, fc.string(), (list, sequenceId, rest) => {
      const marker = { steps: list, sequenceId };
      assert.deepEqual(markerOf(`${markerLine(marker)}\n${rest}`), marker);
      assert.equal(withoutMarker(`${markerLine(marker)}\n${rest}`), rest);
    }),
    { seed: 20_261_121 },
  );
});

test('a message that holds several steps is known by the last, which the others prepare', () => {
  const text = markerLine({ steps: ['heads_up', 'scratch', 'packet_request'], sequenceId: 's1' });
  assert.deepEqual(markedOrigin(text), { author: 'synthetic', step: 'packet_request', sequenceId: 's1' });
});

for (const text of [
  '',
  'Please read [baton:handoff sequence=s1]',
  ' [baton:handoff sequence=s1]',
  '[baton:handoff sequence=s1] and then',
  '[baton:dance sequence=s1]\n',
  '[baton:handoff sequence=a b]\n',
  `[baton:handoff sequence=${'x'.repeat(65)}]\n`,
]) {
  test(`no marker: ${JSON.stringify(text.slice(0, 50))}`, () => {
    assert.equal(markerOf(text), undefined);
    assert.equal(withoutMarker(text), text);
  });
}

test('an id that could not be read back is refused', () => {
  assert.throws(() => markerLine({ steps: ['handoff'], sequenceId: 'a]\nb' }), RangeError);
});
