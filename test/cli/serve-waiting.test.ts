// What a client of `baton serve` may do while things wait for the user: change the queue, reject a call with words.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Op } from '../../src/protocol/wire/op.ts';
import { Client } from '../support/client.ts';
import { EXEC_KEY } from '../support/exec.ts';
import { committedFixture, QUESTION, script, shellCall, shutDown } from '../support/served.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

function message(id: string, text: string): Extract<Op, { type: 'user_turn' }> {
  return { type: 'user_turn', id, items: [{ type: 'text', text }], origin: { type: 'user' } };
}

/** A client whose turn waits for an answer, with messages behind it. */
async function waiting(...messages: readonly (readonly [id: string, text: string])[]) {
  const at = committedFixture(root, server);
  const client = new Client(at);
  await client.next('session_configured');
  client.send(message('first', 'Begin.'));
  const { question_id: questionId } = await client.next('question');
  for (const [id, text] of messages) client.send(message(id, text));
  await client.next('queue_changed', (event) => event.messages.length === messages.length);
  return {
    at,
    client,
    answer: { type: 'answer_question', question_id: questionId, answer: 'That.' } as const,
  };
}

function textsOf({ messages }: { readonly messages: readonly { readonly text: string }[] }) {
  return messages.map(({ text }) => text);
}

describe('messages that wait', () => {
  test('are edited, moved and removed, and the rest become turns', async () => {
    const requests = script(server, QUESTION, { text: 'Begun.' }, { text: 'One.' }, { text: 'Two.' });
    const { at, client, answer } = await waiting(['a', 'Light it.'], ['b', 'Ring it.'], ['c', 'Paint it.']);
    client.send({ type: 'edit_queued', id: 'b', items: [{ type: 'text', text: 'Ring it twice.' }] });
    assert.deepEqual(textsOf(await client.next('queue_changed')), [
      'Light it.',
      'Ring it twice.',
      'Paint it.',
    ]);
    client.send({ type: 'move_queued', id: 'c', before: 'a' });
    assert.deepEqual(textsOf(await client.next('queue_changed')), [
      'Paint it.',
      'Light it.',
      'Ring it twice.',
    ]);
    client.send({ type: 'move_queued', id: 'c' });
    assert.deepEqual(textsOf(await client.next('queue_changed')), [
      'Light it.',
      'Ring it twice.',
      'Paint it.',
    ]);
    client.send({ type: 'remove_queued', id: 'a' });
    assert.deepEqual(textsOf(await client.next('queue_changed')), ['Ring it twice.', 'Paint it.']);
    client.send(answer);
    for (let turns = 0; turns < 3; turns++) await client.next('turn_complete');
    const last = requests().at(-1)?.text ?? '';
    assert.ok(last.indexOf('Ring it twice.') < last.indexOf('Paint it.'), last);
    assert.doesNotMatch(last, /Light it\.|Ring it\./);
    await shutDown(client, at);
  });

  test('can no longer be changed once their turn has begun', async () => {
    script(server, QUESTION, { text: 'Begun.' });
    const { at, client, answer } = await waiting(['a', 'Light it.']);
    for (const op of [
      { type: 'remove_queued', id: 'first' },
      { type: 'edit_queued', id: 'nobody', items: [{ type: 'text', text: 'No.' }] },
      { type: 'move_queued', id: 'a', before: 'first' },
    ] as const) {
      client.send(op);
      const { code, message: why } = await client.next('error');
      assert.equal(code, 'op_invalid');
      assert.match(why, /is not waiting.*steer/s);
    }
    client.send(answer);
    await client.next('turn_complete', ({ origin }) => origin.type === 'user' && origin.message_id === 'a');
    await shutDown(client, at);
  });

  test('keep their changes when the process dies', async () => {
    script(server, QUESTION);
    const { at, client } = await waiting(
      ['a', 'Light it.'],
      ['b', `Ring it. ${'x'.repeat(1000)}`],
      ['c', 'Paint it.'],
    );
    const long = `Ring it twice. ${'y'.repeat(1000)}`;
    client.send({ type: 'edit_queued', id: 'b', items: [{ type: 'text', text: long }] });
    client.send({ type: 'move_queued', id: 'b', before: 'a' });
    client.send({ type: 'remove_queued', id: 'c' });
    await client.next('queue_changed', ({ messages }) => messages.length === 2);
    client.kill('SIGKILL');
    await client.ended;

    server.play({ key: EXEC_KEY, replies: [{ text: 'Here.' }] });
    const again = new Client(at, ['--resume', 'last']);
    assert.equal((await again.next('user_message', ({ author }) => author === 'user')).message, long);
    assert.equal((await again.next('user_message', ({ author }) => author === 'user')).message, 'Light it.');
    await again.next('turn_complete');
    await shutDown(again, at);
  });

  test('stay within their limit when they are edited', async () => {
    script(server, QUESTION, { text: 'Begun.' });
    const { at, client, answer } = await waiting(['a', 'Light it.'], ['b', 'x'.repeat(3_000_000)]);
    client.send({ type: 'edit_queued', id: 'a', items: [{ type: 'text', text: 'y'.repeat(3_000_000) }] });
    assert.equal((await client.next('error')).code, 'queue_full');
    client.send({ type: 'remove_queued', id: 'b' });
    client.send(answer);
    await client.next('user_message', ({ message: said }) => said === 'Light it.');
    await client.next('turn_complete');
    await shutDown(client, at);
  });
});

test('a call is rejected with the words of the user, which the agent reads', async () => {
  const requests = script(server, { calls: [shellCall('touch lit')] }, { text: 'I see.' });
  const at = committedFixture(root, server);
  const client = new Client(at, ['--approval', 'untrusted']);
  client.send(message('a', 'Light it.'));
  const { call_id: callId } = await client.next('exec_approval_request');
  client.send({ type: 'exec_approval', call_id: callId, decision: 'approved', message: 'Carefully.' });
  assert.match((await client.next('error')).message, /message sent with approved.*still waiting/s);
  client.send({ type: 'exec_approval', call_id: callId, decision: 'denied', message: 'The oil is out.' });
  await client.next('turn_complete');
  assert.match(requests()[1]?.text ?? '', /rejected it and says: The oil is out\./);
  await shutDown(client, at);
});
