import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fc from 'fast-check';
import { editDistance, nearestName } from './nearest.ts';

const KNOWN = [
  'model_context_window',
  'compact',
  'compact.enabled',
  'compact.restore_todos',
  'compact.restore_plan',
];

describe('nearestName', () => {
  const cases: readonly (readonly [misspelt: string, nearest: string | undefined])[] = [
    ['compact.restore_todo', 'compact.restore_todos'],
    ['compact.restore-plan', 'compact.restore_plan'],
    ['compact.enabeld', 'compact.enabled'],
    ['compact.Enabled', 'compact.enabled'],
    ['compacts', 'compact'],
    ['restore_todos', 'compact.restore_todos'],
    ['compact_enabled', 'compact.enabled'],
    ['compact.model_context_window', 'model_context_window'],
    ['model_context_size', 'model_context_window'],
    ['compact.__proto__', undefined],
    ['constructor', undefined],
    ['', undefined],
    ['x'.repeat(10_000), undefined],
  ];
  for (const [misspelt, nearest] of cases) {
    it(`takes ${JSON.stringify(misspelt.slice(0, 40))} for ${nearest ?? 'nothing'}`, () => {
      assert.equal(nearestName(misspelt, KNOWN), nearest);
    });
  }
});

describe('editDistance', () => {
  it('is a metric: zero only between equals, symmetric, and no detour is shorter', () => {
    const text = fc.string({ maxLength: 8, unit: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(text, text, text, (one, other, detour) => {
        const distance = editDistance(one, other);
        assert.equal(distance === 0, one === other);
        assert.equal(distance, editDistance(other, one));
        assert.ok(distance <= editDistance(one, detour) + editDistance(detour, other));
        assert.ok(distance <= Math.max(one.length, other.length));
      }),
      { seed: 8 },
    );
  });

  it('counts insertions, deletions and replacements', () => {
    assert.equal(editDistance('kitten', 'sitting'), 3);
    assert.equal(editDistance('', 'abc'), 3);
  });
});
