import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { codexReader } from '../formats/codex/read.ts';
import { TailFollower } from '../formats/codex/tail.ts';
import type { DamageNote } from '../formats/reader.ts';
import { WHOLE_ITEMS } from '../history/clear.ts';
import { HistoryFold } from '../history/project.ts';
import type { JsonObject } from '../protocol/item.ts';
import type { LogRecord } from '../protocol/record.ts';
import { anyCompacted, anyPlainRecord } from '../../test/support/any-record.ts';
import { agentSays, toolCall, userSays } from '../../test/support/records.ts';
import { headLine, isRewriting, recordLines } from './lines.ts';

const THREAD = '01a00000-0000-7000-8000-00000000000a';
const WINDOW = '01a00000-0000-7000-8000-0000000000f1';
const AT = '2026-01-02T03:04:05.000Z';
const HEAD = headLine({ type: 'session_meta', sessionId: THREAD, at: AT });

type Stamped = LogRecord & { readonly at: string };

function stamped(record: LogRecord): Stamped {
  return { ...record, at: AT };
}

/** Lines as they come back from a file. */
function written(records: readonly Stamped[]): JsonObject[] {
  const fold = new HistoryFold(WHOLE_ITEMS);
  const tail = new TailFollower();
  return [HEAD, ...records.flatMap((record) => lines(record))].map(
    (line) => JSON.parse(JSON.stringify(line)) as JsonObject,
  );

  function lines(record: Stamped) {
    const made = recordLines(record, {
      tail: tail.state(),
      historyAfter: (rewriting) => {
        fold.add(rewriting);
        return fold.entries.map(({ value }) => value);
      },
      windowId: () => WINDOW,
    });
    if (!isRewriting(record)) fold.add(record);
    for (const { type, payload } of made) if (type === 'compacted') tail.compacted(payload);
    return made;
  }
}

function read(values: readonly JsonObject[]): { records: LogRecord[]; notes: DamageNote[] } {
  const records: LogRecord[] = [];
  const notes: DamageNote[] = [];
  const reader = codexReader.read(
    (record) => records.push(record),
    (note) => notes.push(note),
  );
  for (const [index, value] of values.entries()) reader.accept(value, { line: index + 1, part: 0 });
  reader.end();
  return { records, notes };
}

/** What was read, without the head, the lines that repeat something for Codex, and line numbers. */
function readBack(values: readonly JsonObject[]): LogRecord[] {
  return read(values)
    .records.slice(1)
    .filter((record) => record.type !== 'opaque' || !record.kind.endsWith('/echo'))
    .map(({ line: _, ...record }) => record as LogRecord);
}

test('every record is read back as it was written', () => {
  const any = fc.array(fc.oneof({ weight: 5, arbitrary: anyPlainRecord }, anyCompacted), { maxLength: 8 });
  fc.assert(
    fc.property(any, (drawn) => {
      // JSON has no undefined and no negative zero.
      const records = (JSON.parse(JSON.stringify(drawn)) as LogRecord[]).map(stamped);
      // The reader says whose log it is.
      const asRead = records.map((record) =>
        record.type === 'session_meta' ? { ...record, producer: 'baton' } : record,
      );
      assert.deepEqual(readBack(written(records)), asRead);
    }),
    { numRuns: 300, seed: 20260102 },
  );
});

test('what was recorded before a compaction, a clearing and undos is the history again after them', () => {
  const records: readonly Stamped[] = (
    [
      ...[userSays('Mend the gate.'), ...toolCall('c1', 'shell', { cmd: 'ls' }, 'hinge')].map(item),
      { type: 'compacted', id: 'w1', replacement: [userSays('Mend the gate.')], receipt: undefined },
      ...toolCall('c2', 'shell', { cmd: 'cat' }, 'a long text').map(item),
      { type: 'micro_compacted', id: 'm1', callIds: ['c2'], tokensSaved: 7 },
      item(agentSays('Mended.')),
      { type: 'undo_compaction', compactionId: 'w1' },
      item(userSays('Thanks.')),
      { type: 'turn_started', turnId: 't1' },
      item(userSays('Take the gate off.')),
      item(agentSays('Off.')),
      { type: 'undo_turn', turnId: 't1' },
    ] as LogRecord[]
  ).map((record) => stamped(JSON.parse(JSON.stringify(record)) as LogRecord));
  const values = written(records);
  assert.deepEqual(readBack(values), records);

  const own = historyOf(read(values).records);
  // Codex knows histories that take the place of others, and nothing else.
  const asCodex = values.map((value) => {
    const { baton: _, ...payload } = value['payload'] as JsonObject;
    const { baton: __, ...line } = value;
    return { ...line, payload };
  });
  const foreign = read(asCodex);
  assert.deepEqual(foreign.notes, []);
  assert.deepEqual(historyOf(foreign.records), own);
  assert.equal(own.length, 7);
});

