import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { HistoryFold } from '../../history/project.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import { resultCallId } from '../../protocol/item.ts';
import type { Receipt } from '../../protocol/receipt.ts';
import type { CompactedRecord, LogRecord } from '../../protocol/record.ts';
import * as lines from '../../../test/support/codex-lines.ts';
import { codexReader } from './read.ts';
import { CODEX_SUMMARY_PREFIX } from '../../history/filter.ts';
import type { CodexTail } from './tail.ts';
import { appendCodexCompaction, appendCodexUndo, writeCodexSession } from './write.ts';

const AT = '2026-01-02T03:04:05.000Z';
const COPY_ID = '01a00000-0000-7000-8000-0000000000c0';
const WINDOW = '01a00000-0000-7000-8000-0000000000a1';
const NEXT_WINDOW = '01a00000-0000-7000-8000-0000000000a2';

interface Read {
  readonly records: readonly LogRecord[];
  readonly problems: readonly string[];
  readonly tail: CodexTail;
  readonly history: readonly Item[];
}

function read(values: readonly JsonObject[]): Read {
  const records: LogRecord[] = [];
  const problems: string[] = [];
  const fold = new HistoryFold<Item>({
    make: (item) => item,
    resultCallId,
    clear: (item) => item,
  });
  const reader = codexReader.read(
    (record) => {
      records.push(record);
      fold.add(record);
    },
    ({ message }) => problems.push(message),
  );
  for (const [index, value] of values.entries()) reader.accept(value, { line: index + 1, part: 0 });
  reader.end();
  problems.push(...fold.problems.map(({ message }) => message));
  return { records, problems, tail: reader.tail(), history: fold.entries.map(({ value }) => value) };
}

function parse(written: readonly string[]): JsonObject[] {
  return written.map((line) => {
    assert.doesNotMatch(line, /[\n\r]/);
    return JSON.parse(line) as JsonObject;
  });
}

function summary(text: string): Item {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
    origin: { author: 'harness' },
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
  };
}

function words(text: string): Item {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}

const RECEIPT = {
  version: 1,
  id: 'receipt-1',
  at: AT,
  trigger: 'manual',
  reason: 'user_requested',
  phase: 'standalone_turn',
  preTokens: 10_100,
  postTokens: 321,
} as unknown as Receipt;

function compaction(replacement: readonly Item[], more: Partial<CompactedRecord> = {}): CompactedRecord {
  return { type: 'compacted', id: WINDOW, postTokens: 321, replacement, ...more };
}

const REPLACEMENT: readonly Item[] = [
  { type: 'compact_boundary', uuid: 'b', timestamp: AT, trigger: 'manual' },
  summary('What happened so far.'),
  { type: 'attachment', kind: 'file', path: 'src/ledger.ts', text: 'export const ledger = [];' },
  {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'packet' }],
    origin: { author: 'synthetic', step: 'packet', sequenceId: 's1' },
  },
  words('Please balance ledger 2.'),
  { type: 'ghost_snapshot', ghost_commit: { id: 'abc' } },
  { type: 'unknown', raw: { type: 'message', role: 'of a shape that Codex would refuse' } },
  { type: 'unknown', raw: { type: 'tool_search_call', call_id: 's', arguments: {} } },
];

