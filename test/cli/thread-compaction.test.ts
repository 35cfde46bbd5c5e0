// Compaction of threads as processes: what the provider receives, what the rollout keeps, what is told.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import type { LogRecord } from '../../src/protocol/record.ts';
import { SUMMARY_SECTIONS } from '../../src/vocabulary.ts';
import { runBuilt } from '../support/built.ts';
import { ExecFixture, eventsOf, EXEC_KEY, messagesOf } from '../support/exec.ts';
import type { Reply, Script, ScriptedCall } from '../support/provider-server/script.ts';
import { readSessionFile } from '../support/read-format.ts';
import { clientStarter, startWithProvider } from '../support/with-provider.ts';

const { root, server } = await startWithProvider();

const serve = clientStarter();

const USER = { type: 'user' } as const;
/** No watcher, whose packets would be requests of their own. */
const ALONE = '-c features.rawr_auto_compaction=false';
/** A reported usage above each limit of the window that `ExecFixture` configures. */
const FULL = { input: 94_000, output: 10 };

type Sent = (typeof server.requests)[number];

function play(replies: readonly Reply[], script: Partial<Script> = {}): () => readonly Sent[] {
  const from = server.requests.length;
  server.play({ key: EXEC_KEY, ...script, replies });
  return () => server.requests.slice(from);
}

function fixture(config = ''): ExecFixture {
  const at = new ExecFixture(root, server.baseUrl);
  at.configure(config);
  return at;
}

function shell(command: string): ScriptedCall {
  return { name: 'shell', arguments: { command } };
}

/** One turn of `exec --json`. */
async function say(
  at: ExecFixture,
  text: string,
  { set = ALONE, isNew = false, window = 100_000 } = {},
): Promise<readonly SessionEvent[]> {
  const resume = isNew ? [] : ['--resume', 'last'];
  const ended = await at.exec('responses', ['--json', ...set.split(' '), ...resume, text], { window });
  assert.equal(ended.status, 0, ended.stderr + ended.stdout);
  return eventsOf(ended);
}

function typed<Type extends SessionEvent['type']>(
  events: readonly SessionEvent[],
  type: Type,
): readonly Extract<SessionEvent, { type: Type }>[] {
  return events.filter((event): event is Extract<SessionEvent, { type: Type }> => event.type === type);
}

async function recordsOf(at: ExecFixture): Promise<readonly LogRecord[]> {
  return (await readSessionFile(at.rollouts()[0] ?? '')).records;
}

function inputTypes(sent: Sent | undefined): readonly unknown[] {
  return sent === undefined ? [] : messagesOf(sent).map((each) => each['type'] ?? each['role']);
}

function assertSound(requests: readonly Sent[]): void {
  for (const { invalid } of requests) assert.equal(invalid, undefined);
}

/** A summary that is accepted. */
const SUMMARY = [
  '<analysis>Lamps.</analysis>\n<summary>',
  ...SUMMARY_SECTIONS.map((title, at) => `${at + 1}. ${title}:\nThe lamps are counted, part ${at}.`),
  '</summary>',
].join('\n');

/** Much that a compaction can leave out. */
const WORK: readonly Reply[] = [{ calls: [shell('seq 1 4000')] }];

