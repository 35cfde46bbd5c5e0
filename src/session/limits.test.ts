import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { LogRecord } from '../protocol/record.ts';
import { nearLimits, NO_LIMITS, reachedLimit } from './limits.ts';
import { NO_SPENDING, SpendingFold, SPENT_NOTE, spentNote } from './spending.ts';

const USER_TURN: LogRecord = { type: 'turn_started', turnId: 't', kind: 'regular', origin: { type: 'user' } };
const WATCHER_TURN: LogRecord = {
  type: 'turn_started',
  turnId: 'w',
  kind: 'regular',
  origin: { type: 'watcher', number: 1 },
};

function usage(total: number, output = 0): LogRecord {
  return { type: 'usage', usage: { source: 'reported', covers: 'response', total, output } };
}

function spendingOf(...records: readonly LogRecord[]) {
  const fold = new SpendingFold();
  for (const record of records) fold.add(record);
  return fold.spending;
}

describe('spending', () => {
  test('a turn of the user takes what the watcher asks for after it, and a session takes all', () => {
    const { turn, session } = spendingOf(USER_TURN, usage(10), USER_TURN, usage(20), WATCHER_TURN, usage(30));
    assert.deepEqual([turn.requests, turn.tokens], [2, 50]);
    assert.deepEqual([session.requests, session.tokens], [3, 60]);
  });

  test('money is counted where the price is known, and said to be missing where not', () => {
    const priced: LogRecord = { type: 'settings', model: 'gpt-5.1' };
    assert.ok(Math.abs(spendingOf(priced, usage(1_100_000, 100_000)).session.dollars - 2.25) < 1e-9);
    assert.deepEqual(spendingOf({ type: 'settings', model: 'mine' }, usage(10)).session, {
      requests: 1,
      tokens: 10,
      dollars: 0,
      unpriced: 1,
    });
  });

  test('charges come back from the log, and no note takes anything back', () => {
    const counted = { requests: 2, tokens: 7, dollars: 0.5 };
    const spending = spendingOf(spentNote({ kind: 'summary', ...counted }));
    assert.deepEqual(spending.session, { ...counted, unpriced: 0 });
    assert.deepEqual(spending.byKind, { summary: spending.session });
    const earlier = spendingOf({ type: 'note', kind: SPENT_NOTE, value: counted });
    assert.deepEqual(earlier.byKind, { other: earlier.session }, 'a version that recorded no kind');
    for (const value of [{ requests: -5, tokens: '9', dollars: -1 }, { tokens: Infinity }, {}]) {
      const { session } = spendingOf(usage(10), { type: 'note', kind: SPENT_NOTE, value });
      assert.deepEqual([session.requests, session.tokens, session.dollars], [1, 10, 0]);
    }
  });

  test('estimates, and counts of something else than a request with its answer, are no requests', () => {
    const sample: LogRecord = { type: 'usage', usage: { source: 'estimated', covers: 'history', total: 9 } };
    assert.deepEqual(spendingOf(sample), NO_SPENDING);
  });
});

describe('limits', () => {
  const spent = { requests: 8, tokens: 800, dollars: 0.8, unpriced: 0 };
  const spending = { turn: spent, session: spent };
  for (const [key, name, limit] of [
    ['turnRequests', 'turn_requests', 10],
    ['turnTokens', 'turn_tokens', 1_000],
    ['turnDollars', 'turn_dollars', 1],
    ['sessionRequests', 'session_requests', 10],
    ['sessionTokens', 'session_tokens', 1_000],
    ['sessionDollars', 'session_dollars', 1],
  ] as const) {
    test(`limits.${name} warns at four fifths, ends at the whole, and names its key`, () => {
      const near = nearLimits(spending, { ...NO_LIMITS, [key]: limit });
      assert.deepEqual([...near.keys()], [`limits.${name}`]);
      assert.equal(reachedLimit(spending, { ...NO_LIMITS, [key]: limit }), undefined);
      assert.equal(nearLimits(spending, { ...NO_LIMITS, [key]: limit * 1.2 }).size, 0);
      const reached = reachedLimit(spending, { ...NO_LIMITS, [key]: limit * 0.8 });
      assert.match(
        `${reached?.why} ${reached?.cure}`,
        new RegExp(`limits\\.${name} = .*-c limits\\.${name}=`),
      );
    });
  }

  test('0 is no limit', () => {
    const endless = { ...spent, requests: 1e12, tokens: 1e15, dollars: 1e9 };
    assert.equal(reachedLimit({ turn: endless, session: endless }, NO_LIMITS), undefined);
  });
});
