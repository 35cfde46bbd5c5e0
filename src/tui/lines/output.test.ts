import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { textOf } from './line.ts';
import { headLines, settledLine, tailLines } from './output.ts';
import { lineWidth } from './wrap.ts';

const CANVAS = { width: 20, hasUnicode: true };
const PRINTED = 'one\ntwo\nthree\nfour\nfive\n';

const SETTLED: readonly [name: string, printed: string, shown: string][] = [
  ['plain', 'a b', 'a b'],
  ['a progress bar', ' 10 %\r 50 %\r100 %', '100 %'],
  ['what a shorter text leaves', 'abcdef\rXY', 'XYcdef'],
  ['a Windows line end', 'abc\r', 'abc'],
  ['erased and written again', 'abcdef\r\u001B[Kxy', 'xy'],
  ['erased as a whole', 'abcdef\u001B[2K\rxy', 'xy'],
  ['erased to its end', 'abcdef\rab\u001B[0K', 'ab'],
  ['a spinner', '|\b/\b-\b', '-'],
  ['colours', '\u001B[1;31mred\u001B[0m \u001B[38;5;4mx\u001B[m', 'red x'],
  ['other sequences', 'a\u001B]0;title\u0007\u001B[2Jb', 'a\u001B]0;title\u0007\u001B[2Jb'],
  ['tab stops', 'a\tb\tc', 'a       b       c'],
  ['half of a wide character', '日本\rx', 'x 本'],
  ['a joined emoji over text', 'abcd\r👩‍👩‍👧‍👦', '👩‍👩‍👧‍👦cd'],
  ['an accent of two characters', 'xy\re\u0301', 'e\u0301y'],
];

for (const [name, printed, expected] of SETTLED) {
  test(`settles: ${name}`, () => assert.equal(settledLine(printed), expected));
}

test('shows the end, and how much was before it', () => {
  const tail = (text: string, rows: number): string[] => tailLines(text, rows, CANVAS).map(textOf);
  assert.deepEqual(tail(PRINTED, 2), ['… 3 earlier lines', 'four', 'five']);
  assert.deepEqual(tail(PRINTED, 4), ['… 1 earlier line', 'two', 'three', 'four', 'five']);
  assert.deepEqual(tail(PRINTED, 5), ['one', 'two', 'three', 'four', 'five']);
  assert.deepEqual(tail('', 5), []);
  assert.deepEqual(tail('a\n\n', 5), ['a', '']);
  assert.deepEqual(tail(`a\n${'x'.repeat(45)}`, 2), ['… 1 earlier line', 'x'.repeat(20), 'xxxxx']);
  assert.deepEqual(tail('a\u001B[2Jb', 2), ['a\\u001b[2Jb']);
  assert.deepEqual(tailLines(PRINTED, 1, { width: 20, hasUnicode: false }).map(textOf), [
    '... 4 earlier lines',
    'five',
  ]);
});

test('shows the beginning, and how much follows', () => {
  const head = (text: string, rows: number): string[] => headLines(text, rows, CANVAS).map(textOf);
  assert.deepEqual(head(PRINTED, 2), ['one', 'two', '… 3 more lines']);
  assert.deepEqual(head(PRINTED, 5), ['one', 'two', 'three', 'four', 'five']);
  assert.deepEqual(head(`${'x'.repeat(45)}\na`, 2), ['x'.repeat(20), 'x'.repeat(20), '… 1 more line']);
});

test('no row is wider than the terminal, and there are no more than asked for', () => {
  const piece = fc.constantFrom(
    'a',
    'bc ',
    '日本',
    '👍🏽',
    '\r',
    '\b',
    '\t',
    '\n',
    '\u001B[K',
    '\u001B[31m',
    '\u001B[2J',
    '\u0301',
    '\u0000',
  );
  const printed = fc.array(piece, { maxLength: 60 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      printed,
      fc.integer({ min: 2, max: 40 }),
      fc.integer({ min: 1, max: 6 }),
      (text, width, rows) => {
        for (const take of [tailLines, headLines]) {
          const lines = take(text, rows, { width, hasUnicode: true });
          assert.ok(lines.length <= rows + 1);
          for (const row of lines) assert.ok(lineWidth(row) <= width, JSON.stringify(textOf(row)));
        }
      },
    ),
  );
});

test('much output costs little: the end of 40 MB, and of a line of 40 MB', () => {
  const lines = 'some output of a command\n'.repeat(1_600_000);
  const before = process.cpuUsage();
  tailLines(lines, 5, CANVAS);
  tailLines('x'.repeat(40_000_000), 5, CANVAS);
  tailLines(`${'50 %\r'.repeat(8_000_000)}100 %`, 5, CANVAS);
  const { user } = process.cpuUsage(before);
  assert.ok(user < 2_000_000, `${user / 1000} ms`);
});
