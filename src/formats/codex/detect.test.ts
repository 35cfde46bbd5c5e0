import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as lines from '../../../test/support/codex-lines.ts';
import { looksLikeCodex } from './detect.ts';

for (const generation of lines.GENERATIONS) {
  test(`every line of ${generation} looks like a rollout`, () => {
    for (const value of lines.session(generation)) {
      assert.equal(looksLikeCodex(value), 1, JSON.stringify(value));
    }
  });
}

test('a wrapped line of a kind that is not known yet speaks for a rollout, but alone proves none', () => {
  const likeness = looksLikeCodex({ timestamp: '2026-01-02', type: 'novelty', payload: {} });
  assert.ok(likeness > 0 && likeness < 1);
});