describe("the provider's own compaction", () => {
  const remote = (form: string): string =>
    `${ALONE} -c features.remote_compaction=true -c model_providers.lab-responses.remote_compaction="${form}"`;

  for (const [form, path] of [
    ['trigger', '/v1/responses'],
    ['endpoint', '/v1/responses/compact'],
  ] as const) {
    test(`by ${form}: asked for at the limit, kept over --resume`, async () => {
      const set = remote(form);
      const requests = play([
        ...WORK,
        { text: 'Counted.', usage: FULL },
        { compacts: true },
        { text: 'On.' },
        { text: 'Still here.' },
      ]);
      const at = fixture();
      await say(at, 'Count the lamps.', { set, isNew: true });
      const events = await say(at, 'Go on.', { set });
      assert.equal(typed(events, 'compact_completed')[0]?.strategy, 'remote');
      await say(at, 'Are you there?', { set });
      const [, , asked, next, later] = requests();
      assertSound(requests());
      assert.equal(asked?.path, path);
      assert.equal(inputTypes(asked).at(-1) === 'compaction_trigger', form === 'trigger');
      for (const sent of [next, later]) {
        assert.equal(inputTypes(sent).filter((type) => type === 'compaction').length, 1);
        assert.doesNotMatch(sent?.text ?? '', /conversation is summarized below/);
      }
      const compacted = (await recordsOf(at)).find(({ type }) => type === 'compacted');
      assert.equal(compacted?.type === 'compacted' && compacted.receipt?.implementation, 'remote');
    });
  }

  test('by name in serve, and taken back', async () => {
    const requests = play([
      ...WORK,
      { text: 'Counted.' },
      { compacts: true },
      { text: 'On.' },
      { text: 'As before.' },
    ]);
    const at = fixture();
    const client = serve(at, remote('trigger').split(' '));
    client.say('Count the lamps.');
    await client.next('turn_complete');
    client.send({ type: 'compact', trigger: USER, strategy: 'remote' });
    assert.equal((await client.next('compact_completed')).strategy, 'remote');
    client.say('Go on.');
    await client.next('turn_complete', ({ task_kind: kind }) => kind === 'regular');
    client.send({ type: 'undo', what: 'turn' });
    await client.next('undo_completed');
    client.send({ type: 'undo', what: 'compaction' });
    await client.next('undo_completed');
    client.say('And now?');
    await client.next('turn_complete');
    assert.equal((await client.close()).status, 0);
    assertSound(requests());
    assert.ok(inputTypes(requests()[3]).includes('compaction'));
    assert.ok(!inputTypes(requests()[4]).includes('compaction'));
    assert.match(requests()[4]?.text ?? '', /3999/);
  });

  test('by name from a provider that has none is refused, and says why', async () => {
    play([{ text: 'Hello.' }]);
    const client = serve(fixture());
    client.say('Hello.');
    await client.next('turn_complete');
    client.send({ type: 'compact', trigger: USER, strategy: 'remote' });
    const refused = await client.next('error');
    assert.equal(refused.code, 'usage');
    assert.match(refused.message, /has no compaction of its own/);
    await client.close();
  });
});

describe('hooks of a thread', () => {
  test('know the file of its session', async () => {
    const at = fixture();
    const told = join(at.home, 'told');
    const command = `cat >> ${told}; echo >> ${told}`;
    at.configure(
      ['pre_compact', 'post_compact', 'session_start']
        .map((name) => `[[hooks.${name}]]\ncommand = ${JSON.stringify(command)}\n`)
        .join('\n'),
    );
    play([...WORK, { text: 'Counted.', usage: FULL }, { text: 'On.' }]);
    await say(at, 'Count the lamps.', { isNew: true });
    await say(at, 'Go on.');
    const inputs = readFileSync(told, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as { hook_event_name: string; transcript_path: string | null });
    const names = inputs.map(({ hook_event_name: name }) => name);
    assert.ok(names.includes('PreCompact') || names.includes('pre_compact'), names.join());
    for (const { transcript_path: path } of inputs) assert.equal(path, at.rollouts()[0]);
  });

  test("that veto the watcher's compaction are named in its warning", async () => {
    const at = fixture();
    const command = 'echo the harbour is closed >&2; exit 2';
    at.configure(`[[hooks.pre_compact]]\ncommand = ${JSON.stringify(command)}\n`);
    const fills = 70_000;
    const commit = 'git -c user.name=A -c user.email=a@b.c commit --allow-empty -qm Lamps';
    play([
      { calls: [shell('seq 1 4000')], fills },
      { calls: [shell(commit)], fills },
      { text: 'Committed: the lamps are counted.', fills },
    ]);
    const client = serve(at);
    client.say('Count the lamps.');
    await client.next('thread_idle');
    assert.deepEqual(
      typed(client.events, 'warning').map(({ message }) => message),
      [
        '[rawr] auto-compaction: the agent gave no usable continuation packet; the watcher writes the packet.',
        `[rawr] auto-compaction: nothing was compacted: A pre_compact hook vetoed (${command}): the harbour is closed.`,
      ],
    );
    await client.close();
  });
});

