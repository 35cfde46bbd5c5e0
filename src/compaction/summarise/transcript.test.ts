import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { findBrokenPairs, pairView } from '../../history/pairs.ts';
import { callOf, resultCallId, textOfOutput, textOfParts } from '../../protocol/item.ts';
import type { Item } from '../../protocol/item.ts';
import { CLEARED_RESULT } from '../../protocol/record.ts';
import { itemTokens, sumTokens } from '../../tokens/estimate.ts';
import {
  anyBrokenThread,
  anyItem,
  anyThread,
  notationOf,
  textOfSize,
  thread,
} from '../../../test/support/thread.ts';
import { MESSAGE_OVERHEAD } from '../budget.ts';
import { LEAST_ROOM, MOST_CHUNKS } from './ladder.ts';
import type { Ask, ModelRung } from './ladder.ts';
import { excerptFor, transcriptOf } from './transcript.ts';
import type { Excerpt } from './transcript.ts';

const SEED = { seed: 20_261_121, numRuns: 150 };

function sizeOf(item: Item): number {
  const tokens = sumTokens(itemTokens(item));
  return tokens === 0 ? 0 : tokens + MESSAGE_OVERHEAD;
}

function total(items: readonly Item[]): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0);
}

function show(history: readonly Item[], rung: ModelRung, changed: Partial<Ask> = {}): Excerpt {
  const ask: Ask = { author: 0, rung, room: 1e9, partials: [], ...changed };
  return excerptFor(transcriptOf(history, sizeOf), ask, sizeOf);
}

/** What a model is shown of a history in mini-notation, in mini-notation. */
function told(notation: string, rung: ModelRung = 'whole', room = 1e9): string {
  return notationOf(show(thread(notation), rung, { room }).items);
}

function piecesOf(history: readonly Item[], room: number, count: number): readonly Excerpt[] {
  return Array.from({ length: count }, (_, index) =>
    show(history, 'chunked', { room, chunk: { index, count } }),
  );
}

test('a transcript begins at the newest boundary and leaves out what no summary should speak of', () => {
  assert.equal(told('u a boundary sum u boundary sum u a'), 'sum u a');
  assert.equal(told('dev h u progress a ghost u'), 'u a u');
  assert.equal(told('u a r u'), 'u a u', 'reasoning that led to nothing');
  const unknown: Item = { type: 'unknown', raw: { type: 'newer_kind', payload: 'x'.repeat(90_000) } };
  assert.deepEqual(show([...thread('u a'), unknown], 'oldest_dropped', { room: 500 }).items.length, 2);
});

test('attachments stand before the message that they belong to, those of nobody at the end', () => {
  assert.equal(told('a todo-list a u a todo-list'), 'a a todo-list u a todo-list');
});

test('messages of the user in a row become one, an earlier summary stays by itself', () => {
  assert.equal(told('u:40 u:40 a'), 'u:81 a');
  assert.equal(told('sum u u a'), 'sum u:11 a');
  const [merged] = show(thread('u u+img a'), 'whole').items;
  assert.deepEqual(merged?.type === 'message' && merged.content.map(({ type }) => type), [
    'input_text',
    'input_text',
    'input_image',
  ]);
});

test('the results of all but the newest three steps are cleared, reasoning goes, images become words', () => {
  assert.equal(
    told('u r shell:9k a shell:3k read:3k! a grep:3k a u+img', 'results_cleared'),
    'u shell:- a shell:3k read:3k! a grep:3k a u:7',
  );
  const history = thread('u shell:img a');
  const [, , result] = show(history, 'results_cleared').items;
  assert.ok(result?.type === 'function_call_output', 'the result stays');
  assert.equal(textOfOutput(result.output), '[image]');
  const plain = thread('u:400 a:400');
  assert.equal(show(plain, 'results_cleared').items[0], plain[0], 'what has no image is not copied');
});

test('calls that ran side by side and their results are one group', () => {
  const side = thread('u shell#x> read#y> shell#x<:400 read#y<:400 a');
  assert.deepEqual(
    transcriptOf(side, sizeOf).groups.map(({ items }) => items.length),
    [1, 4, 1],
  );
  const thought = thread('u r shell#x> shell#x<:400 a');
  assert.deepEqual(
    transcriptOf(thought, sizeOf).groups.map(({ items }) => items.length),
    [1, 3, 1],
  );
});

/** A room and a rung for it, the pieces of the chunked one among them. */
const anyAsk = fc
  .record({
    rung: fc.constantFrom<ModelRung>('whole', 'results_cleared', 'oldest_dropped', 'chunked', 'newest_turns'),
    room: fc.integer({ min: LEAST_ROOM, max: 40_000 }),
    count: fc.integer({ min: 2, max: MOST_CHUNKS }),
    index: fc.nat(MOST_CHUNKS - 1),
  })
  .map(({ rung, room, count, index }): Partial<Ask> & { readonly rung: ModelRung } => ({
    rung,
    room,
    ...(rung === 'chunked' ? { chunk: { count, index: index % count } } : {}),
  }));

