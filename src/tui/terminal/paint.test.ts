import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { paintLine } from './paint.ts';

/** Baton's own styles, which alone may drive the terminal. */
// oxlint-disable-next-line no-control-regex
const STYLE = /\u001B\[[\d;]{1,20}m/g;

// oxlint-disable-next-line no-control-regex
const DRIVING = /[\u0000-\u001F\u007F-\u009F\u202A-\u202E\u2066-\u2069]/;

test('no text drives the terminal, whatever line it is in', () => {
  const hostile = fc.string({
    unit: fc.constantFrom('\u001B', ']0;x\u0007', '\u009B2J', '\r', '\n', '\t', '\u202E', '[31m', 'a', '日'),
  });
  fc.assert(
    fc.property(hostile, fc.boolean(), (text, hasColor) => {
      // The styles of the text itself must not pass for Baton's own.
      const painted = paintLine([{ text, hue: 'bad', isBold: true }], hasColor);
      const [begin = '', end = ''] = painted.match(STYLE) ?? [];
      const body = painted.slice(begin.length, painted.length - end.length);
      assert.doesNotMatch(body, DRIVING);
      assert.deepEqual(painted.match(STYLE), [hasColor ? '\u001B[31;1m' : '\u001B[1m', '\u001B[0m']);
    }),
  );
});

test('without colour, weight and inversion stay', () => {
  assert.equal(paintLine([{ text: 'a', hue: 'good' }], false), 'a');
  assert.equal(paintLine([{ text: 'a', hue: 'good', isInverse: true }], false), '\u001B[7ma\u001B[0m');
});
