// `baton serve` as a process: every op as a client sends it, the real tools in a real repository, hostile lines, and every end.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { UndoTurnDocument } from '../../src/cli/documents/compaction.ts';
import { HistoryFold } from '../../src/history/project.ts';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import type { Item } from '../../src/protocol/item.ts';
import { runBuilt } from '../support/built.ts';
import type { Ended } from '../support/built.ts';
import { Client } from '../support/client.ts';
import type { ExecFixture } from '../support/exec.ts';
import { assertFailed, assertNoNoise } from '../support/explained.ts';
import type { Reply, ScriptedCall } from '../support/provider-server/script.ts';
import { readSessionFile } from '../support/read-format.ts';
import { startWithProvider } from '../support/with-provider.ts';
import { assertSound, committedFixture, JUDGE_OP, script, shellCall, shutDown } from '../support/served.ts';

const { root, server } = await startWithProvider();

const USER = { type: 'user' } as const;

function fixture(files: Readonly<Record<string, string>> = {}): ExecFixture {
  return committedFixture(root, server, files);
}

function play(...replies: readonly Reply[]): ReturnType<typeof script> {
  return script(server, ...replies);
}

function edit(path: string, from: string, to: string): ScriptedCall {
  return { name: 'edit', arguments: { path, old_string: from, new_string: to } };
}

function read(path: string): ScriptedCall {
  return { name: 'read', arguments: { path } };
}

function undo(at: ExecFixture, ...args: readonly string[]): Promise<Ended> {
  return runBuilt(['undo', '--turn', 'last', ...args], { home: at.home });
}

/** The history that a resumed thread would have. */
async function historyOf(at: ExecFixture): Promise<readonly Item[]> {
  const { records } = await readSessionFile(at.rollouts()[0] ?? '');
  const fold = new HistoryFold(WHOLE_ITEMS);
  for (const record of records) fold.add(record);
  assert.deepEqual(fold.problems, []);
  return fold.entries.map(({ value }) => value);
}

test('messages are turns, in their order, and the thread waits for more', async () => {
  play({ text: 'First.' }, { text: 'Second.' });
  const at = fixture();
  const client = new Client(at);
  const told = await client.next('session_configured');
  assert.equal(told.plan_mode, false);
  client.send({ type: 'user_turn', id: 'one', items: [{ type: 'text', text: 'Say one.' }], origin: USER });
  client.say('Say two.');
  const first = await client.next('turn_complete');
  assert.equal(first.last_agent_message, 'First.');
  assert.deepEqual(first.origin, { type: 'user', message_id: 'one' });
  assert.equal((await client.next('turn_complete')).last_agent_message, 'Second.');
  await shutDown(client, at);
});

test('a message into a running turn is seen before the next sampling', async () => {
  const requests = play({ calls: [shellCall('sleep 1')] }, { text: 'Seen.' });
  const at = fixture();
  const client = new Client(at);
  client.say('Wait a while.');
  await client.next('exec_command_begin');
  client.send({ type: 'steer', items: [{ type: 'text', text: 'Hurry up.' }], origin: USER });
  await client.next('turn_complete');
  assert.equal(requests().length, 2);
  assert.match(requests()[1]?.text ?? '', /Hurry up\./);
  await shutDown(client, at);
});

test('an interrupt ends the turn at once, and the thread goes on', async () => {
  play({ calls: [shellCall('sleep 30')] }, { text: 'Here.' });
  const at = fixture();
  const client = new Client(at);
  client.say('Sleep.');
  await client.next('exec_command_begin');
  client.send({ type: 'interrupt' });
  assert.equal((await client.next('turn_aborted')).reason, 'interrupted');
  client.send({ type: 'interrupt' });
  client.say('Are you there?');
  assert.equal((await client.next('turn_complete')).last_agent_message, 'Here.');
  await shutDown(client, at);
});

