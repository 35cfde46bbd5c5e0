import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { approximateTokens } from '../tokens/estimate.ts';
import { capText, cutLine, MiddleCut, RESULT_TOKENS } from './cap.ts';

const SEED = { seed: 7, numRuns: 300 };
const HOW = 'Ask again.';

const anyText = fc
  .tuple(fc.constantFrom('x', 'é', '😀', '漢', 'line of text\n', '\n'), fc.nat(4000))
  .map(([piece, times]) => piece.repeat(times));

describe('a capped text', () => {
  it('is the text itself where that is small enough', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        if (approximateTokens(text) > 500) return;
        assert.equal(capText(text, HOW, 500), text);
      }),
      SEED,
    );
  });

  it('is never over its limit, keeps head and tail, and cuts no character', () => {
    fc.assert(
      fc.property(
        fc.array(anyText, { maxLength: 5 }),
        fc.integer({ min: 200, max: 2000 }),
        (pieces, limit) => {
          const cut = new MiddleCut(limit);
          for (const piece of pieces) cut.add(piece);
          const shown = cut.render(HOW);
          const text = pieces.join('');
          assert.ok(approximateTokens(shown) <= limit, `${approximateTokens(shown)} of ${limit}`);
          assert.ok(!/\p{Surrogate}/u.test(shown), 'whole characters');
          const [head = '', tail] = shown.split(/\n?\[… [^\]]+\]\n/);
          assert.ok(text.startsWith(head), 'head');
          if (tail !== undefined) assert.ok(text.endsWith(tail), 'tail');
        },
      ),
      SEED,
    );
  });

  it('does not depend on how the text came in', () => {
    fc.assert(
      fc.property(anyText, fc.array(fc.nat(3000), { maxLength: 20 }), (text, cuts) => {
        const cut = new MiddleCut(300);
        let at = 0;
        for (const place of cuts.toSorted((a, b) => a - b)) {
          cut.add(text.slice(at, place));
          at = Math.max(at, Math.min(place, text.length));
        }
        cut.add(text.slice(at));
        if (/\p{Surrogate}/u.test(text.slice(0, at)) || text.includes('😀')) return;
        assert.equal(cut.render(HOW), capText(text, HOW, 300));
      }),
      SEED,
    );
  });

  it('says exactly how much is missing, and what to do', () => {
    const text = Array.from({ length: 10_000 }, (_, index) => `line ${index}\n`).join('');
    const shown = capText(text, HOW, 1000);
    const [, lines, bytes] = /\[… (\d+) lines, (\d+) bytes omitted here\. Ask again\.\]\n/.exec(shown) ?? [];
    const note = /\[…[^\]]*\]\n/.exec(shown)?.[0] ?? '';
    assert.equal(Number(bytes), text.length - (shown.length - note.length));
    assert.equal(Number(lines), 10_000 - (shown.split('\n').length - 2));
  });

  it('holds little of an endless text', () => {
    const cut = new MiddleCut(RESULT_TOKENS);
    const before = process.memoryUsage().heapUsed;
    // Texts of their own: slices of one and the same would take no memory.
    for (let count = 0; count < 4000; count++) cut.add(`line ${count} of many\n`.repeat(2000));
    const grown = process.memoryUsage().heapUsed - before;
    assert.ok(grown < 60e6, `${grown} bytes`);
    assert.equal(cut.lines, 8_000_000);
  });

  it('cuts one long line in the middle of it', () => {
    const shown = capText('x'.repeat(100_000), HOW, 500);
    assert.match(shown, /^x+\n\[… \d+ bytes omitted here\. Ask again\.\]\nx+$/);
  });
});

it('a line is cut with the number of characters that are missing', () => {
  assert.equal(cutLine('abc', 3), 'abc');
  assert.equal(cutLine('abcdef', 3), 'abc [… 3 characters of this line omitted]');
  assert.equal(cutLine('ab😀cd', 3), 'ab [… 4 characters of this line omitted]');
  assert.equal(cutLine('abc', 2, 90), 'ab [… 88 characters of this line omitted]');
});
