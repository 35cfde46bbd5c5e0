import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { DEFAULT_CONFIG } from '../config/defaults.ts';
import { dispatch, dispatchSettings, isBuiltInDue } from './dispatch.ts';
import type { CompactionRequest } from './dispatch.ts';
import {
  beginCompaction,
  endCompaction,
  isRearmed,
  MOST_FULL_IN_TURN,
  MOST_MICRO_IN_TURN,
  NEW_GUARD,
  noteModelChange,
  noteProgress,
  noteReport,
  noteUserTurn,
  noteVeto,
  openBreaker,
  rearmGrowth,
  releaseLease,
} from './loop-guard.ts';
import type { Ending, Lease, LoopGuard, Requester } from './loop-guard.ts';

const SEED = { seed: 20_261_121, numRuns: 300 };
const SETTINGS = dispatchSettings(DEFAULT_CONFIG);

/** One compaction from its start to its end, with something new before it. */
function compact(
  guard: LoopGuard,
  ending: Ending,
  { from = 'built_in' as Requester, type = 'full' as Lease['type'], isNew = true } = {},
): LoopGuard {
  const begun = beginCompaction(isNew ? noteProgress(guard) : guard, from, type);
  return endCompaction(begun, begun.lease?.epoch ?? 0, ending);
}

const compacted = (preTokens: number, postTokens: number): Ending => ({
  type: 'compacted',
  preTokens,
  postTokens,
});
const GOOD = compacted(100_000, 30_000);
/** 9.9 %: just too little. */
const POOR = compacted(100_000, 90_100);

test('effect: two automatic compactions in a row that free less than 10 % open the breaker', () => {
  const once = compact(NEW_GUARD, POOR);
  assert.equal(openBreaker(once), undefined);
  assert.equal(openBreaker(compact(once, POOR)), 'effect');
  assert.equal(openBreaker(compact(compact(once, GOOD), POOR)), undefined, 'not in a row');
  assert.equal(openBreaker(compact(once, compacted(100_000, 90_000))), undefined, '10 % is an effect');
  assert.equal(openBreaker(compact(compact(once, POOR), GOOD)), 'effect', 'it does not close by itself');
});

test('effect: what the provider reports afterwards counts, whatever was estimated', () => {
  const once = noteReport(compact(NEW_GUARD, compacted(90_000, 5_000)), 90_000, 82_000);
  assert.equal(openBreaker(noteProgress(once)), undefined);
  const twice = noteReport(compact(once, compacted(90_000, 5_000)), 90_000, 82_000);
  assert.equal(openBreaker(noteProgress(twice)), 'effect');
  const felt = noteReport(compact(once, compacted(90_000, 5_000)), 90_000, 80_000);
  assert.equal(
    openBreaker(noteProgress(noteReport(compact(felt, compacted(9, 1)), 90_000, 89_000))),
    undefined,
  );
  assert.equal(openBreaker(noteUserTurn(twice, { hasHeadroom: true })), undefined);
});

test('effect: micro is excluded, a failure frees nothing, a cancelled one does not count', () => {
  const poor = compact(NEW_GUARD, POOR);
  const micro = compact(poor, compacted(100_000, 99_000), { type: 'micro' });
  assert.equal(openBreaker(micro), undefined);
  assert.deepEqual(micro.rearm, poor.rearm);
  assert.equal(openBreaker(compact(micro, POOR)), 'effect', 'micro is no interruption of the row either');
  assert.equal(openBreaker(compact(poor, { type: 'failed', used: 90_000 })), 'effect');
  const cancelled = compact(poor, { type: 'cancelled', used: 95_000 });
  assert.equal(openBreaker(cancelled), undefined);
  assert.deepEqual(cancelled.rearm, { used: 95_000, freed: 9900 });
});

test('effect: an empty context frees nothing', () => {
  assert.equal(compact(NEW_GUARD, compacted(0, 0)).ineffective, 1);
  assert.equal(compact(NEW_GUARD, compacted(10, 20)).ineffective, 1);
});

test('progress: two epochs in a row with nothing new open the breaker', () => {
  const first = compact(NEW_GUARD, GOOD);
  const second = compact(first, GOOD, { isNew: false });
  assert.equal(openBreaker(first), undefined);
  assert.equal(openBreaker(second), 'progress');
  assert.equal(openBreaker(noteProgress(second)), undefined, 'the epoch that runs is not over yet');
  const third = compact(second, GOOD, { isNew: false, type: 'newest_turns' });
  assert.equal(openBreaker(noteProgress(third)), 'progress', 'latched once it was acted upon');
});

