import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { line, textOf, type Line } from './line.ts';
import { cut, lineWidth, shown, widthOf, wrap } from './wrap.ts';

/** Rows between bars, so that trailing spaces are visible. */
function rows(text: string, width: number, rest: Omit<Parameters<typeof wrap>[1], 'width'> = {}): string[] {
  return wrap(line(text), { width, ...rest }).map((row) => `|${textOf(row)}|`);
}

const CASES: readonly [name: string, text: string, width: number, rows: readonly string[]][] = [
  ['fits', 'one two', 7, ['|one two|']],
  ['at a space', 'one two three', 8, ['|one two|', '|three|']],
  ['several spaces at the break vanish', 'one    two', 4, ['|one|', '|two|']],
  ['spaces inside a row stay', 'a  b c', 5, ['|a  b|', '|c|']],
  ['a word that is too long', 'abcdefgh ij', 3, ['|abc|', '|def|', '|gh|', '|ij|']],
  ['a long word after indentation', '  abcdefgh', 5, ['|  abc|', '|defgh|']],
  ['width 1', 'ab c', 1, ['|a|', '|b|', '|c|']],
  ['width 0 is width 1', 'ab', 0, ['|a|', '|b|']],
  ['East Asian characters break anywhere', '日本語のテスト', 6, ['|日本語|', '|のテス|', '|ト|']],
  ['but not before a full stop', '日本語。日本', 6, ['|日本|', '|語。日|', '|本|']],
  ['a wide character at width 1', '日本', 1, ['|日|', '|本|']],
  ['an emoji with joiners is one', 'ab 👩‍👩‍👧‍👦 cd', 5, ['|ab 👩‍👩‍👧‍👦|', '|cd|']],
  ['a flag is one', '🇩🇪🇫🇷', 2, ['|🇩🇪|', '|🇫🇷|']],
  ['a tab is four columns', 'a\tb', 4, ['|a|', '|b|']],
  ['a control character is shown', 'a\u001B[2Jb', 12, ['|a\\u001b[2Jb|']],
  ['nothing', '', 5, ['||']],
];

for (const [name, text, width, expected] of CASES) {
  test(`wraps: ${name}`, () => assert.deepEqual(rows(text, width), expected));
}

test('hanging rows begin with the indentation, and never leave less than two columns', () => {
  const hanging = line('    ');
  assert.deepEqual(rows('- a cdefghij', 10, { hanging }), ['|- a|', '|    cdefgh|', '|    ij|']);
  assert.deepEqual(rows('ab cd', 3, { hanging }), ['|ab|', '| cd|']);
  assert.deepEqual(rows('日本', 2, { hanging }), ['|日|', '|本|']);
});

test('verbatim rows keep every space', () => {
  assert.deepEqual(rows('a  b   c', 3, { isVerbatim: true }), ['|a  |', '|b  |', '| c|']);
});

const GLYPHS = 'a é z - 日 。 한 e\u0301 👩‍👩‍👧‍👦 👍🏽 🇩🇪 ❤️ \u001B \u202E … → 𠮷'.split(' ');
const glyph = fc.constantFrom(...GLYPHS, ' ', ' ', '\t');
const span = fc.record({
  text: fc.array(glyph, { maxLength: 12 }).map((parts) => parts.join('')),
  isBold: fc.boolean(),
});
const spans: fc.Arbitrary<Line> = fc.array(span, { maxLength: 5 });
const dense = (text: string): string => text.replaceAll(' ', '');

test('no row is wider than the width, and no character is lost', () => {
  fc.assert(
    fc.property(spans, fc.integer({ min: 1, max: 24 }), fc.boolean(), (source, width, isVerbatim) => {
      const wrapped = wrap(source, { width, isVerbatim });
      for (const row of wrapped) {
        const isOneCharacter = [...new Intl.Segmenter().segment(textOf(row))].length === 1;
        assert.ok(lineWidth(row) <= width || isOneCharacter, `${textOf(row)} in ${width}`);
      }
      const whole = shown(source.map(({ text }) => text).join(''));
      const kept = wrapped.map(textOf).join('');
      if (isVerbatim) assert.equal(kept, whole);
      else assert.equal(dense(kept), dense(whole));
    }),
    { numRuns: 500 },
  );
});

test('rows with an indentation are not wider either', () => {
  fc.assert(
    fc.property(
      spans,
      fc.integer({ min: 2, max: 24 }),
      fc.integer({ min: 0, max: 30 }),
      (source, width, indent) => {
        for (const row of wrap(source, { width, hanging: line(' '.repeat(indent)) })) {
          assert.ok(lineWidth(row) <= width, `${textOf(row)} in ${width}`);
        }
      },
    ),
  );
});

test('a cut line is as wide as allowed at most, and begins as the whole one', () => {
  assert.equal(textOf(cut(line('abcdef'), 4)), 'abc…');
  assert.equal(textOf(cut(line('abcdef'), 4, '..')), 'ab..');
  assert.equal(textOf(cut(line('abcdef'), 1, '...')), 'a');
  assert.equal(textOf(cut(line('a\tb'), 6)), 'a    b');
  fc.assert(
    fc.property(spans, fc.integer({ min: 0, max: 24 }), (source, width) => {
      const short = textOf(cut(source, width));
      const whole = shown(source.map(({ text }) => text).join(''));
      assert.ok(widthOf(short) <= width);
      assert.ok(short === whole || whole.startsWith(short.replace(/…$/, '')));
    }),
  );
});

test('a styled span keeps its style across rows', () => {
  const wrapped = wrap([{ text: 'plain ' }, { text: 'bold words', isBold: true }], { width: 11 });
  assert.deepEqual(wrapped, [
    [{ text: 'plain ' }, { text: 'bold', isBold: true }],
    [{ text: 'words', isBold: true }],
  ]);
});
