import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import type { Item, JsonObject } from '../../protocol/item.ts';
import { authorOf, textOfParts } from '../../protocol/item.ts';
import type { CompactedRecord, LogRecord } from '../../protocol/record.ts';
import type { DamageNote } from '../reader.ts';
import * as lines from '../../../test/support/codex-lines.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { codexReader } from './read.ts';
import type { CodexTail } from './tail.ts';
import { CODEX_SUMMARY_PREFIX } from '../../history/filter.ts';

interface Read {
  readonly records: readonly LogRecord[];
  readonly notes: readonly DamageNote[];
  readonly tail: CodexTail;
}

function read(values: readonly JsonObject[]): Read {
  const records: LogRecord[] = [];
  const notes: DamageNote[] = [];
  const reader = codexReader.read(
    (record) => records.push(record),
    (note) => notes.push(note),
  );
  for (const [index, value] of values.entries()) reader.accept(value, { line: index + 1, part: 0 });
  reader.end();
  return { records, notes, tail: reader.tail() };
}

function ofType<Type extends LogRecord['type']>(
  records: readonly LogRecord[],
  type: Type,
): Extract<LogRecord, { type: Type }>[] {
  return records.filter((record) => record.type === type) as Extract<LogRecord, { type: Type }>[];
}

function itemsOf(records: readonly LogRecord[]): Item[] {
  return ofType(records, 'item').map(({ item }) => item);
}

/** Items as one short line each, for tables. */
function sketch(items: readonly Item[]): string[] {
  return items.map((item) => {
    if (item.type === 'message') {
      const flag = item.isCompactSummary === true ? ' summary' : '';
      return `${item.role}/${authorOf(item)}${flag} ${textOfParts(item.content).slice(0, 24)}`;
    }
    return item.type === 'unknown' ? `unknown ${item.raw.type}` : item.type;
  });
}

function compactedOf(values: readonly JsonObject[]): CompactedRecord {
  const [record] = ofType(read(values).records, 'compacted');
  assert.ok(record !== undefined, 'no compaction was read');
  return record;
}

for (const generation of lines.GENERATIONS) {
  test(`reads a session of ${generation}`, () => {
    const { records, notes, tail } = read(lines.session(generation));
    assert.deepEqual(notes, []);
    assert.deepEqual(sketch(itemsOf(records)), [
      'user/harness <environment_context>\n<c',
      'user/user Please balance ledger 1.',
      'reasoning',
      'function_call',
      'function_call_output',
      'assistant/agent Balanced.',
      'user/user Please balance ledger 2.',
      'reasoning',
      'function_call',
      'function_call_output',
      'assistant/agent Balanced.',
    ]);
    const exits = itemsOf(records).flatMap((item) =>
      item.type === 'function_call_output' ? [item.exit_code] : [],
    );
    assert.deepEqual(exits, [0, 1]);
    const [meta] = ofType(records, 'session_meta');
    assert.equal(meta?.sessionId, lines.SESSION_ID);
    assert.equal(meta?.gitBranch, 'main');
    assert.equal(tail.layout, generation === 'bare' ? 'bare' : 'wrapped');
    if (generation === 'bare') return;
    assert.deepEqual(
      ofType(records, 'usage').map(({ usage }) => usage.total),
      [5100, 10_100],
      'a repeated token_count is no sample',
    );
    const windows = ofType(records, 'settings').map(({ usableWindow }) => usableWindow);
    assert.deepEqual(
      windows.filter((window) => window !== undefined),
      [258_400],
    );
    const hasInstructions = generation !== '0.34';
    assert.equal(meta?.instructions, hasInstructions ? 'Be useful.' : undefined);
    assert.equal(ofType(records, 'turn_complete').length, hasInstructions ? 2 : 0);
  });
}

test('every line gives at least one record, in order', () => {
  for (const generation of lines.GENERATIONS) {
    const values = lines.session(generation);
    const seen = read(values).records.map(({ line }) => line);
    assert.deepEqual(
      [...new Set(seen)],
      values.map((_, index) => index + 1),
    );
  }
});

