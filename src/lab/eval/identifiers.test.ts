import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { identifiersIn } from './identifiers.ts';

describe('identifiers of the metric', () => {
  const table: readonly (readonly [line: string, expected: readonly string[]])[] = [
    ['plain words, and/or 12 of them in 2024', []],
    ['see src/mill/lathe.ts:12:3 and ./bin/run.sh', ['src/mill/lathe.ts', 'bin/run.sh']],
    ['/home/dev/mill/src/bed.ts is inside', ['src/bed.ts']],
    ['+import { turnChuck } from "./chuck.ts"', ['turnChuck', 'chuck.ts']],
    ['-  const feed_rate = bed.feedRate;', ['feed_rate', 'bed.feedRate']],
    ['run with --dry-run or -n', ['--dry-run']],
    ['error TS2345 and ENOENT, closes #118', ['TS2345', 'ENOENT', '#118']],
    ['commit 9f3c2ab on v1.4.2 took 250ms of 41233', ['9f3c2ab', 'v1.4.2', '250ms', '41233']],
    ['.config/mill.toml, then ...done', ['.config/mill.toml']],
    ['it says "spindle is jammed" but don\'t "panic"', ['spindle is jammed']],
    ['the `gasket` of crate::feed::Rate', ['crate::feed::Rate', 'gasket']],
    ['one-two is prose, one-two-three a name', ['one-two-three']],
    ['lathe.ts lathe.ts', ['lathe.ts']],
  ];
  for (const [line, expected] of table) {
    it(JSON.stringify(line), () => assert.deepEqual(identifiersIn(line, '/home/dev/mill'), expected));
  }

  it('finds each once and nothing longer than 120 characters in any line', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 400 }), (line) => {
        const found = identifiersIn(line, '');
        assert.equal(new Set(found).size, found.length);
        assert.ok(found.every((identifier) => identifier.length <= 120 && line.includes(identifier)));
      }),
      { seed: 7 },
    );
  });
});
