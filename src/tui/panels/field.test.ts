// The text field: whole graphemes, the keys of shells, and a row that never exceeds its columns.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keyOf } from '../../../test/support/panel-frames.ts';
import { textOf } from '../lines/line.ts';
import { lineWidth } from '../lines/wrap.ts';
import { EMPTY_FIELD, fieldLine, typeInto } from './field.ts';
import type { Field } from './field.ts';

function typed(...names: readonly string[]): Field {
  return names.reduce((field, name) => typeInto(field, keyOf(name)) ?? field, EMPTY_FIELD);
}

test('keys edit at the cursor, by whole graphemes', () => {
  assert.deepEqual(typed('a 👩‍👩‍👧 é', 'left', 'backspace', 'backspace'), { text: 'a é', at: 2 });
  assert.deepEqual(typed('灯台', 'home', 'right', 'x'), { text: '灯x台', at: 2 });
  assert.deepEqual(typed('one two', 'ctrl+w', 'three'), { text: 'one three', at: 9 });
  assert.deepEqual(typed('one two', 'ctrl+a', 'delete', 'ctrl+e', '!'), { text: 'ne two!', at: 7 });
  assert.deepEqual(typed('one two', 'left', 'ctrl+u'), { text: 'o', at: 0 });
  assert.deepEqual(typed('one two', 'left', 'ctrl+k'), { text: 'one tw', at: 6 });
  assert.deepEqual(typed('left', 'backspace', 'home', 'left', 'backspace'), { text: '', at: 0 });
  assert.deepEqual(typed('two\r\nlines\tpasted'), { text: 'two lines pasted', at: 16 });
  assert.equal(typeInto(EMPTY_FIELD, keyOf('up')), undefined);
});

test('a row never exceeds its columns and always shows the cursor', () => {
  for (const text of [
    'x'.repeat(60),
    '灯台を守る人は夜ごとに灯芯を切りそろえる',
    'mixed 灯台 👩‍👩‍👧 text, and more of it',
  ]) {
    for (let at = 0; at <= text.length; at++) {
      const isBetween = [...new Intl.Segmenter('en').segment(text)].some(({ index }) => index === at);
      if (!isBetween && at !== text.length) continue;
      for (const width of [8, 21, 40]) {
        const row = fieldLine({ text, at }, { width, prompt: [{ text: '> ' }], placeholder: '' });
        assert.ok(lineWidth(row) <= width, `${lineWidth(row)} of ${width}: ${textOf(row)}`);
        assert.ok(
          row.some(({ isInverse }) => isInverse === true),
          'a cursor',
        );
      }
    }
  }
});