test('an old session that a newer version resumed has its window counted once', () => {
  const builder = lines.head('0.34');
  builder.event(lines.tokenCount({ input: 10, output: 1, spent: 11, window: 272_000 }));
  builder.event({ type: 'task_started', turn_id: 't', model_context_window: 258_400 });
  builder.event(lines.tokenCount({ input: 20, output: 1, spent: 32, window: 258_400 }));
  const windows = ofType(read(builder.lines).records, 'settings').map(({ usableWindow }) => usableWindow);
  assert.deepEqual(windows, [258_400], 'and it did not change');
});

test('parsed objects are kept, so that keys of newer versions survive', () => {
  const payload = lines.message('assistant', 'done', { phase: 'final_answer', novelty: { a: 1 } });
  const [item] = itemsOf(read(lines.head('0.140').item(payload).lines).records);
  assert.equal(item, payload);
});

const authorship: readonly (readonly [why: string, payload: JsonObject, expected: string])[] = [
  ['plain words', lines.message('user', 'Hello'), 'user'],
  ['environment', lines.message('user', '<environment_context>x'), 'harness'],
  ['instruction file', lines.message('user', '# AGENTS.md instructions for /home/dev'), 'harness'],
  ['older instructions', lines.message('user', '<user_instructions>\nx'), 'harness'],
  ['abort marker', lines.message('user', '<turn_aborted>\nx'), 'harness'],
  ['a heading of the user', lines.message('user', '# AGENTS and me'), 'user'],
  ['a warning of the user', lines.message('user', 'Warning: be careful'), 'user'],
  ['developer', lines.message('developer', 'Be brief.'), 'harness'],
  ['summary by prefix', lines.message('user', `${CODEX_SUMMARY_PREFIX}\nDone.`), 'harness summary'],
  ['prefix without line feed', lines.message('user', `${CODEX_SUMMARY_PREFIX} Done.`), 'user'],
  [
    'a user who quotes the prefix',
    lines.messageOfKind('user', `${CODEX_SUMMARY_PREFIX}\nWhat is this?`, 'user.text'),
    'user',
  ],
  ['summary by kind', lines.messageOfKind('user', 'Own wording', 'compaction.summary'), 'harness summary'],
  [
    'context by kind',
    lines.messageOfKind('user', 'cwd is /x', 'environments.environment_context'),
    'harness',
  ],
  ['injected by a client', lines.messageOfKind('user', 'A packet', 'unknown'), 'user'],
  ['context injected by a client', lines.messageOfKind('user', '<turn_aborted>', 'unknown'), 'harness'],
];

for (const [why, payload, expected] of authorship) {
  test(`authorship: ${why}`, () => {
    const [item] = itemsOf(read([{ type: 'response_item', payload }]).records);
    assert.ok(item?.type === 'message');
    const author = authorOf(item);
    assert.equal(item.isCompactSummary === true ? `${author} summary` : author, expected);
  });
}

test('a user who quotes the prefix is told apart from a summary for good', () => {
  const payload = lines.messageOfKind('user', `${CODEX_SUMMARY_PREFIX}\nWhat is this?`, 'user.text');
  const [item] = itemsOf(read([{ type: 'response_item', payload }]).records);
  assert.equal(item?.type === 'message' && item.isCompactSummary, false);
});

test('a fork that only points to its parent is reported', () => {
  const { notes } = read([
    { type: 'session_meta', payload: { id: 'child', history_base: { thread_id: 'parent' } } },
  ]);
  assert.deepEqual(
    notes.map(({ kind, line }) => [kind, line]),
    [['dangling_parent', 1]],
  );
});

test('a message of context and words is the user’s', () => {
  const content = [
    { type: 'input_text', text: '<environment_context>x' },
    { type: 'input_text', text: 'and please build' },
  ];
  const payload = { type: 'message', role: 'user', content };
  const [item] = itemsOf(read([{ type: 'response_item', payload }]).records);
  assert.equal(item && authorOf(item), 'user');
});

test('exit codes come from headers only, never from what a command printed', () => {
  const outputs = [
    'Exit code: 3\nWall time: 1 seconds\nOutput:\nx',
    'Wall time: 0.1 seconds\nProcess exited with code -1\nOutput:\n',
    'Chunk ID: 00\nWall time: 1.0 seconds\nProcess running with session ID 7\nOutput:\nExit code: 5\n',
    'printed by a script\nExit code: 5\n',
    '{"output":"x","metadata":{"exit_code":7,"duration_seconds":0.0}}',
    '{"rows":[]}',
  ];
  const values = outputs.map((text, index) => ({
    type: 'response_item',
    payload: lines.output(`c${index}`, text),
  }));
  const codes = itemsOf(read(values).records).map((item) =>
    item.type === 'function_call_output' ? item.exit_code : 'no output',
  );
  assert.deepEqual(codes, [3, -1, undefined, undefined, 7, undefined]);
});

