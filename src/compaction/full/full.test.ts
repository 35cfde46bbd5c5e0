import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { textOfParts } from '../../protocol/item.ts';
import type { Item, MessageItem } from '../../protocol/item.ts';
import { WHOLE_ITEMS } from '../../history/clear.ts';
import { SUMMARY_PREFIX, isUserMessage } from '../../history/filter.ts';
import { findBrokenPairs, pairView } from '../../history/pairs.ts';
import { HistoryFold } from '../../history/project.ts';
import { DEFAULT_ESTIMATE, approximateTokens, sumTokens } from '../../tokens/estimate.ts';
import type { CountText } from '../../tokens/estimate.ts';
import {
  anyBrokenThread,
  anyThread,
  entriesOf,
  notationOf,
  textOfSize,
  thread,
} from '../../../test/support/thread.ts';
import { WORTHWHILE_SHARE } from '../budget.ts';
import { compactFully } from './full.ts';
import type { FullRequest, FullResult, Summarise } from './request.ts';
import { itemsTokens, measureOnce, measureWith } from '../measure.ts';
import { limitFiles, prepareFile } from './restore.ts';
import type { RestorableFile } from './restore.ts';

const SEED = { seed: 20_260_109 };

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function file(path: string, tokens: number): RestorableFile {
  const read = { kind: 'text', text: textOfSize(path, tokens) } as const;
  const limits = {
    maxFiles: 5,
    tokensPerFile: 5000,
    totalFileBudget: 50_000,
    count: approximateTokens,
    hash,
  };
  const prepared = prepareFile(path, read, limits);
  assert.ok(prepared);
  return prepared;
}

/** A summarizer that uses all it is given. */
function greedy(budget: number): { text: string; redactions: Record<string, number> } {
  return { text: textOfSize('summary', Math.min(budget, 20_000)), redactions: { jwt: 1 } };
}

const countWords: CountText = (text) => text.split(/\s+/).length * 3;

const measureWords = measureWith(countWords, DEFAULT_ESTIMATE);
const measure = measureWith(approximateTokens, DEFAULT_ESTIMATE);

function summariseInWords(budget: number) {
  return { text: 'word '.repeat(Math.floor(budget / 3)).trim(), redactions: {} };
}

const PLAIN: Omit<FullRequest, 'entries'> = {
  id: 'compaction-1',
  at: '2026-01-01T00:00:00.000Z',
  trigger: 'manual',
  reason: 'user_requested',
  phase: 'standalone_turn',
  strategy: 'auto',
  why: 'The test asked for it.',
  window: 200_000,
  leavesInitialContext: false,
  userMessageLimit: 20_000,
  files: [],
  summaryPrefix: SUMMARY_PREFIX,
  state: [],
  measure: measureOnce(approximateTokens, DEFAULT_ESTIMATE),
  count: approximateTokens,
  counter: 'approximate',
  hash,
};

/** A request of a test; without `summarise` the greedy one writes. */
type Asked = Partial<FullRequest> & { readonly summarise?: Summarise };

function run(notation: string, { summarise = greedy, ...request }: Asked = {}): FullResult {
  const { count = PLAIN.count } = request;
  const counted = { count, measure: measureOnce(count, DEFAULT_ESTIMATE) };
  return compactFully({ ...PLAIN, entries: entriesOf(thread(notation)), ...request, ...counted }, summarise);
}

function compacted(result: FullResult) {
  assert.equal(result.outcome, 'compacted');
  return result as FullResult & { outcome: 'compacted' };
}

function receiptOf(result: FullResult) {
  return compacted(result).record.receipt;
}

const anyRequest = fc.record(
  {
    trigger: fc.constantFrom('manual', 'auto'),
    window: fc.constantFrom(8000, 128_000, 1_000_000),
    leavesInitialContext: fc.boolean(),
    userMessageLimit: fc.constantFrom(0, 100, 20_000),
    files: fc
      .array(fc.nat(6000), { maxLength: 6 })
      .map((sizes) => sizes.map((tokens, index) => file(`src/file-${index}.ts`, tokens))),
    state: fc.constantFrom('', 'todo-list', 'todo-list todo-list').map(thread),
    targetTokens: fc.nat(20_000),
  },
  {
    requiredKeys: ['trigger', 'window', 'leavesInitialContext', 'userMessageLimit', 'files', 'state'],
  },
);

