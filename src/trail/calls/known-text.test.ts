import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { bringUpToDate, isTouched } from './known-text.ts';
import type { FileChange, TextReplacement } from './known-text.ts';

/** What is left of a text after edits, each a pair of old and new. */
function after(text: string, isWritten: boolean, ...edits: readonly TextReplacement[]): string {
  const known = { text, isWritten, replaced: '', changes: 0 };
  bringUpToDate(known, changesOf(edits));
  return known.text;
}

const changesOf = (edits: readonly TextReplacement[]): FileChange[] =>
  edits.map((edit, at) => ({ number: at + 1, replaced: [edit] }));
const piece = (old: string, text: string): TextReplacement => ({ old, new: text, isLines: false });
const lines = (old: string, text: string): TextReplacement => ({ old, new: text, isLines: true });

test('lines that an edit took out are gone, those that it kept or wrote again stay', () => {
  const file = 'open();\n  turn();\n  look();\nclose();';
  assert.equal(
    after(file, true, piece('  turn();\n  look();', '  look();\n  log();')),
    'open();\nlook();\nclose();',
  );
  assert.equal(after(file, true, lines('  turn();\nclose();', '')), 'open();\nlook();');
});

test('a place inside of a line is replaced, as often as it stands there, with whatever signs', () => {
  assert.equal(after('a(oldName, oldName);', true, piece('oldName', '$& new')), 'a($& new, $& new);');
  assert.equal(after('go(x);', true, piece('x', 'y')), 'go(x);', 'too short to be known again');
  assert.equal(after('head\nopen();', true, piece('open();', 'open();\nturn();')), 'head\nopen();\nturn();');
});

test('a whole line of a patch is no place inside of another line', () => {
  assert.equal(
    after('return dome;\nreturn dome;  // kept', true, lines('  return dome;', '')),
    'return dome;  // kept',
  );
});

test('the numbers of a reader go with the first change that is not in the text, those of the text itself stay', () => {
  for (const numbered of [
    '  9→open();\n 10→  turn();',
    '     9\topen();\n    10\t  turn();',
    '00009| open();\n00010|   turn();',
    '9:open();\n10:  turn();',
  ]) {
    assert.equal(after(numbered, false, { old: '', new: '', isLines: true }), 'open();\nturn();', numbered);
    assert.equal(after(numbered, false), numbered, 'nothing changed since it was read');
  }
  const codes = 'codes:\n404: gone\nother: fine\nmore: fine';
  assert.equal(after(codes, false, lines('x', '')), codes);
  assert.equal(after('404: gone', true, lines('x', '')), '404: gone');
});

test('a change is taken in once, and one that the text was read after is not', () => {
  const changes = changesOf([piece('open', 'reopen')]);
  const known = { text: 'open', isWritten: false, replaced: '', changes: 0 };
  bringUpToDate(known, changes);
  bringUpToDate(known, changes);
  assert.equal(known.text, 'reopen');
  const newer = { text: 'open', isWritten: false, replaced: '', changes: 1 };
  bringUpToDate(newer, changes);
  assert.equal(newer.text, 'open');
});

test('a text is touched by what changes it, and by nothing else', () => {
  assert.equal(isTouched('  open();\n  turn();', changesOf([piece('turn();', 'spin();')])), true);
  assert.equal(isTouched('  open();\n  turn();', changesOf([piece('close();', 'shut();')])), false);
});

test('whatever an edit replaces in a file of distinct lines, what is known of it is the new file', () => {
  const row = fc.stringMatching(/^[a-z]{6,9}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(row, { minLength: 3, maxLength: 12 }),
      fc.nat(),
      fc.nat(),
      (rows, from, count) => {
        const start = from % rows.length;
        const old = rows.slice(start, start + 1 + (count % rows.length));
        const rest = rows.filter((one) => !old.includes(one));
        assert.equal(after(rows.join('\n'), false, lines(old.join('\n'), 'UNKNOWN')), rest.join('\n'));
      },
    ),
    { seed: 6 },
  );
});
