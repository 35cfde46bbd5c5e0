// Whole rehearsals through the real session: of look-alikes of every format, of generated logs, and of a story whose every
// turn has something that is easily lost.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { LOOK_ALIKE_FILES } from '../../../test/support/format-lines.ts';
import { readSessionText } from '../../../test/support/read-format.ts';
import { agentSays, recordsOf, toolCall, userSays } from '../../../test/support/records.ts';
import { conversationOf, playOn, playOut, rehearse } from '../../../test/support/rehearsed.ts';
import type { RehearsedThread } from '../../../test/support/rehearsed.ts';
import { createRollout, openRollout } from '../../rollout/rollout.io.ts';
import { rolloutWorld, temporaryHome } from '../../../test/support/rollouts.ts';
import { anyLog, textOfSize } from '../../../test/support/thread.ts';
import { BatonError } from '../../errors.ts';
import { findBrokenPairs, pairView } from '../../history/pairs.ts';
import type { Item } from '../../protocol/item.ts';
import { textOfParts } from '../../protocol/item.ts';
import type { LogRecord } from '../../protocol/record.ts';
import { syntheticMessage } from '../../watcher/packet/messages.ts';
import { LONGEST_PAUSE_MS, pauseFor } from './rehearsal.io.ts';

const SEED = 20_261_121;

function assertSound({ session }: RehearsedThread): void {
  assert.deepEqual(Object.values(findBrokenPairs(session.items.map(pairView))).flat(), []);
}

/** A call that nobody answered in the recording says so in the rehearsal. */
function assertSameConversation(thread: RehearsedThread, recording: readonly LogRecord[]): void {
  const recorded = conversationOf(recording);
  const played = conversationOf(thread.records);
  assert.deepEqual(played.user, recorded.user);
  assert.deepEqual(played.agent, recorded.agent);
  const answered = recorded.calls.map((call) =>
    call.endsWith('→ nothing') ? call.replace(/nothing$/, '"[No result was recorded for this call]"') : call,
  );
  assert.deepEqual(played.calls, answered);
}

/** What the rehearsal said for itself. */
function remarksIn(records: readonly LogRecord[]): readonly string[] {
  return records.flatMap((record) =>
    record.type === 'item' && record.item.type === 'message' && isRemark(record.item)
      ? [textOfParts(record.item.content)]
      : [],
  );
}

function isRemark({ provider, id }: Item): boolean {
  return provider === 'rehearsal' && id === undefined;
}

const COMPACTED: LogRecord = {
  type: 'compacted',
  id: 'recorded-compaction',
  replacement: [{ ...userSays('A summary of the harbour.'), isCompactSummary: true } as Item],
  summary: 'A summary of the harbour.',
};

function notice(text: string): Item {
  return {
    type: 'message',
    role: 'user',
    content: [{ type: 'input_text', text }],
    origin: { author: 'harness' },
  };
}

function turn(turnId: string, ...items: readonly (Item | readonly Item[])[]): readonly LogRecord[] {
  return [{ type: 'turn_started', turnId }, ...recordsOf(...items), { type: 'turn_complete', turnId }];
}

const reasoning: Item = { type: 'reasoning', summary: [], encrypted_content: 'gAAA', id: 'rs_1' };
const [soundA, resultA] = toolCall('a', 'sound', { basin: 1 }, 'three fathoms');
const [soundB, resultB] = toolCall('b', 'sound', { basin: 2 }, textOfSize('fathoms', 3_000));

/** Parallel calls, a late result, a used id, a steered message, words before further work, an abort, a compaction. */
const HARBOUR: readonly LogRecord[] = [
  ...turn(
    't1',
    notice('The harbour is in ./harbour.'),
    userSays('Sound the harbour.'),
    reasoning,
    agentSays('I sound both basins.'),
    [soundA, soundB, resultB, resultA] as readonly Item[],
    userSays('Mind the wreck.'),
    toolCall('c', 'sound', { basin: 3 }, 'the wreck'),
    agentSays('All basins are sounded.'),
  ),
  COMPACTED,
  ...turn(
    't2',
    userSays('Chart it.'),
    agentSays('First the light.'),
    notice('The tide turns.'),
    toolCall('a', 'chart', { light: true }, 'drawn'),
    agentSays('Charted.'),
  ),
  { type: 'turn_started', turnId: 't3' },
  ...recordsOf(userSays('Sound it again.'), toolCall('d', 'sound', { basin: 1 })),
  { type: 'turn_aborted', turnId: 't3' },
  ...turn('t4', userSays('Stop there.'), agentSays('Stopped.')),
];

