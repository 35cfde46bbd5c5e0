import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ClaudeLines } from '../../../test/support/claude-lines.ts';
import type { Item, JsonObject } from '../../protocol/item.ts';
import { textOfParts } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import type { DamageNote } from '../reader.ts';
import { readClaudeLines } from '../../../test/support/read-claude.ts';
import { claudeCodeReader } from './read.ts';
import { SKIM_FROM_CHARACTERS, skimLine } from './skim.ts';

/** An item in a few characters: what the tests below compare. */
function short(item: Item): string {
  switch (item.type) {
    case 'message':
      return `${item.isCompactSummary === true ? 'summary' : (item.origin?.author ?? item.role)}:${textOfParts(item.content)}`;
    case 'function_call':
      return `call:${item.call_id}`;
    case 'function_call_output':
      return `result:${item.call_id}`;
    case 'attachment':
      return `${item.kind}:${item.text}`;
    default:
      return item.type;
  }
}

function itemsOf(records: readonly LogRecord[]): string[] {
  return records.flatMap((record) => (record.type === 'item' ? [short(record.item)] : []));
}

function sideOf(records: readonly LogRecord[]): string[] {
  return records.flatMap((record) =>
    record.type === 'side_item' ? [`${record.why}:${short(record.item)}`] : [],
  );
}

function kindsOf(notes: readonly DamageNote[]): string[] {
  return notes.map((note) => note.kind);
}

function compactedIn(records: readonly LogRecord[]) {
  return records.filter((record) => record.type === 'compacted');
}

test('an answer is one usage however many lines its blocks take, told before its first block', () => {
  const lines = new ClaudeLines()
    .user('list files')
    .block('m1', { type: 'thinking', thinking: 'which ones', signature: 'sig' })
    .says('m1', 'Listing.')
    .calls('m1', 'c1')
    .result('c1', 'a.txt')
    .says('m2', 'One file.', 140);
  const { records, notes } = readClaudeLines(lines.lines);
  assert.deepEqual(
    records.map((record) => (record.type === 'item' ? short(record.item) : record.type)),
    [
      'session_meta', 'turn_started', 'user:list files',
      'settings', 'usage', 'reasoning', 'assistant:Listing.', 'call:c1',
      'result:c1', 'usage', 'assistant:One file.',
    ],
  ); // prettier-ignore
  assert.deepEqual(notes, []);
  const usage = records.flatMap((record) => (record.type === 'usage' ? [record.usage] : []));
  assert.deepEqual(usage[1], {
    source: 'reported',
    covers: 'request',
    total: 140,
    cachedInput: 130,
    output: 3,
  });
});

