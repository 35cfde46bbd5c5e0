import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { OVERHEAD, Recorded } from '../../../test/support/recorded.ts';
import { assertSound, played } from '../../../test/support/played.ts';
import { accountSettings } from '../../calls/session-source.ts';
import { DEFAULT_CONFIG } from '../../config/defaults.ts';
import { AccountFold } from '../../history/account.ts';
import { Projection } from '../../session/watched/projection.ts';
import type { PolicyOutcome, SessionReplay } from './outcome.ts';
import { comparePolicies, gaugeColumns } from './report.ts';

const WINDOW = 100_000;

function policy({ policies }: SessionReplay, name: string): PolicyOutcome {
  const found = policies.find((outcome) => outcome.policy === name);
  assert.ok(found !== undefined, `${name} was played`);
  return found;
}

describe('the play of a recording', () => {
  it('finds turns and requests where the log tells of turns and where it does not', () => {
    for (const recordsTurns of [true, false]) {
      const { records } = new Recorded(WINDOW, { recordsTurns })
        .user()
        .work(3, 100)
        .answer()
        .user()
        .parallel(4, 100)
        .answer();
      const { turns, requests } = played(records);
      // Three calls and an answer; four calls at once and an answer.
      assert.deepEqual({ turns, requests }, { turns: 2, requests: 6 });
    }
  });

  it('goes by the usage that was reported', () => {
    const { records } = new Recorded(WINDOW).user().work(5, 2_000).answer();
    const { samples, peak } = policy(played(records), 'none');
    // Each request holds what came before it: a call of 10 and a result of 2,000 tokens are added by each.
    assert.deepEqual(
      samples.slice(1).map(({ used }) => Math.round((used - OVERHEAD - 20) / 2_010)),
      [1, 2, 3, 4, 5],
    );
    assert.equal(peak, samples.at(-1)?.used);
  });

  it("takes the agent's own compactions out, and tells of them", () => {
    const story = new Recorded(WINDOW).user().work(20, 2_000).compacted(1_000).work(20, 2_000).answer();
    const { own, policies, recorded } = played(story.records);
    assert.deepEqual(
      own.map(({ kind, turn, isInsideTurn, trigger }) => ({ kind, turn, isInsideTurn, trigger })),
      [{ kind: 'full', turn: 1, isInsideTurn: true, trigger: 'auto' }],
    );
    const none = policies.find((outcome) => outcome.policy === 'none');
    const last = none?.samples.at(-1)?.used ?? 0;
    // 40 calls with results of 2,000 tokens each, and none of them gone.
    assert.ok(
      Math.abs(last - (OVERHEAD + 40 * 2_010)) < 4_000,
      `${last} tokens at the end without compaction`,
    );
    assert.ok((recorded.at(-1)?.used ?? 0) < 60_000, 'the recorded gauge shows what the agent did');
  });

  it('expects of a compaction what a live thread expects', () => {
    // Full enough for the watcher, and too empty for a compaction that leaves about 15,000 tokens.
    const { records } = new Recorded(60_000).user().work(8, 2_000).commit().answer();
    const account = new AccountFold(accountSettings(DEFAULT_CONFIG));
    for (const record of records) account.add(record);
    const items = records.flatMap((record) => (record.type === 'item' ? [record.item] : []));
    const { projected } = new Projection(DEFAULT_CONFIG).situation(account, items);
    const whys = policy(played(records), 'baton').decisions.map(({ why }) => why);
    const live = `it would leave about ${projected.toLocaleString('en-US')}`;
    assert.ok(
      whys.some((why) => why.includes(live)),
      `${live}; ${whys.join(' ')}`,
    );
  });

  it('says at which request no window would have held the session', () => {
    const { records } = new Recorded(WINDOW).user().work(30, 2_000).answer().user().work(30, 2_000).answer();
    const { overflow } = policy(played(records), 'none');
    const { samples } = policy(played(records), 'none');
    const first = samples.find(({ used, window }) => used > window);
    assert.equal(overflow.first?.request, first?.request);
    assert.equal(overflow.first?.turn, 2);
    assert.equal(overflow.requests, samples.filter(({ used, window }) => used > window).length);
  });
});

describe('the boundaries of a recording', () => {
  it('include the end of the last turn, which few logs record', () => {
    const { records } = new Recorded(WINDOW, { recordsTurns: false }).user().work(2, 100).commit().answer();
    assert.deepEqual(
      played(records).boundaries.map(({ signal, request }) => [signal.boundary, request]),
      [
        ['commit', 3],
        ['turn_complete', 4],
      ],
    );
  });
});

