import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { LogRecord } from '../protocol/record.ts';
import { DEFAULT_ESTIMATE, addTokens, itemTokens, sumTokens } from '../tokens/estimate.ts';
import type { CountText } from '../tokens/estimate.ts';
import type { Category } from '../vocabulary.ts';
import { PLAIN, anyLog, textOfSize, thread } from '../../test/support/thread.ts';
import { AccountFold } from './account.ts';
import type { AccountSettings, ContextAccount } from './context-account.ts';
import { WHOLE_ITEMS } from './clear.ts';
import { HistoryFold } from './project.ts';

const SEED = { seed: 20_260_104 };
const SETTINGS: AccountSettings = { estimate: DEFAULT_ESTIMATE, safetyMultiplier: 1 };

const countCharacters: CountText = (text) => text.length;

function accountOf(records: readonly LogRecord[], settings = SETTINGS): ContextAccount {
  const fold = new AccountFold(settings);
  for (const record of records) fold.add(record);
  return fold.account();
}

function said(notation: string): readonly LogRecord[] {
  return thread(notation).map((item) => ({ type: 'item', item }));
}

function reported(total: number): LogRecord {
  return { type: 'usage', usage: { source: 'reported', covers: 'response', total } };
}

test('the categories are the sums of the items of the projection, by any counter', () => {
  for (const count of [undefined, countCharacters]) {
    const settings: AccountSettings = count === undefined ? SETTINGS : { ...SETTINGS, count };
    fc.assert(
      fc.property(anyLog, (log) => {
        const history = new HistoryFold(WHOLE_ITEMS);
        for (const record of log) history.add(record);
        const expected: Partial<Record<Category, number>> = {};
        for (const { value } of history.entries) addTokens(expected, itemTokens(value, count));
        assert.deepEqual(accountOf(log, settings).categories, expected);
      }),
      SEED,
    );
  }
});

test('the size at a place is that of the item that any fold over the same records has there', () => {
  for (const count of [undefined, countCharacters]) {
    fc.assert(
      fc.property(anyLog, (log) => {
        const history = new HistoryFold(WHOLE_ITEMS);
        const account = new AccountFold(count === undefined ? SETTINGS : { ...SETTINGS, count });
        for (const record of log) {
          history.add(record);
          account.add(record);
        }
        const sizes = history.entries.map(({ value }) => sumTokens(itemTokens(value, count)));
        assert.deepEqual(
          [...sizes, undefined].map((_, place) => account.sizeAt(place)),
          [...sizes, undefined],
        );
      }),
      SEED,
    );
  }
});

test('without a sample the gauge shows the estimate of the projection, whatever counts the categories', () => {
  fc.assert(
    fc.property(anyLog, fc.boolean(), (log, isCounted) => {
      const settings: AccountSettings = isCounted
        ? { ...SETTINGS, count: (text) => 7 * text.length }
        : SETTINGS;
      const estimated = sumTokens(accountOf(log).categories);
      assert.deepEqual(accountOf(log, settings).usage, { used: estimated, anchor: 'none' });
    }),
    SEED,
  );
});

test('instructions are in every request and in no item, and only the newest count', () => {
  const meta = (tokens: number): LogRecord => ({
    type: 'session_meta',
    instructions: textOfSize('be', tokens),
  });
  const account = accountOf([meta(100), ...said('u'), meta(300)]);
  assert.deepEqual(account.categories, { user: PLAIN });
  assert.equal(account.besideItems.fixed, 300);
  assert.equal(account.usage.used, 300 + PLAIN);
  const compacted: LogRecord = { type: 'compacted', id: 'c', replacement: thread('sum') };
  assert.equal(accountOf([meta(100), ...said('u:9k'), compacted]).usage.used, 100 + PLAIN);
});

test('results are shared out by tool, largest first, then by name', () => {
  const account = accountOf(said('u shell:400 read:3k shell:400 grep:800 web nothing<:40 a'));
  assert.deepEqual(account.tools, [
    { tool: 'read', results: 1, tokens: 3000 },
    { tool: 'grep', results: 1, tokens: 800 },
    { tool: 'shell', results: 2, tokens: 800 },
    { tool: 'unknown', results: 1, tokens: 40 },
  ]);
  assert.deepEqual(account.brokenPairs, { orphanCalls: [], orphanResults: [10], duplicateResults: [] });
});

