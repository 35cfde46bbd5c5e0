// The toolbox as a whole: what models are told, and that nothing they send can break it.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import * as fc from 'fast-check';
import { ToolBench } from '../../test/support/tool-world.ts';
import { eligibleTool } from '../compaction/micro/eligible.ts';
import { meaningOf } from '../trail/calls/calls.ts';
import { outcomeOf } from '../trail/outputs/outputs.ts';
import { approximateTokens } from '../tokens/estimate.ts';
import { RESULT_TOKENS } from './cap.ts';
import { defineTool } from './tool.ts';

const HANGS = { timeout: 60_000 };

let bench: ToolBench;
before(async () => (bench = await ToolBench.open({ files: { 'a.txt': 'a\nb\n' } })));
after(() => bench.close());

describe('the toolbox', HANGS, () => {
  it('tells models of every tool in a fixed order, in a form that every provider takes', () => {
    const { tools } = bench.toolbox;
    assert.deepEqual(
      tools.map(({ spec, kind }) => `${kind} ${spec.name}`),
      [
        'run shell',
        'read read',
        'edit write',
        'edit edit',
        'edit apply_patch',
        'read grep',
        'read glob',
        'read list_dir',
        'state update_plan',
        'state todo',
        'state phase_checkpoint',
        'read recall',
      ],
    );
    for (const { spec } of tools) {
      assert.match(spec.name, /^[\w-]{1,64}$/);
      assert.equal(spec.parameters['type'], 'object');
      assert.equal(spec.parameters['additionalProperties'], false);
      assert.ok(!('$schema' in spec.parameters), 'no address in it');
    }
  });

  it('answers every nonsense with a result, and touches nothing', async () => {
    const passwd = readFileSync('/etc/passwd', 'utf8');
    const keys = [
      'path',
      'command',
      'content',
      'pattern',
      'input',
      'id',
      'query',
      'plan',
      'todos',
      'summary',
      'offset',
      'limit',
      'old_string',
      'new_string',
      'workdir',
      'depth',
      'timeout_ms',
    ];
    const value = fc.oneof(
      fc.constantFrom(
        '',
        '.',
        '..',
        '/etc/passwd',
        '~',
        '\0',
        '-rf',
        'a.txt',
        '*',
        '[',
        '\ud800',
        'x'.repeat(5000),
        '__proto__',
      ),
      fc.integer(),
      fc.double(),
      fc.boolean(),
      fc.constant(null),
      fc.array(fc.anything(), { maxLength: 2 }),
    );
    const args = fc.oneof(
      fc.dictionary(fc.constantFrom(...keys), value, { maxKeys: 4 }).map((object) => JSON.stringify(object)),
      fc.json({ maxDepth: 2 }),
      fc.string(),
      fc.constantFrom(
        '',
        '{',
        '[]',
        'null',
        '{"__proto__":{"path":"a"}}',
        '{"path":"a.txt","path":"/etc/passwd"}',
      ),
    );
    // What shell is sent is a script, whatever it is: it is tested with scripts.
    const tools = bench.toolbox.tools.filter(({ kind }) => kind !== 'run');
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...tools), args, async (tool, text) => {
        const called = await bench.call(tool.spec.name, text);
        assert.equal(typeof called.success, 'boolean');
        assert.ok(called.text.length > 0, 'says something');
        assert.ok(approximateTokens(called.text) <= RESULT_TOKENS, 'within the limit');
        assert.doesNotMatch(called.text, /failed: |root:x/);
      }),
      { seed: 7, numRuns: 400 },
    );
    assert.equal(readFileSync('/etc/passwd', 'utf8'), passwd);
  });

  it('says which argument is wrong, and which there are', async () => {
    const told = async (name: string, args: unknown) => (await bench.call(name, args)).text;
    assert.match(
      await told('read', {}),
      /path: .*Nothing was run\. It takes: path, offset \(optional\), limit/,
    );
    assert.match(await told('read', { path: 'a', ofset: 1 }), /ofset/);
    assert.match(await told('read', '{"path": "a"'), /not valid JSON/);
    assert.match(await told('read', { path: 7 }), /path: .*string/);
    assert.match(await told('shell', { command: 'x', timeout_ms: -1 }), /timeout_ms/);
  });

  it('takes null for what is left out', async () => {
    assert.equal((await bench.call('read', { path: 'a.txt', offset: null, limit: null })).success, true);
  });

  it('turns what a tool throws into a result', async () => {
    const { runCall } = await import('./toolbox.io.ts');
    const tool = defineTool({
      name: 'broken',
      kind: 'read',
      description: '',
      arguments: {},
      run: () => Promise.reject(new Error('it broke')),
    });
    const context = { callId: 'c', sandbox: 'read_only', emit: () => undefined } as const;
    const result = await runCall({ tool, arguments: '{}' }, context, new AbortController().signal);
    assert.deepEqual(result, { text: 'broken failed: it broke.', success: false });
  });
});