for (const generation of lines.GENERATIONS.filter((name) => name !== 'bare')) {
  test(`a compaction appended to ${generation} is the history from then on`, () => {
    const values = lines.session(generation);
    const before = read(values);
    const written = appendCodexCompaction({
      record: compaction(REPLACEMENT, { receipt: RECEIPT }),
      tail: before.tail,
      at: AT,
      newSessionId: COPY_ID,
    });
    assert.deepEqual(written.leftOut, []);
    const { history, records, problems, tail } = read([
      ...parse(written.head),
      ...values,
      ...parse(written.tail),
    ]);
    assert.deepEqual(problems, []);
    assert.deepEqual(history, REPLACEMENT);
    const record = records.find((candidate) => candidate.type === 'compacted');
    assert.ok(record?.type === 'compacted');
    assert.deepEqual(record.receipt, RECEIPT);
    assert.deepEqual(
      [record.id, record.trigger, record.phase, record.preTokens, record.postTokens, record.summary],
      [WINDOW, 'manual', 'standalone_turn', 10_100, 321, 'What happened so far.'],
    );
    const meta = records.find((candidate) => candidate.type === 'session_meta');
    assert.equal(meta?.type === 'session_meta' && meta.sessionId, COPY_ID);
    assert.equal(tail.meta?.['forked_from_id'], lines.SESSION_ID);
    assert.equal(tail.windowId, WINDOW);
    assert.equal(tail.windowNumber, 1);
    const ordinals = parse(written.tail).map(({ ordinal }) => ordinal);
    const next = values.length;
    assert.deepEqual(ordinals, generation === '0.169-paginated' ? [next, next + 1] : [undefined, undefined]);
  });

  test(`an undo appended to ${generation} brings back the history and what came since`, () => {
    const values = lines.session(generation);
    const before = read(values);
    const written = appendCodexCompaction({ record: compaction(REPLACEMENT), tail: before.tail, at: AT });
    assert.deepEqual(written.head, []);
    const since = lines.message('user', 'And the next ledger?');
    const compacted = [...values, ...parse(written.tail), { type: 'response_item', payload: since }];
    const { tail, history } = read(compacted);
    assert.equal(history.length, REPLACEMENT.length + 1);
    const restored = [...before.history, ...history.slice(-1)];
    const undo = appendCodexUndo({
      compactionId: WINDOW,
      restored,
      tail,
      at: AT,
      windowId: NEXT_WINDOW,
    });
    const undone = read([...compacted, ...parse(undo.tail)]);
    assert.deepEqual(undone.problems, []);
    assert.deepEqual(undone.history, restored);
    assert.equal(undone.records.filter(({ type }) => type === 'compacted').length, 1);
    // For Codex, which knows no undo, the line itself has to hold the history.
    const [line] = parse(undo.tail);
    const payload = line?.['payload'] as JsonObject;
    assert.equal((payload['replacement_history'] as readonly unknown[]).length, restored.length);
    assert.equal(payload['previous_window_id'], WINDOW);
  });
}

test('nothing of Baton’s is in what Codex reads as an item', () => {
  const { tail } = read(lines.session('0.169'));
  const [line] = parse(appendCodexCompaction({ record: compaction(REPLACEMENT), tail, at: AT }).tail);
  const payload = line?.['payload'] as JsonObject;
  assert.deepEqual(payload['replacement_history'], [
    lines.message('user', 'What happened so far.'),
    lines.message('user', 'export const ledger = [];'),
    lines.message('user', 'packet'),
    lines.message('user', 'Please balance ledger 2.'),
    { type: 'tool_search_call', call_id: 's', arguments: {} },
  ]);
  assert.equal(payload['message'], 'What happened so far.');
  assert.equal('replacement_history_metadata' in payload, false);
});

test('the usage after the compaction is complete, or Codex would compact again at once', () => {
  const { tail } = read(lines.session('0.140'));
  const [, usage] = parse(appendCodexCompaction({ record: compaction(REPLACEMENT), tail, at: AT }).tail);
  const spent = tail.totalTokenUsage?.['total_tokens'];
  const zero = { input_tokens: 0, cached_input_tokens: 0, output_tokens: 0, reasoning_output_tokens: 0 };
  assert.deepEqual(usage?.['payload'], {
    type: 'token_count',
    info: {
      total_token_usage: { ...zero, input_tokens: 10_000, output_tokens: 100, total_tokens: spent },
      // Of the whole context, as the record has it.
      last_token_usage: { ...zero, total_tokens: 321 },
      model_context_window: 258_400,
    },
  });
});