describe('approvals', () => {
  const asking = ['--sandbox', 'danger_full_access', '--approval', 'untrusted'];

  test('of a command: approved, for the session, denied', async () => {
    const touch = shellCall('touch lit');
    play(
      { calls: [touch] },
      { calls: [touch] },
      { calls: [touch] },
      { calls: [shellCall('rm lit')] },
      { text: 'Done.' },
    );
    const at = fixture();
    const client = new Client(at, asking);
    client.say('Light it.');
    const asked = await client.next('exec_approval_request');
    assert.equal(asked.command, 'touch lit');
    assert.equal(asked.cwd, at.work);
    assert.equal(existsSync(join(at.work, 'lit')), false, 'it waits');
    client.send({ type: 'patch_approval', call_id: asked.call_id, decision: 'approved' });
    assert.match((await client.next('error')).message, /exec_approval/);
    client.send({ type: 'exec_approval', call_id: asked.call_id, decision: 'approved' });
    const again = await client.next('exec_approval_request');
    client.send({ type: 'exec_approval', call_id: again.call_id, decision: 'approved_for_session' });
    const other = await client.next('exec_approval_request');
    assert.equal(other.command, 'rm lit', 'the same command was not asked for a third time');
    client.send({ type: 'exec_approval', call_id: other.call_id, decision: 'denied' });
    await client.next('turn_complete');
    assert.equal(existsSync(join(at.work, 'lit')), true);
    client.send({ type: 'exec_approval', call_id: other.call_id, decision: 'approved' });
    assert.equal((await client.next('error')).code, 'op_invalid');
    await shutDown(client, at);
  });

  test('of an edit: abort ends the turn and changes nothing', async () => {
    play({ calls: [read('lamp')] }, { calls: [edit('lamp', 'unlit', 'lit')] }, { text: 'Never said.' });
    const at = fixture({ lamp: 'unlit\n' });
    const client = new Client(at, asking);
    client.say('Light it.');
    const asked = await client.next('patch_approval_request');
    assert.deepEqual(asked.paths, ['lamp']);
    client.send({ type: 'patch_approval', call_id: asked.call_id, decision: 'abort' });
    await client.next('turn_aborted');
    assert.equal(at.read('lamp'), 'unlit\n');
    await shutDown(client, at);
  });

  test('a client that goes away approves nothing, and what it asked for is finished', async () => {
    play({ calls: [shellCall('touch lit')] }, { text: 'Without it, then.' });
    const at = fixture();
    const client = new Client(at, asking);
    client.say('Light it.');
    await client.next('exec_approval_request');
    const ended = await client.close();
    assert.equal(ended.status, 0, ended.stderr);
    assert.equal(existsSync(join(at.work, 'lit')), false);
    const complete = await client.next('turn_complete');
    assert.equal(complete.last_agent_message, 'Without it, then.');
    await assertSound(at);
  });
});

test('a client that reads no more events ends it, which is no failure', async () => {
  play({ calls: [shellCall('sleep 1')] }, { fault: { type: 'silence' } });
  const at = fixture();
  const op = { type: 'user_turn', items: [{ type: 'text', text: 'Go.' }], origin: USER };
  const ended = await at.serve('responses', [], {
    shell: '{ "$@"; echo $? >status; } | head -1',
    input: false,
    started: (child) => child.stdin?.write(`${JSON.stringify(op)}\n`),
  });
  assert.equal(readFileSync(join(at.home, 'status'), 'utf8').trim(), '0', ended.stderr);
  assert.doesNotMatch(ended.stderr, /interrupted|failed|EPIPE/i);
  await assertSound(at);
});

test('a question of the agent is answered', async () => {
  const call = {
    name: 'ask_user',
    arguments: { question: 'Which lamp?', options: [{ label: 'The left one' }] },
  };
  const requests = play({ calls: [call] }, { text: 'The left one it is.' });
  const at = fixture();
  const client = new Client(at);
  client.say('Light a lamp.');
  const asked = await client.next('question');
  assert.deepEqual(asked.options, [{ label: 'The left one' }]);
  client.send({ type: 'answer_question', question_id: asked.question_id, answer: 'The one to the left' });
  await client.next('turn_complete');
  assert.match(requests()[1]?.text ?? '', /The one to the left/);
  client.send({ type: 'answer_question', question_id: asked.question_id, answer: 'x' });
  assert.equal((await client.next('error')).code, 'op_invalid');
  await shutDown(client, at);
});