const layouts: readonly (readonly [
  name: string,
  before: string,
  after: string,
  request: Partial<FullRequest>,
])[] = [
  ['the user’s words beside a summary', 'u shell:9k a u:40 a:400', 'boundary sum u u:40', {}],
  ['the initial context first', 'dev h u a:9k ghost', 'dev h boundary sum u ghost', {}],
  [
    'no initial context where the agent gives it again',
    'dev h u a:9k',
    'boundary sum u',
    { leavesInitialContext: true },
  ],
  [
    'files, then todos, then the user’s words',
    'u a:9k',
    'boundary sum todo-list todo-list u',
    { files: [file('a.ts', 40)], state: thread('todo-list') },
  ],
  ['no earlier summary', 'boundary sum:3k u a:9k', 'boundary sum u', {}],
];

for (const [name, before, after, request] of layouts) {
  test(`a compaction leaves ${name}`, () => {
    const { record } = compacted(run(before, request));
    assert.equal(notationOf(record.replacement), after);
  });
}

test('of any history, to any size: it fits, is smaller, whole, and says what became of everything', () => {
  const seen = { compacted: 0, nothing_to_compact: 0, cannot_fit: 0 };
  fc.assert(
    fc.property(anyBrokenThread, anyRequest, (notation, drawn: Partial<FullRequest>) => {
      const request = drawn;
      const entries = entriesOf(thread(notation));
      const preTokens = itemsTokens(thread(notation), measure);
      const result = run(notation, { ...request, entries });
      seen[result.outcome]++;
      if (result.outcome === 'cannot_fit') {
        assert.ok(result.leastTarget > (request.targetTokens ?? Infinity) && result.leastTarget < preTokens);
        const wider = run(notation, { ...request, targetTokens: result.leastTarget });
        assert.equal(wider.outcome, 'compacted', `${result.leastTarget} does not do`);
        return;
      }
      if (result.outcome === 'nothing_to_compact') return assert.equal(result.preTokens, preTokens);
      const { record, fates } = result;
      assert.equal(record.preTokens, preTokens);
      assert.equal(record.postTokens, itemsTokens(record.replacement, measure));
      const givenAgain = fates.flatMap(({ entry, why }) => (why === 'initial_context' ? [entry.value] : []));
      const afterwards = record.postTokens + itemsTokens(givenAgain, measure);
      assert.ok(afterwards <= preTokens * WORTHWHILE_SHARE, 'what comes back by itself counts');
      assert.ok(record.postTokens <= (request.targetTokens ?? Infinity));
      const broken = findBrokenPairs(record.replacement.map(pairView));
      assert.deepEqual(broken, { orphanCalls: [], orphanResults: [], duplicateResults: [] });
      assert.deepEqual(
        fates.map(({ entry }) => entry),
        entries,
      );
      const { kept, cut, summarised, dropped, after } = record.receipt;
      assert.equal(kept.tokens + (cut?.tokens ?? NaN) + summarised.tokens + dropped.tokens, preTokens);
      for (const part of [kept, cut, summarised, dropped]) {
        assert.equal(part?.tokens, sumTokens(part?.byCategory ?? {}));
      }
      const parts = Object.values(after ?? {});
      assert.equal(
        parts.reduce((sum, tokens) => sum + tokens, 0),
        record.postTokens,
      );
      assert.deepEqual(
        [kept, summarised, dropped]
          .flatMap(({ items }) =>
            items.flatMap(([from, to]) => Array.from({ length: to - from + 1 }, (_, nth) => from + nth)),
          )
          .toSorted((a, b) => a - b),
        entries.map(({ seq }) => seq),
      );
      assert.equal(kept.count + summarised.count + dropped.count, entries.length);
      return undefined;
    }),
    { ...SEED, numRuns: 500 },
  );
  for (const [outcome, times] of Object.entries(seen))
    assert.ok(times > 20, `${outcome} came ${times} times`);
});

test('by a counter that knows nothing of bytes, the target holds as well', () => {
  fc.assert(
    fc.property(anyThread, anyRequest, (notation, drawn: Partial<FullRequest>) => {
      const request = { ...drawn, count: countWords, files: [], summarise: summariseInWords };
      const result = run(notation, request);
      if (result.outcome !== 'compacted') return;
      const size = itemsTokens(result.record.replacement, measureWords);
      assert.ok(size <= (request.targetTokens ?? Infinity));
      assert.ok(size < itemsTokens(thread(notation), measureWords));
    }),
    SEED,
  );
});

test('the user’s words stay as they were; only the oldest of them may be cut', () => {
  fc.assert(
    fc.property(anyThread, anyRequest, (notation, request: Partial<FullRequest>) => {
      const before = thread(notation);
      const result = run(notation, { ...request, entries: entriesOf(before) });
      if (result.outcome !== 'compacted') return;
      const said = before.filter(isUserMessage);
      const kept = result.record.replacement.filter(isUserMessage);
      const [oldest, ...newer] = said.slice(said.length - kept.length);
      assert.deepEqual(kept.slice(1).map(wordsOf), newer.map(wordsOf));
      if (oldest !== undefined && !textOfParts(kept[0]?.content ?? []).includes('tokens truncated')) {
        assert.equal(wordsOf(kept[0] ?? oldest), wordsOf(oldest));
      }
    }),
    SEED,
  );
});

