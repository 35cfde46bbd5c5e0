// A whole session as a client shows it, over the real program: nothing in the frame depends on a sentence.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import { Client } from '../support/client.ts';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { PACKET } from '../support/packet.ts';
import type { Reply, ScriptedCall } from '../support/provider-server/script.ts';
import { answerTo, SessionView, structureOf } from '../support/session-view.ts';
import { ROOT } from '../../scripts/generate.ts';
import { startWithProvider } from '../support/with-provider.ts';

/** The frames as they should be; `BATON_FRAMES=write` writes them. */
const GOLDEN = join(ROOT, 'test/cli/serve-client.frames.txt');

const { root, server } = await startWithProvider();

const plan = (first: string): Reply['calls'] => [
  {
    name: 'update_plan',
    arguments: {
      plan: [
        { step: 'Light the lamp', status: first },
        { step: 'Trim the wick', status: 'pending' },
      ],
    },
  },
];

/** What the commit prints is what the compaction can free. */
const COMMIT = 'git add -A; git -c user.name=A -c user.email=a@b.c commit -qm "Light the lamp" && seq 1 9000';

/** A pipe that holds the agent's answer to the watcher up until the test has said something. */
const GATE = 'gate';

const REPLIES: readonly Reply[] = [
  {
    text: 'I look at the lamp.',
    calls: [
      { name: 'read', arguments: { path: 'lamp' } },
      { name: 'grep', arguments: { pattern: 'unlit', path: '.' } },
      ...(plan('in_progress') ?? []),
    ],
  },
  { calls: [{ name: 'edit', arguments: { path: 'lamp', old_string: 'unlit', new_string: 'lit' } }] },
  {
    calls: [
      { name: 'ask_user', arguments: { question: 'Which wick?', options: [{ label: 'The left one' }] } },
    ],
  },
  { calls: [{ name: 'shell', arguments: { command: COMMIT } }], fills: 62_000 },
  {
    calls: [{ name: 'shell', arguments: { command: `cat ../${GATE}` } }],
    fills: 62_200,
  },
  { text: PACKET, fills: 62_500 },
  { text: 'The lamp is lit.', fills: 9_000 },
  { text: 'The wick is trimmed.', fills: 9_200 },
];

/** Where a frame is taken: when an event of this kind has been drawn. */
function momentOf(event: SessionEvent): string | undefined {
  switch (event.type) {
    case 'patch_approval_request':
    case 'exec_approval_request':
    case 'question':
    case 'message_steered':
    case 'transcript':
      return event.type;
    case 'watcher_state':
      return event.steps.length === 0 ? undefined : `watcher_state ${event.stage}`;
    case 'queue_changed':
      return event.messages.length === 0 ? undefined : event.type;
    case 'turn_complete':
      return `${event.type} ${event.turn_id}`;
    default:
      return undefined;
  }
}

/** The frames of a session, each under its moment. */
function framesOf(events: readonly SessionEvent[]): string {
  const view = new SessionView();
  const frames: string[] = [];
  for (const event of events) {
    view.take(event);
    const moment = momentOf(event);
    if (moment !== undefined) frames.push(`######## ${moment}\n${view.frame()}`);
  }
  frames.push(`######## at the end\n${view.frame()}\n`);
  return frames.join('\n\n');
}

/** Sentences of Baton's for people, wherever events have them. */
const SENTENCES = new Set(['background_event', 'warning', 'error', 'stream_error']);

function scrambled(event: SessionEvent, index: number): SessionEvent {
  const nonsense = `RAWR decision: compacted ${index} [rawr] error`;
  if (SENTENCES.has(event.type)) return { ...event, message: nonsense } as SessionEvent;
  if (event.type === 'transcript') {
    return { ...event, entries: event.entries.map(scrambled) } as SessionEvent;
  }
  const told: Readonly<Record<string, unknown>> = { ...event };
  const changed = ['why', 'title', 'reason'].filter(
    (key) => typeof told[key] === 'string' && !(key === 'reason' && event.type === 'watcher_decision'),
  );
  const isCode = event.type === 'turn_aborted' || event.type === 'compact_failed';
  return isCode
    ? event
    : ({ ...event, ...Object.fromEntries(changed.map((key) => [key, nonsense])) } as SessionEvent);
}