const summariesIn = (requests: readonly Sent[]): number =>
  requests.filter(({ body }) => !Array.isArray(body['tools']) || body['tools'].length === 0).length;

const overflow = (limit: number): Reply => ({
  fault: {
    type: 'status',
    status: 400,
    message: `This model's maximum context length is ${limit} tokens. However, your messages resulted in 60000 tokens.`,
  },
});

describe('warnings', () => {
  const warned = (events: readonly SessionEvent[]): readonly string[] =>
    typed(events, 'warning').flatMap(({ message }) => (/context is/.test(message) ? [message] : []));

  test('come once for each threshold, also with automatic compaction off, and over processes', async () => {
    const set = `${ALONE} -c compact.auto_compact_enabled=false -c compact.error_threshold=10000`;
    const used = [70_000, 81_000, 83_000, 92_000, 99_000];
    play(used.map((input) => ({ text: 'Yes.', usage: { input, output: 10 } })));
    const at = fixture();
    const seen: (readonly string[])[] = [];
    const words: unknown[] = [];
    for (const [index] of used.entries()) {
      const events = await say(at, `Question ${index}?`, { set, isNew: index === 0 });
      seen.push(warned(events));
      words.push(typed(events, 'token_count').at(-1)?.pressure);
    }
    assert.deepEqual(
      seen.map(({ length }) => length),
      [0, 1, 0, 1, 0],
    );
    assert.match(
      seen[1]?.[0] ?? '',
      /81,0\d\d of 100,000 tokens are used[^.]*\. Automatic compaction is off/,
    );
    assert.deepEqual(words, ['calm', 'warning', 'warning', 'error', 'error']);
  });

  test('begin at half of the window at the earliest', async () => {
    const set = `${ALONE} -c compact.auto_compact_enabled=false -c compact.warning_threshold=99000`;
    play([45_000, 55_000].map((input) => ({ text: 'Yes.', usage: { input, output: 10 } })));
    const at = fixture();
    assert.deepEqual(warned(await say(at, 'One?', { set, isNew: true })), []);
    assert.equal(warned(await say(at, 'Two?', { set })).length, 1);
  });
});

describe('the loop guard', () => {
  test('holds over processes: a window that is always full sees as few summaries of a model as in one', async () => {
    const turns = 6;
    const replies = (): readonly Reply[] => [
      ...WORK,
      ...Array.from({ length: 40 }, () => ({ text: SUMMARY, usage: FULL })),
    ];
    const together = play(replies());
    const client = serve(fixture(), ALONE.split(' '));
    for (let turn = 0; turn < turns; turn++) {
      client.say(`Question ${turn}: ${'lamp '.repeat(2_000)}`);
      await client.next('turn_complete', ({ task_kind: kind }) => kind === 'regular');
    }
    await client.close();
    const inOne = summariesIn(together());
    const apart = play(replies());
    const at = fixture();
    for (let turn = 0; turn < turns; turn++) {
      await say(at, `Question ${turn}: ${'lamp '.repeat(2_000)}`, { isNew: turn === 0 });
    }
    assert.ok(inOne > 0, 'there was something to guard');
    assert.equal(summariesIn(apart()), inOne);
  });
});

describe('an overflow', () => {
  test('teaches the window of the thread: gauge, thresholds, other processes', async () => {
    play([
      ...WORK,
      { text: 'Counted.' },
      overflow(50_000),
      { text: 'On.', usage: { input: 46_000, output: 10 } },
    ]);
    const at = fixture();
    await say(at, 'Count the lamps.', { isNew: true });
    const events = await say(at, 'Go on.');
    const newest = typed(events, 'token_count').at(-1);
    assert.equal(newest?.model_context_window, 50_000);
    assert.equal(newest.pressure, 'auto_compact');
    assert.ok(
      typed(events, 'warning').some(({ message }) => /allows 50,000 tokens, not 100,000/.test(message)),
    );
    const more = play([{ text: 'Again.' }]);
    const later = await say(at, 'Once more.');
    assert.equal(typed(later, 'token_count').at(-1)?.model_context_window, 50_000);
    assert.equal(typed(later, 'warning').filter(({ message }) => /allows/.test(message)).length, 0);
    assert.ok(more().length > 0);
  });

  test('that names nonsense teaches nothing', async () => {
    for (const limit of [0, 10, 4_095]) {
      play([...WORK, { text: 'Counted.' }, overflow(limit), { text: 'On.' }]);
      const at = fixture();
      await say(at, 'Count the lamps.', { isNew: true });
      const events = await say(at, 'Go on.');
      assert.equal(typed(events, 'token_count').at(-1)?.model_context_window, 100_000);
    }
  });
});