test('compact: previewed, done as a turn of its own, taken back', async () => {
  play({ calls: [shellCall('seq 1 4000')] }, { text: 'Counted.' }, { text: 'A summary of no worth' });
  const at = fixture();
  const client = new Client(at);
  client.say('Count.');
  await client.next('turn_complete');
  const asked = server.requests.length;
  client.send({ type: 'compact', trigger: USER, strategy: 'full', preview: true });
  const preview = await client.next('compact_preview');
  assert.ok(preview.post_compact_tokens < preview.pre_compact_tokens, JSON.stringify(preview));
  assert.equal(server.requests.length, asked, 'a preview asks nobody');
  client.send({ type: 'compact', trigger: USER, strategy: 'full', instructions: 'Mind the lamp.' });
  client.say('What was the last number?');
  const completed = await client.next('compact_completed');
  assert.equal((await client.next('turn_complete')).task_kind, 'compact');
  // What the user said while it was compacted is neither lost nor summarised.
  await client.next('turn_complete', ({ task_kind: kind }) => kind === 'regular');
  const history = JSON.stringify(await historyOf(at));
  assert.match(history, /What was the last number\?/);
  client.send({ type: 'undo', what: 'turn' });
  client.send({ type: 'undo', what: 'compaction' });
  await client.next('undo_completed', ({ what }) => what === 'turn');
  const undone = await client.next('undo_completed', ({ what }) => what === 'compaction');
  assert.equal(undone.id, completed.id);
  assert.match(JSON.stringify(await historyOf(at)), /Counted\./);
  client.send({ type: 'undo', what: 'compaction' });
  assert.equal((await client.next('error')).code, 'nothing_to_undo');
  await shutDown(client, at);
});

