import assert from 'node:assert/strict';
import { test } from 'node:test';
import stringWidth from 'string-width';
import type { Look } from './io.ts';
import { columns, fitPath, fitWidth, foldLines, padEnd, paint } from './style.ts';

const LOOK: Look = { hasColor: true, seal: '0f', hasUnicode: true, width: 20 };

test('a text takes the columns that a terminal gives it', () => {
  for (const [text, width] of [
    ['ledger', 6],
    ['帳簿を直す', 10],
    ['고침', 4],
    ['👩‍🔧', 2],
    ['🇩🇪', 2],
    ['e\u0301', 1],
    ['█░▏…→', 5],
    [paint(LOOK, 'good', '帳簿'), 4],
  ] as const) {
    assert.equal(columns(text), width, text);
  }
});

test('one column is taken by every character of which that is taken for granted', () => {
  for (let code = 0x20; code < 0x2600; code++) {
    const text = String.fromCharCode(code);
    assert.equal(columns(text), stringWidth(text), code.toString(16));
  }
});

test('a text is shortened between characters, never to more than its width', () => {
  assert.equal(fitWidth(LOOK, '帳簿を直す', 10), '帳簿を直す');
  assert.equal(fitWidth(LOOK, '帳簿を直す', 9), '帳簿を直…');
  assert.equal(fitWidth(LOOK, '帳簿を直す', 8), '帳簿を…');
  assert.equal(fitWidth(LOOK, '👩‍🔧👩‍🔧👩‍🔧', 5), '👩‍🔧👩‍🔧…');
  assert.equal(fitWidth({ ...LOOK, hasUnicode: false }, 'abcdef', 4), 'ab..');
  assert.equal(columns(padEnd('帳簿', 6)), 6);
});

test('sentences are broken for a terminal only', () => {
  const sentence = 'The 帳簿 of the second quarter holds 12 entries.';
  const folded = foldLines(LOOK, sentence);
  assert.ok(folded.split('\n').length > 1);
  for (const line of folded.split('\n')) assert.ok(columns(line) <= 20, line);
  assert.equal(foldLines({ ...LOOK, isPiped: true }, sentence), sentence);
});

test('a path loses its beginning, a command that ends a line stays whole', () => {
  assert.equal(fitPath(LOOK, '/home/ada/ledger/docs/plan.md', 20), '…/docs/plan.md');
  assert.equal(fitPath(LOOK, '/home/ada/ledger-of-the-harbour.md', 20), 'ledger-of-the-harbo…');
  assert.equal(fitPath(LOOK, 'cat docs/plan.md docs/tides.md', 20), 'cat docs/plan.md do…');
  assert.equal(
    foldLines(LOOK, 'Undo it with: baton undo a.jsonl --out FILE'),
    'Undo it with:\n  baton undo a.jsonl --out FILE',
  );
});