test('rarer kinds of items keep what they have', () => {
  const payloads: JsonObject[] = [
    { type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'ledger' } },
    { type: 'tool_search_call', call_id: 's1', arguments: { query: 'x' } },
    { type: 'tool_search_output', call_id: 's1', tools: [] },
    { type: 'custom_tool_call', call_id: 'p1', name: 'apply_patch', input: '*** Begin', status: 'completed' },
    {
      type: 'custom_tool_call_output',
      call_id: 'p1',
      output: [{ type: 'input_image', image_url: 'data:,' }],
    },
    { type: 'local_shell_call', id: 'lsh', call_id: null, action: { type: 'exec', command: ['ls'] } },
    { type: 'ghost_snapshot', ghost_commit: { id: 'abc' } },
    { type: 'compaction_summary', encrypted_content: 'gAAA' },
    { type: 'message', role: 'assistant', content: [{ type: 'holograph', data: 1 }] },
    { type: 'agent_message', text: 'to another agent' },
  ];
  const { records, notes } = read(payloads.map((payload) => ({ type: 'response_item', payload })));
  assert.deepEqual(notes, []);
  const items = itemsOf(records);
  assert.deepEqual(
    items.map((item) => (item.type === 'unknown' ? `unknown ${item.raw.type}` : item.type)),
    [
      'web_search_call',
      'unknown tool_search_call',
      'unknown tool_search_output',
      'custom_tool_call',
      'custom_tool_call_output',
      'local_shell_call',
      'ghost_snapshot',
      'compaction',
      'message',
      'unknown agent_message',
    ],
  );
  const [shell, strange] = [items[5], items[8]];
  assert.equal(shell?.type === 'local_shell_call' && shell.call_id, 'lsh');
  assert.deepEqual(strange?.type === 'message' && strange.content, [
    { type: 'other', value: { type: 'holograph', data: 1 } },
  ]);
});

const wrongShapes: readonly JsonObject[] = [
  { type: 'function_call', name: 'x', arguments: '{}' },
  { type: 'function_call', name: 'x', arguments: {}, call_id: 'c' },
  { type: 'function_call_output', call_id: 'c', output: 7 },
  { type: 'function_call_output', output: 'x' },
  { type: 'message', role: 'user', content: 'text' },
  { type: 'message', role: 'user', content: ['text'] },
  { type: 'message', role: 3, content: [] },
  { type: 'reasoning', summary: 'text' },
  { type: 'reasoning', summary: [], encrypted_content: 5 },
  { type: 'web_search_call', action: 'search' },
  { type: 'ghost_snapshot' },
];

for (const payload of wrongShapes) {
  test(`a wrong shape is told and kept: ${JSON.stringify(payload)}`, () => {
    const { records, notes } = read([{}, { type: 'response_item', payload }]);
    assert.deepEqual(
      notes.map(({ line, kind, lost }) => ({ line, kind, lost })),
      [{ line: 2, kind: 'wrong_shape', lost: false }],
    );
    assert.deepEqual(itemsOf(records), [{ type: 'unknown', raw: payload }]);
  });
}

test('a fork keeps its own name among the repeated heads of its parent', () => {
  const own = { id: 'child', cwd: '/child', cli_version: '0.140.0' };
  const { records, tail } = read([
    { type: 'session_meta', payload: own },
    { type: 'session_meta', payload: { id: 'parent', cwd: '/parent', cli_version: '0.140.0' } },
    { type: 'session_meta', payload: { ...own, cwd: '/child/moved' } },
  ]);
  assert.deepEqual(
    ofType(records, 'session_meta').map(({ cwd }) => cwd),
    ['/child', '/child/moved'],
  );
  assert.equal(tail.meta, own);
});

