import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import type { CompactionPlan } from '../protocol/plan.ts';
import type { Strategy } from '../vocabulary.ts';
import { dispatch, dispatchSettings, isBuiltInDue } from './dispatch.ts';
import type { CompactionPressure, CompactionRequest, DispatchSettings, EngineRequest } from './dispatch.ts';
import { beginCompaction, NEW_GUARD } from './loop-guard.ts';
import type { LoopGuard } from './loop-guard.ts';

const SEED = { seed: 20_261_121, numRuns: 500 };
const ON = dispatchSettings(DEFAULT_CONFIG);
const RAW = 200_000;

function pressure(used: number, changes: Partial<CompactionPressure> = {}): CompactionPressure {
  return { used, rawWindow: RAW, usedAfterMicro: undefined, ...changes };
}

const watcher = (used: number, changes: Partial<CompactionRequest & { from: 'watcher' }> = {}) =>
  ({
    from: 'watcher',
    pressure: pressure(used),
    isEmergency: false,
    target: undefined,
    ...changes,
  }) as const satisfies CompactionRequest;

const engine = (
  from: EngineRequest['from'],
  used: number,
  changes: Partial<CompactionPressure> = {},
): EngineRequest => ({ from, pressure: pressure(used, changes) });

const manual = (strategy: Strategy): CompactionRequest => ({ from: 'manual', strategy });

function told(plan: CompactionPlan): string {
  return plan.type === 'none' ? plan.reason : plan.type;
}

/** A guard whose last compaction left `used` tokens and freed `freed`. */
const after = (used: number, freed: number, changes: Partial<LoopGuard> = {}): LoopGuard => ({
  ...NEW_GUARD,
  rearm: { used, freed },
  ...changes,
});

const OPEN: LoopGuard = { ...NEW_GUARD, breaker: 'effect' };
const SPENT: LoopGuard = { ...OPEN, inTurn: { full: 2, micro: 0, newestTurns: 1 } };
const TAKEN = beginCompaction(NEW_GUARD, 'watcher', 'full');
const OFF: DispatchSettings = { ...ON, isEnabled: false };
const BY_HAND: DispatchSettings = { ...ON, isAutoEnabled: false };
const NO_MICRO: DispatchSettings = { ...ON, hasMicro: false };

const V1: DispatchSettings = dispatchSettings({
  ...DEFAULT_CONFIG,
  features: { ...DEFAULT_CONFIG.features, compactV2: false },
});
const ABLE: DispatchSettings = { ...ON, remoteObstacle: undefined };
const REMOTE: DispatchSettings = { ...ABLE, prefersRemote: true };
const BLOCKED: DispatchSettings = { ...ON, prefersRemote: true };

type Row = readonly [
  title: string,
  request: CompactionRequest,
  expected: string,
  guard?: LoopGuard,
  settings?: DispatchSettings,
];

