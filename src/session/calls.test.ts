// How calls are shown when they begin: Baton's own tools, those of others in recordings, and arguments that are nonsense.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ToolBench } from '../../test/support/tool-world.ts';
import { checkEvent } from '../protocol/wire/parse.ts';
import { callBegin } from './calls.ts';

function begin(name: string, args: unknown) {
  const input = typeof args === 'string' ? args : JSON.stringify(args);
  return callBegin({ callId: 'c', name, input }, 'turn-1');
}

const PATCH = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-a\n+b\n*** Delete File: b.ts\n*** End Patch';

test('the tools of Baton and of others by kind, title and place', () => {
  const rows = [
    ['read', { path: 'a.ts', offset: 7 }, 'read', 'read a.ts', ['a.ts:7']],
    ['grep', { pattern: 'lamp', path: 'src' }, 'search', 'grep lamp in src', ['src']],
    ['glob', { pattern: '**/*.ts' }, 'search', 'glob **/*.ts', []],
    ['list_dir', { path: 'src' }, 'search', 'list_dir src', ['src']],
    ['write', { path: 'a.ts', content: 'a' }, 'edit', 'write a.ts', ['a.ts']],
    ['edit', { path: 'a.ts', old_string: 'a', new_string: 'b' }, 'edit', 'edit a.ts', ['a.ts']],
    ['apply_patch', { input: PATCH }, 'edit', 'apply_patch src/a.ts and 1 more', ['src/a.ts', 'b.ts']],
    ['shell', { command: 'npm\n  test' }, 'execute', 'npm test', []],
    ['update_plan', { plan: [] }, 'plan', 'update_plan', []],
    ['todo', { todos: [] }, 'plan', 'todo', []],
    ['phase_checkpoint', { summary: 'Lit.' }, 'plan', 'phase_checkpoint', []],
    ['ask_user', { question: 'Which lamp?' }, 'question', 'Which lamp?', []],
    ['recall', { query: 'lamp' }, 'recall', 'recall', []],
    ['Bash', { command: 'ls' }, 'execute', 'ls', []],
    ['Read', { file_path: '/a.ts' }, 'read', 'Read /a.ts', ['/a.ts']],
    ['mcp__lamps__light', { lamp: 1 }, 'other', 'mcp__lamps__light', []],
    ['edit', 'no JSON', 'edit', 'edit', []],
  ] as const;
  for (const [name, args, kind, title, places] of rows) {
    const shown = begin(name, args);
    const told = shown.locations.map(({ path, line }) => (line === undefined ? path : `${path}:${line}`));
    assert.deepEqual([shown.kind, shown.title, told], [kind, title, places], name);
  }
});

test('every tool of the toolbox has a kind of its own', async () => {
  const bench = await ToolBench.open();
  try {
    for (const { spec } of bench.toolbox.tools) {
      assert.notEqual(begin(spec.name, {}).kind, 'other', spec.name);
    }
  } finally {
    bench.close();
  }
});

test('nonsense is shown as what the protocol says, in one line', () => {
  const names = fc.constantFrom('read', 'grep', 'shell', 'apply_patch', 'ask_user', 'update_plan', 'x', '');
  const args = fc.oneof(
    fc.string(),
    fc.json(),
    fc.record({ path: fc.anything(), offset: fc.anything(), pattern: fc.anything(), command: fc.anything() }),
  );
  fc.assert(
    fc.property(names, args, (name, value) => {
      let text: string;
      try {
        text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
      } catch {
        return;
      }
      const wire: unknown = JSON.parse(JSON.stringify(begin(name, text)));
      assert.deepEqual(checkEvent(wire), wire);
      const { title } = begin(name, text);
      assert.ok(!title.includes('\n') && title.length <= 170, title);
    }),
    { seed: 11, numRuns: 500 },
  );
});
