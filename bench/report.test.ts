import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atLeast, atMost, digits, duration, renderTables, replaceBetweenMarks } from './report.ts';

test('figures have three significant digits and no exponent', () => {
  assert.deepEqual([0.001_234, 0.5, 1, 12.345, 123.45, 1_234_567].map(digits), [
    '0.00123',
    '0.5',
    '1',
    '12.3',
    '123',
    '1,234,567',
  ]);
  assert.deepEqual([0.0042, 0.42, 42, 4200, 42_000].map(duration), [
    '4.2 µs',
    '0.42 ms',
    '42 ms',
    '4,200 ms',
    '42 s',
  ]);
});

test('a figure on the bound meets the target, one beyond it does not, none does not either', () => {
  assert.deepEqual(
    [0.59, 0.6, Number.NaN].map((figure) => atLeast(figure, 0.6).isMet),
    [false, true, false],
  );
  assert.deepEqual(
    [1.5, 1.51, Number.NaN].map((figure) => atMost(figure, 1.5).isMet),
    [true, false, false],
  );
});

test('each topic has its table; a missed target stands out', () => {
  const row = { what: 'w', baton: 'b', against: 'a', figure: 'f' };
  const page = renderTables([
    { topic: 'One', ...row, target: atLeast(1, 2, '×') },
    { topic: 'Two', ...row },
    { topic: 'One', ...row, target: atMost(1, 2) },
  ]);
  assert.deepEqual(
    page.split('\n').filter((line) => line.startsWith('#') || line.includes('| w |')),
    [
      '### One',
      '| w | b | a | f | ≥ 2× | **no** |',
      '| w | b | a | f | ≤ 2 | yes |',
      '### Two',
      '| w | b | a | f |  |  |',
    ],
  );
});

test('writing a page twice is writing it once, and a page without marks is refused', () => {
  const page = 'before\n<!-- begin: written by `npm run bench -- --write` -->\nold\n<!-- end -->\nafter\n';
  const written = replaceBetweenMarks(page, 'new');
  assert.match(written, /^before\n<!-- begin[^\n]*\n\nnew\n\n<!-- end -->\nafter\n$/);
  assert.equal(replaceBetweenMarks(written, 'new'), written);
  assert.throws(() => replaceBetweenMarks('no marks', 'new'), RangeError);
});