test('what one line holds', async (t) => {
  const rows: readonly (readonly [string, JsonObject, readonly Item[]])[] = [
    [
      'redacted thinking',
      { type: 'assistant', message: { content: [{ type: 'redacted_thinking', data: 'opaque' }] } },
      [{ type: 'reasoning', summary: [], encrypted_content: 'opaque' }],
    ],
    [
      'a server tool and its result',
      {
        type: 'assistant',
        message: {
          content: [
            { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
            { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
          ],
        },
      },
      [
        { type: 'function_call', name: 'web_search', arguments: '{"query":"q"}', call_id: 's1' },
        {
          type: 'function_call_output',
          call_id: 's1',
          output: [
            { type: 'other', value: { type: 'web_search_tool_result', tool_use_id: 's1', content: [] } },
          ],
        },
      ],
    ],
    [
      'a block of a newer kind',
      { type: 'assistant', message: { content: [{ type: 'hologram', depth: 3 }] } },
      [{ type: 'unknown', raw: { type: 'hologram', depth: 3 } }],
    ],
    [
      'a failed command, its status beside it, and a word of the user',
      {
        type: 'user',
        toolUseResult: 'Error: Exit code 2\nno such file',
        message: {
          content: [
            { type: 'tool_result', tool_use_id: 'c1', content: 'Exit code 2', is_error: true },
            { type: 'text', text: 'try again' },
          ],
        },
      },
      [
        { type: 'function_call_output', call_id: 'c1', output: 'Exit code 2', success: false, exit_code: 2 },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'try again' }] },
      ],
    ],
    [
      'a picture',
      {
        type: 'user',
        message: {
          content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } }],
        },
      },
      [
        {
          type: 'message',
          role: 'user',
          content: [{ type: 'input_image', image_url: 'data:image/png;base64,QUJD' }],
        },
      ],
    ],
    [
      'a placeholder of the client',
      {
        type: 'assistant',
        isApiErrorMessage: true,
        message: { model: '<synthetic>', content: [{ type: 'text', text: 'API Error' }] },
      },
      [
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'API Error' }],
          isApiErrorMessage: true,
          model: '<synthetic>',
        },
      ],
    ],
    [
      'what was rendered of an attachment',
      { type: 'attachment', attachment: { type: 'date', date: 'x' }, rendered: [{ content: 'Today is x.' }] },
      [{ type: 'attachment', kind: 'other', text: 'Today is x.' }],
    ],
    [
      'a file of an older version',
      {
        type: 'attachment',
        attachment: {
          type: 'file',
          filename: '/p/a.ts',
          content: { type: 'text', file: { content: 'let a;' } },
        },
      },
      [{ type: 'attachment', kind: 'file', path: '/p/a.ts', text: 'let a;' }],
    ],
    [
      'a prompt queued while the agent worked',
      {
        type: 'attachment',
        attachment: { type: 'queued_command', prompt: 'and tests', commandMode: 'prompt' },
      },
      [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'and tests' }] }],
    ],
    [
      'a snapshot of a request',
      { type: 'attachment', attachment: { type: 'prompt_snapshot', tools: 'x' } },
      [],
    ],
  ];
  for (const [name, line, expected] of rows) {
    await t.test(name, () => {
      const { records } = readClaudeLines([{ uuid: 'u1', parentUuid: null, ...line }]);
      assert.deepEqual(
        records.flatMap((record) => (record.type === 'item' ? [record.item] : [])),
        expected,
      );
    });
  }
});

test('text that the client writes in the user’s name is the harness’s', () => {
  const texts = [
    '<command-name>/compact</command-name>',
    '<local-command-stdout>done</local-command-stdout>',
    '<system-reminder>be brief</system-reminder>\n<system-reminder>again</system-reminder>',
    '[Request interrupted by user for tool use]',
  ];
  for (const text of texts) {
    const { records } = readClaudeLines(new ClaudeLines().user(text).lines);
    assert.deepEqual(itemsOf(records), [`harness:${text}`]);
  }
  const asked = '<command-message>dock</command-message>\n<command-name>/dock</command-name>';
  assert.deepEqual(
    itemsOf(readClaudeLines(new ClaudeLines().user(asked).lines).records),
    [`user:${asked}`],
    'a command that goes to the model is the user’s',
  );
  const mixed = '<system-reminder>be brief</system-reminder> but fix the bug';
  assert.deepEqual(itemsOf(readClaudeLines(new ClaudeLines().user(mixed).lines).records), [`user:${mixed}`]);
});

test('parallel calls, their results and what hangs on them stay; a rewound branch goes aside', () => {
  const lines = new ClaudeLines().user('first').calls('m1', 'c1');
  const firstCall = lines.last;
  lines.calls('m1', 'c2');
  lines.result('c2', 'two').says('m2', 'on the way that was left').user('left behind');
  lines
    .from(firstCall)
    .result('c1', 'one')
    .attach({ type: 'hook_additional_context', content: ['noted'] });
  const { records, notes } = readClaudeLines(lines.says('m3', 'both done').lines);
  assert.deepEqual(itemsOf(records), [
    'user:first', 'call:c1', 'call:c2', 'result:c2', 'result:c1', 'other:noted', 'assistant:both done',
  ]); // prettier-ignore
  assert.deepEqual(sideOf(records), [
    'abandoned_branch:assistant:on the way that was left',
    'abandoned_branch:user:left behind',
  ]);
  assert.deepEqual(notes, []);
});