const rows: readonly Row[] = [
  // The user.
  ['who asks for a compaction gets a full one', manual('auto'), 'full'],
  ['a full one by name', manual('full'), 'full'],
  ['micro by name', manual('micro'), 'micro'],
  ['micro by name, switched off', manual('micro'), 'micro_disabled', NEW_GUARD, NO_MICRO],
  ['full while micro is off', manual('full'), 'full', NEW_GUARD, NO_MICRO],
  ['nothing while disabled', manual('full'), 'disabled', NEW_GUARD, OFF],
  ['nothing while disabled, micro too', manual('micro'), 'disabled', NEW_GUARD, { ...OFF, hasMicro: false }],
  ['by hand while automatic ones are off', manual('auto'), 'full', NEW_GUARD, BY_HAND],
  ['by hand while the breaker is open', manual('auto'), 'full', SPENT],
  ['by hand without growth', manual('auto'), 'full', after(100_000, 50_000)],
  ['by hand while another one runs', manual('auto'), 'lease_taken', TAKEN],
  // The provider's own compaction: by name, or where it is preferred; never where something is in its way.
  ['remote by name', manual('remote'), 'remote', NEW_GUARD, ABLE],
  ['remote by name, and nobody could', manual('remote'), 'remote_unavailable'],
  ['not unless it is preferred', manual('auto'), 'full', NEW_GUARD, ABLE],
  ['remote where it is preferred', manual('auto'), 'remote', NEW_GUARD, REMOTE],
  ['a summary by name where remote is preferred', manual('full'), 'full', NEW_GUARD, REMOTE],
  ['locally where something is in the way', manual('auto'), 'full', NEW_GUARD, BLOCKED],
  ['remote for the watcher', watcher(100_000), 'remote', NEW_GUARD, REMOTE],
  ['remote at the built-in limit', engine('built_in', 180_000), 'remote', NEW_GUARD, REMOTE],
  ['micro before remote', engine('built_in', 190_000, { usedAfterMicro: 9 }), 'micro', NEW_GUARD, REMOTE],
  ['no provider while the breaker is open', engine('built_in', 190_000), 'newest_turns', OPEN, REMOTE],
  // The legacy compaction is all there is without compact_v2.
  ['legacy for the user', manual('auto'), 'legacy', NEW_GUARD, V1],
  ['legacy by the name of full', manual('full'), 'legacy', NEW_GUARD, V1],
  ['no micro by name', manual('micro'), 'legacy_only', NEW_GUARD, V1],
  ['no remote by name', manual('remote'), 'legacy_only', NEW_GUARD, { ...V1, remoteObstacle: undefined }],
  ['no remote by preference', manual('auto'), 'legacy', NEW_GUARD, { ...REMOTE, isLegacy: true }],
  ['legacy for the watcher', watcher(100_000), 'legacy', NEW_GUARD, V1],
  ['legacy at the built-in limit', engine('built_in', 180_000), 'legacy', NEW_GUARD, V1],
  ['legacy below it is not needed', engine('built_in', 179_999), 'not_needed', NEW_GUARD, V1],
  ['no micro by itself', engine('built_in', 190_000, { usedAfterMicro: 9 }), 'legacy', NEW_GUARD, V1],
  ['the newest turns while the breaker is open', engine('built_in', 190_000), 'newest_turns', OPEN, V1],
  // Switches.
  ['the watcher while disabled', watcher(100_000), 'disabled', NEW_GUARD, OFF],
  ['the watcher while automatic ones are off', watcher(100_000), 'auto_disabled', NEW_GUARD, BY_HAND],
  ['an overflow while automatic ones are off', engine('overflow', 1), 'auto_disabled', NEW_GUARD, BY_HAND],
  // "Not needed" concerns the engine alone.
  ['the watcher far below the limit', watcher(30_000), 'full'],
  ['mid-turn far below the limit', { ...watcher(30_000), from: 'mid_turn' }, 'full'],
  ['an overflow far below the limit', engine('overflow', 30_000), 'full'],
  ['built-in below its limit', engine('built_in', 179_999), 'not_needed'],
  ['built-in at its limit', engine('built_in', 180_000), 'full'],
  ['before a turn, below', engine('pre_turn', 179_999), 'not_needed'],
  ['before a turn, at the limit', engine('pre_turn', 180_000), 'full'],
  // Micro first, where it reaches the target.
  ['clearing is enough', engine('built_in', 190_000, { usedAfterMicro: 179_999 }), 'micro'],
  ['clearing is not enough', engine('built_in', 190_000, { usedAfterMicro: 180_000 }), 'full'],
  ['clearing is off', engine('built_in', 190_000, { usedAfterMicro: 100_000 }), 'full', NEW_GUARD, NO_MICRO],
  [
    'clearing contents the watcher',
    watcher(90_000, { pressure: pressure(90_000, { usedAfterMicro: 60_000 }), target: 60_000 }),
    'micro',
  ],
  [
    'clearing does not content the watcher',
    watcher(90_000, { pressure: pressure(90_000, { usedAfterMicro: 60_001 }), target: 60_000 }),
    'full',
  ],
  [
    'the watcher has no target',
    watcher(90_000, { pressure: pressure(90_000, { usedAfterMicro: 1 }) }),
    'full',
  ],
  ['an overflow that clearing cures', engine('overflow', 190_000, { usedAfterMicro: 90_000 }), 'micro'],
  ['clearing asks no model: open breaker', engine('built_in', 190_000, { usedAfterMicro: 9 }), 'micro', OPEN],
  [
    'clearing without an end is no cure',
    engine('built_in', 190_000, { usedAfterMicro: 9 }),
    'full',
    { ...NEW_GUARD, inTurn: { full: 0, micro: 64, newestTurns: 0 } },
  ],
  [
    'nothing is known of the window: no target',
    engine('overflow', 190_000, { usedAfterMicro: 9, rawWindow: undefined }),
    'full',
  ],
  // One lease.
  ['the watcher while another one runs', watcher(100_000), 'lease_taken', TAKEN],
  ['an emergency while another one runs', watcher(190_000, { isEmergency: true }), 'lease_taken', TAKEN],
  ['an overflow while another one runs', engine('overflow', 190_000), 'lease_taken', TAKEN],
  // Rearming by max(10 % of the window, half of what was freed).
  ['no growth', watcher(40_000), 'rearm', after(40_000, 0)],
  ['growth below 10 % of the usable window', watcher(58_999), 'rearm', after(40_000, 0)],
  ['growth of 10 % of the usable window', watcher(59_000), 'full', after(40_000, 0)],
  ['growth below half of what was freed', watcher(89_999), 'rearm', after(40_000, 100_000)],
  ['growth of half of what was freed', watcher(90_000), 'full', after(40_000, 100_000)],
  [
    'mid-turn rests like turn ends (rawr §13.2.17)',
    { ...watcher(40_000), from: 'mid_turn' },
    'rearm',
    after(40_000, 0),
  ],
  ['built-in rests too', engine('built_in', 185_000), 'rearm', after(170_000, 0)],
  ['an emergency does not wait', watcher(40_000, { isEmergency: true }), 'full', after(40_000, 0)],
  ['an overflow does not wait', engine('overflow', 40_000), 'full', after(40_000, 0)],
  // The breaker.
  ['open: the watcher', watcher(100_000), 'breaker_open', OPEN],
  ['open: an emergency too', watcher(190_000, { isEmergency: true }), 'breaker_open', OPEN],
  ['open: the engine keeps the newest turns', engine('built_in', 190_000), 'newest_turns', OPEN],
  ['open: an overflow too', engine('overflow', 190_000), 'newest_turns', OPEN],
  ['open: once per turn of the user', engine('overflow', 190_000), 'breaker_open', SPENT],
  ['open: not below the limit', engine('built_in', 100_000), 'not_needed', OPEN],
  [
    'two epochs without progress',
    watcher(100_000),
    'breaker_open',
    { ...NEW_GUARD, idle: 1, hasProgress: false },
  ],
  ['one epoch without progress', watcher(100_000), 'full', { ...NEW_GUARD, hasProgress: false }],
  [
    'very many in one turn',
    engine('overflow', 190_000),
    'newest_turns',
    { ...NEW_GUARD, inTurn: { full: 24, micro: 0, newestTurns: 0 } },
  ],
];

