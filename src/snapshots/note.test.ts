import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogRecord } from '../protocol/record.ts';
import { settledNote, SnapshotFold, snapshotNote, undoNote } from './note.ts';
import type { TurnSnapshot } from './note.ts';
import { parseSnapshotMessage, snapshotMessage } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';

function snapshot(turn: number, name: string): TurnSnapshot {
  return { turnId: `turn-${turn}`, commit: `${name}${turn}`, ref: `ref-${name}${turn}` };
}

function taken(turn: number): LogRecord {
  return snapshotNote(snapshot(turn, 'before'));
}

function settled(turn: number): LogRecord {
  return settledNote(snapshot(turn, 'after'));
}

function begun(turn: number): LogRecord {
  return undoNote(snapshot(turn, 'found'));
}

function undone(turn: number): LogRecord {
  return { type: 'undo_turn', turnId: `turn-${turn}` };
}

function started(turn: number): LogRecord {
  return { type: 'turn_started', turnId: `turn-${turn}` };
}

function foldOf(records: readonly LogRecord[]): SnapshotFold {
  const fold = new SnapshotFold();
  for (const record of records) fold.add(record);
  return fold;
}

test('an undo goes by what was saved in the turn and since, until the turn is taken back', () => {
  const one = [started(1), taken(1), settled(1)];
  const two = [...one, started(2), taken(2), settled(2)];
  const old: LogRecord = {
    type: 'note',
    kind: 'snapshot_restored',
    value: { turn_id: 'turn-2', commit: 'u', ref: 'u' },
  };
  const rows: readonly (readonly [readonly LogRecord[], asked: number, states: string])[] = [
    [[], 1, ''],
    [two, 2, 'before2 after2'],
    [two, 1, 'before1 after1 before2 after2'],
    // The turn itself changed nothing; what the watcher began behind it did.
    [[started(1), started(2), taken(2)], 1, 'before2 ?'],
    [[...one, started(2)], 2, ''],
    // An undo that has begun is not done.
    [[...two, begun(2)], 2, 'before2 after2'],
    [[...two, old], 2, 'before2 after2'],
    [[...two, begun(2), undone(2)], 2, ''],
    [[...two, undone(2), started(3), taken(3)], 1, 'before1 after1 before3 ?'],
    [[...two, undone(7)], 2, 'before2 after2'],
    [[started(1), settled(1)], 1, ''],
    // The end of a turn that saved nothing is not that of the turn before it.
    [[started(1), taken(1), started(2), settled(2)], 1, 'before1 ?'],
    [[started(1), { type: 'note', kind: 'snapshot', value: { turn_id: 'turn-1' } }], 1, ''],
    [
      [
        started(1),
        { type: 'note', kind: 'watcher_state', value: { turn_id: 'turn-1', commit: 'x', ref: 'x' } },
      ],
      1,
      '',
    ],
  ];
  for (const [records, asked, expected] of rows) {
    const states = foldOf(records).statesSince(`turn-${asked}`);
    assert.equal(
      states.map(({ before, after }) => `${before.commit} ${after?.commit ?? '?'}`).join(' '),
      expected,
    );
  }
});

function names(snapshots: readonly Snapshot[]): string {
  return snapshots.map(({ commit }) => commit).join(' ');
}

test('what an undo found is known until it is done; what is named belongs to the thread for good', () => {
  const records = [started(1), taken(1), settled(1), begun(1)];
  assert.equal(names(foldOf(records).foundBy('turn-1')), 'found1');
  const done = foldOf([...records, undone(1)]);
  assert.equal(names(done.foundBy('turn-1')), '');
  assert.equal(names(done.named), 'before1 after1 found1');
});

test('what a snapshot says of itself is read back, whatever bytes its paths hold', () => {
  const facts = {
    prefix: 'app\u00ff/',
    head: undefined,
    operation: 'merge',
    leftOut: [{ path: 'a\nb\u0080', why: 'too large (12 MB)' }],
    nested: ['inner/'],
  } as const;
  assert.deepEqual(parseSnapshotMessage(snapshotMessage(facts)), facts);
});

test('no other message is taken for one', () => {
  const [subject] = snapshotMessage({
    prefix: '',
    head: undefined,
    operation: undefined,
    leftOut: [],
    nested: [],
  }).split('\n');
  for (const message of [
    '',
    'Fix the build\n',
    `${subject}\n`,
    `${subject}\n\n{}\n`,
    `${subject}\n\n{"version":2}\n`,
    `${subject}\n\nnull\n`,
  ]) {
    assert.equal(parseSnapshotMessage(message), undefined);
  }
});
