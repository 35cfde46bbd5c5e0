import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { NO_FRONTMATTER, parsePrompt } from './frontmatter.ts';

describe('parsePrompt', () => {
  it('reads every key', () => {
    const { frontmatter, body, warnings } = parsePrompt(
      '---\r\nversion: 1\r\ntrigger:\r\n  early_percent_remaining_lt: 90\r\n  auto_requires_any_boundary: [commit]\r\npacket:\r\n  max_tail_chars: 7\r\n---\r\n\r\nText\r\n',
    );
    assert.deepEqual(warnings, []);
    assert.equal(body, 'Text');
    assert.deepEqual(frontmatter, {
      version: 1,
      thresholds: { early: 90 },
      requiresAnyBoundary: ['commit'],
      maxTailCharacters: 7,
    });
  });

  for (const text of ['Text', 'Text\n---\nversion: 9\n---\n', '---\nversion: 9', '--- \nversion: 9\n---\n']) {
    it(`takes ${JSON.stringify(text)} as text alone`, () => {
      assert.deepEqual(parsePrompt(text), { frontmatter: NO_FRONTMATTER, body: text.trim(), warnings: [] });
    });
  }

  it('takes an empty frontmatter', () => {
    assert.deepEqual(parsePrompt('---\n---\nText'), { frontmatter: NO_FRONTMATTER, body: 'Text', warnings: [] });
  });

  for (const [yaml, warning] of [
    ['version: [1', /^\d+:\d+: /],
    ['version: 1\ntriger: {}', /^3:\d+: triger: Unrecognized key/],
    ['trigger:\n  early_percent_remaining_lt: 101', /^3:31: trigger\.early_percent_remaining_lt: /],
    ['trigger:\n  early_percent_remaining_lt: "90"', /^3:31: trigger\.early_percent_remaining_lt: /],
    ['trigger:\n  early_percent_remaining_lt: 50', /the threshold of early is below that of ready/],
    ['trigger:\n  auto_requires_any_boundary: [comit]', /^3:32: trigger\.auto_requires_any_boundary\.0: /],
    ['version: &a 1\npacket: {max_tail_chars: *a}', /anchors and aliases/],
    ['- a list', /^2:1: /],
  ] as const) {
    it(`warns of ${JSON.stringify(yaml)}, and all defaults hold`, () => {
      const { frontmatter, body, warnings } = parsePrompt(`---\n${yaml}\n---\nText`);
      assert.match(warnings[0] ?? '', warning);
      assert.deepEqual(frontmatter, NO_FRONTMATTER);
      assert.equal(body, 'Text');
    });
  }
});
