import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { agentSays, harnessSays, toolCall, userSays } from '../../../test/support/records.ts';
import { findBrokenPairs, pairView } from '../../history/pairs.ts';
import type { Item } from '../../protocol/item.ts';
import { textOfParts } from '../../protocol/item.ts';
import { historyBudget, legacyHistory, MOST_OVERFLOWS, nextDrop, trimHistory } from './request.ts';

const SEED = { seed: 20_261_121, numRuns: 300 };
const size = (item: Item): number => JSON.stringify(item).length;
const summary = { ...userSays('Earlier we charted the bay.'), isCompactSummary: true } as Item;

function texts(items: readonly Item[]): readonly string[] {
  return items.map((item) => (item.type === 'message' ? textOfParts(item.content) : item.type));
}

test('the budget is 80 % of the window less the prompt', () => {
  assert.equal(historyBudget(100_000, 500), 79_500);
});

test('what fits is shown whole, and nothing is said of it', () => {
  const items = [harnessSays('Rules.'), userSays('Go.'), agentSays('Gone.')];
  assert.deepEqual(trimHistory(legacyHistory(items, size), Infinity, 0), { items, dropped: 0 });
});

test('the oldest goes first, its result with it; initial context and earlier summaries stay', () => {
  const items = [
    harnessSays('Rules.'),
    summary,
    userSays('Sound it.'),
    ...toolCall('one', 'sound', { at: 1 }, 'deep'),
    ...toolCall('two', 'sound', { at: 2 }, 'shallow'),
    agentSays('Sounded.'),
  ];
  const history = legacyHistory(items, size);
  const { items: shown, dropped } = trimHistory(history, Infinity, 2);
  assert.equal(dropped, 2);
  assert.deepEqual(shown.slice(0, -1), [items[0], summary, ...items.slice(5)]);
  assert.match(texts(shown).at(-1) ?? '', /omitted 3 older item\(s\) of about \d+ tokens/);
});

test('nothing is left to show once only the prefix would be', () => {
  const items = [harnessSays('Rules.'), summary, userSays('Sound it.')];
  assert.deepEqual(trimHistory(legacyHistory(items, size), Infinity, 1), { items: [], dropped: 1 });
  assert.deepEqual(trimHistory(legacyHistory(items, size), 10, 0).items, []);
});

const anyItems = fc
  .array(
    fc.oneof(
      fc.string({ maxLength: 30 }).map((text): readonly Item[] => [userSays(`asks ${text}`)]),
      fc.string({ maxLength: 30 }).map((text): readonly Item[] => [agentSays(`says ${text}`)]),
      fc.uuid().map((id) => toolCall(id, 'sound', {}, 'deep')),
      fc.uuid().map((id) => toolCall(id, 'sound', {})),
      fc.constant<readonly Item[]>([{ type: 'reasoning', summary: [] }]),
    ),
    { minLength: 1, maxLength: 30 },
  )
  .map((groups) => groups.flat());

test('whatever is dropped: no broken pair, the newest stay in order, and the budget holds but for the note', () => {
  fc.assert(
    fc.property(anyItems, fc.nat(4_000), fc.nat(20), (items, budget, least) => {
      const history = legacyHistory(items, size);
      const { items: shown, dropped } = trimHistory(history, budget, least);
      const broken = findBrokenPairs(shown.map(pairView));
      assert.deepEqual([broken.orphanCalls, broken.orphanResults], [[], []]);
      if (shown.length === 0) return;
      assert.ok(dropped >= least, 'what was refused is not sent again');
      const kept = dropped === 0 ? shown : shown.slice(0, -1);
      const whole = history.units.flatMap((unit) => unit.items);
      assert.deepEqual(kept, whole.slice(whole.length - kept.length));
      assert.ok(kept.reduce((sum, item) => sum + size(item), 0) <= budget, 'within the budget');
    }),
    SEED,
  );
});

test('twelve refusals drop 4,095 units, and every one of them drops more', () => {
  let dropped = 0;
  for (let overflows = 1; overflows <= MOST_OVERFLOWS; overflows++) dropped = nextDrop(dropped, overflows);
  assert.deepEqual([MOST_OVERFLOWS, dropped], [12, 4095]);
});