/** A compaction in the middle of a task, with what stands before and after it. */
function aroundCompaction(before: readonly string[], after: readonly string[], payload: JsonObject = {}) {
  const builder = lines.head('0.140');
  const steps: Record<string, () => unknown> = {
    start: () => lines.taskStarted(builder, '0.140', 't'),
    end: () => lines.taskComplete(builder, '0.140', 't'),
    abort: () => builder.event({ type: 'turn_aborted', turn_id: 't', reason: 'interrupted' }),
    context: () => builder.item(lines.message('user', '<environment_context>x')),
    user: () => builder.item(lines.message('user', 'Go on')),
    agent: () => builder.item(lines.message('assistant', 'Done')),
    call: () => builder.item(lines.call('c', 'ls')),
    output: () => builder.item(lines.output('c', 'x')),
    summary: () => builder.item(lines.message('assistant', 'S'), { metadata: { compaction_output: true } }),
    used: () =>
      builder.event(lines.tokenCount({ input: 900, output: 100, spent: builder.lines.length, window: 9000 })),
    estimate: () =>
      builder.event(lines.tokenCount({ input: 0, output: 0, total: 77, spent: 9, window: 9000 })),
  };
  for (const step of before) steps[step]?.();
  builder.line('compacted', { message: '', replacement_history: [], ...payload });
  for (const step of after) steps[step]?.();
  return builder.lines;
}

const phases: readonly (readonly [before: string, after: string, expected: string])[] = [
  ['start', 'estimate end', 'manual standalone_turn'],
  ['start summary', 'estimate end', 'manual standalone_turn'],
  ['start', 'context user', 'auto pre_turn'],
  ['start user call output', 'estimate agent', 'auto mid_turn'],
  ['start user agent', 'end', 'auto post_turn'],
  ['start user call output', 'end', 'auto mid_turn'],
  ['start user agent', 'abort', 'auto unknown'],
  ['start user agent', '', 'auto unknown'],
  ['start', 'abort', 'unknown unknown'],
  ['start', 'agent', 'unknown unknown'],
  ['start', '', 'unknown unknown'],
  ['user', 'agent', 'unknown unknown'],
  ['start user agent end', 'user', 'unknown unknown'],
];

for (const [before, after, expected] of phases) {
  test(`phase of a compaction: ${before} | ${after || 'end of file'}`, () => {
    const { trigger, phase } = compactedOf(aroundCompaction(before.split(' '), after.split(' ')));
    assert.equal(`${trigger ?? 'unknown'} ${phase ?? 'unknown'}`, expected);
  });
}

test('a compaction does not wait for what never comes', () => {
  const seen: string[] = [];
  const reader = codexReader.read(
    ({ type }) => seen.push(type),
    () => undefined,
  );
  const compacted = { type: 'compacted', payload: { message: '', replacement_history: [] } };
  const values = [compacted, ...Array.from({ length: 100 }, () => ({ type: 'world_state', payload: {} }))];
  for (const [index, value] of values.entries()) reader.accept(value, { line: index + 1, part: 0 });
  assert.equal(seen.length, values.length);
});

test('a compaction knows the usage before it and the estimate after it', () => {
  const record = compactedOf(aroundCompaction(['start', 'user', 'used'], ['estimate', 'end']));
  assert.equal(record.preTokens, 1000);
  assert.equal(record.postTokens, 77);
});

test('usage of the compaction request is not the usage before the compaction', () => {
  const builder = lines.head('0.169');
  builder.event(lines.tokenCount({ input: 800, output: 10, spent: 1, window: 9000 }));
  builder.item(lines.message('assistant', 'S'), { metadata: { compaction_output: true } });
  builder.event(lines.tokenCount({ input: 900, output: 10, spent: 2, window: 9000 }));
  builder.line('compacted', { message: 'S', replacement_history: [], window_id: lines.SECOND_WINDOW });
  const record = compactedOf(builder.lines);
  assert.equal(record.preTokens, 810);
  assert.equal(record.id, lines.SECOND_WINDOW);
});

test('estimates after a compaction are estimates of the whole history', () => {
  const usage = ofType(read(aroundCompaction([], ['estimate'])).records, 'usage').map((r) => r.usage);
  assert.deepEqual(usage, [{ source: 'estimated', covers: 'history', total: 77 }]);
});