describe('the story of the harbour', () => {
  test('is played once, in order, with every recorded result', async () => {
    const thread = rehearse(HARBOUR);
    const endings = await playOut(thread);
    assertSameConversation(thread, HARBOUR);
    assertSound(thread);
    assert.deepEqual(
      endings,
      Array.from({ length: 4 }, () => ({ type: 'complete' })),
    );
    assert.equal(remarksIn(thread.records).length, 1, 'the aborted turn ends with a word about it');
    assert.ok(!JSON.stringify(thread.records).includes('A summary of the harbour'), 'no recorded summary');
    assert.equal(thread.rehearsal.progress, 1);
  });

  test('is the same, byte for byte, each time', async () => {
    const [first, second] = [rehearse(HARBOUR, { window: 8_000 }), rehearse(HARBOUR, { window: 8_000 })];
    await playOut(first);
    await playOut(second);
    assert.equal(JSON.stringify(first.records), JSON.stringify(second.records));
  });

  test('goes on with its own compactions in a small window', async () => {
    const recording = [...HARBOUR, ...large(12)];
    for (const summarizes of [false, true]) {
      const thread = rehearse(recording, { window: 16_000, summarizes });
      await playOut(thread);
      assertSameConversation(thread, recording);
      assertSound(thread);
      const compacted = thread.records.filter(({ type }) => type === 'compacted');
      assert.ok(compacted.length > 0, 'it was compacted');
      const { attempts = [] } = (compacted[0]?.type === 'compacted' ? compacted[0].receipt : undefined) ?? {};
      assert.deepEqual(
        attempts.map(({ outcome }) => outcome),
        summarizes ? ['accepted'] : [],
      );
    }
  });

  test('without a way to steer, what came meanwhile is submitted as a turn', async () => {
    const thread = rehearse(HARBOUR, { steers: false });
    const endings = await playOut(thread);
    assertSameConversation(thread, HARBOUR);
    assert.equal(endings.length, 6);
  });

  test('an interrupt at any moment loses nothing and repeats nothing', async () => {
    for (let moment = 1; moment < 16; moment++) {
      let pauses = 0;
      const thread: { now?: RehearsedThread } = {};
      thread.now = rehearse(HARBOUR, {
        pause: (ms, signal) => {
          if (++pauses === moment) thread.now?.session.interrupt();
          return pauseFor(ms, signal);
        },
      });
      await playOn(thread.now);
      assertSameButForResults(thread.now, HARBOUR, `interrupted at ${moment}`);
      assertSound(thread.now);
    }
  });

  test('a process that died after any record goes on in a new one', async () => {
    const whole = rehearse(HARBOUR, { window: 8_000 });
    await playOut(whole);
    for (let cut = 0; cut <= whole.records.length; cut++) {
      const thread = rehearse(HARBOUR, { window: 8_000, past: whole.records.slice(0, cut) });
      await playOn(thread);
      assertSameButForResults(thread, HARBOUR, `cut after ${cut} records`);
    }
  });

  test('a rollout on disk tells the position as well', async (t) => {
    const home = await temporaryHome(t);
    const world = rolloutWorld();
    const log = await createRollout(home, { cwd: '/harbour' }, world);
    const first = rehearse(HARBOUR, {
      log: { append: async (records) => void (await log.append(records)), sync: () => Promise.resolve() },
    });
    const turns = first.rehearsal.turns();
    for (let at = 0; at < 2; at++) await first.session.turn(turns.next().value?.items ?? []);
    const past: LogRecord[] = [];
    await log.close();
    const opened = await openRollout(home, log.threadId, world, (record) => past.push(record));
    await opened.rollout.close();
    const second = rehearse(HARBOUR, { past });
    assert.equal(second.rehearsal.progress, first.rehearsal.progress);
    await playOut(second);
    assertSameConversation(second, HARBOUR);
  });

  test('into a thread of another recording, or of an agent, nothing is played', async () => {
    const first = rehearse(HARBOUR);
    await playOut(first);
    const other = HARBOUR.map(
      (record) => JSON.parse(JSON.stringify(record).replaceAll('harbour', 'river')) as LogRecord,
    );
    assert.throws(() => rehearse(other, { past: first.records }), { code: 'usage' });
    assert.throws(() => rehearse(HARBOUR, { past: HARBOUR }), { code: 'usage' });
    assert.equal(
      rehearse([...HARBOUR, ...large(1)], { past: first.records })
        .rehearsal.turns()
        .next().done,
      false,
    );
  });
});

