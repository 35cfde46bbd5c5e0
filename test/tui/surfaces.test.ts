// Which event is shown on which surface: the table of seed 003 §2, and the golden path, from a real run of `baton serve`.

import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { SessionEvent } from '../../src/protocol/wire/event.ts';
import { NOT_BUILT } from '../support/built.ts';
import { CANVASES, checkStory, StoryScreen } from '../support/chat-frames.ts';
import { Client } from '../support/client.ts';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import { PACKET } from '../support/packet.ts';
import { temporaryDirectory } from '../support/program.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { startProviderServer } from '../support/provider-server/server.ts';

const server = await startProviderServer({ replies: [{}] });
after(() => server.close());

/** A commit whose hash is the same in every run. */
const COMMIT = [
  'export GIT_AUTHOR_DATE="2026-01-02T03:04:05Z" GIT_COMMITTER_DATE="2026-01-02T03:04:05Z"',
  'seq 1 9000',
  'git -c user.name=a -c user.email=a@b commit --allow-empty -m "Trim the wick"',
].join('; ');

const LOOKS: Reply = {
  calls: [
    { name: 'read', arguments: { path: 'lamp' } },
    { name: 'read', arguments: { path: 'wick' } },
  ],
};
const COMMITS: Reply = { calls: [{ name: 'shell', arguments: { command: COMMIT } }], fills: 40_000 };
const SAYS = 'The oil is filled.';

/** What the model says if all goes well: a judged compaction at a commit, inside the turn. */
const GOLDEN: readonly Reply[] = [
  LOOKS,
  COMMITS,
  { text: '{"should_compact": true, "reason": "the wick is done"}' },
  { text: PACKET, fills: 62_500 },
  { text: SAYS, fills: 9_000 },
];

/** The same with a judge who answers nothing useful and an agent that writes no packet. */
const STUBBORN: readonly Reply[] = [
  LOOKS,
  COMMITS,
  { text: SAYS, fills: 62_000 },
  { text: SAYS },
  { text: SAYS },
  { text: SAYS, fills: 9_000 },
];

/** The events of a run of `baton serve`. */
async function record(replies: readonly Reply[]): Promise<readonly SessionEvent[]> {
  const at = new ExecFixture(temporaryDirectory(), server.baseUrl, { lamp: 'one\n', wick: 'two\n' });
  mkdirSync(join(at.home, '.baton/auto-compact'), { recursive: true });
  writeFileSync(join(at.home, '.baton/auto-compact/judgment.md'), 'Decide.');
  const judged = (['ready', 'asap'] as const).map(
    (tier) => `[rawr_auto_compaction.policy.${tier}]\ndecision_prompt_path = "judgment.md"\n`,
  );
  at.configure(judged.join(''));
  server.play({ key: EXEC_KEY, replies });
  const client = new Client(at);
  client.say('Light the lamp.');
  await client.next('context_compacted');
  await client.next('thread_idle');
  client.send({ type: 'shutdown' });
  assert.equal((await client.ended).status, 0);
  return client.events.map((event) => sameEachTime(event, at));
}

function wholeSecond(ms: number): number {
  return Math.ceil(ms / 1000) * 1000;
}

/** Replaces what differs from run to run. */
function sameEachTime(event: SessionEvent, { work }: ExecFixture): SessionEvent {
  // The file of notes is named after the thread, whose id is random.
  const text = JSON.stringify(event)
    .replaceAll(work, '/home/ada/work')
    .replaceAll(/agent-[a-z]+\.scratch/g, 'agent-rhea.scratch');
  const same = JSON.parse(text) as SessionEvent;
  if (same.type === 'watcher_state' && same.deadline !== null) {
    const { at_most_ms: most, quiet_ms: quiet } = same.deadline;
    return { ...same, deadline: { at_most_ms: wholeSecond(most), quiet_ms: wholeSecond(quiet) } };
  }
  return 'duration_ms' in same ? { ...same, duration_ms: 400 } : same;
}

type Canvas = keyof typeof CANVASES;