test('the summary of a replacement is the message that repeats the text of the line', () => {
  const record = compactedOf(
    aroundCompaction([], [], {
      message: 'Own words',
      replacement_history: [lines.message('user', 'First'), lines.message('user', 'Own words')],
    }),
  );
  assert.deepEqual(sketch(record.replacement), ['user/user First', 'user/harness summary Own words']);
  assert.equal(record.summary, 'Own words');
});

test('a compaction without replacement keeps context and the newest user messages, within the budget', () => {
  const builder = lines.head('0.34');
  const texts = ['a'.repeat(30_000), 'b'.repeat(80_000), 'c'.repeat(10_000), 'short'];
  builder.item(lines.message('user', '<environment_context>x'));
  for (const text of texts) {
    builder.item(lines.message('user', text)).item(lines.message('assistant', 'Done'));
  }
  const message = `${CODEX_SUMMARY_PREFIX}\nThe gist.`;
  builder.line('compacted', { message });
  const record = compactedOf(builder.lines);
  assert.deepEqual(sketch(record.replacement), [
    'user/harness <environment_context>x',
    `user/user ${'b'.repeat(24)}`,
    `user/user ${'c'.repeat(24)}`,
    'user/user short',
    `user/harness summary ${CODEX_SUMMARY_PREFIX.slice(0, 24)}`,
  ]);
  assert.equal(record.summary, 'The gist.');
  const cut = record.replacement[1];
  assert.ok(cut?.type === 'message');
  // 20,000 less the 2,500 and 2 of the newer ones leaves 17,498 tokens.
  const left = textOfParts(cut.content);
  assert.match(left, /^b{34000,35000}…25\d\d tokens truncated…b{34000,35000}$/);
  assert.ok(approximateTokens(left) <= 17_498);
  const again = compactedOf([...builder.lines.slice(0, -1), { type: 'compacted', payload: { message: '' } }]);
  assert.equal(sketch(again.replacement).at(-1), 'user/harness summary (no summary available)');
});

test('an announcement without a line leaves the history as it is, like Codex does, and is noted', () => {
  const announced = { type: 'event_msg', payload: { type: 'context_compacted' } };
  const alone = read([...lines.head('0.140').lines, announced]);
  assert.deepEqual(ofType(alone.records, 'compacted'), []);
  assert.deepEqual(
    alone.notes.map(({ kind, lost }) => [kind, lost]),
    [['wrong_shape', false]],
  );
  const stored = read([
    ...lines.head('0.140').line('compacted', { message: '', replacement_history: [], window_id: 1 }).lines,
    announced,
  ]);
  assert.deepEqual(
    ofType(stored.records, 'compacted').map(({ id, replacement }) => [id, replacement]),
    [['compaction-1', []]],
  );
  assert.deepEqual(stored.notes, []);
});

test('an undo of Baton is no compaction', () => {
  const values = [
    ...lines.head('0.169').line('compacted', { message: '', replacement_history: [], window_id: 'w' }).lines,
    { type: 'compacted', payload: { message: '', replacement_history: [], baton: { undo: 'w' } } },
  ];
  const { records } = read(values);
  assert.deepEqual(
    ofType(records, 'undo_compaction').map(({ compactionId }) => compactionId),
    ['w'],
  );
  assert.equal(ofType(records, 'compacted').length, 1);
});

test('no JSON value makes it throw, and every object gives a record', () => {
  const keys = fc.constantFrom(
    ...(
      'type payload content role info output call_id replacement_history message baton marks metadata summary action git ' +
      'last_token_usage id timestamp item internal_chat_message_metadata_passthrough content_item_kinds record_type text undo'
    ).split(' '),
  );
  const words = fc.constantFrom(
    ...(
      'response_item event_msg compacted session_meta turn_context world_state message reasoning function_call_output ' +
      'token_count task_started user input_text compaction'
    ).split(' '),
  );
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      words,
      fc.jsonValue({ maxDepth: 1 }),
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 6 }),
    ),
  }));
  const object = fc.dictionary(keys, value, { maxKeys: 6 }) as fc.Arbitrary<JsonObject>;
  fc.assert(
    fc.property(fc.array(object, { maxLength: 8 }), (values) => {
      const { records } = read(values);
      assert.ok(records.length >= values.length);
    }),
    { seed: 20250901, numRuns: 3000 },
  );
});