test('a note hung on a parallel result stays with it', () => {
  const lines = new ClaudeLines().user('first').calls('m1', 'c1');
  const firstCall = lines.last;
  const secondCall = lines.calls('m1', 'c2').last;
  lines
    .from(firstCall)
    .result('c1', 'one')
    .attach({ type: 'hook_additional_context', content: ['of c1'] });
  const { records } = readClaudeLines(lines.from(secondCall).result('c2', 'two').says('m2', 'done').lines);
  assert.deepEqual(itemsOf(records).slice(3), ['result:c1', 'other:of c1', 'result:c2', 'assistant:done']);
  assert.deepEqual(sideOf(records), []);
});

test('what a compaction names stays in the context although its branch was left', () => {
  const lines = new ClaudeLines().user('a');
  const fork = lines.last;
  const left = lines.says('m1', 'b').last;
  lines
    .from(fork)
    .says('m2', 'c')
    .boundary({ preservedMessages: { uuids: [left] } })
    .summary('S');
  const { records } = readClaudeLines(lines.lines);
  assert.deepEqual(itemsOf(records), ['user:a', 'assistant:b', 'assistant:c']);
  assert.deepEqual(compactedIn(records)[0]?.keptRefs, [left]);
});

test('the leaf is the newest message, or what a later last-prompt names', async (t) => {
  const build = () => {
    const lines = new ClaudeLines().user('a');
    const old = lines.says('m1', 'b').last;
    return { old, lines: lines.boundary().summary('S').says('m2', 'c') };
  };
  await t.test('the newest message', () => {
    const { records } = readClaudeLines(build().lines.lines);
    assert.deepEqual(itemsOf(records), ['user:a', 'assistant:b', 'assistant:c']);
    assert.equal(compactedIn(records).length, 1);
  });
  await t.test('a last-prompt of the old branch makes the compaction undone', () => {
    const { old, lines } = build();
    const { records, survey } = readClaudeLines(lines.lastPrompt(old).lines);
    assert.deepEqual(itemsOf(records), ['user:a', 'assistant:b']);
    assert.equal(compactedIn(records).length, 0);
    assert.equal(survey.tail.uuid, old);
  });
  await t.test('a later message on the old branch, too', () => {
    const { old, lines } = build();
    const { records } = readClaudeLines(lines.from(old).user('d').lines);
    assert.deepEqual(itemsOf(records), ['user:a', 'assistant:b', 'user:d']);
  });
  await t.test('a message after the last-prompt wins again', () => {
    const { old, lines } = build();
    const newest = lines.last;
    const { records } = readClaudeLines(lines.lastPrompt(old).from(newest).user('e').lines);
    assert.equal(compactedIn(records).length, 1);
  });
});

test('a compaction is one record, with what it keeps; what stands around its summary follows', () => {
  const lines = new ClaudeLines().user('a').calls('m1', 'c1');
  const kept = [lines.last ?? '', lines.result('c1', 'one').last ?? ''];
  const metadata = { trigger: 'manual', preTokens: 900, postTokens: 50, preservedMessages: { uuids: kept } };
  lines.boundary(metadata).attach({ type: 'skill_listing', content: 'skills' }).summary('the past');
  const { records, notes } = readClaudeLines(
    lines.attach({ type: 'plan_mode', content: 'plan' }).user('b').lines,
  );
  const [record] = compactedIn(records);
  assert.deepEqual(record?.replacement.map(short), ['compact_boundary', 'summary:the past']);
  assert.deepEqual(record?.keptRefs, kept);
  assert.deepEqual(
    [record?.trigger, record?.preTokens, record?.postTokens, record?.summary],
    ['manual', 900, 50, 'the past'],
  );
  const after = records.slice(records.findIndex((each) => each.type === 'compacted'));
  assert.deepEqual(itemsOf(after), ['other:skills', 'plan:plan', 'user:b']);
  assert.deepEqual(notes, []);
});

