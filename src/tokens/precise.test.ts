import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base';
import { anyText } from '../../test/support/thread.ts';
import type { CountText } from './estimate.ts';
import { loadTokenizer } from './tokenizer.io.ts';
import { boundedCounter } from './precise.ts';

const SEED = { seed: 20_260_112 };
const SPECIALS = { disallowedSpecial: new Set<string>() };
const rawCount: CountText = (text) => countTokens(text, SPECIALS);
const count = await loadTokenizer();

/** Ordinary text of about `length` characters from pieces that agents produce: code, prose, paths, JSON, comments. */
function textOf(pieces: readonly string[], length: number): string {
  const whole = pieces.join('');
  return whole === '' ? '' : whole.repeat(Math.ceil(length / whole.length)).slice(0, length);
}

const anyPiece = fc.oneof(
  fc.constantFrom(
    'const total = items.length;\n',
    '};\n//comment\n/* block */\n\n\n',
    '{"type":"x","n":[1,2,3]}\n',
    '/usr/lib/node_modules/a.js\n',
    '\t\tif (a) {\r\n',
    '   indented\n',
    'Größe, naïve, 中文 and 🙂.\n',
    'trailing   \n',
    '\u00a0\u3000 wide spaces\u2003 ',
    '1234567890 ',
    'end.\n\n/next ',
  ),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

test('ordinary text is counted exactly, over any number of slices', () => {
  fc.assert(
    fc.property(
      fc.array(anyPiece, { minLength: 1, maxLength: 8 }),
      fc.constantFrom(100, 20_000, 50_000),
      (pieces, length) => {
        const text = textOf(pieces, length);
        fc.pre(!/\S{257}|\s{257}/.test(text));
        assert.equal(count(text), rawCount(text));
      },
    ),
    { ...SEED, numRuns: 60 },
  );
});

test('any short text is counted exactly and nothing throws, special tokens and lone surrogates included', () => {
  fc.assert(
    fc.property(anyText, (text) => assert.equal(count(text), rawCount(text))),
    SEED,
  );
  for (const text of ['<|endoftext|>', 'a <|endofprompt|> b', '\ud83d', ''])
    assert.equal(count(text), rawCount(text));
  assert.ok(count('<|endoftext|>') > 1);
});

test('runs that are cut are counted within 1 %', () => {
  const hex = Array.from({ length: 3000 }, (_, index) =>
    ((index * 2_654_435_761) % 65_536).toString(16),
  ).join('');
  for (const run of [
    'a'.repeat(8000),
    ' '.repeat(8000),
    '-'.repeat(8000),
    '\n'.repeat(8000),
    hex,
    'lorem,ipsum;'.repeat(600),
  ]) {
    const text = `Before the run.\n${run}\nAfter it.`;
    const exact = rawCount(text);
    assert.ok(Math.abs(count(text) - exact) <= Math.max(2, exact * 0.01), `${count(text)} for ${exact}`);
  }
});

/** What a counter hands to its tokenizer. */
function spiedCounter(): { count: CountText; slices: string[] } {
  const slices: string[] = [];
  const spied = boundedCounter((slice) => {
    slices.push(slice);
    return slice.length;
  });
  return { count: spied, slices };
}

test('everything is handed over once and in order while no run is sampled', () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(
          anyPiece,
          fc.nat(2000).map((n) => 'x'.repeat(n)),
        ),
        { maxLength: 12 },
      ),
      (pieces) => {
        const text = textOf(pieces, 40_000);
        const { count: spied, slices } = spiedCounter();
        assert.equal(spied(text), text.length);
        assert.equal(slices.join(''), text);
      },
    ),
    { ...SEED, numRuns: 50 },
  );
});

test('a megabyte of one run costs 128 short slices, whatever it is made of', () => {
  for (const unit of ['a', ' ', '\n', '-', '中', '🙂']) {
    const { count: spied, slices } = spiedCounter();
    const text = unit.repeat(1024 * 1024);
    assert.equal(spied(text), text.length);
    assert.equal(slices.length, 128);
    assert.ok(slices.every((slice) => slice.length <= 256));
  }
});

test('no slice holds a long run, and slices of text with spaces or lines stay short', () => {
  const texts = [
    'word '.repeat(200_000),
    'line of text\n'.repeat(80_000),
    `${'x'.repeat(300)} `.repeat(3000),
    '{"a":1}\n'.repeat(100_000),
  ];
  for (const text of texts) {
    const { count: spied, slices } = spiedCounter();
    spied(text);
    for (const slice of slices) {
      assert.ok(slice.length <= 33 * 1024, `${slice.length}`);
      assert.doesNotMatch(slice, /\S{257}|\s{257}/);
    }
  }
});