describe('undo of a turn', () => {
  test('restores files and conversation, once per turn', async () => {
    const requests = play(
      { calls: [read('lamp')] },
      { calls: [edit('lamp', 'unlit', 'lit'), shellCall('echo oil > can; echo horn >> lamp')] },
      { text: 'Lit.' },
      { calls: [shellCall('rm lamp')] },
      { text: 'Gone.' },
      { text: 'Nothing happened.' },
    );
    const at = fixture({ lamp: 'unlit\n' });
    const client = new Client(at);
    client.say('Light it.');
    await client.next('turn_complete');
    client.say('Remove it.');
    await client.next('turn_complete');
    assert.equal(existsSync(join(at.work, 'lamp')), false);
    client.send({ type: 'undo', what: 'turn' });
    const second = await client.next('undo_completed');
    assert.deepEqual([second.what, second.id, second.paths], ['turn', 'turn-2', ['lamp']]);
    assert.equal(at.read('lamp'), 'lit\nhorn\n');
    client.send({ type: 'undo', what: 'turn' });
    const first = await client.next('undo_completed');
    assert.deepEqual(first.paths.toSorted(), ['can', 'lamp']);
    assert.equal(at.read('lamp'), 'unlit\n');
    assert.equal(existsSync(join(at.work, 'can')), false);
    client.send({ type: 'undo', what: 'turn' });
    assert.equal((await client.next('error')).code, 'nothing_to_undo');
    client.say('What happened?');
    await client.next('turn_complete');
    const sent = requests().at(-1);
    assert.equal(sent?.invalid, undefined);
    assert.doesNotMatch(sent?.text ?? '', /Light it|Remove it|Gone\./);
    await shutDown(client, at);
    assert.equal(execFileSync('git', ['stash', 'list'], { cwd: at.work }).length, 0);
    // Another process has the same history.
    const requestsAfter = play({ text: 'Still nothing.' });
    const ended = await at.exec('responses', ['--resume', 'last', 'And now?']);
    assert.equal(ended.stdout, 'Still nothing.\n', ended.stderr);
    assert.doesNotMatch(requestsAfter()[0]?.text ?? '', /Light it|Remove it/);
  });

  test('of a closed session: named first, then done, once', async () => {
    play({ calls: [shellCall('echo lit > lamp; echo oil > can')] }, { text: 'Lit.' }, { text: 'Hm.' });
    const at = fixture({ lamp: 'unlit\n' });
    const client = new Client(at);
    client.say('Light it.');
    await client.next('turn_complete');
    const live = await undo(at, '--preview');
    assert.equal(live.status, 1);
    assert.match(live.stderr, /\[session_live\]/);
    await shutDown(client, at);
    const preview = await undo(at, '--preview');
    assert.equal(preview.status, 0, preview.stderr);
    assert.match(preview.stderr, /“Light it\.”[\s\S]*can \(added since\)[\s\S]*lamp \(modified since\)/);
    const files = [
      { path: 'can', change: 'added' },
      { path: 'lamp', change: 'modified' },
    ];
    const told = (ended: Ended) => UndoTurnDocument.parse(JSON.parse(ended.stdout));
    const planned = told(await undo(at, '--preview', '--json'));
    assert.deepEqual([planned.files, planned.is_preview], [files, true]);
    assert.equal(at.read('lamp'), 'lit\n');
    const done = await undo(at, '--json');
    assert.equal(done.status, 0, done.stderr);
    const { kept_as: keptAs, ...document } = told(done);
    assert.deepEqual({ ...document, kept_as: null }, { ...planned, is_preview: false });
    assert.equal(at.read('lamp'), 'unlit\n');
    assert.equal(existsSync(join(at.work, 'can')), false);
    await assertSound(at);
    assert.doesNotMatch(JSON.stringify(await historyOf(at)), /Light it/);
    const [, way = ''] = /Restore them with: (.+)$/m.exec(done.stderr) ?? [];
    assert.ok(way.includes(String(keptAs)), done.stderr);
    execFileSync('/bin/sh', ['-c', way], { cwd: at.home });
    assert.deepEqual([at.read('lamp'), at.read('can')], ['lit\n', 'oil\n'], 'an undo of files can be undone');
    const again = await undo(at);
    assert.equal(again.status, 1);
    assert.match(again.stderr, /\[nothing_to_undo\]/);
  });

  test('is refused while the thread works, and behind a compaction', async () => {
    play({ calls: [shellCall('seq 1 4000')] }, { calls: [shellCall('sleep 30')] }, { text: 'A summary' });
    const at = fixture();
    const client = new Client(at);
    client.say('Count, then sleep.');
    await client.next('exec_command_begin', ({ command }) => command === 'sleep 30');
    client.send({ type: 'undo', what: 'turn' });
    assert.match((await client.next('error')).message, /Interrupt it first/);
    client.send({ type: 'interrupt' });
    await client.next('turn_aborted');
    client.send({ type: 'compact', trigger: USER, strategy: 'full' });
    await client.next('turn_complete');
    client.send({ type: 'undo', what: 'turn' });
    assert.match((await client.next('error')).message, /Undo the compaction first/);
    await shutDown(client, at);
  });

  test('can be switched off: the conversation goes back, the files stay, and that is said', async () => {
    play({ calls: [shellCall('touch lit')] }, { text: 'Lit.' });
    const at = fixture();
    at.configure('[features]\nghost_snapshots = false\n');
    const client = new Client(at);
    client.say('Light it.');
    await client.next('turn_complete');
    client.send({ type: 'undo', what: 'turn' });
    await client.next('warning', ({ message }) => /No snapshot/.test(message));
    assert.deepEqual((await client.next('undo_completed')).paths, []);
    assert.equal(existsSync(join(at.work, 'lit')), true);
    await shutDown(client, at);
  });
});

test('settings apply from the next call on, and are reported', async () => {
  const requests = play(
    { calls: [shellCall('touch lit')] },
    { text: 'I plan.' },
    { calls: [shellCall('touch lit')] },
    { text: 'Lit.' },
  );
  const at = fixture();
  const client = new Client(at);
  await client.next('session_configured');
  client.send({ type: 'set_settings', plan_mode: true, mode: 'off', approval_policy: 'never' });
  const told = await client.next('session_configured');
  assert.deepEqual([told.plan_mode, told.mode, told.approval_policy], [true, 'off', 'never']);
  client.say('Light it.');
  await client.next('turn_complete');
  assert.equal(existsSync(join(at.work, 'lit')), false);
  assert.match(requests()[0]?.text ?? '', /<plan_mode>on/);
  assert.match(requests()[1]?.text ?? '', /Plan mode is on/);
  client.send({ type: 'set_settings', plan_mode: false });
  client.send({ type: 'review_mode', is_on: true });
  client.say('Light it.');
  assert.equal((await client.next('session_configured')).plan_mode, false);
  assert.equal((await client.next('session_configured')).review_mode, true);
  await client.next('turn_complete');
  assert.equal(existsSync(join(at.work, 'lit')), true);
  await shutDown(client, at);
});