const anyHistory = fc.oneof(
  anyThread.map(thread),
  anyBrokenThread.map(thread),
  fc.array(anyItem, { maxLength: 30, size: 'max' }),
);

test('no excerpt of any history holds half a pair', () => {
  fc.assert(
    fc.property(anyHistory, anyAsk, (history, { rung, ...changed }) => {
      const { items } = show(history, rung, changed);
      const { orphanCalls, orphanResults, duplicateResults } = findBrokenPairs(items.map(pairView));
      assert.deepEqual([orphanCalls, orphanResults, duplicateResults], [[], [], []]);
    }),
    SEED,
  );
});

test('no excerpt is larger than its room', () => {
  fc.assert(
    fc.property(anyHistory, anyAsk, (history, { rung, room = 0, ...changed }) => {
      if (rung === 'whole' || rung === 'results_cleared') return;
      const { items } = show(history, rung, { room, ...changed });
      assert.ok(total(items) <= room, `${total(items)} in a room of ${room}`);
    }),
    SEED,
  );
});

test('what is not shown is counted', () => {
  fc.assert(
    fc.property(anyHistory, fc.integer({ min: LEAST_ROOM, max: 20_000 }), (history, room) => {
      const whole = show(history, 'results_cleared').items.length;
      const { groups } = transcriptOf(history, sizeOf);
      const { items, omitted } = show(history, 'oldest_dropped', { room });
      const all = groups.reduce((sum, group) => sum + group.items.length, 0);
      assert.ok(omitted <= all, `${omitted} of ${all}`);
      assert.equal(omitted === 0, items.length === whole, `${items.length} of ${whole}, ${omitted} omitted`);
    }),
    SEED,
  );
});

test('pieces hold every item once and in order', () => {
  fc.assert(
    fc.property(anyHistory, fc.integer({ min: 2, max: MOST_CHUNKS }), (history, count) => {
      const all = show(history, 'results_cleared').items;
      // As the ladder counts them: all of it fits into all pieces together.
      const room = Math.max(LEAST_ROOM * 10, Math.ceil((total(all) * 1.1) / count));
      const pieces = piecesOf(history, room, count);
      assert.deepEqual(
        pieces.flatMap(({ items }) => items.map(nameOf)),
        all.map(nameOf),
      );
      assert.equal(show(history, 'chunked', { room, partials: pieces.map(() => 'told') }).omitted, 0);
    }),
    SEED,
  );
});

/** Type, ids and the beginning of the text: what cutting the middle out leaves. */
function nameOf(item: Item): string {
  const text = item.type === 'message' ? textOfParts(item.content).slice(0, 3) : '';
  return [item.type, callOf(item)?.callId ?? resultCallId(item) ?? '', text].join(' ');
}

test('what is older than all pieces hold is told where they are put together', () => {
  const history = thread(Array.from({ length: 30 }, () => 'u:400 a:400').join(' '));
  const pieces = piecesOf(history, 2_000, 2);
  const reduce = show(history, 'chunked', { room: 2_000, partials: ['one', 'two'] });
  const held = pieces.reduce((sum, { items }) => sum + items.length, 0);
  assert.deepEqual(reduce.items, []);
  assert.equal(held + reduce.omitted, history.length);
  assert.ok(reduce.omittedTokens > 15_000, `${reduce.omittedTokens}`);
});

// @source library-peers §2e: the peers leave 340,000 tokens, clear everything, or do not ask the model at all
test('one result of 340,000 tokens hides nothing else, wherever it stands', () => {
  for (const notation of [
    'u:40 a:40 shell:400 a:40 u:40 shell:340k',
    'u:40 a:40 shell:340k a:40 u:40 shell:400 a:40',
    'shell:340k u:40 a:40 u:40 shell:400 a:40',
  ]) {
    const history = thread(notation);
    const { items, omitted } = show(history, 'oldest_dropped', { room: 20_000 });
    assert.equal(items.length, history.length, notation);
    assert.equal(omitted, 0);
    assert.ok(total(items) <= 20_000, `${total(items)}`);
    const long = items.find((item) => resultCallId(item) !== undefined && sizeOf(item) > 5_000);
    assert.ok(long?.type === 'function_call_output', 'it is there in part');
    assert.match(textOfOutput(long.output), /^shell\d .*…\d+ tokens truncated….*/s);
    const pieces = piecesOf(history, 20_000, 8);
    assert.equal(pieces.flatMap((piece) => piece.items).length, history.length);
    for (const piece of pieces) assert.ok(total(piece.items) <= 20_000, `${total(piece.items)}`);
  }
});