test('what closes the breaker: by hand, another model, a turn of the user with headroom; nothing else', () => {
  const open = compact(compact(NEW_GUARD, POOR), POOR);
  assert.equal(openBreaker(compact(open, POOR, { from: 'manual' })), undefined);
  assert.equal(openBreaker(noteModelChange(open)), undefined);
  assert.equal(openBreaker(noteUserTurn(open, { hasHeadroom: true })), undefined);
  assert.equal(openBreaker(noteUserTurn(open, { hasHeadroom: false })), 'effect');
  assert.equal(openBreaker(noteProgress(open)), 'effect');
  assert.equal(openBreaker(noteVeto(open, 1)), 'effect');
  assert.equal(openBreaker(compact(open, { type: 'failed', used: 1 }, { from: 'manual' })), 'effect');
});

test('rearming: growth since the last one ended or was vetoed, by hand too', () => {
  const guard = compact(NEW_GUARD, GOOD);
  assert.deepEqual(guard.rearm, { used: 30_000, freed: 70_000 });
  assert.equal(rearmGrowth(guard, 200_000), 35_000);
  assert.equal(rearmGrowth(guard, 500_000), 50_000);
  assert.deepEqual([isRearmed(guard, 64_999, 200_000), isRearmed(guard, 65_000, 200_000)], [false, true]);
  const vetoed = noteVeto(guard, 80_000);
  assert.deepEqual([isRearmed(vetoed, 114_999, 200_000), isRearmed(vetoed, 115_000, 200_000)], [false, true]);
  assert.deepEqual(compact(NEW_GUARD, GOOD, { from: 'manual' }).rearm, guard.rearm);
  assert.ok(isRearmed(NEW_GUARD, 0, undefined), 'a thread that was never compacted');
});

test('one lease: a second begin is refused, a stale or doubled end is inert', () => {
  const begun = beginCompaction(NEW_GUARD, 'watcher', 'full');
  assert.deepEqual(begun.lease, { epoch: 1, from: 'watcher', type: 'full' });
  assert.throws(() => beginCompaction(begun, 'overflow', 'full'), RangeError);
  assert.equal(endCompaction(begun, 2, POOR), begun);
  const ended = endCompaction(begun, 1, POOR);
  assert.equal(endCompaction(ended, 1, POOR), ended);
  const next = beginCompaction(ended, 'watcher', 'full');
  assert.equal(next.lease?.epoch, 2);
  assert.equal(endCompaction(next, 1, GOOD), next, 'the end of the epoch before');
  const reloaded = releaseLease(next);
  assert.equal(reloaded.lease, undefined);
  assert.equal(endCompaction(reloaded, 2, GOOD), reloaded, 'after a crash');
});

// ---------------------------------------------------------------------------------------------- bounded, whoever asks

const REQUESTERS = ['watcher', 'mid_turn', 'pre_turn', 'built_in', 'overflow'] as const;

/** One moment of a turn: somebody asks, and if it is granted, this is how it ends; or something else happens. */
const anyMoment = fc.record({
  from: fc.constantFrom(...REQUESTERS),
  used: fc.integer({ min: 0, max: 250_000 }),
  rawWindow: fc.constantFrom(undefined, 50_000, 200_000),
  usedAfterMicro: fc.option(fc.nat(250_000), { nil: undefined }),
  target: fc.option(fc.nat(250_000), { nil: undefined }),
  isEmergency: fc.boolean(),
  ending: fc.oneof(
    fc.record({
      type: fc.constant('compacted' as const),
      preTokens: fc.nat(250_000),
      postTokens: fc.nat(250_000),
    }),
    fc.record({ type: fc.constantFrom('failed' as const, 'cancelled' as const), used: fc.nat(250_000) }),
  ) as fc.Arbitrary<Ending>,
  event: fc.constantFrom('progress', 'veto', 'model', 'reload', 'nothing'),
});
type Moment = typeof anyMoment extends fc.Arbitrary<infer Value> ? Value : never;

function requestOf(moment: Omit<Moment, 'ending' | 'event'>): CompactionRequest {
  const { from, used, rawWindow, usedAfterMicro, isEmergency, target } = moment;
  const pressure = { used, rawWindow, usedAfterMicro };
  return from === 'watcher' || from === 'mid_turn'
    ? { from, pressure, isEmergency, target }
    : { from, pressure };
}

