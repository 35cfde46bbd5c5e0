import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { comparePaths, pathMatcher } from './glob-pattern.ts';

function isMatch(pattern: string, path: string): boolean {
  return pathMatcher(pattern)?.(path) ?? false;
}

describe('a pattern', () => {
  const rows: readonly (readonly [pattern: string, meant: readonly string[], others: readonly string[]])[] = [
    ['*.ts', ['a.ts', 'src/deep/a.ts', '.ts'], ['a.tsx', 'ts']],
    ['src/*.ts', ['src/a.ts'], ['a.ts', 'src/b/a.ts']],
    ['src/**/*.ts', ['src/a.ts', 'src/b/c/a.ts'], ['a.ts', 'lib/src/a.ts']],
    ['**/test/**', ['test/a', 'x/test/a/b'], ['test', 'x/test', 'tests/a']],
    ['src/**', ['src/a', 'src/a/b'], ['src', 'srcs/a']],
    ['**', ['a', 'a/b'], []],
    ['?.md', ['a.md', 'ü.md', '😀.md'], ['.md', 'ab.md']],
    ['[a-c][!x].js', ['aa.js', 'cz.js'], ['ax.js', 'da.js']],
    ['*.{ts,js}', ['a.ts', 'b/a.js'], ['a.css']],
    ['{a,b}/{c,d}', ['a/c', 'b/d'], ['a/b']],
    [String.raw`\*.ts`, ['*.ts'], ['a.ts']],
    ['[', ['['], ['a']],
    ['./a', ['a', 'x/a'], []],
    ['a**b', ['aXb'], ['a/b']],
  ];
  for (const [pattern, meant, others] of rows) {
    it(pattern, () => {
      for (const path of meant) assert.ok(isMatch(pattern, path), path);
      for (const path of others) assert.ok(!isMatch(pattern, path), `not ${path}`);
    });
  }

  it('means the same as a regular expression that is made of it', () => {
    const piece = fc.constantFrom('a', 'b', '*', '?', '**', '/', '.');
    const path = fc.array(fc.constantFrom('a', 'b', 'ab', 'a.b'), { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 7 }), path, (pieces, names) => {
        const pattern = pieces.join('').replaceAll(/\*{2,}/g, '**');
        // Only what regular expressions of this simple kind can say.
        if (!pattern.includes('/') || /^\/|^\.\/|\/$|\/\/|[^/]\*\*|\*\*[^/]/.test(pattern)) return;
        const source = pattern
          .replaceAll('.', String.raw`\.`)
          .replaceAll('?', '[^/]')
          .replaceAll(/(^|\/)\*\*\//g, '$1(?:[^/]+/)@')
          .replaceAll(/\/\*\*$/g, '/.+')
          .replaceAll('*', '[^/]*')
          .replaceAll(')@', ')*');
        const joined = names.join('/');
        assert.equal(
          isMatch(pattern, joined),
          new RegExp(`^${source}$`).test(joined),
          `${pattern} ${source} ${joined}`,
        );
      }),
      { seed: 7, numRuns: 3000 },
    );
  });

  it('with too many alternatives is none', () => {
    assert.equal(pathMatcher('{a,b}'.repeat(20)), undefined);
  });

  it('that makes others backtrack for ever is answered', () => {
    const path = `${'a'.repeat(200)}/`.repeat(20);
    assert.equal(isMatch(`${'*a'.repeat(100)}b`, path), false);
    assert.equal(isMatch(`${'**/*a*/'.repeat(60)}b`, path), false);
  });
});

it('paths are in the order of a walk', () => {
  const sorted = ['a', 'a/b', 'a/b/c', 'a-b', 'a.ts', 'b/a'];
  assert.deepEqual(sorted.toReversed().toSorted(comparePaths), sorted);
});
