// What a client may put before `baton serve`: how much waits, what that costs to tell and to log, and lines that nobody should send.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import { Client } from '../support/client.ts';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

/** A turn that waits for the user, who says nothing. */
const QUESTION: Reply = { calls: [{ name: 'ask_user', arguments: { question: 'Which one?', options: [] } }] };

function fixture(): ExecFixture {
  const at = new ExecFixture(root, server.baseUrl, {});
  execFileSync(
    'git',
    ['-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-q', '--allow-empty', '-m', 'Begin'],
    {
      cwd: at.work,
    },
  );
  return at;
}

function op(text: string, id: string): string {
  const items = [{ type: 'text', text }];
  return `${JSON.stringify({ type: 'user_turn', id, items, origin: { type: 'user' } })}\n`;
}

function bytesOf(events: readonly SessionEvent[]): number {
  return events.reduce((sum, event) => sum + JSON.stringify(event).length, 0);
}

function errorsOf(client: Client, code: string): number {
  return client.events.filter((event) => event.type === 'error' && event.code === code).length;
}

/** A client whose turn does not end. */
async function busy(at: ExecFixture): Promise<Client> {
  server.play({ key: EXEC_KEY, replies: [QUESTION] });
  const client = new Client(at);
  await client.next('session_configured');
  client.say('Begin.');
  await client.next('question');
  return client;
}

function long(count: number): string {
  return `${count} ${'𝄞é'.repeat(20_000)} end ${count}`;
}

describe('messages that wait', () => {
  /** Sends so many messages at once. @returns bytes of events and of the log */
  async function flood(messages: number) {
    const at = fixture();
    const client = await busy(at);
    const ops = Array.from({ length: messages }, (_, count) => op(`Message ${count}.`, `m-${count}`));
    client.write(ops.join(''));
    await client.next('error', ({ code }) => code === 'queue_full');
    while (errorsOf(client, 'queue_full') < messages - 100) await client.next('error');
    client.kill('SIGKILL');
    await client.ended;
    return { client, told: bytesOf(client.events), logged: statSync(at.rollouts()[0] ?? '').size };
  }

  test('have an end, and what is told and logged of them grows with them', async () => {
    const half = await flood(1500);
    const { client, told, logged } = await flood(3000);
    const newest = client.events.findLast((event) => event.type === 'queue_changed');
    assert.equal(newest?.messages.length, 100);
    assert.equal(newest.messages[99]?.text, 'Message 99.');
    const refused = client.events.find((event) => event.type === 'error');
    assert.match(refused?.type === 'error' ? refused.message : '', /100 messages/);
    // Before there was a limit: 459 MB.
    assert.ok(Math.max(told, logged) < 3_000_000, `${told} bytes of events, ${logged} of the log`);
    assert.ok(told < 2.2 * half.told, `${half.told} bytes of events for half of it, ${told} for all`);
    assert.ok(
      logged < 2.2 * half.logged,
      `${half.logged} bytes of the log for half of it, ${logged} for all`,
    );
  });

  test('are logged once where they are long, shown in part, and outlive the process whole', async () => {
    const at = fixture();
    const client = await busy(at);
    client.write(Array.from({ length: 40 }, (_, count) => op(long(count), `m-${count}`)).join(''));
    const full = await client.next('queue_changed', ({ messages }) => messages.length === 40);
    assert.ok(full.messages.every(({ text }) => text.length <= 500 && text.endsWith('…')));
    client.kill('SIGKILL');
    await client.ended;
    const input = 40 * Buffer.byteLength(long(10));
    const logged = statSync(at.rollouts()[0] ?? '').size;
    assert.ok(logged < 2 * input, `${logged} bytes for ${input}`);

    server.play({ key: EXEC_KEY, replies: [QUESTION] });
    const from = server.requests.length;
    const again = new Client(at, ['--resume', 'last']);
    const first = await again.next('user_message', ({ message }) => message.startsWith('0 '));
    assert.equal(first.message, long(0));
    await again.next('question');
    assert.ok(JSON.stringify(server.requests[from]?.body).includes(' end 0'));
    const left = again.events.findLast((event) => event.type === 'queue_changed');
    assert.equal(left?.messages.length, 39);
    again.kill('SIGKILL');
    await again.ended;
  });

  test('are refused, not lost, where their id was used before', async () => {
    const at = fixture();
    server.play({ key: EXEC_KEY, replies: [QUESTION] });
    const client = new Client(at);
    await client.next('session_configured');
    client.write(op('Begin.', 'begun'));
    await client.next('question');
    const steered = [{ type: 'text' as const, text: 'Mind the tests.' }];
    client.send({ type: 'steer', id: 'steered', items: steered, origin: { type: 'user' } });
    await client.next('message_steered');
    client.write(op('First.', 'queued'));
    // Before, the first of these was dropped, and a restart dropped the second.
    const repeated = ['queued', 'begun', 'steered'];
    for (const id of repeated) {
      client.write(op(`Repeats ${id}.`, id));
      const refused = await client.next('error');
      assert.deepEqual([refused.code, refused.op_id], ['op_invalid', id]);
    }
    client.send({ type: 'steer', id: 'begun', items: steered, origin: { type: 'user' } });
    assert.equal((await client.next('error')).op_id, 'begun');
    client.write(op('Last.', 'last'));
    await client.next('queue_changed', ({ messages }) => messages.length === 2);
    client.kill('SIGKILL');
    await client.ended;

    server.play({ key: EXEC_KEY, replies: [QUESTION] });
    const again = new Client(at, ['--resume', 'last']);
    await again.next('question');
    const left = again.events.flatMap((event) =>
      event.type === 'queue_changed' || event.type === 'user_message' ? JSON.stringify(event) : [],
    );
    for (const text of ['First.', 'Last.', 'Mind the tests.']) {
      assert.ok(
        left.some((event) => event.includes(text)),
        text,
      );
    }
    again.write(op('Repeats begun after a restart.', 'begun'));
    assert.equal((await again.next('error')).op_id, 'begun');
    again.kill('SIGKILL');
    await again.ended;
  });

  test('may be one of the longest line, but not two', async () => {
    const client = await busy(fixture());
    client.write(op('a'.repeat(4_000_000), 'one') + op('b'.repeat(4_000_000), 'two') + op('c', 'three'));
    await client.next('error', ({ code }) => code === 'queue_full');
    await client.next('queue_changed', ({ messages }) => messages.length === 2);
    client.kill('SIGKILL');
    await client.ended;
  });
});

