import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { autoCompactThreshold, percentRemaining, thresholdState, usableWindow } from './pressure.ts';
import type { ThresholdSettings } from './pressure.ts';

const SEED = { seed: 20_260_111 };
const PLAIN: ThresholdSettings = {
  autoCompactEnabled: true,
  freeSpaceBuffer: 13_000,
  warningThreshold: 20_000,
};
const anyWindow = fc.integer({ min: 1000, max: 2_000_000 });

test('the usable window is 95 %, rounded down', () => {
  assert.deepEqual([272_000, 200_000, 128_000, 101].map(usableWindow), [258_400, 190_000, 121_600, 95]);
});

test('the percentage is 0 to 100, rounded down, and falls as the context fills', () => {
  const cases: readonly (readonly [used: number, usable: number, percent: number])[] = [
    [0, 100, 100],
    [1, 1000, 99],
    [500, 1000, 50],
    [501, 1000, 49],
    [999, 1000, 0],
    [1000, 1000, 0],
    [5000, 1000, 0],
    [-5, 1000, 100],
  ];
  for (const [used, usable, percent] of cases) assert.equal(percentRemaining(used, usable), percent);
  fc.assert(
    fc.property(fc.nat(3_000_000), fc.nat(10_000), anyWindow, (used, more, usable) => {
      const percent = percentRemaining(used, usable);
      assert.ok(Number.isInteger(percent) && percent >= 0 && percent <= 100);
      assert.ok(percentRemaining(used + more, usable) <= percent);
      assert.ok(used > usable || percent * usable <= 100 * (usable - used));
    }),
    SEED,
  );
  for (const usable of [0, -1, Number.NaN]) assert.throws(() => percentRemaining(1, usable), RangeError);
});

const thresholds: readonly (readonly [
  window: number,
  settings: Partial<ThresholdSettings>,
  threshold: number,
])[] = [
  // By window: half, the window less 13,000, then 90 %.
  [8000, {}, 4000],
  [16_000, {}, 8000],
  [26_000, {}, 13_000],
  [32_000, {}, 19_000],
  [128_000, {}, 115_000],
  [130_000, {}, 117_000],
  [200_000, {}, 180_000],
  [1_000_000, {}, 900_000],
  [2_000_000, {}, 1_800_000],
  // Overrides lower it only, down to a half.
  [200_000, { autoCompactThreshold: 150_000 }, 150_000],
  [200_000, { autoCompactThreshold: 195_000 }, 180_000],
  [200_000, { autoCompactThreshold: 1 }, 100_000],
  [200_000, { autoCompactPctOverride: 80 }, 160_000],
  [200_000, { autoCompactPctOverride: 100 }, 180_000],
  [200_000, { autoCompactPctOverride: 10 }, 100_000],
  [200_000, { autoCompactThreshold: 150_000, autoCompactPctOverride: 60 }, 150_000],
  [200_000, { modelLimit: 140_000 }, 140_000],
  // A limit for the model holds as it was set, also below a half.
  [200_000, { modelLimit: 50_000 }, 50_000],
  [200_000, { modelLimit: 140_000, autoCompactThreshold: 120_000 }, 120_000],
  [200_000, { freeSpaceBuffer: 50_000 }, 150_000],
  [200_000, { freeSpaceBuffer: 0 }, 180_000],
];

for (const [window, settings, threshold] of thresholds) {
  test(`the auto-compact threshold of ${window} with ${JSON.stringify(settings)} is ${threshold}`, () => {
    assert.equal(autoCompactThreshold(window, { ...PLAIN, ...settings }), threshold);
  });
}

const states: readonly (readonly [
  used: number,
  window: number,
  settings: Partial<ThresholdSettings>,
  word: string,
  percent: number,
])[] = [
  [0, 200_000, {}, 'calm', 100],
  [90_000, 200_000, {}, 'calm', 50],
  [179_999, 200_000, {}, 'calm', 0],
  [180_000, 200_000, {}, 'auto_compact', 0],
  [179_999, 200_000, { autoCompactEnabled: false }, 'calm', 10],
  [180_000, 200_000, { autoCompactEnabled: false }, 'error', 10],
  [180_000, 200_000, { autoCompactEnabled: false, errorThreshold: 10_000 }, 'warning', 10],
  [190_000, 200_000, { autoCompactEnabled: false, errorThreshold: 10_000 }, 'error', 5],
  [150_000, 200_000, { warningThreshold: 50_000, errorThreshold: 30_000 }, 'warning', 16],
  [170_000, 200_000, { warningThreshold: 50_000, errorThreshold: 30_000 }, 'error', 5],
  // The whole of a small window is less than the warning threshold; an empty context is calm all the same.
  [0, 8000, {}, 'calm', 100],
  [3999, 8000, {}, 'calm', 0],
  [4000, 8000, {}, 'auto_compact', 0],
  [4000, 8000, { autoCompactEnabled: false }, 'error', 50],
  [15_999, 32_000, {}, 'calm', 15],
  [16_000, 32_000, {}, 'error', 15],
  [19_000, 32_000, {}, 'auto_compact', 0],
  [1_800_000, 2_000_000, {}, 'auto_compact', 0],
  [1_799_999, 2_000_000, {}, 'calm', 0],
];

for (const [used, window, settings, word, percent] of states) {
  test(`${used} of ${window} with ${JSON.stringify(settings)} is ${word}, ${percent} % until it compacts`, () => {
    const state = thresholdState(used, window, { ...PLAIN, ...settings });
    assert.deepEqual([state.word, state.percentUntilAutoCompact], [word, percent]);
  });
}

test('the word is the strongest of what holds, and no state is left by filling the context', () => {
  const rank = ['calm', 'warning', 'error', 'auto_compact'];
  fc.assert(
    fc.property(
      anyWindow,
      fc.double({ min: 0, max: 1.2, noNaN: true }),
      fc.boolean(),
      (window, share, isEnabled) => {
        const settings = { ...PLAIN, autoCompactEnabled: isEnabled, errorThreshold: 15_000 };
        const used = Math.floor(window * share);
        const state = thresholdState(used, window, settings);
        const holds = [true, state.isAboveWarning, state.isAboveError, state.isAboveAutoCompact];
        assert.equal(rank.indexOf(state.word), holds.lastIndexOf(true));
        assert.ok(
          state.autoCompactThreshold >= Math.floor(window / 2) && state.autoCompactThreshold <= window * 0.9,
        );
        assert.ok(
          rank.indexOf(thresholdState(used + 1000, window, settings).word) >= rank.indexOf(state.word),
        );
      },
    ),
    SEED,
  );
});
