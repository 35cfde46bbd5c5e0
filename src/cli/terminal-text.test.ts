import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { eraseLine, paint } from './style.ts';
import { printable, terminalText } from '../text/terminal-text.ts';

const SEAL = '0123456789abcdef';
const LOOK = { hasColor: true, seal: SEAL, hasUnicode: true, width: 80 };
const onTerminal = (text: string): string => terminalText(text, { seal: SEAL, isTerminal: true });
const inFile = (text: string): string => terminalText(text, { seal: SEAL, isTerminal: false });

for (const [name, hostile, shown] of [
  ['a clipboard', '\u001B]52;c;bHM=\u0007', String.raw`\u001b]52;c;bHM=\u0007`],
  ['a title', '\u001B]0;root\u001B\\', '\\u001b]0;root\\u001b\\'],
  ['a style', '\u001B[31mred\u001B[0m', String.raw`\u001b[31mred\u001b[0m`],
  ['C1', '\u009B2J\u009D0;x\u009C', String.raw`\u009b2J\u009d0;x\u009c`],
  ['a line drawn over', 'bad\rgood\b\b\u007F\u0000', String.raw`bad\u000dgood\u0008\u0008\u007f\u0000`],
] as const) {
  test(`${name} is shown, on a terminal and in a file`, () => {
    assert.equal(onTerminal(hostile), shown);
    assert.equal(inFile(hostile), shown);
    assert.equal(printable(hostile), shown);
  });
}

test('what deceives a reader is shown on a terminal, and left to files', () => {
  const hostile = 'a\u202Etxt.exe\u2066\u200F\u061C\u2028\uFEFF\u{E0041}\u200Bb';
  const shown = String.raw`a\u202etxt.exe\u2066\u200f\u061c\u2028\ufeff\udb40\udc41\u200bb`;
  assert.equal(onTerminal(hostile), shown);
  assert.equal(inFile(hostile), hostile);
});

test('words of every language, emoji, tabs and both line ends stay', () => {
  const text = 'Grüße 日本 می\u200Cخواهم 👩\u200D🚀\tx\r\n\n';
  assert.equal(onTerminal(text), text);
  assert.equal(printable('a\nb\tc'), String.raw`a\u000ab` + '\tc');
});

test("Baton's own styles work, and only those that it sealed", () => {
  assert.equal(onTerminal(paint(LOOK, 'bad', 'x\u001B[2J')), '\u001B[31mx\\u001b[2J\u001B[39m');
  assert.equal(onTerminal(`${eraseLine(LOOK)}x`), '\u001B[1G\u001B[Kx');
  const guessed = `\u001B${'f'.repeat(16)}[31m`;
  assert.equal(onTerminal(guessed), `\\u001b${guessed.slice(1)}`);
  assert.equal(onTerminal(`\u001B${SEAL}]52;c;x`), ']52;c;x', 'a seal before anything else is dropped');
});

test('a JSON document holds the same values behind the door', () => {
  const value = { text: 'a\u009B\u202E\\\u2028\u007F"\u{E0041}\uD800' };
  assert.deepEqual(JSON.parse(onTerminal(JSON.stringify(value, null, 2))), value);
});

test('no text gets a control character through', () => {
  const character = fc.integer({ min: 0, max: 0x2fff }).map((code) => String.fromCharCode(code));
  fc.assert(
    fc.property(fc.array(fc.oneof(character, fc.constantFrom('\u001B', '\u001B[31m', SEAL))), (pieces) => {
      const harmful = /(?!\r?\n|\t)[\p{Cc}\p{Bidi_Control}]/u;
      assert.doesNotMatch(terminalText(pieces.join(''), { seal: '', isTerminal: true }), harmful);
      assert.doesNotMatch(printable(pieces.join('')), /(?!\t)[\p{Cc}\p{Bidi_Control}]/u);
    }),
    { seed: 9, numRuns: 300 },
  );
});