describe('a limit', () => {
  it('compacts in mid-work when it is reached, and keeps what its agent would keep', () => {
    const { records } = new Recorded(WINDOW).user(300).work(2, 10).commit().work(60, 2_000).answer();
    const result = played(records);
    for (const [name, limit] of [
      ['codex', 90_000],
      ['claude_like', 67_000],
    ] as const) {
      const [first, ...later] = policy(result, name).compactions;
      assert.equal(first?.place, 'mid_work', name);
      assert.equal(first?.point, 'mid_turn', name);
      assert.ok(
        first !== undefined && first.preTokens >= limit && first.preTokens < limit + 2_500,
        `${name} compacts at ${first?.preTokens}`,
      );
      assert.ok(first.postTokens < 25_000, `${name} leaves ${first.postTokens}`);
      assert.ok(later.length <= 1, name);
    }
  });

  it('says that a pause happened to be there', () => {
    const long = 'The parts fit. '.repeat(400);
    const story = new Recorded(WINDOW).user().work(28, 2_000).answer(long).user().work(2, 10).answer();
    const [first] = policy(played(story.records), 'claude_like').compactions;
    assert.equal(first?.point, 'preflight');
    assert.equal(first?.place, 'boundary');
    assert.ok(
      first?.signals.some(({ boundary }) => boundary === 'turn_complete'),
      'the end of the turn before is its evidence',
    );
  });

  it('bills the request that writes the summary', () => {
    const { records } = new Recorded(WINDOW).user().work(60, 2_000).answer();
    const result = played(records);
    const { bill, compactions } = policy(result, 'claude_like');
    assert.equal(bill.requests, result.requests + compactions.length);
    assert.ok(bill.output > policy(result, 'none').bill.output, 'the summary is output');
    assert.ok(
      policy(result, 'codex').bill.cached < policy(result, 'none').bill.cached,
      'and busts the cache',
    );
  });
});

describe('the watcher in a replay', () => {
  it('waits for a commit in the middle of a turn, and hands over there', () => {
    const { records } = new Recorded(WINDOW).user().work(30, 2_000).commit().work(20, 2_000).answer();
    const baton = policy(played(records), 'baton');
    const [first] = baton.compactions;
    assert.equal(first?.point, 'mid_turn');
    assert.equal(first?.place, 'boundary');
    assert.deepEqual(
      first?.signals.map(({ boundary }) => boundary),
      ['commit'],
    );
    // 30 calls, then the commit: the decision falls before the request after it.
    assert.equal(first?.request, 32);
    assert.ok(
      baton.decisions.some(({ shouldCompact, request }) => shouldCompact && request === 32),
      'the decision is told with its request',
    );
  });

  it('does not stop a sequence of tools without a boundary before an emergency', () => {
    const { records } = new Recorded(WINDOW).user().work(60, 2_000).answer();
    const { compactions } = policy(played(records), 'baton');
    const [first] = compactions;
    assert.equal(first?.place, 'emergency');
    assert.ok((first?.percentRemaining ?? 100) < 15, `${first?.percentRemaining} % were left`);
  });

  it('takes the end of a turn once little is left', () => {
    const story = new Recorded(WINDOW).user().work(32, 2_000).answer().user().work(5, 2_000).answer();
    const [first] = policy(played(story.records), 'baton').compactions;
    assert.equal(first?.point, 'turn_end');
    assert.equal(first?.turn, 1);
  });

  it('takes nothing from a turn that was stopped over into the next', () => {
    const story = (isStopped: boolean): PolicyOutcome => {
      const told = new Recorded(WINDOW).user().work(20, 2_000).commit();
      return policy(played((isStopped ? told.abort().user() : told).work(1, 100).answer().records), 'baton');
    };
    assert.equal(story(false).compactions.length, 1, 'the commit alone is a boundary');
    assert.deepEqual(story(true).compactions, []);
  });

  it('waits for the results of every call', () => {
    const story = new Recorded(WINDOW).user().work(20, 2_000);
    for (let at = 0; at < 12; at++) story.straggle(2_000);
    const { compactions } = policy(played(story.answer().records), 'baton');
    assert.ok(compactions.length > 0, 'there is an emergency');
    for (const { openCalls } of compactions) assert.equal(openCalls, 0);
  });

  it('leaves a session alone that has room', () => {
    const { records } = new Recorded(WINDOW).user().work(5, 1_000).commit().answer();
    assert.deepEqual(policy(played(records), 'baton').compactions, []);
  });

  it('clears old results first where that is enough', () => {
    const { records } = new Recorded(WINDOW).user().work(30, 2_000).commit().work(2, 100).answer();
    const [first] = policy(played(records), 'baton').compactions;
    assert.equal(first?.kind, 'micro');
  });

  it('compacts at its limit without a watcher', () => {
    const { records } = new Recorded(WINDOW).user().work(60, 2_000).answer();
    const [first] = policy(played(records), 'built_in').compactions;
    assert.equal(first?.place, 'mid_work');
    assert.ok((first?.preTokens ?? 0) >= 87_000, `${first?.preTokens} tokens`);
  });
});

