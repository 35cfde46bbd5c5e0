import assert from 'node:assert/strict';
import { test } from 'node:test';

import { foldedRows, withFolds, withoutEqual } from './runs-of-rows.ts';

/** Rows as they are told where only `counting` counts. */
function told(rows: readonly string[], ...counting: readonly string[]): string[] {
  return withFolds(rows, foldedRows(rows, new Set(counting)));
}

const PORTS = ['anchor.md', 'beacon/', 'cove.txt', 'dune/', 'eddy.md', 'fjord.md', 'gulf.md'];

test('the names of a listing are told by the first three and how many more', () => {
  assert.deepEqual(told(PORTS), ['anchor.md', 'beacon/', 'cove.txt', '… (4 more)']);
});

test('a row of a listing that names what counts stays where it stood, and no mark is for one or two', () => {
  assert.deepEqual(
    told(['In the port:', ...PORTS.slice(0, 6), 'tide-table.md', 'wharf.md'], 'tide-table.md'),
    ['In the port:', 'anchor.md', 'beacon/', 'cove.txt', '… (3 more)', 'tide-table.md', 'wharf.md'],
  );
});

test('a short listing stands whole, and so do rows that say more than a name', () => {
  assert.deepEqual(told(PORTS.slice(0, 5)), PORTS.slice(0, 5));
  const code = ['const a = 1;', 'turn(a);', 'halt();', 'open();', 'close();', 'wait();', 'go();'];
  assert.deepEqual(told(code), code);
  const rows = PORTS.map((name) => `${name} was dredged`);
  assert.deepEqual(told(rows), rows);
});

test('imports are told by the first three, over several rows and numbered, in the languages at hand', () => {
  const rest = ['', 'export function turn() {'];
  for (const imports of [
    [
      "import a from 'a';",
      "import b from 'b';",
      'import {',
      '  c,',
      '  d,',
      "} from 'c';",
      "export * from 'd';",
    ],
    [
      '     1→import (',
      '     2→\t"fmt"',
      '     3→\t"os"',
      '     4→\tsea "port/sea"',
      '     5→\t"time"',
      '     6→)',
    ],
    ['from a import b', 'import c', 'from d import (', '    e,', '    f as g,', ')', 'import h'],
    ['use a::b;', 'use c::{', '    d,', '    E,', '};', 'use f::g::*;', 'pub use h::i;'],
    [
      '#include <a.h>',
      '#include <b.h>',
      '#include <c.h>',
      '#include "d.h"',
      '#include "e.h"',
      '#include "f.h"',
    ],
    [
      "const a = require('a');",
      ...['b', 'c', 'd', 'e', 'f'].map((name) => `const ${name} = require('${name}');`),
    ],
  ]) {
    const rows = told([...imports, ...rest]).map((row) => row.trim());
    const expected = [...imports.slice(0, 3), `… (${imports.length - 3} more)`, ...rest];
    assert.deepEqual(
      rows,
      expected.map((row) => row.trim()),
    );
  }
});

test('rows of `ls -l` and of checks that passed are runs, and one kind ends the other', () => {
  const long = PORTS.map((name) => `-rw-r--r--  1 pia staff 512 Feb 24 11:42 ${name}`);
  const passed = PORTS.map((name) => `OK: ${name} is charted`);
  assert.deepEqual(told([...long, ...passed]), [
    ...long.slice(0, 3),
    '… (4 more)',
    ...passed.slice(0, 3),
    '… (4 more)',
  ]);
});

test('that one more check passed is no reason to tell what it was about', () => {
  const passed = PORTS.map((name) => `✓ ${name} is charted`);
  assert.deepEqual(told(passed, 'fjord.md'), [...passed.slice(0, 3), '… (4 more)']);
});

test('three equal rows or more are told once with their number, two and bare marks as they stand', () => {
  const rows = [
    'steady',
    'steady',
    'dim',
    'steady',
    'steady',
    'steady',
    '}',
    '}',
    '}',
    'out',
    'out',
    'out',
    'out',
  ];
  assert.deepEqual(
    withoutEqual(rows, (row) => row.slice(0, 5)),
    ['stead', 'stead', 'dim', 'stead (3×)', '}', '}', '}', 'out (4×)'],
  );
  assert.deepEqual(withoutEqual([]), []);
});
