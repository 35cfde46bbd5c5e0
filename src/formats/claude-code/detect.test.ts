import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ClaudeLines } from '../../../test/support/claude-lines.ts';
import { looksLikeClaudeCode } from './detect.ts';

test('lines of a session, down to the barest ones, are known', () => {
  const { lines } = new ClaudeLines().user('a').says('m1', 'b').boundary().summary('S').lastPrompt('uuid-1');
  for (const line of lines) assert.ok(looksLikeClaudeCode(line) >= 0.5, JSON.stringify(line));
  assert.ok(looksLikeClaudeCode({ type: 'system', subtype: 'compact_boundary', uuid: 'b' }) >= 0.5);
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
