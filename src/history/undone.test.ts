import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Item } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import { anyThread, thread } from '../../test/support/thread.ts';
import { WHOLE_ITEMS } from './clear.ts';
import { HistoryFold } from './project.ts';
import { UndoneTurns, withoutUndoneTurns } from './undone.ts';

const SEED = { seed: 20_260_102 };

const begun = (turnId: string): LogRecord => ({ type: 'turn_started', turnId });
const undoTurn = (turnId: string): LogRecord => ({ type: 'undo_turn', turnId });
const said = (notation: string): readonly LogRecord[] =>
  thread(notation).map((item) => ({ type: 'item', item }));

function itemsOf(records: readonly LogRecord[]): readonly Item[] {
  const history = new HistoryFold(WHOLE_ITEMS);
  for (const record of records) history.add(record);
  assert.deepEqual(history.problems, []);
  return history.entries.map(({ value }) => value);
}

test('a log in which nothing was taken back is the log itself', () => {
  const log = [begun('t1'), ...said('u a'), undoTurn('unknown')];
  assert.equal(withoutUndoneTurns(log), log);
});

test('what a turn that was taken back leaves are notes and settings', () => {
  const note: LogRecord = { type: 'note', kind: 'pin', value: { text: 'Mind the step.' } };
  const settings: LogRecord = { type: 'settings', model: 'keeper' };
  const first = [begun('t1'), ...said('u a'), { type: 'turn_complete', turnId: 't1' } as const];
  const log = [...first, begun('t2'), settings, ...said('u a'), note, undoTurn('t2'), ...said('u')];
  assert.deepEqual(withoutUndoneTurns(log), [...first, settings, note, ...said('u')]);
});

test('turns that were taken back one after the other are gone as one', () => {
  const log = [begun('t1'), ...said('u'), begun('t2'), ...said('u a'), undoTurn('t2'), undoTurn('t1')];
  assert.deepEqual(withoutUndoneTurns([...said('u'), ...log, begun('t3'), ...said('u')]), [
    ...said('u'),
    begun('t3'),
    ...said('u'),
  ]);
});

test('without the turns that were taken back, a log has the same history', () => {
  const piece = fc.oneof(
    anyThread.map((notation) => said(notation)),
    fc.nat(2).map((turn): readonly LogRecord[] => [begun(`t${turn}`)]),
    fc.constant<readonly LogRecord[]>([]),
  );
  let undone = 0;
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, fc.boolean()), { maxLength: 12 }), (pieces) => {
      // An undo names the newest turn: another one takes nothing back.
      const open: string[] = [];
      const log = pieces.flatMap(([records, undoes]) => {
        for (const record of records) if (record.type === 'turn_started') open.push(record.turnId ?? '');
        const last = undoes ? open.pop() : undefined;
        return last === undefined ? records : [...records, undoTurn(last)];
      });
      const kept = withoutUndoneTurns(log);
      assert.deepEqual(itemsOf(kept), itemsOf(log));
      assert.ok(!kept.some(({ type }) => type === 'undo_turn'), 'an undo is left');
      if (kept.length < log.length) undone++;
    }),
    { ...SEED, numRuns: 400 },
  );
  assert.ok(undone > 100, `${undone} logs held an undo that took something back`);
});

test('a second pass may be made as often as wanted', () => {
  const log = [...said('u'), begun('t1'), ...said('u a'), undoTurn('t1')];
  const undone = new UndoneTurns();
  for (const record of log) undone.add(record);
  assert.ok(undone.isAny, 'the undo was not seen');
  for (const _pass of [1, 2]) assert.deepEqual(log.filter(undone.standing()), said('u'));
});
