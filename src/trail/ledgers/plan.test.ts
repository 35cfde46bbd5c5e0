import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TrailCollector } from '../collect.ts';
import type { Item } from '../../protocol/item.ts';

const PATH = '/home/keeper/.claude/plans/brave-lamp.md';

/** The plan in prose after these calls, each `[tool, arguments, has it failed]`. */
function presentedAfter(...calls: readonly (readonly [string, object, boolean?])[]) {
  const trail = new TrailCollector();
  for (const [nth, [name, args, hasFailed = false]] of calls.entries()) {
    const call_id = `call-${nth}`;
    const items: readonly Item[] = [
      { type: 'function_call', call_id, name, arguments: JSON.stringify(args) },
      { type: 'function_call_output', call_id, output: 'ok', success: !hasFailed },
    ];
    for (const item of items) trail.add({ type: 'item', item });
  }
  const { presentedPlan } = trail.trail();
  return presentedPlan && [presentedPlan.text, presentedPlan.path];
}

const WRITE = ['Write', { file_path: PATH, content: 'Oil the horn.' }] as const;
const edit = (from: string, path = PATH) =>
  ['Edit', { file_path: path, old_string: from, new_string: 'Light' }] as const;

test('a plan file is known from its writing and its edits', () => {
  assert.deepEqual(presentedAfter(WRITE), ['Oil the horn.', PATH]);
  assert.deepEqual(presentedAfter(WRITE, edit('Oil')), ['Light the horn.', PATH]);
  assert.deepEqual(presentedAfter(WRITE, edit('Oil', '/home/keeper/horn.md')), ['Oil the horn.', PATH]);
});

test('what the call did not do, or nobody knows, is not restored', () => {
  assert.deepEqual(presentedAfter(WRITE, [...edit('Oil'), true]), ['Oil the horn.', PATH]);
  assert.equal(presentedAfter(WRITE, edit('Polish')), undefined);
  assert.equal(
    presentedAfter(['Write', { file_path: '/home/keeper/plans/x.md', content: 'No.' }]),
    undefined,
  );
});

test('a plan that is put before the user replaces the file, with words of its own', () => {
  assert.deepEqual(presentedAfter(WRITE, ['ExitPlanMode', { plan: 'Ship it.' }]), ['Ship it.', undefined]);
  assert.deepEqual(presentedAfter(WRITE, ['ExitPlanMode', {}]), ['Oil the horn.', PATH]);
});