test('a whole session, its golden path and its resumption are drawn from data alone', async () => {
  server.play({ key: EXEC_KEY, replies: REPLIES });
  const at = new ExecFixture(root, server.baseUrl, { lamp: 'one\nunlit\nthree\n' });
  execFileSync('git', ['add', '-A'], { cwd: at.work });
  execFileSync('git', ['-c', 'user.name=A', '-c', 'user.email=a@b.c', 'commit', '-qm', 'Begin'], {
    cwd: at.work,
  });
  execFileSync('mkfifo', [join(at.home, GATE)]);
  const client = new Client(at, ['--approval', 'untrusted']);
  const answer = (event: SessionEvent): void => {
    const op = answerTo(event);
    assert.ok(op, 'something is answered');
    client.send(op);
  };
  const origin = { type: 'user' } as const;
  client.send({ type: 'user_turn', id: 'first', items: inWords('Light the lamp.'), origin });
  const edit = await client.next('patch_approval_request');
  client.send({ type: 'steer', id: 'steered', items: inWords('Mind the fog.'), origin });
  await client.next('message_steered');
  answer(edit);
  answer(await client.next('question'));
  const commit = await client.next('exec_approval_request');
  // In a turn of the watcher nobody can be asked.
  client.send({ type: 'set_settings', approval_policy: 'on_request' });
  await client.next('session_configured');
  answer(commit);
  await client.next('watcher_state', ({ awaits }) => awaits === 'agent');
  await client.next('exec_command_begin', ({ command }) => command.includes(GATE));
  client.send({ type: 'user_turn', id: 'second', items: inWords('Then trim the wick.'), origin });
  await client.next('queue_changed');
  await writeFile(join(at.home, GATE), 'Go on.\n');
  const done = await client.next('turn_complete');
  assert.deepEqual([done.answers, done.stop_reason], [['first', 'steered'], 'end_turn']);
  assert.deepEqual((await client.next('turn_complete')).answers, ['second']);
  await client.next('thread_idle');
  client.send({ type: 'shutdown' });
  const ended = await client.ended;
  assert.equal(ended.status, 0, ended.stderr);

  const again = new Client(at, ['--approval', 'untrusted', '--resume', 'last']);
  const resumed = await again.next('transcript');
  await again.next('token_count');
  await again.next('thread_idle');
  again.send({ type: 'shutdown' });
  await again.ended;

  assertWholeMessages(client.events);
  assertShownAgain(client.events, resumed);

  const frames = `${framesOf(client.events)}\n${framesOf(again.events)}`;
  if (process.env['BATON_FRAMES'] === 'write') writeFileSync(GOLDEN, frames);
  assert.equal(frames, readFileSync(GOLDEN, 'utf8'));

  for (const { events } of [client, again]) {
    const other = events.map(scrambled);
    assert.notDeepEqual(other, events);
    assert.equal(structureOf(framesOf(other)), structureOf(framesOf(events)));
    assert.deepEqual(other.map(answerTo), events.map(answerTo));
  }
});

test('a call says how it ended, and says the same when the thread is resumed', async () => {
  server.play({
    key: EXEC_KEY,
    replies: [
      { calls: [shell('denied', 'touch a')] },
      { calls: [{ name: 'read', arguments: { path: 'nowhere' }, id: 'missing' }] },
      { calls: [{ name: 'no_such_tool', arguments: {}, id: 'unknown' }] },
      { calls: [shell('status', 'ls nowhere')] },
      { calls: [shell('stopped', 'cat gate')] },
      { calls: [shell('lost', 'cat gate')] },
    ],
  });
  const at = new ExecFixture(root, server.baseUrl);
  execFileSync('mkfifo', [join(at.work, GATE)]);
  const client = new Client(at, ['--approval', 'untrusted']);
  client.say('Go.');
  const asked = await client.next('exec_approval_request');
  client.send({ type: 'exec_approval', call_id: asked.call_id, decision: 'denied' });
  await client.next('exec_command_begin', isStuck);
  client.send({ type: 'interrupt' });
  assert.deepEqual((await client.next('turn_aborted')).error_code, null);
  client.say('Again.');
  await client.next('exec_command_begin', isStuck);
  client.kill('SIGKILL');
  await client.ended;
  assert.deepEqual(statusesOf(client.events), STATUSES);

  const again = new Client(at, ['--approval', 'untrusted', '--resume', 'last']);
  const { entries } = await again.next('transcript');
  assert.deepEqual(statusesOf(entries), STATUSES);
  const lost = await again.next('tool_call_end');
  assert.deepEqual([lost.call_id, lost.status], ['lost', 'interrupted']);
  again.send({ type: 'shutdown' });
  await again.ended;
});

