// Sessions that are made to be slow: four times as much of one takes no more than four times as long, but for noise.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { applyPatch } from '../../src/tools/patch/apply.ts';
import { parsePatch } from '../../src/tools/patch/parse.ts';
import { findReplacement } from '../../src/tools/replacement.ts';
import { finished } from '../support/finished.ts';
import { assertLinear, GROWTH_SCALE } from '../support/growth.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { SLOW_SHAPES } from '../support/slow-shapes.ts';

const home = temporaryDirectory();

/** Lines, entries or parts of the smaller session of each pair. */
const SIZE = 500;

/** What is done with each session; a longer hunt does more. */
const COMMANDS: readonly (readonly string[])[] = [
  ['inspect', '--json'],
  ['compact', '--preview'],
  ...(GROWTH_SCALE > 1
    ? [
        ['replay', '--json'],
        ['compact', '--preview', '--strategy', 'micro'],
      ]
    : []),
];

describe('a session that is made to be slow', () => {
  for (const [index, shape] of SLOW_SHAPES.entries()) {
    for (const [command = '', ...options] of COMMANDS) {
      test(`${shape.name}: ${[command, ...options].join(' ')}`, () =>
        assertLinear(`${command}, ${shape.name}`, SIZE, {
          prepare: (n) => {
            const path = join(home, `shape-${index}-${n}.jsonl`);
            writeFileSync(path, shape.text(n));
            return path;
          },
          run: async (path) => {
            const { stdout } = await baton(home, [command, path, ...options]);
            // What a deadline ends takes no longer, however it grows.
            assert.doesNotMatch(stdout, /summary is plain|Every summary took too long/);
          },
        }));
    }
  }
});

function context(line: string, n: number): string {
  return `@@\n${` ${line}\n`.repeat(n)}`;
}

describe('a patch that is made to be slow', () => {
  const shapes: Readonly<Record<string, (n: number) => readonly [file: string, body: string]>> = {
    'equal lines': (n) => ['x\n'.repeat(10 * n), `${context('x', n)}+y`],
    'equal lines, but for the last': (n) => ['x\n'.repeat(10 * n), `${context('x', n)} z\n+y`],
    'equal lines, but for blanks': (n) => ['  x\n'.repeat(10 * n), `${context('x', n)}+y`],
    'blank lines': (n) => ['\n'.repeat(10 * n), `@@\n${'\n'.repeat(n)}+y`],
    'a part for every tenth line': (n) => [
      Array.from({ length: 10 * n }, (_, line) => `line ${line}\n`).join(''),
      Array.from({ length: n }, (_, part) => `@@\n line ${part * 10}\n+y`).join('\n'),
    ],
    'an anchor for every part': (n) => [
      'x\n'.repeat(10 * n),
      Array.from({ length: n }, () => '@@ x\n x\n+y').join('\n'),
    ],
  };
  for (const [name, shape] of Object.entries(shapes)) {
    test(name, () =>
      assertLinear(`apply_patch, ${name}`, 4000, {
        prepare: shape,
        run: ([file, body]) => {
          const parsed = parsePatch(`*** Begin Patch\n*** Update File: f\n${body}\n*** End Patch`);
          if (parsed.type === 'patch') finished(applyPatch(parsed.actions, () => file));
        },
      }),
    );
  }

  test('an edit of a text that repeats itself', () =>
    assertLinear('edit, a text that repeats itself', 200_000, {
      prepare: (n) => ['a'.repeat(n), `${'a'.repeat(n / 8)}b${'a'.repeat(n / 8)}`] as const,
      run: ([text, oldText]) => findReplacement(text, { oldText, newText: 'x', replacesAll: false }),
    }));
});
