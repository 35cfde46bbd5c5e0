import assert from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { BatonError } from '../errors.ts';
import type { CountText } from './estimate.ts';
import { loadPatientTokenizer, loadTokenizer, patientCounter } from './tokenizer.io.ts';

const atOnce = await loadTokenizer();

/** Many slices of text. */
const LONG = 'const total = items.length; // kept\n'.repeat(20_000);

/** A counter that takes a millisecond for each slice, and the slices that it was given. */
function slowCounter(): { readonly slices: string[]; readonly countSlice: CountText } {
  const slices: string[] = [];
  const countSlice = (slice: string): number => {
    slices.push(slice);
    for (const until = performance.now() + 1; performance.now() < until;);
    return slice.length;
  };
  return { slices, countSlice };
}

test('what is counted ahead equals what is counted at once', async () => {
  const anyText = fc
    .array(fc.constantFrom('a', ' ', '\n', 'word ', '中', '🙂', '{"k":1}', '<|endoftext|>'), {
      maxLength: 40,
    })
    .chain((pieces) => fc.integer({ min: 1, max: 40 }).map((times) => pieces.join('').repeat(times)));
  await fc.assert(
    fc.asyncProperty(fc.array(anyText, { maxLength: 5 }), async (texts) => {
      const { count, countAhead } = await loadPatientTokenizer();
      await countAhead(texts);
      assert.deepEqual(texts.map(count), texts.map(atOnce));
    }),
    { seed: 20_261_121, numRuns: 50 },
  );
});

test('counting ahead gives other things their turn', async () => {
  const { slices, countSlice } = slowCounter();
  const finished = new AbortController();
  void patientCounter(countSlice)
    .countAhead([LONG])
    .then(() => finished.abort());
  const seen = [0];
  while (!finished.signal.aborted) {
    seen.push(slices.length);
    await setImmediate();
  }
  seen.push(slices.length);
  assert.equal(slices.join(''), LONG);
  // A turn of 20 ms has room for at most 20 slices of a millisecond, and one that starts just before its end.
  const longest = Math.max(...seen.map((count, at) => count - (seen[at - 1] ?? 0)));
  assert.ok(longest <= 21, `${longest} of ${slices.length} slices in one turn`);
});

test('a text counted ahead is not counted again', async () => {
  const { slices, countSlice } = slowCounter();
  const { count, countAhead } = patientCounter(countSlice);
  await countAhead([LONG, LONG]);
  const counted = slices.length;
  assert.equal(count(LONG), LONG.length);
  assert.equal(slices.length, counted);
  assert.equal(slices.join(''), LONG);
});

test('counting ahead stops when it is told to', async () => {
  const { slices, countSlice } = slowCounter();
  const controller = new AbortController();
  const counting = patientCounter(countSlice).countAhead([LONG], controller.signal);
  controller.abort();
  await assert.rejects(counting, (error) => error instanceof BatonError && error.code === 'interrupted');
  assert.ok(slices.join('').length < LONG.length);
});