test('a line that was surveyed and then could not be parsed takes no compaction with it', () => {
  const lines = new ClaudeLines()
    .user('a')
    .boundary({ preservedMessages: { uuids: ['uuid-1'], anchorUuid: 'uuid-4' } });
  lines.summary('S').user('b').user('c');
  const { survey } = readClaudeLines(lines.lines);
  for (const [lost, compactions, items] of [
    [3, 1, ['user:a', 'user:c']],
    [2, 0, ['user:a', 'user:b', 'user:c']],
  ] as const) {
    const records: LogRecord[] = [];
    const reader = claudeCodeReader.read(
      (record) => void records.push(record),
      () => undefined,
      survey,
    );
    for (const [index, line] of lines.lines.entries()) {
      if (index !== lost) reader.accept(line, { line: index + 1, part: 0 });
    }
    reader.end();
    assert.equal(compactedIn(records).length, compactions);
    assert.deepEqual(itemsOf(records), items);
  }
});

test('a preserved segment is the chain between its ends', () => {
  const lines = new ClaudeLines().user('a');
  const head = lines.says('m1', 'b').last;
  const tail = lines.user('c').last;
  lines.boundary({ preservedSegment: { headUuid: head, tailUuid: tail } }).summary('S');
  assert.deepEqual(compactedIn(readClaudeLines(lines.lines).records)[0]?.keptRefs, [head, tail]);
});

test('odd compactions', async (t) => {
  await t.test('two lines with nothing but links', () => {
    const { records } = readClaudeLines([
      { type: 'system', subtype: 'compact_boundary', uuid: 'b' },
      { type: 'user', uuid: 's', parentUuid: 'b', message: { role: 'user', content: 'the past' } },
    ]);
    assert.equal(compactedIn(records)[0]?.summary, 'the past');
  });
  await t.test('a boundary without summary is ignored and told', () => {
    const lines = new ClaudeLines().user('a');
    const old = lines.last;
    const { records, notes } = readClaudeLines(lines.boundary().from(old).says('m1', 'b').lines);
    assert.deepEqual(itemsOf(records), ['user:a', 'assistant:b']);
    assert.equal(compactedIn(records).length, 0);
    assert.deepEqual(kindsOf(notes), ['wrong_shape']);
  });
  await t.test('a summary without boundary is a message', () => {
    const { records } = readClaudeLines(new ClaudeLines().user('a').summary('S').lines);
    assert.deepEqual(itemsOf(records), ['user:a', 'summary:S']);
  });
  await t.test('a boundary that points nowhere follows the line before it', () => {
    const lines = new ClaudeLines().user('a').boundary({}, { logicalParentUuid: 'gone' }).summary('S');
    const { records, notes } = readClaudeLines(lines.lines);
    assert.deepEqual(itemsOf(records), ['user:a']);
    assert.deepEqual(kindsOf(notes), ['dangling_parent']);
  });
  await t.test('a summary that is not linked belongs to the boundary before it', () => {
    const lines = new ClaudeLines().user('a').boundary().from(null).summary('S');
    const { records } = readClaudeLines(lines.lines);
    assert.deepEqual(itemsOf(records), ['user:a']);
    assert.equal(compactedIn(records).length, 1);
  });
});

test('a micro-compaction names the calls whose results are cleared', () => {
  const microcompactMetadata = { trigger: 'auto', preTokens: 70, tokensSaved: 30, compactedToolIds: ['c1'] };
  const lines = new ClaudeLines().user('a').calls('m1', 'c1').result('c1', 'one');
  lines.add({ type: 'system', subtype: 'microcompact_boundary', microcompactMetadata }).says('m2', 'b');
  const micro = readClaudeLines(lines.lines).records.find((record) => record.type === 'micro_compacted');
  assert.deepEqual(micro?.callIds, ['c1']);
  assert.equal(micro?.tokensSaved, 30);
});

