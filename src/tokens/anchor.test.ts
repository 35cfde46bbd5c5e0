import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Item } from '../protocol/item.ts';
import type { UsageSample } from '../protocol/usage.ts';
import { UsageGauge } from './anchor.ts';
import type { SampleVerdict } from './anchor.ts';

const MARGIN = 1.33;

function ask(): Item {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'ask' }] };
}

function answer(): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'answer' }] };
}

function call(callId: string): Item {
  return { type: 'function_call', name: 'run', arguments: '{}', call_id: callId };
}

function result(callId: string): Item {
  return { type: 'function_call_output', call_id: callId, output: 'result' };
}

function reported(total: number, output: number): UsageSample {
  return { source: 'reported', covers: 'response', total, output };
}

/** A step of a story: an item with its tokens, or a sample with the prediction it should meet. */
type Step =
  readonly [item: Item, tokens: number] | readonly [sample: UsageSample, predicted: number, reported: number];

/**
 * The same four responses as three producers write them down. Before the story: 10,000 tokens of instructions, tools and
 * a question of 200. The requests are exactly as long as the items say, so every prediction after the first is exact.
 */
const orderings: Readonly<Record<string, readonly Step[]>> = {
  'a sample before the answer it measured (Codex 0.34)': [
    [ask(), 200],
    [reported(10_250, 50), 266, 10_200],
    [call('a'), 20],
    [call('b'), 30],
    [result('a'), 1000],
    [result('b'), 2000],
    [reported(13_310, 60), 13_250, 13_250],
    [answer(), 60],
    [ask(), 40],
    [reported(13_360, 10), 13_350, 13_350],
    [answer(), 10],
  ],
  'a sample among the results of the calls in the answer (Codex 0.125)': [
    [ask(), 200],
    [call('a'), 20],
    [call('b'), 30],
    [result('a'), 1000],
    // 250 × 1.33: no anchor yet, so a margin, and no word of result a, which the answer cannot have seen.
    [reported(10_250, 50), 333, 10_250],
    [result('b'), 2000],
    [answer(), 60],
    [reported(13_310, 60), 13_310, 13_310],
    [ask(), 40],
    [answer(), 10],
    [reported(13_360, 10), 13_360, 13_360],
  ],
  'a sample after the results of the calls in the answer (Codex 0.140)': [
    [ask(), 200],
    [call('a'), 20],
    [call('b'), 30],
    [result('a'), 1000],
    [result('b'), 2000],
    [reported(10_250, 50), 333, 10_250],
    [answer(), 60],
    [reported(13_310, 60), 13_310, 13_310],
    [ask(), 40],
    [answer(), 10],
    [reported(13_360, 10), 13_360, 13_360],
  ],
};

for (const [why, steps] of Object.entries(orderings)) {
  test(why, () => {
    const gauge = new UsageGauge(MARGIN);
    for (const [index, step] of steps.entries()) {
      if (step.length === 2) {
        gauge.add(step[0], step[1]);
        continue;
      }
      const [sample, predicted, expected] = step;
      const { prediction } = accepted(gauge.sample(sample));
      assert.deepEqual([prediction?.predicted, prediction?.reported], [predicted, expected], `step ${index}`);
    }
    assert.deepEqual(gauge.usage(), { used: 13_360, anchor: 'reported' });
  });
}

function accepted(verdict: SampleVerdict): Extract<SampleVerdict, { accepted: true }> {
  assert.ok(verdict.accepted);
  return verdict;
}

test('used is the sample and what came after it, whichever way the results were ordered', () => {
  for (const order of [
    ['call', 'result', 'sample'],
    ['call', 'sample', 'result'],
    ['sample', 'call', 'result'],
  ]) {
    const gauge = new UsageGauge(MARGIN);
    gauge.add(ask(), 200);
    for (const what of order) {
      if (what === 'call') gauge.add(call('a'), 20);
      else if (what === 'result') gauge.add(result('a'), 1000);
      else gauge.sample(reported(10_220, 20));
    }
    assert.equal(gauge.usage().used, 11_220, order.join(' '));
  }
});

test('a message that arrives after the answer and before its sample was not measured', () => {
  const gauge = new UsageGauge(MARGIN);
  gauge.add(answer(), 10);
  gauge.add(ask(), 70);
  gauge.sample(reported(5000, 10));
  assert.equal(gauge.usage().used, 5070);
});

test("an agent's own estimate anchors nothing: it lacks what is in every request besides the items", () => {
  const gauge = new UsageGauge(MARGIN);
  gauge.add(call('a'), 20);
  gauge.add(result('a'), 1000);
  const before = gauge.usage();
  const verdict = gauge.sample({ source: 'estimated', covers: 'history', total: 7000 });
  assert.deepEqual(verdict, { accepted: true, prediction: undefined });
  assert.deepEqual(gauge.usage(), before);
});

