import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { meaningOf } from './calls.ts';
import { cellActions } from './cells.ts';

/** What a cell does to files, as the trail takes it in. */
function filesOf(code: string) {
  const { files, command } = meaningOf({ name: 'run_ipython', callId: '1', input: JSON.stringify({ code }) });
  assert.equal(command, undefined);
  return files.map(({ action, path, added, replaced, range }) => {
    const old = replaced?.map((one) => one.old).join('|');
    return [action, path, added, old, range?.from].filter((part) => part !== undefined && part !== '');
  });
}

test('the helpers of a cell are files that are read, written and edited', () => {
  assert.deepEqual(filesOf("open_file('/w/lens.ts', line_number=40)"), [['read', '/w/lens.ts', 40]]);
  assert.deepEqual(filesOf("create_file('/w/horn.ts')"), [['create', '/w/horn.ts']]);
  const replaced = `edit_file_by_replace(\n'/w/lens.ts',\nto_replace="""open(a)\n""",\nnew_content='it\\'s\\n(lit)')`;
  assert.deepEqual(filesOf(replaced), [['edit', '/w/lens.ts', "it's\n(lit)", 'open(a)\n']]);
  assert.deepEqual(filesOf(`insert_content_at_line("/w/a.py", 3, r"""x\\n""")`), [
    ['edit', '/w/a.py', 'x\\n'],
  ]);
  assert.deepEqual(filesOf("append_file(file_name='/w/log', content='done')"), [['edit', '/w/log', 'done']]);
});

test('an editor that is given a dictionary does what its command says', () => {
  const edit = `{'command': 'str_replace', 'path': '/w/lens.ts', 'old_str': 'dim', 'new_str': "bright"}`;
  assert.deepEqual(filesOf(`print(file_editor(**${edit}))`), [['edit', '/w/lens.ts', 'bright', 'dim']]);
  const view = `{'command': 'view', 'path': '/w/lens.ts'}`;
  assert.deepEqual(filesOf(`print(file_editor(**${view}))`), [['read', '/w/lens.ts']]);
});

test('a file that a cell opens to write is written, one that it opens otherwise is not', () => {
  assert.deepEqual(filesOf("with open('LICENSE', 'w') as f:\n    f.write(text)"), [['create', 'LICENSE']]);
  assert.deepEqual(filesOf("open('log.txt', 'a').write('x')"), [['edit', 'log.txt']]);
  assert.deepEqual(filesOf("open('LICENSE')\nopen(path, 'w')\nreopen('b', 'w')\nopen('c', mode)"), []);
});

test('a call inside of a text is a text, and several calls are told in order', () => {
  const code = `create_file('a.py')\nappend_file('a.py', "create_file('b.py')")\nopen_file('c.py')`;
  assert.deepEqual(
    filesOf(code).map(([action, path]) => [action, path]),
    [
      ['create', 'a.py'],
      ['edit', 'a.py'],
      ['read', 'c.py'],
    ],
  );
});

test('no cell breaks the reading, and a long one takes no longer than its length', () => {
  const piece = fc.constantFrom(
    'open_file(',
    "'",
    '"""',
    '(',
    ')',
    '{',
    '**{',
    ',',
    '=',
    '\\',
    'a',
    '\n',
    ':',
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      for (const action of cellActions(pieces.join(''), (name) => [{ action: 'read', path: name }])) {
        assert.equal(typeof action.path, 'string');
      }
    }),
    { seed: 11, numRuns: 2_000 },
  );
  assert.deepEqual(
    cellActions(`append_file('a', ${'("'.repeat(100_000)}`, () => []),
    [],
  );
});
