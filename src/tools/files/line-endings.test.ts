import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { fileLines, hasHalfCharacter, joinFileLines, likeOriginal, plainText } from './line-endings.ts';

const SEED = { seed: 7, numRuns: 400 };

const anyText = fc
  .array(fc.constantFrom('a', 'b', ' ', '\n', '\r\n', '\r', 'é', '😀', '\n\n'), { maxLength: 40 })
  .map((parts) => parts.join(''));
const anyFile = fc.tuple(fc.constantFrom('', '\uFEFF'), anyText).map(([mark, text]) => mark + text);

describe('a text opened for edits', () => {
  it('comes back as it was when nothing is edited', () => {
    fc.assert(
      fc.property(anyFile, (raw) => assert.equal(plainText(raw).restore([]), raw)),
      SEED,
    );
  });

  it('has neither carriage returns before line feeds nor a byte order mark', () => {
    fc.assert(
      fc.property(anyFile, (raw) => {
        const { text } = plainText(raw);
        assert.ok(!text.includes('\r\n') || raw.includes('\r\r\n'), 'no CRLF');
        assert.ok(!text.startsWith('\uFEFF'), 'no mark');
      }),
      SEED,
    );
  });

  it('keeps every byte outside of an edit', () => {
    fc.assert(
      fc.property(anyFile, fc.nat(60), fc.nat(60), (raw, one, other) => {
        const plain = plainText(raw);
        const [from, to] = [
          Math.min(one, other, plain.text.length),
          Math.min(Math.max(one, other), plain.text.length),
        ];
        const edited = plain.restore([{ from, to, text: 'X' }]);
        const at = edited.indexOf('X');
        assert.ok(raw.startsWith(edited.slice(0, at)), 'what stands before');
        assert.ok(raw.endsWith(edited.slice(at + 1)), 'what stands after');
        assert.equal(plainText(edited).text, `${plain.text.slice(0, from)}X${plain.text.slice(to)}`);
      }),
      SEED,
    );
  });

  it('gives new lines the ending that most lines have', () => {
    const at = (raw: string) => plainText(raw).restore([{ from: 0, to: 0, text: 'new\n' }]);
    assert.equal(at('a\r\nb\r\nc\n'), 'new\r\na\r\nb\r\nc\n');
    assert.equal(at('a\nb\nc\r\n'), 'new\na\nb\nc\r\n');
    assert.equal(at(''), 'new\n');
  });
});

describe('lines of a file', () => {
  it('join to what they were', () => {
    fc.assert(
      fc.property(anyText, (raw) => assert.equal(joinFileLines(fileLines(raw), fileLines(raw)), raw)),
      SEED,
    );
  });
});

describe('a whole new text', () => {
  it('takes the form of the old one, unless it has carriage returns of its own', () => {
    assert.equal(likeOriginal('a\nb\n', '\uFEFFx\r\ny\r\n'), '\uFEFFa\r\nb\r\n');
    assert.equal(likeOriginal('a\nb\n', 'x\ny\r\nz\n'), 'a\nb\n');
    assert.equal(likeOriginal('a\r\nb\n', 'x\r\n'), 'a\r\nb\n');
  });
});

it('half of a character is known for one', () => {
  assert.equal(hasHalfCharacter('a\ud83d'), true);
  assert.equal(hasHalfCharacter('a😀'), false);
});