test('a full compaction is marked with what was before and after', () => {
  const compacted: LogRecord = {
    type: 'compacted',
    id: 'c',
    trigger: 'auto',
    replacement: thread('sum:400 u'),
    summary: textOfSize('s', 400),
    line: 7,
    at: '2026-01-01T00:00:00Z',
  };
  const account = accountOf([...said('u:3k a:9k u'), compacted, ...said('a:40')]);
  const [mark] = account.compactions;
  assert.deepEqual(
    { ...mark, window: undefined },
    {
      id: 'c',
      kind: 'full',
      line: 7,
      at: '2026-01-01T00:00:00Z',
      turn: 2,
      pointIndex: 0,
      trigger: 'auto',
      phase: undefined,
      preTokens: 12_000 + PLAIN,
      postTokens: 400 + PLAIN,
      window: undefined,
      summary: 'readable',
      summaryTokens: 400,
      itemsBefore: 3,
      itemsAfter: 2,
      clearedResults: 0,
      isUndone: false,
      receipt: undefined,
    },
  );
  assert.deepEqual(account.usage, { used: 400 + PLAIN + 40, anchor: 'none' });
});

test('the size before a compaction is the recorded one where nothing was reported; the size after it is the gauge', () => {
  const recorded = { preTokens: 180_000, postTokens: 9000 } as const;
  const compacted = { type: 'compacted', id: 'c', replacement: thread('sum:400'), ...recorded } as const;
  const account = accountOf([...said('u'), compacted]);
  const [mark] = account.compactions;
  assert.deepEqual([mark?.preTokens, mark?.postTokens, mark?.summary], [180_000, 400, 'none']);
  assert.equal(account.usage.used, 400);
  const gauged = accountOf([...said('u'), { ...compacted, gaugedTokens: 11_000 }, ...said('a:40')]);
  assert.equal(gauged.compactions[0]?.postTokens, 11_000);
  assert.deepEqual(gauged.usage, { used: 11_040, anchor: 'estimated' });
  const encrypted = accountOf([{ type: 'compacted', id: 'c', replacement: [{ type: 'compaction' }] }]);
  assert.equal(encrypted.compactions[0]?.summary, 'encrypted');
});

test('micro-compaction takes what it saves from the gauge, anchored or not', () => {
  const clear: LogRecord = { type: 'micro_compacted', id: 'm', callIds: ['x'] };
  const talk = said('u shell#x> shell#x<:3k a');
  const measured = [...said('u shell#x>'), reported(5000), ...said('shell#x<:3k a'), reported(9000)];
  const saved = 3000 - Math.ceil('[Old tool result content cleared]'.length / 4);
  const whole = accountOf(talk).usage.used;
  const bare = accountOf([...talk, clear]);
  assert.deepEqual(bare.usage, { used: whole - saved, anchor: 'none' });
  const anchored = accountOf([...measured, clear]);
  assert.deepEqual(anchored.usage, { used: 9000 - saved, anchor: 'reported' });
  const [mark] = anchored.compactions;
  assert.deepEqual(
    [mark?.kind, mark?.preTokens, mark?.postTokens, mark?.clearedResults],
    ['micro', 9000, 9000 - saved, 1],
  );
  assert.deepEqual(accountOf([...measured, clear, clear]).usage, anchored.usage);
});

test('an undo gives sizes and samples back and marks the compaction', () => {
  const compacted: LogRecord = { type: 'compacted', id: 'c', replacement: thread('sum') };
  const log = [...said('u:3k a:9k'), reported(20_000), compacted, ...said('u:40')];
  const undone = accountOf([...log, { type: 'undo_compaction', compactionId: 'c' }]);
  // The report measured what is back; 40 came since.
  assert.deepEqual(undone.usage, { used: 20_040, anchor: 'reported' });
  assert.deepEqual(undone.categories, { user: 3040, assistant: 9000 });
  assert.equal(undone.compactions[0]?.isUndone, true);
  const refused = accountOf([...log, { type: 'undo_compaction', compactionId: 'nowhere' }]);
  assert.equal(refused.compactions[0]?.isUndone, false);
  assert.deepEqual(refused.usage, accountOf(log).usage);
});