describe('what has an owner comes back from it', () => {
  const PLAN: ScriptedCall = {
    name: 'update_plan',
    arguments: { plan: [{ step: 'Oil the horn', status: 'in_progress' }] },
  };
  const TODO: ScriptedCall = {
    name: 'todo',
    arguments: { todos: [{ content: 'Buy wicks', status: 'pending' }] },
  };

  for (const [key, hasTodos, hasPlan] of [
    ['', true, true],
    ['restore_todos', false, true],
    ['restore_plan', true, false],
  ] as const) {
    for (const calls of [
      [PLAN, TODO],
      [TODO, PLAN],
    ]) {
      const order = calls.map(({ name }) => name).join(' then ');
      test(`${order}${key === '' ? '' : ` with ${key} off`}`, async () => {
        const set = key === '' ? ALONE : `${ALONE} -c compact.${key}=false`;
        const requests = play([
          { calls: [...calls, shell('seq 1 4000')] },
          { text: 'Counted.', usage: FULL },
          { fault: { type: 'status', status: 500 } },
          { text: 'On.' },
        ]);
        const at = fixture();
        await say(at, 'Count the lamps.', { set, isNew: true });
        await say(at, 'Go on.', { set });
        const sent = requests().at(-1)?.text ?? '';
        assert.equal(/The todo list as it stands[^"]*Buy wicks/.test(sent), hasTodos);
        assert.equal(/The plan as it stands[^"]*Oil the horn/.test(sent), hasPlan);
      });
    }
  }

  test('plan mode, also where it was chosen after the start', async () => {
    const requests = play([
      ...WORK,
      { text: 'Counted.' },
      { text: 'Planned.' },
      { fault: { type: 'status', status: 500 } },
      { text: 'Still planning.' },
    ]);
    const client = serve(fixture(), ALONE.split(' '));
    client.say('Count the lamps.');
    await client.next('turn_complete');
    client.send({ type: 'set_settings', plan_mode: true });
    client.say('Plan the rest.');
    await client.next('turn_complete');
    client.send({ type: 'compact', trigger: USER, strategy: 'full' });
    await client.next('compact_completed');
    client.say('Go on.');
    await client.next('turn_complete', ({ task_kind: kind }) => kind === 'regular');
    const sent = requests().at(-1)?.text ?? '';
    assert.equal(sent.match(/<plan_mode>on/g)?.length, 1);
    await client.close();
  });
});

/** What `baton inspect --json` counts in the only session. */
async function inspected(at: ExecFixture): Promise<number> {
  const ended = await runBuilt(['inspect', at.rollouts()[0] ?? '', '--json'], { home: at.home });
  assert.equal(ended.status, 0, ended.stderr);
  const { gauge } = JSON.parse(ended.stdout) as { gauge: { used: number } };
  return gauge.used;
}

describe('one count', () => {
  test('gauge, event, receipt, preview and inspect say the same at each step', async () => {
    play([
      ...WORK,
      { text: 'Counted.', fills: 12_000 },
      { fault: { type: 'status', status: 500 } },
      { text: 'On.', usage: { input: 5_000, output: 10 } },
    ]);
    const at = fixture();
    const client = serve(at, ALONE.split(' '));
    client.say('Count the lamps.');
    await client.next('turn_complete');
    const first = await client.next('token_count');
    assert.equal(first.used, 12_000);
    assert.equal(await inspected(at), first.used);

    client.send({ type: 'compact', trigger: USER, strategy: 'full', preview: true });
    const preview = await client.next('compact_preview');
    client.send({ type: 'compact', trigger: USER, strategy: 'full' });
    const completed = await client.next('compact_completed');
    const left = await client.next('token_count');
    assert.equal(preview.pre_compact_tokens, first.used);
    assert.equal(completed.pre_compact_tokens, first.used);
    assert.equal(completed.post_compact_tokens, left.used);
    assert.ok(left.used > 1_000, `instructions and tools are in ${left.used}`);
    assert.equal(await inspected(at), left.used);
    const record = (await recordsOf(at)).find(({ type }) => type === 'compacted');
    assert.ok(record?.type === 'compacted' && record.receipt !== undefined);
    const { receipt } = record;
    assert.deepEqual([receipt.preTokens, receipt.postTokens], [first.used, left.used]);
    const { kept, cut, summarised, dropped, beside } = receipt;
    const entries = [kept, cut, summarised, dropped].reduce((sum, each) => sum + (each?.tokens ?? 0), 0);
    assert.equal(entries + (beside?.before ?? 0), receipt.preTokens);
    const parts = Object.values(receipt.after ?? {}).reduce((sum, tokens) => sum + tokens, 0);
    assert.equal(parts + (beside?.after ?? 0), receipt.postTokens);

    client.send({ type: 'undo', what: 'compaction' });
    const undone = await client.next('token_count');
    await client.next('undo_completed');
    assert.equal(undone.used, first.used);
    assert.equal(await inspected(at), first.used);
    assert.equal((await client.close()).status, 0);
  });

  test('a report that counted next to nothing is not believed, by thread and file command', async () => {
    const usage = { input: 8, output: 2 };
    play([...WORK, ...WORK, ...WORK, { text: 'Counted.', usage }].map((reply) => ({ ...reply, usage })));
    const at = fixture();
    const client = serve(at, ALONE.split(' '));
    client.say('Count the lamps.');
    await client.next('turn_complete');
    const { used } = await client.next('token_count');
    assert.ok(used > 10_000, `${used} tokens`);
    assert.equal(await inspected(at), used);
    const warnings = typed(client.events, 'warning').filter(({ message }) => /10 tokens/.test(message));
    assert.deepEqual(
      warnings.map(({ message }) => message.replace(/about [\d,]+/, 'about N')),
      [
        'The provider reported a usage of 10 tokens, where the content comes to about N. Baton ignores such reports, and estimates how full the context is.',
      ],
    );
    const [file = ''] = at.rollouts();
    const ran = await runBuilt(['compact', file, '--preview', '--json'], { home: at.home });
    assert.equal(ran.status, 0, ran.stderr);
    assert.equal((JSON.parse(ran.stdout) as { preTokens: number }).preTokens, used);
    client.send({ type: 'compact', trigger: USER, strategy: 'full' });
    const completed = await client.next('compact_completed');
    assert.equal(completed.pre_compact_tokens, used);
    assert.ok(completed.post_compact_tokens < used / 2);
    assert.equal((await client.close()).status, 0);
  });

  test('a target below instructions and tools names them', async () => {
    play([...WORK, { text: 'Counted.' }]);
    const client = serve(fixture(), ALONE.split(' '));
    client.say('Count the lamps.');
    await client.next('turn_complete');
    client.send({ type: 'compact', trigger: USER, strategy: 'full', target_tokens: 1_000 });
    const failed = await client.next('compact_failed');
    assert.equal(failed.reason, 'cannot_fit');
    assert.match(failed.error_message, /for instructions and tools, which are in every request/);
    const [, least = ''] = /needs at least ([\d,]+)/.exec(failed.error_message) ?? [];
    client.send({
      type: 'compact',
      trigger: USER,
      strategy: 'full',
      target_tokens: Number(least.replaceAll(',', '')) + 200,
    });
    const completed = await client.next('compact_completed');
    assert.ok(completed.post_compact_tokens <= Number(least.replaceAll(',', '')) + 200);
    await client.close();
  });
});