function wordsOf(item: MessageItem): string {
  const texts = item.content.filter((part) => part.type === 'input_text' && part.text !== '[image]');
  return textOfParts(texts);
}

test('the same request gives the same result', () => {
  fc.assert(
    fc.property(anyThread, anyRequest, (notation, request: Partial<FullRequest>) => {
      assert.deepEqual(run(notation, request), run(notation, request));
    }),
    SEED,
  );
});

test('what is small enough already is left alone, without asking for a summary', () => {
  const summarise = () => assert.fail('a summary was asked for');
  for (const notation of ['', 'u', 'dev u a']) {
    assert.equal(run(notation, { targetTokens: 1000, summarise }).outcome, 'nothing_to_compact', notation);
    assert.equal(run(notation, { targetTokens: 1, summarise }).outcome, 'nothing_to_compact', notation);
    assert.equal(run(notation).outcome, 'nothing_to_compact', notation);
  }
});

test('a thousand short messages of the user cost what their wrapping costs, and the target holds', () => {
  const { record } = compacted(run(`${'u:1 '.repeat(1000)}a:9k`, { targetTokens: 2000 }));
  assert.ok((record.postTokens ?? Infinity) <= 2000);
});

test('a summarizer that cannot be brief is asked again, and the size that it needs is reported', () => {
  const budgets: number[] = [];
  const result = run('u a:9k', {
    targetTokens: 500,
    summarise: (budget) => {
      budgets.push(budget);
      return { text: textOfSize('summary', 1000), redactions: {} };
    },
  });
  assert.ok(result.outcome === 'cannot_fit' && budgets.every((budget) => budget > 0));
  const verbose = () => ({ text: textOfSize('summary', 1000), redactions: {} });
  assert.equal(run('u a:9k', { targetTokens: result.leastTarget, summarise: verbose }).outcome, 'compacted');
});

test('a summary a little over its budget is written again, shorter', () => {
  for (const over of [1, 50]) {
    const summarise = (budget: number) => ({ text: textOfSize('summary', budget + over), redactions: {} });
    const receipt = receiptOf(run('u a:9k', { targetTokens: 1000, summarise }));
    assert.ok(receipt.postTokens <= 1000, `over by ${over}`);
  }
});

test('a small session gets a small summary', () => {
  const budgets: number[] = [];
  const summarise = (budget: number) => (budgets.push(budget), greedy(Math.floor(budget / 2)));
  for (const notation of ['u a:400', 'u a:3k', 'u a:9k a:9k']) run(notation, { summarise });
  // Three quarters of 413 and of 3013, less 35 for the wrapping of the summary and 9 for the user's words.
  assert.deepEqual(budgets, [265, 2215, 4000]);
});

test('the summarizer is told which words stay, and its redactions are in the receipt', () => {
  let told: readonly MessageItem[] = [];
  const receipt = receiptOf(
    run('u:1 a:9k u:2', { summarise: (budget, preserved) => ((told = preserved), greedy(budget)) }),
  );
  assert.equal(notationOf(told), 'u:1 u:2');
  assert.deepEqual(receipt.redactions, { jwt: 1 });
});

test('the receipt says who asked, by what counter, what was done and what was checked', () => {
  const entries = entriesOf(thread('dev u shell:9k r a progress ghost'));
  const receipt = receiptOf(run('', { entries, targetTokens: 5000, files: [file('a.ts', 100)] }));
  const { kept, summarised, dropped } = receipt;
  assert.deepEqual(
    [kept, summarised, dropped].map(({ items, count }) => ({ items, count })),
    [
      {
        items: [
          [0, 1],
          [7, 7],
        ],
        count: 3,
      },
      { items: [[2, 5]], count: 4 },
      { items: [[6, 6]], count: 1 },
    ],
  );
  assert.deepEqual(summarised.byCategory, { tool_calls: 8, tool_results: 9004, reasoning: 9, assistant: 9 });
  assert.equal(summarised.tokens, 9030);
  assert.deepEqual(
    receipt.restoredFiles.map(({ path }) => path),
    ['a.ts'],
  );
  assert.deepEqual(receipt.guards, ['no_broken_pairs', 'smaller', 'within_target']);
  const lines = entries.map(({ value }) => `${JSON.stringify(value)}\n`).join('');
  assert.equal(receipt.inputSha256, hash(lines), 'of a history that is hashed at once');
  assert.deepEqual([receipt.counter, receipt.targetTokens, receipt.window], ['approximate', 5000, 200_000]);
});