test('unwrapped lines and references to lines are refused', () => {
  const { tail } = read(lines.session('bare'));
  assert.throws(() => appendCodexCompaction({ record: compaction([]), tail, at: AT }), RangeError);
  const wrapped = read(lines.session('0.34')).tail;
  const record = compaction([], { keptRefs: ['x'] });
  assert.throws(() => appendCodexCompaction({ record, tail: wrapped, at: AT }), RangeError);
});

test('a pruned file holds the present context and keeps the head of its source', () => {
  const source = read(lines.session('0.169-paginated'));
  const { lines: written, leftOut } = writeCodexSession({
    meta: {},
    settings: {},
    compaction: compaction(REPLACEMENT),
    items: [words('Go on.')],
    source: 'codex',
    tail: source.tail,
    at: AT,
    newSessionId: COPY_ID,
  });
  assert.deepEqual(leftOut, []);
  const values = parse(written);
  const { history, problems, records, tail } = read(values);
  assert.deepEqual(problems, []);
  assert.deepEqual(history, [...REPLACEMENT, words('Go on.')]);
  assert.ok(
    values.every((value) => !('ordinal' in value)),
    'a file that is not numbered has no ordinals',
  );
  assert.equal(tail.meta?.['history_mode'], undefined);
  assert.equal(tail.meta?.['model_provider'], 'openai');
  const [meta] = records;
  assert.equal(meta?.type === 'session_meta' && meta.instructions, 'Be useful.');
});

test('what another product recorded becomes what Codex knows, or is left out', () => {
  const items: Item[] = [
    { type: 'message', role: 'system', content: [{ type: 'output_text', text: 'rules' }] },
    { type: 'reasoning', id: 'r', summary: [], text: 'hm', signature: 's' },
    { type: 'message', id: 'a', role: 'assistant', content: [{ type: 'input_text', text: 'reading' }] },
    { type: 'function_call', id: 'f', name: 'Read', arguments: '{}', call_id: 'toolu_1' },
    {
      type: 'function_call_output',
      call_id: 'toolu_1',
      success: false,
      output: [
        { type: 'input_image', image_url: 'data:,' },
        { type: 'other', value: { type: 'document', title: 'x' } },
        { type: 'output_text', text: 'text' },
      ],
    },
    { type: 'message', role: 'assistant', content: [], isApiErrorMessage: true },
    { type: 'progress', text: 'running' },
    { type: 'unknown', raw: { type: 'holograph' } },
  ];
  const { lines: written, leftOut } = writeCodexSession({
    meta: { cwd: '/home/dev/ledger', gitBranch: 'main' },
    settings: {},
    items,
    source: 'claude-code',
    at: AT,
    newSessionId: COPY_ID,
  });
  const payloads = parse(written)
    .filter(({ type }) => type === 'response_item')
    .map(({ payload }) => payload);
  assert.deepEqual(payloads, [
    lines.message('developer', 'rules'),
    lines.message('assistant', 'reading'),
    { type: 'function_call', name: 'Read', arguments: '{}', call_id: 'toolu_1' },
    {
      type: 'function_call_output',
      call_id: 'toolu_1',
      output: [
        { type: 'input_image', image_url: 'data:,' },
        { type: 'input_text', text: '{"type":"document","title":"x"}' },
        { type: 'input_text', text: 'text' },
      ],
    },
  ]);
  assert.deepEqual(
    leftOut.map(({ type }) => type),
    ['reasoning', 'message', 'progress', 'unknown'],
  );
  const back = read(parse(written)).history;
  const result = back.find(({ type }) => type === 'function_call_output');
  assert.equal(result?.type === 'function_call_output' && result.success, false, 'kept for Baton');
});

const text = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(
    '<environment_context>x',
    '# AGENTS.md instructions',
    `${CODEX_SUMMARY_PREFIX}\nx`,
    'Exit code: 3\nOutput:\n',
    '\ud800',
    'line\nline',
    'summary',
  ),
);
const origin = fc.oneof(
  fc.record({ author: fc.constantFrom('user', 'agent', 'harness', 'synthetic') }),
  fc.record({ author: fc.constant('synthetic'), step: fc.constant('packet'), sequenceId: text }),
);
const callId = fc.constantFrom('c1', 'c2', 'c3');
const extra = fc.oneof(fc.constant({}), fc.constant({ id: 'msg_1', novelty: { a: [1] } }));

