// Several threads in one `baton serve`: opened new, by handle, as a fork and by a handoff; closed, failed and addressed apart.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import { Client } from '../support/client.ts';
import type { ExecFixture } from '../support/exec.ts';
import { messagesOf } from '../support/exec.ts';
import { assertSound, committedFixture, QUESTION, script, shellCall, shutDown } from '../support/served.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

function say(client: Client, text: string, thread?: string): void {
  const to = thread === undefined ? {} : { thread_id: thread };
  client.send({ type: 'user_turn', ...to, items: [{ type: 'text', text }], origin: { type: 'user' } });
}

async function opened(): Promise<{
  readonly at: ExecFixture;
  readonly client: Client;
  readonly first: string;
}> {
  const at = committedFixture(root, server);
  const client = new Client(at);
  return { at, client, first: (await client.next('session_configured')).session_id };
}

function threadsOf(events: readonly SessionEvent[]): readonly (string | undefined)[] {
  return [...new Set(events.map((event) => event.thread_id))];
}

describe('several threads', () => {
  test('work side by side, each under its name, and an op without one goes to the first', async () => {
    script(server, QUESTION, { text: 'Second.' }, { text: 'First.' });
    const { at, client, first } = await opened();
    say(client, 'Begin.');
    const { question_id: questionId, thread_id: asking } = await client.next('question');
    assert.equal(asking, first);
    client.send({ type: 'open_thread', request_id: 'r1' });
    const { thread_id: second = '', ...told } = await client.next('thread_opened');
    assert.deepEqual([told.request_id, told.how, told.from], ['r1', 'new', null]);
    assert.notEqual(second, first);
    say(client, 'Say second.', second);
    const done = await client.next('turn_complete');
    assert.deepEqual([done.thread_id, done.last_agent_message], [second, 'Second.']);
    client.send({ type: 'answer_question', question_id: questionId, answer: 'That.', thread_id: second });
    assert.equal((await client.next('error')).thread_id, second, 'the other thread asked');
    client.send({ type: 'answer_question', question_id: questionId, answer: 'That.' });
    assert.equal((await client.next('turn_complete')).thread_id, first);
    assert.deepEqual(new Set(threadsOf(client.events)), new Set([first, second]));

    client.send({ type: 'shutdown' });
    assert.equal((await client.next('shutdown_complete')).thread_id, first);
    client.send({ type: 'status' });
    assert.match((await client.next('error')).message, new RegExp(`not open.*${second}`, 's'));
    client.send({ type: 'status', thread_id: second });
    assert.equal((await client.next('status')).session_id, second);
    client.send({ type: 'shutdown', thread_id: second });
    assert.equal((await client.ended).status, 0);
    await assertSound(at);
  });

  test('that cannot be opened leave the others: locked, unknown, without a model', async () => {
    script(server, { text: 'First.' }, { text: 'Still here.' });
    const { at, client, first } = await opened();
    say(client, 'Say first.');
    await client.next('turn_complete');
    for (const [op, code] of [
      [{ resume: first }, 'session_live'],
      [{ resume: '0199b0e5-0000-7000-8000-000000000000' }, 'file_not_found'],
      [{ model: 'nobody/none' }, 'config_invalid'],
      [{ cwd: 'nowhere' }, 'file_not_found'],
    ] as const) {
      client.send({ type: 'open_thread', request_id: code, ...op });
      const failed = await client.next('thread_failed');
      assert.deepEqual([failed.request_id, failed.code], [code, code]);
    }
    say(client, 'Are you there?');
    assert.equal((await client.next('turn_complete')).last_agent_message, 'Still here.');
    await shutDown(client, at);
  });

  test('are resumed beside the first, and all end with the input', async () => {
    script(server, { text: 'Old.' }, { text: 'Back.' });
    const { at, client, first } = await opened();
    say(client, 'Say old.');
    await client.next('turn_complete');
    await client.close();

    const again = new Client(at);
    await again.next('session_configured');
    again.send({ type: 'open_thread', resume: first });
    assert.deepEqual((await again.next('thread_opened')).thread_id, first);
    say(again, 'Are you back?', first);
    const ended = await again.close();
    assert.equal(ended.status, 0, ended.stderr);
    const done = again.events.find((event) => event.type === 'turn_complete');
    assert.deepEqual(done?.type === 'turn_complete' && [done.thread_id, done.last_agent_message], [
      first,
      'Back.',
    ]);
    assert.equal(again.events.filter(({ type }) => type === 'shutdown_complete').length, 2);
    await assertSound(at);
  });
});

