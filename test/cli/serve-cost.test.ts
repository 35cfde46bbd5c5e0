// What models cost, as `baton serve` shows it: by what they were asked for, as it happens, and adding up to what limits count.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import { SUMMARY_SECTIONS } from '../../src/vocabulary.ts';
import { Client } from '../support/client.ts';
import { committedFixture, JUDGE_OP, script, shellCall, shutDown } from '../support/served.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

type Spending = Extract<SessionEvent, { type: 'spending' }>;

const SUMMARY = [
  '<analysis>Lamps.</analysis>\n<summary>',
  ...SUMMARY_SECTIONS.map((title, at) => `${at + 1}. ${title}:\nThe lamps are counted, part ${at}.`),
  '</summary>',
].join('\n');

function of({ by_kind: kinds }: Spending, kind: Spending['kind']) {
  return kinds.find((each) => each.kind === kind);
}

test('each request is shown under its kind, a failed judgment too, and the kinds add up', async () => {
  const usage = { input: 6_000, output: 10 };
  script(
    server,
    { calls: [shellCall('seq 1 4000')], usage },
    { text: 'Counted.', usage: { input: 15_000, output: 10 } },
    { text: '{"should_compact": false, "reason": "in the middle of it"}' },
    { fault: { type: 'status', status: 400, message: 'no judge today' } },
    { text: SUMMARY },
  );
  const at = committedFixture(root, server);
  const client = new Client(at);
  client.send({ type: 'user_turn', items: [{ type: 'text', text: 'Count.' }], origin: { type: 'user' } });
  const first = await client.next('spending');
  assert.deepEqual([first.kind, first.requests, first.tokens], ['agent', 1, 6_010]);
  assert.ok((first.dollars ?? 0) > 0, 'the price is known');
  await client.next('turn_complete');
  client.send(JUDGE_OP);
  const judged = await client.next('spending', ({ kind }) => kind === 'judgment');
  assert.equal(of(judged, 'agent')?.tokens, 21_020);
  assert.ok(judged.tokens > 0);
  assert.equal((await client.next('rawr_auto_compaction_judgment_result')).should_compact, false);
  client.send({ ...JUDGE_OP, request_id: 'ask-2' });
  const failed = await client.next('rawr_auto_compaction_judgment_result');
  assert.deepEqual([failed.request_id, failed.should_compact], ['ask-2', null]);
  assert.match(failed.reason, /no judge today/);
  client.send({ type: 'compact', trigger: { type: 'user' }, strategy: 'full' });
  const summed = await client.next('spending', ({ kind }) => kind === 'summary');
  await client.next('compact_completed');
  const told = client.events.filter((event): event is Spending => event.type === 'spending');
  for (const { by_kind: kinds, session } of told) {
    for (const measure of ['requests', 'tokens', 'unpriced_requests'] as const) {
      assert.equal(
        kinds.reduce((sum, kind) => sum + kind[measure], 0),
        session[measure],
        measure,
      );
    }
    const dollars = kinds.reduce((sum, kind) => sum + kind.dollars, 0);
    assert.ok(Math.abs(dollars - session.dollars) < 1e-9);
  }
  assert.equal(of(summed, 'judgment')?.requests, 2);
  client.send({ type: 'shutdown' });
  await client.ended;

  script(server, { text: 'Here.', usage });
  const again = new Client(at, ['--resume', 'last']);
  again.send({ type: 'user_turn', items: [{ type: 'text', text: 'Go on.' }], origin: { type: 'user' } });
  const resumed = await again.next('spending');
  assert.equal(resumed.session.requests, summed.session.requests + 1, 'a resumed thread counts on');
  assert.deepEqual(of(resumed, 'judgment'), of(summed, 'judgment'));
  assert.equal(resumed.turn.requests, 1);
  await again.next('turn_complete');
  await shutDown(again, at);
});

test('what the agent is asked for by the watcher is a packet, not work', async () => {
  const fills = 70_000;
  script(
    server,
    { calls: [shellCall('seq 1 9000; git commit --allow-empty -qm Lamps')], fills },
    { text: 'Committed: the lamps are counted.', fills },
    { text: 'No packet from me.', fills },
    { text: 'Nor now.', fills },
    { text: SUMMARY },
    { text: 'On.' },
  );
  const at = committedFixture(root, server);
  const client = new Client(at, []);
  client.send({ type: 'user_turn', items: [{ type: 'text', text: 'Count.' }], origin: { type: 'user' } });
  const packet = await client.next('spending', ({ kind }) => kind === 'packet');
  assert.equal(packet.requests, 1);
  assert.equal(of(packet, 'agent')?.requests, 2);
  client.kill('SIGKILL');
  await client.ended;
});

test('the cost of a judgment that the user interrupts comes before the thread rests', async () => {
  const fills = 70_000;
  const requests = script(
    server,
    { calls: [shellCall('git commit --allow-empty -qm Lamps')], fills },
    { text: 'Committed: the lamps are counted.', fills },
    { text: '{"should_compact": false, "reason": "later"}', fault: { type: 'stall', afterEvents: 4 } },
  );
  const at = committedFixture(root, server);
  at.configure('[rawr_auto_compaction]\nmid_turn = "off"\npolicy.asap.decision_prompt_path = "judgment.md"', {
    idleTimeoutMs: 30_000,
  });
  const client = new Client(at, []);
  client.send({ type: 'user_turn', items: [{ type: 'text', text: 'Count.' }], origin: { type: 'user' } });
  await client.next('background_event', ({ message }) => message.startsWith('RAWR judgment: start'));
  for (let tries = 0; requests().length < 3 && tries < 200; tries++) await delay(25);
  await delay(200);
  client.send({ type: 'interrupt' });
  await client.next('thread_idle');
  const until = client.events.length;
  await delay(300);
  const told = client.events.flatMap((event, place) => {
    return event.type === 'spending' && event.kind === 'judgment' ? [place < until] : [];
  });
  assert.deepEqual(told, [true]);
  await shutDown(client, at);
});
