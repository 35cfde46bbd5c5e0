import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Item, MessageItem } from '../../protocol/item.ts';
import { approximateTokens } from '../../tokens/estimate.ts';
import { writePlainSummary } from './plain.ts';

function says(role: 'user' | 'assistant', text: string, more: Partial<MessageItem> = {}): MessageItem {
  const type = role === 'user' ? 'input_text' : 'output_text';
  return { type: 'message', role, content: [{ type, text }], ...more };
}

const planned: Item = {
  type: 'function_call',
  call_id: 'p',
  name: 'update_plan',
  arguments: JSON.stringify({ plan: [{ step: 'Sand the hull', status: 'in_progress' }] }),
};

function written(items: readonly Item[], budget: number, preserved: readonly MessageItem[] = []): string {
  const entries = items.map((value, seq) => ({ seq, value, isReplacement: false }));
  return writePlainSummary({ entries, count: approximateTokens, preserved }, budget);
}

const kept = says('user', 'Now varnish it.');
const items: readonly Item[] = [
  says('user', 'A summary of before.', { isCompactSummary: true }),
  says('user', 'Paint the boat.'),
  says('user', 'Sand it first; the key is sk-ant-api03-0123456789abcdefghijklmnop.'),
  planned,
  says('assistant', 'The hull is sanded.'),
  kept,
];

test('it tells requests, plan, the newest message and an earlier summary, newest request first', () => {
  const text = written(items, 2_000, [kept]);
  for (const part of ['A summary of before.', 'in_progress: Sand the hull', 'The hull is sanded.']) {
    assert.ok(text.includes(part), part);
  }
  assert.ok(text.indexOf('Sand it first') < text.indexOf('Paint the boat.'));
  assert.ok(!text.includes('varnish'), 'what stands beside it is not told again');
  assert.ok(!text.includes('sk-ant-'), 'secrets are redacted');
});

test('it keeps to every budget', () => {
  const long = [...items, says('user', 'word '.repeat(50_000)), says('assistant', 'word '.repeat(50_000))];
  for (const budget of [1, 40, 100, 300, 1_000, 4_000]) {
    const text = written(long, budget);
    assert.ok(approximateTokens(text) <= budget, `${budget}: ${approximateTokens(text)}`);
  }
  assert.equal(written(long, 1), '');
});
