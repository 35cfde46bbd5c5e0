import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ClaudeLines } from '../../../test/support/claude-lines.ts';
import { CLAUDE_LOOK_ALIKES, looksLikeClaudeCode } from './detect.ts';

test('lines of a session, down to the barest ones, are known', () => {
  const { lines } = new ClaudeLines().user('a').says('m1', 'b').boundary().summary('S').lastPrompt('uuid-1');
  for (const line of lines) assert.ok(looksLikeClaudeCode(line) >= 0.5, JSON.stringify(line));
  assert.ok(looksLikeClaudeCode({ type: 'system', subtype: 'compact_boundary', uuid: 'b' }) >= 0.5);
});

test('look-alikes are none, and each is known for what it is', async (t) => {
  const rows: readonly (readonly [string, object])[] = [
    [
      'copilot-cli',
      { type: 'user.message', data: { content: 'a' }, id: '1', timestamp: 't', parentId: null },
    ],
    ['pi', { type: 'session', version: 3, id: '1', timestamp: 't', cwd: '/p' }],
    ['pi', { type: 'message', id: '2', parentId: '1', message: { role: 'user', content: 'a' } }],
    [
      'claude-code-stream',
      { type: 'assistant', message: { role: 'assistant', content: [] }, session_id: 's', uuid: 'u' },
    ],
    ['claude-code-history', { display: 'a', pastedContents: {}, timestamp: 1, project: '/p' }],
  ];
  for (const [name, line] of rows) {
    await t.test(name, () => {
      assert.equal(looksLikeClaudeCode(line), 0);
      assert.deepEqual(
        CLAUDE_LOOK_ALIKES.filter((each) => each.matches({ ...line })).map((each) => each.name),
        [name],
      );
    });
  }
  for (const line of new ClaudeLines().user('a').says('m1', 'b').boundary().lines) {
    assert.ok(CLAUDE_LOOK_ALIKES.every((each) => !each.matches(line)));
  }
});

test('any value gets a share between 0 and 1', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const share = looksLikeClaudeCode(value);
      assert.ok(share >= 0 && share <= 1);
    }),
    { seed: 20261121 },
  );
});
