import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { freeSign, partSign, partsBar } from './bars.ts';
import { textOf } from './line.ts';

const CASES: readonly [parts: readonly number[], whole: number, unicode: string, ascii: string][] = [
  [[50, 25], 100, '█████▓▓▓░░', '#####===..'],
  [[100], 100, '██████████', '##########'],
  [[], 100, '░░░░░░░░░░', '..........'],
  [[0, 0], 100, '░░░░░░░░░░', '..........'],
  // A little is still something.
  [[1, 1], 1_000, '█▓░░░░░░░░', '#=........'],
  [[999], 1_000, '██████████', '##########'],
  [[150, 50], 100, '████████▓▓', '########=='],
  [[1, 1], 0, '█████▓▓▓▓▓', '#####====='],
  [[0], 0, '░░░░░░░░░░', '..........'],
];

for (const [parts, whole, unicode, ascii] of CASES) {
  test(`draws ${parts.join(' and ')} of ${whole}`, () => {
    const sizes = parts.map((size) => ({ size }));
    assert.equal(textOf(partsBar(sizes, whole, { width: 10, hasUnicode: true })), unicode);
    assert.equal(textOf(partsBar(sizes, whole, { width: 10, hasUnicode: false })), ascii);
  });
}

test('parts have hues, what is free is quiet', () => {
  assert.deepEqual(partsBar([{ size: 1, hue: 'good' }, { size: 1 }], 4, { width: 4, hasUnicode: false }), [
    { text: '#', hue: 'good' },
    { text: '=' },
    { text: '..', hue: 'quiet' },
  ]);
});

test('a legend can name every sign', () => {
  assert.equal(partSign(0, { hasUnicode: true }) + freeSign({ hasUnicode: true }), '█░');
  assert.equal(partSign(6, { hasUnicode: false }), partSign(0, { hasUnicode: false }));
});

test('a bar is as wide as asked for, and shows every part if it can', () => {
  const sizes = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { maxLength: 8 });
  fc.assert(
    fc.property(
      sizes,
      fc.double({ min: 0, max: 1e6, noNaN: true }),
      fc.integer({ min: 0, max: 80 }),
      (parts, whole, width) => {
        const bar = partsBar(
          parts.map((size) => ({ size })),
          whole,
          { width, hasUnicode: true },
        );
        assert.equal(textOf(bar).length, width);
        const visible = parts.filter((size) => size > 0).length;
        if (width > visible) assert.ok(bar.filter(({ hue }) => hue === undefined).length === visible);
      },
    ),
  );
});