describe('a fork', () => {
  test('has the past of its thread, which continues without it, and outlives the process', async () => {
    const requests = script(
      server,
      { calls: [shellCall('echo shared-past')] },
      { text: 'Done.' },
      { text: 'In the fork.' },
      { text: 'In the first.' },
      { text: 'Later.' },
    );
    const { at, client, first } = await opened();
    client.send({ type: 'fork', request_id: 'none' });
    assert.equal((await client.next('thread_failed')).code, 'session_empty');
    say(client, 'Begin.');
    await client.next('exec_command_begin');
    client.send({ type: 'fork', request_id: 'busy' });
    assert.equal((await client.next('thread_failed')).code, 'thread_busy');
    await client.next('turn_complete');
    client.send({ type: 'fork', request_id: 'f' });
    const { thread_id: fork = '', how, from } = await client.next('thread_opened');
    assert.deepEqual([how, from], ['forked', first]);
    say(client, 'Only the fork knows this.', fork);
    await client.next('turn_complete');
    say(client, 'Only the first knows this.');
    await client.next('turn_complete');
    const [, , inFork, inFirst] = requests();
    assert.match(inFork?.text ?? '', /shared-past/);
    assert.match(inFirst?.text ?? '', /shared-past/);
    assert.doesNotMatch(inFirst?.text ?? '', /Only the fork/);
    client.kill('SIGKILL');
    await client.ended;

    const again = new Client(at, ['--resume', fork]);
    say(again, 'Go on.');
    await again.next('turn_complete');
    assert.match(requests()[4]?.text ?? '', /shared-past.*Only the fork knows this/s);
    assert.doesNotMatch(requests()[4]?.text ?? '', /Only the first/);
    again.send({ type: 'sessions' });
    const { sessions, total } = await again.next('sessions');
    assert.equal(total, 2);
    assert.deepEqual(
      sessions.map(({ id, title, cwd, compactions, is_open: isOpen }) => [
        id,
        title,
        cwd,
        compactions,
        isOpen,
      ]),
      [
        [fork, 'Begin.', at.work, 0, true],
        [first, 'Begin.', at.work, 0, false],
      ],
    );
    assert.ok(sessions.every(({ bytes, modified_at: time }) => bytes > 0 && Date.parse(time) > 0));
    again.send({ type: 'shutdown' });
    assert.equal((await again.ended).status, 0);
  });
});

test('a handoff gives a new thread the packet and the pins, but not the past itself', async () => {
  const requests = script(
    server,
    { calls: [shellCall('seq 1 3000')] },
    { text: 'Counted the lamps.' },
    { text: 'On.' },
  );
  const { at, client, first } = await opened();
  say(client, 'Count the lamps of the pier.');
  await client.next('turn_complete');
  client.send({ type: 'pin', id: 'horn', text: 'Never touch the horn.' });
  await client.next('pins_changed');
  client.send({ type: 'handoff', request_id: 'h' });
  const pins = await client.next('pins_changed');
  const { thread_id: next = '', how, from } = await client.next('thread_opened');
  assert.deepEqual([how, from, pins.thread_id], ['handed_off', first, next]);
  assert.deepEqual(pins.pins, [{ id: 'horn', text: 'Never touch the horn.' }]);
  assert.equal(requests().length, 2, 'no model was asked');
  say(client, 'Go on.', next);
  await client.next('turn_complete', ({ thread_id: thread }) => thread === next);
  const sent = requests()[2];
  assert.match(sent?.text ?? '', /Count the lamps of the pier/);
  assert.match(sent?.text ?? '', /continues the work of an earlier one/);
  assert.doesNotMatch(sent?.text ?? '', /2999|was compacted/);
  const roles = sent === undefined ? [] : messagesOf(sent).map(({ type }) => type);
  assert.ok(!roles.includes('function_call'), roles.join());
  client.kill('SIGTERM');
  await client.ended;
  await assertSound(at);
});