test('damage is told and costs nothing', async (t) => {
  const whole = ['user:a', 'assistant:b', 'user:c', 'assistant:d'];
  const build = (): JsonObject[] =>
    new ClaudeLines().user('a').says('m1', 'b').user('c').says('m2', 'd').lines;
  const rows: readonly (readonly [string, (lines: JsonObject[]) => JsonObject[], string[]])[] = [
    ['nothing', (lines) => lines, []],
    [
      'no first line',
      (lines) => [{ ...lines[0], parentUuid: 'gone' }, ...lines.slice(1)],
      ['dangling_parent'],
    ],
    ['a lost link', (lines) => lines.with(2, { ...lines[2], parentUuid: 'gone' }), ['dangling_parent']],
    ['a cycle', (lines) => lines.with(2, { ...lines[2], parentUuid: 'uuid-4' }), ['parent_cycle']],
    ['its own parent', (lines) => lines.with(2, { ...lines[2], parentUuid: 'uuid-3' }), ['parent_cycle']],
    ['a line twice', (lines) => lines.toSpliced(2, 0, lines[1] ?? {}), ['duplicate_id']],
    ['swapped lines', ([a, b, c, d]) => [a, c, b, d].map((line) => line ?? {}), ['wrong_shape']],
  ];
  for (const [name, damage, expected] of rows) {
    await t.test(name, () => {
      const { records, notes } = readClaudeLines(damage(build()));
      assert.deepEqual(itemsOf(records), whole);
      assert.deepEqual(kindsOf(notes).toSorted(), expected.toSorted());
      assert.ok(notes.every((note) => !note.lost));
    });
  }
});

test('subagents stand aside, except in a file of their own', () => {
  const side = { isSidechain: true };
  const mixed = new ClaudeLines().user('a').user('do this', side).from('uuid-1').says('m1', 'b');
  assert.deepEqual(itemsOf(readClaudeLines(mixed.lines).records), ['user:a', 'assistant:b']);
  assert.deepEqual(sideOf(readClaudeLines(mixed.lines).records), ['subagent:user:do this']);
  const own = new ClaudeLines().user('do this', side).user('and this', side);
  assert.deepEqual(itemsOf(readClaudeLines(own.lines).records), ['user:do this', 'user:and this']);
});

test('turns start at prompts and end where the client says so, at a stop, or at the next prompt', () => {
  const lines = new ClaudeLines()
    .user('a')
    .says('m1', 'b')
    .add({ type: 'system', subtype: 'turn_duration', durationMs: 5 });
  lines.user('c').user('[Request interrupted by user]').user('d').user('e');
  const turns = readClaudeLines(lines.lines).records.filter((record) => record.type.startsWith('turn_'));
  assert.deepEqual(
    turns.map((turn) => turn.type),
    [
      'turn_started', 'turn_complete',
      'turn_started', 'turn_aborted',
      'turn_started', 'turn_complete',
      'turn_started',
    ],
  ); // prettier-ignore
});

