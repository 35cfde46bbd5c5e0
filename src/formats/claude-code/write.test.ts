import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ClaudeLines } from '../../../test/support/claude-lines.ts';
import { readClaudeLines } from '../../../test/support/read-claude.ts';
import type { Item, JsonObject, MessageItem } from '../../protocol/item.ts';
import { CLEARED_RESULT } from '../../protocol/record.ts';
import type { CompactedRecord, LogRecord } from '../../protocol/record.ts';
import type { ClaudeWriting } from './chain.ts';
import type { ClaudeTail } from './tail.ts';
import { appendClaudeCompaction, writeClaudeSession } from './write.ts';

const AT = '2026-02-01T00:00:00.000Z';

function writing(tail: ClaudeTail, prefix = 'new'): ClaudeWriting {
  let count = 0;
  const next = (): string => `${prefix}-${++count}`;
  return { tail, newSessionId: 'session-2', at: AT, ids: { uuid: next, messageId: next }, model: 'model-a' };
}

const NO_TAIL: ClaudeTail = { uuid: null, cumulativeDroppedTokens: 0 };

/** What the model is sent after these records: the projection, as plainly as can be. */
function project(records: readonly LogRecord[]): Item[] {
  const byRef = new Map<string, Item[]>();
  let history: Item[] = [];
  for (const record of records) {
    if (record.type === 'item') {
      history.push(record.item);
      if (record.ref !== undefined) byRef.set(record.ref, [...(byRef.get(record.ref) ?? []), record.item]);
    }
    if (record.type !== 'compacted') continue;
    history = [...record.replacement, ...(record.keptRefs ?? []).flatMap((ref) => byRef.get(ref) ?? [])];
  }
  return history;
}

function parsed(lines: readonly string[]): JsonObject[] {
  return lines.map((line) => JSON.parse(line) as JsonObject);
}

function user(text: string, origin?: MessageItem['origin']): Item {
  const content = [{ type: 'input_text' as const, text }];
  return { type: 'message', role: 'user', content, ...(origin === undefined ? {} : { origin }) };
}

function says(text: string): Item {
  return { type: 'message', role: 'assistant', content: [{ type: 'output_text', text }] };
}

function call(id: string, input: JsonObject = {}): Item {
  return { type: 'function_call', name: 'Bash', arguments: JSON.stringify(input), call_id: id };
}

function result(id: string, output: string): Item {
  return { type: 'function_call_output', call_id: id, output, success: true };
}

function compaction(rest: readonly Item[], extra: Partial<CompactedRecord> = {}): CompactedRecord {
  const boundary: Item = {
    type: 'compact_boundary',
    uuid: 'boundary-1',
    timestamp: AT,
    trigger: 'auto',
    reason: 'boundary',
    implementation: 'embedded',
    preTokens: 5000,
  };
  const summary: Item = {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'What was done so far.' }],
    isCompactSummary: true,
    isVisibleInTranscriptOnly: true,
  };
  return {
    type: 'compacted',
    id: 'boundary-1',
    trigger: 'auto',
    phase: 'post_turn',
    preTokens: 5000,
    postTokens: 700,
    replacement: [boundary, summary, ...rest],
    summary: 'What was done so far.',
    ...extra,
  };
}

/** A past of rounds: a prompt, calls with their results in either order, an answer. */
function past(rounds: readonly number[]): ClaudeLines {
  const lines = new ClaudeLines();
  for (const [round, calls] of rounds.entries()) {
    lines.user(`task ${round}`);
    const ids = Array.from({ length: calls }, (_, index) => `c${round}-${index}`);
    for (const id of ids) lines.calls(`m${round}`, id);
    for (const id of round % 2 === 0 ? ids : ids.toReversed()) lines.result(id, `output of ${id}`);
    lines.says(`n${round}`, `done ${round}`);
  }
  return lines;
}

const plainText = fc.string({ minLength: 1, maxLength: 12 }).map((text) => `a ${text}`);
/** What may follow a summary, as it reads back. */
const rest = fc.array(
  fc.oneof(
    plainText.map((text): Item[] => [user(text)]),
    plainText.map((text): Item[] => [user(text, { author: 'harness' })]),
    plainText.map((text): Item[] => [{ type: 'attachment', kind: 'file', path: '/home/dev/a.ts', text }]),
    plainText.map((text): Item[] => [
      {
        type: 'attachment',
        kind: 'file',
        path: '/home/dev/b.ts',
        text: `Contents of /home/dev/b.ts, again:\n${text}`,
      },
    ]),
    plainText.map((text): Item[] => [{ type: 'attachment', kind: 'plan', path: '/home/dev/plan.md', text }]),
    plainText.map((text): Item[] => [{ type: 'attachment', kind: 'todo', text }]),
    plainText.map((text): Item[] => [says(text)]),
  ),
  { maxLength: 4 },
);

