import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { agentSays, recordsOf, userSays } from '../../../test/support/records.ts';
import { bestLines } from './bound.ts';
import { readLog } from './log.ts';
import { futureUses, recallOf } from './uses.ts';

const tenPerLine = () => 10;
const byLength = (text: string) => text.length;

describe('upper bound', () => {
  it('takes the line that is worth most per token first, and nothing that adds nothing', () => {
    const lines = ['part_1', 'part_2 part_3', 'nothing here', 'part_1 part_2'];
    const log = readLog(recordsOf(userSays(lines.join('\n')), agentSays('part_1 part_2 part_3')), tenPerLine);
    const uses = futureUses(log, 1);
    assert.deepEqual(bestLines(new Set(lines), uses, log.table, 10).length, 1);
    assert.equal(recallOf(bestLines(new Set(lines), uses, log.table, 20), uses, log.table).all, 1);
    assert.equal(bestLines(new Set(lines), uses, log.table, 100).length, 2);
    assert.deepEqual(bestLines(new Set(lines), uses, log.table, 9), []);
  });

  it('looks again at lines whose worth fell: a double of what is taken is worth nothing', () => {
    const lines = ['part_1 part_2 part_3', 'part_1 part_2 part_3 twice', 'part_4'];
    const log = readLog(
      recordsOf(userSays(lines.join('\n')), agentSays('part_1 part_2 part_3 part_4')),
      tenPerLine,
    );
    const uses = futureUses(log, 1);
    assert.deepEqual(bestLines(new Set(lines), uses, log.table, 20), ['part_1 part_2 part_3', 'part_4']);
  });

  it('keeps the budget and only grows with it', () => {
    const line = fc
      .array(fc.integer({ min: 0, max: 30 }), { minLength: 1, maxLength: 9 })
      .map((parts) => parts.map((part) => `part_${part}`).join(' '));
    fc.assert(
      fc.property(
        fc.array(line, { minLength: 1, maxLength: 25 }),
        fc.nat(400),
        fc.nat(400),
        (lines, a, b) => {
          const log = readLog(
            recordsOf(userSays(lines.join('\n')), agentSays(lines.toReversed().join('\n'))),
            byLength,
          );
          const uses = futureUses(log, 1);
          const [small, large] = [Math.min(a, b), Math.max(a, b)].map((budget) =>
            bestLines(new Set(lines), uses, log.table, budget),
          );
          assert.ok(small && large);
          assert.ok(log.table.tokensOfLines(large) <= Math.max(a, b));
          assert.ok(recallOf(large, uses, log.table).all >= recallOf(small, uses, log.table).all);
        },
      ),
      { seed: 11, numRuns: 60 },
    );
  });
});
