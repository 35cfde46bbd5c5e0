// What a resumed thread is shown with: bounded, without what was taken back, whatever stands in its file.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { anyCompacted, anyPlainRecord } from '../../test/support/any-record.ts';
import { agentSays, userSays } from '../../test/support/records.ts';
import { checkEvent } from '../protocol/wire/parse.ts';
import type { LogRecord } from '../protocol/record.ts';
import { LONGEST_OUTPUT, MOST_ENTRIES, MOST_TRANSCRIPT_CHARACTERS } from '../protocol/wire/shown.ts';
import { callNote } from './calls.ts';
import { TranscriptFold, TranscriptTail } from './transcript.ts';
import type { Transcript } from './transcript.ts';

function transcriptOf(records: readonly LogRecord[]): Transcript {
  const fold = new TranscriptFold();
  const tail = new TranscriptTail();
  for (const record of records) tail.add(record, fold.add(record));
  return tail.transcript();
}

/** A turn of three entries and more: its beginning, what was said in it, its end. */
function turn(number: number, ...said: readonly string[]): readonly LogRecord[] {
  const turnId = `turn-${number}`;
  const origin = { type: 'user' } as const;
  return [
    { type: 'turn_started', turnId, kind: 'regular', origin },
    ...said.map((text) => ({ type: 'item', item: agentSays(text) }) as const),
    { type: 'turn_complete', turnId, kind: 'regular', origin, stopReason: 'end_turn' },
  ];
}

test('a long thread is shown by its newest entries, and the others are counted', () => {
  const records = Array.from({ length: 1_000 }, (_, index) => turn(index + 1, 'Lit.')).flat();
  const { entries, leftOut } = transcriptOf(records);
  assert.deepEqual([entries.length, leftOut], [MOST_ENTRIES, 3_000 - MOST_ENTRIES]);
  const last = entries.at(-1);
  assert.ok(last?.type === 'turn_complete' && last.turn_id === 'turn-1000', 'the newest');
});

test('a large thread is shown by as many characters as are promised', () => {
  const records = Array.from({ length: 300 }, (_, index) => turn(index + 1, 'x'.repeat(30_000))).flat();
  const { entries, leftOut } = transcriptOf(records);
  const characters = entries.reduce((sum, entry) => sum + JSON.stringify(entry).length, 0);
  assert.ok(characters <= MOST_TRANSCRIPT_CHARACTERS, `${characters}`);
  assert.ok(characters > MOST_TRANSCRIPT_CHARACTERS - 40_000, `${characters}`);
  assert.equal(entries.length + leftOut, 900);
});

test('a turn that was taken back is not shown, nor what it said', () => {
  const kept = turn(1, 'Lit.');
  const records: readonly LogRecord[] = [
    ...kept,
    ...turn(2, 'Broken.'),
    { type: 'undo_turn', turnId: 'turn-2' },
    ...turn(3, 'Mended.'),
  ];
  assert.deepEqual(transcriptOf(records), transcriptOf([...kept, ...turn(3, 'Mended.')]));
});

test('messages are named the same however often they are read, and answers name them', () => {
  const [started, , ended] = turn(1, 'Lit.');
  assert.ok(started && ended, 'records');
  const records: readonly LogRecord[] = [
    started,
    { type: 'item', item: { ...userSays('Light it.'), origin: { author: 'user' }, id: 'm-1' } },
    { type: 'item', item: agentSays('One.') },
    { type: 'item', item: { ...userSays('Mind the fog.'), origin: { author: 'user' }, id: 'm-2' } },
    { type: 'item', item: agentSays('Two.') },
    ended,
  ];
  const { entries } = transcriptOf(records);
  const ids = entries.flatMap((entry) => ('message' in entry ? [entry.id] : []));
  assert.deepEqual(ids, ['m-1', 'turn-1-message-1', 'm-2', 'turn-1-message-2']);
  const end = entries.at(-1);
  assert.ok(end?.type === 'turn_complete', 'ended');
  assert.deepEqual([end.answers, end.stop_reason], [['m-1', 'm-2'], 'end_turn']);
});

test('a large output is cut, and says so', () => {
  const item = {
    type: 'function_call_output',
    call_id: 'c',
    output: 'x'.repeat(LONGEST_OUTPUT + 1),
  } as const;
  const [entry] = transcriptOf([{ type: 'item', item }]).entries;
  assert.ok(entry?.type === 'tool_call_end', 'the end of a call');
  assert.deepEqual([entry.output.length, entry.is_output_cut], [LONGEST_OUTPUT, true]);
});

test('notes of calls that cannot be read change nothing', () => {
  const item = { type: 'function_call_output', call_id: 'c', output: 'ok', success: true } as const;
  const damaged = { path: 'a', action: 'melt' };
  const note = {
    type: 'note',
    kind: 'tool_call',
    value: { call_id: 'c', status: 'odd', changes: [damaged, 1] },
  } as const;
  const [entry] = transcriptOf([note, { type: 'item', item }]).entries;
  assert.ok(entry?.type === 'tool_call_end', 'the end of a call');
  assert.deepEqual([entry.status, entry.changes], ['completed', []]);
  const [refused] = transcriptOf([callNote('c', { status: 'refused' }), { type: 'item', item }]).entries;
  assert.ok(refused?.type === 'tool_call_end' && refused.status === 'refused', 'a note that can be read');
});

test('whatever a file holds, what is shown of it is what the protocol says', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(anyPlainRecord, anyCompacted), { maxLength: 30 }), (records) => {
      for (const entry of transcriptOf(records).entries) {
        const wire: unknown = JSON.parse(JSON.stringify(entry));
        assert.deepEqual(checkEvent(wire), wire);
      }
    }),
    { seed: 5, numRuns: 300 },
  );
});
