import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { isBinary, TerminalText } from './terminal.ts';

function shown(...pieces: readonly string[]): string {
  const terminal = new TerminalText();
  return pieces.map((piece) => terminal.add(piece)).join('') + terminal.end();
}

describe('what a terminal would show', () => {
  const rows = [
    ['text as it is', 'a\tb\nc', 'a\tb\nc'],
    ['no colours', '\u001b[1;32mok\u001b[0m\n', 'ok\n'],
    ['no cursor moves and no titles', '\u001b[2K\u001b[1G\u001b]0;title\u0007x\u001b(B\n', 'x\n'],
    ['of a progress bar the end', '10%\r50%\r100%\ndone', '100%\ndone'],
    ['line feeds of carriage return and line feed', 'a\r\nb\r\n', 'a\nb\n'],
    ['the end of a bar without a line feed', '1\r2\r3', '3'],
    ['a lone escape', 'a\u001b', 'a\u001b'],
  ] as const;
  for (const [name, text, expected] of rows) it(name, () => assert.equal(shown(text), expected));

  it('is the same however the output is cut', () => {
    const piece = fc.constantFrom('a', '\r', '\n', '\r\n', '\u001b[31m', '\u001b]0;t\u0007', '50%', '\u001b');
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(60), (parts, at) => {
        const text = parts.join('');
        assert.equal(shown(text.slice(0, at), text.slice(at)), shown(text));
      }),
      { seed: 7, numRuns: 500 },
    );
  });

  it('does not keep back an endless line', () => {
    const terminal = new TerminalText();
    assert.equal(terminal.add('x'.repeat(50_000)).length, 50_000);
  });

  it('does not take long over nonsense', () => {
    const nonsense = '\u001b]'.repeat(200_000) + '\u001b['.repeat(200_000) + '\u001b ['.repeat(100_000);
    assert.ok(shown(`${nonsense}\n`).length < nonsense.length, 'ends');
  });
});

describe('binary output', () => {
  it('is told from text', () => {
    assert.equal(isBinary('text with ünïcode\n\u001b[31mand colours\u001b[0m\r\n'), false);
    assert.equal(isBinary('a/path\0another/path\0and/one/more\0'), false, 'names between zero bytes');
    assert.equal(isBinary('\u007fELF\u0002\u0001\u0001\0\0\0\0\0\0'), true);
    assert.equal(isBinary('\uFFFD\uFFFDab\uFFFD'), true);
    assert.equal(isBinary('ü\0x\n'), false, 'a piece as short as that');
    assert.equal(isBinary(''), false);
  });
});
