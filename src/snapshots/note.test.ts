import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogRecord } from '../protocol/record.ts';
import { restoredNote, SnapshotFold, snapshotNote } from './note.ts';
import { parseSnapshotMessage, snapshotMessage } from './snapshot.ts';

function taken(turn: number): LogRecord {
  return snapshotNote({ turnId: `turn-${turn}`, commit: `c${turn}`, ref: `r${turn}` });
}

function restored(turn: number): LogRecord {
  return restoredNote(`turn-${turn}`, { commit: 'u', ref: 'u' });
}

function started(turn: number): LogRecord {
  return { type: 'turn_started', turnId: `turn-${turn}` };
}

test('an undo returns to the first snapshot since the turn began that was not returned to yet', () => {
  const two = [started(1), taken(1), started(2), taken(2)];
  const rows: readonly (readonly [readonly LogRecord[], asked: number, string | undefined])[] = [
    [[], 1, undefined],
    [two, 2, 'turn-2'],
    [two, 1, 'turn-1'],
    // The turn itself changed nothing; what the watcher began behind it did.
    [[started(1), started(2), taken(2)], 1, 'turn-2'],
    [[started(1), taken(1), started(2)], 2, undefined],
    [[...two, restored(2)], 2, undefined],
    [[...two, restored(2)], 1, 'turn-1'],
    [[...two, restored(1)], 1, undefined],
    [[...two, { type: 'undo_turn', turnId: 'turn-2' }, started(3), taken(3)], 1, 'turn-1'],
    [[...two, restored(7)], 1, 'turn-1'],
    [[started(1), { type: 'note', kind: 'snapshot', value: { turn_id: 'turn-1' } }], 1, undefined],
    [
      [
        started(1),
        { type: 'note', kind: 'watcher_state', value: { turn_id: 'turn-1', commit: 'x', ref: 'x' } },
      ],
      1,
      undefined,
    ],
  ];
  for (const [records, asked, expected] of rows) {
    const fold = new SnapshotFold();
    for (const record of records) fold.add(record);
    assert.equal(fold.firstSince(`turn-${asked}`)?.turnId, expected);
  }
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
