// `baton exec`, killed with SIGKILL at chance moments of a session of many turns with compactions, while the provider
// lives on; the next run goes on with what is there.

import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';
import { findBrokenPairs, pairView } from '../../src/history/pairs.ts';
import { HistoryFold } from '../../src/history/project.ts';
import { WHOLE_ITEMS } from '../../src/history/clear.ts';
import { parseEvent } from '../../src/protocol/wire/parse.ts';
import { ExecFixture, EXEC_KEY } from '../support/exec.ts';
import type { Reply } from '../support/provider-server/script.ts';
import { readSessionFile } from '../support/read-format.ts';
import { PACKET } from '../support/packet.ts';
import { says, userTexts } from '../thread/script.ts';
import { startWithProvider } from '../support/with-provider.ts';

const ROUNDS = 20;
const EFFECTS = 'effects.txt';
const { root, server } = await startWithProvider();

/** A turn under pressure, with a commit and what a handover may ask for, and once more. Each command is asked for once. */
function repliesOf(round: number): readonly Reply[] {
  return [2 * round, 2 * round + 1].flatMap((number): readonly Reply[] => {
    const command = `echo ${number} >> ${EFFECTS}; git add -A; git commit -m "Trim wick ${number}" && seq 1 4000`;
    return [
      { calls: [{ name: 'shell', arguments: { command } }], fills: 62_000 },
      // Whatever a kill has left for it to answer: it is a packet where one is asked for, and then the context is smaller.
      says(PACKET, 63_000),
      says(PACKET, 9_000),
    ];
  });
}

/** A sequence of numbers from 0 to 1 that is the same in every run. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Messages that are in the log by what the program has printed, in the order in which they came there. */
function acknowledgedIn(stdout: string): readonly string[] {
  const lines = stdout.split('\n').slice(0, -1);
  const texts = lines.flatMap((line) => {
    const event = parseEvent(line);
    if (event.type === 'queue_changed') return event.messages.map(({ text }) => text);
    return event.type === 'user_message' && event.author === 'user' ? [event.message] : [];
  });
  return [...new Set(texts)];
}

/** Kills a program once it has printed so many lines, and a moment later. */
function killer(lines: number, ms: number): (child: ChildProcess) => void {
  return (child) => {
    let printed = 0;
    const kill = async (): Promise<void> => {
      await sleep(ms);
      child.kill('SIGKILL');
    };
    child.stdout?.on('data', (text: string | Buffer) => {
      const earlier = printed;
      printed += String(text).split('\n').length - 1;
      if (earlier < lines && printed >= lines) void kill();
    });
  };
}

test(`killed ${ROUNDS} times at chance moments, a session loses nothing and repeats nothing`, async (t) => {
  const at = new ExecFixture(root, server.baseUrl);
  at.configure('[rawr_auto_compaction]\ncooldown_turns = 0\n');
  writeFileSync(join(at.home, '.gitconfig'), '[user]\nname = Keeper\nemail = keeper@tower.example\n');
  const next = chance(20_260_102);
  const acknowledged: string[] = [];
  let killed = 0;
  for (let round = 0; round <= ROUNDS; round++) {
    const isLast = round === ROUNDS;
    const [lines, ms] = [1 + Math.floor(next() * 140), Math.floor(next() * 25)];
    server.play({ key: EXEC_KEY, replies: repliesOf(round) });
    const isRecorded = at.rollouts().some((path) => readFileSync(path, 'utf8').includes('\n'));
    const args = ['--json', ...(isRecorded ? ['--resume', 'last'] : []), `Watch ${round}: trim the wick.`];
    const ended = await at.exec('responses', args, isLast ? {} : { started: killer(lines, ms) });
    if (ended.status === null) killed++;
    else assert.equal(ended.status, 0, `round ${round}: ${ended.stderr}${ended.stdout.slice(-2000)}`);
    for (const text of acknowledgedIn(ended.stdout)) {
      if (!acknowledged.includes(text)) acknowledged.push(text);
    }
  }
  t.diagnostic(`${killed} killed, ${acknowledged.length} messages acknowledged`);
  assert.ok(killed >= ROUNDS / 2, `only ${killed} were killed`);
  assert.equal(at.rollouts().length, 1, 'one session');
  const { records, report } = await readSessionFile(at.rollouts()[0] ?? '');
  assert.deepEqual(report.damage, [], 'what a kill left was repaired');
  const items = records.flatMap((record) => (record.type === 'item' ? [record.item] : []));
  const said = userTexts(items);
  assert.deepEqual(said, [...new Set(said)], 'a message was delivered twice');
  assert.deepEqual(
    said.filter((text) => acknowledged.includes(text)),
    acknowledged,
    'a message was lost, or came out of its order',
  );
  const handoffs = items.flatMap(({ origin }) => (origin?.step === 'handoff' ? [origin.sequenceId] : []));
  const compactions = records.filter(({ type }) => type === 'compacted').length;
  t.diagnostic(`${compactions} compactions, ${handoffs.length} handoffs`);
  assert.ok(compactions >= 3, `only ${compactions} compactions`);
  assert.equal(new Set(handoffs).size, handoffs.length, 'handed over twice');
  assert.ok(handoffs.length <= compactions, `${handoffs.length} handoffs, ${compactions} compactions`);
  const history = new HistoryFold(WHOLE_ITEMS);
  for (const record of records) history.add(record);
  const present = history.entries.map(({ value }) => pairView(value));
  assert.deepEqual(Object.values(findBrokenPairs(present)).flat(), [], 'a pair is torn apart');
  const effects = at.read(EFFECTS).trim().split('\n');
  assert.deepEqual(effects, [...new Set(effects)], 'a command ran twice');
  assert.deepEqual(at.locks(), []);
});
