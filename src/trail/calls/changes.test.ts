import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changedRows } from './changes.ts';
import { meaningOf } from './calls.ts';

function rowsOf(name: string, args: object | string): readonly string[] {
  const input = typeof args === 'string' ? args : JSON.stringify(args);
  return changedRows(meaningOf({ name, input, callId: '1' }).files, 1_000)?.split('\n') ?? [];
}

test('an edit is told by the rows that differ, not by those around them', () => {
  const args = {
    file_path: '/a/dome.ts',
    old_string: 'open();\nturn(1);\nclose();',
    new_string: 'open();\n  turn(2);\n  wait();\nclose();',
  };
  assert.deepEqual(rowsOf('Edit', args), ['- turn(1);', '+   turn(2);', '+   wait();']);
});

test('of what goes three rows are told, of what comes all, and a new file has only those', () => {
  const old = Array.from({ length: 9 }, (_, at) => `turn(${at});`).join('\n');
  assert.deepEqual(rowsOf('Edit', { file_path: 'a.ts', old_string: old, new_string: 'park();' }), [
    '- turn(0);',
    '- turn(1);',
    '- turn(2);',
    '- … (6 more)',
    '+ park();',
  ]);
  assert.deepEqual(rowsOf('Write', { file_path: 'a.ts', content: 'one();\n\ntwo();' }), [
    '+ one();',
    '+ two();',
  ]);
});

test('what has no room is counted, however long the text is', () => {
  const content = Array.from({ length: 4_000 }, (_, at) => `turn(${at});\n{`).join('\n');
  const rows = rowsOf('Write', { file_path: 'a.ts', content });
  const shown = rows.filter((row) => row.startsWith('+ turn')).length;
  assert.equal(rows.at(-1), `… (${4_000 - shown} more)`);
  const old = Array.from({ length: 9 }, (_, at) => `turn(${at});`).join('\n');
  const cut = rowsOf('Edit', {
    file_path: 'a.ts',
    old_string: old,
    new_string: content.replaceAll('turn', 'halt'),
  });
  assert.equal(cut.at(-1), `… (${4_000 - cut.filter((row) => row.startsWith('+ halt')).length} more)`);
  assert.ok(cut.includes('- … (6 more)'));
  assert.deepEqual(rowsOf('Write', { file_path: 'a.ts', content: 'a();\n}\n}' }).at(-1), '+ }');
});

test('one edit at many places is told once, with how many there are', () => {
  const hooks = ['open', 'turn', 'park', 'close'];
  const patch = [
    '*** Begin Patch',
    '*** Update File: a.json',
    ...hooks.flatMap((hook) => [
      '@@',
      ` "${hook}": [`,
      `-  "exec dome ${hook}"`,
      `+  "cd $(top) && exec dome ${hook}"`,
    ]),
    '*** End Patch',
  ].join('\n');
  assert.deepEqual(rowsOf('apply_patch', patch), [
    '-   "exec dome open"',
    '+   "cd $(top) && exec dome open"',
    '… (the same at 4 places)',
  ]);
  const other = patch.replace('&& exec dome park', '&& exec dome halt');
  assert.equal(rowsOf('apply_patch', other).length, 8, 'another edit among them');
  const all = { file_path: 'a.ts', old_string: 'turn', new_string: 'spin', replace_all: true };
  assert.deepEqual(rowsOf('Edit', all), ['- turn', '+ spin', '… (wherever it stood)']);
});

test('a patch of several files says which row is of which', () => {
  const patch = [
    '*** Begin Patch',
    '*** Update File: a.ts',
    '@@',
    ' open();',
    '-turn(1);',
    '+turn(2);',
    '*** Add File: b.ts',
    '+park();',
    '*** End Patch',
  ].join('\n');
  assert.deepEqual(rowsOf('apply_patch', patch), ['a.ts:', '- turn(1);', '+ turn(2);', 'b.ts:', '+ park();']);
});

test('an edit by a script is told by what the script was told to do, once for all of its files', () => {
  const bash = (command: string): readonly string[] => rowsOf('bash', { command });
  assert.deepEqual(bash("sed -i -e 's/slow/fast/' -e '/old/d' a.ts b.ts"), ['~ s/slow/fast/', '~ /old/d']);
  assert.deepEqual(bash("perl -pi -e 's/slow/fast/' a.ts"), ['~ s/slow/fast/']);
  const program = [
    'from pathlib import Path',
    "path = Path('dome.py')",
    'text = path.read_text()',
    "text = text.replace('turn(1)', 'turn(2)')",
    'path.write_text(text)',
    "print('turned')",
  ];
  const told = ["~ text = text.replace('turn(1)', 'turn(2)')"];
  assert.deepEqual(bash(`python3 - <<'EOF'\n${program.join('\n')}\nEOF`), told);
  assert.deepEqual(bash("cat >> a.md <<'EOF'\nMore.\nEOF"), ['+ More.']);
});

test('reading changes nothing', () => {
  assert.deepEqual(rowsOf('Read', { file_path: 'a.ts' }), []);
  assert.deepEqual(rowsOf('bash', { command: 'cat a.ts' }), []);
});
