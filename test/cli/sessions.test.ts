// The list of sessions: what each is about, how full it is, what it cost, and what is not one.

import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { digestSession } from '../../src/cli/session-files/digest.ts';
import { formatTime } from '../../src/cli/commands/setup/sessions.ts';
import { columns } from '../../src/cli/style.ts';
import { DEFAULT_CONFIG } from '../../src/config/defaults.ts';
import { homeOfAllAgents, place, PLACED } from '../support/agent-homes.ts';
import * as codex from '../support/codex-lines.ts';
import { testIo } from '../support/io.ts';
import { baton, temporaryDirectory } from '../support/program.ts';
import { asFile, workLines } from '../support/work-sessions.ts';

interface Listed {
  readonly agent: string;
  readonly id: string;
  readonly path: string;
  readonly title: string | null;
  readonly modified_at: string | null;
  readonly used: number | null;
  readonly percent_remaining: number | null;
  readonly compactions: number | null;
  readonly tokens: number | null;
  readonly cost_usd: number | null;
  readonly is_partly_priced: boolean;
  readonly is_copy: boolean;
  readonly problem: string | null;
}

async function listed(home: string, ...args: readonly string[]): Promise<readonly Listed[]> {
  const ran = await baton(home, ['sessions', '--json', ...args]);
  assert.equal(ran.status, 0, ran.explanation);
  return (JSON.parse(ran.stdout) as { sessions: Listed[] }).sessions;
}

async function inspected(home: string, path: string): Promise<{ used: number; percent_remaining: number }> {
  const { stdout } = await baton(home, ['inspect', path, '--json']);
  return (JSON.parse(stdout) as { gauge: { used: number; percent_remaining: number } }).gauge;
}

/** A rollout of so many turns, each with one answer; every turn reports a larger context. */
function rollout({
  turns,
  words = 'Chart the harbour.',
  bytes = 100,
  cwd = '/home/dev/harbour',
}: {
  readonly turns: number;
  readonly words?: string;
  readonly bytes?: number;
  readonly cwd?: string;
}): Buffer {
  const builder = codex.head('0.140');
  let spent = 0;
  for (let turn = 1; turn <= turns; turn++) {
    codex.taskStarted(builder, '0.140', `turn-${turn}`);
    builder.item(codex.message('user', turn === 1 ? words : `Go on with part ${turn}.`));
    builder.item(codex.message('assistant', 'x'.repeat(bytes)));
    spent += 1000 * turn + 50;
    builder.event(codex.tokenCount({ input: 1000 * turn, output: 50, spent, window: 200_000 }));
    codex.taskComplete(builder, '0.140', `turn-${turn}`);
  }
  const text = asFile(builder.lines).toString('utf8');
  return Buffer.from(
    text.replaceAll('"model-a"', '"gpt-5.2"').replaceAll(/"cwd":"[^"]*"/g, `"cwd":${JSON.stringify(cwd)}`),
  );
}

function rolloutPath(id: string): string {
  return `.codex/sessions/2026/01/01/rollout-2026-01-01T09-00-00-${id}.jsonl`;
}

test('the sessions of every agent, newest first, with what the user asked first', async () => {
  const home = homeOfAllAgents();
  const sessions = await listed(home);
  assert.deepEqual(
    sessions.map(({ agent, id }) => ({ agent, id })),
    Object.entries(PLACED)
      .map(([agent, { id }]) => ({ agent, id }))
      .toReversed(),
  );
  for (const { agent, title, problem } of sessions) {
    assert.ok(title !== null && title.length > 5, `${agent}: ${title ?? problem ?? ''}`);
  }
  assert.deepEqual(
    (await listed(home, '--agent', 'claude')).map(({ agent }) => agent),
    ['claude'],
  );
  const { stdout } = await baton(home, ['sessions', '-n', '2']);
  assert.match(stdout, /^2026-01-01 00:06 {2}copilot .*\n {2}c0b11070-/);
  assert.match(stdout, /5 more sessions; -n 7 lists all\.\n$/);
});

test('subagents of Claude Code are not sessions', async () => {
  const home = homeOfAllAgents();
  const lines = asFile(workLines('claude-code'));
  place(home, '.claude/projects/-home-dev-project/agent-a1.jsonl', lines, 90);
  place(home, '.claude/projects/-home-dev-project/c1a0de00/subagents/agent-a2.jsonl', lines, 90);
  assert.equal((await listed(home, '--agent', 'claude')).length, 1);
});

