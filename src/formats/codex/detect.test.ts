import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../protocol/item.ts';
import * as lines from '../../../test/support/codex-lines.ts';
import { CODEX_LOOK_ALIKES, looksLikeCodex } from './detect.ts';

for (const generation of lines.GENERATIONS) {
  test(`every line of ${generation} looks like a rollout and like nothing else`, () => {
    for (const value of lines.session(generation)) {
      assert.equal(looksLikeCodex(value), 1, JSON.stringify(value));
      assert.deepEqual(
        CODEX_LOOK_ALIKES.filter(({ matches }) => matches(value)),
        [],
      );
    }
  });
}

const others: readonly (readonly [sentence: RegExp | undefined, value: JsonObject])[] = [
  [/terminal UI of Codex/, { ts: '2026-01-02T03:04:05Z', dir: 'to_tui', kind: 'codex_event', payload: {} }],
  [/prompt history of Codex/, { session_id: 'a', ts: 1_767_000_000, text: 'hello' }],
  [/codex exec --json/, { type: 'thread.started', thread_id: 'a' }],
  [/codex exec --json/, { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'x' } }],
  [/session of pi/, { type: 'session', version: 3, id: 'a', timestamp: '2026-01-02', cwd: '/x' }],
  [/session of pi/, { type: 'message', id: 'b', parentId: 'a', message: { role: 'user', content: 'x' } }],
  [
    /session of GitHub Copilot/,
    { type: 'user.message', data: {}, id: 'a', timestamp: '2026', parentId: null },
  ],
  [undefined, { type: 'user', uuid: 'a', parentUuid: null, message: { role: 'user', content: 'x' } }],
  [undefined, { role: 'user', content: 'x' }],
  [undefined, { type: 'event_msg' }],
  [undefined, { payload: {} }],
  [undefined, {}],
];

for (const [sentence, value] of others) {
  test(`is no rollout: ${JSON.stringify(value)}`, () => {
    assert.equal(looksLikeCodex(value), 0);
    const names = CODEX_LOOK_ALIKES.filter(({ matches }) => matches(value)).map(({ name }) => name);
    if (sentence === undefined) assert.deepEqual(names, []);
    else {
      assert.equal(names.length, 1);
      assert.match(names[0] ?? '', sentence);
    }
  });
}

test('a wrapped line of a kind that is not known yet speaks for a rollout, but alone proves none', () => {
  const likeness = looksLikeCodex({ timestamp: '2026-01-02', type: 'novelty', payload: {} });
  assert.ok(likeness > 0 && likeness < 1);
});