test('what is appended reads back as the record, with what it keeps', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 1, maxLength: 4 }),
      rest,
      fc.nat(3),
      (rounds, more, keep) => {
        const { lines } = past(rounds);
        const before = readClaudeLines(lines);
        const refs = before.records.flatMap((record) => (record.type === 'item' ? [record.ref ?? ''] : []));
        const keptRefs = keep === 0 ? [] : refs.slice(-keep);
        const record = compaction(more.flat(), keptRefs.length === 0 ? {} : { keptRefs });
        const written = appendClaudeCompaction({ ...writing(before.survey.tail), record });
        const after = readClaudeLines([...lines, ...parsed(written.lines)]);
        const read = after.records.find((each) => each.type === 'compacted');
        const kept = project(before.records).slice(refs.length - keptRefs.length);
        assert.deepEqual(project(after.records), [...record.replacement, ...kept]);
        assert.deepEqual(
          [read?.id, read?.phase, read?.preTokens, read?.postTokens],
          ['boundary-1', 'post_turn', 5000, 700],
        );
        assert.deepEqual(after.notes, []);
        assert.equal(after.survey.tail.uuid, written.leafUuid);
      },
    ),
    { seed: 20261121, numRuns: 200 },
  );
});

test('an appended compaction obeys what the real tool needs', () => {
  const { lines } = past([1]);
  const tail = { ...readClaudeLines(lines).survey.tail, cumulativeDroppedTokens: 100 };
  const record = compaction([user('keep this'), says('kept answer')]);
  const written = parsed(appendClaudeCompaction({ ...writing(tail), record }).lines);
  const [boundary, summary] = written;
  assert.equal(boundary?.['parentUuid'], null);
  assert.equal(boundary?.['logicalParentUuid'], tail.uuid);
  assert.deepEqual(boundary?.['compactMetadata'], {
    trigger: 'auto',
    preTokens: 5000,
    postTokens: 700,
    cumulativeDroppedTokens: 4400,
    durationMs: 0,
    baton: { phase: 'post_turn', reason: 'boundary', implementation: 'embedded' },
    preservedMessages: { anchorUuid: written.at(-1)?.['uuid'], uuids: [], allUuids: [] },
  });
  assert.equal(summary?.['parentUuid'], 'boundary-1');
  assert.equal(summary?.['isCompactSummary'], true);
  assert.equal(summary?.['isVisibleInTranscriptOnly'], true);
  const times = written.map((line) => String(line['timestamp']));
  assert.deepEqual(times, [...new Set(times)].toSorted());
  const answer = written.find((line) => line['type'] === 'assistant')?.['message'] as JsonObject;
  assert.ok(!lines.some((line) => JSON.stringify(line).includes(JSON.stringify(answer['id']))));
  assert.deepEqual(Object.values(answer['usage'] as JsonObject), [0, 0, 0, 0]);
  assert.ok(
    written.every((line) => line['sessionId'] === 'session-2' && line['cwd'] === '/home/dev/project'),
  );
});

test('a record that no session of Claude Code can tell is refused', () => {
  const record = compaction([]);
  const [boundary] = record.replacement;
  const blank = { ...user(' '), isCompactSummary: true } as Item;
  for (const replacement of [[], [boundary], [boundary, user('No summary.')], [boundary, blank]]) {
    const broken = { ...record, replacement: replacement.filter((item) => item !== undefined) };
    assert.throws(() => appendClaudeCompaction({ ...writing(NO_TAIL), record: broken }), RangeError);
  }
  assert.throws(() => appendClaudeCompaction({ ...writing(NO_TAIL), at: 'soon', record }), RangeError);
});

test('a conversation of its own reads back', () => {
  const items = [
    user('list'),
    { type: 'reasoning', summary: [], text: 'hm', signature: 'sig' } as const,
    call('c1', { command: 'ls' }),
    result('c1', CLEARED_RESULT),
    says('One file.'),
  ];
  const written = writeClaudeSession({ ...writing(NO_TAIL), items });
  assert.equal(written.leftOut, 0);
  const alone = readClaudeLines(parsed(written.lines));
  assert.deepEqual(project(alone.records), items);
  assert.deepEqual(alone.notes, []);
});