function item(each: ReturnType<typeof userSays>): LogRecord {
  return { type: 'item', item: each };
}

function historyOf(records: readonly LogRecord[]) {
  const history = new HistoryFold(WHOLE_ITEMS);
  for (const record of records) history.add(record);
  assert.deepEqual(history.problems, []);
  return history.entries.map(({ value }) => value);
}

test('a damaged record is read as far as Codex would read it', () => {
  const [, turn, note] = written([
    stamped({ type: 'turn_started', turnId: 't1', origin: { type: 'watcher', number: 3 } }),
    stamped({ type: 'note', kind: 'watcher_state', value: { stage: 'idle' } }),
  ]);
  const odd = [
    { ...turn, baton: { record: { type: 'turn_started', turnId: 7 } } },
    { ...turn, baton: 'gone' },
    { ...note, payload: { kind: 9 } },
  ] as JsonObject[];
  assert.deepEqual(readBack([HEAD, ...odd]), [
    { type: 'turn_started', turnId: 't1', at: AT },
    { type: 'turn_started', turnId: 't1', at: AT },
    { type: 'opaque', kind: 'baton_note', at: AT },
  ]);
});

test('what no rollout can hold is refused', () => {
  const refused: readonly LogRecord[] = [
    { type: 'item', item: userSays('x'), ref: 'line-1' },
    { type: 'compacted', id: 'w', replacement: [], keptRefs: ['line-1'] },
    { type: 'compacted', id: 'w', replacement: [], replacementRefs: [] },
    { type: 'micro_compacted', id: 'm', callIds: [], newRefs: [['a', 'b']] },
    { type: 'undo_compaction', compactionId: 'w', newRefs: [['a', 'b']] },
    { type: 'event', event: { type: 'token_count' } },
    { type: 'event', event: { type: 'task_complete' } },
  ];
  for (const record of refused) {
    assert.throws(() => written([stamped(record)]), RangeError, JSON.stringify(record));
  }
});

test('viewers see turns, usage and the window as Codex writes them', () => {
  const tail = new TailFollower();
  tail.modelContextWindow(258_400);
  tail.tokenInfo({ total_token_usage: { total_tokens: 1000, output_tokens: 10 } });
  const context = { tail: tail.state(), historyAfter: () => [], windowId: () => WINDOW };
  const payloads = (
    [
      { type: 'turn_started', turnId: 't1', origin: { type: 'user' } },
      {
        type: 'usage',
        usage: { source: 'reported', covers: 'response', total: 520, output: 20, cachedInput: 300 },
      },
      { type: 'turn_complete', turnId: 't1', lastAgentMessage: 'Done.' },
      { type: 'turn_aborted', turnId: 't2' },
    ] as const satisfies readonly LogRecord[]
  ).map((record) => recordLines({ ...record, at: AT }, context)[0]?.payload);
  assert.deepEqual(payloads, [
    { type: 'task_started', turn_id: 't1', model_context_window: 258_400 },
    {
      type: 'token_count',
      info: {
        total_token_usage: {
          input_tokens: 500,
          cached_input_tokens: 300,
          output_tokens: 30,
          reasoning_output_tokens: 0,
          total_tokens: 1520,
        },
        last_token_usage: {
          input_tokens: 500,
          cached_input_tokens: 300,
          output_tokens: 20,
          reasoning_output_tokens: 0,
          total_tokens: 520,
        },
        model_context_window: 258_400,
      },
    },
    { type: 'task_complete', turn_id: 't1', last_agent_message: 'Done.' },
    { type: 'turn_aborted', turn_id: 't2', reason: 'interrupted' },
  ]);
});