/** A session of anything that can happen, in any order. */
const anySession = fc
  .tuple(
    fc.constantFrom(40_000, 100_000, 272_000),
    fc.boolean(),
    fc.array(
      fc.oneof(
        fc.record({
          do: fc.constant('work' as const),
          requests: fc.integer({ min: 1, max: 12 }),
          tokens: fc.integer({ min: 1, max: 5_000 }),
        }),
        fc.record({
          do: fc.constant('parallel' as const),
          requests: fc.integer({ min: 2, max: 5 }),
          tokens: fc.integer({ min: 1, max: 3_000 }),
        }),
        fc.record({ do: fc.constant('commit' as const) }),
        fc.record({ do: fc.constant('straggle' as const), tokens: fc.integer({ min: 1, max: 9_000 }) }),
        fc.record({ do: fc.constant('turn' as const), tokens: fc.integer({ min: 1, max: 6_000 }) }),
        fc.record({ do: fc.constant('compacted' as const), tokens: fc.integer({ min: 100, max: 3_000 }) }),
        fc.record({ do: fc.constant('pause' as const), minutes: fc.integer({ min: 1, max: 20 }) }),
      ),
      { maxLength: 25 },
    ),
  )
  .map(([window, recordsTurns, steps]) => {
    const story = new Recorded(window, { recordsTurns }).user();
    for (const step of steps) {
      if (step.do === 'work') story.work(step.requests, step.tokens);
      else if (step.do === 'parallel') story.parallel(step.requests, step.tokens);
      else if (step.do === 'commit') story.commit();
      else if (step.do === 'straggle') story.straggle(step.tokens);
      else if (step.do === 'turn') story.answer().user(step.tokens);
      else if (step.do === 'compacted') story.compacted(step.tokens);
      else story.pause(step.minutes);
    }
    return story.answer().records;
  });

describe('every replay', () => {
  it('is sound', () => {
    fc.assert(
      fc.property(anySession, (records) => assertSound(played(records))),
      { seed: 7, numRuns: 60 },
    );
  });

  it('comes out the same each time, with or without the others', () => {
    fc.assert(
      fc.property(anySession, (records) => {
        const first = played(records);
        assert.deepEqual(played(records), first);
        const alone = played(records, ['baton']);
        assert.deepEqual(alone.policies, [policy(first, 'baton')]);
      }),
      { seed: 8, numRuns: 15 },
    );
  });

  it('adds up to the lines of the report', () => {
    fc.assert(
      fc.property(fc.array(anySession, { minLength: 1, maxLength: 3 }), (sessions) => {
        const results = sessions.map((records) => played(records));
        for (const line of comparePolicies(results)) {
          const outcomes = results.map((result) => policy(result, line.policy));
          const count = outcomes.reduce((sum, { compactions }) => sum + compactions.length, 0);
          const { boundary, mid_work: midWork, emergency } = line.places;
          assert.equal(boundary + midWork + emergency, count);
          assert.equal(
            line.bill.input,
            outcomes.reduce((sum, { bill }) => sum + bill.input, 0),
          );
        }
      }),
      { seed: 9, numRuns: 15 },
    );
  });
});

it('adds up the dollars of the sessions whose models have a price, and says how many', () => {
  const of = (model: string) =>
    played(new Recorded(200_000, { model }).user().work(3, 900).answer().records, ['none']);
  const priced = of('gpt-5.2');
  const unpriced = of('somebody/new-1');
  const usd = policy(priced, 'none').bill.usd ?? 0;
  assert.ok(usd > 0, 'the session has a price');
  const [both] = comparePolicies([priced, unpriced, priced]);
  assert.deepEqual([both?.bill.usd, both?.pricedSessions, both?.sessions], [2 * usd, 2, 3]);
  const [none] = comparePolicies([unpriced]);
  assert.deepEqual([none?.bill.usd, none?.pricedSessions], [undefined, 0]);
});

describe('the gauge in columns', () => {
  it('shows the largest value and the compaction of each column', () => {
    const samples = [10, 20, 90, 40].map((used, index) => ({
      request: index + 1,
      turn: 1,
      used,
      window: 100,
    }));
    const marks = [{ request: 4, place: 'boundary', kind: 'full' } as const];
    const columns = gaugeColumns({ name: 'x', samples, marks }, 4, 2);
    assert.deepEqual(
      columns.map(({ share, mark }) => ({ share, place: mark?.place })),
      [
        { share: 20 / 95, place: undefined },
        { share: 90 / 95, place: 'boundary' },
      ],
    );
    assert.equal(gaugeColumns({ name: 'x', samples, marks }, 4, 100).length, 4);
    assert.deepEqual(gaugeColumns({ name: 'x', samples: [], marks: [] }, 0, 10), [
      { share: 0, mark: undefined },
    ]);
  });
});
