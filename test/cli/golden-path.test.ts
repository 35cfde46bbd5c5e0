// The golden path in processes: what only a client, a kill or a slow provider shows.

import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { PACKET } from '../support/packet.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { clientStarter, startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

const serve = clientStarter();

/** @returns a fixture, and the requests from here on */
function fixture(replies: readonly Reply[]) {
  const from = server.requests.length;
  server.play({ key: EXEC_KEY, replies });
  return { at: new ExecFixture(root, server.baseUrl), from, sent: () => server.requests.slice(from) };
}

function runs(command: string, input: number): Reply {
  return { calls: [{ name: 'shell', arguments: { command } }], fills: input };
}

function says(text: string, input: number): Reply {
  return { text, fills: input };
}

const COMMIT = 'seq 1 9000; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m "Trim the wick"';
const TASK = 'Light the lamp.';

test('a phase that the user calls done is compacted for while the agent rests', async () => {
  const { at, sent } = fixture([
    runs('seq 1 9000', 40_000),
    says('I looked at the wick.', 45_000),
    says(PACKET, 45_500),
    says('Filled.', 9_000),
  ]);
  const client = serve(at);
  client.say(TASK);
  await client.next('turn_complete');
  assert.equal(sent().length, 2);
  client.send({ type: 'phase_completed', summary: 'The wick is looked after.' });
  await client.next('context_compacted');
  assert.match(sent()[2]?.text ?? '', /a phase is over/);
  assert.equal((await client.close()).status, 0);
});

test('a thread that is killed while its packet is written says so to the next message, and nothing twice', async () => {
  const { at, from, sent } = fixture([
    runs(COMMIT, 40_000),
    says('The wick is committed. The oil comes next.', 62_000),
    { fault: { type: 'silence' } },
  ]);
  const client = serve(at);
  client.say(TASK);
  await server.request(from + 2);
  client.kill('SIGKILL');
  await client.ended;
  server.play({ key: EXEC_KEY, replies: [says('Good night.', 9_000)] });
  const ended = await at.exec('responses', ['--resume', 'last', 'Say good night.']);
  assert.equal(ended.stdout, 'Good night.\n', ended.stderr);
  const next = sent().at(-1);
  assert.equal(next?.invalid, undefined);
  assert.match(next?.text ?? '', /Start nothing new until[\s\S]*no longer holds[\s\S]*Say good night/);
  assert.equal((next?.text ?? '').split(TASK).length - 1, 1);
});

test('a packet that trickles in ends at twice its deadline inside of a turn, not with its last word', async () => {
  const { at } = fixture([
    runs(COMMIT, 62_000),
    { ...says(PACKET, 62_500), fault: { type: 'drip', bytes: 4, everyMs: 200 } },
    says('The oil is filled.', 9_000),
  ]);
  const started = performance.now();
  const ended = await at.exec('responses', ['-c', 'rawr_auto_compaction.packet_deadline_seconds=1', TASK]);
  assert.equal(ended.stdout, 'The oil is filled.\n', ended.stderr);
  assert.match(ended.stderr, /did not answer in time; the watcher writes the packet/);
  // All of it would take minutes.
  assert.ok(performance.now() - started < 30_000);
});

test('no notes are asked for or written in plan mode', async () => {
  const plan = [
    { step: 'Trim the wick', status: 'completed' },
    { step: 'Fill the oil', status: 'pending' },
  ];
  const { at, sent } = fixture([
    { calls: [{ name: 'update_plan', arguments: { plan } }], fills: 62_000 },
    says(PACKET, 62_500),
    says('The plan is done.', 9_000),
  ]);
  const client = serve(at);
  client.send({ type: 'set_settings', plan_mode: true });
  client.say(TASK);
  await client.next('turn_complete');
  await client.close();
  assert.ok(sent().some(({ text }) => text.includes('Write a continuation packet')));
  assert.ok(sent().every(({ text }) => !text.includes('.scratch')));
  assert.equal(existsSync(join(at.work, '.scratch')), false);
});