test('a fold that keeps few projections says when an undo needs one that it dropped', () => {
  const [first, second]: readonly LogRecord[] = ['c1', 'c2'].map((id) => ({
    type: 'compacted',
    id,
    replacement: thread('sum'),
  }));
  assert.ok(first !== undefined && second !== undefined);
  const undone: LogRecord = { type: 'undo_compaction', compactionId: 'c2' };
  const log = [...said('u:3k a:9k'), first, ...said('u:40 a:900'), second, undone];
  const few = new AccountFold(SETTINGS, 1);
  for (const record of log) few.add(record);
  assert.equal(few.hasLostPast, false);
  assert.deepEqual(few.account(), accountOf(log));
  few.add({ type: 'undo_compaction', compactionId: 'c1' });
  assert.equal(few.hasLostPast, true);
});

test('a turn begins where the user speaks after the agent', () => {
  const cases: readonly (readonly [notation: string, turns: number])[] = [
    ['', 0],
    ['h dev', 0],
    ['u', 1],
    ['u u', 1],
    ['u a u', 2],
    ['u shell:40 u', 2],
    ['u h sum a h u', 2],
  ];
  for (const [notation, turns] of cases) assert.equal(accountOf(said(notation)).turns, turns, notation);
});

test('every sample is a point of the gauge; impossible ones are rejected with their line', () => {
  const window: LogRecord = { type: 'settings', usableWindow: 95_000 };
  const tooMuch: LogRecord = { ...reported(100_001), line: 5 };
  const account = accountOf([
    window,
    ...said('u a'),
    { ...reported(47_500), line: 4 },
    tooMuch,
    ...said('u'),
  ]);
  assert.deepEqual(account.points, [
    { turn: 1, line: 4, used: 47_500, percentRemaining: 50 },
    { turn: 2, line: undefined, used: 47_500 + PLAIN, percentRemaining: 49 },
  ]);
  assert.deepEqual(account.rejectedSamples, [
    { line: 5, why: 'a usage of 100,001 tokens in a window of 100,000' },
  ]);
  const { fixed, margin, unexplained } = account.besideItems;
  assert.deepEqual([fixed + unexplained, margin], [47_500 - 2 * PLAIN, 0]);
});

test('the window is the configured one, else the recorded one, else that of the model', () => {
  const model: LogRecord = { type: 'settings', model: 'gpt-5-codex' };
  const recorded: LogRecord = { type: 'settings', usableWindow: 190_000 };
  const windowOf = (log: readonly LogRecord[], settings = SETTINGS) => {
    const { window, usableWindow, windowFrom } = accountOf(log, settings);
    return [window, usableWindow, windowFrom];
  };
  assert.deepEqual(windowOf([model, recorded], { ...SETTINGS, window: 50_000 }), [
    50_000,
    47_500,
    'configured',
  ]);
  assert.deepEqual(windowOf([model, recorded]), [200_000, 190_000, 'recorded']);
  assert.deepEqual(windowOf([model]), [272_000, 258_400, 'model']);
  assert.deepEqual(windowOf([{ type: 'settings', model: 'nobody-knows' }]), [128_000, 121_600, 'unknown']);
});

test('a usage beyond the small variant of a model shows that it was the large one', () => {
  const model: LogRecord = { type: 'settings', model: 'claude-sonnet-4-5' };
  assert.equal(accountOf([model, ...said('u'), reported(150_000)]).window, 200_000);
  const large = accountOf([model, ...said('u'), reported(600_000)]);
  assert.deepEqual([large.window, large.rejectedSamples.length], [1_000_000, 0]);
});

test('everything in the file is counted, whatever became of it', () => {
  const account = accountOf([
    ...said('h u a r shell:40 web'),
    { type: 'compacted', id: 'c', replacement: thread('sum u') },
    ...said('u'),
    ...thread('a shell:40').map((item): LogRecord => ({ type: 'side_item', item, why: 'subagent' })),
  ]);
  assert.deepEqual(account.recorded, {
    items: 8,
    sideItems: 3,
    userMessages: 2,
    harnessMessages: 1,
    assistantMessages: 2,
    reasoning: 1,
    calls: 3,
    results: 2,
    unknownItems: 0,
  });
});
