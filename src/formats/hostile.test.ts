// Shapes of a session that nobody writes by accident: they are read, or refused with a reason, and never end the program.

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClaudeLines } from '../../test/support/claude-lines.ts';
import { asLines, readSessionText } from '../../test/support/read-format.ts';
import { timeOf } from './fields.ts';

/** Claude Code lines whose parents are as `parentOf` says. */
function linked(n: number, parentOf: (count: number) => number): string {
  const session = new ClaudeLines();
  for (let count = 0; count < n; count++)
    session.user(`Say ${count}.`, { uuid: `line-${count}`, parentUuid: `line-${parentOf(count)}` });
  return asLines(session.lines);
}

describe('links of lines', () => {
  const n = 20_000;
  for (const [name, parentOf] of [
    ['a cycle', (count: number) => (count + 1) % n],
    ['each its own parent', (count: number) => count],
    ['pairs', (count: number) => count ^ 1],
  ] as const) {
    it(`${name}: every line is read`, async () => {
      const { records } = await readSessionText(linked(n, parentOf));
      assert.equal(records.filter(({ type }) => type === 'item').length, n);
    });
  }
});

describe('times of records', () => {
  it('are moments between 1970 and 9999, and nothing else', () => {
    assert.equal(timeOf('2026-01-02T03:04:05.678Z'), '2026-01-02T03:04:05.678Z');
    assert.equal(timeOf(1_767_323_045_678), '2026-01-02T03:04:05.678Z');
    const absurd = [
      '275760-09-13T00:00:00.000Z',
      '+275760-09-13T00:00:00.000Z',
      '-000001-01-01T00:00:00Z',
      '',
    ];
    for (const time of [
      ...absurd,
      'x'.repeat(1000),
      '2026-13-45',
      Number.NaN,
      Infinity,
      -1,
      1e18,
      null,
      {},
      true,
    ])
      assert.equal(timeOf(time), undefined, String(time));
  });
});

describe('a document that is nested too deep', () => {
  it('is read without what is', async () => {
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
    const text = `[{"role":"user","content":"Begin."},{"role":"assistant","content":"Yes.","x":${deep}}]`;
    const { records, report } = await readSessionText(text);
    assert.equal(records.filter(({ type }) => type === 'item').length, 2);
    assert.deepEqual(
      report.damage.map(({ kind, lost }) => [kind, lost]),
      [['wrong_shape', true]],
    );
  });
});
