// What a thread of `baton serve` answers about itself: what fills its window, how it stands, why the watcher waits.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBuilt } from '../support/built.ts';
import { Client } from '../support/client.ts';
import { committedFixture, script, shellCall, shutDown } from '../support/served.ts';
import { startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

/** The account that `baton inspect` gives of the only session. */
interface Inspected {
  readonly gauge: {
    readonly used: number;
    readonly percent_remaining: number;
    readonly auto_compact_threshold: number;
    readonly agent_compacts_from: number | null;
  };
  readonly window: { readonly raw: number; readonly usable: number };
  readonly categories: Readonly<Record<string, number>>;
  readonly beside_items: { readonly fixed: number; readonly margin: number; readonly unexplained: number };
}

test('the breakdown adds up to the gauge, and is the account of inspect', async () => {
  const usage = { input: 40_000, output: 10 };
  script(server, ...Array.from({ length: 5 }, (_, at) => ({ calls: [shellCall(`seq ${at} 9000`)] })), {
    text: 'Counted.',
    usage,
  });
  const at = committedFixture(root, server);
  const client = new Client(at);
  await client.next('session_configured');
  client.send({ type: 'context' });
  const empty = await client.next('context_breakdown');
  assert.deepEqual([empty.anchor, empty.unexplained], ['none', 0]);
  client.send({ type: 'user_turn', items: [{ type: 'text', text: 'Count.' }], origin: { type: 'user' } });
  await client.next('turn_complete');
  const { used } = await client.next('token_count');
  client.send({ type: 'context' });
  const told = await client.next('context_breakdown');
  for (const each of [empty, told]) {
    const items = each.categories.reduce((sum, { tokens }) => sum + tokens, 0);
    assert.equal(
      items + each.fixed + each.counting + each.restored + each.margin + each.unexplained,
      each.used,
    );
  }
  assert.equal(told.used, used);
  assert.ok(told.clearable.results > 0 && told.clearable.tokens > 0, JSON.stringify(told.clearable));
  client.send({ type: 'status' });
  const { thresholds } = await client.next('status');
  await shutDown(client, at);

  const inspected = await runBuilt(
    ['-c', 'model_context_window=100000', 'inspect', '--json', at.rollouts()[0] ?? ''],
    {
      home: at.home,
    },
  );
  const account = JSON.parse(inspected.stdout) as Inspected;
  const { fixed, counting, restored, margin, unexplained } = told;
  assert.deepEqual(account.beside_items, { fixed, counting, restored, margin, unexplained });
  assert.deepEqual(
    Object.fromEntries(told.categories.map(({ category, tokens }) => [category, tokens])),
    Object.fromEntries(Object.entries(account.categories).filter(([, tokens]) => tokens > 0)),
  );
  assert.deepEqual(
    [told.used, told.percent_remaining, told.model_context_window, told.usable_window],
    [account.gauge.used, account.gauge.percent_remaining, account.window.raw, account.window.usable],
  );
  assert.deepEqual(
    [account.gauge.auto_compact_threshold, account.gauge.agent_compacts_from],
    [thresholds?.auto_compact, null],
    'Baton compacts its threads where its settings say, and not where Codex would',
  );
});

test('the status says what holds, what waits and what was spent', async () => {
  const usage = { input: 40_000, output: 10 };
  script(server, { calls: [{ name: 'ask_user', arguments: { question: 'Which?', options: [] } }], usage });
  const at = committedFixture(root, server);
  at.configure('[limits]\nturn_tokens = 90000\nsession_requests = 0\n');
  const client = new Client(at, ['--approval', 'never']);
  const settled = await client.next('session_configured');
  client.send({ type: 'status' });
  assert.equal((await client.next('status')).rollout_path, null, 'nothing is recorded');
  client.send({ type: 'user_turn', items: [{ type: 'text', text: 'Light it.' }], origin: { type: 'user' } });
  await client.next('question');
  client.send({ type: 'user_turn', items: [{ type: 'text', text: 'And ring.' }], origin: { type: 'user' } });
  await client.next('queue_changed', ({ messages }) => messages.length === 1);
  client.send({ type: 'set_settings', plan_mode: true, mode: 'suggest' });
  await client.next('session_configured');
  client.send({ type: 'status' });
  const status = await client.next('status');
  assert.deepEqual(
    [status.session_id, status.rollout_path, status.provider, status.model],
    [settled.session_id, settled.rollout_path, 'lab-responses', 'gpt-5.1'],
  );
  assert.deepEqual(
    [status.mode, status.plan_mode, status.approval_policy, status.queue_length, status.used],
    ['suggest', true, 'never', 1, 40_010],
  );
  assert.deepEqual(status.running_turn, { turn_id: 'turn-1', task_kind: 'regular' });
  assert.deepEqual([status.model_context_window, status.usable_window], [100_000, 95_000]);
  assert.ok((status.thresholds?.warning ?? 0) > 40_010 && status.pressure === 'calm');
  assert.equal(status.thresholds?.auto_compact, 87_000);
  assert.deepEqual(
    status.tiers.map(({ tier }) => tier),
    ['early', 'ready', 'asap', 'emergency'],
  );
  assert.equal(
    status.tier,
    status.tiers.find(({ percent_remaining_below: below }) => 57 < below)?.tier ?? null,
  );
  assert.deepEqual(
    status.limits.filter(({ key }) => key === 'limits.turn_tokens' || key === 'limits.session_requests'),
    [{ key: 'limits.turn_tokens', limit: 90_000, spent: 40_010 }],
  );
  assert.equal(status.spending.session.tokens, 40_010);
  client.kill('SIGKILL');
  await client.ended;
});

test('why it was not compacted is told with numbers, also before anything was decided', async () => {
  script(server, { text: 'One.', fills: 40_000 }, { text: 'Two.', fills: 40_000 });
  const at = committedFixture(root, server);
  const client = new Client(at);
  await client.next('session_configured');
  client.send({ type: 'why' });
  const atFirst = await client.next('decisions');
  assert.deepEqual(atFirst.newest, []);
  assert.match(atFirst.now.why, /100 % of the window is left|9\d % of the window is left/);
  for (const text of ['Say one.', 'Say two.']) {
    client.send({ type: 'user_turn', items: [{ type: 'text', text }], origin: { type: 'user' } });
    await client.next('turn_complete');
  }
  client.send({ type: 'shutdown' });
  await client.ended;

  const again = new Client(at, ['--resume', 'last']);
  await again.next('session_configured');
  again.send({ type: 'why', newest: 1 });
  const { now, newest } = await again.next('decisions');
  assert.equal(newest.length, 1);
  assert.deepEqual([newest[0]?.turn, newest[0]?.should_compact, newest[0]?.point], [2, false, 'turn_end']);
  assert.match(newest[0]?.why ?? '', /\d+ % of the window is left \(40,0\d\d of 95,000 tokens used\)/);
  assert.ok(newest[0]?.at);
  assert.deepEqual([now.used, now.should_compact], [newest[0]?.used, false]);
  await shutDown(again, at);
});
