import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { plainText } from './line-endings.ts';
import { findReplacement } from './replacement.ts';

const SEED = { seed: 7, numRuns: 400 };

function replace(raw: string, oldText: string, newText: string, replacesAll = false): string {
  const plain = plainText(raw);
  const found = findReplacement(plain.text, { oldText, newText, replacesAll });
  return found.type === 'complaint' ? `! ${found.text}` : plain.restore(found.edits);
}

describe('a replacement', () => {
  const rows = [
    ['is exact', 'a b\na  b\n', 'a  b', 'c', 'a b\nc\n'],
    ['takes dollars as they are', 'x', 'x', '$& $1', '$& $1'],
    ['goes over lines with any ending', 'one\r\ntwo\r\nthree\n', 'one\ntwo\n', '1\n2\n', '1\r\n2\r\nthree\n'],
    ['takes carriage returns of the model as line feeds', 'one\ntwo\n', 'one\r\ntwo', 'x', 'x\n'],
    ['may remove', 'a\nb\nc\n', 'b\n', '', 'a\nc\n'],
  ] as const;
  for (const [name, raw, oldText, newText, expected] of rows) {
    it(name, () => assert.equal(replace(raw, oldText, newText), expected));
  }

  const complaints = [
    ['a text that is there twice, with the lines', 'x\ny\nx\n', 'x', /2 times \(lines 1, 3\)/],
    ['a text that is not there', 'x\n', 'nothing', /not in the file/],
    ['blanks that differ, with the line', 'a\n\tif (x) {\n', 'if  (x)  {', /from line 2 on/],
    ['line numbers of read', 'alpha\n', '1\talpha', /line number/],
    ['a replacement by the same', 'x', 'x', /the same/],
  ] as const;
  for (const [name, raw, oldText, pattern] of complaints) {
    it(`complains of ${name}`, () => {
      assert.match(replace(raw, oldText, oldText === 'x' && raw === 'x' ? 'x' : 'new'), pattern);
    });
  }

  it('of all places changes every one, from the start, without overlap', () => {
    assert.equal(replace('aaaa a', 'aa', 'b', true), 'bb a');
  });

  it('can be taken back', () => {
    const text = fc
      .array(fc.constantFrom('a', 'b', '\n', '\r\n'), { maxLength: 30 })
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, text, (before, after) => {
        // A text that stands once stays unique when it is replaced by one that is unique, too.
        const raw = `${before}OLD\nTEXT${after}`;
        const there = replace(raw, 'OLD\nTEXT', 'NEW\nWORDS\nHERE');
        assert.notEqual(there, raw);
        assert.equal(
          replace(there, 'NEW\nWORDS\nHERE', 'OLD\nTEXT').replaceAll('\r\n', '\n'),
          raw.replaceAll('\r\n', '\n'),
        );
      }),
      SEED,
    );
  });
});
