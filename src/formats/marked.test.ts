// Messages that Baton put into the thread of an agent which keeps no origin of items are known again in its log.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorOf } from '../protocol/item.ts';
import type { Item, JsonObject } from '../protocol/item.ts';
import { userItems } from './claude-code/items.ts';
import { readItem } from './codex/items.ts';

const text = '[baton:heads_up+packet_request sequence=s1]\nWe pause here.';

const readers: Readonly<Record<string, (role: string, said: string) => readonly Item[]>> = {
  codex: (role, said) => {
    const type = role === 'assistant' ? 'output_text' : 'input_text';
    return [readItem({ type: 'message', role, content: [{ type, text: said }] }, assert.fail)];
  },
  'claude-code': (role, said) => {
    const line: JsonObject = { type: 'user', message: { role, content: said } };
    return userItems(line);
  },
};

for (const [format, readMessages] of Object.entries(readers)) {
  test(`${format}: a marked message is synthetic, whatever is around it`, () => {
    const [item] = readMessages('user', text);
    assert.deepEqual(item?.origin, { author: 'synthetic', step: 'packet_request', sequenceId: 's1' });
  });

  test(`${format}: a user who quotes a marker is the author`, () => {
    const [item] = readMessages('user', `What does this mean? ${text}`);
    assert.ok(item !== undefined, 'there is an item');
    assert.equal(authorOf(item), 'user');
  });
}

test('codex: an agent’s item that the watcher wrote is marked as such, too', () => {
  const [item] = readers['codex']?.('assistant', '[baton:packet sequence=s1]\nThe goal.') ?? [];
  assert.equal(item?.origin?.author, 'synthetic');
});