test('notes say what a reader would ask about', () => {
  assert.deepEqual(receiptOf(run('dev u a:9k', { leavesInitialContext: true })).notes, [
    'The initial context (9 tokens) is omitted and not counted: the agent that resumes adds its own.',
  ]);
  assert.deepEqual(receiptOf(run('u a:9k', { targetTokens: 9009 })).notes, []);
  assert.deepEqual(receiptOf(run('u a:9k', { targetTokens: 20_000 })).notes, [
    'What a compaction can change held 9,013 tokens, already within the target of 20,000. It was compacted all the same.',
  ]);
  assert.deepEqual(receiptOf(run('u:40 u:40 a:9k', { userMessageLimit: 44 })).notes, [
    'Only the summary covers 1 older user message: there was no room to keep more verbatim.',
  ]);
  assert.deepEqual(receiptOf(run('dev:5k u a:9k', { window: 10_000 })).notes, [
    'Less than half of the window is free after this compaction. Largest parts: system (5,004 tokens), summary (4,035 tokens), user (9 tokens).',
  ]);
  const [crowded = ''] = receiptOf(run('u a:9k', { window: 10_000, beside: 6_000 })).notes;
  assert.match(crowded, /Largest parts: instructions and tools \(6,000 tokens\), summary/);
});

test('an agent that was interrupted is told to go on, unless a handoff tells it', () => {
  const textOf = (terms: Partial<FullRequest>) => {
    const [, summary] = compacted(run('u a:9k', terms)).record.replacement;
    return summary?.type === 'message' ? textOfParts(summary.content) : '';
  };
  const sentence = /Please continue the conversation/;
  assert.match(textOf({ trigger: 'auto', phase: 'mid_turn' }), sentence);
  assert.doesNotMatch(textOf({ trigger: 'auto', phase: 'mid_turn', isHandedOver: true }), sentence);
  assert.doesNotMatch(textOf({ trigger: 'auto', phase: 'pre_turn' }), sentence);
  assert.doesNotMatch(textOf({ trigger: 'manual', phase: 'mid_turn' }), sentence);
});

test('five compactions in a row stay within the target, keep the newest words and can all be taken back', () => {
  const history = new HistoryFold(WHOLE_ITEMS);
  const states: (readonly Item[])[] = [];
  const turns = [1, 2, 3, 4, 5].map((nth) => thread(`u:${nth} shell:9k a:400 read:3k a`));
  for (let nth = 1; nth <= 5; nth++) {
    for (const item of turns[nth - 1] ?? []) history.add({ type: 'item', item });
    states.push(history.entries.map(({ value }) => value));
    const { record } = compacted(
      compactFully({ ...PLAIN, id: `c${nth}`, entries: history.entries, targetTokens: 3000 }, greedy),
    );
    history.add(record);
    const items = history.entries.map(({ value }) => value);
    assert.ok(itemsTokens(items, measure) <= 3000);
    assert.equal(items.filter((item) => item.type === 'message' && item.isCompactSummary === true).length, 1);
    const words = items.filter(isUserMessage);
    assert.equal(notationOf(words), ['u:1', 'u:2', 'u:3', 'u:4', 'u'].slice(0, nth).join(' '));
  }
  for (let nth = 5; nth >= 1; nth--) {
    assert.equal(history.add({ type: 'undo_compaction', compactionId: `c${nth}` }), 'undone');
    assert.deepEqual(
      history.entries.map(({ value }) => value),
      [...(states[nth - 1] ?? []), ...turns.slice(nth).flat()],
    );
  }
});

test('limits of restored files: five, and a budget that later, smaller ones still fit', () => {
  const limits = { maxFiles: 2, tokensPerFile: 5000, totalFileBudget: 500 };
  const files = [file('a', 300), file('b', 300), file('c', 100), file('d', 1)];
  assert.deepEqual(
    limitFiles(files, limits).map(({ path }) => path),
    ['a', 'c'],
  );
});

test('what the agent gives again leaves that much less to write, but where only what is written is looked at', () => {
  const sizeOf = (request: Partial<FullRequest>) =>
    receiptOf(run('dev:5k u a:3k', { leavesInitialContext: true, targetTokens: 2000, ...request }))
      .postTokens;
  assert.ok(sizeOf({}) + 5000 <= 8100 * WORTHWHILE_SHARE);
  assert.ok(sizeOf({ isWrittenAlone: true }) > 1900);
});