function partsOf(type: 'input_text' | 'output_text') {
  return fc.array(
    fc.oneof(
      text.map((value) => ({ type, text: value })),
      fc.constant({ type: 'input_image', image_url: 'data:,' }),
      fc.constant({ type: 'other', value: { type: 'holograph', at: 1 } }),
    ),
    { maxLength: 3 },
  );
}

/** Items that Codex, or Baton beside it, has a place for. */
const item = fc
  .tuple(
    fc.oneof(
      fc.record(
        {
          type: fc.constant('message'),
          role: fc.constantFrom('user', 'developer'),
          content: partsOf('input_text'),
          origin,
          isCompactSummary: fc.boolean(),
          isVisibleInTranscriptOnly: fc.boolean(),
        },
        { requiredKeys: ['type', 'role', 'content'] },
      ),
      fc.record(
        {
          type: fc.constant('message'),
          role: fc.constant('assistant'),
          content: partsOf('output_text'),
          model: text,
        },
        { requiredKeys: ['type', 'role', 'content'] },
      ),
      fc.record({
        type: fc.constant('reasoning'),
        summary: fc.constant([]),
        encrypted_content: fc.constant('gAAA'),
      }),
      fc.record({ type: fc.constant('function_call'), name: text, arguments: text, call_id: callId }),
      fc.record({ type: fc.constant('custom_tool_call'), name: text, input: text, call_id: callId }),
      fc.record(
        {
          type: fc.constantFrom('function_call_output', 'custom_tool_call_output'),
          call_id: callId,
          output: fc.oneof(text, partsOf('input_text')),
          success: fc.boolean(),
          exit_code: fc.integer(),
        },
        { requiredKeys: ['type', 'call_id', 'output'] },
      ),
      fc.constant({ type: 'web_search_call', action: { type: 'search' } }),
      fc.constant({ type: 'compaction', encrypted_content: 'gAAA' }),
      fc.constant({ type: 'ghost_snapshot', ghost_commit: { id: 'abc' } }),
      fc.constant({ type: 'compact_boundary', uuid: 'b', timestamp: AT, trigger: 'auto' }),
    ),
    extra,
  )
  .map(([fields, more]) => ({ ...fields, ...more }) as unknown as Item);
const attachment = fc
  .record(
    { type: fc.constant('attachment'), kind: fc.constantFrom('file', 'todo'), text, path: text, origin },
    { requiredKeys: ['type', 'kind', 'text'] },
  )
  .map((fields) => fields as unknown as Item);
const unknown = fc.constantFrom<Item>(
  { type: 'unknown', raw: { type: 'tool_search_call', call_id: 's', arguments: {} } },
  { type: 'unknown', raw: { type: 'message', role: 9 } },
);
const anyItem = fc.oneof({ weight: 8, arbitrary: item }, { weight: 1, arbitrary: attachment }, unknown);

/** Lone surrogates and the like are as JSON writes them. */
function throughJson(items: readonly Item[]): Item[] {
  return JSON.parse(JSON.stringify(items)) as Item[];
}

test('what is written is read as the same items', () => {
  const { tail } = read(lines.session('0.169'));
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 8 }), fc.array(anyItem, { maxLength: 8 }), (first, then) => {
      const appended = appendCodexCompaction({ record: compaction(first), tail, at: AT });
      assert.deepEqual(read(parse(appended.tail)).history, throughJson(first));
      const { lines: written, leftOut } = writeCodexSession({
        meta: {},
        settings: {},
        compaction: compaction(first),
        items: then,
        source: 'codex',
        at: AT,
        newSessionId: COPY_ID,
      });
      assert.deepEqual(leftOut, []);
      assert.deepEqual(read(parse(written)).history, throughJson([...first, ...then]));
    }),
    { seed: 20250901, numRuns: 400 },
  );
});
