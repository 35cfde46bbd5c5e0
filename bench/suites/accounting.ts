// The account of a context: what one more item costs, as the history grows.

import { AccountFold } from '../../src/history/account.ts';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import type { AccountSettings } from '../../src/history/context-account.ts';
import type { Item } from '../../src/protocol/item.ts';
import { generateSteps, toItems } from '../histories.ts';
import { median, timeOnce } from '../measure.ts';
import { atMost, digits, duration } from '../report.ts';
import type { Row } from '../report.ts';
import type { Effort } from './suite.ts';

/** Items added and timed at each size. */
const ADDED = 2000;

/** How Baton counts without any configuration. */
export const ACCOUNT_SETTINGS: AccountSettings = {
  estimate: DEFAULT_CONFIG.compact,
  safetyMultiplier: DEFAULT_CONFIG.compact.tokenSafetyMultiplier,
};

/** The accounting rows. */
export async function* accounting({ rounds, isQuick }: Effort): AsyncGenerator<Row> {
  const sizes = isQuick ? [1000, 5000, 20_000] : [1000, 3000, 10_000, 30_000, 100_000];
  const pool = toItems(generateSteps(5000, 3));
  const added = pool.slice(0, ADDED);
  const times = new Map<number, number[]>(sizes.map((size) => [size, []]));
  for (let round = -3; round < rounds; round++) {
    for (const size of sizes) {
      const microseconds = await addAt(size, pool, added);
      if (round >= 0) times.get(size)?.push(microseconds);
    }
  }
  const medians = sizes.map((size) => median(times.get(size) ?? []));
  const smallest = medians[0] ?? Number.NaN;
  for (const [index, size] of sizes.entries()) {
    const microseconds = medians[index] ?? Number.NaN;
    const growth = microseconds / smallest;
    yield {
      topic: 'Token accounting, per added item',
      what: `history of ${digits(size)} items`,
      baton: duration(microseconds / 1000),
      against: index === 0 ? '' : `history of ${digits(sizes[0] ?? 0)} items ${duration(smallest / 1000)}`,
      figure: `${digits(growth)}× its cost`,
      ...(index === 0 ? {} : { target: atMost(growth, 1.5, '×') }),
    };
  }
}

/** Microseconds that each of `added` costs on top of a history of `size` items. */
async function addAt(size: number, pool: readonly Item[], added: readonly Item[]): Promise<number> {
  const fold = new AccountFold(ACCOUNT_SETTINGS);
  for (let index = 0; index < size; index++) {
    const item = pool[index % pool.length];
    if (item !== undefined) fold.add({ type: 'item', item });
  }
  const milliseconds = await timeOnce({
    run: () => {
      for (const item of added) fold.add({ type: 'item', item });
    },
  });
  return (milliseconds * 1000) / added.length;
}
