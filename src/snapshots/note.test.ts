import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogRecord } from '../protocol/record.ts';
import { newestSnapshot, restoredNote, snapshotNote } from './note.ts';
import { parseSnapshotMessage, snapshotMessage } from './snapshot.ts';

function taken(turn: number): LogRecord {
  return snapshotNote({ turnId: `turn-${turn}`, commit: `c${turn}`, ref: `r${turn}` });
}

function restored(turn: number): LogRecord {
  return restoredNote(`turn-${turn}`, { commit: 'u', ref: 'u' });
}

test('the next undo goes one turn further back than the last one', () => {
  const rows: readonly (readonly [readonly LogRecord[], string | undefined])[] = [
    [[], undefined],
    [[taken(1), taken(2)], 'turn-2'],
    [[taken(1), taken(2), restored(2)], 'turn-1'],
    [[taken(1), taken(2), restored(2), restored(1)], undefined],
    [[taken(1), taken(2), taken(3), restored(2)], 'turn-1'],
    [[taken(1), restored(1), taken(2)], 'turn-2'],
    [[taken(1), restored(7)], 'turn-1'],
    [[taken(1), { type: 'note', kind: 'snapshot', value: { turn_id: 'turn-2' } }], 'turn-1'],
    [
      [taken(1), { type: 'note', kind: 'watcher_state', value: { turn_id: 'x', commit: 'x', ref: 'x' } }],
      'turn-1',
    ],
  ];
  for (const [records, expected] of rows) assert.equal(newestSnapshot(records)?.turnId, expected);
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