test('a title is one line without secrets or control characters, and keeps to the width', async () => {
  const home = temporaryDirectory();
  const words = `帳簿を直す\u001B[31m\n\tnow; the key is ghp_${'a1B2c3D4e5'.repeat(4).slice(0, 36)} ${'and so on '.repeat(30)}`;
  place(home, rolloutPath('aa'), rollout({ turns: 2, words }), 1);
  const [session] = await listed(home);
  assert.match(session?.title ?? '', /^帳簿を直す\S* now; the key is \[redacted /);
  for (const width of [40, 80, 120]) {
    const look = { hasColor: false, seal: '', hasUnicode: true, width };
    const { stdout } = await baton(home, ['sessions'], { look });
    assert.ok(!stdout.includes('ghp_a1B2') && !stdout.includes('\u001B'));
    for (const line of stdout.split('\n')) assert.ok(columns(line) <= width, `${width}: ${line}`);
    assert.match(stdout, /帳簿/);
  }
});

test('a title prefers a prompt to a command', async () => {
  const home = temporaryDirectory();
  const only = rollout({ turns: 1, words: '/status' });
  place(home, rolloutPath('only'), only, 3);
  place(home, rolloutPath('next'), rollout({ turns: 2, words: '/model' }), 2);
  const claude = '<command-message>tidy</command-message>\n<command-name>/tidy</command-name>';
  place(home, rolloutPath('claude'), rollout({ turns: 1, words: claude }), 1);
  assert.deepEqual(
    (await listed(home)).map(({ title }) => title),
    ['/status', 'Go on with part 2.', '/tidy'],
  );
});

test('only the sessions of this directory, and of those below it', async () => {
  const home = temporaryDirectory();
  for (const folder of ['work', 'work/part', 'workshop']) mkdirSync(join(home, folder));
  const places = { here: 'work', below: 'work/part', beside: 'workshop' };
  for (const [id, folder] of Object.entries(places)) {
    place(home, rolloutPath(id), rollout({ turns: 2, cwd: join(home, folder) }), 1);
  }
  const ran = await baton(home, ['sessions', '--here', '--json'], { cwd: join(home, 'work') });
  const { sessions } = JSON.parse(ran.stdout) as { sessions: Listed[] };
  assert.deepEqual(sessions.map(({ id }) => id).toSorted(), ['below', 'here']);
  const none = await baton(home, ['sessions', '--here'], { cwd: join(home, '.codex') });
  assert.equal(none.stdout, 'No session matches; omit --here and --since to list all.\n');
});

test('only the sessions written since', async () => {
  const home = temporaryDirectory();
  // The clock of tests says 2026-01-02 03:04:05.
  for (const [id, minutes] of [
    ['old', 0],
    ['new', 24 * 60],
  ] as const) {
    place(home, rolloutPath(id), rollout({ turns: 2 }), minutes);
  }
  for (const since of ['4h', '240m', '2026-01-01T12:00:00Z', '2026-01-02']) {
    assert.deepEqual(
      (await listed(home, '--since', since)).map(({ id }) => id),
      ['new'],
      since,
    );
  }
  assert.equal((await listed(home, '--since', '2w')).length, 2);
  for (const since of ['yesterday', '1', '3x', '']) {
    assert.equal((await baton(home, ['sessions', '--since', since])).status, 2, since);
  }
});

test('sessions sort by size, tokens and cost', async () => {
  const home = temporaryDirectory();
  place(home, rolloutPath('long'), rollout({ turns: 9 }), 1);
  place(home, rolloutPath('large'), rollout({ turns: 2, bytes: 40_000 }), 2);
  const unpriced = rollout({ turns: 20 })
    .toString('utf8')
    .replaceAll(/"model":"[^"]*"/g, '"model":"nobody-1"');
  place(home, rolloutPath('unpriced'), unpriced, 3);
  const ids = async (by: string) => (await listed(home, '--sort', by)).map(({ id }) => id);
  assert.deepEqual(await ids('time'), ['unpriced', 'large', 'long']);
  assert.equal((await ids('size'))[0], 'large');
  assert.deepEqual(await ids('tokens'), ['unpriced', 'long', 'large']);
  assert.deepEqual(await ids('cost'), ['long', 'large', 'unpriced']);
  const [long, , last] = await listed(home, '--sort', 'cost');
  assert.equal(long?.tokens, 45 * 1000 + 9 * 50);
  assert.ok((long?.cost_usd ?? 0) > 0);
  assert.equal(last?.cost_usd, null);
  const { stdout } = await baton(home, ['sessions', '--sort', 'cost']);
  assert.match(stdout, /\$0\.\d\d {2}Chart/);
  assert.match(stdout, / - {2}Chart/);
  assert.match(stdout, /list prices of \d{4}-/);
});

test('the gauge is that of inspect, whichever part of a file is read', async () => {
  const home = temporaryDirectory();
  const io = testIo({ cwd: home, homeDirectory: home });
  const path = place(home, rolloutPath('aa'), rollout({ turns: 40, bytes: 4_000 }), 1);
  const compacted = join(home, rolloutPath('bb'));
  const ran = await baton(home, ['compact', path, '--out', compacted]);
  assert.equal(ran.status, 0, ran.explanation);
  for (const session of await listed(home)) {
    const { used, percent_remaining: percentRemaining } = await inspected(home, session.path);
    assert.deepEqual([session.used, session.percent_remaining], [used, percentRemaining], session.id);
    const { agent, id, path: file } = session;
    const found = { agent: 'codex' as const, id, path: file, bytes: 0, modifiedMs: 0 };
    const ends = await digestSession(io, DEFAULT_CONFIG, found, 'ends');
    assert.deepEqual([ends.used, ends.percentRemaining], [used, percentRemaining], `${agent} ${id}`);
    assert.equal(ends.title, 'Chart the harbour.');
    assert.equal(ends.isPartial, id === 'aa', 'a compaction in the end of a file is read with all before it');
  }
});

test('an installed copy is marked, has a gauge, and counts for nothing in a directory', async () => {
  const home = temporaryDirectory();
  for (const format of ['codex', 'claude-code'] as const) {
    const agent = format === 'codex' ? 'codex' : 'claude';
    place(home, PLACED[agent].path, asFile(workLines(format)), 1);
    const made = await baton(home, ['compact', `last:${agent}`, '--install']);
    assert.equal(made.status, 0, made.explanation);
    const sessions = await listed(home, '--agent', agent);
    assert.deepEqual(sessions.map(({ is_copy: isCopy }) => isCopy).toSorted(), [false, true]);
    const copy = sessions.find(({ is_copy: isCopy }) => isCopy);
    assert.equal(copy?.compactions, 1);
    assert.equal(copy?.used, (await inspected(home, copy?.path ?? '')).used);
    assert.match((await baton(home, ['sessions', '--agent', agent])).stdout, /copy by Baton {2}1 compaction/);
    for (const command of [
      ['replay', '--no-recall', '--json'],
      ['eval', '--cuts', '1', '--sizes', '2k', '--no-canaries', '--json'],
    ]) {
      const folder = join(home, agent === 'codex' ? '.codex' : '.claude');
      const ran = await baton(home, [...command, folder]);
      assert.equal(ran.status, 0, ran.explanation);
      assert.match(ran.stderr, /^Skipped 1 copy that Baton wrote .*; name it to include it\.$/m);
      const { sessions: played, files } = JSON.parse(ran.stdout) as Record<string, unknown[] | undefined>;
      assert.equal((played ?? files)?.length, 1, command[0]);
      const named = await baton(home, [...command, folder, copy?.path ?? '']);
      const all = JSON.parse(named.stdout) as Record<string, unknown[] | undefined>;
      assert.equal((all['sessions'] ?? all['files'])?.length, 2, command[0]);
    }
    // Work in the copy makes it a session.
    const worked = `${readFileSync(copy?.path ?? '', 'utf8')}${asFile(workLines(format)).toString('utf8')}`;
    if (format === 'codex') {
      writeFileSync(copy?.path ?? '', worked);
      assert.ok((await listed(home, '--agent', agent)).every(({ is_copy: isCopy }) => !isCopy));
    }
  }
});

test('files that are damaged, empty or nothing at all are listed with the reason', async () => {
  const home = temporaryDirectory();
  place(home, rolloutPath('good'), rollout({ turns: 2 }), 3);
  place(home, rolloutPath('empty'), '', 2);
  place(home, rolloutPath('rubbish'), 'no session\u0007\n', 1);
  place(home, '.local/share/opencode/storage/session/p/ses_1.json', '{"id"', 0);
  const sessions = await listed(home);
  assert.deepEqual(
    sessions.map(({ id, problem }) => [id, problem === null]),
    [
      ['good', true],
      ['empty', false],
      ['rubbish', false],
      ['ses_1', false],
    ],
  );
  const { stdout, status } = await baton(home, ['sessions']);
  assert.equal(status, 0);
  assert.match(stdout, /- {2}is empty\n {2}empty {2}0 B$/m);
});

test('a list without the sessions in the database of opencode says so', async () => {
  const home = temporaryDirectory();
  place(home, rolloutPath('good'), rollout({ turns: 2 }), 3);
  assert.equal((await baton(home, ['sessions'])).stderr, '');
  place(home, '.local/share/opencode/opencode.db', 'SQLite format 3\0', 0);
  for (const flags of [[], ['--json'], ['--agent', 'opencode']]) {
    const { stderr, status } = await baton(home, ['sessions', ...flags]);
    assert.equal(status, 0);
    assert.match(stderr, /~\/\.local\/share\/opencode\/opencode\.db.*`opencode export ID > session\.json`/);
  }
  assert.equal((await baton(home, ['sessions', '--agent', 'codex'])).stderr, '');
});

test('sessions with impossible times are listed', async () => {
  assert.equal(formatTime(Number.NaN), '-');
  assert.equal(formatTime(9e15), '-');
  assert.equal(formatTime(-9e13), '-');
  assert.equal(formatTime(Date.UTC(2026, 0, 2, 3, 4)), '2026-01-02 03:04');
  const home = temporaryDirectory();
  for (const [id, seconds] of [
    ['past', -2_000_000_000],
    ['future', 9_000_000_000],
  ] as const) {
    const path = place(home, rolloutPath(id), rollout({ turns: 2 }), 0);
    utimesSync(path, seconds, seconds);
  }
  assert.equal((await listed(home)).length, 2);
  const absurd = rollout({ turns: 2 })
    .toString('utf8')
    .replaceAll(/"timestamp":"[^"]*"/g, '"timestamp":"+99999-99-99T99:99"');
  place(home, rolloutPath('absurd'), absurd, 1);
  assert.equal((await baton(home, ['sessions'])).status, 0);
  assert.equal((await baton(home, ['inspect', 'absurd'])).status, 0);
});