describe('what the rest of Baton knows of these tools', HANGS, () => {
  it('every tool whose result can be had again may be cleared, and no other', () => {
    for (const { spec, kind } of bench.toolbox.tools) {
      const isEligible = eligibleTool(spec.name) !== undefined;
      assert.equal(isEligible, kind === 'run' || (kind === 'read' && spec.name !== 'recall'), spec.name);
    }
  });

  it('the trail reads their calls', async () => {
    const meaning = (name: string, args: object) =>
      meaningOf({ callId: 'c', name, input: JSON.stringify(args) });
    const filesOf = (name: string, args: object): unknown =>
      JSON.parse(JSON.stringify(meaning(name, args).files));
    assert.equal(meaning('shell', { command: 'npm test' }).command, 'npm test');
    assert.deepEqual(filesOf('read', { path: 'a', offset: 3, limit: 2 }), [
      { action: 'read', path: 'a', range: { from: 3, to: 4 } },
    ]);
    assert.deepEqual(filesOf('write', { path: 'a', content: 'x' }), [
      { action: 'create', path: 'a', added: 'x' },
    ]);
    assert.deepEqual(filesOf('edit', { path: 'a', old_string: 'x', new_string: 'y' }), [
      {
        action: 'edit',
        path: 'a',
        added: 'y',
        replaced: [{ old: 'x', new: 'y', isLines: false }],
        isEverywhere: false,
      },
    ]);
    const input = '*** Begin Patch\n*** Delete File: a\n*** End Patch';
    assert.deepEqual(
      meaning('apply_patch', { input }).files.map(({ action, path }) => [action, path]),
      [['delete', 'a']],
    );
    const plan = [{ step: 'one', status: 'in_progress' }];
    assert.equal(meaning('update_plan', { plan }).plan?.type, 'whole');
    assert.equal(meaning('todo', { todos: [{ content: 'one', status: 'pending' }] }).plan?.type, 'whole');
    const { text } = await bench.call('shell', { command: 'echo out; exit 4' });
    assert.equal(outcomeOf(text).exitCode, 4);
  });
});

describe('state tools', HANGS, () => {
  it('give the new state to the session and say it to the model', async () => {
    const plan = [
      { step: 'look', status: 'completed' },
      { step: 'fix', status: 'in_progress' },
    ];
    const called = await bench.call('update_plan', { plan, explanation: 'why' });
    assert.deepEqual(called.state, { type: 'plan', steps: plan, explanation: 'why' });
    assert.match(called.text, /\[x\] look\n\[>\] fix$/);
    assert.deepEqual(called.events, [{ type: 'plan_update', call_id: 'call_1', kind: 'plan', steps: plan }]);
    const todo = await bench.call('todo', { todos: [] });
    assert.deepEqual(todo.state, { type: 'todo', steps: [] });
    const phase = await bench.call('phase_checkpoint', { summary: ' The parser stands. ' });
    assert.deepEqual(phase.state, { type: 'phase_completed', summary: 'The parser stands.' });
  });

  it('refuse a plan with two steps in progress, a step without words and an unknown status', async () => {
    const one = { step: 'a', status: 'in_progress' };
    for (const plan of [[one, one], [{ step: ' ', status: 'pending' }], [{ step: 'a', status: 'soon' }]]) {
      const called = await bench.call('update_plan', { plan });
      assert.deepEqual([called.success, called.state, called.events], [false, undefined, []]);
    }
    assert.equal((await bench.call('phase_checkpoint', { summary: '  ' })).success, false);
  });
});