function assertSameButForResults(
  thread: RehearsedThread,
  recording: readonly LogRecord[],
  message: string,
): void {
  const recorded = conversationOf(recording);
  const played = conversationOf(thread.records);
  assert.deepEqual(played.user, recorded.user, message);
  assert.deepEqual(played.agent, recorded.agent, message);
}

/** Turns with large results. */
function large(turns: number): readonly LogRecord[] {
  return Array.from({ length: turns }, (_, at) =>
    turn(
      `large-${at}`,
      userSays(`Sound basin ${at} in detail.`),
      toolCall(`large-${at}`, 'sound', { at }, textOfSize(`depths ${at}`, 2_000)),
      agentSays(`Basin ${at} is sounded in detail.`),
    ),
  ).flat();
}

test('words before further work do not end the turn', async () => {
  const placeholder: Item = { ...agentSays('The connection was lost.'), isApiErrorMessage: true } as Item;
  const recording = turn('t1', userSays('Sound it.'), agentSays('I begin.'), placeholder, agentSays('Done.'));
  const thread = rehearse(recording);
  assert.equal((await playOut(thread)).length, 1);
  assertSameConversation(thread, recording);
  assert.ok(!JSON.stringify(thread.records).includes('connection'), 'no words of a client');
});

test('a turn that comes to nothing ends the rehearsal: it would come to nothing again', async () => {
  const thread = rehearse(HARBOUR, {
    pause: () => Promise.reject(new BatonError('model_network', 'The stage is dark')),
  });
  const endings = await playOut(thread);
  assert.deepEqual(
    endings.map(({ type }) => type),
    ['failed', 'failed'],
  );
  assert.ok(thread.rehearsal.progress < 1, 'it is not over');
});

test('of two results the first counts', async () => {
  const [call, result] = toolCall('a', 'sound', {}, 'three fathoms');
  const second = { ...result, output: 'four fathoms' } as Item;
  const thread = rehearse(turn('t1', userSays('Sound it.'), [call, result, second] as readonly Item[]));
  await playOut(thread);
  assert.match(JSON.stringify(thread.records), /three fathoms/);
  assert.doesNotMatch(JSON.stringify(thread.records), /four fathoms/);
});

describe('what was not recorded', () => {
  test('a message of another kind is not answered, and the recording waits', async () => {
    const thread = rehearse(HARBOUR);
    const turns = thread.rehearsal.turns();
    await thread.session.turn(turns.next().value?.items ?? []);
    const { progress } = thread.rehearsal;
    await thread.session.turn([userSays('What is a fathom?')]);
    assert.match(remarksIn(thread.records).at(-1) ?? '', /cannot answer this: "What is a fathom\?"/);
    assert.equal(thread.rehearsal.progress, progress);
    await playOut(thread);
    const { agent } = conversationOf(thread.records);
    assert.deepEqual(agent, conversationOf(HARBOUR).agent);
  });

  test('a message after an interrupt does not set the recorded work going again', async () => {
    const thread: { now?: RehearsedThread } = {};
    let pauses = 0;
    thread.now = rehearse(HARBOUR, {
      pause: (ms, signal) => {
        if (++pauses === 4) thread.now?.session.interrupt();
        return pauseFor(ms, signal);
      },
    });
    const { session, rehearsal } = thread.now;
    const [first] = rehearsal.turns();
    await session.turn(first?.items ?? []);
    const { progress } = rehearsal;
    await session.turn([userSays('Wait a moment.')]);
    assert.equal(rehearsal.progress, progress);
    const [next] = rehearsal.turns();
    assert.match(next?.text ?? '', /was cut short here/);
  });

  test('a steered one is remarked on, and the recorded work goes on in the same turn', async () => {
    const thread: { now?: RehearsedThread } = {};
    let isSteered = false;
    thread.now = rehearse(HARBOUR, {
      pause: async (ms, signal) => {
        if (!isSteered) void thread.now?.session.steer(userSays('Hurry up.'));
        isSteered = true;
        await pauseFor(ms, signal);
      },
    });
    const endings = await playOut(thread.now);
    assert.equal(endings.length, 4);
    const remarks = remarksIn(thread.now.records).filter((remark) => remark.includes('"Hurry up."'));
    assert.equal(remarks.length, 1, 'once');
    assert.deepEqual(conversationOf(thread.now.records).agent, conversationOf(HARBOUR).agent);
  });
});