for (const [title, request, expected, guard = NEW_GUARD, settings = ON] of rows) {
  test(`${request.from}: ${title} is ${expected}`, () => {
    assert.equal(told(dispatch(request, guard, settings)), expected);
  });
}

const limits: readonly (readonly [rawWindow: number | undefined, changes: object, due: number])[] = [
  [200_000, {}, 180_000],
  [200_000, { modelLimit: 50_000 }, 50_000],
  [200_000, { modelLimit: 190_000 }, 180_000],
  [200_000, { autoCompactPctOverride: 70 }, 140_000],
  [undefined, { modelLimit: 50_000 }, 50_000],
];

for (const [rawWindow, changes, due] of limits) {
  test(`built-in with a window of ${rawWindow} and ${JSON.stringify(changes)} is due from ${due}`, () => {
    const settings = { ...ON, thresholds: { ...ON.thresholds, ...changes } };
    const isDue = (used: number) => isBuiltInDue(pressure(used, { rawWindow }), settings);
    assert.deepEqual([isDue(due - 1), isDue(due)], [false, true]);
  });
}

test('with no window and no limit the engine does nothing by itself, and says so', () => {
  const plan = dispatch(engine('built_in', 900_000, { rawWindow: undefined }), NEW_GUARD, ON);
  assert.deepEqual(plan, {
    type: 'none',
    reason: 'not_needed',
    why: '900,000 tokens are used, and no limit is known',
  });
});