test('pins are told, kept through a compaction, and bounded', async () => {
  play({ calls: [shellCall('seq 1 4000')] }, { text: 'Counted.' }, { text: 'no summary' });
  const at = fixture();
  const client = new Client(at);
  client.say('Count.');
  await client.next('turn_complete');
  client.send({ type: 'pin', id: 'horn', text: 'Never touch the horn.' });
  assert.deepEqual((await client.next('pins_changed')).pins, [{ id: 'horn', text: 'Never touch the horn.' }]);
  client.send({ type: 'pin', text: 'x'.repeat(20_000) });
  assert.equal((await client.next('error')).code, 'pins_full');
  client.send({ type: 'unpin', id: 'bell' });
  assert.equal((await client.next('error')).code, 'op_invalid');
  client.send({ type: 'compact', trigger: USER, strategy: 'full' });
  await client.next('turn_complete');
  assert.match(JSON.stringify(await historyOf(at)), /Never touch the horn\./);
  client.send({ type: 'unpin', id: 'horn' });
  assert.deepEqual((await client.next('pins_changed')).pins, []);
  client.send({ type: 'phase_completed', summary: 'Counting is done.' });
  assert.equal((await client.next('phase_completed')).call_id, null);
  await shutDown(client, at);
});

test('hooks see a message before it is accepted, and the end of its turn', async () => {
  const requests = play({ text: 'Lit.' });
  const at = fixture();
  const done = join(at.home, 'done.json');
  at.configure(`
[[hooks.user_prompt_submit]]
command = "if grep -q forbidden; then echo not today >&2; exit 2; fi; echo '{\\"context\\": \\"The oil is low.\\"}'"
[[hooks.turn_complete]]
command = "cat > ${done}"
`);
  const client = new Client(at);
  client.send({
    type: 'user_turn',
    id: 'm-1',
    items: [{ type: 'text', text: 'Do what is forbidden.' }],
    origin: { type: 'user' },
  });
  assert.equal((await client.next('hook_begin')).event, 'user_prompt_submit');
  assert.equal((await client.next('hook_end')).outcome, 'vetoed');
  const refused = await client.next('error');
  assert.deepEqual([refused.code, refused.op_id], ['prompt_vetoed', 'm-1']);
  assert.match(refused.message, /not today/);
  client.say('Light it.');
  await client.next('turn_complete');
  const end = await client.next('hook_end', ({ event }) => event === 'turn_complete');
  assert.equal(end.outcome, 'done');
  assert.equal(requests().length, 1);
  assert.match(requests()[0]?.text ?? '', /The oil is low\./);
  assert.doesNotMatch(requests()[0]?.text ?? '', /forbidden/);
  const told = JSON.parse(readFileSync(done, 'utf8')) as Record<string, unknown>;
  assert.deepEqual(
    [told['hook_event_name'], told['turn_id'], told['last_assistant_message']],
    ['TurnComplete', 'turn-1', 'Lit.'],
  );
  await shutDown(client, at);
});

test('a judge is asked, and decides nothing', async () => {
  play({ text: 'Hello.' }, { text: '{"should_compact": false, "reason": "in the middle of it"}' });
  const at = fixture();
  const client = new Client(at);
  client.say('Hello.');
  await client.next('turn_complete');
  client.send(JUDGE_OP);
  const result = await client.next('rawr_auto_compaction_judgment_result');
  assert.deepEqual(
    [result.request_id, result.should_compact, result.reason],
    ['ask-1', false, 'in the middle of it'],
  );
  await shutDown(client, at);
});

