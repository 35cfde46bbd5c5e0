import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { resultCallId } from '../protocol/item.ts';
import type { Item } from '../protocol/item.ts';
import type { CompactedRecord, LogRecord } from '../protocol/record.ts';
import { anyLog, anyThread, notationOf, thread } from '../../test/support/thread.ts';
import { WHOLE_ITEMS, clearResult } from './clear.ts';
import { HistoryFold } from './project.ts';

const SEED = { seed: 20_260_102 };

function fold(records: readonly LogRecord[], keepFrames?: number): HistoryFold<Item> {
  const history = new HistoryFold(WHOLE_ITEMS, keepFrames);
  for (const record of records) history.add(record);
  return history;
}

function itemsOf(history: HistoryFold<Item>): readonly Item[] {
  return history.entries.map(({ value }) => value);
}

function said(notation: string): readonly LogRecord[] {
  return thread(notation).map((item) => ({ type: 'item', item }));
}

function compacted(id: string, replacement: string, keptRefs: readonly string[] = []): CompactedRecord {
  return { type: 'compacted', id, replacement: thread(replacement), keptRefs };
}

function undo(compactionId: string): LogRecord {
  return { type: 'undo_compaction', compactionId };
}

/**
 * What a history is, by definition and without any state: the log without the compactions that were taken back, of
 * which the newest of the others replaces all before it.
 */
function projectNaively(log: readonly LogRecord[]): readonly Item[] {
  const undone = new Set<LogRecord>();
  const inForce: (LogRecord & CompactedRecord)[] = [];
  for (const record of log) {
    if (record.type === 'compacted') inForce.push(record);
    else if (record.type === 'undo_compaction' && record.compactionId === inForce.at(-1)?.id) {
      const taken = inForce.pop();
      if (taken !== undefined) undone.add(taken);
    }
  }
  let history: { item: Item; ref: string | undefined }[] = [];
  for (const record of log) {
    if (record.type === 'item') history.push({ item: record.item, ref: record.ref });
    else if (record.type === 'compacted' && !undone.has(record)) {
      const kept = (record.keptRefs ?? []).flatMap((ref) => history.filter((place) => place.ref === ref));
      history = [...record.replacement.map((item) => ({ item, ref: undefined })), ...kept];
    } else if (record.type === 'micro_compacted') {
      history = history.map(({ item, ref }) => {
        const callId = resultCallId(item);
        return {
          item: callId !== undefined && record.callIds.includes(callId) ? clearResult(item) : item,
          ref,
        };
      });
    }
  }
  return history.map(({ item }) => item);
}

test('the fold is the log without the compactions that were taken back', () => {
  const seen = { compacted: 0, cleared: 0, undone: 0, none: 0, appended: 0 };
  fc.assert(
    fc.property(anyLog, (log) => {
      const history = new HistoryFold(WHOLE_ITEMS);
      for (const record of log) seen[history.add(record)]++;
      assert.deepEqual(itemsOf(history), projectNaively(log));
    }),
    { ...SEED, numRuns: 500 },
  );
  for (const [change, times] of Object.entries(seen))
    assert.ok(times > 100, `${change} was drawn ${times} times`);
});

test('an undo gives the history before, and then what came since', () => {
  fc.assert(
    fc.property(anyThread, anyThread, (before, since) => {
      const log = [...said(before), compacted('c', 'sum u'), ...said(since), undo('c')];
      assert.deepEqual(itemsOf(fold(log)), [...thread(before), ...thread(since)]);
    }),
    SEED,
  );
});

test('before an undo, the fold says what the undo will give', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const history = fold(log);
      const undone = history.beforeNewestCompaction();
      const id = history.compactions.at(-1)?.id;
      assert.equal(undone === undefined, id === undefined);
      if (undone === undefined || id === undefined) return;
      assert.equal(history.add(undo(id)), 'undone');
      assert.deepEqual(history.entries, [...undone.before, ...undone.since]);
    }),
    SEED,
  );
});