test('every format is played', async () => {
  for (const { name, text } of LOOK_ALIKE_FILES) {
    const { records } = await readSessionText(text);
    const thread = rehearse(records);
    await playOut(thread);
    assertSameConversation(thread, records);
    assertSound(thread);
    assert.equal(thread.rehearsal.progress, 1, name);
  }
});

test('any log is played once, in order, with every result', async () => {
  await fc.assert(
    fc.asyncProperty(anyLog, fc.boolean(), async (recording, isSmall) => {
      const thread = rehearse(recording, isSmall ? { window: 30_000 } : {});
      const endings = await playOut(thread);
      assertSound(thread);
      if (endings.some(({ type }) => type !== 'complete')) return;
      assertSameConversation(thread, recording);
      assert.equal(thread.rehearsal.progress, 1);
    }),
    { seed: SEED, numRuns: 150 },
  );
});

describe('what a watcher and a compaction left in a recording of Baton', () => {
  test('is not played: a live thread has its own', async () => {
    const ceremony = (step: 'packet_request' | 'packet' | 'handoff', text: string): Item => ({
      ...userSays(text),
      origin: { author: 'synthetic', step, sequenceId: 's1' },
    });
    const recording = [
      ...turn('t1', userSays('Sound it.'), toolCall('a', 'sound', {}, 'deep')),
      ...turn(
        'w1',
        ceremony('packet_request', 'Write a packet.'),
        toolCall('n', 'write', {}, 'ok'),
        agentSays('The packet.'),
      ),
      COMPACTED,
      ...turn('w2', ceremony('handoff', 'Go on.'), agentSays('Sounded.')),
    ];
    const thread = rehearse(recording);
    await playOut(thread);
    const { user, agent } = conversationOf(thread.records);
    assert.equal(user.length, 1);
    assert.deepEqual(agent, ['sound {}', 'says Sounded.']);
  });
});

test('a sequence of the watcher in the middle of the work leaves the recording where it is', async () => {
  const thread: { now?: RehearsedThread } = {};
  let pauses = 0;
  thread.now = rehearse(HARBOUR, {
    pause: (ms, signal) => {
      if (++pauses === 4) thread.now?.session.interrupt();
      return pauseFor(ms, signal);
    },
  });
  const { session, rehearsal, records } = thread.now;
  const [first] = rehearsal.turns();
  assert.equal((await session.turn(first?.items ?? [])).type, 'aborted');
  const { progress } = rehearsal;
  const sequenceId = 'sequence-1';
  await session.turn([syntheticMessage('Write it.', { step: 'packet_request', sequenceId })]);
  assert.match(remarksIn(records).at(-1) ?? '', /## Current state/);
  assert.equal(rehearsal.progress, progress, 'the packet was not recorded');
  await session.turn([syntheticMessage('Go on.', { step: 'handoff', sequenceId })]);
  assert.ok(rehearsal.progress > progress, 'the handoff goes on with the work');
  await playOn(thread.now);
  assertSameButForResults(thread.now, HARBOUR, 'after the sequence');
});

function timed(record: LogRecord, seconds: number): LogRecord {
  return { ...record, at: new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString() };
}

describe('the pace', () => {
  const [call, result] = toolCall('a', 'sound', {}, 'deep');
  const items = [userSays('Sound it.'), call, result, agentSays('Deep.')] as readonly Item[];
  const recording = recordsOf(items).map((record, index) => timed(record, [0, 4, 6, 1_000][index] ?? 0));

  test('is that of the recording, faster by the speed, and no night is waited for', async () => {
    const waited: number[] = [];
    const thread = rehearse(recording, {
      speed: 2,
      pause: (ms) => Promise.resolve(void (ms > 0 && waited.push(ms))),
    });
    await playOut(thread);
    assert.deepEqual(waited, [2_000, 1_000, LONGEST_PAUSE_MS / 2]);
  });

  test('is none by default, and other things of the process have their turn', async () => {
    const waited = new Set<number>();
    await playOut(
      rehearse(recording, {
        pause: (ms) => Promise.resolve(void waited.add(ms)),
      }),
    );
    assert.deepEqual([...waited], [0]);
    assert.throws(() => rehearse(recording, { speed: -1 }), RangeError);
  });

  test('a pause ends at once when it is cancelled', async () => {
    const controller = new AbortController();
    const paused = pauseFor(3_600_000, controller.signal);
    controller.abort();
    await assert.rejects(paused, (error) => error instanceof BatonError && error.code === 'interrupted');
    await assert.rejects(pauseFor(1, controller.signal), { code: 'interrupted' });
  });
});
