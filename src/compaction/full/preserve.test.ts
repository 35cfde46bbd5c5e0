import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { textOfParts } from '../../protocol/item.ts';
import type { Item, MessageItem } from '../../protocol/item.ts';
import { isUserMessage } from '../../history/filter.ts';
import { approximateTokens, DEFAULT_ESTIMATE } from '../../tokens/estimate.ts';
import type { CountText } from '../../tokens/estimate.ts';
import {
  anyText,
  anyThread,
  entriesOf,
  notationOf,
  textOfSize,
  thread,
} from '../../../test/support/thread.ts';
import { itemsTokens, measureWith } from '../measure.ts';
import { cutMiddle } from '../../tokens/cut.ts';
import { preserveUserMessages } from './preserve.ts';

const SEED = { seed: 20_260_107 };
const countCharacters: CountText = (text) => text.length;
const countWords: CountText = (text) => text.split(/\s+/).filter((word) => word !== '').length;
const COUNTERS: readonly CountText[] = [approximateTokens, countCharacters, countWords];
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;

const cases: readonly (readonly [notation: string, budget: number, kept: string, left: number])[] = [
  ['u:100 a u:200 a u:300', 1000, 'u:100 u:200 u:300', 0],
  // 4 of overhead for each; the ellipses of the marker take 3 bytes, of which the notation sees 1.
  ['u:100 a u:200 a u:300', 612, 'u:100 u:200 u:300', 0],
  ['u:100 a u:200 a u:300', 611, 'u:98 u:200 u:300', 0],
  ['u:100 a u:200 a u:300', 535, 'u:200 u:300', 1],
  ['u:100 a u:200 a u:300', 300, 'u:295', 2],
  ['u:100 a u:200 a u:300', 27, '', 3],
  ['u:5 u:3k u:5', 18, 'u', 2],
  ['u h sum dev u', 100, 'u u', 0],
  ['a shell:40', 100, '', 0],
];

for (const [notation, budget, kept, left] of cases) {
  test(`of "${notation}" a budget of ${budget} keeps "${kept}"`, () => {
    const preserved = preserveUserMessages(entriesOf(thread(notation)), budget, approximateTokens);
    assert.deepEqual([notationOf(preserved.items), preserved.left], [kept, left]);
  });
}

test('the budget is kept as the context counts, by any counter', () => {
  let cut = 0;
  fc.assert(
    fc.property(anyThread, fc.nat(4000), fc.constantFrom(...COUNTERS), (notation, budget, count) => {
      const preserved = preserveUserMessages(entriesOf(thread(notation)), budget, count);
      assert.equal(preserved.tokens, itemsTokens(preserved.items, measureWith(count, DEFAULT_ESTIMATE)));
      assert.ok(preserved.tokens <= budget);
      if (preserved.items.some((item) => textOfParts(item.content).includes('tokens truncated'))) cut++;
    }),
    SEED,
  );
  assert.ok(cut > 10, `${cut} were cut`);
});

test('many parts cost what each of them costs', () => {
  const item: Item = {
    type: 'message',
    role: 'user',
    content: Array.from({ length: 100 }, () => ({ type: 'input_text', text: 'x' })),
  };
  assert.equal(preserveUserMessages(entriesOf([item]), Infinity, approximateTokens).tokens, 104);
});

test('the newest stay, in their order; all but the oldest of them as they were', () => {
  fc.assert(
    fc.property(anyThread, fc.nat(4000), (notation, budget) => {
      const items = thread(notation);
      const {
        entries,
        items: kept,
        left,
      } = preserveUserMessages(entriesOf(items), budget, approximateTokens);
      const said = items.filter(isUserMessage);
      assert.equal(left, said.length - kept.length);
      assert.deepEqual(
        entries.map(({ value }) => value),
        said.slice(left),
      );
      const whole = said.slice(left).map(withoutImages);
      assert.deepEqual(kept.slice(1), whole.slice(1));
      if (budget === Infinity || left === 0) return;
      const [oldest] = kept;
      if (oldest !== undefined)
        assert.ok(textOfParts(oldest.content).length <= textOfParts(whole[0]?.content ?? []).length + 40);
    }),
    SEED,
  );
  const all = thread('u:3k a u+img shell:40 u');
  assert.deepEqual(
    preserveUserMessages(entriesOf(all), Infinity, approximateTokens).items,
    all.filter(isUserMessage).map(withoutImages),
  );
});

function withoutImages(item: MessageItem): MessageItem {
  return {
    ...item,
    content: item.content.map((part) =>
      part.type === 'input_image' ? { type: 'input_text', text: '[image]' } : part,
    ),
  };
}

test('cutMiddle keeps the budget, both ends and whole characters, and names the tokens taken', () => {
  let cut = 0;
  fc.assert(
    fc.property(
      fc.array(fc.oneof(anyText, fc.constantFrom('🙂', 'é', 'word ', '中文')), {
        maxLength: 60,
        size: 'max',
      }),
      fc.nat(120),
      fc.constantFrom(...COUNTERS),
      (texts, budget, count) => {
        const text = texts.join('');
        const shorter = cutMiddle(text, budget, count);
        if (count(text) <= budget) return assert.equal(shorter, text);
        if (shorter === undefined) return undefined;
        cut++;
        assert.ok(count(shorter) <= budget);
        const [, head = '', taken, tail = ''] = /^([^]*)…(\d+) tokens truncated…([^]*)$/.exec(shorter) ?? [];
        assert.ok(text.startsWith(head) && text.endsWith(tail));
        assert.equal(Number(taken), Math.max(1, count(text) - count(head) - count(tail)));
        if (!LONE_SURROGATE.test(text)) assert.doesNotMatch(shorter, LONE_SURROGATE);
        return undefined;
      },
    ),
    { ...SEED, numRuns: 1000 },
  );
  assert.ok(cut > 100, `${cut} were cut`);
});

test('a text that begins with half a character is cut like any other', () => {
  const shorter = cutMiddle(`\udc00${'x'.repeat(400)}`, 24, approximateTokens);
  assert.match(shorter ?? '', /^\udc00x+…\d+ tokens truncated…x+$/);
  const half = `\udc00${'x'.repeat(40)}`;
  assert.equal(cutMiddle(half, 29, countCharacters)?.length, 29);
});

test('nothing is left of a text when not even the marker fits', () => {
  assert.equal(cutMiddle(textOfSize('x', 100), 3, approximateTokens), undefined);
  assert.equal(cutMiddle(textOfSize('x', 100), -5, approximateTokens), undefined);
});

test('cutting counts a logarithmic number of times', () => {
  let calls = 0;
  const counting: CountText = (text) => (calls++, approximateTokens(text));
  const text = textOfSize('x', 100_000);
  assert.ok(cutMiddle(text, 5000, counting) !== undefined);
  assert.ok(calls <= 1 + 3 * Math.ceil(Math.log2(text.length) + 1), `${calls} counts`);
});
