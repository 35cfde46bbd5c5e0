import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClaudeLines } from '../../test/support/claude-lines.ts';
import * as codex from '../../test/support/codex-lines.ts';
import type { JsonObject } from '../protocol/item.ts';
import { detectFormat } from './detect.ts';
import { LIKENESS, LOOK_ALIKES } from './likeness.ts';

const others: readonly (readonly [sentence: RegExp | undefined, value: JsonObject])[] = [
  [/terminal UI of Codex/, { ts: '2026-01-02T03:04:05Z', dir: 'to_tui', kind: 'codex_event', payload: {} }],
  [/prompt history of Codex/, { session_id: 'a', ts: 1_767_000_000, text: 'hello' }],
  [/codex exec --json/, { type: 'thread.started', thread_id: 'a' }],
  [/codex exec --json/, { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: 'x' } }],
  [
    /stream-json/,
    { type: 'assistant', message: { role: 'assistant', content: [] }, session_id: 's', uuid: 'u' },
  ],
  [/prompt history of Claude Code/, { display: 'a', pastedContents: {}, timestamp: 1, project: '/p' }],
  [undefined, { type: 'event_msg' }],
  [undefined, { payload: {} }],
  [undefined, {}],
];

for (const [sentence, value] of others) {
  test(`is no session: ${JSON.stringify(value)}`, () => {
    const detection = detectFormat([value], LIKENESS, LOOK_ALIKES);
    assert.equal(detection.format, undefined);
    const said = LOOK_ALIKES.filter(({ matches }) => matches(value)).map(({ name }) => name);
    if (sentence === undefined) assert.deepEqual(said, []);
    else {
      assert.equal(said.length, 1);
      assert.match(said[0] ?? '', sentence);
    }
  });
}

test('lines of sessions are taken for nothing else', () => {
  const claude = new ClaudeLines().user('a').says('m1', 'b').boundary().lines;
  const rollouts = codex.GENERATIONS.flatMap((generation) => [...codex.session(generation)]);
  for (const line of [...claude, ...rollouts]) {
    assert.deepEqual(
      LOOK_ALIKES.filter(({ matches }) => matches(line)),
      [],
    );
  }
});
