// What `baton inspect` says about the boundaries of a session.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { InspectDocument } from '../../src/cli/documents/session.ts';
import type { JsonObject } from '../../src/protocol/item.ts';
import { baton, temporaryDirectory } from '../support/program.ts';

const home = temporaryDirectory();

function message(role: 'user' | 'assistant', text: string): JsonObject {
  const type = role === 'user' ? 'input_text' : 'output_text';
  return { type: 'message', role, content: [{ type, text }] };
}

function call(id: string, name: string, args: JsonObject, output: string): JsonObject[] {
  return [
    { type: 'function_call', name, arguments: JSON.stringify(args), call_id: id },
    { type: 'function_call_output', call_id: id, output },
  ];
}

function writeRollout(items: readonly JsonObject[]): string {
  const path = join(home, 'rollout.jsonl');
  const head = {
    type: 'session_meta',
    payload: { id: '01a00000-0000-7000-8000-000000000001', cwd: '/home/dev/ledger' },
  };
  const lines = [head, ...items.map((payload) => ({ type: 'response_item', payload }))];
  writeFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return path;
}

const OK = 'Process exited with code 0\nOutput:\n';
const step = (status: string): JsonObject => ({ plan: [{ step: 'Parse', status }] });

test('inspect counts boundaries in one line, and --json lists them with evidence', async () => {
  const path = writeRollout([
    message('user', 'Add a parser'),
    ...call('a', 'update_plan', step('in_progress'), 'Plan updated'),
    ...call('b', 'exec_command', { cmd: 'git commit -m x && git push' }, `${OK}[main abc1234] x\n`),
    ...call('c', 'update_plan', step('completed'), 'Plan updated'),
    ...call('d', 'exec_command', { cmd: 'echo "git commit"' }, OK),
    message('assistant', 'Done.'),
  ]);
  const { stdout } = await baton(home, ['inspect', path]);
  assert.match(
    stdout.replace(/\s+/g, ' '),
    /Boundaries 1 commit, 1 PR checkpoint, 1 plan checkpoint \(of 2 plan updates\), 1 turn /,
  );
  const printed = await baton(home, ['inspect', path, '--json']);
  const { boundaries } = InspectDocument.parse(JSON.parse(printed.stdout));
  assert.deepEqual(
    boundaries.map(({ boundary, turn, line }) => `${boundary} ${turn}:${line}`),
    [
      'plan_update 1:4',
      'commit 1:6',
      'pr_checkpoint 1:6',
      'plan_checkpoint 1:8',
      'plan_update 1:8',
      'agent_done 1:11',
      'turn_complete 1:11',
    ],
  );
  assert.deepEqual(boundaries[1]?.evidence, {
    type: 'command',
    command: 'git commit -m x',
    exit_status: 0,
    told_by: 'status',
    hash: 'abc1234',
  });
});

test('inspect prints no line for a session without boundaries', async () => {
  const { stdout } = await baton(home, ['inspect', writeRollout([message('user', 'Add a parser')])]);
  assert.match(stdout, /Recorded/);
  assert.doesNotMatch(stdout, /Boundaries/);
});

test('inspect uses the phrases of the configuration', async () => {
  const path = writeRollout([
    message('user', 'Add a parser'),
    ...call('a', 'exec_command', { cmd: 'ls' }, OK),
    message('assistant', 'The parser is green as grass.'),
  ]);
  const said = async (...args: readonly string[]): Promise<readonly string[]> => {
    const { stdout, stderr, status } = await baton(home, [...args, 'inspect', path, '--json']);
    assert.equal(status, 0, stderr);
    const { boundaries } = InspectDocument.parse(JSON.parse(stdout));
    return boundaries.map(({ boundary }) => boundary);
  };
  const key = 'rawr_auto_compaction.semantic_signals';
  assert.ok(!(await said()).includes('agent_done'), 'no default phrase matches');
  assert.ok(
    (await said('-c', `${key}.agent_done_phrases=["green as grass"]`)).includes('agent_done'),
    'agent_done',
  );
  assert.ok(
    (await said('-c', `${key}.topic_shift_phrases=["as grass"]`)).includes('topic_shift'),
    'topic_shift',
  );
  assert.ok(
    (await said('-c', `${key}.concluding_thought_phrases=["grass"]`)).includes('concluding_thought'),
    'concluding_thought',
  );
  const vetoed = await said(
    '-c',
    `${key}.agent_done_phrases=["green as grass"]`,
    '-c',
    `${key}.agent_done_negative_phrases=["the parser"]`,
  );
  assert.ok(!vetoed.includes('agent_done'), 'a negative phrase');
});