test('a long line before the tail is cut, not the history', () => {
  // @source library-peers §2e: 40,000 characters on one line and the peer asks no model
  const line: Item = {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text: 'x'.repeat(40_000) }],
  };
  const history = [...thread('u a:40 u a:40'), line, ...thread('a:40 shell:400')];
  const { items } = show(history, 'newest_turns', { room: 2_000 });
  assert.equal(items.length, history.length);
});

test('an earlier summary stays, cut to half of the room if need be', () => {
  const history = thread('boundary sum:9k u:400 a:400 u:400 a:400 u:400 a:400');
  const { items } = show(history, 'oldest_dropped', { room: 2_000 });
  const [first] = items;
  assert.ok(first?.type === 'message' && first.isCompactSummary === true, notationOf(items));
  assert.ok(sizeOf(first) <= 1_000 && sizeOf(first) > 500, `${sizeOf(first)}`);
  assert.ok(items.length >= 3, notationOf(items));
});

test('calls stay what their kind wants when they are cut', () => {
  const long = `{"text":"${'\\"quoted\\" and \\\\ '.repeat(4_000)}"}`;
  const history: readonly Item[] = [
    { type: 'function_call', name: 'write', arguments: long, call_id: 'a' },
    { type: 'function_call_output', call_id: 'a', output: 'ok' },
    { type: 'custom_tool_call', name: 'apply_patch', input: '+ line\n'.repeat(9_000), call_id: 'b' },
    { type: 'custom_tool_call_output', call_id: 'b', output: 'ok' },
    { type: 'local_shell_call', call_id: 'c', action: { type: 'exec', command: ['x'.repeat(50_000)] } },
    { type: 'function_call_output', call_id: 'c', output: 'ok' },
  ];
  const pieces = piecesOf(history, 900, 3);
  const items = pieces.flatMap((piece) => piece.items);
  const [write, , patch, , shell] = items;
  assert.equal(items.length, 6);
  for (const piece of pieces) assert.ok(total(piece.items) <= 900, `${total(piece.items)}`);
  assert.ok(write?.type === 'function_call', 'a call');
  assert.match(String((JSON.parse(write.arguments) as { shortened: string }).shortened), /tokens truncated/);
  assert.ok(patch?.type === 'custom_tool_call' && patch.input.startsWith('+ line'), 'plain text');
  assert.ok(shell?.type === 'local_shell_call' && Array.isArray(shell.action['command']), 'a command');
});

test('no cut goes through a character', () => {
  const text = '𝄞'.repeat(30_000);
  const history: readonly Item[] = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
  ];
  for (let room = LEAST_ROOM; room < LEAST_ROOM + 40; room++) {
    const [item] = show(history, 'newest_turns', { room }).items;
    assert.ok(item?.type === 'message', 'it is shown');
    assert.doesNotMatch(textOfParts(item.content), /\p{Surrogate}/u, `half a pair in a room of ${room}`);
  }
});

test('of a thousand calls at once the newest are shown, each with its result', () => {
  const calls = Array.from({ length: 1_000 }, (_, n) => `shell#c${n}>`);
  const results = Array.from({ length: 1_000 }, (_, n) => `shell#c${n}<:400`);
  const history = thread(['u', ...calls, ...results].join(' '));
  const { items } = show(history, 'oldest_dropped', { room: 2_000 });
  assert.ok(total(items) <= 2_000 && items.length > 20, `${items.length} of ${total(items)} tokens`);
  assert.equal(resultCallId(items.at(-1) ?? { type: 'progress', text: '' }), 'c999');
  assert.deepEqual(findBrokenPairs(items.map(pairView)).orphanCalls, []);
});

test('texts with the signs of replacement patterns come through untouched', () => {
  // @source library-peers §2e: `$&`, `$'` and backticks are expanded by the peers
  const text = "sed 's/$&/`$'`/' <<<\"$`$1$$\" ${x} {maxWords}";
  const item: Item = { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
  for (const rung of ['whole', 'results_cleared', 'oldest_dropped', 'newest_turns'] as const) {
    const [shown]: readonly Item[] = show([item], rung, { room: LEAST_ROOM }).items;
    assert.equal(shown?.type === 'message' && textOfParts(shown.content), text);
  }
});

test('a cleared result keeps its id and says so', () => {
  const items = show(thread('u shell:9k a shell a shell a shell a'), 'results_cleared').items;
  const result = items.find((item) => resultCallId(item) !== undefined);
  assert.ok(result?.type === 'function_call_output' && result.output === CLEARED_RESULT, 'cleared');
  assert.equal(result.success, true);
  assert.ok(textOfSize('x', 1).length === 4, 'the notation counts as it says');
});