test('with at most 5 % of the window left the engine always acts (seed 002)', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: 2_000_000 }), fc.nat(2_000_000), (rawWindow, buffer) => {
      const settings = { ...ON, thresholds: { ...ON.thresholds, freeSpaceBuffer: buffer } };
      assert.ok(isBuiltInDue(pressure(Math.ceil(rawWindow * 0.95), { rawWindow }), settings), 'due');
    }),
    SEED,
  );
});

test('the sentences', () => {
  const why = (request: CompactionRequest, guard = NEW_GUARD) => dispatch(request, guard, ON).why;
  assert.deepEqual(
    [
      why(watcher(100_000)),
      why(engine('built_in', 181_234)),
      why(engine('built_in', 181_234, { usedAfterMicro: 99_000 })),
      why(engine('overflow', 181_234)),
      why(engine('built_in', 100_000)),
      why(watcher(45_000), after(40_000, 100_000)),
      why(watcher(100_000), TAKEN),
      why(watcher(100_000), OPEN),
      why(engine('overflow', 190_000), OPEN),
    ],
    [
      'the watcher asked for a compaction while 100,000 tokens are used',
      '181,234 tokens are used, and the built-in limit is 180,000',
      'clearing old tool results leaves 99,000 of 181,234 tokens, which is enough',
      'the provider refused the request as too long; 181,234 tokens are used',
      '100,000 tokens are used, and the built-in limit is 180,000',
      'usage has grown by 5,000 tokens since the last compaction or veto, less than the required 50,000',
      'a compaction that the watcher asked for is in flight (epoch 1)',
      'two automatic compactions in a row freed less than 10 %; it resumes after /compact, a change of model or, with room left, your next message',
      'two automatic compactions in a row freed less than 10 %; the newest turns are kept, without asking a model',
    ],
  );
});

test('what was preferred and is not done is noted', () => {
  const note = (request: CompactionRequest, settings: DispatchSettings): string | undefined => {
    const plan = dispatch(request, NEW_GUARD, settings);
    return 'note' in plan ? plan.note : undefined;
  };
  assert.match(note(manual('auto'), BLOCKED) ?? '', /did not compact, because no model is chosen/);
  assert.match(note(manual('auto'), { ...V1, prefersRemote: true }) ?? '', /has no effect/);
  assert.equal(note(manual('auto'), V1), undefined);
  assert.equal(note(manual('full'), BLOCKED), undefined, 'a summary by name is what was asked for');
});

/** @source seed 002: at most 5 % of the window left, or the configured limit */
test('seed 002: with at most 5 % left, or at the limit for the model, a legacy compaction is due', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1_000, max: 2_000_000 }),
      fc.option(fc.integer({ min: 1, max: 2_000_000 }), { nil: undefined }),
      fc.double({ min: 0, max: 0.05, noNaN: true }),
      (rawWindow, modelLimit, left) => {
        const settings = { ...V1, thresholds: { ...V1.thresholds, modelLimit } };
        const nearlyFull = engine('built_in', Math.ceil(rawWindow * (1 - left)), { rawWindow });
        assert.equal(told(dispatch(nearlyFull, NEW_GUARD, settings)), 'legacy');
        if (modelLimit === undefined) return;
        for (const window of [rawWindow, undefined]) {
          const atLimit = engine('built_in', modelLimit, { rawWindow: window });
          assert.equal(told(dispatch(atLimit, NEW_GUARD, settings)), 'legacy');
        }
      },
    ),
    SEED,
  );
});
