import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textOf } from '../lines/line.ts';
import { lineWidth } from '../lines/wrap.ts';
import { completionLines, indexFiles, mentionAt, suggestCommands, suggestFiles } from './completion.ts';
import type { Mention } from './completion.ts';

const NAMES = [
  'README.md',
  'src/cli/main.ts',
  'src/main.ts',
  'src/cli/program.ts',
  'test/main.test.ts',
  'docs/my notes.md',
];

function inserts(query: string, names: readonly string[] = NAMES): string[] {
  return suggestFiles(indexFiles(names), query).map(({ insert }) => insert);
}

function commands(before: string): string[] {
  const mention = mentionAt(before, true);
  assert.ok(mention);
  return suggestCommands(mention).map(({ insert }) => insert);
}

test('what the cursor stands behind', () => {
  const cases: readonly (readonly [before: string, mention: Mention | undefined])[] = [
    ['@', { kind: 'file', query: '', length: 1 }],
    ['look at @src/ma', { kind: 'file', query: 'src/ma', length: 7 }],
    ['look (@src', { kind: 'file', query: 'src', length: 4 }],
    ['@"my no', { kind: 'file', query: 'my no', length: 7 }],
    ['/', { kind: 'command', query: '', length: 1 }],
    ['/com', { kind: 'command', query: 'com', length: 4 }],
    ['/undo ', { kind: 'argument', query: '', length: 0, command: 'undo' }],
    ['/compact @src', { kind: 'file', query: 'src', length: 4 }],
    ['a@b.c', undefined],
    ['@src/main.ts and', undefined],
    ['@"my notes.md"', undefined],
    ['see /com', undefined],
    ['/usr/bin', undefined],
    [`${'x'.repeat(400)}/com`, undefined],
  ];
  for (const [before, mention] of cases)
    assert.deepEqual(mentionAt(before, true), mention, before.slice(0, 20));
  assert.equal(mentionAt('/com', false), undefined);
});

test('commands: the ones that begin so, then fuzzy ones; Enter may send what needs no argument', () => {
  assert.deepEqual(commands('/co').slice(0, 2), ['/compact', '/context']);
  assert.ok(commands('/').length > 15);
  assert.equal(commands('/')[0], '/compact');
  assert.deepEqual(commands('/ex'), ['/exit', '/context']);
  assert.deepEqual(commands('/pin'), ['/pin ', '/unpin']);
  assert.deepEqual(commands('/undo t'), ['turn', 'compaction']);
  assert.deepEqual(commands('/autocompact '), ['tag', 'suggest', 'auto', 'off']);
  assert.deepEqual(commands('/why '), []);
  const [pin, unpin] = suggestCommands({ kind: 'command', query: 'pin', length: 4 });
  assert.deepEqual([pin?.isWhole, unpin?.isWhole], [false, true]);
});

test('files: the shallow ones first, directories with a slash, the last part of a name before the rest', () => {
  assert.deepEqual(inserts('').slice(0, 5), [
    '@README.md ',
    '@docs/',
    '@src/',
    '@test/',
    '@"docs/my notes.md" ',
  ]);
  assert.deepEqual(inserts('main'), ['@src/main.ts ', '@test/main.test.ts ', '@src/cli/main.ts ']);
  assert.deepEqual(inserts('cli/'), ['@src/cli/', '@src/cli/main.ts ', '@src/cli/program.ts ']);
  assert.deepEqual(inserts('comp', ['test/compact/a', 'src/compact/b']).slice(0, 2), [
    '@src/compact/',
    '@test/compact/',
  ]);
  assert.deepEqual(inserts('nowhere'), []);
});

test('names with spaces, quotes and control characters stay one mention, and drive no terminal', () => {
  assert.deepEqual(inserts('notes'), ['@"docs/my notes.md" ']);
  assert.deepEqual(inserts('a', ['a"b', 'my dir/a']).toSorted(), ['@"a\\"b" ', '@"my dir/a" ']);
  assert.deepEqual(inserts('my', ['my dir/x'])[0], '@"my dir/');
  const [evil] = suggestFiles(indexFiles(['a\u001B]0;t\u0007\n\u202Eb']), 'a');
  assert.equal(evil?.label, 'a\\u001b]0;t\\u0007\\u000a\\u202eb');
  assert.equal(evil?.insert, '@"a\\u001b]0;t\\u0007\\u000a\\u202eb" ');
});

test('a list is six rows with a counter, in every width', () => {
  const suggestions = suggestCommands({ kind: 'command', query: '', length: 1 });
  for (const width of [10, 50, 80]) {
    for (const hasUnicode of [true, false]) {
      const canvas = { width, rows: 24, hasUnicode };
      for (const selected of [0, 7, suggestions.length - 1]) {
        const mention: Mention = { kind: 'command', query: '', length: 1 };
        const lines = completionLines({ mention, suggestions, selected }, canvas);
        assert.equal(lines.length, 6);
        assert.ok(lines.every((line) => lineWidth(line) <= width));
        assert.equal(textOf(lines.at(-1) ?? []).trim(), `(${selected + 1}/${suggestions.length})`);
        assert.equal(lines.filter((line) => /^[❯>] /.test(textOf(line))).length, 1);
        // oxlint-disable-next-line no-control-regex
        if (!hasUnicode) assert.match(lines.map(textOf).join(''), /^[\u0020-\u007E]*$/);
      }
    }
  }
});

// A key shows within 20 ms; the machine of a test may be four times as busy.
test('a key in a mention costs little among 20,000 files', () => {
  const names = Array.from(
    { length: 20_000 },
    (_, at) => `packages/part-${at % 200}/src/feature-${at % 37}/file-${at}.test.ts`,
  );
  const index = indexFiles(names);
  for (const query of ['f', 'fi', 'fil', 'file', 'file1', 'packsrcfeat', 'zzz', 'src/file-19999']) {
    const { user, system } = process.cpuUsage();
    suggestFiles(index, query);
    const after = process.cpuUsage();
    const ms = (after.user + after.system - user - system) / 1000;
    assert.ok(ms < 80, `${query}: ${ms} ms`);
  }
});