function shell(id: string, command: string): ScriptedCall {
  return { name: 'shell', arguments: { command }, id };
}

function isStuck({ command }: { readonly command: string }): boolean {
  return command === 'cat gate';
}

const STATUSES = [
  ['denied', 'refused', null],
  ['missing', 'failed', null],
  ['unknown', 'failed', null],
  ['status', 'failed', 2],
  ['stopped', 'interrupted', null],
] as const;

function statusesOf(events: readonly SessionEvent[]): readonly unknown[] {
  return events.flatMap((event) =>
    event.type === 'tool_call_end' ? [[event.call_id, event.status, event.exit_code]] : [],
  );
}

test('a golden path that the end of the process interrupted is told, and how it ended', async () => {
  const { at, client } = await duringRequest();
  client.kill('SIGKILL');
  await client.ended;
  const again = new Client(at, ['--resume', 'last']);
  const found = await again.next('watcher_state');
  assert.equal(found.stage, 'heads_up_injected');
  assert.deepEqual(found.awaited_steps, ['heads_up', 'scratch', 'packet_request']);
  assert.ok(found.sequence_id, 'its sequence');
  const left = await again.next('watcher_state');
  assert.deepEqual([left.stage, left.outcome, left.steps], ['idle', 'abandoned', []]);
  again.send({ type: 'shutdown' });
  await again.ended;
});

/** A session in which the watcher waits for the agent. */
async function duringRequest(): Promise<{ readonly at: ExecFixture; readonly client: Client }> {
  const [commit, stuck] = REPLIES.slice(3);
  assert.ok(commit && stuck, 'replies');
  server.play({ key: EXEC_KEY, replies: [commit, stuck] });
  const at = new ExecFixture(root, server.baseUrl, { lamp: 'unlit\n' });
  execFileSync('mkfifo', [join(at.home, GATE)]);
  const client = new Client(at);
  client.say('Commit it.');
  await client.next('exec_command_begin', ({ command }) => command.includes(GATE));
  return { at, client };
}

function inWords(text: string): readonly [{ readonly type: 'text'; readonly text: string }] {
  return [{ type: 'text', text }];
}

/** Deltas come to the message whose id they have. */
function assertWholeMessages(events: readonly SessionEvent[]): void {
  const deltas = new Map<string, string>();
  for (const event of events) {
    if (event.type === 'agent_message_delta')
      deltas.set(event.id, (deltas.get(event.id) ?? '') + event.delta);
    if (event.type === 'agent_message' && event.author === 'agent') {
      assert.equal(deltas.get(event.id), event.message, event.id);
      deltas.delete(event.id);
    }
  }
  assert.deepEqual([...deltas.keys()], []);
}

/** What was told live is told again, word for word, in the same order. */
function assertShownAgain(
  events: readonly SessionEvent[],
  { entries, left_out: leftOut }: Extract<SessionEvent, { type: 'transcript' }>,
): void {
  const types = new Set<string>(entries.map(({ type }) => type));
  const live = events
    .filter(
      (event) => types.has(event.type) && !(event.type === 'user_message' && event.author === 'harness'),
    )
    // What a transcript holds is of its thread.
    .map(({ thread_id: _, ...event }) => event as SessionEvent);
  assert.equal(leftOut, 0);
  assert.deepEqual(withoutCompactions(entries), withoutCompactions(live));
  assert.deepEqual(compactionsIn(entries), compactionsIn(live));
}

/** A compaction is in the log before the items that came while it was made are told. */
function withoutCompactions(events: readonly SessionEvent[]): readonly SessionEvent[] {
  return events.filter(({ type }) => type !== 'compact_completed');
}

function compactionsIn(events: readonly SessionEvent[]): readonly SessionEvent[] {
  return events.filter(({ type }) => type === 'compact_completed');
}
