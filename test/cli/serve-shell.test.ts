// The `shell` op of `baton serve`: a line of the user's, run where the agent's commands run, that no model ever sees.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Client } from '../support/client.ts';
import { EXEC_KEY } from '../support/exec.ts';
import { committedFixture, QUESTION, script, shutDown } from '../support/served.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

test('it runs, is shown, and is in no request; text that begins with ! stays a message', async () => {
  const requests = script(server, { text: 'One.' }, { text: 'Two.' });
  const at = committedFixture(root, server);
  const client = new Client(at, ['--approval', 'untrusted']);
  client.send({ type: 'shell', id: 'line', command: 'echo lamp-oil $LAB_KEY; touch lit; exit 3' });
  const begun = await client.next('turn_started');
  assert.deepEqual([begun.task_kind, begun.origin], ['shell', { type: 'user' }]);
  assert.equal((await client.next('exec_command_begin')).call_id, 'line');
  assert.match((await client.next('exec_command_output_delta')).delta, /^lamp-oil\s*$/, 'no key reaches it');
  assert.equal((await client.next('exec_command_end')).exit_code, 3);
  assert.equal((await client.next('turn_complete')).task_kind, 'shell');
  assert.equal(existsSync(join(at.work, 'lit')), true);
  client.say('! is how I begin.');
  assert.equal((await client.next('turn_complete')).task_kind, 'regular');
  client.send({ type: 'status' });
  const { spending } = await client.next('status');
  assert.equal(spending.session.requests, 1);
  client.send({ type: 'shutdown' });
  await client.ended;

  const again = new Client(at, ['--resume', 'last']);
  const line = await again.next('shell_line');
  assert.deepEqual([line.call_id, line.outcome, line.exit_code], ['line', 'exited', 3]);
  assert.match(line.output, /lamp-oil/);
  again.say('Say two.');
  await again.next('turn_complete');
  assert.equal(requests().length, 2);
  for (const { text } of requests()) assert.doesNotMatch(text, /lamp-oil/);
  assert.match(requests()[0]?.text ?? '', /! is how I begin\./);
  await shutDown(again, at);
  assert.doesNotMatch(readFileSync(at.rollouts()[0] ?? '', 'utf8'), new RegExp(EXEC_KEY));
});

test('it waits for the running turn, goes before the next message, and an interrupt ends it', async () => {
  script(server, QUESTION, { text: 'Begun.' }, { text: 'Two.' });
  const at = committedFixture(root, server);
  const client = new Client(at);
  client.say('Begin.');
  const { question_id: questionId } = await client.next('question');
  client.send({ type: 'shell', command: 'sleep 30' });
  client.send({ type: 'status' });
  assert.deepEqual((await client.next('status')).running_turn?.task_kind, 'regular');
  client.send({ type: 'answer_question', question_id: questionId, answer: 'That.' });
  await client.next('turn_complete');
  await client.next('exec_command_begin');
  client.say('Say two.');
  client.send({ type: 'interrupt' });
  assert.equal((await client.next('exec_command_end')).outcome, 'interrupted');
  const aborted = await client.next('turn_aborted');
  assert.deepEqual([aborted.task_kind, aborted.reason], ['shell', 'interrupted']);
  assert.equal((await client.next('turn_complete')).last_agent_message, 'Two.');
  await shutDown(client, at);
});

test('it is confined as the settings say, and begins no cooldown and no decision', async () => {
  const usage = { input: 40_000, output: 10 };
  script(server, { text: 'One.', usage });
  const at = committedFixture(root, server);
  const client = new Client(at, ['--sandbox', 'read_only']);
  client.say('Say one.');
  await client.next('turn_complete');
  let decided: readonly unknown[] = [];
  while (decided.length === 0) {
    client.send({ type: 'why', newest: 100 });
    decided = (await client.next('decisions')).newest;
  }
  client.send({ type: 'shell', command: 'touch dark' });
  const ended = await client.next('turn_complete');
  assert.equal(ended.task_kind, 'shell');
  assert.equal(existsSync(join(at.work, 'dark')), false);
  client.send({ type: 'why', newest: 100 });
  assert.deepEqual((await client.next('decisions')).newest, decided);
  await shutDown(client, at);
});