/** Values that are nearly lines: parts of real shapes in the wrong places. */
const nearlyLine = fc.record(
  {
    type: fc.constantFrom(
      'user',
      'assistant',
      'system',
      'attachment',
      'progress',
      'last-prompt',
      'summary',
      7,
    ),
    subtype: fc.constantFrom(
      'compact_boundary',
      'microcompact_boundary',
      'turn_duration',
      'local_command',
      null,
    ),
    uuid: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 4),
    parentUuid: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', null, 4),
    logicalParentUuid: fc.constantFrom('a', 'b', 'z', null),
    leafUuid: fc.constantFrom('a', 'b', 'z', null),
    isSidechain: fc.boolean(),
    isCompactSummary: fc.boolean(),
    compactMetadata: fc.oneof(
      fc.jsonValue(),
      fc.record({
        preservedMessages: fc.record({
          uuids: fc.array(fc.constantFrom('a', 'b', 'z')),
          anchorUuid: fc.constantFrom('c', 'd'),
        }),
      }),
    ),
    microcompactMetadata: fc.jsonValue(),
    attachment: fc.oneof(
      fc.jsonValue(),
      fc.record({ type: fc.constantFrom('file', 'date'), content: fc.jsonValue() }),
    ),
    rendered: fc.jsonValue(),
    toolUseResult: fc.jsonValue(),
    message: fc.oneof(
      fc.jsonValue(),
      fc.record({
        id: fc.constantFrom('m1', 'm2', 3),
        model: fc.constantFrom('model-a', '<synthetic>', null),
        usage: fc.oneof(fc.jsonValue(), fc.record({ input_tokens: fc.integer() })),
        content: fc.oneof(
          fc.string(),
          fc.array(
            fc.record(
              {
                type: fc.constantFrom('text', 'tool_use', 'tool_result', 'thinking', 'image'),
                text: fc.oneof(fc.string(), fc.integer()),
                id: fc.constantFrom('c1', 'c2', 1),
                tool_use_id: fc.constantFrom('c1', 'c2', 1),
                content: fc.jsonValue(),
                name: fc.constantFrom('Bash', 1),
                source: fc.jsonValue(),
              },
              { requiredKeys: [] },
            ),
          ),
        ),
      }),
    ),
  },
  { requiredKeys: [] },
);

function asLines(values: readonly unknown[]): JsonObject[] {
  return JSON.parse(JSON.stringify(values)) as JsonObject[];
}

test('no shape of JSON breaks the reader, and every message of a line is told once', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue());
  fc.assert(
    fc.property(fc.array(fc.oneof(nearlyLine, object), { maxLength: 12 }), (values) => {
      const lines = asLines(values);
      const { records } = readClaudeLines(lines);
      const seen = new Set(records.map((record) => record.line));
      // A compaction takes the line of its boundary for its summary's too.
      const taken = records
        .filter((record) => record.type === 'compacted')
        .flatMap((record) => record.replacement);
      const itemLines = lines.filter((_, index) => seen.has(index + 1)).length;
      assert.ok(itemLines + taken.length >= lines.length);
    }),
    { seed: 20261121, numRuns: 500 },
  );
});

/** Skims a line whatever its length: white space makes it long enough. */
function skimPadded(text: string): JsonObject | undefined {
  return skimLine(text + ' '.repeat(SKIM_FROM_CHARACTERS));
}

test('the survey finds in a skimmed line what it finds in the parsed one', () => {
  fc.assert(
    fc.property(fc.array(nearlyLine, { maxLength: 8 }), fc.boolean(), (values, isSpaced) => {
      const lines = asLines(values);
      const surveyed = (skim: boolean) => {
        const notes: DamageNote[] = [];
        const surveyor = claudeCodeReader.survey?.((note) => notes.push(note));
        for (const [index, line] of lines.entries()) {
          const text = JSON.stringify(line, null, isSpaced ? 1 : 0);
          surveyor?.accept(skim ? (skimPadded(text) ?? line) : line, { line: index + 1, part: 0 });
        }
        surveyor?.end();
        return { survey: surveyor?.result(), notes };
      };
      assert.deepEqual(surveyed(true), surveyed(false));
    }),
    { seed: 20261121, numRuns: 500 },
  );
});

test('skimming is unsure of what is not one whole object', () => {
  for (const text of [
    '',
    '[]',
    '{"a":1',
    '{"a" 1}',
    '{"a":}',
    '{"a":1}{',
    '{"\\u0061":1}',
    '"x"',
    '{"a":"\\"}',
    'nul',
  ]) {
    assert.equal(skimPadded(text), undefined, text);
  }
  assert.equal(skimLine('{}'), undefined);
  assert.deepEqual(skimPadded(' {"x":"a\\\\","uuid":"\\u0061\\"b", "y":{"uuid":"no"},"z":[1e5,null]} '), {
    uuid: 'a"b',
  });
});