describe('a client that does not read', () => {
  test('is not heard until it does, so that its answers do not fill the memory', async () => {
    const client = await busy(fixture());
    client.pause();
    const wanted = 40_000;
    client.write(`{"type":"${'x'.repeat(300)}"}\n`.repeat(wanted));
    let left = Infinity;
    while (client.unread < left) {
      left = client.unread;
      await sleep(1000);
    }
    // Before, all of it was read: 750 MB in 25 seconds.
    assert.ok(client.unread > 1_000_000, `${client.unread} bytes are left`);
    client.resume();
    for (let answers = 0; answers < wanted; answers++) await client.next('error');
    client.send({ type: 'interrupt' });
    await client.next('turn_aborted');
    client.kill('SIGKILL');
    await client.ended;
  });
});

describe('a client that is behind with reading', () => {
  test('can stop what it is behind with', async () => {
    const at = fixture();
    // Live output that no client asks for twice: a million characters of each command.
    const floods = Array.from({ length: 10 }, (_, count): Reply => ({
      calls: [{ name: 'shell', arguments: { command: `seq ${count} 300000` } }],
    }));
    server.play({ key: EXEC_KEY, replies: [...floods, QUESTION] });
    const from = server.requests.length;
    const client = new Client(at);
    await client.next('session_configured');
    client.pause();
    client.say('Begin.');
    while (server.requests.length < from + 11) await sleep(50);
    client.send({ type: 'exec_approval', call_id: 'none', decision: 'denied' });
    client.send({ type: 'interrupt' });
    // Before, the second op was heard when the client had read everything.
    for (let waits = 0; waits < 200 && !log(at).includes('turn_aborted'); waits++) await sleep(50);
    assert.ok(log(at).includes('turn_aborted'));
    client.resume();
    await client.next('turn_aborted');
    client.kill('SIGKILL');
    await client.ended;
  });
});

function log(at: ExecFixture): string {
  return readFileSync(at.rollouts()[0] ?? '', 'utf8');
}

describe('lines that nobody should send', () => {
  test('are refused, and the next op is heard', async () => {
    const client = await busy(fixture());
    const deep = '['.repeat(500_000) + ']'.repeat(500_000);
    client.write(`{"type":"user_turn","items":${deep},"origin":{"type":"user"}}\n`);
    client.write(`{"type":"user_turn","items":[{"type":"text","text":"a"}],"origin":${deep}}\n`);
    client.write(`{"type":"set_settings","__proto__":{"mode":"auto"},"constructor":1}\n`);
    client.write(Buffer.from([0xff, 0xfe, 0x00, 0x80, 0x0a]));
    client.write('"type"\nnull\n[]\n{}\n{"type":{}}\n');
    client.write(Buffer.concat([Buffer.alloc(100_000_000, 'x'), Buffer.from('\n')]));
    const wanted = 10;
    while (errorsOf(client, 'op_invalid') < wanted) await client.next('error');
    client.write(op('Once.', 'same') + op('Twice.', 'same'));
    client.write(op('Then.', 'other'));
    const told = await client.next('queue_changed', ({ messages }) => messages.length === 2);
    assert.deepEqual(
      told.messages.map(({ text }) => text),
      ['Once.', 'Then.'],
    );
    client.send({ type: 'interrupt' });
    await client.next('turn_aborted');
    client.kill('SIGKILL');
    await client.ended;
  });

  test('do not fill the memory where there are 5,000 of them', async () => {
    const client = await busy(fixture());
    const settings = '{"type":"set_settings","mode":"tag"}\n';
    client.write(settings.repeat(5_000));
    client.write('{"type":"interrupt"}\n');
    await client.next('turn_aborted');
    client.kill('SIGKILL');
    await client.ended;
  });
});
