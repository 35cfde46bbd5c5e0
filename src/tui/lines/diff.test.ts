import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { changeHeading, diffLines } from './diff.ts';
import { textOf, type Line } from './line.ts';
import { lineWidth } from './wrap.ts';

const CANVAS = { width: 40, hasUnicode: true };

const DIFF = `--- a/x.ts
+++ b/x.ts
@@ -8,4 +8,5 @@
 const a = 1;
--- not a title
+const b = "two words that wrap at 40 columns";
+
 }
 
@@ -101 +102 @@
-old
\\ No newline at end of file
+let c;
`;

function frame(unified: string, width: number, hasUnicode = true): string[] {
  return diffLines(unified, 'x.ts', { width, hasUnicode }).map(textOf);
}

function hued(spans: Line): string {
  return spans.map(({ text, hue }) => (hue === undefined ? text : `<${hue}:${text}>`)).join('');
}

test('draws line numbers, signs, gaps and hanging rows', () => {
  assert.deepEqual(frame(DIFF, 40), [
    '  8   const a = 1;',
    '  9 - -- not a title',
    '  9 + const b = "two words that wrap at ',
    '      40 columns";',
    ' 10 + ',
    ' 11   }',
    ' 12   ',
    '  ⋯',
    '101 - old',
    '\\ No newline at end of file',
    '102 + let c;',
  ]);
});

test('leaves the numbers out where there is no room for them', () => {
  assert.deepEqual(frame('@@ -1,2 +1,2 @@\n a\n-b\n+the new text of it\n', 12), [
    '  a',
    '- b',
    '+ the new te',
    '  xt of it',
  ]);
});

test('draws without Unicode', () => {
  assert.deepEqual(frame('@@ -1 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-c\n+d\n', 40, false), [
    '1 - a',
    '1 + b',
    '...',
    '9 - c',
    '9 + d',
  ]);
});

test('context is quiet, a removed line is of one hue, an added one is highlighted', () => {
  assert.deepEqual(diffLines('@@ -1,2 +1,2 @@\n let a;\n-let b;\n+let c;\n', 'x.ts', CANVAS).map(hued), [
    '<quiet:1 ><quiet:  ><quiet:let a;>',
    '<quiet:2 ><bad:- ><bad:let b;>',
    '<quiet:2 ><good:+ ><keyword:let> c;',
  ]);
  assert.deepEqual(diffLines('@@ -0,0 +1 @@\n+let c;\n', 'notes', CANVAS).map(hued), [
    '<quiet:1 ><good:+ ><good:let c;>',
  ]);
});

test('a comment that begins in the context goes on in added lines, not in removed ones after its end', () => {
  const unified = '@@ -1,3 +1,3 @@\n /* a\n-*/\n+b\n c */\n';
  const [, , added] = diffLines(unified, 'x.ts', CANVAS);
  assert.equal(hued(added ?? []), '<quiet:2 ><good:+ ><comment:b>');
});

test('a text that is not a diff is shown', () => {
  assert.deepEqual(frame('Binary files differ\n', 40), ['Binary files differ']);
  assert.deepEqual(frame('', 40), []);
});

const counts = { added_lines: 2, removed_lines: 1 };

test('names what happened to a file', () => {
  const heading = (change: Parameters<typeof changeHeading>[0], hasUnicode = true): string =>
    textOf(changeHeading(change, { hasUnicode }));
  assert.equal(heading({ action: 'edit', path: 'a.ts', ...counts }), 'Edited a.ts (+2 -1)');
  assert.equal(
    heading({ action: 'create', path: 'a.ts', added_lines: 3, removed_lines: 0 }),
    'Created a.ts (+3)',
  );
  assert.equal(
    heading({ action: 'delete', path: 'a.ts', added_lines: 0, removed_lines: 3 }),
    'Deleted a.ts (-3)',
  );
  const moved = { action: 'move', path: 'a.ts', to: 'b.ts', added_lines: 0, removed_lines: 0 } as const;
  assert.equal(heading(moved), 'Moved a.ts → b.ts');
  assert.equal(heading(moved, false), 'Moved a.ts -> b.ts');
});

test('no row is wider than the terminal', () => {
  const row = fc.tuple(
    fc.constantFrom('+', '-', ' ', '', '@@ -1,3 +1,3 @@', '@@ -998 +9998,4 @@', '\\ '),
    fc.constantFrom('', 'text', '日本語のテキスト', '\tindented', 'a'.repeat(30), '\u001B[2J', '/*'),
  );
  const unified = fc
    .array(row, { maxLength: 20 })
    .map((rows) => rows.map((parts) => `${parts.join('')}\n`).join(''));
  fc.assert(
    fc.property(unified, fc.integer({ min: 6, max: 60 }), (text, width) => {
      for (const each of diffLines(text, 'x.ts', { width, hasUnicode: true })) {
        assert.ok(lineWidth(each) <= width, `${textOf(each)} in ${width}`);
      }
    }),
  );
});
