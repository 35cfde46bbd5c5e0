import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chanceFrom, shuffled } from './chance.ts';
import { estimate, mean } from './statistics.ts';

describe('estimates', () => {
  it('average the files, not the cuts', () => {
    const result = estimate([[1, 1, 1], [0], []], 'seed');
    assert.equal(result?.mean, 0.5);
    assert.deepEqual([result?.files, result?.cuts], [2, 4]);
  });

  it('have no interval over one file, and none at all over no values', () => {
    assert.deepEqual(estimate([[0.5, 0.7]], 'seed'), { mean: mean([0.5, 0.7]), files: 1, cuts: 2 });
    assert.equal(estimate([[], []], 'seed'), undefined);
  });

  it('have an interval that is a point where all files agree and holds the mean elsewhere', () => {
    assert.deepEqual(
      estimate([[0.4], [0.4], [0.4]], 'seed')?.interval?.map((end) => end.toFixed(9)),
      ['0.400000000', '0.400000000'],
    );
    const spread = estimate([[0], [0.2], [0.4], [0.6], [0.8], [1]], 'seed');
    const [low = 1, high = 0] = spread?.interval ?? [];
    // The standard error of the mean is 0.139: the interval is about twice that to either side.
    assert.ok(low > 0.15 && low < 0.32, String(low));
    assert.ok(high > 0.68 && high < 0.85, String(high));
  });

  it('do not depend on the order of the files', () => {
    const files = [[0.1, 0.9], [0.3], [0.7, 0.2, 0.5], [0.11], [0.83], [0.29], [0.61]];
    assert.deepEqual(estimate(files, 'seed'), estimate(files.toReversed(), 'seed'));
  });
});

describe('chance', () => {
  it('is the same for the same seed and differs between uses', () => {
    assert.equal(chanceFrom(1, 'cuts')(), chanceFrom(1, 'cuts')());
    assert.notEqual(chanceFrom(1, 'cuts')(), chanceFrom(1, 'draws')());
  });

  it('shuffles every place in once, evenly', () => {
    const firsts = Array.from({ length: 4 }, () => 0);
    for (let seed = 0; seed < 4000; seed++) {
      const order = [...shuffled(4, chanceFrom(seed))];
      assert.deepEqual(order.toSorted(), [0, 1, 2, 3]);
      firsts[order[0] ?? 0] = (firsts[order[0] ?? 0] ?? 0) + 1;
    }
    assert.ok(
      firsts.every((count) => count > 880 && count < 1120),
      String(firsts),
    );
  });
});
