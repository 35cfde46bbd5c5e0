import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { callOf, resultCallId } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import { CLEARED_RESULT } from '../../protocol/record.ts';
import { DEFAULT_ESTIMATE, itemTokens, sumTokens } from '../../tokens/estimate.ts';
import { AccountFold } from '../../history/account.ts';
import { isCleared } from '../../history/clear.ts';
import { anyBrokenThread, anyThread, notationOf, thread } from '../../../test/support/thread.ts';
import { eligibleTool } from './eligible.ts';
import { microCompact } from './micro.ts';
import type { MicroResult, MicroSettings } from './micro.ts';

const SEED = { seed: 20_260_106 };
const PLACEHOLDER_TOKENS = Math.ceil(CLEARED_RESULT.length / 4);
const anyKeepLast = fc.nat(4);

function settings(keepLastTools: number, minTokensToSave: number): MicroSettings {
  return { ...DEFAULT_ESTIMATE, keepLastTools, minTokensToSave };
}

function run(items: readonly Item[], keepLastTools = 1, minTokensToSave = 5000): MicroResult {
  return microCompact(items, settings(keepLastTools, minTokensToSave));
}

function tokensOf(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + sumTokens(itemTokens(item)), 0);
}

const cases: readonly (readonly [name: string, before: string, after: string])[] = [
  ['clears all but the newest', 'u shell:9k a read:9k a u', 'u shell:- a read:9k a u'],
  ['leaves small savings alone', 'u shell:4k read:9k a', 'not_worth_it'],
  [
    'keeps what cannot be had again',
    'u todo:9k shell:9k apply_patch:9k read:9k a',
    'u todo:9k shell:- apply_patch:9k read:9k a',
  ],
  ['counts only fresh results', 'u shell:- read:9k grep:9k a', 'u shell:- read:- grep:9k a'],
  ['keeps what the model has not seen', 'u shell:9k a read:9k grep:9k', 'u shell:- a read:- grep:9k'],
  ['clears nothing of one unanswered batch', 'u shell#x> read#y> shell#x<:9k read#y<:9k', 'not_worth_it'],
  ['keeps failures failed', 'u shell:9k! read:9k a', 'u shell:-! read:9k a'],
  [
    'takes images for what they cost',
    'u read:img read:img read:img grep:40 a',
    'u read:- read:- read:- grep:40 a',
  ],
  ['makes no result larger', 'u shell:2 read:9k grep:9k a', 'u shell:2 read:- grep:9k a'],
  ['knows a result by its call alone', 'u shell#x<:9k read:9k grep:9k a', 'u result< read:- grep:9k a'],
];

for (const [name, before, after] of cases) {
  test(`microCompact ${name}`, () => {
    const result = run(thread(before));
    assert.equal(result.wasEffective ? flagged(result.items) : result.why, after);
  });
}

/** The notation with the failures of cleared results, which it leaves out by itself. */
function flagged(items: readonly Item[]): string {
  const failed = new Set(
    items.map((item) =>
      'success' in item && item.success === false && isCleared(item) ? resultCallId(item) : '',
    ),
  );
  const calls = items.filter((item) => callOf(item)?.callId !== undefined);
  let nth = 0;
  return notationOf(items).replaceAll(/(\w+):(?:\d+k?!?|-|img)(?= |$)/g, (word, name: string) => {
    if (!calls.some((item) => callOf(item)?.name === name)) return word;
    const call = calls[nth++];
    return call !== undefined && failed.has(callOf(call)?.callId ?? '-') ? `${word}!` : word;
  });
}

test('what clearing would have saved is said when it is not worth it', () => {
  const result = run(thread('u shell:4k read:400 grep:9k a'));
  assert.deepEqual([result.wasEffective, result.tokensSaved], [false, 4400 - 2 * PLACEHOLDER_TOKENS]);
  const exact = 4400 - 2 * PLACEHOLDER_TOKENS;
  assert.equal(run(thread('u shell:4k read:400 grep:9k a'), 1, exact).wasEffective, true);
  assert.equal(run(thread('u shell:4k read:400 grep:9k a'), 1, exact + 1).wasEffective, false);
});

test('a clearing says which calls it cleared, in order', () => {
  const result = run(thread('u shell#x> shell#x<:9k read#y> read#y<:9k grep#z> grep#z<:9k a'));
  assert.ok(result.wasEffective);
  assert.deepEqual([result.toolsCompacted, result.callIds], [2, ['x', 'y']]);
});

test('what an account keeps gives the same clearing, and no text is counted again', () => {
  fc.assert(
    fc.property(anyBrokenThread, anyKeepLast, (notation, keepLast) => {
      const items = thread(notation);
      const sizes = items.map((item) => sumTokens(itemTokens(item)));
      const account = new AccountFold({ estimate: DEFAULT_ESTIMATE, safetyMultiplier: 1 });
      for (const item of items) account.add({ type: 'item', item });
      const counted = run(items, keepLast, 1);
      let characters = 0;
      const kept = microCompact(items, {
        ...settings(keepLast, 1),
        kept: { sizeAt: (place) => sizes[place], toolAt: (place) => account.toolAt(place) },
        count: (text) => ((characters += text.length), Math.ceil(text.length / 4)),
      });
      assert.deepEqual(kept, counted);
      assert.equal(characters, CLEARED_RESULT.length);
    }),
    SEED,
  );
});