/** The scrollback, and the block after each event. */
function shown(events: readonly SessionEvent[], canvas: Canvas) {
  const screen = new StoryScreen(CANVASES[canvas]);
  const scrollback: string[] = [];
  const live = events.map((event) => {
    scrollback.push(...screen.take(event));
    return { event, rows: screen.live(), last: scrollback.length };
  });
  return { scrollback, live };
}

const runs: { golden: readonly SessionEvent[]; stubborn: readonly SessionEvent[] } = {
  golden: [],
  stubborn: [],
};
before(async () => {
  assert.equal(NOT_BUILT, false, String(NOT_BUILT));
  runs.golden = await record(GOLDEN);
  runs.stubborn = await record(STUBBORN);
});

/** A text of each row of the table, the run in which it occurs, and its surface. @source seed 003 §2 */
const TABLE: readonly (readonly [
  row: string,
  run: keyof typeof runs,
  surface: 'live' | 'scrollback',
  text: RegExp,
])[] = [
  ['status indicator: boundary', 'golden', 'live', /RAWR boundary: commit/],
  ['status indicator: judgment', 'golden', 'live', /RAWR judgment: start ready/],
  ['status indicator: decision', 'golden', 'live', /RAWR decision: token_pressure/],
  ['status indicator: compaction', 'golden', 'live', /Compacting thread context/],
  ['system line', 'golden', 'scrollback', /Context compacted\./],
  ['warning line', 'stubborn', 'scrollback', /warning: \[rawr\] auto-compaction: the judgment failed/],
  ['assistant message: packet', 'golden', 'scrollback', /Packet {2}by the agent/],
  ['assistant message: packet of the watcher', 'stubborn', 'scrollback', /Packet {2}by Baton/],
  ['assistant message: continuation', 'golden', 'scrollback', /more lines \(ctrl\+o\) The oil is filled\./],
  ['injected user message: requests', 'golden', 'scrollback', /› auto {2}heads up, scratch, packet request/],
  ['injected user message: handoff', 'golden', 'scrollback', /› auto {2}handoff/],
  ['judgment result', 'golden', 'scrollback', /\[rawr\] auto-compaction judgment: .*the wick is done/],
  ['watcher decision: scratch', 'golden', 'scrollback', /\[rawr\] auto-compaction: requesting scratch write/],
  ['watcher decision: packet', 'golden', 'scrollback', /requesting continuation packet/],
  ['watcher decision: compaction', 'golden', 'scrollback', /\[rawr\] auto-compaction: triggering compaction/],
];

/** Rows as one text, however they are wrapped. */
function flat(rows: readonly string[]): string {
  return rows
    .map((row) => row.trim())
    .filter((row) => row !== '')
    .join(' ');
}

test('every row of the table appears on its surface, and what is only live never enters the scrollback', () => {
  for (const [row, run, surface, text] of TABLE) {
    const { scrollback, live } = shown(runs[run], 'usual');
    assert.equal(text.test(flat(scrollback)), surface === 'scrollback', row);
    if (surface === 'live')
      assert.ok(
        live.some(({ rows }) => text.test(flat(rows))),
        row,
      );
  }
});

/** The names of temporary folders are in the context, so its size differs by a few tokens. */
function withSteadySize(row: string): string {
  return row.replaceAll(/\b3\.[89]k/g, '3.9k');
}

for (const run of ['golden', 'stubborn'] as const) {
  test(`the ${run} run at every kind of terminal`, () => {
    const frames: [string, readonly string[]][] = [];
    for (const canvas of Object.keys(CANVASES) as Canvas[]) {
      const { scrollback, live } = shown(runs[run], canvas);
      frames.push([`${canvas}: the scrollback in the end`, scrollback]);
      let stage = '';
      for (const { event, rows } of live) {
        if (event.type !== 'watcher_state' || event.stage === stage) continue;
        stage = event.stage;
        frames.push([`${canvas}: the block at ${event.stage}`, rows]);
      }
    }
    checkStory(
      `path-${run}`,
      frames.map(([title, rows]) => [title, rows.map(withSteadySize)]),
    );
  });
}