test('compactions are taken back one by one, newest first', () => {
  const history = fold([...said('u a'), compacted('c1', 'sum:10'), ...said('u'), compacted('c2', 'sum:20')]);
  assert.equal(notationOf(itemsOf(history)), 'sum');
  assert.deepEqual(
    history.compactions.map(({ id }) => id),
    ['c1', 'c2'],
  );
  assert.equal(history.add(undo('c2')), 'undone');
  assert.equal(notationOf(itemsOf(history)), 'sum u');
  assert.equal(history.add(undo('c1')), 'undone');
  assert.equal(notationOf(itemsOf(history)), 'u a u');
  assert.deepEqual(history.problems, []);
});

test('an undo of any but the newest compaction is reported with its line and changes nothing', () => {
  for (const id of ['c1', 'nowhere']) {
    const history = fold([...said('u a'), compacted('c1', 'sum'), compacted('c2', 'sum u')]);
    assert.equal(history.add({ ...undo(id), line: 9 }), 'none');
    assert.equal(notationOf(itemsOf(history)), 'sum u');
    assert.deepEqual(history.problems, [
      { line: 9, message: `undo of compaction ${id}, which is not the newest one` },
    ]);
  }
});

test('results that were cleared after a compaction stay cleared when it is taken back', () => {
  const clear: LogRecord = { type: 'micro_compacted', id: 'm', callIds: ['x'] };
  const log = [...said('u shell#x> shell#x<:3k a'), compacted('c1', 'sum'), ...said('u'), clear];
  assert.equal(notationOf(itemsOf(fold([...log, undo('c1')]))), 'u shell:- a u');
  const nested = [...log, compacted('c2', 'sum'), undo('c2'), undo('c1')];
  assert.equal(notationOf(itemsOf(fold(nested))), 'u shell:- a u');
});

test('entries that a compaction keeps come after the replacement in the order asked for, each once', () => {
  const log: readonly LogRecord[] = [
    ...thread('u:1 a:2 u:3').map((item, index): LogRecord => ({ type: 'item', item, ref: `r${index}` })),
    compacted('c', 'sum', ['r2', 'r0', 'r2', 'nowhere']),
  ];
  const history = fold(log);
  assert.equal(notationOf(itemsOf(history)), 'sum u:3 u:1');
  assert.deepEqual(
    history.entries.map(({ seq, isReplacement, ref }) => [seq, isReplacement, ref]),
    [
      [3, true, undefined],
      [2, false, 'r2'],
      [0, false, 'r0'],
    ],
  );
});

test('two items of one line are kept together', () => {
  const log: readonly LogRecord[] = [
    ...thread('a:1 shell>').map((item): LogRecord => ({ type: 'item', item, ref: 'r' })),
    compacted('c', 'sum', ['r']),
  ];
  assert.equal(notationOf(itemsOf(fold(log))), 'sum a:1 shell>');
});

test('a compaction whose content its producer did not store leaves an empty history', () => {
  assert.deepEqual(itemsOf(fold([...said('u a'), compacted('c', '')])), []);
});

test('seqs are unique, and lines are those of the file', () => {
  fc.assert(
    fc.property(anyLog, (log) => {
      const { entries } = fold(log);
      assert.equal(new Set(entries.map(({ seq }) => seq)).size, entries.length);
      for (const { line, value, isReplacement } of entries) {
        const record = log[(line ?? 0) - 1];
        assert.equal(record?.type, isReplacement ? 'compacted' : 'item');
        if (record?.type === 'item') assert.equal(resultCallId(record.item), resultCallId(value));
      }
    }),
    SEED,
  );
});

test('with few past projections kept, the fold is right or says that it lost the past', () => {
  let lost = 0;
  fc.assert(
    fc.property(anyLog, fc.nat(2), (log, keepFrames) => {
      const history = fold(log, keepFrames);
      if (history.hasLostPast) lost++;
      else assert.deepEqual(itemsOf(history), projectNaively(log));
    }),
    SEED,
  );
  assert.ok(lost > 5, `the past was lost ${lost} times`);
  const undoThree = [compacted('1', 'u'), compacted('2', 'u'), compacted('3', 'u'), undo('3'), undo('2')];
  assert.deepEqual(
    [0, 1, 2, Infinity].map((keepFrames) => fold(undoThree, keepFrames).hasLostPast),
    [true, true, false, false],
  );
});