test('the size that a receipt states covers all that is there, and what comes after is added to it', () => {
  const gauge = new UsageGauge(MARGIN);
  gauge.add(call('a'), 20);
  gauge.add(result('a'), 1000);
  gauge.settle(7000);
  assert.deepEqual(gauge.usage(), { used: 7000, anchor: 'estimated' });
  gauge.add(ask(), 40);
  assert.deepEqual(gauge.usage(), { used: 7040, anchor: 'estimated' });
  for (const nonsense of [-1, 0.5, Infinity, Number.NaN]) gauge.settle(nonsense);
  assert.equal(gauge.usage().used, 7040);
});

test('what clearing would leave is what is left once it is done, anchored or not', () => {
  for (const isAnchored of [false, true]) {
    const gauge = new UsageGauge(MARGIN);
    gauge.add(ask(), 4000);
    if (isAnchored) gauge.sample(reported(9000, 10));
    const foretold = gauge.usedWithout(1500);
    gauge.remove(1500);
    assert.equal(gauge.usage().used, foretold);
  }
});

test('without an anchor the estimate carries a margin', () => {
  const gauge = new UsageGauge(MARGIN);
  gauge.addOverhead(60);
  gauge.add(ask(), 40);
  assert.deepEqual(gauge.usage(), { used: 133, anchor: 'none' });
});

test('a reset takes the anchor away, but what requests hold besides the items stays known', () => {
  const gauge = new UsageGauge(MARGIN);
  gauge.add(ask(), 1000);
  gauge.sample(reported(9000, 10));
  gauge.add(ask(), 5000);
  gauge.sample(reported(15000, 10));
  gauge.reset();
  gauge.add(ask(), 100);
  assert.deepEqual(gauge.usage(), { used: 8000 + 133, anchor: 'none' });
});

test('removed tokens leave the anchor usable', () => {
  const gauge = new UsageGauge(MARGIN);
  gauge.add(ask(), 500);
  gauge.sample(reported(9000, 10));
  gauge.remove(400);
  assert.deepEqual(gauge.usage(), { used: 8600, anchor: 'reported' });
});

for (const [total, window] of [
  [0, undefined],
  [-5, undefined],
  [Number.NaN, undefined],
  [1001, 1000],
] as const) {
  test(`a usage of ${total} in a window of ${window ?? 'unknown size'} is refused and changes nothing`, () => {
    const gauge = new UsageGauge(MARGIN);
    gauge.sample(reported(900, 10), { windowTokens: window });
    assert.equal(gauge.sample(reported(total, 0), { windowTokens: window }).accepted, false);
    assert.deepEqual(gauge.usage(), { used: 900, anchor: 'reported' });
  });
}

test('a report of less than a quarter of the content did not count it', () => {
  const gauge = new UsageGauge(MARGIN);
  gauge.add(ask(), 60_000);
  for (const total of [10, 14_999]) {
    assert.deepEqual(gauge.sample(reported(total, 0)), {
      accepted: false,
      why: `a usage of ${total === 10 ? '10' : '14,999'} tokens, where the content comes to about 60,000`,
    });
    assert.deepEqual(gauge.usage(), { used: 79_800, anchor: 'none' });
  }
  assert.equal(gauge.sample(reported(15_000, 0)).accepted, true);
  assert.deepEqual(gauge.usage(), { used: 15_000, anchor: 'reported' });
});

test('a report need not count images and hidden reasoning', () => {
  const gauge = new UsageGauge(MARGIN);
  gauge.add(ask(), 60_000);
  assert.equal(gauge.sample(reported(850, 0), { uncertain: () => 56_000 }).accepted, false);
  assert.equal(gauge.sample(reported(850, 0), { uncertain: () => 57_000 }).accepted, true);
});

test('a report is judged by what it can have seen', () => {
  const gauge = new UsageGauge(MARGIN);
  gauge.add(ask(), 100);
  gauge.add(answer(), 10);
  gauge.add(ask(), 60_000);
  assert.equal(gauge.sample(reported(300, 10)).accepted, true);
  assert.equal(gauge.usage().used, 60_300);
});

test('used never falls while items are added, and is the sample right after one', () => {
  const item = fc.constantFrom<Item>(ask(), answer(), call('a'), result('a'), result('b'));
  const step = fc.oneof(fc.tuple(item, fc.nat(5000)), fc.integer({ min: 1, max: 200_000 }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const gauge = new UsageGauge(MARGIN);
      let before = 0;
      for (const taken of steps) {
        if (typeof taken === 'number') {
          gauge.settle(taken);
          assert.equal(gauge.usage().used, taken);
        } else {
          gauge.add(...taken);
          assert.ok(gauge.usage().used >= before);
        }
        before = gauge.usage().used;
      }
    }),
    { seed: 20250901, numRuns: 500 },
  );
});