/** A result of a shell, of characters that take three bytes each. */
function wide(callId: string, characters: number): Item[] {
  return [
    { type: 'function_call', call_id: callId, name: 'shell', arguments: '{}' },
    { type: 'function_call_output', call_id: callId, output: '語'.repeat(characters) },
  ];
}

test('results are chosen, and the saving is judged and told, by bytes and not by characters', () => {
  // The first has fewer characters than the placeholder and more bytes.
  const items = [...wide('x', 20), ...wide('y', 4000), ...thread('a')];
  const exact = 15 + 3000 - 2 * PLACEHOLDER_TOKENS;
  for (const least of [1, exact]) {
    const result = run(items, 0, least);
    assert.ok(result.wasEffective, `a saving of ${exact} is at least ${least}`);
    assert.deepEqual([result.callIds, result.tokensSaved], [['x', 'y'], exact]);
  }
  const result = run(items, 0, exact + 1);
  assert.deepEqual([result.wasEffective, result.tokensSaved], [false, exact]);
});

function callOfX(name: string): Item {
  return { type: 'function_call', call_id: 'x', name, arguments: '{}' };
}

test('a result belongs to the newest call with its id, however far before it', () => {
  const far = thread(Array.from({ length: 100 }, () => 'a').join(' '));
  const result: Item = { type: 'function_call_output', call_id: 'x', output: 'x'.repeat(40_000) };
  const clears = (...items: readonly Item[]): boolean =>
    run([...items, result, ...thread('a')], 0).wasEffective;
  for (const between of [[], far]) {
    assert.equal(clears(callOfX('shell'), ...between), true);
    assert.equal(clears(callOfX('shell'), callOfX('update_plan'), ...between), false);
    assert.equal(clears(callOfX('update_plan'), ...between, callOfX('shell'), ...between), true);
    assert.equal(clears(...between), false);
  }
});

test('twice is once', () => {
  let effective = 0;
  fc.assert(
    fc.property(anyBrokenThread, anyKeepLast, (notation, keepLast) => {
      const once = run(thread(notation), keepLast, 1);
      if (!once.wasEffective) return;
      effective++;
      const again = run(once.items, keepLast, 1);
      assert.deepEqual([again.wasEffective, again.tokensSaved], [false, 0]);
    }),
    SEED,
  );
  assert.ok(effective > 30, `effective ${effective} times`);
});

test('the saving is exact, and only results change: to the placeholder, with id, type and success kept', () => {
  fc.assert(
    fc.property(anyThread, anyKeepLast, (notation, keepLast) => {
      const before = thread(notation);
      const result = run(before, keepLast, 1);
      if (!result.wasEffective) return;
      assert.equal(tokensOf(result.items), tokensOf(before) - result.tokensSaved);
      const changed = new Set<string>();
      before.forEach((item, index) => {
        const after = result.items[index];
        if (after === item) return;
        assert.deepEqual(after, { ...item, output: CLEARED_RESULT });
        changed.add(resultCallId(item) ?? '');
      });
      assert.deepEqual([...changed], result.callIds);
      assert.equal(result.items.length, before.length);
    }),
    SEED,
  );
});

test('the newest results, those of other tools and those not seen yet stay', () => {
  fc.assert(
    fc.property(anyThread, anyKeepLast, (notation, keepLast) => {
      const before = thread(notation);
      const result = run(before, keepLast, 1);
      if (!result.wasEffective) return;
      const names = new Map(before.map((item) => [callOf(item)?.callId, callOf(item)?.name]));
      const toolOf = (callId: string | undefined) => eligibleTool(names.get(callId) ?? '');
      for (const callId of result.callIds) assert.notEqual(toolOf(callId), undefined);
      const fresh = before.filter((item) => toolOf(resultCallId(item)) !== undefined && !isCleared(item));
      for (const item of fresh.slice(Math.max(0, fresh.length - keepLast)))
        assert.ok(result.items.includes(item));
      const lastSpoken = before.findLastIndex(
        (item) => /^(?:reasoning|.*_call)$/.test(item.type) || isAnswer(item),
      );
      for (const item of before.slice(lastSpoken + 1)) assert.ok(result.items.includes(item));
    }),
    SEED,
  );
});

function isAnswer(item: Item): boolean {
  return item.type === 'message' && item.role === 'assistant';
}

test('tools are known by the names of the field, in any case, and no others are', () => {
  const names = {
    Bash: 'shell',
    exec_command: 'shell',
    shell_command: 'shell',
    terminal: 'shell',
    read_bash: 'shell',
    Read: 'read',
    Grep: 'grep',
    grep_search: 'grep',
    LS: 'list_dir',
    list: 'list_dir',
    find_file: 'glob',
    WebFetch: 'web_fetch',
    Task: 'task_output',
  };
  for (const [name, tool] of Object.entries(names)) assert.equal(eligibleTool(name), tool);
  for (const name of [
    'TodoWrite',
    'update_plan',
    'AskUserQuestion',
    'apply_patch',
    'Edit',
    'mcp__x__read',
    'constructor',
    '',
  ]) {
    assert.equal(eligibleTool(name), undefined, name);
  }
});
