import assert from 'node:assert/strict';
import { test } from 'node:test';

import { scriptEdits } from './script-edits.ts';

const written = "open('dome.py', 'w').write(text)";

const table: readonly (readonly [program: string, told: readonly string[]])[] = [
  // What puts a text in place tells nothing beside it.
  [
    `at = 0\nfor i, row in enumerate(rows):\n  at = i + 1\nindent = " " * 8\nmore = [\n  indent + "turn(wind)",\n]\nrows[at:at] = more\n${written}`,
    ['  indent + "turn(wind)",'],
  ],
  // A text of several rows is told whole.
  [
    `new = """\ndef turn():\n    pass\n"""\nbody = body + new\n${written}`,
    ['new = """', 'def turn():', '    pass', '"""'],
  ],
  // Where there is no text, everything that is no plumbing is told.
  [`rows = sorted(rows)\n${written}`, ['rows = sorted(rows)']],
];

for (const [program, told] of table) {
  test(`told of: ${program.replaceAll('\n', '|')}`, () => {
    assert.deepEqual(
      scriptEdits(program).map(({ path, how }) => [path, how.split('\n')]),
      [['dome.py', told]],
    );
  });
}
