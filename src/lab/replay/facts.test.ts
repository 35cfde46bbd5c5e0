import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { OVERHEAD, Recorded } from '../../../test/support/recorded.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { approximateTokens, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import { FactsFold } from './facts.ts';
import type { SessionFacts } from './facts.ts';

function factsOf(records: readonly LogRecord[]): SessionFacts {
  const fold = new FactsFold((item) => sumTokens(itemTokens(item)), approximateTokens);
  for (const record of records) fold.add(record);
  return fold.facts();
}

const isNear = (tokens: number): void =>
  assert.ok(Math.abs(tokens - OVERHEAD) < 200, `an overhead of ${tokens}, really ${OVERHEAD}`);

describe('the facts of a session', () => {
  it('tell what every request holds besides the items', () => {
    isNear(factsOf(new Recorded(100_000).user().work(5, 2_000).answer().records).overhead);
  });

  it('find it in a file that starts in the middle of a session', () => {
    const { records } = new Recorded(100_000)
      .user()
      .work(20, 2_000)
      .compacted(1_000)
      .work(2, 500)
      .compacted(900)
      .work(2, 500);
    const usages = records.flatMap((record, at) => (record.type === 'usage' ? [at] : []));
    // The items of the first fifteen requests are in another file.
    isNear(factsOf(records.slice((usages[14] ?? 0) + 1)).overhead);
  });

  it('take the instructions for it where nothing is reported', () => {
    const facts = factsOf([
      { type: 'session_meta', instructions: 'x'.repeat(4_000) },
      {
        type: 'item',
        item: { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on' }] },
      },
    ]);
    assert.deepEqual(
      { ...facts, largestUsage: [...facts.largestUsage] },
      {
        recordsTurns: false,
        reportsUsage: false,
        hasTimes: false,
        hasUndo: false,
        overhead: 1_000,
        largestUsage: [],
      },
    );
  });

  it('tell the largest usage of each model', () => {
    const { records } = new Recorded(100_000, { model: 'claude-x' }).user().work(3, 2_000).answer();
    const largest = factsOf(records).largestUsage.get('claude-x') ?? 0;
    assert.ok(largest > OVERHEAD + 6_000, `${largest}`);
  });
});