test('a fold that was told to keep few past projections only then drops them', () => {
  const three = [compacted('1', 'u'), compacted('2', 'u'), compacted('3', 'u')];
  const history = fold([...said('a'), ...three, undo('3'), undo('2'), undo('1')]);
  history.keepFrames(1);
  assert.equal(history.hasLostPast, false);
  assert.deepEqual(itemsOf(history), itemsOf(fold(said('a'))));
  for (const record of three) history.add(record);
  history.add(undo('3'));
  assert.equal(history.hasLostPast, false);
  history.add(undo('2'));
  assert.equal(history.hasLostPast, true);
  const late = fold(three);
  late.keepFrames(1);
  late.add(undo('3'));
  assert.equal(late.hasLostPast, false);
  late.add(undo('2'));
  assert.equal(late.hasLostPast, true);
});

test('of a compaction its name alone is remembered, whatever it holds', () => {
  const { compactions } = fold([...said('u a'), compacted('1', 'u')]);
  assert.deepEqual(compactions, [{ type: 'compacted', id: '1' }]);
});

test('records that are no part of the conversation change nothing', () => {
  const history = fold(said('u'));
  const others: readonly LogRecord[] = [
    { type: 'session_meta' },
    { type: 'settings' },
    { type: 'usage', usage: { source: 'reported', covers: 'response', total: 1 } },
    { type: 'turn_started' },
    { type: 'opaque', kind: 'x' },
    ...thread('u').map((item): LogRecord => ({ type: 'side_item', item, why: 'subagent' })),
  ];
  assert.deepEqual(
    others.map((record) => history.add(record)),
    others.map(() => 'none'),
  );
  assert.equal(notationOf(itemsOf(history)), 'u');
});

function begun(turnId: string, more: Partial<LogRecord & { readonly type: 'turn_started' }> = {}): LogRecord {
  return { type: 'turn_started', turnId, ...more };
}

function undoTurn(turnId: string): LogRecord {
  return { type: 'undo_turn', turnId };
}

test('a turn is taken back with everything since, turn after turn', () => {
  const watcher = begun('t3', { origin: { type: 'watcher', number: 4 } });
  const history = fold([
    ...said('dev'),
    begun('t1'),
    ...said('u a'),
    begun('t2', { origin: { type: 'user' } }),
    ...said('u r'),
    watcher,
    ...said('a'),
  ]);
  assert.equal(history.newestTurn()?.turnId, 't2', 'what the watcher began belongs to the turn before it');
  assert.equal(history.newestTurn()?.since.length, 3);
  assert.equal(history.add(undoTurn('t1')), 'none', 'not the newest');
  assert.equal(history.add(undoTurn('t2')), 'undone');
  assert.equal(notationOf(itemsOf(history)), 'dev u a');
  assert.equal(history.add(undoTurn('t1')), 'undone');
  assert.equal(notationOf(itemsOf(history)), 'dev');
  assert.equal(history.newestTurn(), undefined);
  assert.equal(history.problems.length, 1);
});

test('a turn behind a compaction is not taken back before the compaction is', () => {
  const log = [begun('t1'), ...said('u a'), compacted('c', 'sum'), ...said('u')];
  const history = fold(log);
  assert.equal(history.newestTurn()?.isCompacted, true);
  assert.equal(history.add({ ...undoTurn('t1'), line: 9 }), 'none');
  assert.deepEqual(history.problems, [{ line: 9, message: 'undo of turn t1, which was compacted since' }]);
  assert.equal(history.add(undo('c')), 'undone');
  assert.equal(history.add(undoTurn('t1')), 'undone');
  assert.deepEqual(itemsOf(history), []);
  // A compaction before the turn is no obstacle, and can be taken back behind the undo.
  const later = fold([
    ...said('u a'),
    compacted('c', 'sum'),
    begun('t2'),
    ...said('u'),
    undoTurn('t2'),
    undo('c'),
  ]);
  assert.equal(notationOf(itemsOf(later)), 'u a');
  assert.deepEqual(later.problems, []);
});
