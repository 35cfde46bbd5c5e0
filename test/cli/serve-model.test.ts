// Another model for an open thread of `baton serve`: between turns, kept by a resume, refused where it cannot be.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from '../support/client.ts';
import { EXEC_KEY } from '../support/exec.ts';
import { committedFixture, QUESTION, script, shellCall, shutDown } from '../support/served.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

const SECOND = 'lab-anthropic/claude-sonnet-4-5';

test('the next turn is of the new model: wire, window, gauge, thresholds, price; a resume keeps it', async () => {
  const usage = { input: 6_000, output: 10 };
  const requests = script(
    server,
    { calls: [shellCall('touch lit; echo oil-is-low')], usage },
    { text: 'One.', usage },
    { calls: [shellCall('touch lit; echo oil-is-low')], usage },
    { text: 'Two.', usage },
    { text: 'Three.', usage },
    { text: 'Four.', usage },
  );
  const at = committedFixture(root, server);
  const client = new Client(at, ['--approval', 'untrusted']);
  const first = await client.next('session_configured');
  assert.equal(first.model_context_window, 100_000);
  client.send({ type: 'set_settings', mode: 'tag' });
  client.say('Say one.');
  const { call_id: callId } = await client.next('exec_approval_request');
  client.send({ type: 'exec_approval', call_id: callId, decision: 'approved_for_session' });
  await client.next('turn_complete');
  client.send({ type: 'set_settings', model: SECOND, plan_mode: false });
  client.say('Say two.');
  const told = await client.next('session_configured');
  assert.deepEqual([told.provider, told.model, told.mode], ['lab-anthropic', 'claude-sonnet-4-5', 'tag']);
  assert.equal(told.session_id, first.session_id);
  assert.equal(told.model_context_window, 200_000);
  assert.equal((await client.next('turn_complete')).last_agent_message, 'Two.');
  const [, , second] = requests();
  assert.match(second?.path ?? '', /messages/);
  assert.match(second?.text ?? '', /oil-is-low/, 'the past goes along');
  const asked = client.events.filter(({ type }) => type === 'exec_approval_request');
  assert.equal(asked.length, 1, 'what was approved for the session stays approved');
  client.send({ type: 'status' });
  const status = await client.next('status');
  assert.deepEqual([status.model_context_window, status.usable_window], [200_000, 190_000]);
  assert.equal(status.thresholds?.auto_compact, 180_000);
  const { spending } = status;
  assert.equal(spending.session.requests, 4);
  assert.equal(spending.session.unpriced_requests, 0);
  assert.deepEqual(
    client.events.filter(({ type }) => type === 'shutdown_complete'),
    [],
  );
  await shutDown(client, at);

  const again = new Client(at, ['--resume', 'last'], undefined, true);
  const kept = await again.next('session_configured');
  assert.deepEqual([kept.provider, kept.model], ['lab-anthropic', 'claude-sonnet-4-5']);
  again.say('Say three.');
  await again.next('turn_complete');
  assert.match(requests()[4]?.path ?? '', /messages/);
  await shutDown(again, at);

  const other = new Client(at, ['--resume', 'last']);
  assert.equal((await other.next('session_configured')).provider, 'lab-responses', '--model counts');
  other.say('Say four.');
  await other.next('turn_complete');
  await shutDown(other, at);
});

test('it can be chosen before the first turn, and then nothing is written yet', async () => {
  const requests = script(server, { text: 'One.', usage: { input: 6_000, output: 10 } });
  const at = committedFixture(root, server);
  const client = new Client(at);
  await client.next('session_configured');
  client.send({ type: 'set_settings', model: SECOND });
  await client.next('session_configured', ({ model }) => model === 'claude-sonnet-4-5');
  assert.equal(at.rollouts().length, 0, 'nothing is written');
  client.say('Say one.');
  await client.next('turn_complete');
  assert.match(requests()[0]?.path ?? '', /messages/);
  await shutDown(client, at);
});

test('it is refused while a turn runs and for a model that cannot be had, and nothing changes', async () => {
  const requests = script(server, QUESTION, { text: 'Begun.' }, { text: 'Two.' });
  const at = committedFixture(root, server);
  const client = new Client(at);
  client.say('Begin.');
  const { question_id: questionId } = await client.next('question');
  client.send({ type: 'set_settings', model: SECOND, mode: 'tag' });
  assert.equal((await client.next('error')).code, 'thread_busy');
  client.send({ type: 'answer_question', question_id: questionId, answer: 'That.' });
  await client.next('turn_complete');
  for (const [model, code] of [
    ['nobody/none', 'config_invalid'],
    ['openai/gpt-5.1', 'model_auth'],
    ['/x', 'usage'],
    ['rehearsal', 'usage'],
  ] as const) {
    client.send({ type: 'set_settings', model, mode: 'tag' });
    assert.equal((await client.next('error')).code, code, model);
  }
  client.send({ type: 'status' });
  assert.deepEqual(
    [
      (await client.next('status')).provider,
      client.events.filter(({ type }) => type === 'session_configured').length,
    ],
    ['lab-responses', 1],
  );
  client.say('Say two.');
  assert.equal((await client.next('turn_complete')).last_agent_message, 'Two.');
  assert.equal(requests().length, 3);
  assert.ok(requests().every(({ text }) => !text.includes(EXEC_KEY)));
  await shutDown(client, at);
});