/** Plays a moment, as an honest driver does. */
function play(guard: LoopGuard, moment: Moment): { guard: LoopGuard; ran: Lease['type'] | undefined } {
  const plan = dispatch(requestOf(moment), guard, SETTINGS);
  const after = happen(moment, guard);
  if (plan.type === 'none') return { guard: after, ran: undefined };
  const begun = beginCompaction(guard, moment.from, plan.type);
  return {
    guard: happen(moment, endCompaction(begun, begun.lease?.epoch ?? 0, moment.ending)),
    ran: plan.type,
  };
}

function happen({ event, used }: Moment, guard: LoopGuard): LoopGuard {
  switch (event) {
    case 'progress':
      return noteProgress(guard);
    case 'veto':
      return noteVeto(guard, used);
    case 'model':
      return noteModelChange(guard);
    case 'reload':
      return releaseLease(JSON.parse(JSON.stringify(guard)) as LoopGuard);
    default:
      return guard;
  }
}

test('in any environment a turn of the user sees at most 24 full, 64 micro and one newest-turns compaction', () => {
  assert.deepEqual([MOST_FULL_IN_TURN, MOST_MICRO_IN_TURN], [24, 64]);
  let most = 0;
  fc.assert(
    fc.property(fc.array(anyMoment, { minLength: 1, maxLength: 6 }), (cycle) => {
      let guard = NEW_GUARD;
      const ran = { full: 0, micro: 0, newest_turns: 0, remote: 0, legacy: 0 };
      for (let step = 0; step < 400; step++) {
        const moment = cycle[step % cycle.length];
        assert.ok(moment, 'a moment');
        const next = play(guard, moment);
        guard = next.guard;
        if (next.ran !== undefined) ran[next.ran]++;
        assert.equal(guard.lease, undefined);
      }
      most = Math.max(most, ran.full);
      assert.ok(ran.full <= 24 && ran.micro <= 64 && ran.newest_turns <= 1, JSON.stringify(ran));
    }),
    SEED,
  );
  assert.equal(
    most,
    24,
    'an environment that always claims an effect and progress is stopped by count alone',
  );
});

test('a window that is always full: two compactions in all, and one without a model per turn of the user', () => {
  const anySize = fc.integer({ min: 180_000, max: 250_000 });
  const anyFull = fc.record({
    from: fc.constantFrom(...REQUESTERS),
    used: anySize,
    isEmergency: fc.boolean(),
    isNew: fc.boolean(),
    hasFailed: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(anyFull, { minLength: 1, maxLength: 60 }), fc.nat(3), (moments, turns) => {
      let guard = NEW_GUARD;
      let withModel = 0;
      for (let turn = 0; turn <= turns; turn++) {
        const used = moments[0]?.used ?? 0;
        const hasHeadroom = !isBuiltInDue({ used, rawWindow: 200_000, usedAfterMicro: undefined }, SETTINGS);
        guard = noteUserTurn(guard, { hasHeadroom });
        let withoutModel = 0;
        for (const moment of moments) {
          const request = requestOf({ ...moment, rawWindow: 200_000, usedAfterMicro: undefined, target: 0 });
          const plan = dispatch(request, guard, SETTINGS);
          if (moment.isNew) guard = noteProgress(guard);
          if (plan.type === 'none') continue;
          const ending: Ending = moment.hasFailed
            ? { type: 'failed', used: moment.used }
            : compacted(moment.used, moment.used);
          const begun = beginCompaction(guard, moment.from, plan.type);
          guard = endCompaction(begun, begun.lease?.epoch ?? 0, ending);
          if (plan.type === 'newest_turns') withoutModel++;
          else withModel++;
        }
        assert.ok(withModel <= 2 && withoutModel <= 1, `${withModel} and ${withoutModel} in turn ${turn}`);
      }
    }),
    SEED,
  );
});

test('a guard survives JSON at every moment, in flight too', () => {
  fc.assert(
    fc.property(fc.array(anyMoment, { maxLength: 20 }), (moments) => {
      let guard = NEW_GUARD;
      for (const moment of moments) {
        guard = play(guard, moment).guard;
        assert.deepEqual(JSON.parse(JSON.stringify(guard)), guard);
        const begun = beginCompaction(guard, moment.from, 'full');
        assert.deepEqual(JSON.parse(JSON.stringify(begun)), begun);
      }
    }),
    { ...SEED, numRuns: 100 },
  );
});

test('growth is counted from what the provider reports, where the gauge had supposed more', () => {
  const guard = { ...NEW_GUARD, rearm: { used: 62_000, freed: 500 } };
  assert.deepEqual(noteReport(guard, 62_500, 9_000).rearm, { used: 9_000, freed: 500 });
  assert.deepEqual(noteReport(guard, 62_500, 70_000).rearm, guard.rearm);
});