test('hostile lines are errors, and nothing else happens', async () => {
  play({ text: 'Still here.' });
  const at = fixture();
  const client = new Client(at);
  await client.next('session_configured');
  const lines = [
    'no json',
    '[]',
    'null',
    '{"type": "format_disk"}',
    '{"type": "user_turn", "items": [], "origin": {"type": "user"}}',
    '{"type": "user_turn", "items": [{"type": "text", "text": "x"}], "origin": {"type": "watcher", "number": 1}}',
    '{"type": "compact", "trigger": {"type": "user"}, "dry_run": true}',
    `{"type": "pin", "text": "${'x'.repeat(5_000_000)}"}`,
    '{"type": "steer", "__proto__": {"x": 1}}',
    Buffer.from([0xff, 0xfe, 0x00]),
  ];
  for (const line of lines) {
    client.write(line);
    client.write('\r\n\n');
    assert.equal((await client.next('error')).code, 'op_invalid');
  }
  assert.equal(at.rollouts().length, 0, 'nothing was written');
  client.say('Are you there?');
  assert.equal((await client.next('turn_complete')).last_agent_message, 'Still here.');
  await shutDown(client, at);
});

describe('the end', () => {
  test('a last line without a line feed counts', async () => {
    play({ text: 'Lit.' });
    const at = fixture();
    const op = { type: 'user_turn', items: [{ type: 'text', text: 'Lit?' }], origin: USER };
    const ended = await at.serve('responses', [], { input: JSON.stringify(op) });
    assert.equal(ended.status, 0, ended.stderr);
    assert.match(ended.stdout, /"last_agent_message":"Lit\."/);
    await assertSound(at);
  });

  test('Ctrl-C with many ops under way releases the session after the last write', async () => {
    const message = { type: 'user_turn', items: [{ type: 'text', text: 'Go.' }], origin: USER };
    const ops = [
      { type: 'pin', text: 'Never touch the horn.' },
      message,
      { type: 'phase_completed', summary: 'Lit.' },
      { type: 'compact', trigger: { type: 'user' } },
      message,
      { type: 'undo', what: 'turn' },
    ];
    for (const pauseMs of [0, 2, 4, 6]) {
      play({ fault: { type: 'silence' } });
      const at = fixture();
      const client = new Client(at);
      await client.next('session_configured');
      client.write(ops.map((op) => `${JSON.stringify(op)}\n`).join(''));
      await sleep(pauseMs);
      client.kill('SIGINT');
      const ended = await client.ended;
      assert.equal(ended.status, 130, ended.stderr);
      assertNoNoise(ended);
      assert.deepEqual(at.locks(), []);
    }
  });

  test('Ctrl-C ends the turn, and the session can be resumed', async () => {
    play({ calls: [shellCall('sleep 30')] }, { text: 'On it goes.' });
    const at = fixture();
    const client = new Client(at);
    client.say('Sleep.');
    await client.next('exec_command_begin');
    client.kill('SIGINT');
    const ended = await client.ended;
    assert.equal(ended.status, 130, ended.stderr);
    assert.equal(client.events.at(-1)?.type, 'shutdown_complete');
    await assertSound(at);
    const again = new Client(at, ['--resume', 'last']);
    again.say('Go on.');
    await again.next('turn_complete');
    await shutDown(again, at);
  });

  test('a shutdown in the middle of a turn and of a question', async () => {
    play({ calls: [{ name: 'ask_user', arguments: { question: 'Which?' } }] }, { text: 'x' });
    const at = fixture();
    const client = new Client(at);
    client.say('Ask me.');
    await client.next('question');
    await shutDown(client, at);
  });

  test('a session that is open elsewhere is reported as an error', async () => {
    play({ text: 'Hello.' });
    const at = fixture();
    const client = new Client(at);
    client.say('Hello.');
    await client.next('turn_complete');
    const ended = await at.serve('responses', ['--resume', 'last']);
    assert.equal(ended.status, 1);
    assert.match(ended.stdout, /"code":"session_live"/);
    await shutDown(client, at);
  });

  test('a rehearsal is refused, and who plays it is told', async () => {
    const ended = await fixture().serve('responses', ['--model', 'rehearsal']);
    assert.equal(ended.status, 2);
    assert.match(ended.stdout, /"code":"usage".*baton exec/);
  });

  test('without any model, no rehearsal is advised', async () => {
    const nobody = ['-c', 'model_providers.ollama.base_url="http://127.0.0.1:9/v1"'];
    const served = await runBuilt([...nobody, 'serve'], { home: fixture().home });
    assertFailed(served, 'model_missing');
    assert.doesNotMatch(served.stderr, /rehears/);
  });
});