test('a session of Codex becomes one that the Messages API takes', () => {
  const items: Item[] = [
    { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'sandbox rules' }] },
    user('fix it'),
    { type: 'reasoning', summary: [], encrypted_content: 'of another provider' },
    { type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch', call_id: 'call 1' },
    { type: 'custom_tool_call_output', call_id: 'call 1', output: 'ok', success: true },
    { type: 'local_shell_call', call_id: 'call_2', action: { type: 'exec', command: ['ls'] } },
    { type: 'function_call', name: 'shell', arguments: 'not json', call_id: 'call_3' },
    { type: 'function_call_output', call_id: 'call_3', output: 'a', success: false, exit_code: 1 },
    { type: 'ghost_snapshot', ghost_commit: {} },
  ];
  const written = writeClaudeSession({ ...writing(NO_TAIL), items, from: 'codex' });
  assert.equal(written.leftOut, 3);
  const blocks = parsed(written.lines).flatMap((line): (string | JsonObject)[] => {
    const { content } = line['message'] as JsonObject;
    return typeof content === 'string' ? [content] : (content as JsonObject[]);
  });
  assert.deepEqual(blocks, [
    'fix it',
    { type: 'tool_use', id: 'call_1', name: 'apply_patch', input: { input: '*** Begin Patch' } },
    { type: 'tool_result', tool_use_id: 'call_1', content: 'ok', is_error: false },
    { type: 'tool_use', id: 'call_2', name: 'local_shell', input: { type: 'exec', command: ['ls'] } },
    { type: 'tool_use', id: 'call_3', name: 'shell', input: { input: 'not json' } },
    {
      type: 'tool_result',
      tool_use_id: 'call_2',
      content: 'No result was recorded for this call.',
      is_error: true,
    },
    { type: 'tool_result', tool_use_id: 'call_3', content: 'a', is_error: true },
  ]);
});

test('the first result of a call is its result; what else claims to be is left out', () => {
  const items = [
    result('c0', 'of nothing'),
    user('go'),
    call('c1'),
    result('c1', 'first'),
    result('c1', 'second'),
  ];
  const written = writeClaudeSession({ ...writing(NO_TAIL), items });
  assert.equal(written.leftOut, 2);
  assert.deepEqual(project(readClaudeLines(parsed(written.lines)).records), [items[1], items[2], items[3]]);
});

const anyItem: fc.Arbitrary<Item> = fc.oneof(
  fc.string({ maxLength: 5 }).map((text) => user(text)),
  fc.string({ maxLength: 5 }).map(says),
  fc.constantFrom('c1', 'c2', 'c 2').map((id) => call(id)),
  fc.constantFrom('c1', 'c2', 'c 2').map((id) => result(id, 'r')),
  fc.constant<Item>({ type: 'reasoning', summary: [], text: 't', signature: 's' }),
  fc.constant<Item>({ type: 'attachment', kind: 'other', text: 'note' }),
  fc.constant<Item>({ type: 'progress', text: 'p' }),
  fc.constant<Item>({ type: 'web_search_call' }),
);

test('whatever the items, calls are answered at once and once, and a user speaks first', () => {
  fc.assert(
    fc.property(fc.array(anyItem, { maxLength: 14 }), (items) => {
      const written = writeClaudeSession({ ...writing(NO_TAIL), items });
      const messages = parsed(written.lines).filter((line) => line['type'] !== 'attachment');
      assert.notEqual(messages[0]?.['type'], 'assistant');
      const seen = new Set<unknown>();
      const open = new Set<unknown>();
      let wasAnswer = false;
      for (const line of messages) {
        const { content } = line['message'] as JsonObject;
        const isAnswer = line['type'] === 'assistant';
        if (isAnswer && !wasAnswer) assert.equal(open.size, 0);
        for (const block of Array.isArray(content) ? (content as JsonObject[]) : []) {
          if (block['type'] === 'tool_use') {
            assert.ok(!seen.has(block['id']));
            seen.add(block['id']);
            open.add(block['id']);
          } else if (block['type'] === 'tool_result') {
            assert.ok(open.delete(block['tool_use_id']));
          } else if (!isAnswer) assert.equal(open.size, 0);
        }
        if (!isAnswer && typeof content === 'string') assert.equal(open.size, 0);
        wasAnswer = isAnswer;
      }
      assert.equal(open.size, 0);
    }),
    { seed: 20261121, numRuns: 500 },
  );
});
